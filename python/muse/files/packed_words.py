"""Words as one tensor of bytes and one of offsets, in which word i is ``packed[offsets[i]:offsets[i + 1]]``, UTF-8."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from muse.errors import ModelFileError
from muse.files.tensor_file import DamagedFileError

__all__ = ["PackedWords", "damaged", "packed_words"]


def packed_words(words: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes and the offsets of words; a TypeError or ValueError where a word is no text."""
    if not all(isinstance(word, str) for word in words):
        raise TypeError("the model is not saved: its vocabulary holds a word that is no string")
    try:
        encoded = [word.encode("utf-8") for word in words]
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the word {error.object!r} cannot be saved: it holds a lone surrogate, which is not valid Unicode; "
            "decode the text with the right encoding before training"
        ) from error
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(word) for word in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), offsets


def damaged(file: str, what: object) -> ModelFileError:
    """The error for a file of ours that is damaged."""
    return ModelFileError(f"{file!r} is damaged: {what}; load another copy of it, or train and save the model again")


class PackedWords(Sequence[str]):
    """Words that are decoded from their UTF-8 bytes when they are asked for, as a list of str.

    Parameters
    ----------
    packed : uint8 (B,)
        The words one after another.
    offsets : int64 (V + 1,)
        Word i is ``packed[offsets[i]:offsets[i + 1]]``.
    file : str
        The file that they are from, for errors.
    """

    def __init__(self, packed: NDArray[np.uint8], offsets: NDArray[np.int64], file: str = "") -> None:
        self._packed = packed.data
        self._offsets = offsets
        self._file = file
        self._distinct = False  # not known to be

    @classmethod
    def checked(cls, packed: NDArray[Any], offsets: NDArray[Any], count: int, file: str) -> PackedWords:
        """The `count` words of two tensors from nobody knows where; a DamagedFileError if they are not that."""
        if packed.dtype != np.uint8 or packed.ndim != 1 or offsets.dtype != np.int64 or offsets.shape != (count + 1,):
            raise DamagedFileError("its vocabulary does not have the right type or size")
        if offsets[0] != 0 or offsets[-1] != len(packed) or (np.diff(offsets) < 0).any():
            raise DamagedFileError("the offsets of its vocabulary are inconsistent")
        return cls(packed, offsets, file)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (np.asarray(self._packed), self._offsets, self._file)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"word {index} of {len(self)}")
        return self._decode(index % len(self))

    def __iter__(self) -> Iterator[str]:
        """All words; who goes through them to the end finds out whether a word occurs twice."""
        text, offsets = bytes(self._packed), self._offsets.tolist()
        seen: set[str] = set()
        for row, (start, end) in enumerate(itertools.pairwise(offsets)):
            try:
                word = text[start:end].decode("utf-8")
            except UnicodeDecodeError:
                word = self._decode(row)
            if not self._distinct:
                seen.add(word)
            yield word
        if not self._distinct and len(seen) < len(self):
            raise damaged(self._file, "a word occurs twice in its vocabulary")
        self._distinct = True

    def _decode(self, row: int) -> str:
        try:
            return bytes(self._packed[self._offsets[row] : self._offsets[row + 1]]).decode("utf-8")
        except UnicodeDecodeError as error:
            raise damaged(self._file, f"word {row} of its vocabulary is not UTF-8 ({error})") from error
