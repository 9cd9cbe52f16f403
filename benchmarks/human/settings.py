"""What is compared, in one table: a name, and the settings of `MUSE` that make it."""

from __future__ import annotations

from typing import Any

from muse import MUSE, Split

__all__ = ["BASELINE", "SETTINGS", "options_of"]

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


def options_of(name: str, dims: int, seed: int) -> dict[str, Any]:
    """The arguments of `MUSE` for a setting of the table."""
    return {**SETTINGS[name], "vector_size": dims, "seed": seed}
