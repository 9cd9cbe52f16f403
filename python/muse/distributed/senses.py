"""From the words that a cluster has trained to a model: sense trees, from a sample of the text that workers send."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from muse import _core
from muse.data.arrays import Arrays
from muse.data.forest import Forest
from muse.data.settings import Settings
from muse.data.vocabulary import Vocabulary
from muse.distributed import tasks
from muse.distributed.cluster import Cluster
from muse.distributed.gathering import Passages, Sampling, uses_within
from muse.distributed.plan import ShardSize
from muse.distributed.tasks import Job
from muse.distributed.words import repeated
from muse.training.epochs import EpochTotals
from muse.training.growing import grow, growth_row

__all__ = ["gathered", "grown", "grows"]

logger = logging.getLogger("muse")


def grows(settings: Settings, vocabulary: Vocabulary) -> bool:
    """Whether some word is to have several senses."""
    return settings.init == "trees" and bool((settings.senses_of(vocabulary.words) > 1).any())


def gathered(
    cluster: Cluster, job: Job, sizes: list[ShardSize], most: int, stack: contextlib.ExitStack
) -> _core.Corpus:
    """A sample of the text, of about `most` tokens, in a file on this machine that goes when the stack ends."""
    settings, counts = job.work.settings, job.work.vocabulary.counts
    reach, tokens = max(settings.topic_window, settings.order_window), sum(size.tokens for size in sizes)
    a_sentence = tokens / max(sum(size.sentences for size in sizes), 1)
    # Longer sentences hold more of the uses, and passages may overlap.
    uses = uses_within(counts, settings.uses, min(2.0 * reach + 1.0, 1.5 * a_sentence), most)
    if uses < settings.uses:
        logger.warning("sense trees grow from about %d uses of a word instead of %d: give a higher most_tokens (%d) if "
                       "the disk of this machine allows it", uses, settings.uses, most)  # fmt: skip
    sampling = Sampling(uses, reach, settings.seed)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="muse-")))
    limits, end, shared = [np.zeros(1, np.int64)], 0, list[Any]()

    def passages_of(number: int, attempt: int) -> Passages:
        if attempt or not shared:
            shared[:] = [cluster.spread(job)]
        key = f"muse-gather-{job.run}-{attempt}-{number}"
        future = cluster.submit(tasks.gather_shard, shared[0], number, sampling, key=key)
        passages: Passages = cluster.result(future, direct=True)
        return passages

    with (folder / "tokens").open("wb") as file:
        for number in range(len(job.shards)):
            passages = repeated(cluster, lambda attempt, number=number: passages_of(number, attempt))  # type: ignore[misc]
            passages.tokens.tofile(file)
            limits.append(passages.offsets[1:] + end)
            end += len(passages.tokens)
    held = np.memmap(folder / "tokens", np.int32, "r") if end else np.zeros(0, np.int32)
    return _core.map_corpus(held, np.concatenate(limits))


def grown(
    arrays: Arrays, corpus: _core.Corpus, settings: Settings, vocabulary: Vocabulary, threads: int
) -> tuple[Forest, Arrays, dict[str, Any]]:
    """Sense trees from a sample of the text, the arrays of their senses, and a row for the history.

    How often each sense is used follows from the shares of a word's uses in the sample, and its count in the text.
    """
    start = time.perf_counter()
    forest, made, loss = grow(arrays, corpus, settings, vocabulary.words, threads)
    arrays = dataclasses.replace(made, sense_counts=forest.spread(vocabulary.counts))
    row = EpochTotals(arrays.n_senses, None, arrays.sense_counts).row(settings.epochs, "trees", (0.0, 0.0), arrays)
    return forest, arrays, growth_row(row, corpus, loss, time.perf_counter() - start)
