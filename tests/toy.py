"""Small models made straight from arrays, for tests of everything that needs no training."""

from __future__ import annotations

from typing import Any

import numpy as np

from muse import MUSE, Arrays, Settings
from muse.evaluation import SenseKeyedVectors

PLAIN = {
    "strategy": "eps_greedy", "collocation": "sense", "context": "sum", "context_weights": "none",
    "distance_power": 0, "context_center": True, "selection_window": None,
}  # fmt: skip
"""The paper's selection of senses, which can be written down in a line of numpy."""
WORDS = ("head", "army", "the", "bank", "🎉", "new york", "c#", "line\nbreak", "")
SENSES = (3, 1, 1, 2, 1, 2, 1, 1, 1)


def toy_arrays(
    senses: tuple[int, ...] = SENSES, vector_size: int = 7, selection_size: int = 5, *, seed: int = 0, **given: Any
) -> Arrays:
    """Random arrays for words with the given numbers of senses; `given` replaces some of them."""
    rng = np.random.default_rng(seed)
    words, total = len(senses), sum(senses)

    def matrix(rows: int, columns: int) -> Any:
        return rng.normal(size=(rows, columns)).astype(np.float32)

    arrays = {
        "context_vectors": matrix(words, selection_size),
        "selection_vectors": matrix(total, selection_size),
        "sense_vectors": matrix(total, vector_size),
        "collocation_vectors": matrix(total, vector_size),
        "sense_offset": np.concatenate(([0], np.cumsum(senses))).astype(np.int64),
        "sense_counts": rng.integers(1, 100, total),
        "word_counts": np.arange(10 * words, 9 * words, -1),
    }
    return Arrays(**{**arrays, **given})


def toy_model(settings: dict[str, Any] | None = None, words: tuple[str, ...] = WORDS, **given: Any) -> MUSE:
    """A model of `toy_arrays` with `PLAIN` settings, and some others."""
    arrays = toy_arrays(**given)
    sizes = {"vector_size": arrays.vector_size, "selection_size": arrays.context_vectors.shape[1]}
    start = "split" if sizes["selection_size"] == sizes["vector_size"] else "random"
    return MUSE.from_arrays(words, arrays, Settings(**{"init": start, **PLAIN, **sizes, **(settings or {})}))


def by_cue(word: str, tokens: list[str], position: int) -> list[float]:
    """Sense 1 where a neighbour is "cash"; half and half where nothing stands beside the word."""
    if len(tokens) == 1:
        return [0.5, 0.5]
    return [0.2, 0.8] if "cash" in tokens[max(0, position - 2) : position + 3] else [1.0, 0.1]


def cue_model() -> SenseKeyedVectors:
    """Words with a selector by neighbours: `by_cue`."""
    keys = ["bank#0", "bank#1", "banks#0", "banks#1", "river#0"]
    return SenseKeyedVectors.from_word2vec_keys(keys, np.eye(5), by_cue)
