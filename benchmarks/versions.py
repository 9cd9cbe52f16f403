"""Is this checkout as fast as another one? Trains with both in turn and prints the ratios of medians.

    python -m benchmarks.versions OTHER --corpus TEXT [--tokens N] [--rounds N] [--settings NAME ...] [--out FILE]

OTHER is the folder of another checkout, built in place (``python/muse/_core*.so``). What is compared is the processor
time of training alone, one worker, each round in a process of its own, the order of the two changing each round, so
that other load on the machine falls on both.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["main"]

HERE = Path(__file__).resolve().parents[1]
SETTINGS = ("one sense", "one sense, negatives of each pair", "split, three senses", "split, auto", "paper")

# Runs under both versions: that of before recipes knew flat names.
_JOB = """
import json, logging, sys, time
logging.disable(logging.CRITICAL)
from muse import MUSE
try:
    from muse import Engine, Paper, Split
    made = {
        "one sense": {"senses": 1, "recipe": Split()},
        "one sense, negatives of each pair": {"senses": 1, "recipe": Split(engine=Engine(group_size=1))},
        "split, three senses": {"senses": 3, "recipe": Split()},
        "split, auto": {"recipe": Split()},
        "paper": {"recipe": Paper()},
    }
except ImportError:
    made = {
        "one sense": {"senses": 1},
        "one sense, negatives of each pair": {"senses": 1, "group_size": 1},
        "split, three senses": {"senses": 3},
        "split, auto": {},
        "paper": MUSE.paper_defaults(),
    }
name, path, epochs = sys.argv[1:]
options = {**made[name], "vector_size": 100, "epochs": int(epochs), "workers": 1, "seed": 1}
model = MUSE(**options)
model.build_vocab(corpus_file=path)
start = time.process_time()
model.train()
print(json.dumps(time.process_time() - start))
"""


def _seconds(checkout: Path, name: str, text: Path, epochs: int) -> float:
    environment = {**os.environ, "PYTHONPATH": str(checkout / "python"), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", _JOB, name, str(text), str(epochs)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name!r} did not train in {checkout}: {done.stderr[-2000:]}")
    return float(json.loads(done.stdout))


def _text(corpus: Path, tokens: int, out: Path) -> Path:
    """The first lines of a text, with so many tokens."""
    left = tokens
    with corpus.open(encoding="utf-8") as source, out.open("w", encoding="utf-8") as target:
        for line in source:
            target.write(line)
            left -= len(line.split())
            if left <= 0:
                break
    return out


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and print; 0 if all went well."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.versions", description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS), metavar="NAME")
    parser.add_argument("--out", type=Path, help="a file for the figures, as JSON")
    given = parser.parse_args(arguments)
    text = _text(given.corpus, given.tokens, Path(os.environ.get("TMPDIR", "/tmp")) / f"versions-{os.getpid()}.txt")
    trees = {"other": given.other.resolve(), "this": HERE}
    took: dict[str, dict[str, list[float]]] = {name: {"other": [], "this": []} for name in given.settings}
    try:
        for turn, name in itertools.product(range(given.rounds), given.settings):
            for which in list(trees) if turn % 2 else reversed(list(trees)):
                took[name][which].append(_seconds(trees[which], name, text, given.epochs))
    finally:
        text.unlink()
    print("| setting | processor seconds, other | this | this / other |\n| --- | --- | --- | --- |")
    for name, runs in took.items():
        other, this = (statistics.median(runs[which]) for which in ("other", "this"))
        print(f"| {name} | {other:.2f} | {this:.2f} | {this / other:.3f} |")
    if given.out:
        record = {"tokens": given.tokens, "epochs": given.epochs, "rounds": given.rounds, "seconds": took}
        given.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
