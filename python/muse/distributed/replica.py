"""A worker's copy of the words' vectors: trained from a common base, and moved on by what all workers made of it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.data.arrays import Arrays, Floats
from muse.data.settings import Settings
from muse.data.training_state import SUMS
from muse.data.vocabulary import Vocabulary
from muse.distributed.changes import Changes, Rooms, Rule, Wire, apply, merge, take
from muse.distributed.plan import Stretch
from muse.errors import DivergenceError
from muse.selector.selection import context_weights
from muse.training.initial import initial_arrays
from muse.training.options import core_options

__all__ = ["MATRICES", "Delta", "Replica", "Work", "merge_deltas", "piece_of", "reduce_deltas", "told"]

MATRICES = ("sense_vectors", "collocation_vectors")
"""What training words moves: U and V. Nothing selects before there are senses."""

T = TypeVar("T")

_OPEN = 8  # shards that are kept open


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
    changes : dict of str to Changes
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

    changes: Mapping[str, Changes]
    tokens: Mapping[int, int]
    sums: Mapping[str, float]
    places: Mapping[int, tuple[str, float]]
    moved: int = 0
    stale: tuple[int, ...] = ()


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
        self._rooms: dict[str, Rooms] = {}
        self._corpora: OrderedDict[int, _core.Corpus] = OrderedDict()
        self._trainer: _core.Trainer | None = None

    # -- values ------------------------------------------------------------------------------------------------------

    def begin(self, version: tuple[int, int], values: Mapping[str, Floats] | None = None) -> None:
        """Take `values` of U and V, or those that a model starts from."""
        work = self.work
        if self._arrays is None or values is None:
            self._trainer = None
            senses = np.ones(len(work.vocabulary), np.int64)
            arrays = initial_arrays(work.settings, senses, work.vocabulary.counts, of_words=True)
            self._arrays = arrays
            self._base = {name: _core.aligned_zeros(*getattr(arrays, name).shape) for name in MATRICES}
            self._rooms = {name: Rooms(base.size, work.wire) for name, base in self._base.items()}
        for name in MATRICES:
            matrix: Floats = getattr(self._arrays, name)
            if values is not None:
                matrix[:] = values[name]
            self._base[name][:] = matrix
        self.version = version

    def values(self) -> dict[str, Floats]:
        """U and V as all workers have them now, copied."""
        return {name: np.ascontiguousarray(base) for name, base in self._base.items()}

    def apply(self, deltas: Sequence[Delta], rule: Rule = "agreement") -> None:
        """Be of the next version, which all changes of a round make.

        They are in two deltas of two parts, or else each row is in one delta alone.
        """
        assert self.version is not None
        parts = len(told(deltas).tokens)
        for name in MATRICES:
            groups = [delta.changes[name] for delta in deltas]
            for some in [groups] if len(groups) == 2 else [[group] for group in groups]:
                apply(self._base[name], [getattr(self._arrays, name)], some, parts, rule)
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
            trainer, corpus = self._ready(piece.shard)
            trainer.place(
                corpus, first_token=self.work.first_tokens[piece.shard], first_batch=piece.first,
                last_batch=piece.last, start=piece.start, end=piece.end,
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
        changes = {name: self._taken(name) for name in MATRICES}
        return Delta(changes, {stretch.part: tokens}, sums, {}, sum(change.nbytes for change in changes.values()))

    def _taken(self, name: str) -> Changes:
        return take(getattr(self._arrays, name), self._base[name], self.work.wire, self._rooms[name].free())

    def _undo(self) -> None:
        for name in MATRICES:
            getattr(self._arrays, name)[:] = self._base[name]

    def prepare(self, shards: Iterable[int]) -> None:
        """Do what is to be done once before shards are trained."""
        for shard in shards:
            self._ready(shard)

    def _ready(self, shard: int) -> tuple[_core.Trainer, _core.Corpus]:
        if shard not in self._corpora:
            while len(self._corpora) >= _OPEN:
                self._corpora.popitem(last=False)
            self._corpora[shard] = self._corpus_of(shard)
        self._corpora.move_to_end(shard)
        corpus = self._corpora[shard]
        if self._trainer is None:
            self._trainer = self._new_trainer(corpus)
        return self._trainer, corpus

    def _new_trainer(self, corpus: _core.Corpus) -> _core.Trainer:
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
        return _core.Trainer(
            context_vectors=arrays.context_vectors, selection_vectors=arrays.selection_vectors,
            sense_vectors=arrays.sense_vectors, collocation_vectors=arrays.collocation_vectors,
            sense_offset=arrays.sense_offset, word_counts=counts, corpus=corpus, options=options,
            sample=settings.sample, ns_exponent=settings.ns_exponent, context_weights=weights,
        )  # fmt: skip


def merge_deltas(one: Delta, other: Delta, rule: Rule = "agreement") -> Delta:
    """What two groups of workers changed, as one delta.

    Raises
    ------
    ValueError
        If a part is in both: its tokens would count twice.
    """
    about = told([one, other])
    if about.stale:
        return about
    return about._replace(changes={name: merge(one.changes[name], other.changes[name], rule) for name in MATRICES})


def told(deltas: Sequence[Delta]) -> Delta:
    """What several deltas tell, without the changes.

    Raises
    ------
    ValueError
        If a part is in two of them.
    """
    first, *rest = deltas
    out = first._replace(changes={})
    for delta in rest:
        if twice := out.tokens.keys() & delta.tokens.keys():
            raise ValueError(f"parts {sorted(twice)} would count twice")
        sums = {name: out.sums[name] + delta.sums[name] for name in SUMS}
        out = Delta({}, {**out.tokens, **delta.tokens}, sums, {**out.places, **delta.places},
                    out.moved + delta.moved, out.stale + delta.stale)  # fmt: skip
    return out


def piece_of(delta: Delta, number: int, count: int, rows: int) -> Delta:
    """The changes of one of so many equal ranges of a matrix's rows; the first piece tells what was trained."""
    limits = rows * number // count, rows * (number + 1) // count
    changes = {}
    for name, change in delta.changes.items():
        some = slice(*np.searchsorted(change.rows, limits))
        changes[name] = Changes(
            change.rows[some], change.sums[some], change.units[some], change.squares[some], change.workers[some]
        )
    if number:
        return Delta(changes, {}, dict.fromkeys(SUMS, 0.0), {}, stale=delta.stale)
    return delta._replace(changes=changes)


def reduce_deltas(deltas: Sequence[T], join: Callable[[T, T], T]) -> list[T]:
    """Join neighbours, then what came of that, and so on, by a tree that depends on the number of deltas alone.

    Two are left as they are: each worker needs what the other has, and nothing is gained by joining them elsewhere.
    """
    left = list(deltas)
    if len(left) == 2:
        return left
    while len(left) > 1:
        pairs = [left[i : i + 2] for i in range(0, len(left), 2)]
        left = [join(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return left
