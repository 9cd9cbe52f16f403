"""A worker's copy of the words' vectors: trained from a common base, and moved on by what all workers made of it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.data.arrays import Arrays, Floats
from muse.data.settings import Settings
from muse.data.training_state import SUMS
from muse.data.vocabulary import Vocabulary
from muse.distributed.changes import Changes, Packed, Rule, Wire, factors, merge, pack, unpack
from muse.distributed.plan import Stretch
from muse.errors import DivergenceError
from muse.selector.selection import context_weights
from muse.training.initial import initial_arrays
from muse.training.options import core_options

__all__ = ["MATRICES", "Delta", "Replica", "Step", "Work", "combine", "merge_deltas", "reduce_deltas"]

MATRICES = ("sense_vectors", "collocation_vectors")
"""What training words moves: U and V. Nothing selects before there are senses."""

_OPEN = 4  # shards whose trainers are kept


@dataclass(frozen=True)
class Work:
    """What all workers know of a training, but for the text.

    Attributes
    ----------
    settings : Settings
        Those of the model.
    vocabulary : Vocabulary
        With the counts of the whole text.
    epochs : int
    rate : float
        What the learning rate is multiplied by.
    threads : int
        Of one worker.
    wire : str
    first_tokens : tuple of int
        Where each shard begins in the text.
    """

    settings: Settings
    vocabulary: Vocabulary
    epochs: int
    rate: float = 1.0
    threads: int = 1
    wire: Wire = "int16"
    first_tokens: tuple[int, ...] = (0,)


class Delta(NamedTuple):
    """What one stretch changed, or several of one round.

    Attributes
    ----------
    changes : dict of str to Packed
        By matrix.
    tokens : dict of int to int
        Trained, by part.
    sums : dict of str to number
        What is summed over batches: pairs, loss and so on.
    places : dict of int to (str, float)
        Which worker trained a part, and in how many seconds.
    moved : int
        Bytes of the changes of all parts.
    stale : tuple of int
        Parts that could not be trained where they were asked for, since the model there was of another round.
    """

    changes: Mapping[str, Packed]
    tokens: Mapping[int, int]
    sums: Mapping[str, float]
    places: Mapping[int, tuple[str, float]]
    moved: int = 0
    stale: tuple[int, ...] = ()


class Step(NamedTuple):
    """What all changes of a round make of the model: rows and what is added to them, by matrix."""

    changes: Mapping[str, Packed]
    delta: Delta  # without changes: what was trained


class Replica:
    """One copy of U and V.

    Attributes
    ----------
    version : (int, int) or None
        Which timeline of a training it is of (it has another after it was taken up again), and how many rounds it has
        seen; None before it has values.
    """

    def __init__(self, work: Work, corpus_of: Callable[[int], _core.Corpus]) -> None:
        self.work, self._corpus_of = work, corpus_of
        self.version: tuple[int, int] | None = None
        self._arrays: Arrays | None = None
        self._base: dict[str, Floats] = {}
        self._trainers: OrderedDict[int, _core.Trainer] = OrderedDict()

    # -- values ------------------------------------------------------------------------------------------------------

    def begin(self, version: tuple[int, int], values: Mapping[str, Floats] | None = None) -> None:
        """Take `values` of U and V, or those that a model starts from."""
        work = self.work
        if self._arrays is None or values is None:
            self._trainers.clear()
            arrays = initial_arrays(work.settings, np.ones(len(work.vocabulary), np.int64), work.vocabulary.counts)
            rows, size = arrays.context_vectors.shape
            arrays.context_vectors = _core.aligned_zeros(rows, size, used=False)  # nothing reads it
            self._arrays = arrays
            self._base = {name: _core.aligned_zeros(*getattr(arrays, name).shape) for name in MATRICES}
        for name in MATRICES:
            matrix: Floats = getattr(self._arrays, name)
            if values is not None:
                matrix[:] = values[name]
            self._base[name][:] = matrix
        self.version = version

    def values(self) -> dict[str, Floats]:
        """U and V as all workers have them now, copied."""
        return {name: np.ascontiguousarray(base) for name, base in self._base.items()}

    def apply(self, step: Step) -> None:
        """Be of the next version."""
        assert self.version is not None
        for name, packed in step.changes.items():
            change = unpack(packed)
            _core.apply_changes(getattr(self._arrays, name), self._base[name], change.rows, change.sums)
        self.version = self.version[0], self.version[1] + 1

    # -- training ----------------------------------------------------------------------------------------------------

    def train(self, stretch: Stretch) -> Delta:
        """What a stretch makes of the model as it is, which stays as it is.

        Raises
        ------
        DivergenceError
            If scores grow beyond all bounds.
        """
        tokens, sums = 0, dict.fromkeys(SUMS, 0.0)
        for piece in stretch.pieces:
            trainer = self._trainer(piece.shard)
            trainer.place(
                first_token=self.work.first_tokens[piece.shard], first_batch=piece.first, last_batch=piece.last,
                start=piece.start, end=piece.end,
            )  # fmt: skip
            stats: Any = trainer.run(stretch.epoch, piece.first, piece.last, self.work.threads, None)
            if stats["error"] is not None:
                self._undo()
                raise stats["error"]
            if stats["diverged"]:
                self._undo()
                raise DivergenceError(
                    f"training diverged in epoch {stretch.epoch + 1}: lower rate ({self.work.rate:g}), alpha "
                    f"({self.work.settings.alpha:g}) or interval"
                )
            tokens += stats["tokens"]
            for name in SUMS:
                sums[name] += stats[name]
        changes = {name: pack(self._taken(name), self.work.wire) for name in MATRICES}
        return Delta(changes, {stretch.part: tokens}, sums, {}, sum(packed.nbytes for packed in changes.values()))

    def _taken(self, name: str) -> Changes:
        rows, sums, squares = _core.take_changes(getattr(self._arrays, name), self._base[name])
        return Changes(rows, sums, squares, np.ones(len(rows), np.int32))

    def _undo(self) -> None:
        for name in MATRICES:
            getattr(self._arrays, name)[:] = self._base[name]

    def _trainer(self, shard: int) -> _core.Trainer:
        if shard in self._trainers:
            self._trainers.move_to_end(shard)
            return self._trainers[shard]
        work, arrays = self.work, self._arrays
        assert arrays is not None
        settings, counts = work.settings, work.vocabulary.counts
        options = core_options(settings, work.epochs, words=True)
        options.alpha *= work.rate
        constant = options.min_alpha * work.rate
        options.min_alpha = constant if settings.min_alpha is None else min(options.min_alpha, options.alpha)
        weights: NDArray[np.float32] = np.empty(0, np.float32)
        if settings.full_text:
            weights = context_weights(settings, counts)
        while len(self._trainers) >= _OPEN:
            self._trainers.popitem(last=False)
        self._trainers[shard] = _core.Trainer(
            context_vectors=arrays.context_vectors, selection_vectors=arrays.selection_vectors,
            sense_vectors=arrays.sense_vectors, collocation_vectors=arrays.collocation_vectors,
            sense_offset=arrays.sense_offset, word_counts=counts, corpus=self._corpus_of(shard), options=options,
            sample=settings.sample, ns_exponent=settings.ns_exponent, context_weights=weights,
        )  # fmt: skip
        return self._trainers[shard]


def merge_deltas(one: Delta, other: Delta, wire: Wire, rule: Rule = "agreement") -> Delta:
    """What two groups of workers changed, as one delta.

    Raises
    ------
    ValueError
        If a part is in both: its tokens would count twice.
    """
    about = _without_changes(one, other)
    if about.stale:
        return about
    return about._replace(changes={name: pack(_merged(name, (one, other), rule), wire) for name in MATRICES})


def combine(deltas: Sequence[Delta], parts: int, wire: Wire, rule: Rule = "agreement") -> Step:
    """The step that all changes of a round make, which are in one delta or two."""
    about = deltas[0]._replace(changes={}) if len(deltas) == 1 else _without_changes(*deltas)
    changes: dict[str, Packed] = {}
    if not about.stale:
        for name in MATRICES:
            change = _merged(name, deltas, rule)
            change.sums[:] *= factors(change, parts, rule)[:, None]
            changes[name] = pack(change, wire)
    return Step(changes, about)


def reduce_deltas(deltas: Sequence[Any], join: Callable[[Any, Any], Any]) -> list[Any]:
    """Join neighbours, then what came of that, and so on, until there are two or one left: a tree that depends on the
    number of deltas alone."""
    deltas = list(deltas)
    while len(deltas) > 2:
        pairs = [deltas[i : i + 2] for i in range(0, len(deltas), 2)]
        deltas = [join(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return deltas


def _without_changes(one: Delta, other: Delta) -> Delta:
    if twice := one.tokens.keys() & other.tokens.keys():
        raise ValueError(f"parts {sorted(twice)} would count twice")
    sums = {name: one.sums[name] + other.sums[name] for name in SUMS}
    places = {**one.places, **other.places}
    return Delta({}, {**one.tokens, **other.tokens}, sums, places, one.moved + other.moved, one.stale + other.stale)


def _merged(name: str, deltas: Sequence[Delta], rule: Rule) -> Changes:
    first, *rest = (unpack(delta.changes[name]) for delta in deltas)
    return merge(first, rest[0], rule) if rest else first
