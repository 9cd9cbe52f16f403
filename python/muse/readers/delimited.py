"""Delimited text: the fields and columns of a table, and numbers with a point or a comma."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from muse.errors import listed, quote

__all__ = ["Column", "columns_of", "delimiter_of", "parse_number", "shown", "split_csv"]

Column = str | int  # by its name in the header, or its number from 0

_QUOTED = re.compile(r'"[^"]*"')
_DECIMAL_COMMA = re.compile(r"\s*[-+]?[0-9]+,[0-9]+\s*")


def delimiter_of(line: str, strong: str, weak: str, least: int = 1) -> str | None:
    """The mark between the fields of a line, outside quotes; None if there is none.

    The first of the `strong` ones that the line holds, or else that of the `weak` ones that comes first and `least`
    times: ``;`` in ``Mann;Frau;3,5``.
    """
    plain = _QUOTED.sub("", line)
    for mark in strong:
        if mark in plain:
            return mark
    found = [mark for mark in weak if plain.count(mark) >= least]
    return min(found, key=plain.index) if found else None


def split_csv(line: str, place: str, delimiter: str = ",") -> list[str]:
    """The fields of a line of CSV; a ValueError that starts with `place` if it is none, or a field is too long."""
    if delimiter != "," and '"' not in line:
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter))
    except csv.Error as error:
        raise ValueError(f"{place}: no valid CSV ({error}): {quote(line)}") from None


def parse_number(field: str) -> float | None:
    """A number with a decimal point or a decimal comma; None if the field is none."""
    try:
        return float(field.replace(",", ".") if _DECIMAL_COMMA.fullmatch(field) else field)
    except ValueError:
        return None


def shown(names: Sequence[str]) -> str:
    """The columns of a header in a message."""
    return listed((f"'{name if len(name) <= 30 else f'{name[:30]}...'}'" for name in names), 12)


def columns_of(given: Sequence[Column], fields: Sequence[str], place: str) -> list[int]:
    """The numbers of the columns that a user gives, by their names in the header `fields` or by their numbers.

    Raises
    ------
    TypeError
        If one is neither a name nor a number.
    ValueError
        If there is no such column, there are several, or one is given twice; the message lists those that there are.
    """
    found = [_column(column, fields, place) for column in given]
    if len(set(found)) < len(found):
        raise ValueError(f"{place}: columns={list(given)!r:.200} names a column twice; give each one of its own")
    return found


def _column(given: Column, fields: Sequence[str], place: str) -> int:
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise TypeError(f"columns must be names of columns, or their numbers from 0; got {given!r:.80}")
    if isinstance(given, int):
        if not 0 <= given < len(fields):
            raise ValueError(f"{place}: columns holds {given}, but they are 0 to {len(fields) - 1}: {shown(fields)}")
        return given
    if fields.count(given) != 1:
        several = "several columns" if given in fields else "no column"
        raise ValueError(f"{place}: {given!r:.80} in columns names {several}; there are {shown(fields)}")
    return fields.index(given)
