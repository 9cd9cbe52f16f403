"""Scores and speed of the trainer whose rows of U and V are bfloat16, where ``MUSE_HALF`` says how they are rounded.

python -m benchmarks.half_trainer scores --corpus first.txt --merged
python -m benchmarks.half_trainer steps --words 1000000

Words alone are trained with such rows (one sense a word, or the words of sense trees); all else is float32.
Rows go to benchmarks/results/half.jsonl.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import common
from benchmarks.human.cells import Data
from muse import MUSE, Engine, Settings, Split, _core
from muse.training.options import core_options

STORAGES = ("float32", "stochastic", "nearest")
COUNTED = 1e9  # tokens of the text whose counts words have


def store(storage: str) -> None:
    """How the next training stores its rows."""
    os.environ["MUSE_HALF"] = "" if storage == "float32" else storage


def scores(
    corpus: Path, dim: int, seed: int, storage: str, senses: int | None, merged: common.PseudoWords | None
) -> dict[str, Any]:
    """Train with one storage and score, on merged words too where there are any."""
    store(storage)
    text = corpus if merged is None else merged.corpus
    start = os.times()
    model = MUSE(corpus_file=text, vector_size=dim, seed=seed, senses=senses, workers=1, progress=False)
    end = os.times()
    found: dict[str, float] = {}
    if merged is not None:
        summary = merged.task.score(merged.task.select(model)).summary
        found = {f"merged words {name}": summary[name] for name in ("v_measure", "ari")}
    found |= Data().scores(model)
    return {
        "record": "scores", "text": corpus.name.split(".")[0], "merged": merged is not None, "senses": senses,
        "dim": dim, "seed": seed, "storage": storage, "loss": model.history[-1].get("loss"), "scores": found,
        "cpu_seconds": end.user - start.user + end.system - start.system, "load": os.getloadavg()[0],
    }  # fmt: skip


def zipf(words: int, tokens: int) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Tokens of a text by Zipf's law, where its sentences begin, and the counts that its words have."""
    weights = 1 / np.arange(1, words + 1)
    weights /= weights.sum()
    ids = np.searchsorted(np.cumsum(weights), np.random.default_rng(0).random(tokens)).astype(np.int32)
    counts = np.maximum(1, np.round(COUNTED * weights)).astype(np.int64)
    return np.minimum(ids, words - 1), np.append(np.arange(0, tokens, 20), tokens).astype(np.int64), counts


def trainer(words: int, dim: int, group: int, tokens: int) -> _core.Trainer:
    """One that trains words alone, on such a text."""
    ids, offsets, counts = zipf(words, tokens)
    settings = Settings.of(senses=1, vector_size=dim, recipe=Split(engine=Engine(group_size=group)))
    rng = np.random.default_rng(1)

    def matrix() -> NDArray[np.float32]:
        made = _core.aligned_zeros(words, dim)
        for first in range(0, words, 1 << 16):
            block = made[first : first + (1 << 16)]
            block[:] = (rng.random(block.shape, np.float32) - 0.5) / np.sqrt(dim)
        return made

    unused = [_core.aligned_zeros(words, 16, used=False) for _ in range(2)]
    return _core.Trainer(
        context_vectors=unused[0], selection_vectors=unused[1], sense_vectors=matrix(), collocation_vectors=matrix(),
        sense_offset=np.arange(words + 1, dtype=np.int64), word_counts=counts,
        corpus=_core.Corpus.from_arrays(ids, offsets), options=core_options(settings, 1), sample=settings.sample,
        ns_exponent=settings.ns_exponent, context_weights=np.empty(0, np.float32),
    )  # fmt: skip


def seconds_of(made: _core.Trainer, threads: int, storage: str) -> float:
    """Processor nanoseconds a pair of an epoch, without the conversion of rows before and after it."""
    store(storage)
    os.environ["MUSE_HALF_SECONDS"] = "1"
    with tempfile.TemporaryFile() as told:
        errors = os.dup(2)
        os.dup2(told.fileno(), 2)
        try:
            run = made.run(0, 0, made.num_batches, threads)
        finally:
            os.dup2(errors, 2)
            os.close(errors)
        told.seek(0)
        found = re.search(rb"SECONDS ([\d.]+)", told.read())
    assert found is not None, "the trainer does not say what it took"
    return float(found[1]) * 1e9 / run["pairs"]


def steps(words: int, dim: int, group: int, threads: int, tokens: int, rounds: int) -> dict[str, Any]:
    """Nanoseconds a pair with each storage, in turn."""
    made = trainer(words, dim, group, tokens)
    took: dict[str, list[float]] = {storage: [] for storage in STORAGES}
    for turn in range(rounds):
        for storage in STORAGES if turn % 2 else reversed(STORAGES):
            took[storage].append(seconds_of(made, threads, storage))
    ratio = statistics.median(took["float32"]) / statistics.median(took["stochastic"])
    return {
        "record": "trainer", "words": words, "dim": dim, "group": group, "threads": threads, "isa": _core.isa(),
        **took, "ratio": ratio, "load": os.getloadavg()[0],
    }  # fmt: skip


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.half_trainer", description=__doc__)
    parser.add_argument("what", choices=("scores", "steps"))
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--words", type=int, default=1_000_000)
    parser.add_argument("--dims", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--storages", nargs="+", choices=STORAGES, default=list(STORAGES))
    parser.add_argument("--senses", type=int, help="of a word; default: by sense trees")
    parser.add_argument("--merged", action="store_true", help="merge pairs of words, and score these too")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=common.RESULTS / "half.jsonl")
    given = parser.parse_args(argv)

    def note(row: dict[str, Any]) -> None:
        with given.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(common.plain(row)) + "\n")

    if given.what == "steps":
        for threads in given.threads:
            for dim in given.dims:
                for group in (1, 16):
                    tokens = (30_000_000 if group == 1 else 200_000_000) * threads // dim
                    note(steps(given.words, dim, group, threads, tokens, given.rounds))
        return
    for seed in given.seeds:
        merged = None
        if given.merged:
            merged = common.pseudo_word_corpus(given.corpus, seed=10 + seed, exclude=common.evaluation_words())
        for dim in given.dims:
            for storage in given.storages:
                note(scores(given.corpus, dim, seed, storage, given.senses, merged))


if __name__ == "__main__":
    common.command(main)
