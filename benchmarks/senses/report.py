"""One tidy table of a results file: means and spreads over seeds and draws for each setting."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any, NamedTuple

from muse.evaluation.results import format_table

__all__ = ["Group", "group_cells", "latest", "print_tables"]

Record = Mapping[str, Any]


class Group(NamedTuple):
    """The cells of one text and set of draws, by label in the order of the file."""

    text: str
    draws: str
    cells: dict[str, list[Record]]


def _score(name: str) -> Callable[[Record], Any]:
    return lambda record: record.get("scores", {}).get(name)


def _senses(words: str) -> Callable[[Record], Any]:
    return lambda record: record.get("senses", {}).get(words, {}).get("mean_uses")


def _split(record: Record) -> float | None:
    has = record.get("senses", {}).get("control", {}).get("has", {})
    return 1 - has.get("1", 0) / sum(has.values()) if has else None


def _last(name: str) -> Callable[[Record], Any]:
    return lambda record: record["history"][-1][name] if record.get("history") else None


COLUMNS: dict[str, Callable[[Record], Any]] = {
    "V": _score("v_measure"),
    "ARI": _score("ari"),
    "purity": _score("purity"),
    "neighbours": _score("neighbours"),
    "used": _score("effective_senses"),
    "collapsed": _score("collapsed"),
    "senses": _senses("pseudo"),
    "control": _senses("control"),
    "split": _split,  # share of the control words
    "calibration": lambda record: record.get("calibration", {}).get("calibration_error"),
    "MaxSimC": _score("SCWS MaxSimC"),
    "AvgSimC": _score("SCWS AvgSimC"),
    "MaxSim": _score("SCWS MaxSim"),
    "AvgSim": _score("SCWS AvgSim"),
    "globalSim": _score("SCWS globalSim"),
    "WS-353": _score("WordSim-353"),
    "SimLex": _score("SimLex-999"),
    "MEN": _score("MEN"),
    "task 13 V": _score("SemEval-2013 v_measure"),
    "F": _score("SemEval-2013 paired_f"),
    "fuzzy NMI": _score("SemEval-2013 fuzzy_nmi"),
    "fuzzy B³": _score("SemEval-2013 fuzzy_b_cubed"),
    "WiC": _score("WiC accuracy"),
    "|P|": _last("context_norm"),
    "|Q|": _last("selection_norm"),
    "seconds": lambda record: record.get("seconds"),
    "ktok/s": lambda record: record["tokens_per_second"] / 1e3 if "tokens_per_second" in record else None,
}
_COARSE = {"|P|", "|Q|", "seconds", "ktok/s"}  # one decimal


def latest(records: Iterable[Record]) -> list[Record]:
    """Of cells that were run more than once, by other code, the last."""
    found: dict[tuple[Any, ...], Record] = {}
    for record in records:
        if record["record"] == "cell":
            which = ("text", "tokens", "pairs", "seed", "label")
            place = tuple(record[name] for name in which)
            found.pop(place, None)
            found[place] = record
    return list(found.values())


def group_cells(records: Iterable[Record], only: Sequence[str] = (), draws: str | None = None) -> list[Group]:
    """Cells by text and set of draws; `only` those whose label holds one of these strings."""
    groups: dict[tuple[str, str], Group] = {}
    for record in latest(records):
        wanted = not only or any(part in record["label"] for part in only)
        if wanted and draws in (None, record["draws"]):
            place = record["text"], record["draws"]
            groups.setdefault(place, Group(*place, {})).cells.setdefault(record["label"], []).append(record)
    for group in groups.values():  # what was trained before what was only measured along with it
        ordered = sorted(group.cells.items(), key=lambda item: "settings" not in item[1][0])
        group.cells.clear()
        group.cells.update(ordered)
    return list(groups.values())


def spread(values: Iterable[Any], digits: int = 3) -> str:
    """Mean ± standard deviation, of those values that there are."""
    numbers = [float(value) for value in values if value is not None]
    if not numbers:
        return "-"
    mean = f"{fmean(numbers):.{digits}f}"
    return mean if len(numbers) < 2 else f"{mean} ±{stdev(numbers):.{digits}f}"


def difference(cells: Iterable[Record], base: Iterable[Record]) -> str:
    """Mean ± standard error of V against another setting on the same draws and seeds."""
    value = COLUMNS["V"]
    there = {(record["pairs"], record["seed"]): value(record) for record in base}
    pairs = [(value(record), there.get((record["pairs"], record["seed"]))) for record in cells]
    gains = [mine - other for mine, other in pairs if mine is not None and other is not None]
    if not gains:
        return "-"
    return f"{fmean(gains):+.3f}" + (f" ±{stdev(gains) / len(gains) ** 0.5:.3f}" if len(gains) > 1 else "")


def share(cells: Iterable[Record], limits: Iterable[Record]) -> str:
    """Mean V in percent of the limit's, on the draws that have both."""
    value = COLUMNS["V"]
    of_draw: dict[Any, list[float]] = {}
    for record in limits:
        of_draw.setdefault(record["pairs"], []).append(value(record))
    pairs = [(v, fmean(of_draw[cell["pairs"]])) for cell in cells
             if cell["pairs"] in of_draw and (v := value(cell)) is not None]  # fmt: skip
    return f"{fmean(v for v, _ in pairs) / fmean(limit for _, limit in pairs):.0%}" if pairs else "-"


def rows_of(group: Group, against: str) -> list[dict[str, str]]:
    """The table of a group as text."""
    limits = [cell for label, cells in group.cells.items() if label.startswith("supervised on windows")
              for cell in cells]  # fmt: skip
    rows = []
    for label, cells in group.cells.items():
        row = {"setting": label, "cells": str(len(cells))}
        failed = sum("error" in cell for cell in cells)
        if failed:
            row["cells"] += f" ({failed} diverged)"
        for name, value in COLUMNS.items():
            row[name] = spread(map(value, cells), 1 if name in _COARSE else 3)
            if name == "V":
                row["of limit"] = share(cells, limits)
                row["V gain"] = difference(cells, group.cells.get(against, [])) if label != against else "-"
        rows.append(row)
    empty = [name for name in rows[0] if all(row[name] == "-" for row in rows)]
    return [{name: text for name, text in row.items() if name not in empty} for row in rows]


def print_tables(groups: Sequence[Group], style: str, against: str) -> None:
    """Print every group as text, Markdown or CSV."""
    for group in groups:
        rows = rows_of(group, against)
        if style == "csv":
            writer = csv.DictWriter(sys.stdout, ["text", "draws", *rows[0]])
            writer.writeheader()
            writer.writerows({"text": group.text, "draws": group.draws, **row} for row in rows)
            continue
        print(f"\n{'### ' if style == 'markdown' else ''}{group.text}, {group.draws} draws\n")
        print(_markdown(rows) if style == "markdown" else format_table(rows))
    versions = {cell["code"] for group in groups for cells in group.cells.values() for cell in cells}
    if style != "csv":
        print(f"\nMean ± standard deviation over draws and seeds; V gain: over {against!r} on the same draw and seed, ")
        print("± standard error; of limit: V as a share of the supervised one; senses, control: senses in use of")
        print("pseudo-words and of unmerged words as frequent.")
    if len(versions) > 1:
        print(f"Note: these cells come from {len(versions)} versions of the code.", file=sys.stderr)


def _markdown(rows: Sequence[Mapping[str, str]]) -> str:
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
