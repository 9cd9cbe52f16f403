"""Tables of results: they print, show in notebooks, and go to files and to pandas."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from muse.base.checks import path_like
from muse.base.optional import needed
from muse.files.lines import is_compressed
from muse.files.replacing import replacing

__all__ = ["ResultTable", "aligned", "clipped", "shown", "width", "written"]

Row = TypeVar("Row", bound=tuple[Any, ...])

_DIGITS = 6  # of numbers in files
# Steers terminals and layout: control characters, marks of direction; line and paragraph separators.
_STEERING = {*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029,
             0x200E, 0x200F, 0x61C}  # fmt: skip
_HARMLESS = dict.fromkeys(_STEERING, "\N{REPLACEMENT CHARACTER}")


class ResultTable(Sequence[Row]):
    """Rows with names of columns.

    Attributes
    ----------
    columns : tuple of str
        The names.
    """

    columns: tuple[str, ...] = ()

    def to_pandas(self) -> Any:
        """The rows as a pandas data frame.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return needed("pandas", "a data frame").DataFrame(list(self), columns=list(self.columns))

    def to_csv(self, path: str | PathLike[str] | None = None) -> str | None:
        """Write the rows as CSV with a line of names; without a path, give the text.

        Raises
        ------
        ValueError
            If the path is named like a compressed file.
        OSError
            If it cannot be written.
        """

        def pieces() -> Iterator[str]:
            buffer = io.StringIO()
            writer = csv.writer(buffer, lineterminator="\n")
            writer.writerow(self.columns)
            for row in self:
                yield buffer.getvalue()
                buffer.seek(0)
                buffer.truncate()
                writer.writerow(map(_plain, row))
            yield buffer.getvalue()

        return written(path, pieces())

    def to_json_lines(self, path: str | PathLike[str] | None = None) -> str | None:
        """Write a JSON object a line, one for each row; without a path, give the text. Errors are those of `to_csv`."""
        rows = (dict(zip(self.columns, map(_plain, row), strict=True)) for row in self)
        return written(path, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def written(path: str | PathLike[str] | None, pieces: Iterable[str]) -> str | None:
    """Write a text to a file, which appears when it is complete; without a path, give it."""
    if path is None:
        return "".join(pieces)
    if is_compressed(Path(path_like("path", path))):
        raise ValueError(f"{path} is written as plain text; give a name that does not end in {Path(path).suffix}")
    with replacing(path) as file:
        for piece in pieces:
            file.write(piece.encode("utf-8"))
    return None


def _plain(value: Any) -> Any:
    return round(value, _DIGITS) if isinstance(value, float) else value


# -- text in a terminal ------------------------------------------------------------------------------------------------


def shown(text: str) -> str:
    """Text that steers no terminal, whatever a corpus holds."""
    return text if text.isascii() and text.isprintable() else text.translate(_HARMLESS)


def width(text: str) -> int:
    """Columns that a text takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(map(_letter_width, text))


def _letter_width(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in ("W", "F") else 1


def clipped(text: str, most: int, *, end: bool = False) -> str:
    """As much of the beginning of a text, or of its `end`, as fits into so many columns."""
    if width(text) <= most:
        return text
    letters, taken, room = (reversed(text) if end else iter(text)), [], most
    for letter in letters:
        room -= _letter_width(letter)
        if room < 0:
            break
        taken.append(letter)
    return "".join(reversed(taken) if end else taken)


def aligned(text: str, columns: int, *, right: bool = False) -> str:
    """Text filled up with spaces to so many columns."""
    space = " " * (columns - width(text))
    return space + text if right else text + space
