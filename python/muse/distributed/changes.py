"""What workers changed of a matrix, how it travels, and the rule by which changes of the same row are put together."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.data.arrays import Floats

__all__ = ["Changes", "Packed", "Rule", "Wire", "agreement", "factors", "merge", "mean_cosines", "pack", "unpack"]

Rule = Literal["agreement", "adasum", "sum", "changed", "average"]
"""``"agreement"`` is the one that trains; the others are there to be compared with (benchmarks/distributed)."""

Wire = Literal["int16", "float16", "float32"]
"""How numbers travel: the short ones in units of the largest of their row, ``"int16"`` in a tenth of the time."""


class Changes(NamedTuple):
    """Sums of what some workers changed of the rows of a matrix that they all began with.

    Attributes
    ----------
    rows : int64 (n,)
        Which, ascending.
    sums : float32 (n, D)
        Of the differences.
    squares : float32 (n,)
        Sums of the squared lengths of the differences.
    workers : int32 (n,)
        How many changed the row.
    """

    rows: NDArray[np.int64]
    sums: Floats
    squares: Floats
    workers: NDArray[np.int32]


class Packed(NamedTuple):
    """Changes on the way from one worker to another: shorter rows and numbers."""

    rows: NDArray[np.int32]
    sums: NDArray[np.int16] | NDArray[np.float16] | Floats
    units: Floats | None  # (n,), what each row of sums is to be multiplied by
    squares: Floats
    workers: NDArray[np.int32]

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return sum(array.nbytes for array in self if array is not None)


def pack(changes: Changes, wire: Wire) -> Packed:
    """Changes as they travel.

    Examples
    --------
    >>> one = Changes(np.array([3]), np.float32([[1e-7, -3e-8]]), np.float32([1e-14]), np.int32([1]))
    >>> unpack(pack(one, "float16")).sums.round(9).tolist() == one.sums.round(9).tolist()
    True
    """
    if wire not in get_args(Wire):
        raise ValueError(f"wire must be one of {', '.join(map(repr, get_args(Wire)))}; got {wire!r:.40}")
    rows = changes.rows.astype(np.int32)
    if wire == "float32":
        return Packed(rows, changes.sums, None, changes.squares, changes.workers)
    if wire == "int16":
        return Packed(rows, *_core.pack_rows(changes.sums), changes.squares, changes.workers)
    largest = np.abs(changes.sums).max(axis=1, initial=0.0)
    units = np.where(largest > 0, largest, 1.0).astype(np.float32)
    short = (changes.sums / units[:, None]).astype(np.float16)
    return Packed(rows, short, units, changes.squares, changes.workers)


def unpack(packed: Packed) -> Changes:
    """What travelled, as it can be computed with."""
    if packed.units is not None and packed.sums.dtype == np.int16:
        short: Any = packed.sums
        sums = _core.unpack_rows(short, packed.units)
    else:
        sums = packed.sums.astype(np.float32, copy=False)
    if packed.units is not None and packed.sums.dtype == np.float16:
        sums *= packed.units[:, None]
    return Changes(packed.rows.astype(np.int64), sums, packed.squares, packed.workers)


def merge(one: Changes, other: Changes, rule: Rule = "agreement") -> Changes:
    """The changes of two groups of workers as those of one group."""
    return Changes(*_core.merge_changes(one, other, rule == "adasum"))


def factors(changes: Changes, parts: int, rule: Rule = "agreement") -> Floats:
    """What the sums of all workers' changes are multiplied by before they are added, float32 (n,).

    Parameters
    ----------
    changes : Changes
        Of all workers.
    parts : int
        How many there are, also of those that changed nothing.
    rule : str
        Which.
    """
    if rule == "agreement":
        return agreement(mean_cosines(changes), changes.workers)
    if rule == "changed":
        return (1.0 / changes.workers).astype(np.float32)
    return np.full(len(changes.rows), 1.0 / parts if rule == "average" else 1.0, np.float32)


def mean_cosines(changes: Changes) -> NDArray[np.float64]:
    """The mean cosine of two workers' changes of a row, at least 0, float64 (n,); of equally long ones it is exact.

    The squared length of a sum of n changes of length l is n l² (1 + (n - 1) c), where c is the mean cosine.
    """
    lengths = np.einsum("ij,ij->i", changes.sums, changes.sums).astype(np.float64)
    ratio = lengths / np.maximum(changes.squares, 1e-38)
    cosines: NDArray[np.float64] = np.clip((ratio - 1.0) / np.maximum(changes.workers - 1, 1), 0.0, 1.0)
    return cosines


def agreement(cosines: NDArray[np.floating], workers: NDArray[np.integer]) -> Floats:
    """The factor of a sum of changes that Adasum's tree would give if all pairs of them had the same cosine.

    Adasum makes (1 - a·b / 2a·a) a + (1 - a·b / 2b·b) b of two changes: their sum where they are orthogonal, their mean
    where they are the same. Of sums a, b of m changes each, with length 1 and cosine c, it makes a + b times
    1 - m c / 2 (1 + (m - 1) c); so the factor of n = 2^k changes is the product of these for m = 1, 2, 4, ... n / 2.
    Between powers of two the next one counts in part, by its logarithm.

    Parameters
    ----------
    cosines : float (n,)
        From 0 to 1.
    workers : int (n,)

    Returns
    -------
    float32 (n,)

    Examples
    --------
    >>> agreement(np.array([0.0, 1.0, 0.5]), np.array([8, 8, 2])).tolist()
    [1.0, 0.125, 0.75]
    """
    factor = np.ones(len(cosines))
    doublings, m = np.log2(np.maximum(workers, 1)), 1.0
    for level in range(int(np.ceil(doublings.max(initial=0.0)))):
        part = np.clip(doublings - level, 0.0, 1.0)
        factor *= (1.0 - 0.5 * m * cosines / (1.0 + (m - 1.0) * cosines)) ** part
        m *= 2.0
    return factor.astype(np.float32)
