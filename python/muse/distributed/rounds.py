"""The rounds of a training on a cluster: who trains what, and what happens when somebody is lost."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import logging
import statistics
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from muse.base.progress import Bar
from muse.data.arrays import Floats
from muse.distributed import checkpoints, tasks
from muse.distributed.checkpoints import Stored
from muse.distributed.cluster import Again, Cluster, Lost
from muse.distributed.plan import Plan, Round
from muse.distributed.replica import Delta, reduce_deltas, told
from muse.distributed.tasks import Job, State

__all__ = ["Rounds"]

logger = logging.getLogger("muse")

_ATTEMPTS = 20  # of a round, before the model is taken from the checkpoint
_RETURNS = 100  # to a checkpoint
_PIECE, _MOST_PIECES = 1 << 23, 32  # bytes of a piece of what a worker changes, at least; a matrix has so many at most
_SLOW, _LEAST_SLOW = 5.0, 10.0  # times the usual, and seconds, after which a stretch is asked of another worker


class Rounds:
    """All rounds of a training, from where it stands to its end.

    Parameters
    ----------
    cluster : Cluster
    job : Job
    plan : Plan
    parts : int or None
        For how many workers an epoch is planned; None: for those that are there when it begins.
    stored : Stored
        Where the training stands.
    folder : Path
        For checkpoints.
    every : float
        Seconds between two of them.
    bar : Bar
        Of tokens.
    """

    def __init__(
        self, cluster: Cluster, job: Job, plan: Plan, parts: int | None, stored: Stored, folder: Path, every: float,
        bar: Bar,
    ) -> None:  # fmt: skip
        self._cluster, self._job, self._plan, self._parts = cluster, job, plan, parts
        self._stored, self._folder, self._every, self._bar = stored, folder, every, bar
        self._timeline, self._keys = 0, itertools.count()
        self._begun: Counter[tuple[int, int]] = Counter()
        self._homes: dict[int, str] = {}
        self._avoided: set[str] = set()
        self._written = time.monotonic()

    # -- where it stands ---------------------------------------------------------------------------------------------

    @property
    def _version(self) -> tuple[int, int]:
        return self._timeline, self._stored.report.rounds

    def _take_up(self) -> None:
        """Begin from what is stored, with workers that know nothing of it."""
        self._cluster.wait_for_workers()
        with contextlib.suppress(Lost):
            self._cluster.keep_copies()
            self._cluster.client.subscribe_topic(tasks.topic(self._job.run), self._note)
        self._spread_to: set[str] = set()
        self._spread()
        self._step: list[Any] = []  # futures, of what leads from the version before to this one
        self._versions: dict[str, tuple[int, int]] = {}
        self._state: Any = None  # a future of all of this version
        self._ahead: dict[int, Any] = {}  # futures of parts of the next round, which were asked for already
        self._prepared: list[Any] = []  # futures that are held so that they are not cancelled; nobody waits for them
        if self._stored.values:
            self._state = self._cluster.spread(State(self._version, self._stored.values))
            self._stored.values = {}

    def _spread(self) -> None:
        """Have all workers know of the training, also those that joined: those that knew of it may go."""
        there = set(self._cluster.workers())
        if not there <= self._spread_to:
            self._shared, self._spread_to = self._cluster.spread(self._job), there

    def _note_no_more(self) -> None:
        with contextlib.suppress(Exception):  # where the scheduler is gone, or nothing was to be noted yet
            topic = tasks.topic(self._job.run)
            self._cluster.client.unsubscribe_topic(topic)
            self._cluster.client._event_handlers.pop(topic, None)  # which Dask keeps, and with it all of this

    def _note(self, event: Any) -> None:
        told = event[1] if isinstance(event, (tuple, list)) else event
        self._begun[int(told["round"][1]), int(told["part"])] += 1

    def _go_back(self, why: Lost) -> None:
        report = self._stored.report
        report.went_back += 1
        if report.went_back > _RETURNS:
            raise RuntimeError(f"the cluster has lost the model {_RETURNS} times; the last time: {why}") from why
        logger.warning("%s; the training goes back to its last checkpoint", why)
        self._cluster.wait_for_workers()
        stored = checkpoints.read(self._folder)
        assert stored is not None
        for name in ("started", "repeated", "went_back", "places", "part_seconds", "resumed"):
            setattr(stored.report, name, getattr(report, name))
        for field in dataclasses.fields(report):
            setattr(report, field.name, getattr(stored.report, field.name))
        stored.report = report  # which the caller holds
        self._stored.__dict__.update(stored.__dict__)
        self._bar.update(sum(report.tokens) - self._bar.n)
        self._timeline += 1
        self._take_up()

    def run(self) -> dict[str, Floats]:
        """Train to the end; U and V then."""
        try:
            return self._all()
        finally:
            self._note_no_more()

    def _all(self) -> dict[str, Floats]:
        lost: Lost | None = None
        while True:
            try:
                self._take_up() if lost is None else self._go_back(lost)
                while self._stored.epoch < self._plan.epochs:
                    self._epoch()
                values = self.checkpoint()
                self._count_begun()
                return values
            except Lost as error:
                lost = error

    def _count_begun(self) -> None:
        report = self._stored.report
        report.started += self._begun.total()
        report.repeated += self._begun.total() - len(self._begun)
        self._begun.clear()

    def _epoch(self) -> None:
        stored, report = self._stored, self._stored.report
        if len(report.parts) <= stored.epoch:
            report.parts.append(self._parts or len(self._cluster.wait_for_workers()))
            report.tokens.append(0)
            stored.sums.append({})
        self._avoided.clear()
        rounds = self._plan.rounds(stored.epoch, report.parts[stored.epoch])
        if stored.round >= len(rounds):
            raise ValueError(f"the checkpoint in {self._folder} is of other rounds; remove it, or give another folder")
        for at in range(stored.round, len(rounds)):
            self._round(*rounds[at : at + 2])
            is_last = at + 1 == len(rounds)
            stored.epoch, stored.round = (stored.epoch + 1, 0) if is_last else (stored.epoch, at + 1)
            if stored.epoch < self._plan.epochs and time.monotonic() - self._written > self._every:
                self.checkpoint()
        logger.info("epoch %d of %d: %d tokens", stored.epoch, self._plan.epochs, report.tokens[-1])

    def checkpoint(self) -> dict[str, Floats]:
        """Store where the training stands; U and V then."""
        values = self._values()
        checkpoints.write(self._folder, dataclasses.replace(self._stored, values=values))
        self._written = time.monotonic()
        return values

    def _values(self) -> dict[str, Floats]:
        """U and V as they are, from a worker to here."""
        for _ in range(_ATTEMPTS):
            home = next((name for name in self._cluster.workers() if self._has_model(name)), None)
            if home is None:
                if self._state is None:
                    raise Lost("no worker has the model any more")
                found = self._cluster.result(self._state, direct=True)
            else:
                future = self._ask("values", tasks.state, self._version, self._step, home=home, only=True)
                try:
                    found = self._cluster.result(future, self._cluster.gone([home]), direct=True)
                except Again:
                    continue
            if found is not None:
                values: dict[str, Floats] = found.values
                return values
            self._versions.pop(home or "", None)
        raise Lost("no worker gave the model")

    # -- one round ---------------------------------------------------------------------------------------------------

    def _round(self, one: Round, following: Round | None = None) -> None:
        start, kept, self._ahead = time.perf_counter(), self._ahead, {}
        for _ in range(_ATTEMPTS):
            self._spread()
            homes = self._choose_homes(one)
            for stretch in one.stretches:
                if stretch.part not in kept:
                    home = homes[stretch.part]
                    state = self._state_for(home)
                    kept[stretch.part] = self._ask("train", tasks.train, stretch, self._version, self._step, state,
                                                   home=home)  # fmt: skip
            step = self._joined([kept[stretch.part] for stretch in one.stretches], list(homes.values()))
            reports = [self._cluster.submit(tasks.report, delta, key=self._key("report")) for delta in step]
            if following is not None:
                self._ask_ahead(following, step, set(homes.values()))
            try:
                look = functools.partial(self._look, homes, kept, start)
                delta = told([self._cluster.result(report, look) for report in reports])
            except Again:
                self._ahead = {}
                continue
            if not delta.stale:
                self._accept(one, step, delta, time.perf_counter() - start)
                return
            self._versions = {name: self._version for name, _ in delta.places.values()}
            self._state = None if self._versions else self._state
            self._ahead = {}
            kept.clear()
        raise Lost(f"a round was not trained in {_ATTEMPTS} attempts")

    def _joined(self, deltas: list[Any], homes: list[str]) -> list[Any]:
        """Futures of what all parts changed.

        By a tree, or, where that is much, in pieces: each of some workers puts one range of rows together for all, so
        that no worker has to read or send more than about what it changed itself.
        """
        work = self._job.work
        bytes_ = 2 * len(work.vocabulary) * work.settings.vector_size * np.dtype(work.wire).itemsize
        count = min(bytes_ // _PIECE, _MOST_PIECES, len(deltas)) if len(deltas) > 2 else 1
        if count < 2:
            return reduce_deltas(deltas, lambda a, b: self._cluster.submit(tasks.join, a, b, key=self._key("join")))
        return [
            self._cluster.submit(
                tasks.join, *(self._ask("piece", tasks.piece, delta, number, count) for delta in deltas),
                key=self._key("join"), home=homes[number % len(homes)],
            )
            for number in range(count)
        ]  # fmt: skip

    def _ask_ahead(self, following: Round, step: list[Any], busy: set[str]) -> None:
        """Ask for the next round, too, so that workers need not wait for this process, if those of this one train it.

        Where one worker begins alone, the others make ready, and can be asked likewise: what all begin with they make
        themselves.
        """
        homes, (timeline, rounds) = self._choose_homes(following), self._version
        resting = set(homes.values()) - busy
        if resting and rounds:
            return
        self._prepared = [
            self._ask("prepare", tasks.prepare, stretch, home=homes[stretch.part])
            for stretch in following.stretches
            if homes[stretch.part] in resting
        ]
        self._ahead = {
            stretch.part: self._ask("train", tasks.train, stretch, (timeline, rounds + 1), step, None,
                                    home=homes[stretch.part])
            for stretch in following.stretches
        }  # fmt: skip

    def _accept(self, one: Round, step: list[Any], delta: Delta, seconds: float) -> None:
        if delta.tokens.keys() != {stretch.part for stretch in one.stretches}:
            raise RuntimeError(f"parts {sorted(delta.tokens)} were combined, which are not those of the round")
        stored, report = self._stored, self._stored.report
        before = self._version
        for name, _ in delta.places.values():
            self._versions[name] = before
        tokens = sum(delta.tokens.values())
        report.tokens[-1] += tokens
        report.rounds += 1
        report.moved.append(delta.moved)
        report.seconds.append(round(seconds, 4))
        report.training.append(round(max(spent for _, spent in delta.places.values()), 4))
        for part, (name, _) in delta.places.items():
            report.places[name] = report.places.get(name, 0) + delta.tokens[part]
        sums = stored.sums[-1]
        for name, value in delta.sums.items():
            sums[name] = sums.get(name, 0.0) + value
        self._step, self._state = step, None
        self._bar.update(tokens)

    def _key(self, kind: str) -> str:
        return f"muse-{kind}-{self._job.run}-{next(self._keys)}"

    def _ask(self, kind: str, task: Any, *args: Any, home: str | None = None, only: bool = False) -> Any:
        return self._cluster.submit(task, self._shared, *args, key=self._key(kind), home=home, only=only)

    def _has_model(self, name: str) -> bool:
        known = self._versions.get(name)
        before = (self._timeline, self._version[1] - 1)
        return known == self._version or (known == before and bool(self._step))

    def _state_for(self, home: str) -> Any:
        """A future of the whole model, where the worker cannot have it."""
        rounds = self._version[1]
        if self._has_model(home) or rounds == 0 or (rounds == 1 and self._step):  # which it makes itself
            return None
        if self._state is None:
            holder = next((name for name in self._cluster.workers() if self._has_model(name)), None)
            if holder is None:
                raise Lost("no worker has the model any more")
            self._state = self._ask("state", tasks.state, self._version, self._step, home=holder)
        return self._state

    def _choose_homes(self, one: Round) -> dict[int, str]:
        """Where each part is trained: where it was, as far as that is there, and no worker has two more than others."""
        there, parts = self._cluster.wait_for_workers(), [stretch.part for stretch in one.stretches]
        usable = [name for name in there if name not in self._avoided] or there
        load: dict[str, list[int]] = {name: [] for name in usable}
        free: list[int] = []
        for part in parts:
            load.get(self._homes.get(part, ""), free).append(part)
        for part in free:
            min(load.values(), key=len).append(part)
        while len(most := max(load.values(), key=len)) - len(least := min(load.values(), key=len)) > 1:
            least.append(most.pop())
        homes = {part: name for name, held in load.items() for part in held}
        self._homes |= homes
        return homes

    def _look(self, homes: dict[int, str], kept: dict[int, Any], start: float) -> None:
        """Ask others for the parts of workers that are much slower than usual."""
        there = set(self._cluster.workers())
        usual = statistics.median(self._stored.report.seconds[-20:] or [float("inf")])
        if time.perf_counter() - start < max(_LEAST_SLOW, _SLOW * usual) or len(there) < 2:
            return
        late = {part for part, future in kept.items() if not future.done() and homes[part] not in self._avoided}
        if late and len(late) < len(kept):
            logger.warning("workers %s are slow: others train their parts", {homes[part] for part in late})
            self._avoided |= {homes[part] for part in late}
            for part in late:
                kept.pop(part)
            raise Again
