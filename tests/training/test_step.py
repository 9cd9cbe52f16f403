"""The core's training step against the plain implementation of the paper in tests/reference.py, and against numeric
derivatives of the losses."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import reference
from muse import _core
from reference import Config, Parameters, Result, run_batch
from step_cases import (
    CHOICES,
    EXTENSIONS,
    MATRICES,
    PAPER,
    Case,
    assert_same,
    compare,
    is_valid,
    make_case,
    make_epoch,
    make_trainer,
)


@pytest.mark.parametrize(("strategy", "formulation", "reward", "collocates", "group_size"), PAPER)
def test_the_paper_and_shared_negatives(strategy, formulation, reward, collocates, group_size):
    config = Config(
        strategy=strategy, formulation=formulation, reward=reward, collocates=collocates, group_size=group_size
    )
    moved, results = compare(config)
    expected = set("PQUVFB") if formulation == "factorized" else set("PQUV")
    assert {name for name, distance in moved.items() if distance > 1e-3} == expected
    used = np.sum([result.sense_use for result in results], axis=0)
    assert (used[: make_case().arrays["sense_offset"][1]] > 0).all()  # ties of a word without preference are random


@pytest.mark.parametrize("number", range(len(CHOICES)))
def test_every_pair_of_extensions(number):
    choice = dict(CHOICES[number])
    words_collocate = choice.pop("words_collocate")
    rate = 1.0 if choice["selection_mean"] else 0.02
    moved, _ = compare(Config(**choice, selection_alpha=rate), words_collocate=words_collocate, seed=number)
    assert min(moved["U"], moved["V"]) > 1e-3
    learns = choice["selection_update"] != "none"
    assert (moved["Q"] > 1e-4) == learns
    capped = choice["max_norm"] > 0
    assert (moved["P"] > (0 if capped else 1e-4)) == (learns and choice["train_context_vectors"])


def test_the_covering_design_covers():
    names = list(EXTENSIONS)
    seen = {(a, choice[a], b, choice[b]) for choice in CHOICES for a in names for b in names}
    wanted = {
        (a, x, b, y)
        for a, b in product(names, names)
        for x, y in product(EXTENSIONS[a], EXTENSIONS[b])
        if a != b and is_valid({a: x, b: y})
    }
    assert wanted <= seen


@pytest.mark.parametrize("epoch", [0, 3])
def test_epochs_draw_anew(epoch):
    config = Config()
    case = make_case()
    model = case.parameters()
    trainer = make_trainer(case, config)
    tokens = trainer.run(epoch, 0, 1, 1)["tokens"]
    run_batch(make_epoch(case, config, epoch), model, 0, tokens, config.alpha, config.selection_alpha)
    assert_same(case, model, model)


@pytest.mark.parametrize(("collocates", "group_size"), list(product(("one", "all"), (1, 4, 7))))
def test_groups_with_large_scores_take_smaller_steps(collocates, group_size, monkeypatch):
    config = Config(collocates=collocates, group_size=group_size)
    compare(config, scale=1.7)
    monkeypatch.setattr(reference, "STEADY_SCORE", np.inf)
    if group_size == 1:  # every target steps alone anyway
        compare(config, scale=1.7)
    else:
        with pytest.raises(AssertionError):
            compare(config, scale=1.7)


def test_max_norm_bounds_the_rows_that_move():
    config = Config(max_norm=1.0, selection_alpha=20.0)
    case = make_case()
    trainer = make_trainer(case, config)
    stats = trainer.run(0, 0, trainer.num_batches, 1)
    assert stats["targets"] > 100
    lengths = np.linalg.norm(case.arrays["context_vectors"], axis=1)
    assert lengths.max() <= 1.0 + 1e-6
    assert lengths.min() > 0.1


@pytest.mark.parametrize("full_text", [False, True])
@pytest.mark.parametrize("mean", [False, True])
def test_the_selector_in_use_sees_what_it_saw_in_training(mean, full_text):
    config = Config(mean=mean, full_text=full_text, shrink_selection=False, sample=0.0,
                    distance=(0.5, 1.0, 0.8, 0.6), context_weights=tuple(np.linspace(0.2, 1, 12)))  # fmt: skip
    case = make_case()
    epoch, model = make_epoch(case, config), case.parameters()
    selections = [reference.select(epoch, model, i) for i in range(len(case.tokens))]
    options = _core.SelectionOptions()
    options.window, options.mean, options.distance = config.selection_window, mean, config.distance
    given = (case.arrays["context_vectors"], case.arrays["selection_vectors"], case.arrays["sense_offset"],
             np.array(config.context_weights, np.float32), options)  # fmt: skip
    sense, probability = _core.select_senses(*given, case.tokens, case.offsets, workers=2)
    # Ties go to the lowest number in use.
    assert sense.tolist() == [int(np.argmax(s.s)) for s in selections]
    np.testing.assert_allclose(probability, [reference.softmax(s.s).max() for s in selections], atol=1e-6)
    places = [(i, n) for i, length in enumerate(np.diff(case.offsets)) for n in range(length)]
    contexts = [case.tokens[case.offsets[i] : case.offsets[i + 1]] for i, _ in places]
    offsets = np.concatenate(([0], np.cumsum([len(c) for c in contexts]))).astype(np.int64)
    positions = np.array([n for _, n in places])
    asked = np.concatenate(contexts), offsets, positions, case.tokens
    scores = _core.Selector(*given).scores(*asked, workers=2)
    np.testing.assert_allclose(scores, np.concatenate([s.s for s in selections]), atol=1e-5)


@pytest.mark.parametrize("distance", [(), (0.5, 0.8, 0.3, 0.1)])
@pytest.mark.parametrize("mean", [False, True])
def test_a_word_beside_its_context_is_scored_as_a_neighbour_of_all_of_it(mean, distance):
    case = make_case()
    model, weights = case.parameters(), np.linspace(0.2, 1, len(case.counts)).astype(np.float32)
    options = _core.SelectionOptions()
    options.window, options.mean, options.distance = 3, mean, distance
    contexts, words = [case.tokens[:9], case.tokens[9:9], case.tokens[9:11]], np.array([3, 0, 7], np.int32)
    selector = _core.Selector(
        *(case.arrays[name] for name in ("context_vectors", "selection_vectors", "sense_offset")), weights, options
    )
    scores = selector.scores(case.tokens[:11], [0, 9, 9, 11], [-1, -1, -1], words)
    expected = []
    for context, word in zip(contexts, words, strict=True):
        # How far the word is from each is not known: they weigh as its neighbours do, and it weighs as itself.
        near, centre = (distance[1], distance[0]) if distance else (1.0, 1.0)
        w = np.append(near * weights[context], centre * weights[word])
        c = w @ model.P[[*context, word]] / (w.sum() if mean else 1)
        expected += [*(model.Q[model.offset[word] : model.offset[word + 1]] @ c)]
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    assert _core.has_context([0, 9, 9, 11], [-1, -1, -1]) == [True, False, True]  # nothing around the second one


# --- numeric derivatives ----------------------------------------------------------------------------------------------


def numeric_gradient(loss, x: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """d loss / d x by central differences; loss reads x."""
    gradient = np.zeros_like(x)
    for index in np.ndindex(*x.shape):
        here = x[index]
        x[index] = here + step
        up = loss()
        x[index] = here - step
        gradient[index] = (up - loss()) / (2 * step)
        x[index] = here
    return gradient


def one_batch(config: Config) -> tuple[Case, Parameters, Result]:
    """A batch in which all decisions and rewards are known, after the core has taken its step."""
    case = make_case(seed=5, dim=6, selection_size=5)
    case.tokens, case.offsets = case.tokens[:25].copy(), np.array([0, 7, 8, 10, 25])
    start = case.parameters()
    trainer = make_trainer(case, config)
    assert trainer.num_batches == 1
    trainer.run(0, 0, 1, 1)
    result = run_batch(make_epoch(case, config), case_copy(start), 0, 25, config.alpha, config.selection_alpha)
    return case, start, result


def case_copy(model: Parameters) -> Parameters:
    return replace(model, **{name: getattr(model, name).copy() for name in MATRICES})


def assert_step_follows(loss, case: Case, start: Parameters, symbol: str, rate: float) -> None:
    """The core moved a matrix by -rate times the numeric gradient of the loss."""
    matrix = getattr(start, symbol)
    before = matrix.copy()
    gradient = numeric_gradient(loss, matrix)
    step = case.arrays[MATRICES[symbol]] - before
    scale = np.abs(gradient).max()
    assert scale > 1e-4
    np.testing.assert_allclose(-step / rate, gradient, rtol=0, atol=2e-4 * scale, err_msg=symbol)


SELECTION_LOSSES = [
    {"strategy": strategy, "formulation": formulation, "reward": reward}
    for strategy, formulation, reward in product(
        ("eps_greedy", "policy", "smooth_policy"),
        ("one_sided", "two_sided", "factorized"),
        ("likelihood", "sampled_likelihood"),
    )
    if is_valid({"strategy": strategy, "formulation": formulation})
]


@pytest.mark.parametrize("collocates", ["one", "all"])
@pytest.mark.parametrize("choice", SELECTION_LOSSES, ids=lambda choice: "-".join(choice.values()))
def test_the_selection_step_descends_the_papers_loss(choice, collocates):
    config = Config(**choice, collocates=collocates, temperature=0.8, mean=collocates == "all",
                    selection_alpha=10.0)  # fmt: skip
    case, start, result = one_batch(config)
    epoch = make_epoch(case, config)
    states = {"factorized": 1.0}.get(config.formulation, 0.0)
    sides = 1 if config.formulation == "one_sided" else 2

    def loss() -> float:
        """Mean over the batch's targets of the loss of each (mean over its pairs, and over the two sides)."""
        selections = {i: reference.select(epoch, start, i) for i in result.selections}
        total = 0.0
        for pair in result.pairs:
            for position, state in [(pair.target, "forward"), (pair.collocate, "backward")][:sides]:
                selection = replace(selections[position], sense=result.selections[position].sense)
                if len(selection.s) > 1:
                    state = states * getattr(selection, state)
                    total += pair.share / sides * reference.selection_loss(config, selection, state, pair.reward)
        return total / result.targets

    for symbol in "PQFB" if states else "PQ":
        assert_step_follows(loss, case, start, symbol, config.selection_alpha)


def test_the_posterior_step_descends_a_cross_entropy():
    config = Config(selection_update="posterior", collocates="all", posterior_weight=0.7)
    case, start, result = one_batch(config)
    epoch = make_epoch(case, config)
    posterior = {i: reference.softmax(result.selections[i].s) - g for i, g in result.gradient.items()}  # held fixed
    assert all(p.sum() == pytest.approx(1) and p.min() > 0 for p in posterior.values())

    def loss() -> float:
        cross_entropies = [
            -p @ np.log(reference.softmax(reference.select(epoch, start, i).s)) for i, p in posterior.items()
        ]
        return sum(cross_entropies) / result.targets

    for symbol in "PQ":
        assert_step_follows(loss, case, start, symbol, config.selection_alpha)


@pytest.mark.parametrize("collocates", ["one", "all"])
def test_the_representation_step_descends_the_skip_gram_loss(collocates):
    # All targets in one group: U and V take a single step on the loss of the batch.
    config = Config(collocates=collocates, group_size=64)
    case, start, result = one_batch(config)
    assert len(result.groups) == 1

    def loss() -> float:
        return sum(reference.pair_loss(start.U, start.V, pair) for pair in result.pairs)

    for symbol in "UV":
        assert_step_follows(loss, case, start, symbol, config.alpha)


def test_a_pair_with_its_own_negatives_descends_the_skip_gram_loss():
    config = Config(batch_tokens=1, negative=5, sample=0.0)  # one target a batch
    case = make_case(seed=5, dim=6, selection_size=5)
    start = case.parameters()
    make_trainer(case, config).run(0, 0, 1, 1)
    result = run_batch(make_epoch(case, config), case_copy(start), 0, 1, config.alpha, config.selection_alpha)
    (pair,) = result.pairs
    assert len(pair.negatives) > 1

    def loss() -> float:
        return reference.pair_loss(start.U, start.V, pair)

    for symbol in "UV":
        assert_step_follows(loss, case, start, symbol, config.alpha)
