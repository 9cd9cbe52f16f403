"""``python -m tests.breakers.faults run [FAULT ...]`` and ``python -m tests.breakers.faults table FILE``."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from . import changing, company, damage, kills, shortages
from .record import read_results, write_results

# What came of a try, or several things with how often each did.
Fault = Callable[[np.random.Generator, Path], str | dict[str, int]]

FAULTS: dict[str, tuple[Fault, str]] = {
    "kill-training": (kills.training, "kill -9 while training and checkpointing"),
    "kill-saving": (kills.saving, "kill -9 while saving over a model"),
    "kill-reading": (kills.reading, "kill -9 while a corpus spills to the disk"),
    "ctrl-c": (kills.interrupted, "Ctrl-C while training"),
    "disk-saving": (shortages.full_disk_while_saving, "the disk is full while saving over a model"),
    "disk-checkpoint": (shortages.full_disk_while_checkpointing, "the disk is full while checkpointing"),
    "disk-spilling": (shortages.full_disk_while_spilling, "the disk is full while a corpus spills"),
    "memory": (shortages.memory_limit, "the memory limit is reached while reading, training or saving"),
    "callback": (company.broken_callback, "an exception in a callback"),
    "iterator": (company.broken_iterator, "an exception or a wrong type in the user's iterator"),
    "threads": (company.two_trainings, "two trainings and queries at once in one process"),
    "changes": (changing.changed_by_threads, "three threads change one model while a fourth asks it"),
    "fork": (company.forks_while_training, "fork while a thread trains"),
    "left-behind": (company.left_behind, "the main thread ends while daemon threads train, read and ask"),
    "readers": (company.many_readers, "four processes load a file that a fifth saves over"),
    "damaged-model": (damage.damaged_file, "bits flipped, pieces zeroed, ends cut in a model file"),
    "damaged-checkpoint": (damage.damaged_checkpoint, "a byte changed in a checkpoint"),
}


def run_fault(name: str, tries: int, seed: int, first: int = 0) -> dict[str, Any]:
    """What came of some tries: how often which outcome, and all failures with the command that repeats them."""
    fault = FAULTS[name][0]
    outcomes: Counter[str] = Counter()
    failures: list[str] = []
    start = time.perf_counter()
    for number in range(first, first + tries):
        with tempfile.TemporaryDirectory(prefix="muse-fault-") as folder:
            try:
                outcome = fault(np.random.default_rng([seed, number]), Path(folder))
                outcomes.update(outcome if isinstance(outcome, dict) else [outcome])
            except Exception:
                again = f"python -m tests.breakers.faults run {name} --tries 1 --seed {seed} --first {number}"
                failures.append(f"{again}\n{traceback.format_exc()}")
    seconds = round(time.perf_counter() - start, 1)
    return {
        "fault": name, "what": FAULTS[name][1], "tries": tries, "seed": seed, "seconds": seconds,
        "outcomes": dict(outcomes.most_common()), "failures": failures,
    }  # fmt: skip


def table(results: list[dict[str, Any]]) -> str:
    """The rows of docs/reliability.md."""
    lines = ["| fault | tries | what happened | failures | command |", "| --- | --- | --- | --- | --- |"]
    for row in results:
        outcomes = "; ".join(f"{count}× {outcome}" for outcome, count in row["outcomes"].items())
        command = f"`python -m tests.breakers.faults run {row['fault']} --tries {row['tries']}`"
        lines.append(f"| {row['what']} | {row['tries']} | {outcomes} | {len(row['failures'])} | {command} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.breakers.faults", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="inject faults")
    run.add_argument("faults", nargs="*", metavar="FAULT", help=f"all, or some of {', '.join(FAULTS)}")
    run.add_argument("--tries", type=int, default=100)
    run.add_argument("--seed", type=int, default=1)
    run.add_argument("--first", type=int, default=0, help="number of the first try")
    run.add_argument("--json", type=Path, help="add the results to this file")
    shown = commands.add_parser("table", help="print results as Markdown")
    shown.add_argument("file", type=Path)
    args = parser.parse_args()
    if args.command == "table":
        print(table(read_results(args.file)["faults"]))
        return 0
    unknown = sorted(set(args.faults) - set(FAULTS))
    if unknown:
        parser.error(f"there is no fault {unknown[0]!r}; there are {', '.join(FAULTS)}")
    failed = False
    for name in args.faults or FAULTS:
        result = run_fault(name, args.tries, args.seed, args.first)
        print(f"{name}: {result['tries']} tries in {result['seconds']} s: {result['outcomes']}", flush=True)
        for failure in result["failures"]:
            print(f"FAILED\n{failure}", file=sys.stderr, flush=True)
        failed = failed or bool(result["failures"])
        if args.json is not None:
            results = read_results(args.json)
            rows = [row for row in results["faults"] if row["fault"] != name] + [result]
            results["faults"] = sorted(rows, key=lambda row: list(FAULTS).index(row["fault"]))
            write_results(args.json, results)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
