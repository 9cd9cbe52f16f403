"""Sense hygiene: merging senses that mean the same, and dropping senses that are hardly used.

`merge_senses` and `prune_senses` are methods of `MUSE`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.base.checks import integer, number
from muse.base.numeric import unit_rows
from muse.data.arrays import Arrays, Floats
from muse.data.counts import apportioned
from muse.data.forest import Forest
from muse.data.training_state import with_other_senses
from muse.data.vocabulary import Vocabulary
from muse.errors import UnknownSenseError
from muse.model.guard import Model, changes
from muse.model.naming import renumbered
from muse.vectors.sense_keys import SenseKey, parse_sense_key

__all__ = ["SenseMap", "merge_senses", "merged_rows", "prune_senses", "regrouped"]

Integers = NDArray[np.int64]

_THRESHOLD = 0.9  # where about one in fifty pairs of senses that surely differ is merged (benchmarks/hygiene.py)
_BLOCK_FLOATS = 1 << 24  # of the vectors that are compared at once


class SenseMap(Mapping[SenseKey, "tuple[str, int] | None"]):
    """What became of each sense: ``senses["head", 2]`` or ``senses["head#2"]`` is its new key, None where it is gone.

    Parameters
    ----------
    vocabulary : Vocabulary
        The words, which stay the same.
    offset : int64 (V + 1,)
        `Arrays.sense_offset` as it was.
    rows : int64 (Z,)
        New row of each old row, -1 for a sense that is gone.
    numbers : pair of int64 arrays, optional
        Number of each old row within its word, and of each new one; without them the rows are counted.

    Attributes
    ----------
    rows : int64 (Z,)
        As given; ``new[rows[old]]`` takes other data over, such as the results of an earlier `disambiguate_batch`.

    Examples
    --------
    >>> senses = SenseMap(Vocabulary(["head", "army"]), np.array([0, 3, 4]), np.array([0, 1, 0, 2]))
    >>> senses["head#2"], senses["army", 0]
    (('head', 0), ('army', 0))
    >>> senses.changed()
    {('head', 2): ('head', 0)}
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        offset: Integers,
        rows: Integers,
        numbers: tuple[Integers, Integers] | None = None,
    ) -> None:
        self.rows = rows
        self._vocabulary, self._offset = vocabulary, offset
        self._new_offset = new_offset(offset, rows)
        old, new = (_counted(offset), _counted(self._new_offset)) if numbers is None else numbers
        self._old_numbers, self._new_numbers = old, new

    def __getitem__(self, key: SenseKey) -> tuple[str, int] | None:
        word, number = parse_sense_key(key)
        i = self._vocabulary.index(word)
        first, last = int(self._offset[i]), int(self._offset[i + 1])
        found = np.flatnonzero(self._old_numbers[first:last] == number)
        if not len(found):
            raise UnknownSenseError(f"{word!r} had {last - first} senses, and none {number}")
        return self._new_key(i, first + int(found[0]))

    def _new_key(self, word: int, row: int) -> tuple[str, int] | None:
        new = int(self.rows[row])
        return None if new < 0 else (self._vocabulary.words[word], int(self._new_numbers[new]))

    def __iter__(self) -> Iterator[tuple[str, int]]:
        row = 0
        for word, senses in zip(self._vocabulary.words, np.diff(self._offset).tolist(), strict=True):
            for sense in self._old_numbers[row : row + senses].tolist():
                yield word, sense
            row += senses

    def __len__(self) -> int:
        return len(self.rows)

    def changed(self) -> dict[tuple[str, int], tuple[str, int] | None]:
        """The senses that are gone or have another number now."""
        words = np.repeat(np.arange(len(self._offset) - 1), np.diff(self._offset))
        before = self._old_numbers
        after = np.where(self.rows < 0, -1, self._new_numbers[self.rows])
        found: dict[tuple[str, int], tuple[str, int] | None] = {}
        for row in np.flatnonzero(before != after).tolist():
            word = int(words[row])
            found[self._vocabulary.words[word], int(before[row])] = self._new_key(word, row)
        return found

    def __repr__(self) -> str:
        return f"<SenseMap: {len(self.rows)} senses became {int(self._new_offset[-1])}>"


@changes
def merge_senses(self: Model, threshold: float | None = None) -> SenseMap:
    """Merge senses of a word that are the same but for noise.

    The two most similar senses of a word become one, as long as the cosine of their vectors is at least
    `threshold`. A merged sense has the sum of their uses and the mean of their vectors, weighted by their uses, and
    stands where the first of them stood. A model that was trained with the paper's one or two senses too many can
    so be put right afterwards; docs/senses.md says which threshold does what.

    In a model with sense trees contexts decide: two senses of which the tree makes a node become that node, whose
    number and vector the merged sense has, as long as the mean contexts of the two are close.

    Parameters
    ----------
    threshold : float, optional
        Cosine, from -1 (each word keeps one sense) to 1; of sense vectors, or with sense trees of mean contexts. The
        default is 0.9, which fits the recipe `Split`: how close senses lie depends above all on how long they were
        trained. With sense trees the default is the evidence that ``senses="auto"`` asks for.

    Returns
    -------
    SenseMap
        What became of each sense. Anything kept by sense, such as a tagged text, must be renumbered by it.

    Raises
    ------
    NotTrainedError
        If the model is not trained.
    RuntimeError
        In a callback, since training goes on with the senses that it began with, and while another call changes the
        model.

    Notes
    -----
    The model can be trained further, resumed, saved and asked as before. A model loaded with ``mmap=True`` gets new
    arrays in memory; its file stays as it is.

    Examples
    --------
    >>> from muse import MUSE
    >>> from muse.datasets import make_ambiguous_corpus
    >>> model = MUSE(make_ambiguous_corpus(2000, 300, seed=0).sentences, senses=3, vector_size=16, workers=1)
    >>> before = model.arrays.n_senses
    >>> senses = model.merge_senses()
    >>> len(senses) == before and model.arrays.n_senses <= before
    True
    """
    cosine = None if threshold is None else float(number(-1, 1)("threshold", threshold))
    if self.snapshot.forest is not None:
        return _merge_nodes(self, cosine)
    return _regroup(self, lambda arrays: merged_rows(arrays, _THRESHOLD if cosine is None else cosine))


@changes
def prune_senses(self: Model, min_prior: float = 0.05, min_count: int = 0) -> SenseMap:
    """Drop senses that are hardly used; each word keeps its most used sense.

    Parameters
    ----------
    min_prior : float
        Drop senses with a smaller share in the uses of their word.
    min_count : int
        Drop senses with fewer uses in the training text.

    Returns
    -------
    SenseMap
        What became of each sense; see `merge_senses`, which also says what else holds.

    Notes
    -----
    In a model with sense trees a sense that is used too little is joined with the other part of the node that it
    is part of, and dropped only where that part is no sense itself.

    The selector gives the uses of a dropped sense to the others from now on. How many each gets is counted when the
    model is trained next; until then they are shared out so that the shares of the senses that stay are what they were
    among these.

    Raises
    ------
    NotTrainedError
        If the model is not trained.
    RuntimeError
        As in `merge_senses`.

    Examples
    --------
    >>> from muse import MUSE
    >>> from muse.datasets import make_ambiguous_corpus
    >>> model = MUSE(make_ambiguous_corpus(2000, 300, seed=0).sentences, senses=3, vector_size=16, workers=1)
    >>> senses = model.prune_senses(min_prior=0.1)
    >>> bool(model.arrays.priors().min() >= 0.1)
    True
    """
    min_prior, min_count = number(0, 1)("min_prior", min_prior), integer(0, 2**62)("min_count", min_count)
    if self.snapshot.forest is not None:
        return _prune_nodes(self, min_prior, min_count)
    return _regroup(self, lambda arrays: pruned_rows(arrays, min_prior, min_count))


def _merge_nodes(model: Model, cosine: float | None) -> SenseMap:
    """`merge_senses` in a model with trees."""
    before = model.snapshot.forest
    assert before is not None
    trees = before.trees
    narrow = trees.auto_strengths <= trees.auto_strength if cosine is None else 1 - trees.widths(0.0) >= cosine
    return _cut_to(model, before, before.at(*trees.joined(before.sense_offset, before.nodes, narrow)))


def _prune_nodes(model: Model, min_prior: float, min_count: int) -> SenseMap:
    """`prune_senses` in a model with trees."""
    arrays, before = model.snapshot.arrays, model.snapshot.forest
    assert before is not None
    if not before.is_cut(arrays):  # in the midst of training
        return SenseMap(model.snapshot.vocabulary, arrays.sense_offset, np.arange(arrays.n_senses))
    small = pruned_rows(arrays, min_prior, min_count) < 0
    return _cut_to(model, before, before.at(*before.trees.dissolved(before.sense_offset, before.nodes, small)))


def _cut_to(model: Model, before: Forest, after: Forest) -> SenseMap:
    """Publish another cut, whose senses are those of before, joined or dropped; their counts add up."""
    snapshot = model.snapshot
    rows = before.rows_in(after)
    if not np.array_equal(before.nodes, after.nodes):
        numbers = after.arrays(snapshot.arrays.collocation_vectors, snapshot.arrays.word_counts)
        if before.is_cut(snapshot.arrays):
            kept = rows >= 0
            counts = np.zeros(numbers.n_senses, np.int64)
            np.add.at(counts, rows[kept], snapshot.arrays.sense_counts[kept])
            numbers = dataclasses.replace(numbers, sense_counts=counts)
        model.publish(snapshot.replace(numbers=numbers, forest=after))
    return SenseMap(snapshot.vocabulary, before.sense_offset, rows, (before.nodes, after.nodes))


def _counted(offset: Integers) -> Integers:
    """0, 1, ... within each word."""
    counted: Integers = np.arange(int(offset[-1])) - np.repeat(offset[:-1], np.diff(offset))
    return counted


def _regroup(model: Model, rows_of: Callable[[Arrays], Integers]) -> SenseMap:
    snapshot = model.snapshot
    rows = rows_of(snapshot.arrays)
    if not np.array_equal(rows, np.arange(len(rows))):
        numbers, kept = regrouped(snapshot.arrays, rows), rows >= 0
        state = with_other_senses(
            snapshot.training_state,
            lambda counts: np.bincount(rows[kept], counts[kept], numbers.n_senses).astype(np.int64),
        )
        names = renumbered(snapshot, numbers, rows)
        model.publish(snapshot.replace(numbers=numbers, training_state=state, names=names))
    return SenseMap(snapshot.vocabulary, snapshot.arrays.sense_offset, rows)


def merged_rows(arrays: Arrays, threshold: float) -> Integers:
    """New row of each row after merging senses of a word whose vectors have a cosine of at least `threshold`."""
    first = np.arange(arrays.n_senses)  # the row into which each one goes
    counts = np.diff(arrays.sense_offset)
    for n_senses in np.unique(counts[counts > 1]).tolist():
        words = np.flatnonzero(counts == n_senses)
        step = max(1, _BLOCK_FLOATS // (n_senses * max(n_senses, arrays.vector_size)))
        for start in range(0, len(words), step):
            rows = arrays.sense_offset[words[start : start + step], None] + np.arange(n_senses)
            into = _merge(arrays.sense_vectors[rows].astype(np.float64), _weights(arrays, rows), threshold)
            first[rows] = np.take_along_axis(rows, into, axis=1)
    stays = first == np.arange(len(first))
    return (np.cumsum(stays) - 1)[first]


def _merge(vectors: NDArray[np.float64], weights: NDArray[np.float64], threshold: float) -> Integers:
    """For N words with K vectors each, (N, K, D), into which of the K each goes, (N, K): the first of its group."""
    words, senses, _ = vectors.shape
    into = np.tile(np.arange(senses), (words, 1))
    sums, weights = vectors * weights[:, :, None], weights.copy()
    alive, upper = np.ones((words, senses), bool), np.triu(np.ones((senses, senses), bool), 1)
    active = np.arange(words)
    for _ in range(senses - 1):
        cosines = _cosines(sums[active])
        pairs = upper & alive[active, :, None] & alive[active, None, :]
        cosines[~pairs] = -np.inf
        best = cosines.reshape(len(active), -1).argmax(axis=1)
        close = np.take_along_axis(cosines.reshape(len(active), -1), best[:, None], axis=1)[:, 0] >= threshold
        active, best = active[close], best[close]
        if len(active) == 0:
            break
        one, other = best // senses, best % senses
        sums[active, one] += sums[active, other]
        weights[active, one] += weights[active, other]
        alive[active, other] = False
        into[active] = np.where(into[active] == other[:, None], one[:, None], into[active])
    return into


def _cosines(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of all pairs of the K vectors of N words, (N, K, K); 0 with a vector of zeros. Rounded, so that ties are ties."""
    units = unit_rows(vectors)
    cosines: NDArray[np.float64] = np.clip(np.round(units @ units.transpose(0, 2, 1), 12), -1.0, 1.0)
    return cosines


def pruned_rows(arrays: Arrays, min_prior: float, min_count: int) -> Integers:
    """New row of each row, -1 for senses that are used less; the most used sense of each word stays."""
    priors = arrays.priors()
    stays = (priors >= min_prior) & (arrays.sense_counts >= min_count)
    starts, counts = arrays.sense_offset[:-1], np.diff(arrays.sense_offset)
    best = np.repeat(np.maximum.reduceat(priors, starts), counts) == priors
    before = np.cumsum(best) - best  # the first of those that tie
    stays |= best & (before == np.repeat(before[starts], counts))
    return np.where(stays, np.cumsum(stays) - 1, -1)


def new_offset(offset: Integers, rows: Integers) -> Integers:
    """`sense_offset` of the senses that `rows` leaves."""
    last = np.maximum.reduceat(rows, offset[:-1])  # each word keeps a sense
    return np.concatenate(([0], last + 1))


def regrouped(arrays: Arrays, rows: Integers) -> Arrays:
    """Arrays in which old row i has gone to row ``rows[i]``, or away (-1).

    A row with several sources is their mean weighted by their uses; in Q the mean has the mean length of its sources,
    since it competes with the scores of the other senses.
    """
    offset = new_offset(arrays.sense_offset, rows)
    kept = np.flatnonzero(rows >= 0)
    kept = kept[np.argsort(rows[kept], kind="stable")]  # by new row
    starts = np.flatnonzero(np.diff(rows[kept], prepend=-1))
    weights = _weights(arrays, kept)
    changes: dict[str, Any] = {
        "sense_vectors": _means(arrays.sense_vectors, kept, starts, weights),
        "selection_vectors": _means(arrays.selection_vectors, kept, starts, weights, keep_length=True),
        "sense_counts": apportioned(
            np.add.reduceat(arrays.sense_counts[kept], starts),
            np.add.reduceat(arrays.sense_counts, arrays.sense_offset[:-1]),  # those of senses that are gone too
            offset,
        ),
        "sense_offset": offset,
    }
    if arrays.has_sense_collocation:
        changes["collocation_vectors"] = _means(arrays.collocation_vectors, kept, starts, weights)
    return dataclasses.replace(arrays, **changes)


def _weights(arrays: Arrays, rows: Integers) -> NDArray[np.float64]:
    """Weight of rows in a mean: their uses, or equal weights where there are none."""
    return arrays.sense_counts[rows].astype(np.float64) + 1e-6


def _means(
    matrix: Floats, rows: Integers, starts: Integers, weights: NDArray[np.float64], *, keep_length: bool = False
) -> Floats:
    """Weighted means of groups of rows, group i beginning at ``rows[starts[i]]``; a single row stays bit for bit."""
    means: Floats = _core.aligned_zeros(len(starts), matrix.shape[1])
    np.take(matrix, rows[starts], axis=0, out=means)
    sizes = np.diff(np.append(starts, len(rows)))
    for group in np.flatnonzero(sizes > 1).tolist():
        members = slice(starts[group], starts[group] + sizes[group])
        vectors = matrix[rows[members]].astype(np.float64)
        share: NDArray[np.floating] = weights[members] / weights[members].sum()
        mean: NDArray[np.floating] = share @ vectors
        if keep_length and (length := np.linalg.norm(mean)) > 0:
            mean = mean * (share @ np.linalg.norm(vectors, axis=1) / length)
        means[group] = mean
    return means
