"""Stanford's Contextual Word Similarities (SCWS): rated pairs of words in context.

E. H. Huang, R. Socher, C. D. Manning, A. Y. Ng (2012), *Improving word representations via global context and multiple
word prototypes*, ACL.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

from muse.corpus.tokens import Tokenizer, check_context, locate, tokenize
from muse.errors import quote
from muse.readers.lines import read_lines

__all__ = ["ScwsPair", "read_scws"]

_FIELDS = 18
_TARGET = re.compile(r"<b>(.*?)</b>")


@dataclass(frozen=True)
class ScwsPair:
    """Two words in context and how similar people found them, 0 to 10.

    ``words`` holds ``None`` for a target that is not one token under the tokeniser used; such a pair cannot be scored.
    ``positions`` are the indices of the targets in ``contexts``, which are lists of tokens.

    Raises
    ------
    TypeError, ValueError
        If a context is no list of tokens, or a known word's position is not in it.
    """

    number: str
    surfaces: tuple[str, str]
    words: tuple[str | None, str | None]
    contexts: tuple[list[str], list[str]]
    positions: tuple[int, int]
    rating: float

    def __post_init__(self) -> None:
        for word, tokens, position in zip(self.words, self.contexts, self.positions, strict=True):
            check_context(tokens, position, word, f"the SCWS pair {self.number!r:.80}")

    @property
    def places(self) -> frozenset[tuple[Any, ...]]:
        """What is compared, in either order."""
        return frozenset((tuple(tokens), at) for tokens, at in zip(self.contexts, self.positions, strict=True))


def _context(text: str, which: int, place: str, tokenizer: Tokenizer) -> tuple[list[str], int, str | None]:
    marks = list(_TARGET.finditer(text))
    if len(marks) != 1:
        raise ValueError(
            f"{place}: context {which} must mark its word once with <b> and </b>, found {len(marks)} marks"
        )
    start, end = marks[0].span()
    tokens, position, target = locate(text[:start], marks[0].group(1), text[end:], tokenizer)
    return tokens, position, target[0] if len(target) == 1 else None


def _rating(field: str, place: str) -> float:
    try:
        value = float(field)
    except ValueError:
        raise ValueError(f"{place}: the rating {quote(field)} is not a number") from None
    if not 0 <= value <= 10:
        raise ValueError(f"{place}: the rating {quote(field)} is outside 0 to 10")
    return value


def read_scws(path: str | os.PathLike[str], tokenizer: Tokenizer = tokenize) -> list[ScwsPair]:
    """Read the official ``ratings.txt``: 18 tab-separated fields a line, the word between ``<b>`` and ``</b>``.

    Parameters
    ----------
    path : path
        The file.
    tokenizer : callable
        How the contexts are tokenised; must match the text that the model was trained on.

    Returns
    -------
    list of ScwsPair

    Raises
    ------
    FileNotFoundError, ValueError
        For a missing or damaged file; the message names the file and the line.
    """
    pairs: list[ScwsPair] = []
    lines: dict[str, int] = {}
    for number, line in read_lines(path):
        if not line.strip():
            continue
        place = f"{os.fspath(path)}, line {number}"
        fields = line.split("\t")
        if len(fields) != _FIELDS:
            raise ValueError(
                f"{place}: expected {_FIELDS} tab-separated fields (id, word, part of speech, word, part of speech, "
                f"two contexts, mean rating, 10 ratings), found {len(fields)}. Is this SCWS's ratings.txt, undamaged?"
            )
        first, second = _context(fields[5], 1, place, tokenizer), _context(fields[6], 2, place, tokenizer)
        rating = _rating(fields[7], place)
        single = [_rating(field, place) for field in fields[8:]]
        if abs(rating - sum(single) / len(single)) > 0.06:
            raise ValueError(f"{place}: the mean rating {rating} is not the mean of the 10 ratings behind it")
        if lines.setdefault(fields[0], number) != number:
            raise ValueError(f"{place}: pair {quote(fields[0])} stands in line {lines[fields[0]]} already")
        pairs.append(
            ScwsPair(
                fields[0],
                (fields[1], fields[3]),
                (first[2], second[2]),
                (first[0], second[0]),
                (first[1], second[1]),
                rating,
            )
        )
    if not pairs:
        raise ValueError(f"{os.fspath(path)} holds no pairs")
    return pairs
