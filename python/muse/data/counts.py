"""How often senses are used: counts that add up to those of their words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["apportioned"]

Integers = NDArray[np.int64]


def apportioned(weights: NDArray[np.number], totals: Integers, offset: Integers) -> Integers:
    """Counts of senses in the proportions of `weights` that add up to the count of each word, int64 (Z,).

    Parameters
    ----------
    weights : (Z,)
        Not negative; a word whose weights are all zero has equal shares.
    totals : int64 (V,)
        How often each word is used.
    offset : int64 (V + 1,)
        `Arrays.sense_offset`.

    Examples
    --------
    >>> apportioned(np.array([1, 1, 2, 5]), np.array([3, 4]), np.array([0, 2, 4])).tolist()
    [2, 1, 1, 3]
    """
    starts, senses = offset[:-1], np.diff(offset)
    sums = np.add.reduceat(weights, starts)
    if np.array_equal(sums, totals) and weights.dtype.kind == "i":
        return weights.astype(np.int64)
    exact = np.where(np.repeat(sums > 0, senses), weights, 1).astype(np.float64)
    sums = np.add.reduceat(exact, starts)
    exact *= np.repeat(totals / sums, senses)
    counts = np.floor(exact).astype(np.int64)
    # The largest remainders take what is left, the first of those that tie.
    word = np.repeat(np.arange(len(totals)), senses)
    order = np.lexsort((np.arange(len(exact)), counts - exact, word))
    rank = np.arange(len(exact)) - np.repeat(starts, senses)
    missing = totals - np.add.reduceat(counts, starts)
    counts[order] += rank < np.repeat(missing, senses)
    # Beyond 2^53 products are rounded, so that more may be missing, or some be too many.
    largest = np.lexsort((-counts, word))[starts]
    counts[largest] += totals - np.add.reduceat(counts, starts)
    return counts
