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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.arrays import Arrays, Floats
from muse.memory import check_memory_for_algebra
from muse.selection import context_weights, selection_options
from muse.settings import Settings

__all__ = ["split_arrays"]

logger = logging.getLogger("muse")

_SAMPLED_WORDS = 2500  # whose contexts give the within-word covariance
_SAMPLED_CONTEXTS = 80  # of each of them
_SAMPLED_COUNT = 50  # words that occur less often do not take part
_CLUSTERED_CONTEXTS = 1500  # of each word, at most
_USES_A_SENSE = 50  # with senses="auto"; of rarer words a third would be split by chance (benchmarks/senses)
_EIGENVALUE_FLOOR = 1e-5  # of the largest: directions without variance are not blown up
_LEAST_VARIANCE = 1e-12  # of the averages of unit vectors that contexts are: less is rounding
# Quantiles of the cosine between mean contexts of two random words. Two senses may be about as close as unrelated words
# are; three must be further apart, since a needless third cluster lies between the others (benchmarks/senses).
_QUANTILE_TWO, _QUANTILE_MORE = 0.90, 0.65


class _Whitening(NamedTuple):
    context_vectors: Floats  # P (V, S)
    cosine_two: float
    cosine_more: float


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
    # A word's own vector is in each of its contexts and tells none of them apart.
    options = selection_options(settings.replace(context_center=False))
    weights = context_weights(settings, arrays.word_counts)
    whitened = _whiten(arrays, corpus, settings, options, weights)
    split = _core.SplitOptions()
    split.seed = settings.seed
    split.min_contexts = settings.min_contexts
    split.discourse = settings.discourse
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
    return _expand(arrays, settings, whitened.context_vectors, senses, centroids, counts)


def _whiten(
    arrays: Arrays,
    corpus: _core.Corpus,
    settings: Settings,
    options: _core.SelectionOptions,
    weights: NDArray[np.float32],
) -> _Whitening:
    unit = _unit_rows(arrays.sense_vectors)
    tokens = np.maximum(arrays.word_counts, 0).astype(np.float64)
    mean = tokens @ unit / max(tokens.sum(), 1.0)
    vectors: Floats = _core.aligned_zeros(*unit.shape)
    vectors[:] = unit - mean
    words, contexts = _sample_contexts(vectors, corpus, arrays, settings, options, weights)
    if len(contexts) < 2 * vectors.shape[1]:  # a tiny corpus: no covariance to speak of
        return _Whitening(vectors, 0.2, 0.05)
    counts = np.bincount(words)
    means = np.zeros((len(counts), vectors.shape[1]))
    np.add.at(means, words, contexts)
    means /= counts[:, None]
    within = contexts - means[words]
    variance, axes = np.linalg.eigh(within.T @ within / max(len(contexts) - len(counts), 1))
    if variance[-1] < _LEAST_VARIANCE:  # all contexts of a word are the same
        return _Whitening(vectors, *_calibrate(means, settings.seed))
    variance = np.maximum(variance, variance[-1] * _EIGENVALUE_FLOOR)
    transform = axes / variance ** (settings.whitening / 2)
    vectors[:] = vectors @ transform
    return _Whitening(vectors, *_calibrate(means @ transform, settings.seed))


def _sample_contexts(
    vectors: Floats,
    corpus: _core.Corpus,
    arrays: Arrays,
    settings: Settings,
    options: _core.SelectionOptions,
    weights: NDArray[np.float32],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Contexts of some words: the number of the word (0, 1, ...) and the context of each, (n,) and (n, S)."""
    rng = np.random.Generator(np.random.Philox(settings.seed))
    frequent = np.flatnonzero(arrays.word_counts >= _SAMPLED_COUNT)
    if len(frequent) > _SAMPLED_WORDS:
        frequent = np.sort(rng.permutation(frequent)[:_SAMPLED_WORDS])
    offsets, places = _core.sample_occurrences(corpus, arrays.n_words, _SAMPLED_CONTEXTS, settings.seed)
    sizes = offsets[frequent + 1] - offsets[frequent]
    frequent, sizes = frequent[sizes > 1], sizes[sizes > 1]
    if len(frequent) == 0:
        return np.zeros(0, np.int64), np.zeros((0, vectors.shape[1]))
    chosen = np.concatenate([places[offsets[word] : offsets[word + 1]] for word in frequent])
    contexts = _core.context_vectors(vectors, weights, options, corpus, chosen)
    return np.repeat(np.arange(len(frequent)), sizes), contexts.astype(np.float64)


def _calibrate(means: NDArray[np.float64], seed: int) -> tuple[float, float]:
    """The largest cosines allowed between senses, from those between the mean contexts of random words."""
    if len(means) < 100:
        return 0.2, 0.05
    rng = np.random.Generator(np.random.Philox(seed + 1))
    unit = _unit_rows(means)
    first, second = rng.permutation(len(unit)), rng.permutation(len(unit))
    different = first != second
    cosines = np.einsum("ij,ij->i", unit[first[different]], unit[second[different]])
    two, more = np.quantile(cosines, (_QUANTILE_TWO, _QUANTILE_MORE))
    return float(two), float(more)


def _unit_rows(matrix: NDArray[np.floating]) -> NDArray[np.float64]:
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit: NDArray[np.float64] = np.divide(matrix, lengths, out=np.zeros(matrix.shape), where=lengths > 0)
    return unit


def _expand(
    arrays: Arrays,
    settings: Settings,
    context_vectors: Floats,
    senses: NDArray[np.int32],
    centroids: Floats,
    counts: NDArray[np.int64],
) -> Arrays:
    """The arrays of the words' senses, each of which starts from its word."""
    total = len(counts)
    offset = np.zeros(len(senses) + 1, np.int64)
    np.cumsum(senses, out=offset[1:])
    word_of = np.repeat(np.arange(len(senses)), senses)
    selection: Floats = _core.aligned_zeros(total, centroids.shape[1])
    selection[:] = centroids
    if settings.context_center:
        selection -= _along(selection, context_vectors, word_of)
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


def _along(selection: Floats, context_vectors: Floats, word_of: NDArray[np.int64]) -> Floats:
    """What of each row of Q points along its word's own P: a bias, before anything is known of the senses' shares."""
    own = _unit_rows(context_vectors)[word_of].astype(np.float32)
    along: Floats = np.einsum("ij,ij->i", selection, own)[:, None] * own
    return along


def _rows(matrix: Floats, rows: NDArray[np.int64]) -> Floats:
    chosen: Floats = _core.aligned_zeros(len(rows), matrix.shape[1])
    np.take(matrix, rows, axis=0, out=chosen)
    return chosen


def _like(matrix: Floats) -> Floats:
    zeros: Floats = _core.aligned_zeros(*matrix.shape)
    return zeros
