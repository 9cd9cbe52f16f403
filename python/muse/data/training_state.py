"""``MUSE.training_state``: where a training stands, as a file holds it and a resumed training finds it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.data.reduced import KINDS

__all__ = ["STATE_FIELDS", "SUMS", "check_state", "sense_rows", "with_other_senses"]

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
BY_SENSE = ("earlier", "sense_use")  # see `muse.training.run.TrainingRun`; lists of Z counts


def _rate(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 10


def _counts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_count, value))


_OPTIONAL_CHECKS = {
    "digest": _count,  # of the corpus; files of before have none
    "forget": lambda value: type(value) in (int, float) and 0 <= value <= 1,
    "alphas": lambda value: isinstance(value, list) and len(value) == 2 and all(map(_rate, value)),
    "workers": lambda value: _count(value) and 1 <= value <= 4096,
    "reduced": lambda value: value in KINDS,  # the file that the model is from was saved with such numbers
    "earlier": _counts,
    "sense_use": _counts,
}


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


def sense_rows(state: Mapping[str, Any], name: str, usual: NDArray[np.int64]) -> NDArray[np.int64]:
    """Counts of all senses that a training left, or the `usual` ones where it left none; a ValueError if too few."""
    if name not in state:
        return usual
    if len(state[name]) != len(usual):
        raise ValueError(
            f"its training state has {len(state[name])} counts {name!r}, and the model {len(usual)} senses"
        )
    return np.array(state[name], np.int64)


def with_other_senses(
    state: Mapping[str, Any], change: Callable[[NDArray[np.int64]], NDArray[np.int64]]
) -> dict[str, Any]:
    """The state of a model whose senses became others, as `change` has it of a count for each of them."""
    changed = {name: change(np.array(state[name], np.int64)).tolist() for name in BY_SENSE if name in state}
    return {**state, **changed}
