"""Matrices whose numbers are kept in two bytes or in one, and made float32 when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.data.memory import shortage_said

__all__ = ["KINDS", "Held", "Reduced", "Widening", "given", "held_by", "reduced_rows", "rows_of", "shape_of"]

KINDS = ("float16", "int8")
"""What the numbers of a matrix can be reduced to."""

_LARGEST_CODE = 127  # of int8: the range is symmetric, -128 is not used
_SCALE_BITS = np.uint32(0xFFFFFF00)  # kept of a scale, so that 127 times it is a float32, too
_LARGEST_SCALE = np.float32(np.finfo(np.float32).max / 128)
_BLOCK_ROWS = 4096


class Held:
    """A matrix that is not made yet.

    Parameters
    ----------
    shape : tuple of int
        (N, D)
    make : callable
        Gives it, float32 (N, D), when it is first asked for.
    """

    ndim = 2
    dtype = np.dtype(np.float32)

    def __init__(self, shape: tuple[int, ...], make: Callable[[], NDArray[np.float32]]) -> None:
        self.shape, self.make = shape, make
        self._whole: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return self.shape[0]

    def is_finite(self) -> bool:
        """Whether all that it is made from are finite numbers, as far as this one knows."""
        return True

    def whole(self) -> NDArray[np.float32]:
        """All of it, float32 (N, D), read-only; made at the first call and kept."""
        if self._whole is None:
            with shortage_said("numbers of a model of half the size were made float32"):
                made = self.make().view()
            made.flags.writeable = False
            self._whole = made  # of two threads that make it, either one's may be kept: they are equal
        return self._whole


class Reduced(Held):
    """A matrix of fewer bytes that stands for one of float32.

    Parameters
    ----------
    codes : float16 or int8 (N, D)
        The numbers; those of int8 are to be multiplied by the scale of their row.
    scales : float32 (N,), optional
        Of int8 only.

    Raises
    ------
    ValueError
        If the two are of other types or do not fit together.

    Examples
    --------
    >>> matrix = Reduced(np.array([[100, -50]], np.int8), np.array([0.5], np.float32))
    >>> matrix.shape, matrix.whole().tolist()
    ((1, 2), [[50.0, -25.0]])
    """

    def __init__(self, codes: NDArray[Any], scales: NDArray[np.float32] | None = None) -> None:
        if codes.ndim != 2 or codes.dtype not in (np.float16, np.int8):
            raise ValueError(f"must be float16 or int8 with 2 dimensions; it is {codes.dtype} with {codes.ndim}")
        if (codes.dtype == np.int8) != (scales is not None):
            raise ValueError("must have scales where it is int8, and else none")
        if scales is not None and (scales.dtype != np.float32 or scales.shape != codes.shape[:1]):
            raise ValueError(f"must have as many scales of float32 as it has rows, {len(codes)}")
        super().__init__(codes.shape, self.widened)
        self._codes, self._scales = codes, scales

    def is_finite(self) -> bool:
        """Whether all of it are finite numbers."""
        if self._scales is not None:
            return bool((np.abs(self._scales) < _LARGEST_SCALE).all())
        return all(bool(np.isfinite(self._codes[rows]).all()) for rows in _blocks(len(self)))

    def __getitem__(self, rows: Any) -> NDArray[np.float32]:
        """Some rows, or one, float32 (..., D); the others are not made."""
        made: NDArray[np.float32] = self._codes[rows].astype(np.float32)
        if self._scales is not None:
            made *= self._scales[rows][..., None]
        return made

    def widened(self) -> NDArray[np.float32]:
        """A new matrix of the same numbers, float32 (N, D)."""
        made: NDArray[np.float32] = np.empty(self.shape, np.float32)
        for rows in _blocks(len(self)):
            made[rows] = self._codes[rows]
            if self._scales is not None:
                made[rows] *= self._scales[rows, None]
        return made


class Widening:
    """A class with matrices as attributes, some of which are `Held` until they are first read.

    They are put away by `_hold`, which leaves no attribute of that name: then `__getattr__` makes it.
    """

    def _hold(self, name: str, matrix: Held) -> None:
        """Keep a matrix as it is, until the attribute `name` is read."""
        self.__dict__.setdefault("_held", {})[name] = matrix
        self.__dict__.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        """Only called where there is no such attribute."""
        held = held_by(self).get(name)
        if held is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        return self.__dict__.setdefault(name, held.whole())

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: all is made."""
        made = {name: held.whole() for name, held in held_by(self).items()}
        return {**made, **{name: part for name, part in self.__dict__.items() if name != "_held"}}


def held_by(owner: Any) -> dict[str, Held]:
    """The matrices that an object was given as `Held`, by name."""
    held: dict[str, Held] = owner.__dict__.get("_held", {})
    return held


def shape_of(owner: Any, name: str) -> tuple[int, ...]:
    """The shape of an attribute; it is not made for that."""
    held = held_by(owner).get(name)
    shape: tuple[int, ...] = getattr(owner, name).shape if held is None else held.shape
    return shape


def given(owner: Any, name: str) -> Any:
    """An attribute, as it was given: for another object that takes `Held` ones."""
    return owner.__dict__.get(name, held_by(owner).get(name))


def rows_of(owner: Any, name: str) -> Any:
    """What gives the rows of an attribute that are asked for by ``[...]``: it is not made for that."""
    held = held_by(owner).get(name)
    return held if isinstance(held, Reduced) and name not in owner.__dict__ else getattr(owner, name)


def reduced_rows(matrix: NDArray[np.float32], kind: str) -> tuple[NDArray[Any], NDArray[np.float32] | None]:
    """The `codes` and the `scales` of a `Reduced` that is as like a matrix, float32 (N, D), as its `kind` can be.

    Raises
    ------
    ValueError
        If a number is not finite, or too large for float16.
    """
    codes: NDArray[Any] = np.empty(matrix.shape, kind)
    scales = np.zeros(len(matrix), np.float32) if kind == "int8" else None
    for rows in _blocks(len(matrix)):
        block = matrix[rows]
        if not np.isfinite(block).all():
            raise ValueError("holds values that are not finite numbers")
        if scales is not None:
            scales[rows] = _scales(np.abs(block).max(axis=1, initial=0))
            each = scales[rows, None].astype(np.float64)
            codes[rows] = np.rint(np.divide(block, each, out=np.zeros(block.shape), where=each > 0))
        else:
            with np.errstate(over="ignore"):
                codes[rows] = block
            if not np.isfinite(codes[rows]).all():
                raise ValueError("holds numbers beyond 65504, which float16 does not have; take dtype='int8'")
    return codes, scales


def _scales(largest: NDArray[np.float32]) -> NDArray[np.float32]:
    """One for each row, rounded up: so that who reduces what was reduced before gets the same codes and scales."""
    exact = (largest.astype(np.float64) / _LARGEST_CODE).astype(np.float32)
    kept = exact.view(np.uint32) & _SCALE_BITS
    kept[kept != exact.view(np.uint32)] += np.uint32(0x100)
    return kept.view(np.float32)


def _blocks(count: int) -> Iterator[slice[int, int, None]]:
    for first in range(0, count, _BLOCK_ROWS):
        yield slice(first, min(first + _BLOCK_ROWS, count))
