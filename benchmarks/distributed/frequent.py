"""Whether rows of frequent words should be put together more often than rare ones: simulated."""

from __future__ import annotations

from collections.abc import Sequence

from muse import _core
from muse.distributed.changes import Changes, take
from muse.distributed.plan import Plan
from muse.distributed.replica import Replica, Work, merge_deltas, reduce_deltas, told
from muse.distributed.simulating import Simulated

__all__ = ["simulate"]


class _Frequent(Replica):
    """A worker's copy that says what it changed of the first `most` rows, those of the most frequent words, or of all;
    what it changed of the others stays with it until then."""

    most: int | None = None

    def _taken(self, name: str) -> Changes:
        return take(getattr(self._arrays, name)[: self.most], self._base[name][: self.most], self.work.wire)


def simulate(work: Work, shards: Sequence[_core.Corpus], plan: Plan, parts: int, most: int, often: int) -> Simulated:
    """As `muse.distributed.simulating.simulate`, but only each `often`-th round, and the last one of an epoch, puts all
    rows together; the others the first `most`."""
    replicas = [_Frequent(work, lambda number: shards[number]) for _ in range(parts)]
    for replica in replicas:
        replica.begin((0, 0))
    out = Simulated.of(plan)
    for epoch in range(plan.epochs):
        rounds = plan.rounds(epoch, parts)
        for number, one in enumerate(rounds, 1):
            is_of_all = number % often == 0 or number == len(rounds) or len(one.stretches) == 1
            for replica in replicas:
                replica.most = None if is_of_all else most
            step = reduce_deltas([replicas[stretch.part].train(stretch) for stretch in one.stretches], merge_deltas)
            for replica in replicas:
                replica.apply(step)
            out.add(epoch, told(step))
    out.values = replicas[0].values()
    return out
