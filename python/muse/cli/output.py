"""What commands print: text for people, in colour where there is a terminal, or JSON for programs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["Output", "plain"]


def plain(value: Any) -> Any:
    """A value in the types of JSON."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else str(value)


_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def _harmless(text: str) -> str:
    """Text of any number of lines, in which a terminal finds nothing to obey, whatever words a model has."""
    return _OBEYED.sub(lambda found: repr(found.group())[1:-1], text)


def readable(text: str) -> str:
    """Text on one line whatever it holds: what a terminal would obey is spelt out."""
    return text if text.isprintable() else repr(text)[1:-1]


class Output:
    """Standard output.

    Parameters
    ----------
    as_json : bool
        Whether records are printed, and no text; else text, and no records.
    """

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        self._begun = False

    def record(self, record: Mapping[str, Any]) -> None:
        """Print a JSON object on a line of its own, at once, so that a program behind a pipe can answer it."""
        if self.as_json:
            self._print(json.dumps(plain(record), ensure_ascii=False, allow_nan=False), flush=True)

    def line(self, text: str = "", style: str = "") -> None:
        """Print a line of text; `style` is one of rich, for a terminal."""
        if self.as_json:
            return
        text = _harmless(text)
        if style and self.is_terminal:
            self._console().print(text, style=style, highlight=False, markup=False, soft_wrap=True)
        else:
            self._print(text)

    def gap(self) -> None:
        """Print an empty line between two answers."""
        if self._begun:
            self.line()
        self._begun = True

    def table(
        self, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str] | Sequence[str], title: str = ""
    ) -> None:
        """Print rows; `columns` are their keys, with a format such as ``".0%"`` for each.

        On a terminal the last column is wrapped to its width; elsewhere a line is a row.
        """
        if self.as_json:
            return
        formats = columns if isinstance(columns, Mapping) else dict.fromkeys(columns, "")
        cells = [[_cell(row.get(name), kind) for name, kind in formats.items()] for row in rows]
        right = [
            bool(rows) and all(isinstance(row.get(name), int | float | np.number | None) for row in rows)
            for name in formats
        ]
        names, title = list(map(readable, formats)), readable(title)
        if self.is_terminal:
            self._draw(names, cells, right, title)
            return
        if title:
            self._print(title)
        widths = [max(len(line[i]) for line in [names, *cells]) for i in range(len(formats))]
        for line in [names, *cells]:
            parts = [
                f"{cell:>{width}}" if number else f"{cell:<{width}}"
                for cell, width, number in zip(line, widths, right, strict=True)
            ]
            self._print("  ".join(parts).rstrip())

    @property
    def is_terminal(self) -> bool:
        """Whether a person looks on who can see colours."""
        return not self.as_json and sys.stdout is not None and sys.stdout.isatty()

    def _draw(self, columns: list[str], cells: list[list[str]], right: list[bool], title: str) -> None:
        from rich.table import Table
        from rich.text import Text

        table = Table(title_justify="left", box=None, header_style="bold", pad_edge=False)
        table.title = Text(title) if title else None  # no markup, whatever words it holds
        for name, number in zip(columns, right, strict=True):
            table.add_column(Text(name), justify="right" if number else "left", no_wrap=name != columns[-1])
        for line in cells:
            table.add_row(*map(Text, line))
        self._console().print(table)

    def _console(self) -> Any:
        from rich.console import Console

        return Console(file=sys.stdout)

    def _print(self, text: str, flush: bool = False) -> None:
        try:
            print(text, flush=flush)
        except UnicodeEncodeError:  # another encoding than UTF-8, or bytes that are none
            encoding = sys.stdout.encoding or "ascii"
            print(text.encode(encoding, "backslashreplace").decode(encoding), flush=flush)


def _cell(value: Any, kind: str) -> str:
    if value is None or isinstance(value, bool):
        return {None: "-", True: "yes", False: "no"}[value]
    if isinstance(value, str):
        return readable(value)
    return (
        format(value, kind or (".3f" if isinstance(value, float) else ""))
        if isinstance(value, int | float)
        else str(value)
    )
