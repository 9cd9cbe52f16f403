"""Which epochs are trained in which way: the word level first where senses are made from words."""

from __future__ import annotations

from typing import NamedTuple

from muse.base.checks import number
from muse.data.settings import Settings
from muse.data.snapshot import Snapshot
from muse.data.training_state import STATE_FIELDS

__all__ = ["Stage", "given_alphas", "is_finished", "schedule"]


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
    """All stages: with trees all at word level, else `warmup_epochs`, but never more than three fifths, or all but one.

    Trees are as good as the words are that they grow from; senses that clusters start at their word need time to part.
    """
    if settings.init == "trees":
        return [Stage(epoch, True) for epoch in range(epochs)]
    if not warm:
        return [Stage(epoch, False) for epoch in range(epochs)]
    if epochs == 1:
        return [Stage(0, True, (0.0, 0.5)), Stage(0, False, (0.5, 1.0))]
    most = epochs - 1 if settings.start == "trees" else max(1, epochs * 3 // 5)
    warmup = min(settings.warmup_epochs, most)
    return [Stage(epoch, epoch < warmup) for epoch in range(epochs)]


def given_alphas(settings: Settings, start: float | None, end: float | None) -> tuple[float, ...]:
    """The learning rates of a training, from its first to its last; none where those of the settings count.

    Raises
    ------
    TypeError, ValueError
        For what is no rate, or a last one above the first.
    """
    if start is None and end is None:
        return ()
    first = settings.alpha if start is None else number(0, 10, above=True)("start_alpha", start)
    usual = first if settings.min_alpha is None else min(settings.min_alpha, first)
    last = usual if end is None else number(0, 10)("end_alpha", end)
    if last > first:
        raise ValueError(f"end_alpha ({last:g}) must not be above start_alpha ({first:g})")
    return first, last


def is_finished(snapshot: Snapshot, epochs: int) -> bool:
    """Whether a model has been trained for all of these epochs, so that nothing is left for `resume`."""
    state = snapshot.training_state
    if not STATE_FIELDS.issubset(state) or state["epochs"] != epochs:
        return False
    if snapshot.settings.init == "trees" and state["split_due"]:
        return False
    return bool(state["stage"] >= len(schedule(snapshot.settings, epochs, warm=bool(state["warm"]))))
