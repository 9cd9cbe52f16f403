"""``MUSE.training_state``: where a training stands, as a file holds it and a resumed training finds it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["STATE_FIELDS", "SUMS", "check_state"]

SUMS = ("tokens", "targets", "pairs", "reward", "loss", "loss_pairs", "entropy", "entropy_targets")
"""What `muse.training.epochs.EpochTotals` adds up in the epoch under way."""

_LARGEST = 2**62


def _count(value: Any) -> bool:
    return type(value) is int and 0 <= value < _LARGEST


def _sums(value: Any) -> bool:
    if not isinstance(value, dict) or set(value) != set(SUMS):
        return False
    return all(type(number) in (int, float) and math.isfinite(number) for number in value.values())


_CHECKS = {
    "epochs": lambda value: _count(value) and 1 <= value <= 1_000_000,
    "stage": _count,
    "batch": _count,
    "warm": lambda value: type(value) is bool,
    "split_due": lambda value: type(value) is bool,
    "corpus": lambda value: isinstance(value, list) and len(value) == 3 and all(map(_count, value)),
    "sums": _sums,
}
STATE_FIELDS = frozenset(_CHECKS)
_OPTIONAL_CHECKS = {"digest": _count}  # of the corpus; files of before have none


def check_state(state: Mapping[str, Any]) -> None:
    """Raise a ValueError if `state` is there and is none that a training left.

    Examples
    --------
    >>> check_state({})
    >>> check_state({"epochs": -1})
    Traceback (most recent call last):
    ...
    ValueError: its training state lacks 'batch'
    """
    if not STATE_FIELDS & set(state):  # none, or what a caller of from_arrays keeps there
        return
    for name in sorted(_CHECKS):
        if name not in state:
            raise ValueError(f"its training state lacks {name!r}")
    for name, check in sorted({**_CHECKS, **_OPTIONAL_CHECKS}.items()):
        if name in state and not check(state[name]):
            raise ValueError(f"its training state has an impossible value of {name!r}: {state[name]!r:.100}")
