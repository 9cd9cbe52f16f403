"""Batches and threads: what may depend on where batches are cut and on who works on them, and what may not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from muse import _core
from reference import Config
from step_cases import Case, make_case, make_trainer

FROZEN = {"selection_update": "none"}  # P and Q stay: senses depend on nothing that the order of events changes
MOVING = ("context_vectors", "selection_vectors", "sense_vectors", "collocation_vectors")


def train(config: Config, *, batch_tokens: int = 64, workers: int = 1, seed: int = 0) -> tuple[Case, dict[str, Any]]:
    case = make_case(seed=seed)
    trainer = make_trainer(case, config, batch_tokens=batch_tokens)
    return case, trainer.run(0, 0, trainer.num_batches, workers)


def assert_same_bytes(a: Case, b: Case) -> None:
    for name in MOVING:
        np.testing.assert_array_equal(a.arrays[name], b.arrays[name], err_msg=name)


SELECTORS = [
    {},
    {"full_text": True},
    {"shrink_selection": False, "selection_window": 8},
    {"full_text": True, "mean": True, "selection_window": 1},
    {"shrink_selection": False, "selection_window": 7, "distance": (0.0, 1, 0.5, 0.5, 0.3, 0.3, 0.2, 0.1)},
]


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("collocates", ["one", "all"])
@pytest.mark.parametrize("strategy", ["eps_greedy", "boltzmann"])
def test_decisions_do_not_depend_on_where_batches_are_cut(strategy, collocates, selector):
    config = Config(**FROZEN, strategy=strategy, collocates=collocates, **selector)
    whole, expected = train(config, batch_tokens=10_000)
    for batch_tokens in (1, 7, 64):
        case, stats = train(config, batch_tokens=batch_tokens)
        assert stats["sense_use"].tolist() == expected["sense_use"].tolist()
        for name in ("targets", "pairs", "tokens", "loss_pairs", "entropy_targets"):
            assert stats[name] == expected[name], name
        # Sums of a batch are rounded to 2^-16.
        assert stats["entropy"] == pytest.approx(expected["entropy"], abs=1e-5 * len(case.tokens))
        # A target that draws its own negatives takes the same step in any batch.
        assert_same_bytes(case, whole)


@pytest.mark.parametrize("strategy", ["greedy", "eps_greedy", "boltzmann", "policy"])
@pytest.mark.parametrize("group_size", [1, 4])
def test_decisions_do_not_depend_on_workers(strategy, group_size):
    config = Config(**FROZEN, strategy=strategy, group_size=group_size)
    alone, expected = train(config, batch_tokens=16)
    case, stats = train(config, batch_tokens=16, workers=3)
    assert stats["sense_use"].tolist() == expected["sense_use"].tolist()
    assert stats["entropy"] == expected["entropy"]
    for name in ("targets", "pairs", "tokens", "loss_pairs", "next_batch"):
        assert stats[name] == expected[name], name
    # U and V meet in another order: close, not equal.
    scale = np.abs(alone.arrays["sense_vectors"]).max()
    np.testing.assert_allclose(case.arrays["sense_vectors"], alone.arrays["sense_vectors"], atol=0.3 * scale)


def test_with_all_frozen_workers_change_nothing_at_all():
    config = Config(**FROZEN, alpha=0.0)
    start = make_case()
    case, stats = train(config, workers=3)
    assert stats["targets"] > 100
    assert_same_bytes(case, start)


def test_one_worker_gives_the_same_bytes():
    config = Config(formulation="two_sided", collocates="all", reward="sampled_likelihood")
    assert_same_bytes(train(config)[0], train(config)[0])


def test_seeds_and_epochs_differ():
    runs = []
    for seed, epoch in ((1, 0), (2, 0), (1, 1)):
        case = make_case()
        trainer = make_trainer(case, Config(seed=seed))
        trainer.run(epoch, 0, trainer.num_batches, 1)
        runs.append(case.arrays["sense_vectors"].copy())
    assert len({run.tobytes() for run in runs}) == 3


def test_a_run_in_parts_is_one_run():
    config = Config(strategy="boltzmann")
    whole, expected = train(config)
    case = make_case()
    trainer = make_trainer(case, config)
    middle = trainer.num_batches // 2
    parts = [trainer.run(0, 0, middle, 1), trainer.run(0, middle, trainer.num_batches, 1)]
    assert_same_bytes(case, whole)
    assert parts[0]["next_batch"] == middle
    assert sum(part["pairs"] for part in parts) == expected["pairs"]


def test_batches_begin_at_sentences_and_cut_long_ones():
    case = make_case()
    trainer = make_trainer(case, Config(), batch_tokens=64)
    sizes = [trainer.run(0, b, b + 1, 1)["tokens"] for b in range(trainer.num_batches)]
    begins = np.cumsum([0, *sizes])
    assert begins[-1] == len(case.tokens)
    assert min(sizes) > 0
    long = int(np.argmax(np.diff(case.offsets)))  # 150 tokens
    inside = case.offsets[long] + np.array([64, 128])
    assert set(begins) - set(case.offsets) == set(inside)


def test_the_learning_rate_falls_linearly_with_tokens():
    trainer = make_trainer(make_case(), Config(alpha=0.5), min_alpha=0.1, epochs=4)
    assert trainer.alpha_at(0, 0) == pytest.approx(0.5)
    assert trainer.alpha_at(2, 0) == pytest.approx(0.3)
    assert trainer.alpha_at(3, trainer.num_batches) == pytest.approx(0.1)
    assert trainer.alpha_at(9, 0) == pytest.approx(0.1)
    rates = [trainer.alpha_at(1, b) for b in range(trainer.num_batches + 1)]
    assert rates == sorted(rates, reverse=True)
    with pytest.raises(ValueError, match="out of range"):
        trainer.alpha_at(0, trainer.num_batches + 1)


@pytest.fixture
def long_trainer():
    """Half a million tokens: a few seconds of work."""
    case = make_case()
    rng = np.random.default_rng(0)
    case.tokens = rng.integers(0, len(case.counts), 500_000).astype(np.int32)
    case.offsets = np.arange(0, 500_001, 50)
    case.counts = np.bincount(case.tokens)
    return make_trainer(case, Config(collocates="all", window=5, negative=20, sample=0.0, alpha=1e-3), batch_tokens=256)


def test_a_tick_that_says_no_stops_the_run(long_trainer):
    seen = []

    def tick(tokens: int) -> bool:
        seen.append(tokens)
        return len(seen) < 2

    stats = long_trainer.run(0, 0, long_trainer.num_batches, 2, tick)
    assert stats["stopped"]
    assert len(seen) == 2
    assert 0 < stats["next_batch"] < long_trainer.num_batches
    assert stats["tokens"] == stats["next_batch"] * 300  # whole sentences of 50 up to 256 tokens or more


def test_an_exception_in_a_tick_stops_the_run_and_comes_with_its_numbers(long_trainer):
    def tick(tokens: int) -> bool:
        raise KeyError(tokens)

    stats = long_trainer.run(0, 0, long_trainer.num_batches, 2, tick)
    assert isinstance(stats["error"], KeyError)
    assert stats["stopped"]
    assert 0 < stats["next_batch"] < long_trainer.num_batches


def test_divergence_is_reported():
    case = make_case()
    case.arrays["sense_vectors"][0, 3] = np.nan
    case.arrays["sense_vectors"][1:3, 3] = np.inf
    trainer = make_trainer(case, Config())
    stats = trainer.run(0, 0, trainer.num_batches, 1)
    assert stats["diverged"]
    assert stats["next_batch"] < trainer.num_batches


def bad(**changes: Any) -> Any:
    """A trainer whose options or arrays do not fit."""
    case = make_case(words_collocate=changes.pop("words_collocate", False))
    config = Config(**{k: changes.pop(k) for k in list(changes) if k in Config.__dataclass_fields__})
    case.arrays.update(changes.pop("arrays", {}))
    for name, value in changes.items():
        setattr(case, name, value)
    return lambda: make_trainer(case, config)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (bad(strategy="policy", formulation="factorized"), "value strategy"),
        (bad(formulation="two_sided", words_collocate=True), "one collocation vector a sense"),
        (bad(window=0), "window"),
        (bad(group_size=0), "out of range"),
        (bad(distance=(1.0, 1.0)), "distance"),
        (bad(context_weights=(1.0, 2.0)), "context_weights"),
        (bad(counts=np.ones(3, np.int64)), "word_counts"),
        (bad(counts=np.zeros(12, np.int64)), "positive count"),
        (bad(arrays={"sense_vectors": np.zeros((24, 21), np.float32)}), "aligned_zeros"),
        (bad(arrays={"sense_vectors": _core.aligned_zeros(23, 21)}), "sense_vectors"),
        (bad(arrays={"collocation_vectors": _core.aligned_zeros(24, 20)}), "collocation_vectors"),
        (bad(arrays={"sense_offset": np.arange(1, 14)}), "begin at 0"),
        (bad(arrays={"sense_offset": np.array([0, 0, *range(2, 13)])}), "at least one sense"),
        (bad(tokens=np.full(232, 12, np.int32)), "beyond the vocabulary"),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_batches_out_of_range_are_refused():
    trainer = make_trainer(make_case(), Config())
    for first, last in ((-1, 1), (2, 1), (0, trainer.num_batches + 1)):
        with pytest.raises(ValueError, match="out of range"):
            trainer.run(0, first, last, 1)
    assert trainer.run(0, 1, 1, 1)["targets"] == 0


@pytest.mark.parametrize(("tokens", "offsets"), [([], [0]), ([3], [0, 1]), ([0, 1], [0, 0, 1, 1, 2, 2])])
def test_texts_without_a_pair_train_nothing(tokens, offsets):
    case = make_case()
    case.tokens, case.offsets = np.array(tokens, np.int32), np.array(offsets)
    start = make_case()
    trainer = make_trainer(case, Config(sample=0.0))
    stats = trainer.run(0, 0, trainer.num_batches, 2)
    assert stats["targets"] == stats["pairs"] == 0
    assert not stats["diverged"]
    assert_same_bytes(case, start)
