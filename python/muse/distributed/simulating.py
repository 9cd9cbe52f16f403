"""Many workers in one process, one after another: what a cluster makes of a text, without one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from muse import _core
from muse.data.arrays import Floats
from muse.distributed.changes import Rule
from muse.distributed.plan import Plan, Round
from muse.distributed.replica import Delta, Replica, Work, merge_deltas, reduce_deltas, told

__all__ = ["Simulated", "simulate"]


@dataclass
class Simulated:
    """What `simulate` returns.

    Attributes
    ----------
    values : dict of str to float32 array
        U and V.
    tokens : list of int
        Trained, by epoch.
    rounds, moved : int, list of int
        How many rounds there were, and bytes of the changes of each that went from worker to worker.
    sums : list of dict
        What was summed over batches, by epoch.
    """

    values: dict[str, Floats] = field(default_factory=dict)
    tokens: list[int] = field(default_factory=list)
    rounds: int = 0
    moved: list[int] = field(default_factory=list)
    sums: list[dict[str, float]] = field(default_factory=list)

    @classmethod
    def of(cls, plan: Plan) -> Simulated:
        """One of which nothing is trained yet."""
        return cls(tokens=[0] * plan.epochs, sums=[{} for _ in range(plan.epochs)])

    def add(self, epoch: int, trained: Delta) -> None:
        """Count a round."""
        self.rounds += 1
        self.moved.append(trained.moved)
        self.tokens[epoch] += sum(trained.tokens.values())
        for name, value in trained.sums.items():
            self.sums[epoch][name] = self.sums[epoch].get(name, 0.0) + value


def simulate(
    work: Work,
    shards: Sequence[_core.Corpus],
    plan: Plan,
    parts: int,
    rule: Rule = "agreement",
    watch: Callable[[Round, Delta], object] | None = None,
) -> Simulated:
    """Train as the workers of a plan would, bit for bit where each has one thread.

    Parameters
    ----------
    work : Work
    shards : sequence of Corpus
        Encoded, in the order of the text.
    plan : Plan
    parts : int
        How many workers.
    rule : str
        By which changes are put together; a cluster has ``"agreement"``.
    watch : callable, optional
        Called with each round and what it trained.
    """
    replica = Replica(work, lambda number: shards[number])
    replica.begin((0, 0))
    out = Simulated.of(plan)
    for epoch in range(plan.epochs):
        for one in plan.rounds(epoch, parts):
            deltas = [replica.train(stretch) for stretch in one.stretches]
            step = reduce_deltas(deltas, lambda a, b: merge_deltas(a, b, rule))
            replica.apply(step, rule)
            trained = told(step)
            out.add(epoch, trained)
            if watch is not None:
                watch(one, trained)
    out.values = replica.values()
    return out
