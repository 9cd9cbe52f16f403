"""How far a word's senses have changed between two slices, and how likely chance alone would have done as much.

What is exchanged by the permutation is groups of blocks of sentences, with all uses of the word in them, so that a
word that one document is full of is not taken for one that changed; and as many uses go to each side as there were, so
that frequency alone makes no change. Where a side needs a part of the last group only, that many of its uses are drawn:
whole ones, since parts of uses would be smoother than any slice of so few uses is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Verdict", "adjusted", "jensen_shannon", "part_of_counts", "permutation_verdict"]

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]
Measure = Callable[[Numbers, Numbers], Numbers]
"""Of two arrays (B, F) of sums, of each side's groups; their first columns say what there is to divide by: (B,)."""
Part = Callable[[Integers, Integers, np.random.Generator], Numbers]
"""Of groups (B,) and so many of the uses of each (B,): what uses that are drawn from them add up to, (B, F)."""

_FIRST = 100  # permutations after which a word that is clearly unchanged is left
_ENOUGH = 10  # permutations as extreme as what is: the share of such is a good estimate
_BLOCK = 100  # permutations at once


class Verdict(NamedTuple):
    """What a permutation says of one word.

    Attributes
    ----------
    value : float
        Of the measure.
    expected : float
        Its mean over permutations, which is what chance makes of so few uses.
    p : float
        Probability of such a value, or a larger one, by chance.
    """

    value: float
    expected: float
    p: float


def jensen_shannon(first: Numbers, second: Numbers) -> Numbers:
    """Jensen-Shannon divergence of shares, in bits: 0 where they are equal, 1 where nothing is shared.

    Parameters
    ----------
    first, second : float64 (B, K)
        Counts, which need not be whole.

    Returns
    -------
    float64 (B,)

    Examples
    --------
    >>> jensen_shannon(np.array([[3.0, 1.0], [2.0, 0.0]]), np.array([[6.0, 2.0], [0.0, 5.0]])).round(6).tolist()
    [0.0, 1.0]
    """
    p = first / np.maximum(first.sum(axis=1, keepdims=True), 1e-12)
    q = second / np.maximum(second.sum(axis=1, keepdims=True), 1e-12)
    found: Numbers = np.clip(_entropy((p + q) / 2) - (_entropy(p) + _entropy(q)) / 2, 0.0, 1.0)
    return found


def _entropy(shares: Numbers) -> Numbers:
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    entropy: Numbers = -(shares * logs).sum(axis=1)
    return entropy


def part_of_counts(sums: Numbers) -> Part:
    """What draws uses from groups whose counts, float64 (G, F), are whole numbers of uses of each kind."""
    counts = sums.astype(np.int64)

    def part(groups: Integers, wanted: Integers, rng: np.random.Generator) -> Numbers:
        mine, left = counts[groups], wanted.copy()
        others = mine.sum(axis=1)
        found = np.zeros(mine.shape)
        for kind in range(mine.shape[1]):
            others -= mine[:, kind]
            found[:, kind] = rng.hypergeometric(mine[:, kind], others, left)
            left -= found[:, kind].astype(np.int64)
        return found

    return part


def permutation_verdict(
    first: Numbers, second: Numbers, uses: tuple[Numbers, Numbers], measure: Measure, permutations: int,
    rng: np.random.Generator, part: Part | None = None,
) -> Verdict:  # fmt: skip
    """The value of a measure of two slices, and what a permutation of their groups says of it.

    Parameters
    ----------
    first, second : float64 (A, F), (B, F)
        What each group of each slice adds up to.
    uses : float64 (A,), float64 (B,)
        How many uses each group holds.
    measure : callable
        Of sums over groups, (P, F) of each side.
    permutations : int
        At most so many.
    rng : numpy.random.Generator
    part : callable, optional
        Draws uses from groups, those of `first` before those of `second`; where it is not given, the sums are counts.

    Notes
    -----
    A word for which ten of the first hundred permutations are as extreme is left there (Besag & Clifford 1991). Where
    fewer than ten of all are, the tail is that of a gamma distribution with the mean, variance and skewness of the
    permuted values (Winkler et al. 2016), by the cube root of Wilson & Hilferty (1931): so p can be smaller than one
    over the permutations, as a control of false discoveries among thousands of words needs. It is never smaller than
    one over the number of ways in which the groups can be parted.
    """
    value = float(measure(first.sum(axis=0)[None], second.sum(axis=0)[None])[0])
    sums, sizes = np.concatenate((first, second)), np.concatenate(uses).astype(np.int64)
    part = part_of_counts(sums) if part is None else part
    wanted = int(uses[0].sum())
    drawn: list[Numbers] = []
    count, extreme = 0, 0
    while count < permutations and not (count >= _FIRST and extreme >= _ENOUGH):
        some = min(_BLOCK, permutations - count)
        side = _drawn_sums(sums, sizes, wanted, part, some, rng)
        drawn.append(measure(side, sums.sum(axis=0) - side))
        count += some
        extreme += int((drawn[-1] >= value - 1e-12).sum())
    values = np.concatenate(drawn)
    p = (extreme + 1) / (count + 1)
    if extreme < _ENOUGH:
        p = min(max(_tail(values, value), _least(len(first), len(second)), 1e-300), 1.0)
    return Verdict(value, float(values.mean()), p)


def _least(first: int, second: int) -> float:
    """One over the number of ways to part groups into so many and so many."""
    return math.exp(math.lgamma(first + 1) + math.lgamma(second + 1) - math.lgamma(first + second + 1))


def _drawn_sums(
    sums: Numbers, sizes: Integers, wanted: int, part: Part, count: int, rng: np.random.Generator
) -> Numbers:
    """Sums over groups drawn at random until they hold so many uses, (count, F); of the last one some uses."""
    order = rng.permuted(np.broadcast_to(np.arange(len(sizes)), (count, len(sizes))), axis=1)
    ends = np.cumsum(sizes[order], axis=1)
    weights = np.empty(order.shape)
    np.put_along_axis(weights, order, (ends <= wanted).astype(np.float64), axis=1)
    found: Numbers = weights @ sums
    whole = (ends <= wanted).sum(axis=1)  # groups that are drawn with all their uses
    rows = np.flatnonzero(whole < len(sizes))
    left = wanted - np.where(whole[rows] > 0, ends[rows, whole[rows] - 1], 0)
    rows, left = rows[left > 0], left[left > 0]
    if len(rows):
        found[rows] += part(order[rows, whole[rows]], left, rng)
    return found


def _tail(values: Numbers, value: float) -> float:
    """How much of the gamma distribution with the mean, spread and skewness of `values` is above a value."""
    centred = values - values.mean()
    spread = float(np.sqrt((centred**2).mean()))
    if spread < 1e-9:
        return 1.0 / (len(values) + 1)
    skewness = max(float((centred**3).mean()) / spread**3, 0.02)  # a normal distribution, or nearly
    shape = 4 / skewness**2
    scaled = max(1 + (value - float(values.mean())) / (spread * math.sqrt(shape)), 0.0)
    return 0.5 * math.erfc((math.cbrt(scaled) - 1 + 1 / (9 * shape)) * math.sqrt(9 * shape / 2))


def adjusted(p: Numbers) -> Numbers:
    """Benjamini & Hochberg (1995): the least rate of false discoveries at which each word is called changed.

    Examples
    --------
    >>> adjusted(np.array([0.01, 0.5, 0.02])).round(4).tolist()
    [0.03, 0.5, 0.03]
    """
    order = np.argsort(p)[::-1]
    scaled = p[order] * len(p) / np.arange(len(p), 0, -1)
    found = np.empty_like(p)
    found[order] = np.minimum.accumulate(np.minimum(scaled, 1.0))
    return found
