"""Which batches of a text are trained when, and by which part of the workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

__all__ = ["Piece", "Plan", "Round", "ShardSize", "Stretch"]


class ShardSize(NamedTuple):
    """What is known of an encoded shard."""

    tokens: int
    batches: int
    sentences: int = 0


class Piece(NamedTuple):
    """Batches of one shard."""

    shard: int
    first: int
    last: int
    start: float  # part of the whole training that is done before them
    end: float


class Stretch(NamedTuple):
    """What one part trains in one round: a pure function of the model before it."""

    epoch: int
    part: int
    pieces: tuple[Piece, ...]


class Round(NamedTuple):
    """Stretches that are trained at the same time, from the same model."""

    stretches: tuple[Stretch, ...]
    end: float  # part of the whole training that is done then


@dataclass(frozen=True)
class Plan:
    """The rounds of a training.

    All batches of all shards, one after another, are cut into as many equal parts as there are workers, and each part
    into rounds of about `interval` tokens. In the first epoch one worker begins alone, with `warm_up` tokens: from
    the values at the start many workers would all move in the same direction.

    Parameters
    ----------
    sizes : sequence of ShardSize
        In the order of the text.
    epochs : int
    interval : int
        Tokens of a part between two rounds.
    warm_up : int
        Tokens.

    Examples
    --------
    >>> plan = Plan([ShardSize(1000, 10)], epochs=1, interval=250)
    >>> [[stretch.pieces[0][1:3] for stretch in one.stretches] for one in plan.rounds(0, parts=2)]
    [[(0, 2), (5, 7)], [(2, 5), (7, 10)]]
    """

    sizes: Sequence[ShardSize]
    epochs: int
    interval: int
    warm_up: int = 0

    @property
    def tokens(self) -> int:
        """Of an epoch."""
        return sum(size.tokens for size in self.sizes)

    @property
    def first_tokens(self) -> tuple[int, ...]:
        """Where each shard begins in the text."""
        return tuple(accumulate((size.tokens for size in self.sizes[:-1]), initial=0))

    def rounds(self, epoch: int, parts: int) -> list[Round]:
        """The rounds of an epoch; the same each time."""
        batches = sum(size.batches for size in self.sizes)
        a_batch, whole = self.tokens / max(batches, 1), max(batches * self.epochs, 1)
        alone = 0
        if epoch == 0 and parts > 1:
            alone = min(batches, round(self.warm_up / max(a_batch, 1.0)))
        rounds: list[Round] = []
        for first, last, many in ((0, alone, 1), (alone, batches, parts)):
            here = last - first
            count = max(1, round(here * a_batch / many / self.interval)) if here else 0
            for k in range(count):
                start, end = ((epoch * batches + first + here * j / count) / whole for j in (k, k + 1))
                stretches = (
                    Stretch(epoch, part, self._pieces(*_cut(first, here, part, many, k, count), start, end))
                    for part in range(many)
                )
                rounds.append(Round(tuple(stretch for stretch in stretches if stretch.pieces), end))
        return [one for one in rounds if one.stretches]

    def _pieces(self, first: int, last: int, start: float, end: float) -> tuple[Piece, ...]:
        pieces, base = [], 0
        for shard, size in enumerate(self.sizes):
            low, high = max(first, base), min(last, base + size.batches)
            if low < high:
                at = [start + (end - start) * (batch - first) / (last - first) for batch in (low, high)]
                pieces.append(Piece(shard, low - base, high - base, *at))
            base += size.batches
        return tuple(pieces)


def _cut(first: int, here: int, part: int, parts: int, k: int, count: int) -> tuple[int, int]:
    """The k-th of `count` rounds of a part of the batches [first, first + here)."""
    low, high = (first + here * i // parts for i in (part, part + 1))
    return low + (high - low) * k // count, low + (high - low) * (k + 1) // count
