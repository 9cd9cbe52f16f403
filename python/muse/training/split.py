"""From words to senses: the split that follows a word-level warm start (an extension of the paper).

The steps, and why they work, are in docs/algorithm.md:

1. Contexts are averages of word vectors. Contexts of one and the same word vary along a few directions that have little
   to do with its senses (syntax, topic); whitening by that within-word covariance evens them out.
2. P becomes the whitened word vectors, so that the selector's context is a whitened context from then on.
3. The contexts of each word are clustered; a cluster is a sense, and its centroid the sense's row of Q.
4. U starts from the word's vector in every sense; training takes the senses apart.
"""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.base.numeric import unit_rows
from muse.data.arrays import Arrays, Floats
from muse.data.memory import check_memory_for_algebra
from muse.data.settings import Settings
from muse.selector.selection import context_weights, selection_options
from muse.training.whitening import CONSTANT, row_blocks, whiten

__all__ = ["arrays_of_senses", "rows_for", "selection_at_start", "split_arrays"]

logger = logging.getLogger("muse")

_CLUSTERED_CONTEXTS = 1500  # of each word, at most
_DISCOURSE = 10  # sentences for which a word keeps its sense in running text
_USES_A_SENSE = 50  # with senses="auto"; of rarer words a third would be split by chance (benchmarks/senses)


def split_arrays(
    arrays: Arrays, corpus: _core.Corpus, settings: Settings, wanted: NDArray[np.int64], workers: int
) -> Arrays:
    """Arrays with several senses a word from arrays with one.

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
        Threads.

    Returns
    -------
    Arrays
        Padded for training. With ``settings.senses == "auto"`` a word gets as many senses as its contexts support.
    """
    check_memory_for_algebra()
    whitened = whiten(arrays.sense_vectors, corpus, arrays.word_counts, settings, out=rows_for(arrays, settings))
    # A word's own vector is in each of its contexts and tells none of them apart.
    options = selection_options(settings.replace(context_center=False))
    weights = context_weights(settings, arrays.word_counts)
    split = _core.SplitOptions()
    split.seed, split.min_contexts = settings.seed, settings.min_contexts
    split.discourse = _DISCOURSE * whitened.is_running if settings.discourse is None else settings.discourse
    split.share_weight = float(settings.share_weight or 0.0)
    split.adaptive = settings.senses == "auto"
    if split.adaptive:
        wanted = np.clip(arrays.word_counts // _USES_A_SENSE, 1, wanted)
    split.max_cosine_two, split.max_cosine_more = whitened.cosine_two, whitened.cosine_more
    offsets, places = _core.sample_occurrences(corpus, arrays.n_words, _CLUSTERED_CONTEXTS, settings.seed)
    senses, centroids, counts = _core.split_senses(
        whitened.context_vectors, weights, options, corpus, offsets, places, wanted.astype(np.int32), split, workers
    )
    logger.info("split %d words into %d senses; %d words have more than one", arrays.n_words, len(counts),
                int((senses > 1).sum()))  # fmt: skip
    selection = selection_at_start(centroids, whitened.context_vectors, senses, settings)
    del centroids, offsets, places  # before the next matrix is made
    _core.give_back_memory()
    return arrays_of_senses(arrays, settings, whitened.context_vectors, selection, senses, counts)


def rows_for(arrays: Arrays, settings: Settings) -> Floats:
    """Room for the new P: that of the words' P, which nothing reads where every word has one sense."""
    old = arrays.context_vectors
    if old.shape == (arrays.n_words, settings.selection_dim) and arrays.n_senses == arrays.n_words:
        return old
    return _core.aligned_zeros(arrays.n_words, settings.selection_dim)


def arrays_of_senses(
    arrays: Arrays,
    settings: Settings,
    context_vectors: Floats,
    selection: Floats,
    senses: NDArray[np.integer],
    counts: NDArray[np.int64],
) -> Arrays:
    """The arrays of the words' senses, each of which starts from its word."""
    offset = np.zeros(len(senses) + 1, np.int64)
    np.cumsum(senses, out=offset[1:])
    word_of = np.repeat(np.arange(len(senses)), senses)
    collocation = arrays.collocation_vectors
    if settings.collocation == "sense":
        collocation = _rows(collocation, word_of)
    return Arrays(
        context_vectors=context_vectors,
        selection_vectors=selection,
        sense_vectors=_rows(arrays.sense_vectors, word_of),
        collocation_vectors=collocation,
        sense_offset=offset,
        sense_counts=counts.astype(np.int64),
        word_counts=arrays.word_counts,
        forward_values=_like(context_vectors) if settings.formulation == "factorized" else None,
        backward_values=_like(context_vectors) if settings.formulation == "factorized" else None,
    )


def selection_at_start(
    centroids: Floats, context_vectors: Floats, senses: NDArray[np.integer], settings: Settings
) -> Floats:
    """Q from the centroids; where the word itself counts, without what points along its own P: it would be a bias."""
    size = settings.vector_size
    selection: Floats = _core.aligned_zeros(*centroids.shape)
    selection[:] = centroids
    selection[:, size:] /= CONSTANT
    if not settings.context_center:
        return selection
    word_of = np.repeat(np.arange(len(senses)), senses)
    own = unit_rows(context_vectors[:, :size], np.float32)[word_of]
    selection[:, :size] -= np.einsum("ij,ij->i", centroids[:, :size], own)[:, None] * own
    return selection


def _rows(matrix: Floats, rows: NDArray[np.int64]) -> Floats:
    chosen: Floats = _core.aligned_zeros(len(rows), matrix.shape[1])
    for block in row_blocks(len(rows)):  # all at once, numpy would make a copy of them
        chosen[block] = matrix[rows[block]]
    return chosen


def _like(matrix: Floats) -> Floats:
    zeros: Floats = _core.aligned_zeros(*matrix.shape)
    return zeros
