"""What the selector errs by: tables of confusions, and the shares that they give back."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.change import TemporalMUSE
from muse.change.confusion import true_shares
from muse.datasets import make_ambiguous_corpus
from muse.errors import ModelFileError
from muse.files.tensor_file import TensorFile, write_tensors

RATES = np.array([[0.8, 0.15, 0.05], [0.1, 0.85, 0.05], [0.1, 0.2, 0.7]])


@pytest.mark.parametrize("shares", [(0.7, 0.2, 0.1), (0.05, 0.05, 0.9), (1 / 3, 1 / 3, 1 / 3)])
def test_shares_are_found_again(shares: tuple[float, ...]) -> None:
    tags = np.array(shares) @ RATES * 20_000
    found = true_shares(tags[None], RATES, np.full(3, 1 / 3))
    assert found[0] == pytest.approx(shares, abs=0.005)
    assert np.abs(tags / tags.sum() - shares).max() > 2 * np.abs(found[0] - shares).max()


def test_tags_that_do_not_err_are_shares() -> None:
    counts = np.array([[300.0, 100.0], [0.0, 400.0]])
    found = true_shares(counts, np.eye(2), np.array([0.5, 0.5]))
    assert found == pytest.approx(counts / 400, abs=0.004)


def test_few_uses_are_believed_less() -> None:
    usual = np.array([0.5, 0.5])
    far = [true_shares(np.array([[count, 0.0]]), np.eye(2), usual)[0, 0] for count in (0, 1, 4, 1000)]
    assert far[0] == 0.5
    assert far == sorted(far)
    assert far[1] == pytest.approx(2 / 3, abs=0.01)
    assert far[-1] > 0.99


def test_shares_of_any_tags_are_shares() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        size = int(rng.integers(1, 7))
        rates = rng.dirichlet(np.full(size, 0.3), size)
        counts = rng.integers(0, 50, (20, size)).astype(float) * (rng.random((20, size)) < 0.5)
        found = true_shares(counts, rates, rng.dirichlet(np.full(size, 0.2)))
        assert found.sum(axis=1) == pytest.approx(np.ones(20), abs=1e-6)
        assert ((found >= 0) & np.isfinite(found)).all()


def corpora(seed: int, change: bool) -> tuple[dict[str, list[list[str]]], list[str], dict[str, list[float]]]:
    """Two slices of a text in which the words' senses are hard to tell, the words, and true shares in each slice."""
    corpus = make_ambiguous_corpus(9000, 400, seed=seed, n_senses=2, topic_purity=0.5)
    words, rng = list(corpus.ambiguous_words), np.random.default_rng(seed)
    slices: dict[str, list[list[str]]] = {"a": [], "b": []}
    true: dict[str, Any] = {word: np.zeros((2, 2)) for word in words}
    for sentence, senses in zip(corpus.sentences, corpus.true_senses, strict=True):
        said = [sense for word, sense in zip(sentence, senses, strict=True) if word in true and sense >= 0]
        side = int(rng.random() < (0.5 if not said or not change else 0.85 if said[0] == 0 else 0.15))
        slices["ab"[side]].append(sentence)
        for word, sense in zip(sentence, senses, strict=True):
            if word in true and sense >= 0:
                true[word][side, sense] += 1
    return slices, words, {word: (counts[:, 0] / counts.sum(axis=1)).tolist() for word, counts in true.items()}


@pytest.fixture(scope="module")
def hard() -> tuple[TemporalMUSE, list[str], dict[str, list[float]]]:
    slices, words, true = corpora(1, change=True)
    return TemporalMUSE(slices, vector_size=16, senses=2, workers=1, seed=1), words, true


def test_a_shift_is_as_large_as_it_is(hard: tuple[TemporalMUSE, list[str], dict[str, list[float]]]) -> None:
    """As tagged it comes out smaller."""
    model, words, true = hard
    tagged, found, truth = [], [], []
    for word in words:
        rows = [row for row in model.shares(word, resamples=0) if row["sense"].endswith("#0")]
        for kind, name in ((tagged, "tagged"), (found, "share")):
            kind.append(abs(rows[0][name] - rows[1][name]))
        truth.append(abs(true[word][0] - true[word][1]))
    slope, plain = (np.dot(kind, truth) / np.dot(truth, truth) for kind in (found, tagged))
    assert plain < 0.95
    assert abs(slope - 1) < 0.6 * abs(plain - 1)
    assert np.abs(np.subtract(found, truth)).mean() < 0.8 * np.abs(np.subtract(tagged, truth)).mean()


def test_tables_are_of_shares_and_do_not_depend_on_threads(hard: Any) -> None:
    model, words, _ = hard
    confusions = model._confusions
    assert confusions.are_rates()
    arrays, vocabulary = model.model.arrays, model.model.vocabulary
    errs = [1 - np.diag(confusions.of(vocabulary.index(word))) for word in words]
    assert 0.01 < np.mean(errs) < 0.4
    single = np.flatnonzero(np.diff(arrays.sense_offset) == 1)
    assert all(confusions.of(int(word)).tolist() == [[1.0]] for word in single)
    text = {name: model._slices[name].source.given for name in model.slices}
    again = TemporalMUSE(text, model=model.model)
    assert np.array_equal(again._confusions.rates, confusions.rates)


def test_a_compass_that_has_seen_no_use_of_a_word_has_tags_that_do_not_err(hard: Any) -> None:
    model, words, _ = hard
    without = [s for s in model._slices["a"].source.given if words[0] not in s]
    other = TemporalMUSE({"a": without}, model=model.model)
    row = model.model.vocabulary.index(words[0])
    assert np.array_equal(other._confusions.of(row), np.eye(2))
    assert other.shares(words[0])[0]["share"] is None
    other.add_slice("b", model._slices["b"].source.given)
    rows = [row for row in other.shares(words[0]) if row["slice"] == "b"]
    assert rows[0]["share"] == pytest.approx(rows[0]["tagged"], abs=0.02)


def test_intervals_hold_the_share(hard: Any) -> None:
    model, words, _ = hard
    for word in words[:6]:
        for row in model.shares(word, resamples=300):
            assert 0 <= row["low"] <= row["share"] + 0.02
            assert row["share"] - 0.02 <= row["high"] <= 1


def test_damaged_tables_are_refused(hard: Any, tmp_path: Path) -> None:
    model, _, _ = hard
    model.save(tmp_path / "m")
    path = tmp_path / "m.slices"
    with TensorFile(path) as file:
        file.check()
        tensors, about = {name: file.read(name).copy() for name in file.names}, file.metadata["about"]
    for spoil in (lambda rates: rates[:-1], lambda rates: rates * 2, lambda rates: -rates):
        with_faults = {**tensors, "confusions": np.ascontiguousarray(spoil(tensors["confusions"]))}
        write_tensors(path, with_faults, {"about": about}, ["about"])
        with pytest.raises(ModelFileError, match="damaged"):
            TemporalMUSE.load(tmp_path / "m")


def test_rankings_are_kept_and_cannot_be_changed(hard: Any) -> None:
    model = copy.deepcopy(hard[0])
    table = model.change()
    table.rows[0]["word"] = "spoilt"
    again = model.change()
    assert again[0]["word"] != "spoilt"
    assert len(model._ranked) == 1
    assert model.change(least_uses=40).rows != again.rows
    assert model.change(words=[again[0]["word"]]).rows[0]["p"] == again[0]["p"]
