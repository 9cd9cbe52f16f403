"""The command line: ``study``, ``report``, ``faults`` and ``speed``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks import common

OUT = common.RESULTS / "distributed.jsonl"


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    options.command(options)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.distributed", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="study | report | faults | speed")
    study = commands.add_parser("study", help="train with simulated workers and measure; what is there is left out")
    study.set_defaults(command=_study)
    study.add_argument("--corpus", required=True, metavar="FILE", help="a text, one sentence a line")
    study.add_argument("--tokens", type=common.at_least(1), default=None, metavar="N", help="the first N only")
    study.add_argument("--grid", choices=("small", "large"), default="small",
                       help="rows for some millions of tokens, or for some tens of them")  # fmt: skip
    study.add_argument("--cache", type=Path, required=True, metavar="FOLDER")
    study.add_argument("--out", type=common.out_file, default=OUT, metavar="FILE")
    faults = commands.add_parser("faults", help="kill workers and schedulers at random")
    faults.set_defaults(command=_faults)
    faults.add_argument("--corpus", required=True, metavar="FILE", help="a text, one sentence a line")
    faults.add_argument("--workers", type=int, default=50, metavar="N", help="kills of workers")
    faults.add_argument("--schedulers", type=int, default=10, metavar="N", help="kills of the scheduler")
    faults.add_argument("--epochs", type=common.at_least(1), default=3)
    faults.add_argument("--out", type=common.out_file, default=OUT, metavar="FILE")
    speed = commands.add_parser("speed", help="one thread, and processes on this machine")
    speed.set_defaults(command=_speed)
    speed.add_argument("--corpus", required=True, metavar="FILE", help="a text, one sentence a line")
    speed.add_argument("--workers", type=common.at_least(1), default=2)
    speed.add_argument("--epochs", type=common.at_least(1), default=5)
    speed.add_argument("--dim", type=common.at_least(1), default=100)
    speed.add_argument("--interval", type=common.at_least(1), default=None, help="tokens; default: that of train")
    speed.add_argument("--out", type=common.out_file, default=OUT, metavar="FILE")
    report = commands.add_parser("report", help="print the study and the cost model in Markdown")
    report.set_defaults(command=_report)
    report.add_argument("--out", type=common.out_file, default=OUT, metavar="FILE")
    return parser


def _study(options: argparse.Namespace) -> None:
    from benchmarks.distributed.study import run_all

    options.cache.mkdir(parents=True, exist_ok=True)
    run_all(options.grid, options.corpus, options.tokens, options.cache, options.out)


def _faults(options: argparse.Namespace) -> None:
    from benchmarks.distributed.faults import run

    run(options.corpus, options.workers, options.schedulers, options.epochs, options.out)


def _speed(options: argparse.Namespace) -> None:
    from benchmarks.distributed.speed import run

    run(options.corpus, options.workers, options.epochs, options.dim, options.interval, options.out)


def _report(options: argparse.Namespace) -> None:
    from benchmarks.distributed import cost, report

    print(report.page(options.out))
    print(cost.table())


if __name__ == "__main__":
    raise SystemExit(main())
