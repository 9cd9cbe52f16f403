"""What workers changed of a matrix, how it travels, and the rule by which changes of the same row are put together."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.data.arrays import Floats

__all__ = ["Changes", "Rooms", "Rule", "Wire", "agreement", "apply", "check_wire", "merge", "take"]

Rule = Literal["agreement", "adasum", "sum", "changed", "average"]
"""``"agreement"`` is the one that trains; the others are there to be compared with (benchmarks/distributed)."""

Wire = Literal["int16", "float32"]
"""How numbers travel: the short ones in units of the largest of their row."""


class Changes(NamedTuple):
    """Sums of what some workers changed of the rows of a matrix that they all began with, as they travel.

    Attributes
    ----------
    rows : int32 (n,)
        Which, ascending.
    sums : int16 or float32 (n, D)
        Of the differences, in `units`.
    units : float32 (n,)
        The largest number of each row of short sums, of which they are 32767ths; 1 for the others.
    squares : float32 (n,)
        Sums of the squared lengths of the differences.
    workers : int32 (n,)
        How many changed the row.
    """

    rows: NDArray[np.int32]
    sums: NDArray[np.int16] | Floats
    units: Floats
    squares: Floats
    workers: NDArray[np.int32]

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return sum(array.nbytes for array in self)

    def numbers(self) -> Floats:
        """The sums, float32 (n, D)."""
        short = self.sums.dtype == np.int16
        numbers: Floats = self.sums * (self.units[:, None] / np.float32(32767) if short else np.float32(1))
        return numbers


def check_wire(wire: Any) -> Wire:
    """A ValueError for what is none."""
    if wire not in get_args(Wire):
        raise ValueError(f"wire must be one of {', '.join(map(repr, get_args(Wire)))}; got {wire!r:.40}")
    found: Wire = wire
    return found


def take(work: Floats, base: Floats, wire: Wire, room: NDArray[Any] | None = None) -> Changes:
    """What is other in `work` than in `base`, both (V, D); `work` is as `base` again.

    The sums lie in `room`, a vector of their type, where they fit.
    """
    return Changes(*_core.take_changes(work, base, wire == "int16", room))


class Rooms:
    """Memory for what is taken of a matrix of so many numbers, round by round.

    New memory costs as much as all else that is done to these numbers: the system clears it page by page.
    """

    _MOST = 3  # what is on the way, what follows it, and one that somebody is slow to let go of

    def __init__(self, numbers: int, wire: Wire) -> None:
        self._numbers, self._type = numbers, np.dtype(wire)
        self._rooms: list[NDArray[Any]] = []

    def free(self) -> NDArray[Any] | None:
        """One that nobody holds changes in, if there is."""
        for i in range(len(self._rooms)):
            if sys.getrefcount(self._rooms[i]) == _UNUSED:
                return self._rooms[i]
        if len(self._rooms) == self._MOST:
            return None
        self._rooms.append(np.empty(self._numbers, self._type))
        return self._rooms[-1]


def _count_unused() -> int:
    held = [np.empty(0)]
    return sys.getrefcount(held[0])


_UNUSED = _count_unused()  # references to an array that a list alone holds, while they are counted


def merge(one: Changes, other: Changes, rule: Rule = "agreement") -> Changes:
    """The changes of two groups of workers as those of one group."""
    return Changes(*_core.merge_changes(one, other, rule))


def apply(
    base: Floats, works: Sequence[Floats], groups: Sequence[Changes], parts: int, rule: Rule = "agreement"
) -> None:
    """Move `base` by what a round changed; the same rows of each of `works` are its rows then.

    By the agreement rule a row moves by the sum of its changes times `agreement` of their mean cosine c, which is known
    from the sums: the squared length of a sum of n changes of length l is n l² (1 + (n - 1) c).

    Parameters
    ----------
    base : float32 (V, D)
    works : sequence of float32 (V, D)
    groups : one or two Changes
        Of all workers, in one group or two.
    parts : int
        How many workers there are, also those that changed nothing.
    rule : str
        Which.
    """
    one, other = groups[0], groups[1] if len(groups) > 1 else None
    _core.apply_changes(base, list(works), one, other, parts, rule)


def agreement(cosines: NDArray[np.floating], workers: NDArray[np.integer]) -> Floats:
    """The factor of a sum of changes that Adasum's tree would give if all pairs of them had the same cosine.

    Adasum makes (1 - a·b / 2a·a) a + (1 - a·b / 2b·b) b of two changes: their sum where they are orthogonal, their mean
    where they are the same. Of sums a, b of m changes each, with length 1 and cosine c, it makes a + b times
    1 - m c / 2 (1 + (m - 1) c); so the factor of n = 2^k changes is the product of these for m = 1, 2, 4, ... n / 2.
    Between powers of two the next one counts in part, by its logarithm.

    Parameters
    ----------
    cosines : float (n,)
        Below 0 they count as 0, above 1 as 1.
    workers : int (n,)

    Returns
    -------
    float32 (n,)

    Examples
    --------
    >>> agreement(np.array([0.0, 1.0, 0.5]), np.array([8, 8, 2])).tolist()
    [1.0, 0.125, 0.75]
    """
    return _core.agreement(np.asarray(cosines, np.float64), np.asarray(workers, np.int32))
