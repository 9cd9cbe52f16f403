"""Texts, plans and clusters for the tests of training on several machines."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from muse import _core
from muse.corpus.encoding import encode_corpus
from muse.data.recipe_parts import Engine
from muse.data.recipes import Trees
from muse.data.settings import Settings
from muse.distributed.plan import Plan, ShardSize
from muse.distributed.replica import Work

SETTINGS: dict[str, Any] = {
    "vector_size": 8, "min_count": 2, "sample": 0.0, "epochs": 2, "seed": 3,
    "recipe": Trees(engine=Engine(batch_tokens=64)),
}  # fmt: skip


def lines(count: int = 600, words: int = 60, seed: int = 1) -> list[str]:
    """Sentences of words whose frequencies fall as in a text; those of one half have neighbours of that half."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(count):
        drawn = np.minimum(rng.zipf(1.3, int(rng.integers(3, 15))), words) * 2 + i % 2
        found.append(" ".join(f"w{word}" for word in drawn))
    return found


def write_text(folder: Path, name: str = "text.txt", **about: Any) -> Path:
    path = folder / name
    path.write_text("\n".join(lines(**about)) + "\n")
    return path


def settings(**other: Any) -> Settings:
    return Settings.of(**{**SETTINGS, **other})


def sizes_of(shards: list[_core.Corpus], batch_tokens: int = 64) -> list[ShardSize]:
    return [
        ShardSize(shard.n_tokens, len(_core.batch_boundaries(shard, batch_tokens)) - 1, shard.n_sentences)
        for shard in shards
    ]


def prepared(
    folder: Path, *, cuts: tuple[int, ...] = (), interval: int = 500, warm_up: int = 0, rate: float = 1.0, **other: Any
) -> tuple[Work, list[_core.Corpus], Plan]:
    """Work, shards (a text cut at these sentences) and a plan."""
    made = settings(**other)
    vocabulary, corpus = encode_corpus(corpus_file=write_text(folder), min_count=made.min_count, workers=1)
    limits = [0, *cuts, corpus.n_sentences]
    shards = []
    for first, last in pairwise(limits):
        offsets = corpus.offsets[first : last + 1]
        shards.append(_core.Corpus.from_arrays(corpus.tokens[offsets[0] : offsets[-1]], offsets - offsets[0]))
    plan = Plan(sizes_of(shards), made.epochs, interval, warm_up)
    return Work(made, vocabulary, made.epochs, rate, 1, "int16", plan.first_tokens), shards, plan


@contextmanager
def cluster(workers: int) -> Iterator[Any]:
    """A client of a cluster of processes."""
    from muse.distributed.cluster import local_cluster

    with local_cluster(workers) as client:
        yield client


def kill_one(client: Any, which: int = 0) -> None:
    """End a worker's process without a word."""
    pids = client.run(os.getpid)
    os.kill(pids[sorted(pids)[which % len(pids)]], signal.SIGKILL)
