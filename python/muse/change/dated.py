"""Slices of a table by a column of dates."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from muse.base.tables import frame_columns, is_missing, is_series, named
from muse.corpus.columns import Column
from muse.corpus.tokenizer import tokenize
from muse.corpus.tokens import Tokenizer

__all__ = ["by_bins"]


def by_bins(
    table: Any, text: Any, by: Any, bins: Sequence[Any] | None, tokenizer: Tokenizer = tokenize, **reading: Any
) -> dict[str, list[list[str]]]:
    """The sentences of each slice, in the order of time; `reading` are options of a `Column`.

    Raises
    ------
    TypeError, ValueError
        For dates that cannot be compared, edges that do not rise, or if no row is in a slice.
    KeyError
        If there is no such column.
    """
    edges = _edges(bins)
    rows = _rows_by_date(table, text, by)
    try:
        dates = sorted(rows)
        slices = {date: _slice_of(date, edges) for date in dates}
        if edges is not None and (len(edges) < 2 or any(not a < b for a, b in pairwise(edges))):
            raise ValueError(f"bins must be two or more rising edges; got {bins!r:.80}")
    except TypeError as error:
        raise TypeError(f"the dates in {by!r} and bins must be of one kind, such as years: {error}") from error
    cells: dict[str, list[Any]] = {}
    for date in dates:
        if (name := slices[date]) is not None:
            cells.setdefault(name, []).extend(rows[date])
    found = {
        name: list(Column([{"text": cell} for cell in mine], "text", tokenizer=tokenizer, **reading))
        for name, mine in cells.items()
    }
    outside = sum(len(rows[date]) for date in dates if slices[date] is None)
    if found and outside:
        warnings.warn(f"{outside} rows are in no slice: their dates in {by!r} are outside the bins {bins!r:.80}",
                      UserWarning, stacklevel=3)  # fmt: skip
    if not found:
        raise ValueError(f"no row of the table is in one of the slices; its dates in {by!r} are {named(dates)}")
    return found


def _edges(bins: Any) -> list[Any] | None:
    if bins is None:
        return None
    if isinstance(bins, (str, bytes)) or not isinstance(bins, Iterable):
        raise TypeError(f"bins must be a list of edges, such as [1810, 1860, 1910]; got {bins!r:.80}")
    return list(bins)


def _rows_by_date(table: Any, text: Any, by: Any) -> dict[Any, list[Any]]:
    """The texts of each date; rows without a date or a text are left out."""
    for name, column in (("text", text), ("by", by)):
        if is_series(column) or not isinstance(column, Hashable):
            raise TypeError(f"{name} must be the name of a column, not a {type(column).__name__}")
    rows: dict[Any, list[Any]] = {}
    for date, cell in _cells(table, text, by):
        if not isinstance(date, Hashable):
            raise TypeError(f"the dates in {by!r} must be of one kind, such as years; one is {date!r:.80}")
        if not is_missing(date) and not is_missing(cell):
            rows.setdefault(date, []).append(cell)
    if not rows:
        raise ValueError(f"no row of the table has both a date in {by!r} and a text in {text!r}; name other columns")
    return rows


def _slice_of(date: Any, edges: list[Any] | None) -> str | None:
    if edges is None:
        return str(date)
    for begin, end in pairwise(edges):
        if begin <= date < end or date == end == edges[-1]:
            return f"{begin}-{end}"
    return None


def _cells(table: Any, text: Any, by: Any) -> Iterator[tuple[Any, Any]]:
    """The date and the text of each row."""
    columns = list(table) if isinstance(table, Mapping) else frame_columns(table)
    if columns is not None:
        for name in (text, by):
            if name not in columns:
                raise KeyError(f"the table has no column {name!r}; it has {named(columns)}")
        dates, texts = ([_plain(cell) for cell in table[name]] for name in (by, text))
        if len(dates) != len(texts):
            raise ValueError(f"column {by!r} has {len(dates)} cells and column {text!r} {len(texts)}; "
                             "give columns of one length")  # fmt: skip
        yield from zip(dates, texts, strict=True)
        return
    if isinstance(table, (str, bytes)) or not isinstance(table, Iterable):
        raise TypeError(f"the table must be a data frame, or an iterable of mappings of columns; got {table!r:.80}")
    for number, row in enumerate(table):
        if not isinstance(row, Mapping):
            raise TypeError(f"row {number} of the table is a {type(row).__name__}, not a mapping of columns")
        for name in (text, by):
            if name not in row:
                raise KeyError(f"row {number} of the table has no column {name!r}; it has {', '.join(map(str, row))}")
        yield row[by], row[text]


def _plain(cell: Any) -> Any:
    return cell.as_py() if hasattr(cell, "as_py") else cell
