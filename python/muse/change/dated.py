"""Slices of a table by a column of dates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from muse.base.tables import frame_columns, is_missing, named
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
    rows: dict[Any, list[Any]] = {}
    for date, cell in _cells(table, text, by):
        if not is_missing(date) and not is_missing(cell):
            rows.setdefault(date, []).append(cell)
    try:
        dates = sorted(rows)
        edges = None if bins is None else list(bins)
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
    if not found:
        raise ValueError(f"no row of the table is in one of the slices; its dates in {by!r} are {named(dates)}")
    return found


def _slice_of(date: Any, edges: list[Any] | None) -> str | None:
    if edges is None:
        return str(date)
    for begin, end in pairwise(edges):
        if begin <= date < end:
            return f"{begin}-{end}"
    return None


def _cells(table: Any, text: Any, by: Any) -> Iterator[tuple[Any, Any]]:
    """The date and the text of each row."""
    columns = list(table) if isinstance(table, Mapping) else frame_columns(table)
    if columns is not None:
        for name in (text, by):
            if name not in columns:
                raise KeyError(f"the table has no column {name!r}; it has {named(columns)}")
        yield from zip(map(_plain, table[by]), map(_plain, table[text]), strict=True)
        return
    for number, row in enumerate(table):
        if not isinstance(row, Mapping):
            raise TypeError(f"row {number} of the table is a {type(row).__name__}, not a mapping of columns")
        for name in (text, by):
            if name not in row:
                raise KeyError(f"row {number} of the table has no column {name!r}; it has {', '.join(map(str, row))}")
        yield row[by], row[text]


def _plain(cell: Any) -> Any:
    return cell.as_py() if hasattr(cell, "as_py") else cell
