"""One picture of three panels: throughput against dimension, threads and vocabulary, beside gensim.

``python -m benchmarks.throughput.picture`` draws words by Zipf's law, trains every system with each value, in turn and
in a process of its own, and draws the medians. Dimension and vocabulary are run with one thread, by processor time;
threads by the clock. A text of more words is longer, so that they occur. It takes about five minutes on a quiet
machine; with ``--runs FILE`` one that was stopped goes on from there.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import common
from benchmarks.throughput.rounds import Planned, Rounds
from benchmarks.throughput.systems import REFERENCE
from muse.base.limits import usable_cores

SYSTEMS = ("muse, one sense, shared negatives", "muse, one sense, negatives of each pair", REFERENCE)
LABELS = {"vector_size": "dimension", "workers": "threads", "words": "words of the vocabulary"}
COLUMNS = {"swept": "against", "system": "system", "x": "value", "mpairs": "10⁶ pairs a second", "runs": "runs"}
_USUAL = {"vector_size": 100, "negative": 5, "workers": 1}
_WORDS = 50_000


class _ZipfRounds(Rounds):
    """Rounds on a text of words drawn from so many."""

    def __init__(self, words: int, kept: Path | None) -> None:
        super().__init__(None, kept)
        self._words = words

    def text(self, tokens: int) -> Path:
        return common.zipf_corpus(tokens, self._words)


def plan(swept: str, values: Sequence[int], tokens: int, repeats: int, systems: Sequence[str]) -> list[Planned]:
    """The runs of a panel: all systems with each value, in turn."""
    planned = []
    for value in values:
        longer = 1 if swept == "vector_size" else max(4, value // _WORDS if swept == "words" else 0)
        for system in systems:
            job = {"system": system, **_USUAL, "min_count": 1, "swept": swept, "value": value}
            if swept != "words":
                job[swept] = value
            planned.append(Planned(job, tokens * min(longer, 10), repeats))
    return planned


def measure(options: argparse.Namespace) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """A row for each system and value, and why systems were left out."""
    panels = {"vector_size": options.dims, "workers": options.threads, "words": options.words}
    runs: list[dict[str, Any]] = []
    left_out: dict[str, str] = {}
    for swept, values in panels.items():
        for value in values:  # of a panel: each number of words has a text of its own
            rounds = _ZipfRounds(value if swept == "words" else _WORDS, options.runs)
            wanted = [system for system in options.systems if system not in left_out]
            runs += rounds.run(plan(swept, [value], options.tokens, options.repeats, wanted))
            left_out |= rounds.left_out
    return rows_of(runs), left_out


def rows_of(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Medians, in the order of the runs."""
    groups: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for run in runs:
        groups.setdefault((run["swept"], run["system"], run["value"]), []).append(run)
    known = {run["value"]: run["words"] for run in runs if run["swept"] == "words" and "words" in run}
    rows = []
    for (swept, system, value), same in groups.items():
        clock = "seconds" if swept == "workers" else "cpu_seconds"
        speed = median(run["pairs"] / run[clock] for run in same) / 1e6
        x = known.get(value, value) if swept == "words" else value
        rows.append({"swept": swept, "system": system, "x": x, "mpairs": speed, "runs": len(same)})
    return rows


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """The picture, as SVG; the same rows make the same file."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams["svg.hashsalt"] = "muse"
    figure = Figure(figsize=(10.5, 3.4))
    for panel, (swept, label) in zip(figure.subplots(1, len(LABELS)), LABELS.items(), strict=True):
        mine = [row for row in rows if row["swept"] == swept]
        for system in dict.fromkeys(row["system"] for row in mine):
            line = sorted((row["x"], row["mpairs"]) for row in mine if row["system"] == system)
            panel.plot(*zip(*line, strict=True), marker="o", label=system)
        panel.set_xlabel(label)
        panel.set_ylim(bottom=0)
        if swept == "words":
            panel.set_xscale("log")
        elif swept == "workers":
            panel.set_xticks(sorted({row["x"] for row in mine}))
        panel.set_ylabel("10⁶ pairs a second" + (", by the clock" if swept == "workers" else " of one core"))
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="lower center", ncols=len(SYSTEMS), fontsize=8)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    figure.savefig(path, metadata={"Date": None})


def main(argv: list[str] | None = None) -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.throughput.picture", description=__doc__)
    whole = common.at_least(1)
    cores = usable_cores()
    doubled = sorted({1, cores, *(1 << n for n in range(1, cores.bit_length()) if 1 << n <= cores)})
    parser.add_argument("--dims", type=whole, nargs="+", default=[50, 100, 200, 300, 500])
    parser.add_argument("--threads", type=whole, nargs="+", default=doubled)
    parser.add_argument("--words", type=whole, nargs="+", default=[2_000, 20_000, 200_000, 1_000_000])
    parser.add_argument("--tokens", type=whole, default=200_000, help="of the text of the smallest run")
    parser.add_argument("--repeats", type=whole, default=2)
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS))
    parser.add_argument("--runs", type=common.out_file, metavar="FILE", help="keep each run here; none is run twice")
    parser.add_argument("--out", type=common.out_folder, help="folder for the results; default: benchmarks/results")
    options = parser.parse_args(argv)
    start = time.perf_counter()
    rows, left_out = measure(options)
    stamp = common.stamp("python -m benchmarks.throughput.picture", tokens=options.tokens, repeats=options.repeats)
    folder = options.out or common.RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    print(common.markdown_table(rows, COLUMNS))
    minutes = (time.perf_counter() - start) / 60
    result = {**stamp, "minutes": minutes, "left_out": left_out, "rows": rows}
    common.write_json(folder / "throughput-picture.json", result)
    draw(rows, folder / "throughput-picture.svg")


if __name__ == "__main__":
    common.command(main)
