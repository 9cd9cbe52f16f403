"""The words of a text that lies in shards, and its sizes: what a training must know before it begins."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from muse.data.settings import Settings
from muse.data.trimming import VocabularyRules
from muse.data.vocabulary import Vocabulary
from muse.distributed import counting, tasks
from muse.distributed.cluster import Cluster, Lost
from muse.distributed.plan import ShardSize
from muse.distributed.replica import reduce_deltas
from muse.distributed.sources import Shard
from muse.distributed.tasks import Job
from muse.errors import NoWordsError

__all__ = ["count_words", "encode_shards", "repeated"]

logger = logging.getLogger("muse")

T = TypeVar("T")

_ATTEMPTS = 5


def repeated(cluster: Cluster, ask: Callable[[int], T]) -> T:
    """What `ask` returns, which is told for the how manieth time it is asked, since workers were lost before.

    Raises
    ------
    ConnectionError
        If that happens again and again.
    """
    for attempt in itertools.count():
        try:
            return ask(attempt)
        except Lost as lost:
            if attempt + 1 >= _ATTEMPTS:
                raise ConnectionError(f"the cluster keeps losing its workers: {lost}") from lost
            logger.warning("%s; once more", lost)
            cluster.wait_for_workers()
    raise AssertionError


def count_words(cluster: Cluster, run: str, shards: Sequence[Shard], settings: Settings, most: int) -> Vocabulary:
    """Count each shard where a worker reads it, put the tables together two by two, and keep what `settings` keep.

    Parameters
    ----------
    cluster : Cluster
    run : str
        The training's name.
    shards : sequence of Shard
    settings : Settings
    most : int
        Words in the memory of a worker.
    """

    def ask(attempt: int) -> counting.Table:
        numbers = itertools.count()

        def submit(task: Any, *args: Any) -> Any:
            return cluster.submit(task, *args, key=f"muse-{task.__name__}-{run}-{attempt}-{next(numbers)}")

        tables = [submit(counting.count_shard, shard, most) for shard in shards]
        left = reduce_deltas(tables, lambda one, other: submit(counting.join_tables, one, other, most))
        joined = left[0] if len(left) == 1 else submit(counting.join_tables, *left, most)
        table: counting.Table = cluster.result(submit(counting.kept, joined, settings.min_count), direct=True)
        return table

    table = repeated(cluster, ask)
    if not table.raw_tokens:
        raise NoWordsError("the sources hold no words: only blank lines, or nothing")
    rules = VocabularyRules(settings.min_count, settings.max_final_vocab, None, settings.sorted_vocab)
    vocabulary, _ = rules.select(table.words, table.counts, table.raw_tokens, None)
    logger.info("%d words of %d tokens", len(vocabulary), table.raw_tokens)
    return vocabulary


def encode_shards(cluster: Cluster, job: Job) -> list[ShardSize]:
    """Encode each shard on the disk of a worker, about the one that will train on it."""

    def ask(attempt: int) -> list[ShardSize]:
        shared, there, count = cluster.spread(job), cluster.wait_for_workers(), len(job.shards)
        keys = [f"muse-encode-{job.run}-{attempt}-{number}" for number in range(count)]
        homes = [there[number * len(there) // count] for number in range(count)]
        asked = [
            cluster.submit(tasks.encode, shared, number, key=key, home=home)
            for number, (key, home) in enumerate(zip(keys, homes, strict=True))
        ]
        return [cluster.result(future) for future in asked]

    return repeated(cluster, ask)
