"""What bfloat16 does to quality: the pseudo-word score of models trained with it, with floats, and on the CPU.

Without a device the emulation of the kernels (tests/emulation/) gives the same answer, slowly: 6,000 tokens a second.
Copy it into the package as if it were the backend, and take a small part of a text:

    cmake --workflow --preset emulation && cp build/emulation/src/cuda/_cuda*.so python/muse/
    python -m benchmarks.gpu_storage --generated 3000        # or --corpus text.txt --limit-tokens 300000
    rm python/muse/_cuda*.so
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from benchmarks import common
from muse import MUSE, Engine, Split, cuda
from muse.datasets import make_ambiguous_corpus
from muse.evaluation import PseudoWordTask

COLUMNS = {"where": "trained", "v_measure": "V-measure", "ari": "ARI", "collapsed": "collapsed", "seconds": "s"}
PLACES: dict[str, dict[str, Any]] = {
    "CPU": {"device": "cpu"},
    "device, float32": {"device": "cuda"},
    "device, bfloat16": {"device": "cuda", "recipe": Split(engine=Engine(device_storage="bfloat16"))},
}


def measure(corpus: dict[str, Any], task: PseudoWordTask, options: dict[str, Any], seed: int) -> dict[str, Any]:
    start = time.perf_counter()
    model = MUSE(**corpus, seed=seed, workers=1, **options)
    seconds = time.perf_counter() - start
    scores = task(model).summary
    return {**{name: float(scores[name]) for name in ("v_measure", "ari", "collapsed")}, "seconds": seconds}


def text(arguments: argparse.Namespace) -> tuple[dict[str, Any], PseudoWordTask]:
    """The corpus as an argument of the model, and the task that scores it."""
    if arguments.generated:
        made = make_ambiguous_corpus(arguments.generated, arguments.generated // 15, seed=0)
        return {"sentences": made.sentences}, PseudoWordTask.from_corpus(made)
    if not arguments.corpus:
        raise SystemExit("give --corpus or --generated")
    pseudo = common.pseudo_word_corpus(common.plain_corpus(arguments.corpus, arguments.limit_tokens), arguments.pairs)
    return {"corpus_file": pseudo.corpus}, pseudo.task


def summary(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row a place, with means and deviations over seeds."""
    rows = []
    for place in PLACES:
        mine = [cell for cell in cells if cell["where"] == place]
        if mine:
            names = ("v_measure", "ari", "collapsed", "seconds")
            rows.append({"where": place, **{name: common.mean_sd([cell[name] for cell in mine]) for name in names}})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    common.add_arguments(parser, corpus_required=False)
    parser.add_argument(
        "--generated", type=common.at_least(1), metavar="N", help="N generated sentences in place of a corpus"
    )
    parser.add_argument("--seeds", type=common.at_least(1), default=3)
    parser.add_argument("--vector-size", type=common.at_least(1), default=100)
    parser.add_argument("--epochs", type=common.at_least(1), default=3)
    parser.add_argument("--pairs", type=common.at_least(1), default=40)
    arguments = parser.parse_args()
    print(cuda.describe_device())
    corpus, task = text(arguments)
    folder = common.results_dir(arguments)
    settings = {"vector_size": arguments.vector_size, "epochs": arguments.epochs}
    cells: list[dict[str, Any]] = []
    for seed in range(1, arguments.seeds + 1):
        for place, options in PLACES.items():
            cells.append({"where": place, "seed": seed, **measure(corpus, task, {**options, **settings}, seed)})
            print(cells[-1], flush=True)
            if folder is not None:
                head = common.stamp(
                    "benchmarks.gpu_storage", tokens=arguments.limit_tokens, generated=arguments.generated, **settings
                )
                found = {**head, "device": cuda.describe_device(), "cells": cells}
                common.write_json(folder / "gpu_storage.json", found)
    print(common.markdown_table(summary(cells), COLUMNS))


if __name__ == "__main__":
    common.command(main)
