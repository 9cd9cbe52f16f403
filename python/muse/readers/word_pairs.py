"""Rated word pairs: files of them in the layouts of the field, and lists that a user gives."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any, NamedTuple

from muse.errors import quote
from muse.readers.delimited import Column, columns_of, delimiter_of, parse_number, shown, split_csv
from muse.readers.lines import read_lines

__all__ = ["WordPair", "as_word_pairs", "read_word_pairs"]

_HEADERS = (
    ("Word 1", "Word 2", "Human (mean)"),  # WordSim-353
    ("word1", "word2", "SimLex999"),
    ("word1", "word2", "score"),  # of a table of one's own
)
_SIMVERB = (0, 1, 3)  # word, word, part of speech, rating, relation; no header
_TAGGED = re.compile(r".+-[nvja]")  # MEN in lemma form


class WordPair(NamedTuple):
    """Two words and the human rating of their similarity."""

    first: str
    second: str
    rating: float


class _Layout(NamedTuple):
    """Which columns hold the words and the rating, and how many a row may have (None: any number)."""

    columns: Sequence[int]
    width: int | None
    header: bool


def read_word_pairs(path: str | os.PathLike[str], *, columns: Sequence[Column] | None = None) -> list[WordPair]:
    """Read a list of rated word pairs, in a published layout or from the columns that are named.

    Known layouts: WordSim-353 (comma or tab, with its header), SimLex-999 (its header), SimVerb-3500 (tabs, the rating
    in the fourth column), MEN in natural or lemma form (spaces; the tags of ``sun-n`` are taken off), and the triples
    ``word word rating`` of RG-65, MC-30, RW, MTurk, YP-130 and VERB-143 as collected by Faruqui. A table of your own is
    read as it is if its header has ``word1``, ``word2`` and ``score``, in any order and among others.

    Fields are separated by tabs, semicolons, commas or spaces; ratings have a decimal point or a decimal comma.
    Lines that start with ``#`` are comments. Compressed files (.gz, .bz2, .xz, .zst) are read as they are.

    Parameters
    ----------
    path : path
        The file.
    columns : three of str or int, optional
        The columns of the first word, the second word and the rating. Names are those of a header, the first line;
        numbers alone, from 0, are of a file without a header.

    Returns
    -------
    list of WordPair
        As they stand in the file; a pair that is given twice is there twice.

    Raises
    ------
    TypeError
        If `columns` are not three names or numbers.
    FileNotFoundError, ValueError
        For a missing file or a line that is no rated pair; the message names the file and the line.

    Examples
    --------
    >>> pairs = read_word_pairs("my.csv", columns=("cue", "target", "relatedness"))  # doctest: +SKIP
    """
    if columns is not None and (isinstance(columns, str) or not isinstance(columns, Sequence) or len(columns) != 3):
        raise TypeError(f"columns must be three, as ('cue', 'target', 'relatedness'); got {columns!r:.80}")
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
        fields = [field.strip() for field in (split_csv(line, place, mark) if mark else line.split())]
        if layout is None:
            layout = _layout(fields, mark, columns, place)
            if layout.header:
                continue
        pairs.append(_pair(fields, layout, line, place))
        written.update({".", ","}.intersection(fields[layout.columns[2]]))
        if len(written) > 1:
            raise ValueError(f"{place}: ratings with decimal points and ratings with decimal commas: {quote(line)}")
    if not pairs:
        raise ValueError(f"{os.fspath(path)} holds no word pairs")
    if all(_TAGGED.fullmatch(word) for pair in pairs for word in pair[:2]):
        pairs = [WordPair(pair.first[:-2], pair.second[:-2], pair.rating) for pair in pairs]
    return pairs


def _layout(fields: list[str], mark: str | None, columns: Sequence[Column] | None, place: str) -> _Layout:
    """The layout of a file from its first line."""
    if len(fields) < 3:
        raise ValueError(
            f"{place}: expected two words and a rating separated by tabs, semicolons, commas or spaces, "
            f"found {len(fields)}"
        )
    known = next((names for names in _HEADERS if set(names) <= set(fields)), None)
    given = known if columns is None else columns
    if given is not None:
        header = any(isinstance(column, str) for column in given)
        return _Layout(columns_of(given, fields, place), len(fields) if header else None, header)
    if parse_number(fields[2]) is not None and (mark != "," or len(fields) == 3):  # no comma inside of a number
        return _Layout((0, 1, 2), 3 if mark == "," else None, False)
    if mark == "\t" and len(fields) == 5 and parse_number(fields[3]) is not None:
        return _Layout(_SIMVERB, None, False)
    raise ValueError(
        f"{place}: neither two words and a rating nor a header of a published layout: {shown(fields)}. Say which "
        "columns hold them: read_word_pairs(..., columns=('word1', 'word2', 'rating')) by the names in a header, or "
        "columns=(0, 1, 2) without one"
    )


def _pair(fields: Sequence[str], layout: _Layout, line: str, place: str) -> WordPair:
    if layout.width is not None and len(fields) > layout.width and any(fields[layout.width :]):
        raise ValueError(
            f"{place}: {len(fields)} fields where the first line has {layout.width}: {quote(line)}. Is there a column "
            "without a name, or a comma inside a number or a word?"
        )
    first, second, rated = (fields[column] if column < len(fields) else "" for column in layout.columns)
    rating = parse_number(rated)
    if rating is None or not math.isfinite(rating):
        raise ValueError(f"{place}: no rating in field {layout.columns[2] + 1} of {quote(line)}")
    if not first or not second:
        raise ValueError(f"{place}: a word is missing in {quote(line)}")
    return WordPair(first, second, rating)


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
