"""The result object that every evaluation returns."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.base.html import html_rows, html_text
from muse.base.optional import needed

__all__ = ["EvaluationResult", "format_table", "html_table"]

_SHOWN = 4  # measures in a repr


def _plain(value: Any) -> Any:
    """Numpy scalars, arrays and paths as plain Python values, so that a result is JSON as it stands."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def format_table(rows: Sequence[Mapping[str, Any]], columns: Iterable[str] | None = None) -> str:
    """Lay rows out as text columns: floats with three digits, ``None`` as a dash, numbers to the right.

    Examples
    --------
    >>> print(format_table([{"measure": "V", "value": 0.25}, {"measure": "pairs", "value": 80}]))
    measure  value
    V        0.250
    pairs       80
    """
    names = _names(rows, columns)
    cells = [[_cell(row.get(name)) for name in names] for row in rows]
    widths = [max([len(name), *(len(line[i]) for line in cells)]) for i, name in enumerate(names)]
    right = _numeric(rows, names)

    def line(parts: Sequence[str]) -> str:
        pairs = zip(parts, widths, right, strict=True)
        return "  ".join(part.rjust(width) if flush else part.ljust(width) for part, width, flush in pairs).rstrip()

    return "\n".join([line(names), *(line(row) for row in cells)])


def html_table(rows: Sequence[Mapping[str, Any]], columns: Iterable[str] | None = None) -> str:
    """The rows of :func:`format_table` as an HTML table, for notebooks."""
    names = _names(rows, columns)
    right = [place for place, numeric in enumerate(_numeric(rows, names)) if numeric]
    return html_rows(None, names, ([html_text(_cell(row.get(name))) for name in names] for row in rows), numeric=right)


def _names(rows: Sequence[Mapping[str, Any]], columns: Iterable[str] | None) -> list[str]:
    return list(columns) if columns is not None else list(dict.fromkeys(key for row in rows for key in row))


def _numeric(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[bool]:
    """Which columns stand to the right."""
    return [all(not isinstance(row.get(name), str) for row in rows) for name in names]


@dataclass(repr=False)
class EvaluationResult:
    """What an evaluation found: prints as a table, carries its settings, converts to a dict or a pandas frame.

    Its measures can be read as those of a dict: ``result["rho"]``, ``"rho" in result``, ``result.get("rho")``,
    ``for name in result``, ``len(result)``, ``dict(result)``, which is ``result.to_dict()["summary"]``. Only ``items``
    is another thing, see below; ``result.summary.items()`` goes through names and values.

    Attributes
    ----------
    task : str
        What was evaluated, such as ``"SCWS"``.
    score_name : str
        Key of ``summary`` that is *the* score; :attr:`score` and ``float(result)`` give its value.
    summary : dict
        Measure name to number. No value is ever NaN: what cannot be computed is ``None``, and ``notes`` says why.
    table : list of dict
        The rows that ``print(result)`` shows.
    items : list of dict
        One row for each pair, question or word, with what the model said about it.
    settings : dict
        The options under which the figures were obtained.
    notes : list of str
        What a reader must know beside the figures: coverage, undefined measures.
    curves : dict of str to list of dict
        Further tables by their titles, such as a reliability curve, which ``print(result)`` shows below.

    Examples
    --------
    >>> result = EvaluationResult("demo", "accuracy", {"accuracy": 0.75, "questions": 4})
    >>> float(result)
    0.75
    >>> print(result)
    demo
    measure    value
    accuracy   0.750
    questions      4
    >>> result
    <EvaluationResult demo: accuracy=0.750, questions=4>
    >>> "accuracy" in result, dict(result)
    (True, {'accuracy': 0.75, 'questions': 4})
    """

    task: str
    score_name: str
    summary: dict[str, Any]
    table: list[dict[str, Any]] = field(default_factory=list)
    items: list[dict[str, Any]] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    curves: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.summary = _plain(self.summary)
        self.table = _plain(self.table) or [{"measure": key, "value": value} for key, value in self.summary.items()]
        self.items = _plain(self.items)
        self.settings = _plain(self.settings)
        self.curves = _plain(self.curves)
        for key, value in self.summary.items():
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{self.task}: {key} came out as {value}; a measure must be a finite number or None")
        if not isinstance(self.summary.get(self.score_name), int | float):
            raise ValueError(f"{self.task}: the score {self.score_name!r} is not a number in {sorted(self.summary)}")

    @property
    def score(self) -> float:
        """The one number by which runs are compared; higher is better."""
        return float(self.summary[self.score_name])

    def __float__(self) -> float:
        return self.score

    def __getitem__(self, measure: str) -> Any:
        """The value of a measure, as ``result["MaxSimC"]``."""
        if measure not in self.summary:
            raise KeyError(f"{self.task} has no measure {measure!r}; it has {', '.join(self.summary)}")
        return self.summary[measure]

    def __contains__(self, measure: object) -> bool:
        return measure in self.summary

    def __iter__(self) -> Iterator[str]:
        return iter(self.summary)

    def __len__(self) -> int:
        return len(self.summary)

    def keys(self) -> KeysView[str]:
        """The names of the measures."""
        return self.summary.keys()

    def values(self) -> ValuesView[Any]:
        """The values of the measures."""
        return self.summary.values()

    def get(self, measure: str, default: Any = None) -> Any:
        """The value of a measure, or `default` where there is none of that name."""
        return self.summary.get(measure, default)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.score, dtype=dtype)  # so that numpy.mean(results) is the mean of their scores

    def __repr__(self) -> str:
        names = [self.score_name, *(name for name in self.summary if name != self.score_name)]
        shown = [f"{name}={_cell(self.summary[name])}" for name in names[:_SHOWN]]
        more = [f"{len(names) - _SHOWN} more measures"] if len(names) > _SHOWN else []
        rows = [f"{len(self.items)} items"] if self.items else []
        return f"<{type(self).__name__} {self.task}: {', '.join([*shown, *more, *rows])}>"

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        tables = {self.task: self.table, **self.curves}
        shown = [f"<p><b>{escape(title)}</b></p>\n{html_table(rows)}" for title, rows in tables.items()]
        return "\n".join([*shown, *([f"<ul>{notes}</ul>"] if notes else [])])

    def __str__(self) -> str:
        lines = [self.task, format_table(self.table)]
        for title, rows in self.curves.items():
            lines += [title, format_table(rows)]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def to_dict(self, items: bool = False) -> dict[str, Any]:
        """The result as plain Python values, ready for ``json.dump``.

        Parameters
        ----------
        items : bool
            Also include the row of each pair, question or word.
        """
        content = {
            "task": self.task,
            "score_name": self.score_name,
            "score": self.score,
            "summary": dict(self.summary),
            "table": self.table,
            "settings": dict(self.settings),
            "notes": list(self.notes),
            "curves": self.curves,
        }
        return {**content, "items": self.items} if items else content

    def to_json(self, items: bool = False) -> str:
        """:meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(items=items), indent=2, ensure_ascii=False, allow_nan=False)

    def to_pandas(self, which: str = "items") -> Any:
        """The rows as a ``pandas.DataFrame``.

        Parameters
        ----------
        which : {"items", "table"}
            Each pair, question or word; or the rows that are printed.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        if which not in ("items", "table"):
            raise ValueError(f"which must be 'items' or 'table', got {which!r}")
        pandas = needed("pandas", "to_pandas")
        return pandas.DataFrame(self.items if which == "items" else self.table)
