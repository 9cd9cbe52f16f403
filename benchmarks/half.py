"""What would rows of 16 bits be worth? ``python -m benchmarks.half``.

The step of training on the rows of U and V alone, as floats and as bfloat16 that is rounded at random when it is
written (benchmarks/half.cpp), in turn, in the processor's nanoseconds a pair. The draws, tables and counts of the
trainer are left out, so a whole run gains less. docs/performance.md ("Half the bytes") has what came of it, with the
scores and times of a trainer that had such rows.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
from pathlib import Path
from typing import Any

from benchmarks import common
from benchmarks.throughput.native import core_program
from muse import _core
from muse.base.limits import usable_cores

SOURCE = common.ROOT / "benchmarks" / "half.cpp"
RESULTS = common.RESULTS / "half.jsonl"


def measure(
    words: int, dim: int, group: int, threads: int, rounds: int = 5, milliseconds: int = 1000
) -> dict[str, Any]:
    """Nanoseconds of the processor a pair of each round, and how many times as fast rows of 16 bits are by medians."""
    asked = [words, dim, group, threads, rounds, milliseconds]
    done = subprocess.run([core_program(SOURCE), *map(str, asked)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"half.cpp: {done.stderr.strip()}")
    found: dict[str, Any] = json.loads(done.stdout)
    ratio = statistics.median(found["float32"]) / statistics.median(found["bfloat16"])
    return {"record": "rows", **found, "ratio": ratio, "isa": _core.isa(), "load": os.getloadavg()[0]}


def line(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the table."""
    medians = {name: f"{statistics.median(row[name]):.0f}" for name in ("float32", "bfloat16")}
    return {**{name: row[name] for name in ("words", "dim", "group", "threads", "ratio")}, **medians}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.half", description=__doc__)
    count = common.at_least(1)
    parser.add_argument("--words", type=count, nargs="+", default=[30_000, 1_000_000], help="rows of each matrix")
    parser.add_argument("--dims", type=count, nargs="+", default=[100, 300])
    parser.add_argument("--groups", type=count, nargs="+", default=[1, 16], help="targets that share their negatives")
    parser.add_argument("--threads", type=count, nargs="+", default=sorted({1, usable_cores()}))
    parser.add_argument("--rounds", type=count, default=5)
    parser.add_argument("--out", type=common.out_file, help=f"file to append rows to, such as {RESULTS.name}")
    given = parser.parse_args(argv)
    rows = []
    for words, dim, group, threads in itertools.product(given.words, given.dims, given.groups, given.threads):
        rows.append(measure(words, dim, group, threads, given.rounds))
        if given.out is not None:
            append(given.out, rows[-1])
    print(common.markdown_table([line(row) for row in rows], list(line(rows[0]))))


def append(path: Path, row: dict[str, Any]) -> None:
    """One more line of JSON."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(common.plain(row)) + "\n")


if __name__ == "__main__":
    common.command(main)
