"""The rows of the study and of the faults as tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["page"]

_SCORES = {"SCWS MaxSimC": "SCWS", "WordSim-353": "WordSim", "MEN": "MEN", "V": "V"}


def page(path: Path) -> str:
    """All tables in Markdown."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    study = [row for row in rows if row["record"] == "study"]
    faults = [row for row in rows if row["record"] == "faults"]
    tables = [_study([row for row in study if row.get("grid", "small") == grid]) for grid in ("small", "large")]
    return "\n\n".join("\n".join(lines) for lines in [*tables, _faults(faults)])


def _study(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| workers | combined every | rule | rate | one begins with | numbers | seed | "
        + " | ".join(_SCORES.values())
        + " | MB a round |",
        "| --- " * (8 + len(_SCORES)) + "|",
    ]
    order = sorted(rows, key=lambda row: (row["senses"], row["parts"], row["rule"] != "agreement", row["rule"],
                                          row["interval"], row["rate"], row["seed"]))  # fmt: skip
    for row in order:
        scores = row.get("scores", {})
        shown = [f"{scores[name]:.3f}".lstrip("0") if name in scores else "–" for name in _SCORES]
        if "error" in row:
            shown = ["diverges", *["–"] * (len(_SCORES) - 1)]
        alone = row["parts"] == 1
        lines.append("| " + " | ".join([
            str(row["parts"]), "–" if alone else _interval(row), "–" if alone else row["rule"],
            f"{row['rate']:g}", "–" if not row["warm_up"] else f"{row['warm_up'] / 1e6:g}M",
            "–" if alone else row["wire"], str(row["seed"]), *shown,
            "–" if alone or "moved" not in row else f"{row['moved'] / 1e6:.0f}",
        ]) + " |")  # fmt: skip
    return list(dict.fromkeys(lines))  # a single part is the same with all numbers


def _interval(row: dict[str, Any]) -> str:
    often, rows = row.get("often", 1), row.get("frequent", 0)
    every = f"{row['interval'] // 1000}k"
    return f"{every}, {rows} rows; all every {row['interval'] * often // 1000}k" if rows else every


def _faults(rows: list[dict[str, Any]]) -> list[str]:
    lines = ["| what | runs | kills | tokens exact | same bits | stretches repeated | back to a checkpoint |",
             "| --- | --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    for what in dict.fromkeys(row["what"] for row in rows):
        these = [row for row in rows if row["what"] == what]
        totals = [
            sum(row[name] for row in these) for name in ("kills", "is_exact", "same_bits", "repeated", "went_back")
        ]
        lines.append(f"| {what} | {len(these)} | " + " | ".join(map(str, totals)) + " |")
    return lines
