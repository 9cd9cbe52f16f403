"""Mean contexts of senses in a slice, and what a linear map of them adds to the vectors of the compass.

The compass's senses got their vectors from the mean topics of their uses, by a linear map from mean topics of words to
vectors of words. The same map takes what a slice's mean topic of a sense is beyond that of all slices to what the slice
adds to the sense's vector: so a slice needs no training, and its vectors are in the space of all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.data.arrays import Arrays, Floats
from muse.data.forest import Forest
from muse.data.snapshot import Snapshot
from muse.training.trees import linear_map

__all__ = ["Means", "SliceSpace", "TaggedUses", "mean_contexts", "pooled", "read_contexts", "read_topics", "word_means"]

Integers = NDArray[np.int64]

_USES_AT_ONCE = 1 << 15  # whose contexts are in memory
_WORTH_A_THREAD = 1 << 12  # uses
_DOUBT = 10  # uses for which half of what a slice adds to a vector is believed
_LEARNED_COUNT, _LEARNED_WORDS = 100, 3000  # of the words that the map is fitted to, as in training


class Means(NamedTuple):
    """Mean topics of the senses of which a slice has uses.

    Attributes
    ----------
    rows : int64 (R,)
        Rows of the senses, rising.
    uses : int64 (R,)
        Sampled uses of each.
    topics : float32 (R, D)
        Their mean.
    """

    rows: Integers
    uses: Integers
    topics: Floats


def read_topics(forest: Forest, corpus: _core.Corpus, places: Integers, workers: int) -> Floats:
    """The topics of uses at some places of a text, float32 (n, D)."""
    topics: Floats = forest.space.core.raw(corpus, places, workers)[0]
    return topics


def read_contexts(forest: Forest, corpus: _core.Corpus, places: Integers, workers: int) -> Floats:
    """The contexts of uses at some places of a text, at length one, float32 (n, S)."""
    if workers < 2 or len(places) < _WORTH_A_THREAD:
        return forest.space.core.contexts(corpus, places)
    with ThreadPoolExecutor(workers) as pool:
        parts = pool.map(lambda some: forest.space.core.contexts(corpus, some), np.array_split(places, workers))
        joined: Floats = np.concatenate(list(parts))
    return joined


class TaggedUses(NamedTuple):
    """Sampled uses of all words in a slice, and what they were tagged as.

    Attributes
    ----------
    corpus : _core.Corpus
        The slice.
    offsets, places : int64 (V + 1,), (N,)
        Those of word i are ``places[offsets[i]:offsets[i + 1]]``.
    senses : int64 (N,)
        The row of the sense of each.
    """

    corpus: _core.Corpus
    offsets: Integers
    places: Integers
    senses: Integers


def mean_contexts(forest: Forest, uses: TaggedUses, workers: int) -> Means:
    """The mean topics of the senses of a slice, by the forest of the compass."""
    rows, count = np.unique(uses.senses, return_counts=True)
    sums = np.zeros((len(rows), forest.word_vectors.shape[1]), np.float32)
    for some in _blocks(len(uses.places)):
        topics, senses = read_topics(forest, uses.corpus, uses.places[some], workers), uses.senses[some]
        order = np.argsort(senses, kind="stable")
        mine, starts = np.unique(senses[order], return_index=True)
        sums[np.searchsorted(rows, mine)] += np.add.reduceat(topics[order], starts, axis=0)
    sums /= np.maximum(count, 1)[:, None].astype(np.float32)
    return Means(rows, count.astype(np.int64), sums)


def _blocks(count: int) -> Iterator[slice[int, int, None]]:
    for first in range(0, count, _USES_AT_ONCE):
        yield slice(first, first + _USES_AT_ONCE)


def pooled(slices: list[Means], totals: list[Integers], arrays: Arrays) -> tuple[Floats, Integers]:
    """Mean topics of senses over slices, each by its uses, float32 (Z, D), and uses, int64 (Z,)."""
    sums = np.zeros((arrays.n_senses, arrays.vector_size), np.float32)
    uses = np.zeros(arrays.n_senses, np.int64)
    for means, total in zip(slices, totals, strict=True):
        sums[means.rows] += means.topics * total[means.rows, None].astype(np.float32)
        uses[means.rows] += total[means.rows]
    sums /= np.maximum(uses, 1)[:, None].astype(np.float32)
    return sums, uses


def word_means(topics: Floats, uses: Integers, sense_offset: Integers) -> tuple[Floats, Integers]:
    """Those of words, of those of their senses: float32 (V, D), int64 (V,)."""
    starts = sense_offset[:-1]
    totals = np.add.reduceat(uses, starts)
    sums = np.add.reduceat(topics * uses[:, None].astype(np.float32), starts, axis=0)
    means: Floats = (sums / np.maximum(totals, 1)[:, None]).astype(np.float32)
    return means, totals


@dataclass(frozen=True)
class SliceSpace:
    """What takes mean contexts of a slice to vectors; slices that are added later do not change it.

    Attributes
    ----------
    snapshot : Snapshot
        The compass.
    map : float32 (D, D)
        From mean topics to vectors.
    topics : float32 (Z, D)
        Mean topics of senses over the slices of which the compass was made.
    uses : int64 (Z,)
        Their uses there.
    """

    snapshot: Snapshot
    map: Floats
    topics: Floats
    uses: Integers

    @classmethod
    def learn(cls, snapshot: Snapshot, means: list[Means], totals: list[Integers]) -> SliceSpace:
        """That of slices, of which mean contexts and uses of senses are given."""
        topics, uses = pooled(means, totals, snapshot.arrays)
        words, of_words = word_means(topics, uses, snapshot.arrays.sense_offset)
        return cls(snapshot, _fit_map(words, of_words, snapshot), topics, uses)

    @property
    def _forest(self) -> Forest:
        assert self.snapshot.forest is not None  # of a compass
        return self.snapshot.forest

    def induced(self, word: int, topics: NDArray[Any]) -> NDArray[Any]:
        """Vectors of a word whose mean topics are these, (B, D)."""
        senses = self.snapshot.arrays.rows_of(word)
        uses, vector = self.uses[senses], self._forest.word_vectors[word]
        if not uses.any():
            return np.broadcast_to(vector, topics.shape)
        mine = uses @ self.topics[senses] / int(uses.sum())
        moved: NDArray[Any] = vector + np.float32(self._forest.trees.shrinkage) * ((topics - mine) @ self.map)
        return moved

    def sense_vectors(self, means: Means) -> Floats:
        """Of all senses in a slice, float32 (Z, D); those of the compass where it has none."""
        vectors: Floats = np.array(self.snapshot.arrays.sense_vectors, np.float32)
        belief = self._belief(means.uses, self.uses[means.rows])
        vectors[means.rows] += belief * ((means.topics - self.topics[means.rows]) @ self.map)
        return vectors

    def word_vectors(self, means: Means, totals: Integers) -> Floats:
        """Of all words in a slice, float32 (V, D); those of the compass where it has none."""
        offset = self.snapshot.arrays.sense_offset
        here, _ = word_means(*pooled([means], [totals], self.snapshot.arrays), offset)
        all_of, known = word_means(self.topics, self.uses, offset)
        sampled = np.zeros(len(self.uses), np.int64)
        sampled[means.rows] = means.uses
        belief = self._belief(np.add.reduceat(sampled, offset[:-1]), known)
        moved: Floats = (self._forest.word_vectors + belief * ((here - all_of) @ self.map)).astype(np.float32)
        return moved

    def _belief(self, sampled: Integers, known: Integers) -> Floats:
        """How much of what a slice adds counts, float32 (n, 1): less where few uses say it."""
        share = self._forest.trees.shrinkage * sampled / (sampled + _DOUBT) * ((known > 0) & (sampled > 0))
        return np.asarray(share[:, None], np.float32)


def _fit_map(word_topics: Floats, uses: Integers, snapshot: Snapshot) -> Floats:
    """The linear map from mean topics of words to their vectors, float32 (D, D); zeros in a text that is too small."""
    arrays, forest = snapshot.arrays, snapshot.forest
    assert forest is not None
    size = arrays.vector_size
    learned = np.flatnonzero((arrays.word_counts >= _LEARNED_COUNT) & (uses > 0))
    if len(learned) < 2:
        return np.zeros((size, size), np.float32)
    rng = np.random.Generator(np.random.Philox(snapshot.settings.seed & 0x7FFFFFFFFFFFFFFF))
    learned = np.sort(rng.permutation(learned)[:_LEARNED_WORDS])
    return np.ascontiguousarray(linear_map(word_topics[learned], forest.word_vectors[learned]), np.float32)
