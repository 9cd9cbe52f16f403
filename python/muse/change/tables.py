"""Answers about change as tables: they print, are drawn, and convert to plain values and pandas frames."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from muse.base.figures import new_axes
from muse.base.optional import needed
from muse.evaluation.results import format_table, html_table

__all__ = ["ChangeTable", "ShareTable", "Table"]

_SHOWN = 25  # rows of a long table that are printed


class Table(Sequence[dict[str, Any]]):
    """Rows of one question's answer, each a dict of plain values; ``print(table)`` shows the first of them.

    Parameters
    ----------
    title : str
        What it tells.
    rows : list of dict
        All with the same keys.
    """

    def __init__(self, title: str, rows: list[dict[str, Any]]) -> None:
        self.title, self.rows = title, rows

    def __getitem__(self, place: Any) -> Any:
        return self.rows[place]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __str__(self) -> str:
        if not self.rows:
            return f"{self.title}\nnone"
        left = [f"... and {len(self.rows) - _SHOWN} more"] if len(self.rows) > _SHOWN else []
        return "\n".join([self.title, format_table(self.rows[:_SHOWN]), *left])

    def _repr_html_(self) -> str:
        return html_table(self.rows[:_SHOWN]) if self.rows else "none"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.title!r}: {len(self.rows)} rows>"

    def to_dict(self) -> dict[str, Any]:
        """The title and the rows, ready for JSON."""
        return {"title": self.title, "rows": [dict(row) for row in self.rows]}

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def to_pandas(self) -> Any:
        """The rows as a ``pandas.DataFrame``; an ImportError where pandas is not installed."""
        return needed("pandas", "to_pandas").DataFrame(self.rows)


class ShareTable(Table):
    """Shares of a word's senses in each slice, with intervals: a row for each slice and sense.

    The keys of a row are ``slice``, ``sense`` (``"cell#2"``), ``share``, ``low`` and ``high`` (None where the slice has
    no use of the word), ``tagged`` (the share of the uses that are tagged as the sense, as they were counted),
    ``uses`` (so tagged), and ``near`` (its nearest words in the compass).
    """

    def plot(self, ax: Any = None) -> Any:
        """Draw the shares over the slices, with their intervals, with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where; a new figure, if not given.

        Returns
        -------
        matplotlib axes

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = new_axes(ax, "drawing shares", (6.4, 4.8))
        slices = list(dict.fromkeys(row["slice"] for row in self.rows))
        for sense in dict.fromkeys(row["sense"] for row in self.rows):
            mine = [row for row in self.rows if row["sense"] == sense and row["share"] is not None]
            places = [slices.index(row["slice"]) for row in mine]
            shares = [row["share"] for row in mine]
            label = f"{sense}  {mine[0]['near']}" if mine and mine[0]["near"] else sense
            line = ax.plot(places, shares, marker="o", label=label)[0]
            ax.fill_between(places, [row["low"] for row in mine], [row["high"] for row in mine],
                            color=line.get_color(), alpha=0.15, linewidth=0)  # fmt: skip
        ax.set_xticks(range(len(slices)), slices)
        ax.set_ylim(0, 1)
        ax.set_ylabel("share of the word's uses")
        ax.set_title(self.title)
        ax.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.08))  # over no line
        return ax


class ChangeTable(Table):
    """Words ranked by how far they changed between two slices, one a row.

    The keys of a row are ``word``, ``value`` (of the measure), ``expected`` (what chance makes of so few uses),
    ``excess`` (value less that, by which the rows are ordered), ``p`` (by permutation), ``q`` (the least rate of false
    discoveries at which the word is called changed), ``changed``, and ``uses_before`` and ``uses_after``.
    """

    @property
    def changed(self) -> list[str]:
        """The words that are called changed."""
        return [row["word"] for row in self.rows if row["changed"]]

    def scores(self) -> dict[str, float]:
        """The ``excess`` of each word."""
        return {row["word"]: row["excess"] for row in self.rows}
