"""What the page shows of slices of time: the words that changed, and the shares and uses of senses in each slice."""

from __future__ import annotations

import contextlib
from typing import Any

from muse.change.temporal import TemporalMUSE
from muse.selector.uses import find_uses

__all__ = ["change_view", "over_time_view"]

_RANKED = 60  # words that the table of changed ones has
_USES = 3  # of each sense in a slice


def change_view(slices: TemporalMUSE) -> dict[str, Any]:
    """The words that changed most between the first and the last slice, and senses that came or went.

    Returns
    -------
    dict
        ``between``: both names. ``rows``: as of a `ChangeTable`, the first of them; ``ranked``, ``called``: how many
        words were compared, and how many are called changed. ``new``, ``lost``: as of `TemporalMUSE.new_senses`. Of one
        slice all are empty.
    """
    between = [slices.slices[0], slices.slices[-1]]
    if len(slices.slices) < 2:
        return {"between": between, "rows": [], "ranked": 0, "called": 0, "new": [], "lost": []}
    table = slices.change()
    return {
        "between": between, "rows": table.rows[:_RANKED], "ranked": len(table), "called": len(table.changed),
        "new": slices.new_senses().rows[:_RANKED], "lost": slices.lost_senses().rows[:_RANKED],
    }  # fmt: skip


def over_time_view(slices: TemporalMUSE, word: str) -> dict[str, Any]:
    """The shares of a word's senses in each slice, with intervals, and the uses of which the selector is surest.

    Returns
    -------
    dict
        ``slices``: for each its ``name``, ``uses`` of the word, ``senses``: by number, share, low, high (None where the
        slice has no use of the word), uses, and ``texts``: what stands before, the word, what stands after; None where
        the text of the slice is not at hand.
    """
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in slices.slices}
    for row in slices.shares(word):
        rows[row["slice"]].append(row)
    found = []
    for name, mine in rows.items():
        uses = None
        with contextlib.suppress(ValueError, OSError):  # no text is at hand, or it is another by now
            uses = find_uses(slices.model.snapshot, [word], slices._text(slices._slice(name)))[word]
        senses = {}
        for place, row in enumerate(mine):
            texts = None if uses is None else [use[:3] for use in uses.examples(place, _USES)]
            number = int(row["sense"].rpartition("#")[2])
            senses[number] = {**{key: row[key] for key in ("share", "low", "high", "uses")}, "texts": texts}
        found.append({"name": name, "uses": sum(row["uses"] for row in mine), "senses": senses})
    return {"word": word, "slices": found}
