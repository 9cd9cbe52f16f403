"""Fields and columns of evaluation files: delimiters, headers, and numbers with a point or a comma."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence

from muse.errors import listed, quote

__all__ = ["Column", "column_of", "delimiter_of", "is_number_of_row", "numbered", "parse_number", "shown", "split_csv"]

Column = str | int  # by its name in the header, or its number from 0

_QUOTED = re.compile(r'"[^"]*"')
_DECIMAL_COMMA = re.compile(r"\s*[-+]?[0-9]+,[0-9]+\s*")
_ROW_NUMBER = re.compile(
    r"|#|q|unnamed: ?[0-9]+|((pair|question|item|row|q)s?[ _.-]?)?(id|idx|index|no|nr|num|number)[.]?", re.IGNORECASE
)


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


def is_number_of_row(name: str) -> bool:
    """Whether a column's name says that it numbers the rows; pandas gives such a column no name."""
    return _ROW_NUMBER.fullmatch(name) is not None


def numbered(names: Sequence[str], endings: Iterable[tuple[str, str]] = (("1", "2"),)) -> list[tuple[int, int]]:
    """The columns that are named alike but for an ending: ``word1`` and ``word2``."""
    folded = [re.sub(r"[ _.-]+", "", name).casefold() for name in names]
    return [
        (first, second)
        for one, two in endings
        for first, name in enumerate(folded)
        for second, other in enumerate(folded)
        if name.endswith(one) and other.endswith(two) and name[: -len(one)] == other[: -len(two)]
    ]


def shown(names: Sequence[str]) -> str:
    """The columns of a header in a message."""
    return listed((f"'{name if len(name) <= 30 else f'{name[:30]}...'}'" for name in names), 12)


def column_of(given: Column, names: Sequence[str], option: str, place: str) -> int:
    """The number of the column that a user names.

    Raises
    ------
    TypeError
        If it is neither a name nor a number.
    ValueError
        If there is no such column, or there are several; the message lists those that there are.
    """
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise TypeError(f"{option} must be the name of a column, or its number from 0; got {given!r:.80}")
    if isinstance(given, int):
        if not 0 <= given < len(names):
            raise ValueError(f"{place}: {option}={given}, but the columns are 0 to {len(names) - 1}: {shown(names)}")
        return given
    exact = [i for i, name in enumerate(names) if name == given]
    found = exact or [i for i, name in enumerate(names) if name.casefold() == given.strip().casefold()]
    if len(found) != 1:
        raise ValueError(
            f"{place}: {option}={given!r:.80} names {'several columns' if found else 'no column'}; "
            f"the columns are {shown(names)}"
        )
    return found[0]
