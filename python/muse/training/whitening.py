"""Word vectors for the selection module: whitened by how the contexts of one and the same word vary (an extension).

See "the split" in docs/algorithm.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.base.numeric import unit_rows
from muse.data.arrays import Floats
from muse.data.settings import Settings
from muse.selector.selection import context_weights, selection_options

__all__ = ["CONSTANT", "Sample", "Whitened", "centre", "moments", "row_blocks", "whiten"]

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
_BLOCK = 2048  # rows in float64 at a time
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


def whiten(
    word_vectors: Floats, corpus: _core.Corpus, word_counts: NDArray[np.int64], settings: Settings, out: Floats
) -> Whitened:
    """Whiten word vectors, float32 (V, D), by the covariance of contexts in `corpus` around the mean of their word.

    The result is written into `out`, float32 (V, S), padded for training.
    """
    size = word_vectors.shape[1]
    vectors = out[:, :size]
    out[:, size:] = 0.0
    centre(word_vectors, np.maximum(word_counts, 0), vectors)
    sample = _sample_contexts(out, corpus, word_counts, settings)
    cosines: tuple[float, ...] = ()
    transform: NDArray[np.float64] | None = None
    if len(sample.places) >= 2 * size:  # in a tiny corpus there is no covariance to speak of
        means, covariance = moments(sample)
        variance, axes = np.linalg.eigh(covariance)
        if variance[-1] >= _LEAST_VARIANCE:  # or all contexts of a word are the same
            variance = np.maximum(variance, variance[-1] * _EIGENVALUE_FLOOR)
            transform = axes / variance ** (settings.whitening / 2)
        cosines = _calibrate(means if transform is None else means @ transform, settings.seed)
    # All that needs the contexts comes before the vectors change of which they are made.
    length = _mean_length(sample, transform) if settings.share_weight else 1.0
    running = _is_running(corpus, sample, transform)
    if transform is not None:
        for rows in row_blocks(len(vectors)):
            vectors[rows] = vectors[rows] @ transform
    if settings.share_weight:
        out[:, size:] = CONSTANT * length
    return Whitened(out, running, *cosines)


def row_blocks(count: int) -> Iterator[slice]:
    """All of `count` rows, some at a time: in float64 all of a matrix would be twice as large as the matrix."""
    return (slice(first, min(count, first + _BLOCK)) for first in range(0, count, _BLOCK))


def centre(word_vectors: Floats, counts: NDArray[np.int64], out: Floats) -> None:
    """The rows at unit length, less their mean over the tokens of the text."""
    mean = np.zeros(word_vectors.shape[1])
    for rows in row_blocks(len(word_vectors)):
        mean += counts[rows].astype(np.float64) @ unit_rows(word_vectors[rows], np.float32)
    mean /= max(float(counts.sum()), 1.0)
    for rows in row_blocks(len(word_vectors)):
        out[rows] = unit_rows(word_vectors[rows], np.float32) - mean


class Sample(NamedTuple):
    """Contexts of some words, made when they are asked for: all of them at once may be half a gigabyte."""

    words: NDArray[np.int64]  # number of the word, 0, 1, ... in order
    places: NDArray[np.int64]
    read: Callable[[NDArray[np.int64]], NDArray[Any]]  # contexts of places, (n, D)

    def some(self) -> NDArray[np.int64]:
        """A few thousand places from all of the sample."""
        return self.places[:: max(1, len(self.places) // _ENOUGH)]


def _sample_contexts(
    vectors: Floats, corpus: _core.Corpus, word_counts: NDArray[np.int64], settings: Settings
) -> Sample:
    rng = np.random.Generator(np.random.Philox(settings.seed))
    frequent = np.flatnonzero(word_counts >= _SAMPLED_COUNT)
    if len(frequent) > _SAMPLED_WORDS:
        frequent = np.sort(rng.permutation(frequent)[:_SAMPLED_WORDS])
    offsets, places = _core.sample_occurrences(corpus, len(word_counts), _SAMPLED_CONTEXTS, settings.seed)
    sizes = offsets[frequent + 1] - offsets[frequent]
    frequent, sizes = frequent[sizes > 1], sizes[sizes > 1]
    chosen = [places[offsets[word] : offsets[word + 1]] for word in frequent]
    options, weights = selection_options(settings.replace(context_center=False)), context_weights(settings, word_counts)

    def read(some: NDArray[np.int64]) -> NDArray[np.float64]:
        contexts = _core.context_vectors(vectors, weights, options, corpus, some)
        return contexts[:, : settings.vector_size].astype(np.float64)

    return Sample(np.repeat(np.arange(len(frequent)), sizes), np.concatenate([np.zeros(0, np.int64), *chosen]), read)


def moments(sample: Sample) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean context of each word, (words, D), and the covariance around it, (D, D)."""
    starts = np.flatnonzero(np.diff(sample.words, prepend=-1))
    ends = np.append(starts[1:], len(sample.words))
    means: list[NDArray[np.float64]] = []
    scatter: NDArray[np.float64] = np.zeros(())
    first = 0
    while first < len(starts):  # as many words as fit into a block, one at least
        last = max(first + 1, int(np.searchsorted(ends, starts[first] + _BLOCK, side="right")))
        contexts = sample.read(sample.places[starts[first] : ends[last - 1]])
        sizes = ends[first:last] - starts[first:last]
        mean = np.add.reduceat(contexts, starts[first:last] - starts[first], axis=0) / sizes[:, None]
        contexts -= np.repeat(mean, sizes, axis=0)
        scatter = scatter + contexts.T @ contexts
        means.append(mean)
        first = last
    return np.concatenate(means), scatter / max(len(sample.words) - len(starts), 1)


def _mean_length(sample: Sample, transform: NDArray[np.float64] | None) -> float:
    """Of whitened contexts; 1 where there are none."""
    some, total = sample.some(), 0.0
    for rows in row_blocks(len(some)):
        total += float(np.linalg.norm(_product(sample.read(some[rows]), transform), axis=1).sum())
    return total / len(some) if len(some) else 1.0


def _is_running(corpus: _core.Corpus, sample: Sample, transform: NDArray[np.float64] | None) -> bool:
    """Whether two uses of a word in nearby sentences have more similar contexts than two uses that are far apart."""
    apart = np.diff(np.searchsorted(corpus.offsets, sample.places, side="right"))
    same = sample.words[1:] == sample.words[:-1]

    def likeness(pairs: NDArray[np.bool_]) -> float:
        first = np.flatnonzero(same & pairs)
        if len(first) < _LEAST_PAIRS:
            return np.nan
        first, total = first[:: max(1, len(first) // _ENOUGH)], 0.0
        for rows in row_blocks(len(first)):
            one, other = (
                unit_rows(_product(sample.read(sample.places[chosen]), transform))
                for chosen in (first[rows], first[rows] + 1)
            )
            total += float(np.einsum("ij,ij->", one, other))
        return total / len(first)

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
