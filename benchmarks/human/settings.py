"""What is compared, in one table: a name, and the settings of `MUSE` that make it."""

from __future__ import annotations

from typing import Any

from muse import MUSE, Paper, Split

__all__ = ["BASELINE", "JOINT", "SETTINGS", "options_of"]

BASELINE = "one-sense"  # what gains and times are measured against, with the same text, seed, dimension and threads

SETTINGS: dict[str, dict[str, Any]] = {
    BASELINE: {"senses": 1},
    "default": {},
    "senses=3": {"senses": 3},
    "senses=5": {"senses": 5},
    "auto": {"senses": "auto"},
    "split": {"recipe": Split()},
    "paper": MUSE.paper_defaults(),
}

# What does training senses add to those that sense trees make? Epochs at word level + epochs of senses, of the usual 5.
JOINT: dict[str, dict[str, Any]] = {
    "split 3": {"senses": 3, "recipe": Split()},
    "joint 3+2": {"senses": 3, "recipe": Split(start="trees")},
    "joint 3+2, unshared": {"senses": 3, "recipe": Split(start="trees", sibling_share=0.0)},
    "joint 3+2, frozen": {"senses": 3, "recipe": Split(start="trees", selection_update="none")},
    "joint 3+2, paper's update": {"senses": 3, "recipe": Split(start="trees", selection_update="paper")},
    "joint 4+1": {"senses": 3, "recipe": Split(start="trees", warmup_epochs=4)},
    "joint 4+1, unshared": {"senses": 3, "recipe": Split(start="trees", warmup_epochs=4, sibling_share=0.0)},
    "joint 4+1, frozen": {"senses": 3, "recipe": Split(start="trees", warmup_epochs=4, selection_update="none")},
    "joint 4+1, paper's update": {
        "senses": 3, "recipe": Split(start="trees", warmup_epochs=4, selection_update="paper"),
    },
    "paper from trees": {"recipe": Paper(start="trees")},
}  # fmt: skip


def options_of(name: str, dims: int, seed: int) -> dict[str, Any]:
    """The arguments of `MUSE` for a setting of the table."""
    return {**(SETTINGS | JOINT)[name], "vector_size": dims, "seed": seed}
