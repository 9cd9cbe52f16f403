"""The command line: ``run`` a grid, print its ``table``, ``plot`` it."""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.common import RESULTS, at_least, cache_dir, data_dir, out_file
from benchmarks.senses.draws import SETS, DrawRules, make_draw
from benchmarks.senses.grids import GRIDS, Setting, load_grids, select
from benchmarks.senses.report import group_cells, print_tables
from benchmarks.senses.runner import read_records, run_cells
from benchmarks.senses.texts import Text
from muse.base.limits import usable_cores


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except (ValueError, TypeError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _tokens(text: str) -> int:
    """A number of tokens, such as 8e6."""
    tokens = float(text)
    if not 1 <= tokens < 1e15:
        raise argparse.ArgumentTypeError(f"must be at least 1; got {text!r:.40}")
    return int(tokens)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.senses", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="run | table | plot")
    run = commands.add_parser("run", help="run a grid; what the results hold already is not run again")
    run.set_defaults(command=_run)
    run.add_argument("--corpus", nargs="+", required=True, metavar="FILE", help="texts, plain or compressed")
    run.add_argument(
        "--tokens", nargs="+", type=_tokens, metavar="N", help="take only the first N tokens; several: each"
    )
    run.add_argument("--grid", nargs="+", default=["default"], metavar="GRID",
                     help=f"{', '.join(GRIDS)}, or a .json or .py file")  # fmt: skip
    run.add_argument("--only", nargs="+", default=[], metavar="PART", help="only settings whose label holds a PART, "
                     "and those whose time they take")  # fmt: skip
    run.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="change these options in all settings")
    run.add_argument("--trace", action="store_true", help="score the pseudo-words after every epoch")
    run.add_argument("--seeds", nargs="+", type=at_least(0), default=[1, 2, 3])
    run.add_argument("--draws", nargs="+", default=["dev"], help="dev (1 2 3), confirm (11 12 13), or numbers")
    run.add_argument("--paired", action="store_true", help="the first seed with the first draw, and so on, not all")
    run.add_argument("--pairs", type=at_least(1), default=80, help="pseudo-words of a draw")
    run.add_argument("--counts", nargs=2, type=at_least(1), metavar=("LOW", "HIGH"),
                     help="counts of the words; by default 300 to 3000 for 8M tokens, in proportion")  # fmt: skip
    run.add_argument("--max-cosine", type=float, default=0.2, metavar="C",
                     help="of the words of a pair, in a plain word model; 1: any")  # fmt: skip
    run.add_argument("--bands", type=at_least(1), default=1, help="of frequency, each of which gives as many pairs")
    run.add_argument("--uneven", action="store_true", help="pair rare words with frequent ones, as senses mostly are")
    run.add_argument(
        "--occurrences", type=at_least(0), default=2000, help="scored of each pseudo-word, at most; 0: all"
    )
    run.add_argument("--jobs", type=at_least(1), default=1, help="cells at a time")
    run.add_argument("--threads", type=at_least(1), help="of a cell; by default the cores shared out among the jobs")
    run.add_argument("--no-eval", action="store_true", help="score pseudo-words alone")
    run.add_argument("--spare", action="store_true", help="merge no words of SCWS and of the word similarity sets")
    run.add_argument("--cache", type=Path, help="for encoded texts; default $MUSE_CACHE, or the user's cache directory")
    run.add_argument("--out", type=out_file, default=RESULTS / "senses.jsonl")
    run.add_argument("--dry-run", action="store_true", help="only list the cells")
    for name, command, text in (("table", _table, "print means and spreads"), ("plot", _plot, "write PNGs beside it")):
        shown = commands.add_parser(name, help=text)
        shown.set_defaults(command=command)
        shown.add_argument("results", type=Path)
        shown.add_argument("--only", nargs="+", default=[], metavar="PART", help="only labels that hold a PART")
        shown.add_argument(
            "--draws",
            metavar="SET",
            choices=[*SETS, "other", *(f"{name}, uneven" for name in SETS)],
            help="only these draws",
        )
        if name == "table":
            shown.add_argument("--style", choices=["text", "markdown", "csv"], default="text")
            shown.add_argument("--against", default="default", metavar="LABEL", help="whose V the gains are over")
    return parser


def _run(options: argparse.Namespace) -> int:
    from benchmarks.senses.cells import Cell

    settings = _settings(options)
    draws = [n for name in options.draws for n in (SETS[name] if name in SETS else (int(name),))]
    if options.paired and len(draws) != len(options.seeds):
        raise ValueError(f"--paired needs as many draws as seeds; got {draws} and {options.seeds}")
    places = list(zip(draws, options.seeds, strict=True) if options.paired else product(draws, options.seeds))
    counts = tuple(options.counts) if options.counts else None
    rules = DrawRules(options.pairs, counts, options.max_cosine, options.bands, options.uneven, options.spare)
    folder = options.cache or cache_dir()
    common = {
        "occurrences": options.occurrences or None,
        "evaluate": not options.no_eval and _has_evaluation_data(),
        "cache": folder,
        "threads": options.threads or max(1, usable_cores() // options.jobs),
    }
    cells = []
    for path, tokens in product(options.corpus, options.tokens or [None]):
        text = Text.load(path, folder, tokens)
        made = {number: make_draw(text, number, rules, folder) for number in dict.fromkeys(draws)}
        cells += [
            Cell(setting, str(path), tokens, made[number], seed, **common)
            for number, seed in places
            for setting in settings
        ]
    if options.dry_run:
        print("\n".join(f"{cell.key}  {cell}" for cell in cells))
        return 0
    return 1 if run_cells(cells, options.out, options.jobs) else 0


def _settings(options: argparse.Namespace) -> list[Setting]:
    changes: dict[str, Any] = {}
    for change in options.set:
        name, equals, value = change.partition("=")
        if not equals:
            raise ValueError(f"--set takes name=value; got {change!r}")
        try:
            changes[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            changes[name] = value
    return select([s.changed(changes, options.trace) for s in load_grids(options.grid)], options.only)


def _has_evaluation_data() -> bool:
    try:
        return data_dir().is_dir()
    except FileNotFoundError as error:
        print(f"only pseudo-words are scored: {error}", file=sys.stderr)
        return False


def _table(options: argparse.Namespace) -> int:
    print_tables(_groups(options), options.style, options.against)
    return 0


def _plot(options: argparse.Namespace) -> int:
    from benchmarks.senses.plots import write_plots

    for path in write_plots(_groups(options), options.results):
        print(path)
    return 0


def _groups(options: argparse.Namespace) -> list[Any]:
    groups = group_cells(read_records(options.results), options.only, options.draws)
    if not groups:
        raise ValueError(f"{options.results} holds no such cells")
    return groups


if __name__ == "__main__":
    sys.exit(main())
