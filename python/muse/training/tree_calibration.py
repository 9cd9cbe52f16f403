"""What sense trees take from the text itself: how sure to be, how much of a shift to add, and which joins are wide.

Nobody has said which uses of a text have which meaning. But uses of two words that are thrown together do have two
meanings, and it is known which is which; and the words around a use can be parted into two halves, of which one tells
how much of what the other says is chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.data.sense_trees import Cut, SenseTrees
from muse.data.use_space import UseSpace, window_options

__all__ = ["Uses", "measure_auto_strength", "measure_shrinkage", "measure_temperature"]

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Integers = NDArray[np.int64]

_LEAST_COUNT, _MOST_COUNT = 200, 6000  # occurrences of the words that are asked
_PAIRS = 200  # of words whose uses are pooled
_SHARES = (0.06, 0.1, 0.15, 0.25, 0.5)  # of the second word in its pool
_POOL = 300  # uses
_LEAST_PAIRS = 40
_LEAST_SECOND = 12  # uses of the second word in its pool
_ANSWERED = 3  # every so many-th use of a pool is asked for
_COLDEST, _HOTTEST = 0.01, 1.0
_WIDE = 0.65  # quantile
_LEAST_WORDS = 40  # for a quantile, and for the shrinkage
_HALVED, _HALVED_USES = 200, 300  # words whose contexts are halved, and uses of each
_HALVED_SENSES = 4
_LEAST_NODE = 3  # uses
_WORDS_AT_ONCE = 16


class Uses(NamedTuple):
    """Sampled uses of all words, and what is needed to read and cluster them.

    Attributes
    ----------
    corpus : _core.Corpus
    offsets, places : int64 (V + 1,), (N,)
        Those of word i are ``places[offsets[i]:offsets[i + 1]]``.
    options : _core.TreeOptions
    workers : int
    """

    corpus: _core.Corpus
    offsets: Integers
    places: Integers
    options: _core.TreeOptions
    workers: int

    def some(self, word: int, count: int) -> Integers:
        """So many uses of a word at most, spread over all."""
        places = self.places[self.offsets[word] : self.offsets[word + 1]]
        count = min(count, len(places))
        return places[np.arange(count) * len(places) // max(count, 1)]

    def count(self, word: int) -> int:
        """Sampled uses of a word."""
        return int(self.offsets[word + 1] - self.offsets[word])

    def grow(self, space: _core.UseSpace, groups: Sequence[Integers], senses: int) -> Cut:
        """The trees of some groups of uses, cut."""
        offsets = np.concatenate(([0], np.cumsum([len(group) for group in groups])))
        found = _core.grow_trees(space, self.corpus, offsets, np.concatenate(groups), self.options, self.workers)
        leaves = np.diff(found["leaf_offset"])
        return SenseTrees(
            found["leaf_offset"], found["means"], np.zeros((len(found["counts"]), 0), np.float32), found["counts"],
            found["joins"], found["strengths"], np.ones(len(leaves), np.int64), self.options.share_power,
        ).cut(senses)  # fmt: skip


def _draw_words(word_counts: Integers, count: int, rng: np.random.Generator) -> Integers:
    """Some of the words that are neither rare nor the most frequent, in random order."""
    words = np.flatnonzero((word_counts >= _LEAST_COUNT) & (word_counts <= _MOST_COUNT))
    return rng.permutation(words)[:count]


# -- how sure ----------------------------------------------------------------------------------------------------------


def measure_temperature(space: UseSpace, uses: Uses, word_counts: Integers, seed: int) -> float | None:
    """The temperature at which answers are as sure as they are right, on pooled uses of pairs of random words.

    Parameters
    ----------
    space : UseSpace
    uses : Uses
    word_counts : int64 (V,)
    seed : int

    Returns
    -------
    float or None
        None where the text has too few words.
    """
    rng = np.random.Generator(np.random.Philox(key=(seed, 1)))
    drawn = _draw_words(word_counts, 2 * _PAIRS, rng)
    if len(drawn) < 2 * _LEAST_PAIRS:
        return None
    pools, seconds = [], []
    for i in range(_PAIRS):
        one, other = (int(word) for word in rng.choice(drawn, 2, replace=False))
        share = _SHARES[i % len(_SHARES)]
        total = int(min(_POOL, uses.count(one) / (1 - share), uses.count(other) / share))
        second = uses.some(other, max(_LEAST_SECOND, int(total * share)))
        first = uses.some(one, total - len(second))
        pools.append(np.concatenate((first, second)))
        seconds.append(np.arange(len(pools[-1])) >= len(first))
    cut = uses.grow(space.core, pools, 2)
    bias = space.bias(cut.sense_offset, cut.counts)
    asked = [pool[::_ANSWERED] for pool in pools]
    ends = np.cumsum([len(places) for places in asked])
    contexts = space.core.contexts(uses.corpus, np.concatenate(asked))
    margins, right = [], []
    for i, (rows, truth) in enumerate(zip(np.split(contexts, ends[:-1]), seconds, strict=True)):
        senses = slice(int(cut.sense_offset[i]), int(cut.sense_offset[i + 1]))
        if senses.stop - senses.start < 2:
            continue
        scores = rows @ cut.centroids[senses].T + bias[senses]
        margins.append(scores[:, 1] - scores[:, 0])
        right.append(truth[::_ANSWERED])
    return matching_temperature(margins, right)


def matching_temperature(margins: Sequence[Floats], truth: Sequence[NDArray[np.bool_]]) -> float | None:
    """The temperature at which the mean probability of what is chosen equals the share of what is chosen rightly.

    Parameters
    ----------
    margins : sequence of float32 (n,)
        By how much the score of the second sense is larger than that of the first, pool by pool; pools weigh the same.
    truth : sequence of bool (n,)
        What the uses are. Which sense stands for which is chosen so that most are right.
    """
    if not margins:
        return None
    agreements = [float(np.mean((margin > 0) == second)) for margin, second in zip(margins, truth, strict=True)]
    accuracy = float(np.mean(np.maximum(agreements, np.subtract(1, agreements))))

    lengths = np.array([len(margin) for margin in margins])
    sure, weights = np.abs(np.concatenate(margins)), np.repeat(1 / (len(lengths) * lengths), lengths)

    def confidence(temperature: float) -> float:
        return float(weights @ (1 / (1 + np.exp(-sure / temperature))))

    cold, hot = _COLDEST, _HOTTEST
    for _ in range(30):
        middle = (cold * hot) ** 0.5
        cold, hot = (middle, hot) if confidence(middle) > accuracy else (cold, middle)
    return cold


# -- how wide ----------------------------------------------------------------------------------------------------------


def measure_auto_strength(trees: SenseTrees, word_counts: Integers) -> float | None:
    """How wide a join must be that ``senses="auto"`` undoes: as wide as the roots of 65% of the text's words are not.

    Parameters
    ----------
    trees : SenseTrees
    word_counts : int64 (V,)

    Returns
    -------
    float or None
        None where the text has too few words.
    """
    asked = (trees.n_leaves > 0) & (word_counts >= _LEAST_COUNT) & (word_counts <= _MOST_COUNT)
    if asked.sum() < _LEAST_WORDS:
        return None
    roots = np.cumsum(np.maximum(trees.n_leaves - 1, 0)) - 1
    return float(np.quantile(trees.auto_strengths[roots[asked]], _WIDE))


# -- how much ----------------------------------------------------------------------------------------------------------


def measure_shrinkage(
    space: UseSpace, uses: Uses, word_counts: Integers, to_vectors: Doubles, seed: int
) -> float | None:
    """How much of what the words around its uses say of a sense is no chance.

    Half of the words tell what the other half says with a factor s. All of them together are twice as many, and tell
    what as many others would say with 2 s / (1 + s) (the formula of Spearman and Brown).

    Parameters
    ----------
    space : UseSpace
    uses : Uses
    word_counts : int64 (V,)
    to_vectors : float64 (Dt, D)
        The map from mean topics to word vectors.
    seed : int

    Returns
    -------
    float or None
        None where the text has too few words.
    """
    words = _draw_words(word_counts, _HALVED, np.random.Generator(np.random.Philox(key=(seed, 2))))
    if len(words) < _LEAST_WORDS:
        return None
    groups = [uses.some(int(word), _HALVED_USES) for word in words]
    odd, even = (_half(space, parity) for parity in (1, 0))
    cut = uses.grow(odd, groups, _HALVED_SENSES)
    bias = space.bias(cut.sense_offset, cut.counts)
    pairs: list[tuple[Floats, Floats]] = []
    for block in range(0, len(groups), _WORDS_AT_ONCE):
        some = groups[block : block + _WORDS_AT_ONCE]
        places, ends = np.concatenate(some), np.cumsum([len(group) for group in some])
        first, second = (half.raw(uses.corpus, places, uses.workers)[0] for half in (odd, even))
        for i, end in enumerate(ends):
            rows = slice(int(cut.sense_offset[block + i]), int(cut.sense_offset[block + i + 1]))
            own = slice(int(end) - len(some[i]), int(end))
            lengths = np.maximum(np.linalg.norm(first[own], axis=1, keepdims=True), 1e-12)
            scores = np.einsum("ud,sd->us", first[own] / lengths, cut.centroids[rows])  # no BLAS, see model/products.h
            pairs += node_offsets(first[own], second[own], (scores + bias[rows]).argmax(axis=1))
    if not pairs:
        return None
    ones, others = (_mapped(np.array(side), to_vectors) for side in zip(*pairs, strict=True))
    half = agreeing_part(ones, others)
    return None if half is None else 2 * half / (1 + half)


def _half(space: UseSpace, parity: int) -> _core.UseSpace:
    """Topics of the words at odd or at even distances."""
    options = window_options(space.topic_window, space.distance_power)
    options.distance = [weight if d % 2 == parity else 0.0 for d, weight in enumerate(options.distance)]
    return replace(space, order_vectors=None).core_of(options)


def node_offsets(first: Floats, second: Floats, chosen: Integers) -> list[tuple[Floats, Floats]]:
    """What each sense with enough uses lies off its word's mean, in both halves, (Dt,) each."""
    counts = np.bincount(chosen)
    senses = np.flatnonzero(counts >= _LEAST_NODE)
    halves = []
    for half in (first, second):
        means = np.zeros((len(counts), half.shape[1]), np.float32)
        _core.average_rows(half, chosen, np.ones(len(chosen), np.int64), means, False)
        halves.append(means[senses] - half.mean(axis=0))
    return list(zip(*halves, strict=True))


def _mapped(rows: Floats, to_vectors: Doubles) -> Floats:
    out = np.zeros((len(rows), to_vectors.shape[1]), np.float32)
    _core.transform_rows(rows, np.ascontiguousarray(to_vectors, np.float32), out)
    return out


def agreeing_part(ones: Floats, others: Floats) -> float | None:
    """The s with which s times the rows of the one tell those of the other best, between 0.1 and 1."""
    square = float(np.einsum("ij,ij->", ones, ones, dtype=np.float64))
    if square <= 0.0:
        return None
    return float(np.clip(np.einsum("ij,ij->", ones, others, dtype=np.float64) / square, 0.1, 1.0))
