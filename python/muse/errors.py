"""The errors that muse raises where a standard type alone would say too little.

Each derives from the standard type that a caller would expect, so ``except KeyError`` and the like keep working.
"""

from __future__ import annotations

import difflib
import os
import sys
import warnings
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

_PACKAGE = os.path.join(os.path.dirname(__file__), "")
_SEARCHED = 100_000  # most frequent words that are compared with a misspelt one


class UnknownWordError(KeyError):
    """A word that the vocabulary does not hold; the message names the nearest spellings.

    Parameters
    ----------
    word : str
        The word that was asked for.
    vocabulary : sequence of str
        Known words. They are compared with `word` only when the message is read, so a program that catches the error
        for thousands of words pays nothing for it.
    """

    def __init__(self, word: str, vocabulary: Sequence[str] = ()) -> None:
        super().__init__(word)
        self.word = word
        self._vocabulary = vocabulary

    def __str__(self) -> str:
        if not isinstance(self.word, str):
            return f"the word {self.word!r:.80} is not in the vocabulary; words are strings"
        message = f"the word {quote(self.word)} is not in the vocabulary"
        near = nearest_spellings(self.word, self._vocabulary)
        if near:
            return f"{message}; the nearest known spellings are {', '.join(map(repr, near))}"
        return f"{message}; model.vocabulary.words lists the words that are"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.word,)  # to another process without the vocabulary


class UnknownSenseError(KeyError):
    """A sense key that names no sense, such as ``"head#7"`` where "head" has three senses."""

    def __str__(self) -> str:
        return str(self.args[0])


class NotTrainedError(RuntimeError):
    """A model was asked for something that only training gives it."""


class ModelFileError(ValueError):
    """A file that is not a model of ours, or is damaged, or was written by a newer version."""


class IndexFileError(ValueError):
    """A file that is not an index of a corpus, or is damaged, or was written by a newer version."""


class FormatWarning(UserWarning):
    """What a file format does not hold, or what in a file was left out."""


class DivergenceError(FloatingPointError):
    """Training left the range of floating-point numbers; the message says which settings to change."""


class InsufficientMemoryError(MemoryError):
    """Said before training starts, with the figure, where the model cannot fit into memory."""


def warn_of_format(message: str) -> None:
    """Give a `FormatWarning` at the line of the user's that called into this package, however deep it is called."""
    warn_at_caller(message, FormatWarning)


def warn_at_caller(message: str, category: type[Warning]) -> None:
    """Give a warning at the line of the user's that called into this package, however deep it is called."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def quote(text: str, most: int = 80) -> str:
    """What was given as it stands in a message: its repr, of a long one the beginning and its length."""
    return repr(text) if len(text) <= most else f"{text[:most]!r}... ({len(text):,} characters)"


def listed(names: Iterable[str], most: int = 8) -> str:
    """Names in a note or message, with commas between: the first ones, and how many more there are."""
    names = list(names)
    shown = ", ".join(name if len(name) <= 80 else f"{name[:80]}..." for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def nearest_spellings(word: str, vocabulary: Iterable[str], count: int = 3) -> list[str]:
    """Known words that look like `word`: those that differ in case alone first, then by shared letters."""
    if count < 1:
        return []
    lower = word.lower()
    same: list[str] = []
    similar: list[str] = []
    for known in islice(vocabulary, _SEARCHED):
        if known.lower() == lower:
            same.append(known)
        elif abs(len(known) - len(word)) <= 2:
            similar.append(known)
    return (same + difflib.get_close_matches(word, similar, n=count, cutoff=0.7))[:count]


class NoWordsError(ValueError, RuntimeError):
    """A corpus is empty, or no word of it stays: a ValueError, and a RuntimeError as in gensim."""


class EmptyListError(ValueError, ZeroDivisionError):
    """A list of keys is empty, whose mean is asked for; gensim divides by zero there."""


class UnknownRowError(KeyError):
    """A number that is no row of the vectors."""

    def __str__(self) -> str:
        return str(self.args[0])
