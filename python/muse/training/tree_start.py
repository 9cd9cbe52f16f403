"""Senses from sense trees, to be trained on: the start of recipes that train senses (docs/algorithm.md).

The trees grow from the words as they are after the word-level epochs, and a cut of each gives the word's senses. Then:

1. U of a sense is its word's, moved by what its node says; so senses are apart before they are trained.
2. P are whitened word vectors, as with the split: the selector of trained senses sees what it sees there.
3. Some uses of each word are given to the nodes of its cut, in the space of the trees; a sense's row of Q is the mean
   of what the selector sees of its uses.
"""

from __future__ import annotations

import dataclasses
import logging
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.base.numeric import unit_rows
from muse.data.arrays import Arrays, Floats
from muse.data.sense_trees import Cut
from muse.data.settings import Settings
from muse.data.use_space import UseSpace
from muse.selector.selection import context_weights, selection_options
from muse.training.growing import Parts, tree_settings
from muse.training.split import arrays_of_senses, rows_for, selection_at_start
from muse.training.trees import Progress, grow_trees
from muse.training.whitening import row_blocks, whiten

__all__ = ["arrays_from_trees"]

logger = logging.getLogger("muse")

Integers = NDArray[np.int64]

_GIVEN = 300  # uses of each word that are given to its senses, about
_BLOCK_USES = 8192  # at a time


def arrays_from_trees(
    arrays: Arrays, corpus: _core.Corpus, settings: Settings, wanted: Integers, workers: int
) -> Arrays:
    """Arrays with several senses a word from arrays with one, by sense trees.

    Parameters
    ----------
    arrays : Arrays
        Of a word-level model: one sense a word, S = D.
    corpus : _core.Corpus
        What it was trained on.
    settings : Settings
        Those of the model.
    wanted : int64 (V,)
        The most senses that each word may get.
    workers : int
        Threads. What comes does not depend on their number, but for the encoder of the trees, which does, but for one.

    Returns
    -------
    Arrays
        Padded for training. With ``settings.senses == "auto"`` a word gets as many senses as its tree has wide joins.
    """
    with Parts(settings.progress) as parts:
        return _arrays_from_trees(arrays, corpus, settings, wanted, workers, parts.tick)


def _arrays_from_trees(
    arrays: Arrays, corpus: _core.Corpus, settings: Settings, wanted: Integers, workers: int, tick: Progress
) -> Arrays:
    space, trees = grow_trees(arrays, corpus, tree_settings(settings), workers, tick)[:2]
    tick("cut", 0, 1)
    chosen = trees.senses_of("auto" if settings.senses == "auto" else np.asarray(wanted, np.int64))
    cut = dataclasses.replace(trees, default_senses=chosen).cut()  # of which the most frequent sense is the first
    shrinkage, senses = np.float32(trees.shrinkage), np.diff(cut.sense_offset)
    del trees
    logger.info("trees of %d words give %d senses; %d words have more than one", arrays.n_words, len(cut.counts),
                int((senses > 1).sum()))  # fmt: skip
    tick("cut", 1, 1)
    tick("selector", 0, 1)
    context_vectors = whiten(
        arrays.sense_vectors, corpus, arrays.word_counts, settings, out=rows_for(arrays, settings)
    ).context_vectors
    givers = _Givers(space, cut, space.bias(cut.sense_offset, cut.counts), corpus, context_vectors, settings,
                     context_weights(settings, arrays.word_counts))  # fmt: skip
    tick("selector", 1, 1)
    centroids, counts = givers.all(arrays.word_counts, workers, tick)
    del space, givers
    selection = selection_at_start(centroids, context_vectors, senses, settings)
    del centroids  # before the next matrix is made
    _core.give_back_memory()
    made = arrays_of_senses(arrays, settings, context_vectors, selection, senses, counts)
    for rows in row_blocks(made.n_senses):
        made.sense_vectors[rows] += shrinkage * cut.shifts[rows]
    return made


class _Givers(NamedTuple):
    """What gives uses to senses: their trees' space and cut, and what the selector will see."""

    space: UseSpace
    cut: Cut
    bias: Floats  # (Z,)
    corpus: _core.Corpus
    context_vectors: Floats
    settings: Settings
    weights: Floats

    def all(self, word_counts: Integers, workers: int, tick: Progress) -> tuple[Floats, Integers]:
        """Centroids, float32 (Z, S), and uses of all senses, int64 (Z,); a word's only sense has zeros, and all."""
        from concurrent.futures import ThreadPoolExecutor  # that few trainings need

        offset = self.cut.sense_offset
        senses, vocabulary = np.diff(offset), len(word_counts)
        centroids = np.zeros((int(offset[-1]), self.settings.selection_dim), np.float32)
        counts = np.repeat(word_counts, senses)
        starts, places = _core.sample_occurrences(self.corpus, vocabulary, _GIVEN, self.settings.seed)
        several = np.flatnonzero(senses > 1)
        block_of = np.cumsum(np.diff(starts)[several]) // _BLOCK_USES
        blocks = np.split(several, np.flatnonzero(np.diff(block_of)) + 1) if len(several) else []

        def give(words: Integers) -> None:  # a sense is in one block, so threads write to different rows
            self._give(words, [places[starts[word] : starts[word + 1]] for word in words], centroids, counts)

        given = 0
        tick("senses", 0, len(several))
        with ThreadPoolExecutor(workers) as threads:
            for block, _ in zip(blocks, threads.map(give, blocks), strict=True):
                given += len(block)
                tick("senses", given, len(several))
        return centroids, counts

    def _give(self, words: Integers, uses: list[Integers], centroids: Floats, counts: Integers) -> None:
        """Those of some words, into their rows."""
        offset, size, places = self.cut.sense_offset, self.settings.vector_size, np.concatenate(uses)
        options = selection_options(self.settings.replace(context_center=False))  # as the clusters of the split
        contexts = self.space.core.contexts(self.corpus, places)
        seen = _core.context_vectors(self.context_vectors, self.weights, options, self.corpus, places)
        seen[:, size:] = 0.0  # the constant
        seen = unit_rows(seen, np.float32)
        first = 0
        for word, own in zip(words, uses, strict=True):
            senses, rows = slice(int(offset[word]), int(offset[word + 1])), slice(first, first + len(own))
            first = rows.stop
            scores = contexts[rows] @ self.cut.centroids[senses].T + self.bias[senses]
            given = scores.argmax(axis=1) == np.arange(scores.shape[1])[:, None]
            counts[senses] = given.sum(axis=1)
            none = np.flatnonzero(counts[senses] == 0)
            given[none, scores.argmax(axis=0)[none]] = True  # the nearest use
            centroids[senses] = unit_rows(given.astype(np.float32) @ seen[rows], np.float32)
            if self.settings.share_weight:
                share = np.maximum(counts[senses], 0.5) / len(own)
                centroids[senses, -1] = self.settings.share_weight * np.log(share)
