"""The numbers of a model: what the trainer writes and every query reads."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.data.reduced import Held, Widening, held_by, shape_of
from muse.data.settings import Settings
from muse.data.vocabulary import LARGEST_TOTAL

__all__ = ["Arrays"]

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

MATRICES = (
    "context_vectors",
    "selection_vectors",
    "sense_vectors",
    "collocation_vectors",
    "forward_values",
    "backward_values",
)
OPTIONAL = ("forward_values", "backward_values", "sense_numbers")
_ALIGNMENT = 64  # bytes; rows that training writes start on a cache line
_ROW_PAD = 16  # floats
_BLOCK_WORDS = 4096


@dataclass
class Arrays(Widening):
    """The arrays of a model of V words and Z senses in all; senses of word i are rows ``sense_offset[i:i + 2]``.

    Parameters
    ----------
    context_vectors : float32 (V, S)
        P, word-level input of the selection module.
    selection_vectors : float32 (Z, S)
        Q, sense-level output of the selection module. Where senses are nodes of trees, it is as wide as a context,
        whose first block alone is made with P.
    sense_vectors : float32 (Z, D)
        U, the sense representations that users want.
    collocation_vectors : float32 (Z, D) or (V, D)
        V, the output representations: one for each sense, or one for each word.
    sense_offset : int64 (V + 1,)
        First row of each word's senses, and Z.
    sense_counts : int64 (Z,)
        How often each sense is selected in all text that was trained on; they add up to the counts of the words.
    word_counts : int64 (V,)
        How often each word occurs in the training text.
    forward_values, backward_values : float32 (V, S), optional
        State values of the factorized formulation.
    sense_numbers : int64 (Z,), optional
        The number of each sense within its word, rising: "bank#3" is the sense with number 3. Without them the senses
        of a word are numbered 0, 1, ... in the order of their rows.

    Notes
    -----
    Rows may be padded (arrays made for training are, see `for_training`) and memory-mapped arrays are read-only; every
    query takes either. ``sense_offset`` is read-only: rows are read where it says. Matrices of a mapped file that was
    saved with another ``dtype`` are made when they are first read.

    Examples
    --------
    >>> model.arrays.sense_vectors[model.arrays.rows_of(model.vocabulary["head"])]  # doctest: +SKIP
    """

    context_vectors: Floats
    selection_vectors: Floats
    sense_vectors: Floats
    collocation_vectors: Floats
    sense_offset: Integers
    sense_counts: Integers
    word_counts: Integers
    forward_values: Floats | None = None
    backward_values: Floats | None = None
    sense_numbers: Integers | None = None

    def __setattr__(self, name: str, array: Any) -> None:
        """Take an array of the right type; another is a TypeError or ValueError, before anything reads it."""
        if isinstance(array, Held):
            if name not in OPTIONAL:
                self._hold(name, array)
                return
            array = array.whole()
        held_by(self).pop(name, None)
        if not (array is None and name in OPTIONAL):
            _check_type(name, array)
        if name == "sense_offset":
            array = array.view()
            array.flags.writeable = False
        super().__setattr__(name, array)

    # -- sizes -------------------------------------------------------------------------------------------------------

    @property
    def n_words(self) -> int:
        """V"""
        return len(self.word_counts)

    @property
    def n_senses(self) -> int:
        """Z, the senses of all words together."""
        return len(self.sense_counts)

    @property
    def vector_size(self) -> int:
        """D"""
        return shape_of(self, "sense_vectors")[1]

    @property
    def selection_size(self) -> int:
        """S"""
        return shape_of(self, "context_vectors")[1]

    @property
    def context_size(self) -> int:
        """The width of ``selection_vectors``: that of contexts, whose first block alone is made with P."""
        return shape_of(self, "selection_vectors")[1]

    @property
    def has_sense_collocation(self) -> bool:
        """Whether collocation vectors are those of senses; false also where every word has one sense."""
        return shape_of(self, "collocation_vectors")[0] != self.n_words

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays, padding left out."""
        return sum(array.nbytes for array in self.as_dict().values())

    def as_dict(self) -> dict[str, NDArray[Any]]:
        """The arrays that are there, by name."""
        named = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: array for name, array in named.items() if array is not None}

    # -- senses ------------------------------------------------------------------------------------------------------

    def rows_of(self, word: int) -> slice[int, int, None]:
        """Rows of the senses of a word."""
        return slice(int(self.sense_offset[word]), int(self.sense_offset[word + 1]))

    def word_of(self, sense: int) -> int:
        """The word whose sense a row is."""
        return int(np.searchsorted(self.sense_offset, sense, side="right")) - 1

    def numbers_of(self, word: int) -> Integers:
        """The numbers of the senses of a word, int64 (K,)."""
        rows = self.rows_of(word)
        return np.arange(rows.stop - rows.start) if self.sense_numbers is None else self.sense_numbers[rows].copy()

    def all_numbers(self) -> Integers:
        """The number of every sense within its word, int64 (Z,)."""
        if self.sense_numbers is not None:
            return self.sense_numbers
        counted: Integers = np.arange(self.n_senses) - np.repeat(self.sense_offset[:-1], np.diff(self.sense_offset))
        return counted

    def row_of(self, word: int, number: int) -> int:
        """The row of the sense of a `word` that has this `number`; -1 where there is none."""
        rows = self.rows_of(word)
        if self.sense_numbers is None:
            return rows.start + number if 0 <= number < rows.stop - rows.start else -1
        found = np.flatnonzero(self.sense_numbers[rows] == number)
        return rows.start + int(found[0]) if len(found) else -1

    def rows_at(self, words: NDArray[Any], numbers: NDArray[Any]) -> Integers:
        """The rows of senses that there are, int64 (N,), given by their `words` and `numbers`, int (N,)."""
        if self.sense_numbers is None:
            rows: Integers = self.sense_offset[words] + numbers
            return rows
        span = int(self.sense_numbers.max()) + 1  # rows are in the order of word and number
        place = np.repeat(np.arange(self.n_words) * span, np.diff(self.sense_offset)) + self.sense_numbers
        found: Integers = np.searchsorted(place, words.astype(np.int64) * span + numbers)
        return found

    def prior(self, word: int) -> Floats:
        """Share of each sense in the uses of a word, float32 (K,); equal shares where none was ever selected."""
        counts = self.sense_counts[self.rows_of(word)].astype(np.float64)
        total = counts.sum()
        share = counts / total if total > 0 else np.full(len(counts), 1.0 / len(counts))
        return share.astype(np.float32)

    def priors(self) -> Floats:
        """`prior` of every word, float32 (Z,)."""
        starts, senses = self.sense_offset[:-1], np.diff(self.sense_offset)
        counts = self.sense_counts.astype(np.float64)
        totals = np.repeat(np.add.reduceat(counts, starts), senses)
        uniform = np.repeat(1.0 / senses, senses)
        priors: Floats = np.divide(counts, totals, out=uniform, where=totals > 0).astype(np.float32)
        return priors

    def word_vector(self, word: int) -> Floats:
        """Mean of a word's sense vectors, weighted by their priors, float32 (D,)."""
        mean: Floats = self.prior(word) @ self.sense_vectors[self.rows_of(word)]
        return mean

    def word_vectors(self) -> Floats:
        """`word_vector` of every word, float32 (V, D)."""
        priors = self.priors()
        vectors = np.empty((self.n_words, self.vector_size), np.float32)
        for first in range(0, self.n_words, _BLOCK_WORDS):  # in blocks: no second copy of all sense vectors
            last = min(first + _BLOCK_WORDS, self.n_words)
            rows = slice(int(self.sense_offset[first]), int(self.sense_offset[last]))
            weighted = self.sense_vectors[rows] * priors[rows, None]
            vectors[first:last] = np.add.reduceat(weighted, self.sense_offset[first:last] - rows.start, axis=0)
        return vectors

    # -- checks and copies -------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise a ValueError that names the first array whose shape or content is wrong."""
        for name, shape in self._shapes().items():
            actual = shape_of(self, name)
            if actual not in shape:
                wanted = " or ".join(map(str, shape))
                raise ValueError(f"{name} must have shape {wanted}, for {self.n_words} words and "
                                 f"{self.n_senses} senses; it has {actual}")  # fmt: skip
        if (
            self.sense_offset[0] != 0
            or self.sense_offset[-1] != self.n_senses
            or (np.diff(self.sense_offset) < 1).any()
        ):
            raise ValueError(f"sense_offset must rise from 0 to the number of senses, {self.n_senses}, "
                             "by at least one sense a word")  # fmt: skip
        if self.sense_numbers is not None:
            rises = np.diff(self.sense_numbers, prepend=-1) > 0
            rises[self.sense_offset[:-1]] = self.sense_numbers[self.sense_offset[:-1]] >= 0
            if not rises.all():
                raise ValueError("sense_numbers must rise within each word, from 0 or more")
        for name in ("sense_counts", "word_counts"):
            if (getattr(self, name) < 0).any():
                raise ValueError(f"{name} must not hold negative numbers")
            if getattr(self, name).sum(dtype=np.float64) > LARGEST_TOTAL:
                raise ValueError(f"{name} must add up to 2^62 at most; scale the counts down")

    def check_layout(self) -> None:
        """Raise a ValueError if there are no words, or an array is not laid out as training and saving need it."""
        if self.n_words == 0:
            raise ValueError("the arrays are for no words; a model needs at least one")
        for field in dataclasses.fields(self):
            name = field.name
            if name not in held_by(self) and not _is_row_major(getattr(self, name)):
                raise ValueError(
                    f"the rows of {name} must lie one after another in memory (C order); pass it through "
                    "numpy.ascontiguousarray"
                )

    def _shapes(self) -> dict[str, list[tuple[int, ...]]]:
        words, senses = self.n_words, self.n_senses
        selection, dim = self.selection_size, self.vector_size
        shapes: dict[str, list[tuple[int, ...]]] = {
            "context_vectors": [(words, selection)],
            "selection_vectors": [(senses, max(selection, self.context_size))],
            "sense_vectors": [(senses, dim)],
            "collocation_vectors": [(senses, dim), (words, dim)],
            "sense_offset": [(words + 1,)],
        }
        for name in OPTIONAL:
            if getattr(self, name) is not None:
                shapes[name] = [(words, selection) if name in MATRICES else (senses,)]
        return shapes

    def check_fits(self, settings: Settings) -> None:
        """Raise a ValueError if a model with these settings cannot have such arrays."""
        if (settings.vector_size, settings.selection_dim) != (self.vector_size, self.selection_size):
            raise ValueError("vector_size and selection_size of the settings must be the dimensions of the arrays")
        if self.context_size != self.selection_size and settings.init != "trees":
            raise ValueError("context_vectors and selection_vectors must be equally wide, but with the recipe Trees")
        if settings.collocation == "word" and self.has_sense_collocation:
            raise ValueError("collocation='word' in the settings, but collocation_vectors has a row for each sense")
        if settings.collocation == "sense" and shape_of(self, "collocation_vectors")[0] != self.n_senses:
            raise ValueError("collocation='sense' in the settings, but collocation_vectors has a row for each word")
        if settings.formulation == "factorized" and (self.forward_values is None or self.backward_values is None):
            raise ValueError("formulation='factorized' needs forward_values and backward_values")

    def check_finite(self) -> None:
        """Raise a ValueError that names the first matrix with a value that is not a finite number."""
        for name in MATRICES:
            held = held_by(self).get(name)
            matrix = getattr(self, name) if held is None else None
            if not (_is_finite(matrix) if held is None else held.is_finite()):
                raise ValueError(f"{name} holds values that are not finite numbers")

    def for_training(self) -> Arrays:
        """These arrays where training can write them, padded to cache lines; copied only where they are not already."""
        changes: dict[str, Any] = {name: _padded(matrix) for name, matrix in self.as_dict().items() if name in MATRICES}
        changes |= {name: _writable(array) for name, array in self.as_dict().items() if name not in MATRICES}
        return dataclasses.replace(self, **changes)


def _check_type(name: str, array: Any) -> None:
    """Raise a TypeError or ValueError if an array is not what its name says."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} must be a numpy array; got {type(array).__name__}")
    dtype, ndim = (np.float32, 2) if name in MATRICES else (np.int64, 1)
    if array.dtype != dtype or array.ndim != ndim:
        raise ValueError(f"{name} must be {np.dtype(dtype).name} with {ndim} dimensions; "
                         f"it is {array.dtype} with shape {array.shape}")  # fmt: skip


def _is_finite(matrix: Floats | None) -> bool:
    blocks = range(0, 0 if matrix is None else len(matrix), _BLOCK_WORDS)
    return all(bool(np.isfinite(matrix[first : first + _BLOCK_WORDS]).all()) for first in blocks)  # type: ignore[index]


def _is_row_major(array: NDArray[Any] | None) -> bool:
    """Whether the numbers of a row are one after another, and rows, which may be padded, do not overlap."""
    if array is None or array.size < 2 or array.flags.c_contiguous:
        return True
    if array.ndim != 2 or (array.shape[1] > 1 and array.strides[1] != array.itemsize):
        return False
    return bool(array.shape[0] < 2 or array.strides[0] >= array.shape[1] * array.itemsize)


def _padded(matrix: Floats) -> Floats:
    if matrix.flags.writeable and _is_padded(matrix):
        return matrix
    copy: Floats = _core.aligned_zeros(*matrix.shape)
    copy[:] = matrix
    return copy


def _is_padded(matrix: Floats) -> bool:
    """Whether each row starts on a cache line and is followed by zeros up to the next one, as the kernels need."""
    rows, columns = map(int, matrix.shape)
    width = -(-columns // _ROW_PAD) * _ROW_PAD
    if matrix.ctypes.data % _ALIGNMENT or matrix.strides != (width * 4, 4):
        return False
    if rows < 2 or width == columns:
        return width == columns
    # All rows but the last: what lies behind that one may not be ours to read.
    padded = np.lib.stride_tricks.as_strided(matrix, (rows - 1, width), writeable=False)
    return not np.any(padded[:, columns:])


def _writable(array: Integers) -> Integers:
    return array if array.flags.writeable and array.flags.c_contiguous else array.copy()
