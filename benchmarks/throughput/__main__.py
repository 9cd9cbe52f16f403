"""The command line."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import benchmarks.throughput
from benchmarks import common, tagging
from benchmarks.throughput import plan, stages
from benchmarks.throughput.native import NotAvailableError, machine_limits
from benchmarks.throughput.report import page, paper_rows, plot, scaling_rows, summarise, sweep_rows
from benchmarks.throughput.rounds import COMMON, Rounds
from benchmarks.throughput.systems import RUNNERS, add_programs, run_here
from muse.base.limits import usable_cores

PARTS = ("table", "scaling", "paper", "tagging", "stages", "sweeps")


def measure(arguments: argparse.Namespace, rounds: Rounds) -> dict[str, Any]:
    """All parts that were asked for."""
    start, tokens, repeats = time.perf_counter(), arguments.limit_tokens, arguments.repeats
    settings, parts = arguments.settings, arguments.parts
    head = common.stamp(
        "python -m benchmarks.throughput" + " --quick" * arguments.quick, tokens=tokens, repeats=repeats,
        text="Zipf" if arguments.corpus is None else "natural", **COMMON,
    )  # fmt: skip
    limits = _limits([1, *arguments.workers])
    peak = limits["1"]["gflops"] if limits else None
    runs = rounds.run(plan.table(tokens, settings, repeats, arguments.systems)) if "table" in parts else []
    scaled = rounds.run(plan.scaling(tokens, settings, repeats, arguments.workers)) if "scaling" in parts else []
    paper = rounds.run(plan.paper(tokens, repeats)) if "paper" in parts else []
    swept = rounds.run(plan.sweeps(tokens, max(1, repeats // 2))) if "sweeps" in parts else []
    tagged = tagging.measure(rounds.text(tokens), arguments.tagging) if "tagging" in parts else []
    return {
        **head,
        "limits": limits,
        "left_out": rounds.left_out,
        "table": summarise(runs, peak),
        "scaling": scaling_rows(scaled),
        "paper": paper_rows(summarise(paper, peak)),
        "tagging": tagged,
        "stages": _stages(rounds.text(tokens)) if "stages" in parts else {},
        "sweeps": sweep_rows(swept),
        "runs": runs + scaled + paper + swept,
        "minutes": (time.perf_counter() - start) / 60,
    }


def _limits(threads: list[int]) -> dict[str, Any]:
    """What some cores can do together; nothing where nothing can be compiled."""
    try:
        return {str(count): machine_limits(count) for count in sorted(set(threads))}
    except NotAvailableError as error:
        print(f"no limits of the machine: {error}", file=sys.stderr)
        return {}


def _stages(text: Path) -> dict[str, dict[str, float]]:
    """Where the cycles go; nothing where that cannot be told."""
    if not stages.has_symbols() or shutil.which("perf") is None:
        print("no stages: that needs perf, and an extension with symbols, see benchmarks.throughput.stages",
              file=sys.stderr)  # fmt: skip
        return {}
    return stages.measure(text)


def _setting(text: str) -> tuple[int, int]:
    dim, _, negative = text.partition("x")
    return int(dim), int(negative)


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.throughput", description=(benchmarks.throughput.__doc__ or "").split("\n", 1)[0]
    )
    cores = usable_cores()
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="the headline rows alone, on less text: two minutes")
    parser.add_argument("--corpus", help="text file, one sentence a line; without it, Zipf-distributed words")
    parser.add_argument("--limit-tokens", type=common.at_least(1), default=plan.TOKENS, metavar="N", help="of the text")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--settings", type=_setting, nargs="+", default=plan.SETTINGS, metavar="DIMxNEGATIVES")
    parser.add_argument(
        "--workers", type=common.at_least(1), nargs="+", default=sorted({1, cores}), help="threads, for scaling"
    )
    parser.add_argument("--repeats", type=common.at_least(1), default=3)
    parser.add_argument("--systems", nargs="+", help=f"of the table; default: all of {', '.join(RUNNERS)}")
    parser.add_argument(
        "--program", action="append", default=[], metavar="NAME=PATH",
        help="time a program with the options of word2vec.c, too, such as a build of pWord2Vec",
    )  # fmt: skip
    parser.add_argument("--out", type=common.out_folder, help="folder for the results; default: benchmarks/results")
    parser.add_argument(
        "--runs",
        type=common.out_file,
        metavar="FILE",
        help="keep each run here; those that are there are not run again",
    )
    arguments = parser.parse_args(argv)
    if arguments.quick:
        programs = [named.partition("=")[0] for named in arguments.program]
        parser.set_defaults(**{**plan.QUICK, "systems": [*plan.QUICK["systems"], *programs]})
        arguments = parser.parse_args(argv)
    arguments.tagging = argparse.Namespace(tokens=arguments.limit_tokens, dim=300, senses=3, workers=1, rounds=5)
    return arguments


def main(argv: list[str] | None = None) -> None:
    arguments = parse(argv)
    if arguments.job:
        print(json.dumps(run_here(json.loads(arguments.job))))
        return
    add_programs(dict(named.split("=", 1) for named in arguments.program))
    result = measure(arguments, Rounds(arguments.corpus, arguments.runs))
    text = page(result)
    print(text)
    folder = arguments.out or (None if arguments.limit_tokens < plan.TOKENS else common.RESULTS)
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    common.write_page(folder, "throughput", text, result)
    plot(result["sweeps"], result["scaling"], folder / "throughput.svg")


if __name__ == "__main__":
    common.command(main)
