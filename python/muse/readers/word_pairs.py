"""Rated word pairs: files of them in the layouts of the field, and lists that a user gives."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any, NamedTuple

from muse.errors import quote
from muse.readers.delimited import (
    Column,
    column_of,
    delimiter_of,
    is_number_of_row,
    numbered,
    parse_number,
    shown,
    split_csv,
)
from muse.readers.lines import read_lines

__all__ = ["WordPair", "as_word_pairs", "read_word_pairs"]

_TAGGED = re.compile(r".+-[nvja]")
_PART_OF_SPEECH = re.compile(r"[A-Za-z]{1,4}")  # "V" and the like, in the third of SimVerb's columns
# Names of columns.
_WORD_COLUMN = re.compile(
    r"(word|term|noun|verb|item|lemma|target|token|w)s?[ _.-]?([1-9]|one|two|a|b|x|y)?", re.IGNORECASE
)
_RATING_COLUMN = re.compile(r".*(rating|score|mean|similarity|relatedness|human|simlex|average|gold).*", re.IGNORECASE)
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_OF_RATINGS = {*"n no num number count counts sd std stdev stddev var variance se sem ci min max id".split()}
_ENDINGS = (("1", "2"), ("one", "two"), ("a", "b"), ("x", "y"))
_DIGITS = re.compile(r"\s*[0-9]+\s*")


class WordPair(NamedTuple):
    """Two words and the human rating of their similarity."""

    first: str
    second: str
    rating: float


class _Layout(NamedTuple):
    """Which columns hold what, how many a row may have (None: any number), and whether the first line is a header."""

    first: int
    second: int
    rating: int
    width: int | None
    header: bool


def _is_rating(name: str) -> bool:
    """Whether a name is that of ratings, and not of their number or spread."""
    parts = {part.lower() for part in _PART.findall(name)}
    return _RATING_COLUMN.fullmatch(name) is not None and not parts & _OF_RATINGS


def _is_header(names: Sequence[str]) -> bool:
    words = [i for i, name in enumerate(names) if _WORD_COLUMN.fullmatch(name)]
    if any(first in words and second in words for first, second in numbered(names, _ENDINGS)):
        return True
    if parse_number(names[2]) is not None or _rating_behind_part(names):
        return False
    return len(words) > 1 or bool(numbered(names)) or any(_RATING_COLUMN.fullmatch(name) for name in names)


def _rating_behind_part(fields: Sequence[str]) -> bool:
    """Whether the third field is a part of speech, and the fourth the rating."""
    return (
        len(fields) > 3
        and _PART_OF_SPEECH.fullmatch(fields[2].strip()) is not None
        and parse_number(fields[3]) is not None
    )


def _named_words(names: Sequence[str], rating: int | None, place: str) -> tuple[int, int]:
    """The two columns of words in a header."""
    words = [i for i, name in enumerate(names) if _WORD_COLUMN.fullmatch(name) and i != rating]
    others = [i for i, name in enumerate(names) if i != rating and not is_number_of_row(name)]
    choices: list[list[tuple[int, ...]]] = [
        [pair for pair in numbered(names, _ENDINGS) if pair[0] in words and pair[1] in words],
        [tuple(words)] if len(words) == 2 else [],
        [pair for pair in numbered(names) if list(pair) == others[:2]],
        [tuple(others)] if len(others) == 2 else [],
    ]
    found = next(filter(None, choices), [])
    if len(found) != 1:
        raise ValueError(
            f"{place}: which columns hold the words? There are {shown(names)}; name them word1 and word2, or say which "
            "with read_word_pairs(..., words=('first', 'second'))"
        )
    return found[0][0], found[0][1]


def _named_rating(names: Sequence[str], words: Sequence[int], place: str) -> int:
    """The column of the ratings in a header."""
    free = [i for i in range(len(names)) if i not in words]
    exact = [i for i in free if names[i].casefold() == "simlex999"]
    named = [i for i in free if _is_rating(names[i])]
    unnamed = [i for i in free if not is_number_of_row(names[i]) and not _RATING_COLUMN.fullmatch(names[i])]
    found = exact or named or unnamed
    if len(found) != 1:
        raise ValueError(
            f"{place}: which column holds the ratings? There are {shown(names)}; say which with "
            f"read_word_pairs(..., rating={names[found[0]] if found else 'score'!r})"
        )
    return found[0]


def _layout(
    fields: Sequence[str], mark: str | None, place: str, words: Sequence[Column] | None, rating: Column | None
) -> _Layout:
    if len(fields) < 3:
        raise ValueError(
            f"{place}: expected two words and a rating separated by tabs, semicolons, commas or spaces, "
            f"found {len(fields)}"
        )
    names = [name.strip() for name in fields]
    given = None if words is None else [column_of(word, names, "words", place) for word in words]
    column = None if rating is None else column_of(rating, names, "rating", place)
    while len(names) > 3 and not names[-1]:
        names.pop()
    if any(isinstance(said, str) for said in (rating, *(words or ()))) or _is_header(names):
        if given is None:
            likely = [i for i, name in enumerate(names) if _is_rating(name)]
            taken = column if column is not None else likely[0] if len(likely) == 1 else None
            given = list(_named_words(names, taken, place))
        column = _named_rating(names, given, place) if column is None else column
        return _distinct(_Layout(given[0], given[1], column, len(names), True), place)
    if column is None and mark == "," and len(names) == 4 and all(map(_DIGITS.fullmatch, names[2:])):
        raise ValueError(
            f"{place}: is '{names[2]},{names[3]}' a number with a decimal comma, or are these two columns? Separate "
            "the fields by tabs or semicolons, or say where the ratings are with read_word_pairs(..., rating=2)"
        )
    if column is None:
        column = 3 if _rating_behind_part(fields) and parse_number(fields[2]) is None else 2
    first, second = given or (0, 1)
    return _distinct(_Layout(first, second, column, len(names) if mark == "," else None, False), place)


def _distinct(layout: _Layout, place: str) -> _Layout:
    if len({*layout[:3]}) < 3:
        raise ValueError(
            f"{place}: the words and the rating must be in columns of their own; got {layout.first}, {layout.second} "
            f"and {layout.rating}"
        )
    return layout


def read_word_pairs(
    path: str | os.PathLike[str], *, words: tuple[Column, Column] | None = None, rating: Column | None = None
) -> list[WordPair]:
    """Read a list of rated word pairs; the layout is recognised by itself.

    Known layouts: WordSim-353 (comma or tab, with a header), SimLex-999 (tab, its column ``SimLex999``), SimVerb-3500
    (tab, a part of speech before the rating), MEN in natural or lemma form (spaces; the tags of ``sun-n`` are taken
    off), and the triples ``word word rating`` of RG-65, MC-30, RW, MTurk, YP-130 and VERB-143 as collected by Faruqui.
    Fields are separated by tabs, semicolons, commas or spaces; ratings have a decimal point or a decimal comma.
    Lines that start with ``#`` are comments. Compressed files (.gz, .bz2, .xz, .zst) are read as they are.

    The first line is a header if its columns are named as such: ``word1,word2,score``, in any order and among others
    (``id,score,word1,word2``; what pandas' ``to_csv`` writes). Then the columns are taken by these names. Otherwise it
    must be a pair as the others are, with the words in the first two fields.

    Parameters
    ----------
    path : path
        The file.
    words : pair of str or int, optional
        The columns of the words, by their names in the header or their numbers from 0, where they are not recognised.
    rating : str or int, optional
        The column of the ratings, likewise.

    Returns
    -------
    list of WordPair
        As they stand in the file; a pair that is given twice is there twice.

    Raises
    ------
    FileNotFoundError, ValueError
        For a missing file or a line that is no rated pair; the message names the file and the line. For a header of
        which several columns, or none, may hold the words or the ratings; the message lists them.

    Examples
    --------
    >>> pairs = read_word_pairs("my.csv", words=("cue", "target"), rating="relatedness")  # doctest: +SKIP
    """
    if words is not None and (isinstance(words, str) or not isinstance(words, Sequence) or len(words) != 2):
        raise TypeError(f"words must be two columns, as ('cue', 'target'); got {words!r:.80}")
    pairs: list[WordPair] = []
    mark: str | None = None
    layout: _Layout | None = None
    written: set[str] = set()  # of points and commas, those that ratings have
    for number, line in read_lines(path):
        if not line.strip() or line.startswith("#"):
            continue
        place = f"{os.fspath(path)}, line {number}"
        if layout is None:
            mark = delimiter_of(line, "\t", ";,", 2)
        fields = split_csv(line, place, mark) if mark else line.split()
        if layout is None:
            layout = _layout(fields, mark, place, words, rating)
            if layout.header:
                continue
        pair = _pair(fields, layout, line, place, first=not pairs)
        if not pairs and layout.header and words is None and None not in map(parse_number, pair[:2]):
            raise ValueError(
                f"{place}: columns {layout.first + 1} and {layout.second + 1} hold the numbers {pair.first} and "
                f"{pair.second}. Say which hold the words with read_word_pairs(..., words=('first', 'second'))"
            )
        written.update({".", ","}.intersection(fields[layout.rating]))
        if len(written) > 1:
            raise ValueError(f"{place}: ratings with decimal points and ratings with decimal commas: {quote(line)}")
        pairs.append(pair)
    if not pairs:
        raise ValueError(f"{os.fspath(path)} holds no word pairs")
    if all(_TAGGED.fullmatch(word) for pair in pairs for word in pair[:2]):
        pairs = [WordPair(pair.first[:-2], pair.second[:-2], pair.rating) for pair in pairs]
    return pairs


def _pair(fields: Sequence[str], layout: _Layout, line: str, place: str, *, first: bool) -> WordPair:
    if layout.width is not None and len(fields) > layout.width and any(fields[layout.width :]):
        raise ValueError(
            f"{place}: {len(fields)} fields where the first line has {layout.width}: {quote(line)}. Is there a column "
            "without a name, or a comma inside a number or a word?"
        )
    rating = parse_number(fields[layout.rating]) if len(fields) > layout.rating else None
    if rating is None or not math.isfinite(rating):
        what = "; a header names its columns, as in 'word1 word2 score'" if first and not layout.header else ""
        raise ValueError(f"{place}: no rating in field {layout.rating + 1} of {quote(line)}{what}")
    words = [fields[i].strip() if i < len(fields) else "" for i in (layout.first, layout.second)]
    if not all(words):
        raise ValueError(f"{place}: a word is missing in {quote(line)}")
    return WordPair(words[0], words[1], rating)


def as_word_pairs(given: Any) -> list[WordPair]:
    """Rated pairs that a user gives, checked.

    Raises
    ------
    TypeError, ValueError
        If one is not a triple of two words and a finite number; the message says which.
    """
    if not isinstance(given, Iterable):
        raise TypeError(f"word pairs are a path or a list of (word, word, rating); got {given!r:.80}")
    pairs: list[WordPair] = []
    for number, item in enumerate(given):
        if not isinstance(item, Sequence) or isinstance(item, str) or len(item) != 3:
            raise TypeError(f"pair {number} must be (word, word, rating), in a list of such; got {item!r:.80}")
        first, second, rating = item
        if not isinstance(first, str) or not isinstance(second, str):
            raise TypeError(f"pair {number} must be (word, word, rating) with words that are strings; got {item!r:.80}")
        if isinstance(rating, bool) or not isinstance(rating, Real):
            raise TypeError(f"the rating of pair {number} must be a number; got {rating!r:.80}")
        if not math.isfinite(rating):
            raise ValueError(f"the rating of pair {number} must be a finite number; got {rating!r}")
        pairs.append(WordPair(first, second, float(rating)))
    return pairs
