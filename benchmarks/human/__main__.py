"""The command line: ``run`` trains and measures, ``report`` prints the table in Markdown."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from benchmarks import common
from benchmarks.human.report import page
from benchmarks.human.settings import JOINT, SETTINGS
from benchmarks.senses.runner import append_records, read_records


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except (ValueError, TypeError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.human", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="run | report")
    run = commands.add_parser("run", help="train and measure; what the results hold already is not run again")
    run.set_defaults(command=_run)
    run.add_argument("--corpus", required=True, metavar="FILE", help="a text, one sentence a line, plain or compressed")
    run.add_argument("--data", type=Path, metavar="FOLDER", help="that holds eval/; default $MUSE_DATA")
    run.add_argument("--tokens", type=common.at_least(0), default=0, metavar="N", help="the first N only; 0: all")
    run.add_argument("--dims", nargs="+", type=common.at_least(1), default=[100], metavar="D")
    run.add_argument("--seeds", type=common.at_least(1), default=3, metavar="N", help="seeds 1 to N")
    run.add_argument(
        "--settings",
        nargs="+",
        choices=[*SETTINGS, *JOINT],
        default=list(SETTINGS),
        help=f"default: {', '.join(SETTINGS)}",
    )
    run.add_argument("--threads", type=common.at_least(1), default=os.cpu_count() or 1)
    run.add_argument("--dry-run", action="store_true", help="only list the cells")
    report = commands.add_parser("report", help="print means and spreads over seeds")
    report.set_defaults(command=_report)
    for command in (run, report):
        command.add_argument("--out", type=common.out_file, default=common.RESULTS / "human.jsonl", metavar="FILE",
                             help="the results; default: benchmarks/results/human.jsonl")  # fmt: skip
    return parser


def _run(options: argparse.Namespace) -> int:
    from benchmarks.human.cells import Cell, Data, Grown, execute

    if options.data is not None:
        os.environ["MUSE_DATA"] = str(options.data)
    data = Data()
    text = common.plain_corpus(options.corpus, options.tokens)
    place = (text, Path(options.corpus).name.split(".")[0], common.digest(text), options.tokens)
    cells = [
        Cell(name, *place, dims, seed + 1, options.threads, data)
        for dims, seed, name in product(options.dims, range(options.seeds), options.settings)
    ]
    if options.dry_run:
        print("\n".join(f"{cell.key}  {cell}" for cell in cells))
        return 0
    options.out.parent.mkdir(parents=True, exist_ok=True)
    done = {record["key"] for record in read_records(options.out)}
    todo = [cell for cell in cells if cell.key not in done]
    print(f"{len(cells)} cells, {len(cells) - len(todo)} of them done before", flush=True)
    failed, grown = 0, Grown()
    for number, cell in enumerate(todo, 1):  # one at a time: the times are compared
        try:
            found = execute(cell, grown)
        except Exception:  # one bad cell must not end a night's run
            print(f"FAILED: {cell}\n{traceback.format_exc()}", file=sys.stderr, flush=True)
            failed += 1
            continue
        append_records(options.out, [common.plain(found)])
        took = "cut" if found.get("cut of") else f"{found.get('seconds', 0.0):.1f} s"
        said = found.get("error") or f"graded {found['scores']['graded']:.1f}, {took}"
        print(f"[{number}/{len(todo)}] {cell}: {said}", flush=True)
    return 1 if failed else 0


def _report(options: argparse.Namespace) -> int:
    print(page(read_records(options.out), options.out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
