"""What workers of a cluster are asked to do: functions of their arguments alone, whatever worker does them, and when.

A process keeps its copy of the model, and its shards on its disk, from one task to the next; all of that can be made
again from the arguments.
"""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from muse import _core
from muse.base.optional import needed
from muse.data.arrays import Floats
from muse.data.training_state import SUMS
from muse.distributed.gathering import Passages, Sampling, gather
from muse.distributed.plan import ShardSize, Stretch
from muse.distributed.replica import Delta, Replica, Work, merge_deltas, piece_of, reduce_deltas, told
from muse.distributed.sources import Shard

__all__ = [
    "Job",
    "State",
    "encode",
    "forget",
    "gather_shard",
    "join",
    "piece",
    "prepare",
    "report",
    "state",
    "topic",
    "train",
]

_MAPPED = 1 << 16  # bytes of a file from which on it is mapped
_IDLE = 3600.0  # seconds after which what is kept of a training may go; it can be made again
_MEMORY = 1 << 26  # bytes of an encoded shard in memory, while it is encoded


@dataclass(frozen=True)
class Job:
    """A training: the same for all its tasks.

    Attributes
    ----------
    run : str
        Its name, which no other has.
    work : Work
    shards : tuple of Shard
    sizes : tuple of ShardSize
        Of the shards, once they were encoded.
    """

    run: str
    work: Work
    shards: tuple[Shard, ...]
    sizes: tuple[ShardSize, ...] = ()


class State(NamedTuple):
    """All of a model at one moment, for a worker that has an older one or none."""

    version: tuple[int, int]
    values: dict[str, Floats]


class _Place:
    """What this process keeps of a job."""

    def __init__(self, job: Job) -> None:
        self.job, self.lock, self.opening = job, threading.Lock(), threading.Lock()
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        folder = getattr(_worker(), "local_directory", None)
        if folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="muse-")
            folder = self._temporary.name
        self.folder = Path(folder)
        self.replica = Replica(job.work, self.corpus)
        self.used = time.monotonic()

    def forget(self) -> None:
        """Remove its shards from the disk."""
        _remove(self.folder, self.job.run)
        if self._temporary is not None:
            self._temporary.cleanup()

    def corpus(self, number: int) -> _core.Corpus:
        """A shard, from the disk; where it is not there, it is read and encoded again."""
        with self.opening:
            names = [self.folder / f"{self.job.run}-{number}-{part}.npy" for part in ("tokens", "offsets")]
            try:
                return _core.map_corpus(*map(_open, names))
            except (OSError, ValueError, EOFError):
                self._encode(number, names)
            return _core.map_corpus(*map(_open, names))

    def _encode(self, number: int, names: list[Path]) -> None:
        words = self.job.work.vocabulary.words
        encoder = _core.Encoder(vocab=list(words), max_ram=_MEMORY)
        self.job.shards[number].feed(encoder)
        corpus = encoder.finish(np.arange(len(words), dtype=np.int32))
        if self.job.sizes and (corpus.n_tokens, corpus.n_sentences) != self.job.sizes[number][::2]:
            raise ValueError(
                f"the text has changed since training began: {self.job.shards[number]!r:.300} has {corpus.n_tokens} "
                f"tokens, and had {self.job.sizes[number].tokens}; train anew, without the checkpoint"
            )
        arrays: tuple[Any, Any] = corpus.tokens, corpus.offsets
        for name, array in zip(names, arrays, strict=True):
            temporary = name.with_suffix(f".{os.getpid()}")
            with temporary.open("wb") as file:
                np.save(file, array)
            temporary.replace(name)

    def bring(self, version: tuple[int, int], step: Sequence[Delta], state: State | None) -> bool:
        """Have the model of this version, if what is there and what is given allows it."""
        replica, before = self.replica, (version[0], version[1] - 1)
        if replica.version == version:
            return True
        if state is not None and state.version == version:
            replica.begin(version, state.values)
            return True
        if version[1] == 0:
            replica.begin(version)
            return True
        if not step or any(delta.stale for delta in step):  # such as one that was made again, elsewhere
            return False
        if replica.version != before and before[1] == 0:
            replica.begin(before)
        if replica.version == before:
            replica.apply(step)
            return True
        return False


_PLACES: dict[str, _Place] = {}
_PLACES_LOCK = threading.Lock()


def _place(job: Job) -> _Place:
    with _PLACES_LOCK:
        place = _PLACES.get(job.run)
        if place is None or place.job.sizes != job.sizes:  # nor is the rate known when shards are encoded
            place = _PLACES[job.run] = _Place(job)
        place.used = time.monotonic()
        for run, other in tuple(_PLACES.items()):  # whose caller was killed, and could not say that they are over
            if place.used - other.used > _IDLE and not other.lock.locked():
                _PLACES.pop(run).forget()
        return place


def forget(run: str, dask_worker: Any = None) -> None:
    """Leave nothing of a training that is over: neither in memory nor on the disk."""
    with _PLACES_LOCK:
        place = _PLACES.pop(run, None)
    if place is not None:
        place.forget()
    folder = getattr(dask_worker, "local_directory", None)
    if folder is not None:
        _remove(Path(folder), run)


def _remove(folder: Path, run: str) -> None:
    for name in folder.glob(f"{run}-*"):
        with contextlib.suppress(OSError):  # it may be open where the system lets nobody remove such files
            name.unlink()


def _open(path: Path) -> Any:
    return np.load(path, mmap_mode="r" if path.stat().st_size > _MAPPED else None, allow_pickle=False)


def _worker() -> Any:
    """The Dask worker that this runs on; None elsewhere."""
    with contextlib.suppress(ImportError, ValueError):
        return needed("distributed", "muse.distributed", "dask").get_worker()
    return None


def _address() -> str:
    return str(getattr(_worker(), "address", ""))


# -- tasks -------------------------------------------------------------------------------------------------------------


def encode(job: Job, number: int) -> ShardSize:
    """Encode a shard, and say how large it is."""
    corpus = _place(job).corpus(number)
    batches = len(_core.batch_boundaries(corpus, job.work.settings.batch_tokens)) - 1
    return ShardSize(corpus.n_tokens, batches, corpus.n_sentences)


def prepare(job: Job, stretch: Stretch) -> None:
    """Do what need not wait for the model that `stretch` begins with; nothing is lost if it is not done."""
    place = _place(job)
    with place.lock:
        if place.replica.version is None:
            place.replica.begin((0, 0))
        place.replica.prepare(piece.shard for piece in stretch.pieces)


def train(job: Job, stretch: Stretch, version: tuple[int, int], step: Sequence[Delta], state: State | None) -> Delta:
    """Train a stretch from a version of the model, to which `step` leads from the one before, or which is `state`."""
    place, worker, start = _place(job), _worker(), time.perf_counter()
    if worker is not None:
        worker.log_event(topic(job.run), {"round": version, "part": stretch.part, "place": worker.address})
    with place.lock:
        if not place.bring(version, step, state):
            return Delta({}, {stretch.part: 0}, dict.fromkeys(SUMS, 0.0), {}, stale=(stretch.part,))
        delta = place.replica.train(stretch)
    return delta._replace(places={stretch.part: (_address(), time.perf_counter() - start)})


def topic(run: str) -> str:
    """Where a training's events are found."""
    return f"muse-{run}"


def piece(job: Job, delta: Delta, number: int, count: int) -> Delta:
    """One of so many pieces of what was changed, where that is: only pieces go to other workers."""
    return piece_of(delta, number, count, len(job.work.vocabulary))


def join(*deltas: Delta) -> Delta:
    """What some parts changed, as one delta."""
    return functools.reduce(merge_deltas, reduce_deltas(deltas, merge_deltas))


def report(delta: Delta) -> Delta:
    """What was trained, without the changes."""
    return told([delta])


def state(job: Job, version: tuple[int, int], step: Sequence[Delta]) -> State | None:
    """All of a version of the model, if this worker has it, or the one before and `step`."""
    place = _place(job)
    with place.lock:
        return State(version, place.replica.values()) if place.bring(version, step, None) else None


def gather_shard(job: Job, number: int, sampling: Sampling) -> Passages:
    """The passages of a shard for sense trees."""
    work = job.work
    return gather(_place(job).corpus(number), work.first_tokens[number], work.vocabulary.counts, sampling)
