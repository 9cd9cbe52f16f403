"""Keys of senses, ``word#k``: how they are written and read."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from muse.data.sense_names import NO_NAMES, SenseNames
from muse.errors import UnknownSenseError, listed, quote

__all__ = [
    "SenseKey",
    "SenseKeys",
    "each_word_once",
    "parse_sense_key",
    "read_sense_key",
    "split_sense_key",
    "split_tool_key",
]

SenseKey: TypeAlias = str | tuple[str, int]

_LONGEST_NUMBER = 18  # digits of the number of a sense; what is longer is the number of none
_LARGEST_IN_FILES = 10**9  # in a key of another tool, what is larger is no number of a sense


def split_sense_key(key: str, mark: str = "#") -> tuple[str, int] | None:
    """The word and the number in a key, which is split at its last `mark`; None where no number is behind one.

    Examples
    --------
    >>> split_sense_key("c##0"), split_sense_key("c#")
    (('c#', 0), None)
    """
    word, found, digits = key.rpartition(mark)
    if not found or not digits.isdecimal() or not digits.isascii():
        return None
    return word, int(digits) if len(digits) <= _LONGEST_NUMBER else sys.maxsize


def split_tool_key(key: str, mark: str = "#") -> tuple[str, int] | None:
    """`split_sense_key` of a key from another tool: ``"#1"`` and ``"isbn#9780262035613"`` are words there."""
    parts = split_sense_key(key, mark)
    return parts if parts is not None and parts[0] and parts[1] < _LARGEST_IN_FILES else None


def read_sense_key(key: str, names: SenseNames = NO_NAMES) -> tuple[str, int] | None:
    """The word and number in ``"head#0"``, or ``"head:chief"`` with one of the `names` of senses; None in others."""
    return split_sense_key(key) or names.find(key)


def parse_sense_key(key: SenseKey, names: SenseNames = NO_NAMES) -> tuple[str, int]:
    """The word and the number of a sense key, ``"head#0"`` or ``("head", 0)``; a string is split at its last ``#``.

    One that is no such key may be ``"head:chief"``, the word and one of the `names` of its senses.
    """
    if isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], str):
        word, number = key[0], key[1]
        if isinstance(number, (int, np.integer)) and not isinstance(number, bool):
            return word, int(number)
    elif isinstance(key, str):
        parts = read_sense_key(key, names)
        if parts is not None:
            return parts
        raise UnknownSenseError(
            f"{quote(key)} is not a sense key{_and_no_name(key, names)}; write the word and the number of its sense, "
            f"{quote(key + '#0')} or ({quote(key)}, 0)"
        )
    raise TypeError(f"a sense key is a string such as 'head#0' or a pair such as ('head', 0); got {key!r:.200}")


def _and_no_name(key: str, names: SenseNames) -> str:
    """For the message: which names the word has, where the key might have meant one."""
    word = next((word for word in names if key.startswith(f"{word}:")), None)
    return "" if word is None else f", and the names of {quote(word)} are {listed(map(quote, names.of(word).values()))}"


def each_word_once(neighbours: Iterable[tuple[str, float]], topn: int) -> tuple[tuple[str, float], ...]:
    """The first `topn` of some neighbours, of whose senses each word has only its nearest there.

    Examples
    --------
    >>> each_word_once([("loan#0", 0.9), ("loan#2", 0.8), ("debt#1", 0.7)], 2)
    (('loan#0', 0.9), ('debt#1', 0.7))
    """
    nearest: dict[str, tuple[str, float]] = {}
    for key, cosine in neighbours:
        nearest.setdefault(parse_sense_key(key)[0], (key, cosine))
    return tuple(nearest.values())[:topn]


class SenseKeys(Sequence[str]):
    """The keys of all senses, made when they are asked for: millions of strings that are seldom all needed.

    Parameters
    ----------
    words : sequence of V str
        The words.
    offset : int64 (V + 1,)
        First row of each word's senses, and their number.
    numbers : int64 (Z,), optional
        The number of each sense within its word, see `Arrays.sense_numbers`.
    """

    def __init__(
        self, words: Sequence[str], offset: NDArray[np.int64], numbers: NDArray[np.int64] | None = None
    ) -> None:
        self._words = words
        self._offset = offset
        self._numbers = numbers

    def __len__(self) -> int:
        return int(self._offset[-1])

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return self.some(range(*index.indices(len(self))))
        row = operator.index(index)
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)} senses")
        return self.some([row % len(self)])[0]

    def some(self, rows: Sequence[int]) -> list[str]:
        """The keys of some rows, from 0 on, in their order; faster than one after another."""
        listed = np.array(rows, np.int64)
        words = np.searchsorted(self._offset, listed, side="right") - 1
        numbers = listed - self._offset[words] if self._numbers is None else self._numbers[listed]
        known = self._words
        return [f"{known[word]}#{number}" for word, number in zip(words.tolist(), numbers.tolist(), strict=True)]

    def __iter__(self) -> Iterator[str]:
        row = 0
        for word, senses in zip(self._words, np.diff(self._offset).tolist(), strict=True):
            numbers = range(senses) if self._numbers is None else self._numbers[row : row + senses].tolist()
            for number in numbers:
                yield f"{word}#{number}"
            row += senses
