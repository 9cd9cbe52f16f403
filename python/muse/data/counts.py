"""How often senses are used: counts that add up to those of their words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["apportioned", "with_text"]

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


def with_text(
    earlier: Integers, use: Integers, text: Integers, totals: Integers, offset: Integers, forget: float = 0.0
) -> Integers:
    """Counts of senses in all text seen, of which a word's last one takes as many places as it has uses there.

    So a text that is trained on again takes its own place, one whose words were counted (``build_vocab`` with
    ``update=True``) adds to what was before, and any other one takes a part of the places.

    Parameters
    ----------
    earlier : int64 (Z,)
        Counts before this text; zeros where nothing is known of them.
    use : int64 (Z,)
        How often each sense is taken in this text, all of it or a sample; words of which there is nothing (or that have
        no context in it) are used as before.
    text, totals : int64 (V,)
        Uses of each word in this text, and in all.
    offset : int64 (V + 1,)
        `Arrays.sense_offset`.
    forget : float
        Share of the earlier counts that is to be left out for the words of this text.

    Returns
    -------
    int64 (Z,)
        They add up to `totals`. Words that this text lacks keep the shares that they had.

    Examples
    --------
    >>> before, use, offset = np.array([6, 2]), np.array([0, 8]), np.array([0, 2])
    >>> with_text(before, use, np.array([8]), np.array([16]), offset).tolist()
    [6, 10]
    >>> with_text(before, use, np.array([8]), np.array([16]), offset, forget=1.0).tolist()
    [0, 16]
    """
    starts, senses = offset[:-1], np.diff(offset)
    known, used = np.add.reduceat(earlier, starts), np.add.reduceat(use, starts)
    here = apportioned(np.where(np.repeat(used > 0, senses), use, earlier), text, offset)
    totals = np.where(totals > 0, totals, np.maximum(known, text))  # words that were never counted
    rest = np.maximum(totals - text, 0) * (1.0 - forget)
    scale = np.divide(rest, known, out=np.zeros(len(text)), where=known > 0)
    if not scale[text > 0].any():  # whole numbers stay what they are
        return apportioned(np.where(np.repeat(text > 0, senses), here, earlier), totals, offset)
    mixed = here + earlier * np.repeat(scale, senses)
    return apportioned(np.where(np.repeat(text > 0, senses), mixed, earlier), totals, offset)
