"""Small corpora and models for tests of the trainers, and a trainer run on them beside tests/reference.py."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

import reference
from muse import _core
from reference import Config, Parameters, Result, run_batch

SENSES = (3, 2, 1, 3, 2, 1, 2, 3, 1, 1, 2, 3)  # of the words 0..11
LENGTHS = (7, 1, 2, 150, 5, 9, 1, 3, 12, 8, 4, 30)  # of the sentences: one is cut twice at 64 tokens a batch
DIM, SELECTION = 21, 18  # neither is a multiple of the padding


@dataclass
class Case:
    """A corpus and the arrays that a trainer is given; `arrays` are float32, padded, and move."""

    tokens: np.ndarray
    offsets: np.ndarray
    counts: np.ndarray
    arrays: dict[str, np.ndarray]

    def parameters(self) -> Parameters:
        """float64 copies of the arrays as they stand."""
        names = ("context_vectors", "selection_vectors", "sense_vectors", "collocation_vectors")
        copies = [self.arrays[name].astype(np.float64) for name in names]
        values = [self.arrays[name].astype(np.float64) for name in ("forward_values", "backward_values")]
        return Parameters(*copies, self.arrays["sense_offset"].copy(), *values)


def make_case(
    *, seed: int = 0, words_collocate: bool = False, dim: int = DIM, selection_size: int = SELECTION, scale: float = 0.4
) -> Case:
    """Random arrays, Q not zero, over a random corpus of all words; word 0 has no preference yet: its Q is zero."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, len(SENSES) + 1)
    tokens = rng.choice(len(SENSES), size=sum(LENGTHS), p=weights / weights.sum()).astype(np.int32)
    tokens[: len(SENSES)] = rng.permutation(len(SENSES))
    offset = np.concatenate(([0], np.cumsum(SENSES))).astype(np.int64)
    words, senses = len(SENSES), int(offset[-1])

    def matrix(rows: int, columns: int) -> np.ndarray:
        array = _core.aligned_zeros(rows, columns)
        array[:] = rng.normal(scale=scale, size=(rows, columns))
        return array

    arrays = {
        "context_vectors": matrix(words, selection_size),
        "selection_vectors": matrix(senses, selection_size),
        "sense_vectors": matrix(senses, dim),
        "collocation_vectors": matrix(words if words_collocate else senses, dim),
        "forward_values": matrix(words, selection_size),
        "backward_values": matrix(words, selection_size),
        "sense_offset": offset,
    }
    arrays["selection_vectors"][: offset[1]] = 0
    offsets = np.concatenate(([0], np.cumsum(LENGTHS))).astype(np.int64)
    return Case(tokens, offsets, np.bincount(tokens, minlength=words).astype(np.int64), arrays)


def core_options(config: Config) -> _core.Options:
    options = _core.Options()
    options.strategy = _core.Strategy[config.strategy]
    options.formulation = _core.Formulation[config.formulation]
    options.reward = _core.Reward[config.reward]
    options.collocates = _core.Collocates[config.collocates]
    options.selection_update = _core.SelectionUpdate[config.selection_update]
    selection = _core.SelectionOptions()
    selection.window = config.selection_window
    for name in ("mean", "full_text", "distance"):
        setattr(selection, name, getattr(config, name))
    options.selection = selection
    options.min_alpha = config.alpha
    others = {"strategy", "formulation", "reward", "collocates", "selection_update", "selection_window", "mean",
              "full_text", "distance", "sample", "ns_exponent", "context_weights"}  # fmt: skip
    for field in fields(Config):
        if field.name not in others:
            setattr(options, field.name, getattr(config, field.name))
    return options


def make_trainer(case: Case, config: Config, trainer_type: Any = _core.Trainer, **changes: Any) -> Any:
    """The trainer of a case, the core's or another backend's; `changes` replace attributes of its options."""
    options = core_options(config)
    for name, value in changes.items():
        setattr(options, name, value)
    arrays = dict(case.arrays)
    if config.formulation != "factorized":
        arrays["forward_values"] = arrays["backward_values"] = None
    return trainer_type(
        **arrays,
        word_counts=case.counts,
        corpus=_core.Corpus.from_arrays(case.tokens, case.offsets),
        options=options,
        sample=config.sample,
        ns_exponent=config.ns_exponent,
        context_weights=np.array(config.context_weights, np.float32),
    )


def make_epoch(case: Case, config: Config, epoch: int = 0) -> reference.Epoch:
    return reference.Epoch(config, case.tokens, case.offsets, case.counts, epoch)


# --- which combinations of options are tried --------------------------------------------------------------------------


def is_valid(choice: dict[str, Any]) -> bool:
    """Whether the trainer accepts a (possibly partial) choice of options."""
    policy = choice.get("strategy") in ("policy", "smooth_policy")
    if policy and choice.get("formulation") == "factorized":
        return False
    return not (choice.get("words_collocate") and choice.get("formulation") in ("two_sided", "factorized"))


def covering_choices(factors: dict[str, tuple[Any, ...]], seed: int, tries: int = 60) -> list[dict[str, Any]]:
    """Choices of one value a factor such that every valid pair of values of two factors occurs in one of them."""
    rng = np.random.default_rng(seed)
    open_pairs = {
        ((a, i), (b, j))
        for a, b in combinations(factors, 2)
        for i, j in product(range(len(factors[a])), range(len(factors[b])))
        if is_valid({a: factors[a][i], b: factors[b][j]})
    }
    names, choices = list(factors), []
    while open_pairs:
        best: tuple[int, dict[str, int]] = (-1, {})
        fixed = dict(sorted(open_pairs)[int(rng.integers(len(open_pairs)))])
        for _ in range(tries):
            picked = {name: fixed.get(name, int(rng.integers(len(factors[name])))) for name in names}
            if not is_valid({name: factors[name][i] for name, i in picked.items()}):
                continue
            pairs = {((a, picked[a]), (b, picked[b])) for a, b in combinations(names, 2)}
            best = max(best, (len(pairs & open_pairs), picked), key=lambda found: found[0])
        if best[0] < 1:
            continue
        picked = best[1]
        open_pairs -= {((a, picked[a]), (b, picked[b])) for a, b in combinations(names, 2)}
        choices.append({name: factors[name][i] for name, i in picked.items()})
    return choices


PAPER = [
    (strategy, formulation, reward, collocates, group_size)
    for strategy, formulation, reward, collocates, group_size in product(
        ("greedy", "eps_greedy", "boltzmann", "policy", "smooth_policy"),
        ("one_sided", "two_sided", "factorized"),
        ("likelihood", "sampled_likelihood"),
        ("one", "all"),
        (1, 4),
    )
    if is_valid({"strategy": strategy, "formulation": formulation})
]

EXTENSIONS: dict[str, tuple[Any, ...]] = {
    "strategy": ("greedy", "eps_greedy", "boltzmann", "policy", "smooth_policy"),
    "formulation": ("one_sided", "two_sided", "factorized"),
    "reward": ("likelihood", "sampled_likelihood"),
    "collocates": ("one", "all"),
    "selection_update": ("paper", "posterior", "none"),
    "posterior_weight": (1.0, 0.5),
    "group_size": (1, 4, 7),
    "negative": (3, 0),
    "shrink_windows": (True, False),
    "shrink_selection": (True, False),
    "selection_window": (2, 6),
    "mean": (False, True),
    "full_text": (False, True),
    "distance": ((), (0.0, 1.0, 0.7, 0.5, 0.4, 0.3, 0.25)),
    "context_weights": ((), tuple(float(x) for x in np.linspace(0.2, 1.0, 12))),
    "selection_mean": (True, False),
    "train_context_vectors": (True, False),
    "sibling_share": (0.0, 0.3),
    "max_norm": (0.0, 1.8),
    "sample": (0.02, 0.0),
    "temperature": (1.0, 0.6),
    "words_collocate": (False, True),
}
CHOICES = [choice for seed in (0, 1) for choice in covering_choices(EXTENSIONS, seed)]


# --- a trainer beside the reference ----------------------------------------------------------------------------------

MATRICES = {"P": "context_vectors", "Q": "selection_vectors", "U": "sense_vectors", "V": "collocation_vectors",
            "F": "forward_values", "B": "backward_values"}  # fmt: skip
TOLERANCE = 1e-5  # of the largest number in a matrix


def assert_same(case: Case, model: Parameters, start: Parameters) -> dict[str, float]:
    """Every matrix as in the reference; returns how far each moved, relative to its scale."""
    moved = {}
    for symbol, name in MATRICES.items():
        expected = getattr(model, symbol)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(case.arrays[name], expected, rtol=0, atol=TOLERANCE * scale, err_msg=name)
        moved[symbol] = float(np.abs(expected - getattr(start, symbol)).max() / scale)
    return moved


def assert_same_statistics(stats: dict[str, Any], expected: Result) -> None:
    exact = {"targets": expected.targets, "pairs": len(expected.pairs), "loss_pairs": expected.loss_pairs,
             "entropy_targets": expected.entropy_targets}  # fmt: skip
    assert {name: stats[name] for name in exact} == exact
    assert stats["sense_use"].tolist() == expected.sense_use.tolist()
    for name in ("reward", "loss", "entropy"):
        assert stats[name] == pytest.approx(getattr(expected, name), rel=2e-5, abs=1e-5), name
    assert not stats["stopped"]
    assert not stats["diverged"]


def compare(
    config: Config,
    *,
    words_collocate: bool = False,
    seed: int = 0,
    scale: float = 0.4,
    trainer_type: Any = _core.Trainer,
) -> tuple[dict[str, float], list[Result]]:
    """Train both over all batches of an epoch; returns how far each matrix moved, and the reference's decisions."""
    case = make_case(seed=seed, words_collocate=words_collocate, scale=scale)
    start, model = case.parameters(), case.parameters()
    trainer, epoch = make_trainer(case, config, trainer_type), make_epoch(case, config)
    results: list[Result] = []
    begin = 0
    assert trainer.num_batches >= 4
    for batch in range(trainer.num_batches):
        stats = trainer.run(0, batch, batch + 1, 1)
        end = begin + stats["tokens"]
        results.append(run_batch(epoch, model, begin, end, config.alpha, config.selection_alpha))
        assert_same_statistics(stats, results[-1])
        begin = end
    assert begin == len(case.tokens)
    return assert_same(case, model, start), results
