"""Queries on the CUDA device (src/cuda/selector.cu, search.cu) against the core's; without one, emulated.

Sums are taken in another order there: senses whose probabilities are equal but for rounding may change places.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import muse.base.cuda
from muse import MUSE, _core
from muse.datasets import make_ambiguous_corpus
from muse.errors import InsufficientMemoryError
from resolved import arguments
from step_cases import Case, make_case

pytestmark = pytest.mark.usefixtures("backend")
ON_DEVICE = "device copy of SenseVectors"  # as its snapshot keeps it
UNDECIDED = 1e-4  # margins that rounding may turn over


# --- senses -----------------------------------------------------------------------------------------------------------


def selection_options(**changes: Any) -> _core.SelectionOptions:
    options = _core.SelectionOptions()
    for name, value in changes.items():
        setattr(options, name, value)
    return options


def selector_arguments(case: Case, options: _core.SelectionOptions, weights: bool, temperature: float) -> list[Any]:
    arrays = [case.arrays[name] for name in ("context_vectors", "selection_vectors", "sense_offset")]
    given = np.linspace(0.2, 1.5, len(case.counts), dtype=np.float32) if weights else np.empty(0, np.float32)
    return [*arrays, given, options, temperature]


def sentences_of(case: Case) -> list[list[str]]:
    """The text of a case as words, with unknown ones and empty sentences in it."""
    words = [str(token) for token in case.tokens]
    cut = [words[a:b] for a, b in zip(case.offsets, case.offsets[1:], strict=False)]
    return [[], *cut[:3], [], ["unknown"], [], *([*sentence[:2], "?", *sentence[2:]] for sentence in cut[3:]), []]


@pytest.mark.parametrize("chunk", [1, 7, 100, 1 << 16])
@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"window": 1},
        {"window": 40, "mean": True},
        {"distance": [0.0, 1.0, 0.5, 0.25, 0.2, 0.1]},
        {"mean": True, "window": 3, "distance": [1.0, 0.5, 0.5, 0.5]},
    ],
    ids=["plain", "narrow", "mean", "distance", "all"],
)
@pytest.mark.parametrize("weights", [False, True])
def test_senses_are_those_of_the_core(backend, choice, chunk, weights):
    case, options = make_case(), selection_options(**choice)
    given = selector_arguments(case, options, weights, 0.7)
    names = [str(word) for word in range(len(case.counts))]
    device = backend.Selector(*given, chunk=chunk)
    ours = _core.Tagger(names, *given, device).select(sentences_of(case))
    core = _core.Tagger(names, *given).select(sentences_of(case))
    decided = (core[2] > UNDECIDED) | (core[2] <= 0)  # exact ties go to the first sense on both
    np.testing.assert_array_equal(ours[0][decided], core[0][decided])
    assert decided.mean() > 0.99
    np.testing.assert_allclose(ours[1], core[1], atol=1e-5)
    np.testing.assert_allclose(ours[2], core[2], atol=1e-5)
    np.testing.assert_array_equal(ours[3], core[3])

    senses, probabilities = device.select(case.tokens, case.offsets)
    expected = _core.select_senses(*given[:5], case.tokens, case.offsets, given[5])
    assert (senses == expected[0]).mean() > 0.99
    np.testing.assert_allclose(probabilities, expected[1], atol=1e-5)


@pytest.mark.parametrize("size", [1, 127, 300, 769, 1024])
def test_contexts_of_every_length(backend, size):
    case = make_case(selection_size=size, scale=0.1)
    given = selector_arguments(case, selection_options(), False, 1.0)
    _, ours = backend.Selector(*given).select(case.tokens, case.offsets)
    np.testing.assert_allclose(ours, _core.select_senses(*given[:5], case.tokens, case.offsets)[1], atol=1e-5)


def test_what_a_selector_is_given_is_checked(backend):
    case = make_case()
    given = selector_arguments(case, selection_options(), False, 1.0)
    device = backend.Selector(*given)
    with pytest.raises(ValueError, match="a token id lies outside the vocabulary"):
        device.select(np.array([99], np.int32), np.array([0, 1]))
    with pytest.raises(ValueError, match="offsets must end at the number of tokens"):
        device.select(case.tokens, case.offsets[:-1])
    assert [len(part) for part in device.select(np.empty(0, np.int32), np.array([0, 0]))] == [0, 0]
    with pytest.raises(ValueError, match="temperature must be above 0"):
        backend.Selector(*given[:5], 0.0)
    with pytest.raises(ValueError, match="selection_size can be at most 1024"):
        backend.Selector(*selector_arguments(make_case(selection_size=1025), selection_options(), False, 1.0))


# --- nearest rows -----------------------------------------------------------------------------------------------------


def compare_search(backend: Any, rows: np.ndarray, queries: np.ndarray, k: int, *, panel: int, **given: Any) -> None:
    end = given.pop("end", len(rows))
    scale = given.pop("scale", None)
    indices, scores = backend.Search(rows, scale=scale, panel=panel).top_k(queries, k, end=end, **given)
    scale = None if scale is None else scale[:end]
    expected, expected_scores = _core.top_k(rows[:end], queries, k, scale=scale, **given)
    np.testing.assert_allclose(scores, expected_scores, atol=1e-5, rtol=1e-5)
    with np.errstate(invalid="ignore"):
        gaps = np.abs(np.diff(expected_scores, prepend=np.inf, append=-np.inf))
    near = np.minimum(gaps[:, 1:], gaps[:, :-1])
    clear = ~(near < 1e-5)  # no neighbour in the list with nearly the same score
    np.testing.assert_array_equal(indices[clear], expected[clear])
    np.testing.assert_array_equal(indices < 0, expected < 0)


@pytest.mark.parametrize("panel", [1, 3000, 1 << 25])
@pytest.mark.parametrize("queries", [1, 4, 5, 70, 257])
@pytest.mark.parametrize("k", [1, 10, 700])
def test_nearest_rows_are_those_of_the_core(backend, queries, k, panel):
    rng = np.random.default_rng(queries + k)
    rows, count = _core.aligned_zeros(1500 if queries < 70 else 150, 21), max(1, queries)
    rows[:] = rng.normal(size=rows.shape)
    scale = (1 / np.linalg.norm(rows, axis=1)).astype(np.float32)
    mask = (rng.random(len(rows) - 3) < 0.7).astype(np.uint8)
    wanted = rng.normal(size=(count, 21)).astype(np.float32)
    compare_search(backend, rows, wanted, k, panel=panel, scale=scale, end=len(rows) - 3, mask=mask)
    if queries < 70:
        compare_search(backend, rows, wanted, k, panel=panel)


@pytest.mark.parametrize("dim", [1, 16, 300, 1024, 1100])
def test_vectors_of_every_length(backend, dim):
    rng = np.random.default_rng(dim)
    rows = rng.normal(size=(200, dim)).astype(np.float32) / np.float32(np.sqrt(dim))
    for count in (2, 9):
        compare_search(backend, rows, rows[:count].copy(), 5, panel=1 << 25)


def test_equal_scores_go_by_row_and_what_is_no_number_never_appears(backend):
    rows = np.ones((3000, 4), np.float32)
    rows[5], rows[7] = np.nan, 2.0
    indices, scores = backend.Search(rows).top_k(np.ones((2, 4), np.float32), 2500)
    assert indices[0].tolist() == [7, *(row for row in range(2502) if row not in (5, 7))][:2500]
    assert scores[0, :2].tolist() == [8, 4]
    few, few_scores = backend.Search(rows).top_k(np.ones((1, 4), np.float32), 4, end=6)
    assert few.tolist() == [[0, 1, 2, 3]]
    none, none_scores = backend.Search(rows).top_k(np.ones((1, 4), np.float32), 2, end=0)
    assert none.tolist() == [[-1, -1]]
    assert np.isneginf(none_scores).all()
    assert np.isfinite(few_scores).all()


def test_what_a_search_is_given_is_checked(backend):
    search = backend.Search(np.ones((3, 2), np.float32))
    query = np.ones((1, 2), np.float32)
    with pytest.raises(ValueError, match="the same number of columns"):
        search.top_k(np.ones((1, 3), np.float32), 1)
    with pytest.raises(ValueError, match=f"k must be from 1 to {search.most_hits}"):
        search.top_k(query, search.most_hits + 1)
    with pytest.raises(ValueError, match="end must not lie beyond the rows"):
        search.top_k(query, 1, end=4)
    with pytest.raises(ValueError, match="mask must hold one number for each row"):
        search.top_k(query, 1, mask=np.ones(2, np.uint8))


@pytest.mark.parametrize(("order", "seed"), [("reversed", 0), ("shuffled", 1), ("shuffled", 2)])
def test_no_answer_hangs_on_the_order_of_threads_or_blocks(emulated, order, seed):
    emulated.set_order(order, order, seed)
    test_nearest_rows_are_those_of_the_core(emulated, 5, 700, 3000)
    test_nearest_rows_are_those_of_the_core(emulated, 5, 10, 1 << 25)  # sorts more than once
    test_senses_are_those_of_the_core(emulated, {"mean": True, "window": 40}, 7, True)


# --- models -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpus():
    return make_ambiguous_corpus(150, 100, seed=0).sentences


class Pair(NamedTuple):
    """A model trained by the core, the same with its queries on the device, and with what "auto" takes."""

    core: MUSE
    ours: MUSE
    auto: MUSE


def train_pair(corpus: list[list[str]], folder: Path, **options: Any) -> Pair:
    core = MUSE(corpus, **arguments(vector_size=16, epochs=2, min_count=1, workers=1, **options))
    core.save(folder / "model.safetensors")
    ours, auto = (MUSE.load(folder / "model.safetensors", device=device) for device in ("cuda", "auto"))
    return Pair(core, ours, auto)


@pytest.fixture
def pair(corpus, tmp_path):
    return train_pair(corpus, tmp_path, senses=2)


@pytest.mark.parametrize("strategy", ["greedy", "eps_greedy", "boltzmann", "policy", "smooth_policy"])
def test_models_of_every_strategy_tell_the_same_senses(on_device, corpus, strategy, tmp_path):
    core, ours, _ = train_pair(corpus, tmp_path, strategy=strategy, selection_update="paper", senses=3)
    given = [*corpus[:80], ["unknown", *corpus[0]], [], "a string of tokens"]
    for a, b in zip(core.disambiguate_blocks(given), ours.disambiguate_blocks(given), strict=True):
        decided = (a.margins > UNDECIDED) | (a.margins <= 0)
        np.testing.assert_array_equal(b.senses[decided], a.senses[decided])
        np.testing.assert_allclose(b.probabilities, a.probabilities, atol=1e-5)
    text = tmp_path / "text.txt"
    text.write_text("".join(" ".join(sentence) + "\n" for sentence in corpus[:30]), encoding="utf-8")
    reports = [model.tag_corpus(text, tmp_path / "tagged", margin=0.001) for model in (core, ours)]
    assert reports[0] == reports[1]
    assert ours.selector.device is not None
    assert core.selector.device is None


def same_neighbours(ours: Any, core: Any) -> None:
    assert len(ours) == len(core)
    for a, b in zip(ours, core, strict=True):
        assert a[1] == pytest.approx(b[1], abs=1e-5)
    assert len({key for key, _ in ours} ^ {key for key, _ in core}) <= 2  # the last of them may be tied


def test_models_find_the_same_neighbours(on_device, pair):
    core, ours, _ = pair
    word = next(word for word in core.vocabulary.words if core.n_senses(word) > 1)
    vector = core.sv[f"{word}#0"] + core.sv[f"{word}#1"]
    for query in (f"{word}#0", (word, 1), [f"{word}#0", (vector, -0.5)], vector):
        for options in (
            {}, {"topn": 3}, {"topn": 10_000}, {"exclude_same_word": True}, {"min_prior": 0.3}, {"restrict_vocab": 20},
            {"restrict_vocab": 1, "exclude_same_word": True}, {"min_prior": 0.4, "restrict_vocab": 9},
        ):  # fmt: skip
            same_neighbours(ours.sv.most_similar(query, **options), core.sv.most_similar(query, **options))
    keys = [f"{name}#0" for name in core.vocabulary.words[:9]]
    for a, b in zip(ours.sv.most_similar_batch(keys), core.sv.most_similar_batch(keys), strict=True):
        same_neighbours(a, b)
    for a, b in zip(ours.sv.neighbours_of(word), core.sv.neighbours_of(word), strict=True):
        same_neighbours(a, b)
    same_neighbours(ours.wv.most_similar([word], restrict_vocab=30), core.wv.most_similar([word], restrict_vocab=30))
    assert ours.snapshot.made(ON_DEVICE)


def test_vectors_stay_on_the_device_until_they_change(on_device, corpus, pair):
    ours = pair.ours
    key = f"{ours.vocabulary.words[0]}#0"
    before = ours.sv.most_similar(key)
    search, selector = ours.snapshot.made(ON_DEVICE), ours.selector.device
    assert ours.sv.most_similar(key) == before
    assert ours.snapshot.made(ON_DEVICE) is search
    assert ours.selector.device is selector
    ours.arrays.sense_vectors[:] = ours.arrays.sense_vectors[::-1].copy()
    ours.arrays.selection_vectors[:] = 0
    ours.set_arrays(ours.arrays)
    assert ours.sv.most_similar(key) != before
    assert ours.disambiguate(corpus[0])[0].sense == 0


# --- what is missing --------------------------------------------------------------------------------------------------


def test_a_model_too_large_is_refused_with_the_figure_or_stays_on_the_cpu(emulated, on_device, corpus, pair, caplog):
    emulated.set_memory(5_000)
    key = f"{pair.core.vocabulary.words[0]}#0"
    for ask in (lambda model: model.sv.most_similar(key), lambda model: model.disambiguate(corpus[0])):
        with pytest.raises(InsufficientMemoryError, match=r"on the device needs \d+\.\d MB .* 0\.0 MB are free; use"):
            ask(pair.ours)
        caplog.clear()
        with caplog.at_level(logging.INFO, "muse"):
            assert ask(pair.auto) == ask(pair.core)
        assert "on the CPU, since" in caplog.text
    with pytest.raises(InsufficientMemoryError, match=r"training on the device needs .* lower vector_size"):
        MUSE(corpus, vector_size=16, min_count=1, device="cuda")


def test_queries_say_that_there_is_no_device(corpus, pair, monkeypatch, caplog):
    monkeypatch.setattr(muse.base.cuda, "missing", lambda: "there is none")
    with pytest.raises(RuntimeError, match="device='cuda' is not available: there is none; use device='cpu'"):
        pair.ours.sv.most_similar(f"{pair.core.vocabulary.words[0]}#0")
    with pytest.raises(RuntimeError, match="device='cuda' is not available: there is none; use device='cpu'"):
        next(pair.ours.disambiguate_batch(corpus))
    with caplog.at_level(logging.INFO, "muse"):
        assert pair.auto.disambiguate(corpus[0]) == pair.core.disambiguate(corpus[0])
    assert "device='auto': selecting senses on the CPU, since there is none" in caplog.text
