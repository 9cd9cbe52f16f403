"""Tables for notebooks: everything that a model holds is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from muse.base.text import one_line

__all__ = ["html_rows", "html_text"]


def html_text(text: object) -> str:
    """Text as HTML, on one line whatever it holds.

    Examples
    --------
    >>> html_text("<b>")
    '&lt;b&gt;'
    """
    return escape(one_line(str(text)))


def html_rows(
    caption: str | None, heads: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[int] = ()
) -> str:
    """A table of cells that are HTML already; the columns `numeric` stand to the right, the others to the left.

    Parameters
    ----------
    caption : str or None
        Text above the table, which is escaped.
    heads : sequence of str
        Text above the columns, which is escaped; none for a table of names and values.
    rows : iterable of sequences of str
        HTML.
    numeric : sequence of int
        Columns of numbers.
    """

    def line(tag: str, cells: Iterable[str]) -> str:
        way = ["right" if place in numeric else "left" for place in range(len(heads) or 2)]
        return "".join(
            f'<{tag} style="text-align: {side}">{cell}</{tag}>' for cell, side in zip(cells, way, strict=True)
        )

    head = f"<thead><tr>{line('th', map(escape, heads))}</tr></thead>\n" if heads else ""
    body = "\n".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    named = "" if caption is None else f'<caption style="text-align: left"><b>{html_text(caption)}</b></caption>\n'
    return f"<table>\n{named}{head}<tbody>\n{body}\n</tbody>\n</table>"
