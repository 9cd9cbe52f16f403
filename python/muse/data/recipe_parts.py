"""Parts of recipes: what the selection module sees, and how the arithmetic is arranged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from muse.base.checks import Choice, flag, integer, number, optional
from muse.data.table import check_fields, setting

__all__ = ["Context", "Engine"]


@dataclass(frozen=True, kw_only=True)
class Context:
    """What the selection module sees of a word's context.

    Raises
    ------
    TypeError, ValueError
        For a value of the wrong type or out of range.

    Examples
    --------
    >>> from muse import MUSE, Context, Split
    >>> MUSE(recipe=Split(context=Context(window=10))).settings.selection_window
    10
    """

    window: int | None = setting(
        20, optional(integer(1, 10_000)),
        "Positions on each side of a word that the selection module sees; None: the constructor's window, and in "
        "training the shrunk one.",
    )  # fmt: skip
    weights: Literal["none", "keep", "sqrt_keep"] = setting(
        "sqrt_keep", Choice("none", "keep", "sqrt_keep"),
        "Weigh context words by the probability that subsampling keeps them, or its square root.",
    )  # fmt: skip
    distance_power: float = setting(
        1.0, number(0, 10), "A context word at distance d weighs d ** -distance_power; 0: all the same."
    )
    centre: bool | None = setting(
        None, optional(flag),
        "Whether the word itself counts as its context, which gives each sense a bias of its own. None: only with "
        "selection_update='paper', whose rewards need one.",
    )  # fmt: skip
    combine: Literal["mean", "sum"] = setting(
        "mean", Choice("sum", "mean"), "How the context's vectors are put together."
    )
    full_text: bool = setting(
        True, flag,
        "In training, let the selector see every token, as it does in use, not only those that subsampling kept.",
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_fields(self, "context.")


@dataclass(frozen=True, kw_only=True)
class Engine:
    """How the arithmetic is arranged; for experts, since the defaults are the fastest that lose nothing.

    Raises
    ------
    TypeError, ValueError
        For a value of the wrong type or out of range.

    Examples
    --------
    >>> from muse import MUSE, Engine, Split
    >>> MUSE(recipe=Split(engine=Engine(group_size=1))).settings.group_size
    1
    """

    batch_tokens: int = setting(
        2048, integer(1, 2**20), "Tokens between two updates of the selection module.", core="batch_tokens"
    )
    group_size: int = setting(
        16, integer(1, 1024), "Targets in a row that share their negatives; 1: none do.", core="group_size"
    )
    device_storage: Literal["float32", "bfloat16"] = setting(
        "float32", Choice("float32", "bfloat16"),
        "How training on a CUDA device keeps sense and collocation vectors there: bfloat16 takes half the memory, and "
        "is rounded at random.",
        runtime=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_fields(self, "engine.")
