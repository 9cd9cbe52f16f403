"""Arithmetic that several layers share: rows at unit length, softmax, principal components, checksums."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["as_cosines", "checksum", "principal_components", "softmax", "unit_rows"]

Scores = TypeVar("Scores", bound=np.floating[Any])

# Lengths whose squares, down to the last digit of the smallest that counts, are in range.
_SAFE_LENGTHS = {np.dtype(np.float32): (1e-12, 1e18), np.dtype(np.float64): (1e-140, 1e150)}


@overload
def unit_rows(rows: ArrayLike) -> NDArray[np.float64]: ...
@overload
def unit_rows(rows: ArrayLike, dtype: type[Scores]) -> NDArray[Scores]: ...
def unit_rows(rows: ArrayLike, dtype: type[np.floating[Any]] = np.float64) -> NDArray[Any]:
    """Vectors scaled to length 1, along the last axis.

    Vectors so short or long that their squares would leave the range of `dtype` are scaled by their largest entry
    first, so that the result is right from the least number (1e-45 in float32) to the largest (3e38).

    Parameters
    ----------
    rows : array_like, shape (..., D)
        The vectors.
    dtype : numpy.float64 or numpy.float32
        Of the arithmetic and of the result. Training does some of it in float32, and must for the same seed to give the
        same bits; everything else is done in float64 and rounded once, if at all.

    Returns
    -------
    ndarray of `dtype`, shape (..., D)
        The scaled vectors. Zeros stay zeros, so that their cosine with anything is 0, and a vector with NaN or infinity
        in it becomes zeros: whoever wants an error checks before.

    Examples
    --------
    >>> unit_rows([[3, 4], [0, 0]]).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    given = np.asarray(rows, dtype)
    low, high = _SAFE_LENGTHS[np.dtype(dtype)]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        lengths = _lengths(given)
        safe = (lengths > low) & (lengths < high)
        if safe.all():
            return given / lengths  # type: ignore[no-any-return]
        largest = np.abs(given).max(axis=-1, keepdims=True, initial=0)
        extreme = (largest > 0) & (largest < np.inf) & ~safe
        given = np.divide(given, largest, out=given.copy(), where=extreme)
        lengths = np.where(extreme, _lengths(given), lengths)
        usable = (lengths > 0) & (lengths < np.inf)
        scaled: NDArray[Any] = np.divide(given, lengths, out=np.zeros_like(given), where=usable)
    return scaled


def as_cosines(products: NDArray[Scores]) -> NDArray[Scores]:
    """Products of vectors of length one, without what rounding adds beyond -1 and 1, of which there is no angle.

    Examples
    --------
    >>> as_cosines(np.array([1.0000001, 0.5])).tolist()
    [1.0, 0.5]
    """
    clipped: NDArray[Scores] = np.clip(products, -1, 1)
    return clipped


def _lengths(rows: NDArray[Any]) -> NDArray[Any]:
    """As `numpy.linalg.norm` has them, in half of its time for one vector."""
    lengths: NDArray[Any] = np.sqrt(np.add.reduce(rows * rows, axis=-1, keepdims=True))
    return lengths


def softmax(scores: NDArray[Scores], temperature: float = 1.0) -> NDArray[Scores]:
    """Shares in proportion to ``exp(scores / temperature)`` along the last axis, in the precision of the scores.

    Examples
    --------
    >>> softmax(np.array([[0.0, 0.0], [0.0, 1e9]])).tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    with np.errstate(over="ignore"):  # far below the best: a share of zero
        below = (scores - scores.max(axis=-1, keepdims=True, initial=-np.inf)) / scores.dtype.type(temperature)
        exponentials = np.exp(below)
    shares: NDArray[Scores] = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return shares


def checksum(blocks: Iterable[bytes | memoryview], start: int = 0) -> int:
    """CRC-32 of blocks one after another; `start` is that of what came before them.

    Examples
    --------
    >>> checksum([b"c"], checksum([b"a", b"b"])) == checksum([b"abc"])
    True
    """
    value = start
    for block in blocks:
        value = zlib.crc32(block, value)
    return value


def principal_components(centred: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The directions, float64 (D, n), in which rows (N, D) around their mean differ, and their sizes, largest first.

    Those in which they do not differ are left out. The largest entry of each is positive, so that pictures stay as they
    are.
    """
    if not np.isfinite(centred).all() or not centred.any():
        return np.zeros((centred.shape[1], 0)), np.zeros(0)
    _, sizes, rows = np.linalg.svd(np.asarray(centred, np.float64), full_matrices=False)
    rows = rows[sizes > 1e-6 * sizes[0]]
    signs = np.sign(rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)])
    return (rows * signs[:, None]).T, sizes[: len(rows)]
