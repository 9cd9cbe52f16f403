"""Word vectors for the selection module: whitened by how the contexts of one and the same word vary (an extension).

See "the split" in docs/algorithm.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.arrays import Floats
from muse.selection import context_weights, selection_options
from muse.settings import Settings

__all__ = ["CONSTANT", "Whitened", "unit_rows", "whiten"]

_SAMPLED_WORDS = 2500  # whose contexts give the within-word covariance
_SAMPLED_CONTEXTS = 80  # of each of them
_SAMPLED_COUNT = 50  # words that occur less often do not take part
_EIGENVALUE_FLOOR = 1e-5  # of the largest: directions without variance are not blown up
_LEAST_VARIANCE = 1e-12  # of the averages of unit vectors that contexts are: less is rounding
# Quantiles of the cosine between mean contexts of two random words. Two senses may be about as close as unrelated words
# are; three must be further apart, since a needless third cluster lies between the others (benchmarks/senses).
_QUANTILE_TWO, _QUANTILE_MORE = 0.95, 0.65
_LEAST_WORDS = 100  # for such a quantile
_NEARBY = 10  # sentences
_LEAST_PAIRS = 200  # of uses
_ENOUGH = 4000  # contexts for a mean
_ALIKE = 0.1  # how much closer nearby uses are in running text: about 0.2 in an encyclopedia, 0 when it is shuffled

# The column of shares, in lengths of a context. It is small so that the shares learn slowly: where they learn as fast
# as the rest, the larger senses of a word grow at the expense of the others (benchmarks/senses).
CONSTANT = 0.1


class Whitened(NamedTuple):
    """P, and how close two senses may be in it.

    Attributes
    ----------
    context_vectors : float32 (V, S)
        Padded for training. Where shares count (`share_weight`), the last column is a constant: `CONSTANT` times
        the length that contexts have on average, so that what shares add to a score is in proportion to it.
    is_running : bool
        Whether the uses of a word in nearby sentences are more alike than its others: sentences are not shuffled.
    cosine_two, cosine_more : float
        The largest cosine between the centroids of two senses, and of three or more.
    """

    context_vectors: Floats
    is_running: bool
    cosine_two: float = 0.2
    cosine_more: float = 0.05


def whiten(word_vectors: Floats, corpus: _core.Corpus, word_counts: NDArray[np.int64], settings: Settings) -> Whitened:
    """Whiten word vectors, float32 (V, D), by the covariance of contexts in `corpus` around the mean of their word."""
    unit = unit_rows(word_vectors)
    tokens = np.maximum(word_counts, 0).astype(np.float64)
    matrix: Floats = _core.aligned_zeros(len(unit), settings.selection_dim)
    vectors = matrix[:, : unit.shape[1]]
    vectors[:] = unit - tokens @ unit / max(tokens.sum(), 1.0)
    words, places, contexts = _sample_contexts(matrix, corpus, word_counts, settings)
    contexts = contexts[:, : unit.shape[1]]
    cosines: tuple[float, ...] = ()
    transform: NDArray[np.float64] | None = None
    if len(contexts) >= 2 * unit.shape[1]:  # in a tiny corpus there is no covariance to speak of
        means = np.zeros((words[-1] + 1, unit.shape[1]))
        np.add.at(means, words, contexts)
        means /= np.bincount(words)[:, None]
        within = contexts - means[words]
        variance, axes = np.linalg.eigh(within.T @ within / max(len(contexts) - len(means), 1))
        if variance[-1] >= _LEAST_VARIANCE:  # or all contexts of a word are the same
            variance = np.maximum(variance, variance[-1] * _EIGENVALUE_FLOOR)
            transform = axes / variance ** (settings.whitening / 2)
            vectors[:] = vectors @ transform
        cosines = _calibrate(means if transform is None else means @ transform, settings.seed)
    if settings.share_weight:
        some = _product(contexts[:: max(1, len(contexts) // _ENOUGH)], transform)
        matrix[:, -1] = CONSTANT * np.linalg.norm(some, axis=1).mean() if len(some) else CONSTANT
    return Whitened(matrix, _is_running(corpus, words, places, contexts, transform), *cosines)


def unit_rows(matrix: NDArray[np.floating]) -> NDArray[np.float64]:
    """The rows at unit length; rows of zeros stay."""
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit: NDArray[np.float64] = np.divide(matrix, lengths, out=np.zeros(matrix.shape), where=lengths > 0)
    return unit


def _sample_contexts(
    vectors: Floats, corpus: _core.Corpus, word_counts: NDArray[np.int64], settings: Settings
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Contexts of some words: the number of the word (0, 1, ...), the place and the context of each."""
    rng = np.random.Generator(np.random.Philox(settings.seed))
    frequent = np.flatnonzero(word_counts >= _SAMPLED_COUNT)
    if len(frequent) > _SAMPLED_WORDS:
        frequent = np.sort(rng.permutation(frequent)[:_SAMPLED_WORDS])
    offsets, places = _core.sample_occurrences(corpus, len(word_counts), _SAMPLED_CONTEXTS, settings.seed)
    sizes = offsets[frequent + 1] - offsets[frequent]
    frequent, sizes = frequent[sizes > 1], sizes[sizes > 1]
    if len(frequent) == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, vectors.shape[1]))
    chosen = np.concatenate([places[offsets[word] : offsets[word + 1]] for word in frequent])
    options = selection_options(settings.replace(context_center=False))
    contexts = _core.context_vectors(vectors, context_weights(settings, word_counts), options, corpus, chosen)
    return np.repeat(np.arange(len(frequent)), sizes), chosen, contexts.astype(np.float64)


def _is_running(
    corpus: _core.Corpus,
    words: NDArray[np.int64],
    places: NDArray[np.int64],
    contexts: NDArray[np.float64],
    transform: NDArray[np.float64] | None,
) -> bool:
    """Whether two uses of a word in nearby sentences have more similar contexts than two uses that are far apart."""
    apart = np.diff(np.searchsorted(corpus.offsets, places, side="right"))
    same = words[1:] == words[:-1]

    def likeness(pairs: NDArray[np.bool_]) -> float:
        first = np.flatnonzero(same & pairs)
        if len(first) < _LEAST_PAIRS:
            return np.nan
        first = first[:: max(1, len(first) // _ENOUGH)]
        one, other = (unit_rows(_product(contexts[rows], transform)) for rows in (first, first + 1))
        return float(np.einsum("ij,ij->i", one, other).mean())

    near, far = likeness((apart > 0) & (apart <= _NEARBY)), likeness(apart > 10 * _NEARBY)
    return near - far > _ALIKE  # not where one of them is unknown


def _product(rows: NDArray[np.float64], matrix: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Without BLAS: a process that is forked while threads of BLAS are at work on a large product hangs."""
    if matrix is None:  # the identity, which would take minutes where vectors are long
        return rows
    product: NDArray[np.float64] = np.einsum("ij,jk->ik", rows, matrix)
    return product


def _calibrate(means: NDArray[np.float64], seed: int) -> tuple[float, ...]:
    """The largest cosines allowed between senses, from those between the mean contexts of random words."""
    if len(means) < _LEAST_WORDS:
        return ()
    rng = np.random.Generator(np.random.Philox(seed + 1))
    unit = unit_rows(means)
    first, second = rng.permutation(len(unit)), rng.permutation(len(unit))
    different = first != second
    cosines = np.einsum("ij,ij->i", unit[first[different]], unit[second[different]])
    return tuple(map(float, np.quantile(cosines, (_QUANTILE_TWO, _QUANTILE_MORE))))
