"""Which epochs are trained in which way: the word level first where senses are made from words."""

from __future__ import annotations

from typing import NamedTuple

from muse.data.settings import Settings
from muse.data.snapshot import Snapshot
from muse.data.training_state import STATE_FIELDS

__all__ = ["Stage", "is_finished", "schedule"]


class Stage(NamedTuple):
    """Batches of one epoch that are trained in one way."""

    epoch: int
    words: bool  # at word level, before senses are made
    share: tuple[float, float] = (0.0, 1.0)  # of the epoch's batches

    @property
    def size(self) -> float:
        """Of an epoch."""
        return self.share[1] - self.share[0]


def schedule(settings: Settings, epochs: int, *, warm: bool) -> list[Stage]:
    """All stages: with trees all at word level, else `warmup_epochs`, but never more than three fifths."""
    if settings.init == "trees":
        return [Stage(epoch, True) for epoch in range(epochs)]
    if not warm:
        return [Stage(epoch, False) for epoch in range(epochs)]
    if epochs == 1:
        return [Stage(0, True, (0.0, 0.5)), Stage(0, False, (0.5, 1.0))]
    warmup = min(settings.warmup_epochs, max(1, epochs * 3 // 5))
    return [Stage(epoch, epoch < warmup) for epoch in range(epochs)]


def is_finished(snapshot: Snapshot, epochs: int) -> bool:
    """Whether a model has been trained for all of these epochs, so that nothing is left for `resume`."""
    state = snapshot.training_state
    if not STATE_FIELDS.issubset(state) or state["epochs"] != epochs:
        return False
    if snapshot.settings.init == "trees" and state["split_due"]:
        return False
    return bool(state["stage"] >= len(schedule(snapshot.settings, epochs, warm=bool(state["warm"]))))
