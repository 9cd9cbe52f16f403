"""The space that contexts of uses are in: what sense trees are made of and chosen by."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.data.reduced import Held, Widening, held_by, shape_of

__all__ = ["UseSpace"]

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class UseSpace(Widening):
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
    prior_weight : float
        What the logarithm of a sense's share adds to its score, which is the cosine of its mean context with the
        context.
    temperature : float
        Of the softmax that makes scores probabilities.
    """

    topic_vectors: Floats
    topic_weights: Floats
    order_vectors: Floats | None = field(default_factory=lambda: None)  # no attribute of the class, see `Widening`
    position_weights: Floats | None = None
    order_mean: Floats | None = None
    order_transform: Floats | None = None
    topic_window: int = 60
    distance_power: float = 0.5
    order_weight: float = 0.75
    prior_weight: float = 0.05
    temperature: float = 0.15

    def __post_init__(self) -> None:
        for name in ("topic_vectors", "order_vectors"):
            if isinstance(matrix := self.__dict__[name], Held):
                self._hold(name, matrix)

    @property
    def size(self) -> int:
        """S, of a context."""
        if not held_by(self):
            return int(self.core.dim)
        order = 0 if self.order_transform is None else self.order_transform.shape[1]
        return shape_of(self, "topic_vectors")[1] + order

    def bias(self, sense_offset: NDArray[np.int64], counts: NDArray[np.int64]) -> Floats:
        """What the share of each sense adds to its scores, float32 (Z,).

        Parameters
        ----------
        sense_offset : int64 (V + 1,)
        counts : int64 (Z,)
            Uses of each sense, as a cut of sense trees has them; a word without any has one sense, or equal ones.
        """
        total = np.add.reduceat(counts, sense_offset[:-1]) if len(counts) else np.zeros(0, np.int64)
        senses = np.diff(sense_offset)
        each = np.maximum(np.repeat(total, senses), 1)
        share = np.where(np.repeat(total > 0, senses), np.maximum(counts, 0.5) / each, 1.0)
        return (self.prior_weight * np.log(share)).astype(np.float32)

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: the core's view is made anew."""
        return {part.name: getattr(self, part.name) for part in dataclasses.fields(self)}

    @cached_property
    def core(self) -> _core.UseSpace:
        """The core's view of these arrays."""
        return self.core_of(window_options(self.topic_window, self.distance_power))

    def core_of(self, options: _core.SelectionOptions) -> _core.UseSpace:
        """The core's view with another window of topics."""
        return _core.UseSpace(
            self.topic_vectors, self.topic_weights, options,
            self.order_vectors, self.position_weights, self.order_transform, self.order_mean, self.order_weight,
        )  # fmt: skip


def window_options(window: int, power: float, *, mean: bool = False) -> _core.SelectionOptions:
    """A window in which the word itself does not count, and others by their distance to the minus `power`."""
    options = _core.SelectionOptions()
    options.window, options.mean = window, mean
    options.distance = [0.0, *(float(d) ** -power for d in range(1, window + 1))]
    return options
