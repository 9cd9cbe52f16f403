"""Rank correlation with bootstrap intervals, and the lazy imports of scipy and scikit-learn."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["bootstrap_spearman", "require", "spearman"]

_BLOCK = 200_000  # numbers of a block of samples: small enough for the cache


def require(module: str) -> Any:
    """Import a module of the extra ``[eval]``, or say how to install it.

    Raises
    ------
    ImportError
        If scipy or scikit-learn is missing; the message names the extra ``muse-senses[eval]``.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = {"sklearn": "scikit-learn"}.get(module.split(".")[0], module.split(".")[0])
        raise ImportError(
            f"muse.evaluation needs {package} for this measure. Install the extra: pip install 'muse-senses[eval]'"
        ) from error


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


def bootstrap_spearman(
    x: ArrayLike, y: ArrayLike, *, resamples: int = 1000, confidence: float = 0.95, seed: int = 0
) -> tuple[float, float]:
    """Percentile bootstrap interval of Spearman's correlation, over resampled pairs.

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
    """
    first, second = _checked(x, y)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, got {resamples}")
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
        values.append(np.clip(np.divide(products, scale, out=np.zeros(drawn), where=scale > 0), -1.0, 1.0))
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.concatenate(values), [tail, 1 - tail])
    return float(low), float(high)


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
