"""The space that contexts of uses are in: what sense trees are made of and chosen by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from muse import _core

__all__ = ["UseSpace"]

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class UseSpace:
    """Two blocks, each of unit length, joined as [topic, order_weight * order] and of unit length together.

    Parameters
    ----------
    topic_vectors : float32 (V, Dt)
        Word vectors that are centred and whitened; a topic is their mean over a wide window.
    topic_weights : float32 (V,)
        Weight of each word in a topic; empty: all weigh one.
    order_vectors : float32 (V, De), optional
        The encoder's word vectors, each times its weight. Without them there is one block.
    position_weights : float32 (2 W + 1, De), optional
        What the encoder multiplies them by, place by place; the row of the word itself holds zeros.
    order_mean, order_transform : float32 (De,), (De, Do), optional
        What is taken off the encoder's contexts, and the matrix that whitens them.
    topic_window : int
        Positions on each side of the word.
    distance_power : float
        A word at distance d weighs d to the minus that in the topic.
    order_weight : float
        Of the second block.
    """

    topic_vectors: Floats
    topic_weights: Floats
    order_vectors: Floats | None = None
    position_weights: Floats | None = None
    order_mean: Floats | None = None
    order_transform: Floats | None = None
    topic_window: int = 60
    distance_power: float = 0.5
    order_weight: float = 0.75

    @property
    def size(self) -> int:
        """S, of a context."""
        return int(self.core.dim)

    @cached_property
    def core(self) -> _core.UseSpace:
        """The core's view of these arrays."""
        return _core.UseSpace(
            self.topic_vectors, self.topic_weights, window_options(self.topic_window, self.distance_power),
            self.order_vectors, self.position_weights, self.order_transform, self.order_mean, self.order_weight,
        )  # fmt: skip


def window_options(window: int, power: float, *, mean: bool = False) -> _core.SelectionOptions:
    """A window in which the word itself does not count, and others by their distance to the minus `power`."""
    options = _core.SelectionOptions()
    options.window, options.mean = window, mean
    options.distance = [0.0, *(float(d) ** -power for d in range(1, window + 1))]
    return options
