"""Rank correlation with bootstrap intervals, and the lazy imports of scipy and scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from muse.base.checks import integer, number
from muse.base.optional import needed

__all__ = ["bootstrap_options", "bootstrap_spearman", "correlate", "require", "spearman"]

_BLOCK = 200_000  # numbers of a block of samples: small enough for the cache


def require(module: str) -> Any:
    """Import a module of the extra ``[eval]``; an ImportError that names the extra, if it is missing."""
    return needed(module, "this measure of muse.evaluation", "eval")


def _checked(x: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(f"expected two equally long lists of scores, got shapes {first.shape} and {second.shape}")
    if len(first) < 2:
        raise ValueError(f"a rank correlation needs at least 2 pairs, got {len(first)}")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("scores contain NaN or infinity: has the model diverged?")
    return first, second


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's rank correlation, ties sharing their mean rank.

    Parameters
    ----------
    x, y : array_like of float, shape (n,)
        Scores, n of at least 2.

    Returns
    -------
    float
        The correlation in [-1, 1]. Where one list is constant the correlation is undefined; it is reported as 0, since
        a constant ranks nothing.

    Raises
    ------
    ValueError
        For fewer than 2 pairs, lists of different lengths, NaN or infinity.

    Examples
    --------
    >>> spearman([1, 2, 3], [10, 30, 20])
    0.5
    """
    first, second = _checked(x, y)
    rank = require("scipy.stats").rankdata
    return float(_correlations(rank(first)[None], rank(second)[None])[0])


def _correlations(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pearson correlation of each row of ``a`` with that row of ``b``; 0 where a row is constant."""
    a = a - a.mean(axis=1, keepdims=True)
    b = b - b.mean(axis=1, keepdims=True)
    scale = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    products = (a * b).sum(axis=1)
    correlations = np.divide(products, scale, out=np.zeros_like(products), where=scale > 0)
    return np.asarray(np.clip(correlations, -1.0, 1.0))


def bootstrap_options(resamples: Any, confidence: Any, seed: Any) -> dict[str, Any]:
    """The options of bootstrap intervals, checked; ``resamples=0`` means none.

    Raises
    ------
    TypeError, ValueError
        If one is not what it must be.
    """
    share = number(0, 1, above=True)("confidence", confidence)
    if share == 1:
        raise ValueError("confidence must be less than 1, as 0.95 is")
    return {
        "resamples": integer(0)("resamples", resamples),
        "confidence": share,
        "seed": integer(0)("seed", seed),
    }


def bootstrap_spearman(
    x: ArrayLike, y: ArrayLike, *, resamples: int = 1000, confidence: float = 0.95, seed: int = 0
) -> tuple[float, float]:
    """Percentile bootstrap interval of Spearman's correlation, over resampled pairs.

    Samples in which one list is constant have no correlation and are left out, so the interval is that of the samples
    that rank anything. This matters for a handful of pairs only: of three, one sample in nine is left out.

    Parameters
    ----------
    x, y : array_like of float, shape (n,)
        Scores.
    resamples : int
        How many samples of n pairs, with replacement, are drawn.
    confidence : float
        Coverage of the interval, in (0, 1).
    seed : int
        Seed of the resampling; the same seed gives the same interval.

    Returns
    -------
    (float, float)
        Lower and upper end.

    Raises
    ------
    TypeError, ValueError
        As :func:`spearman`, and for options out of range; if a list is constant, or so nearly that every sample is.
    """
    first, second = _checked(x, y)
    options = bootstrap_options(resamples, confidence, seed)
    integer(1)("resamples", options["resamples"])
    values = _resampled(first, second, options["resamples"], options["seed"])
    if len(values) == 0:
        raise ValueError(f"none of {resamples} samples ranks anything: one list of scores is constant, or nearly so")
    return _percentiles(values, options["confidence"])


def _percentiles(values: NDArray[np.float64], confidence: float) -> tuple[float, float]:
    tail = (1 - confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(low), float(high)


def _resampled(
    first: NDArray[np.float64], second: NDArray[np.float64], resamples: int, seed: int
) -> NDArray[np.float64]:
    """The correlations of the samples in which neither list is constant."""
    generator = np.random.default_rng(seed)
    n = len(first)
    rows = max(1, min(resamples, _BLOCK // n))
    groups = [_Groups(first), _Groups(second)]
    values: list[NDArray[np.float64]] = []
    for start in range(0, resamples, rows):
        drawn = min(rows, resamples - start)
        chosen = generator.integers(0, n, size=(drawn, n)) + n * np.arange(drawn)[:, None]
        times = np.bincount(chosen.ravel(), minlength=drawn * n).reshape(drawn, n).astype(np.float64)
        a, b = (group.centred_ranks(times) for group in groups)
        weighted = a * times
        scale = np.sqrt((weighted * a).sum(axis=1) * (b * b * times).sum(axis=1))
        products = (weighted * b).sum(axis=1)
        ranked = scale > 0
        values.append(np.clip(products[ranked] / scale[ranked], -1.0, 1.0))
    return np.concatenate(values)


def correlate(
    name: str, scores: Sequence[float], ratings: Sequence[float], options: dict[str, Any], notes: list[str]
) -> dict[str, Any]:
    """The columns ``rho``, ``low``, ``high`` and ``pairs`` of a table of correlations.

    Parameters
    ----------
    name : str
        What was compared, with which a note begins.
    scores, ratings : sequence of float
        Two or more of each.
    options : dict
        ``resamples``, ``confidence`` and ``seed`` as :func:`bootstrap_options` gives them, among others.
    notes : list of str
        Where a note is added if something is undefined: a constant correlates with nothing, and few pairs have samples
        that are constant.
    """
    row = {"rho": spearman(scores, ratings), "low": None, "high": None, "pairs": len(scores)}
    if len(set(scores)) == 1 or len(set(ratings)) == 1:
        notes.append(f"{name}: all {'scores' if len(set(scores)) == 1 else 'ratings'} are equal; reported as 0")
        return row
    if not options["resamples"]:
        return row
    if len(scores) < 3:
        notes.append(f"{name}: two pairs have no interval")
        return row
    values = _resampled(*_checked(scores, ratings), options["resamples"], options["seed"])
    if len(values) < options["resamples"]:
        left = options["resamples"] - len(values)
        notes.append(
            f"{name}: {left} of {options['resamples']} samples of the {len(scores)} pairs are constant and left out of "
            "the interval, which says little of so few"
        )
    if len(values):
        row["low"], row["high"] = _percentiles(values, options["confidence"])
    return row


class _Groups:
    """Scores in groups of equal ones, so that a sample with replacement is ranked by counting, without sorting."""

    def __init__(self, scores: NDArray[np.float64]) -> None:
        _, self._group = np.unique(scores, return_inverse=True)
        self._order = np.argsort(self._group, kind="stable")
        self._starts = np.searchsorted(self._group[self._order], np.arange(self._group.max() + 1))

    def centred_ranks(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Ranks less their mean, (rows, n), where row r of the samples holds score i ``times[r, i]`` times."""
        sizes = np.add.reduceat(times[:, self._order], self._starts, axis=1)
        ranks = np.cumsum(sizes, axis=1) - (sizes - 1) / 2  # ties share their mean rank
        return np.asarray(ranks[:, self._group] - (times.shape[1] + 1) / 2)
