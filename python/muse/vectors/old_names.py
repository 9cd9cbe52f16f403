"""What gensim's vectors have beside questions: lengths, and reports of evaluations. Methods of `KeyedVectors`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from muse.base.numeric import as_cosines, unit_rows
from muse.data.arrays import Floats

__all__ = ["cosine_similarities", "fill_norms", "log_accuracy", "log_evaluate_word_pairs", "norms"]

logger = logging.getLogger("muse")


class Lengths(Protocol):
    """What is asked of vectors."""

    @property
    def vectors(self) -> Floats: ...
    def _now(self) -> Self: ...


def norms(self: Lengths) -> NDArray[np.float32]:
    """The length of each vector, float32 (N,)."""
    lengths: NDArray[np.float32] = np.linalg.norm(self._now().vectors, axis=1)
    return lengths


def fill_norms(self: Lengths, force: bool = False) -> None:
    """Do nothing: lengths are taken when they are needed, with `force` or without."""


def cosine_similarities(vector_1: ArrayLike, vectors_all: ArrayLike) -> NDArray[np.float32]:
    """The cosines of one vector with others; 0 where one is of zeros.

    Parameters
    ----------
    vector_1 : array_like (D,)
        The one.
    vectors_all : array_like (N, D)
        The others.

    Returns
    -------
    float32 (N,)

    Raises
    ------
    ValueError
        If their sizes differ.

    Examples
    --------
    >>> cosine_similarities([1, 0], [[2, 0], [0, 3]]).tolist()
    [1.0, 0.0]
    """
    one, others = np.asarray(vector_1, np.float32), np.asarray(vectors_all, np.float32)
    if one.ndim != 1 or others.ndim != 2 or others.shape[1] != len(one):
        raise ValueError(
            f"cosine_similarities takes a vector (D,) and vectors (N, D); got the shapes {one.shape} and {others.shape}"
        )
    return as_cosines(unit_rows(others).astype(np.float32) @ unit_rows(one).astype(np.float32))


def log_accuracy(section: Mapping[str, Any]) -> float:
    """Log the accuracy of a section of `evaluate_word_analogies`, and return it; 0 of an empty one."""
    right, wrong = len(section["correct"]), len(section["incorrect"])
    if not right + wrong:
        return 0.0
    score = right / (right + wrong)
    logger.info("%s: %.1f%% (%d of %d)", section["section"], 100 * score, right, right + wrong)
    return score


def log_evaluate_word_pairs(pearson: Any, spearman: Any, oov: float, pairs: Any) -> None:
    """Log what `evaluate_word_pairs` found in `pairs`: `pearson` and `spearman` correlations, and the share `oov`."""
    logger.info(
        "%s: Pearson %.4f, Spearman %.4f; %.1f%% of the pairs have unknown words", pairs, pearson[0], spearman[0], oov
    )
