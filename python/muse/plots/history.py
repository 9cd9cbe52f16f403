"""The course of a training, from the rows of ``model.history``."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from muse.base.figures import new_axes, style_of

__all__ = ["draw_history", "measures_of"]

_STAGES = {"words": "words", "senses": "senses", "trees": "making the senses"}


def measures_of(history: Sequence[Mapping[str, Any]]) -> list[str]:
    """The measures that a history has numbers of."""
    names = dict.fromkeys(name for row in history for name in row)
    return [name for name in names if name != "epoch" and any(_is_number(row.get(name)) for row in history)]


def draw_history(history: Sequence[Mapping[str, Any]], measure: str, ax: Any) -> Any:
    """Draw a measure of a history; see `MUSE.plot_history`."""
    known = measures_of(history)
    if not known:
        raise ValueError("there is no history to draw yet: train the model first")
    if measure not in known:
        raise ValueError(f"measure must be one of {', '.join(map(repr, known))}; got {measure!r:.80}")
    ax = new_axes(ax, "plot_history", (7, 4))
    rows = [(place, str(row.get("stage", "")), row.get(measure)) for place, row in enumerate(history, 1)]
    stages = list(dict.fromkeys(stage for _, stage, _ in rows))
    begun: set[str] = set()
    for stage, group in itertools.groupby(rows, key=lambda row: row[1]):
        points = [(place, value) for place, _, value in group if _is_number(value)]
        colour, marker = style_of(stages.index(stage))
        ax.plot(
            [place for place, _ in points], [value for _, value in points], color=colour, marker=marker,
            label=None if stage in begun else _STAGES.get(stage, stage) or None,
        )  # fmt: skip
        begun.add(stage)
    for place in range(2, len(history) + 1):
        if history[place - 1].get("epoch", 0) < history[place - 2].get("epoch", 0):  # another call of train
            ax.axvline(place - 0.5, color="0.6", linewidth=1, linestyle=":")
    ax.set_xticks(range(1, len(history) + 1) if len(history) <= 12 else range(0, len(history) + 1, len(history) // 6))
    ax.set_xlabel("row of the history: epochs of training, and of making senses")
    ax.set_ylabel(measure.replace("_", " "))
    ax.set_title(f"{measure.replace('_', ' ')} in training")
    if any(_STAGES.get(stage, stage) for stage in stages):
        ax.legend(fontsize=8)
    return ax


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
