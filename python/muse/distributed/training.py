"""`train`: a model from a text that lies on a cluster, or that one machine would take too long for."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import secrets
import tempfile
import time
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from muse.base.checks import integer, number, path_like
from muse.base.limits import usable_cores
from muse.base.optional import needed
from muse.base.progress import progress_bar
from muse.data.arrays import Arrays
from muse.distributed import checkpoints, tasks
from muse.distributed.asked import Asked, checked
from muse.distributed.changes import Wire
from muse.distributed.checkpoints import Stored
from muse.distributed.cluster import Cluster, check_client, local_cluster
from muse.distributed.plan import Plan
from muse.distributed.replica import Work
from muse.distributed.report import Report
from muse.distributed.rounds import Rounds
from muse.distributed.senses import gathered, grown, grows
from muse.distributed.sources import Shard, find_shards
from muse.distributed.tasks import Job
from muse.distributed.words import count_words, encode_shards
from muse.model.muse import MUSE
from muse.training.epochs import EpochTotals, log_row
from muse.training.initial import initial_arrays

__all__ = ["Trained", "train"]

logger = logging.getLogger("muse")


class Trained(NamedTuple):
    """What `train` returns.

    Attributes
    ----------
    model : MUSE
        As any other.
    report : Report
        What was trained where, and what went wrong on the way.
    """

    model: MUSE
    report: Report


def train(
    sources: Any,
    client: Any = None,
    *,
    column: str = "text",
    parts: int | None = None,
    interval: int | None = None,
    warm_up: int | None = None,
    rate: float | None = None,
    wire: Wire = "int16",
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_seconds: float = 300.0,
    patience: float = 60.0,
    shard_bytes: int | None = None,
    most_words: int = 20_000_000,
    most_tokens: int = 1_000_000_000,
    storage_options: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Trained:
    """Train a model on a Dask cluster.

    Each worker trains its part of the text; now and then what they changed is put together (docs/distributed.md, "the
    agreement rule"). Sense trees are then grown on this machine, from a sample of the text that the workers send.

    Parameters
    ----------
    sources : str, path-like, sequence of them, or dask.bag.Bag
        Files or patterns on any store that fsspec knows, such as ``"s3://bucket/*.txt.gz"``: UTF-8, one sentence a line
        (``.gz``, ``.bz2``, ``.xz`` and ``.zst`` as one shard each), or Parquet; or a bag of lines or lists of tokens.
        All workers must be able to read them.
    client : distributed.Client, optional
        Of the cluster. None: one of processes on this machine, which ends with the call.
    column : str
        Of Parquet files: strings, or lists of them.
    parts : int, optional
        Parts that the text is trained in at the same time. None: as many as there are workers when an epoch begins.
        With a number, and one thread a worker, the outcome does not depend on the workers: it is the same, bit for
        bit, whoever was lost on the way.
    interval : int, optional
        Tokens of a part between two times that changes are put together: fewer are better, and slower. None: a sixth of
        a part, or a third of one of two or three, and 30,000 at least.
    warm_up : int, optional
        Tokens at the beginning that one worker trains alone. None: two million, or a twentieth of all.
    rate : float, optional
        What the learning rate `alpha` is multiplied by. None: 2 with several parts.
    wire : "int16" or "float32"
        Numbers in which changes travel; the short ones are fractions of the largest of their row.
    checkpoint : path-like, optional
        A folder on this machine. A call that is broken off goes on from its last checkpoint when it is made again.
    checkpoint_seconds : float
        Between two checkpoints; there is one at the end, too.
    patience : float
        Seconds after which a worker that says nothing is left out.
    shard_bytes : int, optional
        Size of the pieces that files are cut into. None: a 16th of the text, but from 4 to 64 MB.
    most_words : int
        Distinct words in the memory of a worker while words are counted; beyond that the rarest are forgotten.
    most_tokens : int
        Of the sample for sense trees, which is kept on this machine's disk (4 bytes a token).
    storage_options : mapping, optional
        Of the store, for fsspec.
    **settings
        As for `MUSE`: ``vector_size=``, ``min_count=``, ``epochs=``, ``recipe=`` and so on; sense trees (the default)
        or ``senses=1``. `workers` is the number of processes without a `client`, and the threads of each worker with
        one (default: all that it has).

    Returns
    -------
    Trained
        ``model, report``.

    Raises
    ------
    ImportError
        If Dask is not installed; the message says how to install it.
    TypeError, ValueError
        For an unknown setting or a value out of range, a recipe that is not for clusters, or a checkpoint of another
        training.
    FileNotFoundError
        If a source is missing.
    OSError
        If a source cannot be read, or the folder of checkpoints not be written to.
    ConnectionError
        If the cluster is gone; the same call goes on from the checkpoint.
    DivergenceError
        If scores grow beyond all bounds.

    Examples
    --------
    >>> from muse.distributed import train
    >>> model, report = train("text/*.txt", workers=4, checkpoint="run")  # doctest: +SKIP
    >>> report.is_exact  # doctest: +SKIP
    True
    """
    needed("distributed", "muse.distributed.train", "dask")
    asked = checked(settings, parts, interval, warm_up, rate, wire, most_words, most_tokens)
    every, patience = number(0, 1e9)("checkpoint_seconds", checkpoint_seconds), number(1, 1e9)("patience", patience)
    if client is not None:
        check_client(client)
    size = None if shard_bytes is None else integer(1)("shard_bytes", shard_bytes)
    shards = find_shards(sources, column=column, size=size, options=storage_options)
    with contextlib.ExitStack() as stack:
        folder = _folder(checkpoint, stack)
        stored = checkpoints.read(folder)
        fingerprint = asked.fingerprint(shards)
        if stored is not None and stored.fingerprint != fingerprint:
            raise ValueError(
                f"{folder} holds a checkpoint of a training with other settings or sources; give those, or another "
                "folder"
            )
        if client is None:
            client = stack.enter_context(local_cluster(asked.settings.workers or usable_cores()))
            threads = 1
        else:
            threads = asked.settings.workers or 0
        cluster = Cluster(client, patience)
        cluster.wait_for_workers()
        stack.enter_context(cluster.keeping_copies())
        training = _Training(cluster, asked, tuple(shards), folder, every, threads or cluster.threads())
        stack.callback(training.tidy)
        try:
            return training.run(stored, fingerprint)
        except KeyboardInterrupt:
            if checkpoint is not None:
                logger.warning("interrupted; the same call goes on from the last checkpoint in %s", folder)
            raise


def _folder(given: str | PathLike[str] | None, stack: contextlib.ExitStack) -> Path:
    if given is None:
        return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="muse-")))
    folder = Path(path_like("checkpoint", given))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):  # said now, and not when there is something to lose
            pass
    except OSError as error:
        text = f"checkpoint must be a folder that can be written to; {folder} is none: {error.strerror}"
        raise (OSError(error.errno, text) if error.errno else OSError(text)) from error
    return folder


class _Training:
    """One call of `train`."""

    def __init__(
        self, cluster: Cluster, asked: Asked, shards: tuple[Shard, ...], folder: Path, every: float, threads: int
    ) -> None:
        self._cluster, self._asked, self._shards = cluster, asked, shards
        self._folder, self._every, self._threads = folder, every, threads
        self._run = secrets.token_hex(6)
        self._seconds: dict[str, float] = {}

    @contextlib.contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self._seconds[what] = round(time.perf_counter() - start, 3)
        logger.info("%s took %.1f s", what, self._seconds[what])

    def tidy(self) -> None:
        """Leave nothing on the cluster, which may be another's and live on."""
        self._cluster.end(tasks.forget, self._run)

    def run(self, stored: Stored | None, fingerprint: str) -> Trained:
        """Count, encode, train and grow, or go on from what is stored."""
        settings, asked = self._asked.settings, self._asked
        if stored is None:
            with self._timed("counting"):
                most = settings.max_vocab_size or asked.most_words
                words = count_words(self._cluster, self._run, self._shards, settings, most)
                stored = Stored(fingerprint, words)
        elif stored.report.rounds:
            stored.report.resumed.append(stored.report.rounds)
        work = Work(settings, stored.vocabulary, settings.epochs, 1.0, self._threads, asked.wire)
        if not stored.sizes:
            with self._timed("encoding"):
                stored.sizes = encode_shards(self._cluster, Job(self._run, work, self._shards))
            stored.report.corpus_tokens = sum(size.tokens for size in stored.sizes)
            stored.planned_for = asked.parts or len(self._cluster.wait_for_workers())
            checkpoints.write(self._folder, stored)
        elif len(stored.sizes) != len(self._shards):
            raise ValueError(f"the checkpoint in {self._folder} is of other shards; remove it, or give another folder")
        plan = asked.plan(stored.sizes, stored.planned_for)
        work = dataclasses.replace(work, rate=asked.rate_for(stored.planned_for), first_tokens=plan.first_tokens)
        job = Job(self._run, work, self._shards, tuple(stored.sizes))
        arrays = self._words(job, plan, stored)
        history = self._history(stored, arrays, work.rate)
        forest = None
        if grows(settings, stored.vocabulary):
            with contextlib.ExitStack() as stack:
                with self._timed("gathering"):
                    corpus = gathered(self._cluster, job, stored.sizes, asked.most_tokens, stack)
                # Where the same bits are asked for, the encoder of contexts has one thread too.
                threads = 1 if asked.parts and self._threads == 1 else usable_cores()
                with self._timed("growing"):
                    forest, arrays, row = grown(arrays, corpus, settings, stored.vocabulary, threads)
                history.append(row)
        stored.report.part_seconds = dict(self._seconds)
        return Trained(MUSE.from_arrays(stored.vocabulary, arrays, settings, history, forest=forest), stored.report)

    def _words(self, job: Job, plan: Plan, stored: Stored) -> Arrays:
        """The arrays of the words, trained."""
        settings = self._asked.settings
        with self._timed("training"), progress_bar(
            total=plan.tokens * plan.epochs, desc="training", unit=" tokens", show=settings.progress,
            initial=sum(stored.report.tokens),
        ) as bar:  # fmt: skip
            rounds = Rounds(self._cluster, job, plan, self._asked.parts, stored, self._folder, self._every, bar)
            values = rounds.run()
        arrays = initial_arrays(settings, np.ones(len(stored.vocabulary), np.int64), stored.vocabulary.counts)
        for name in tuple(values):
            getattr(arrays, name)[:] = values.pop(name)
        arrays.sense_counts[:] = stored.vocabulary.counts
        return arrays

    def _history(self, stored: Stored, arrays: Arrays, rate: float) -> list[dict[str, Any]]:
        """A row for each epoch, as training on one machine has them; their seconds are the mean."""
        settings, rows = self._asked.settings, []
        first = settings.alpha * rate
        last = first if settings.min_alpha is None else min(settings.min_alpha, first)
        spent = sum(stored.report.seconds) / max(settings.epochs, 1)
        for epoch, sums in enumerate(stored.sums):
            start, end = (first + (last - first) * at / settings.epochs for at in (epoch, epoch + 1))
            row = EpochTotals(arrays.n_senses, sums).row(epoch + 1, "words", (start, end), arrays)
            row |= {"seconds": spent, "tokens_per_second": sums["tokens"] / max(spent, 1e-9),
                    "pairs_per_second": sums["pairs"] / max(spent, 1e-9)}  # fmt: skip
            rows.append(row)
            log_row(row, settings.epochs)
        return rows
