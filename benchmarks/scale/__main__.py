"""``python -m benchmarks.scale text|run``: a long text, and a training on it that is measured."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path

from benchmarks import common
from benchmarks.scale.report import page, summary
from benchmarks.scale.run import measure, train
from benchmarks.scale.text import lengthen, read_base
from muse.base.limits import usable_cores


def make_parser() -> argparse.ArgumentParser:
    """The command's options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    text = commands.add_parser("text", help="write a long text")
    text.add_argument("--corpus", type=Path, required=True, help="the text that it is made of, one sentence a line")
    text.add_argument("--tokens", type=common.at_least(1), required=True)
    text.add_argument("--text", type=common.out_file, required=True, help="the file to write")
    text.add_argument("--seed", type=common.at_least(0), default=1)
    run = commands.add_parser("run", help="train on a text, and say what it took")
    run.add_argument("--corpus", type=Path, required=True)
    run.add_argument("--dims", type=common.at_least(1), nargs="+", default=[100])
    run.add_argument("--epochs", type=common.at_least(1), default=1)
    run.add_argument("--min-count", type=common.at_least(1), default=5)
    run.add_argument("--senses", type=common.at_least(1), help="default: as the package has it")
    run.add_argument("--workers", type=common.at_least(1), default=usable_cores())
    run.add_argument("--max-ram", type=common.at_least(0), help="bytes of encoded text in memory")
    run.add_argument("--every", type=common.at_least(1), default=100_000_000, help="tokens between checkpoints")
    run.add_argument("--kill-at", type=_share, help="kill the process after this share of the training, and resume")
    run.add_argument("--discount", type=float, default=0.61, help="the power with which the vocabulary grows")
    run.add_argument("--out", type=common.out_folder, help="folder for the lines, checkpoints and the page")
    child = commands.add_parser("train", help="what run starts")
    child.add_argument("job")
    return parser


def _share(text: str) -> float:
    """The type of an option: a share of the whole."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < 1.0:
        raise argparse.ArgumentTypeError(f"must be a number between 0 and 1; got {text!r:.40}")
    return value


def main(argv: list[str] | None = None) -> None:
    """Run the command."""
    arguments = make_parser().parse_args(argv)
    if arguments.command == "train":
        train(json.loads(arguments.job))
    elif arguments.command == "text":
        base = read_base(arguments.corpus)
        made = lengthen(base, arguments.tokens, arguments.text, arguments.seed)
        print(f"{made.tokens:,} tokens, {made.words:,} words, {made.bytes / 1e6:,.0f} MB; discount {base.discount:.3f}")
    else:
        run(arguments)


def run(arguments: argparse.Namespace) -> None:
    """Train with each dimension, and write what it took."""
    folder = arguments.out or Path(tempfile.mkdtemp(prefix="muse-scale-"))
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for dim in arguments.dims:
        settings = {"vector_size": dim, "epochs": arguments.epochs, "min_count": arguments.min_count,
                    "workers": arguments.workers, "seed": 1}  # fmt: skip
        given = {"senses": arguments.senses, "max_ram": arguments.max_ram}
        job = {
            "corpus": str(arguments.corpus.absolute()), "every": arguments.every,
            "settings": settings | {name: value for name, value in given.items() if value is not None},
            "log": str((folder / f"lines-{dim}.jsonl").absolute()), "checkpoints": str(folder.absolute()),
        }  # fmt: skip
        load = os.getloadavg()[0]
        row = {**summary(measure(job, arguments.kill_at), job), "load": round((load + os.getloadavg()[0]) / 2, 1)}
        rows.append(row)
        print(json.dumps(common.plain(row)), flush=True)
    stamp = common.stamp("python -m benchmarks.scale run", corpus=arguments.corpus.name, rows=rows)
    common.write_page(folder, "scale", page(rows, stamp, arguments.discount), stamp)


if __name__ == "__main__":
    common.command(main)
