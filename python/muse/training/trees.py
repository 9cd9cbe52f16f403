"""From words to senses by sense trees (an extension of the paper; docs/algorithm.md).

After word-level training of all epochs:

1. An encoder learns to tell a token from the words around it and where they stand.
2. The context of a use has two blocks, topic and order, each whitened by how contexts of one and the same word vary.
3. The uses of each word are clustered finely, and the clusters joined two by two: its tree.
4. A linear map takes mean contexts to word vectors. What it makes of the difference between a node's mean context and
   its word's is what the node adds to the word's vector: so any node has a vector, without more training.
5. A cut of each tree gives its senses.
"""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.data.arrays import Arrays, Floats
from muse.data.memory import check_memory_for_algebra
from muse.data.sense_trees import SenseTrees
from muse.data.use_space import UseSpace
from muse.training.forms import of_each_form, pooled_uses
from muse.training.tree_calibration import Uses, measure_auto_strength, measure_shrinkage, measure_temperature
from muse.training.tree_settings import TreeSettings

__all__ = ["Grown", "Progress", "TreeSettings", "grow_trees", "linear_map"]

logger = logging.getLogger("muse")

_EIGENVALUE_FLOOR = 1e-5  # of the largest: directions without variance are not blown up
_EVEN_INPUTS = 1e-10  # of the largest variance of what the map reads: directions with less say nothing
_ROWS_FOR_AXES = 20_000  # of U, and as many of V, about
_WORDS_AT_ONCE = 1024
_LEAST_VARIANCE = 1e-12  # below that all contexts of a word are the same, but for rounding
_SHRINKAGE, _TEMPERATURE, _AUTO_STRENGTH = 0.6, 0.15, 0.5  # where a text is too small to measure them

Progress = Callable[[str, int, int], object]
"""Called with what is being done, how much of it is done, and how much there is."""


class Grown(NamedTuple):
    """What `grow_trees` makes.

    Attributes
    ----------
    space : UseSpace
        What contexts are made with.
    trees : SenseTrees
        Of all words.
    loss : float
        Of the encoder at the end, a target.
    seconds : dict of str to float
        How long each part took.
    """

    space: UseSpace
    trees: SenseTrees
    loss: float
    seconds: dict[str, float]


class _Clock:
    """Seconds of each part, and progress."""

    def __init__(self, progress: Progress | None) -> None:
        self.seconds: dict[str, float] = {}
        self._progress = progress

    def start(self, part: str, total: int) -> Callable[[int], object]:
        self._part, self._begin, self._total = part, time.perf_counter(), total
        self.tick(0)
        return self.tick

    def tick(self, done: int) -> None:
        if self._progress is not None:
            self._progress(self._part, min(done, self._total), self._total)

    def stop(self) -> None:
        self.tick(self._total)
        self.seconds[self._part] = self.seconds.get(self._part, 0.0) + time.perf_counter() - self._begin


def grow_trees(
    arrays: Arrays,
    corpus: _core.Corpus,
    settings: TreeSettings | None = None,
    workers: int = 1,
    progress: Progress | None = None,
    lemma: NDArray[np.int64] | None = None,
) -> Grown:
    """Grow the sense trees of all words of a word-level model.

    Parameters
    ----------
    arrays : Arrays
        One sense a word.
    corpus : _core.Corpus
        What it was trained on.
    settings : TreeSettings, optional
        How.
    workers : int
        Threads. The trees do not depend on their number, the encoder does, but for one.
    progress : callable, optional
        Called with what is being done, how much of it is done, and how much there is.
    lemma : int64 (V,), optional
        Rows of the words whose senses the words share.

    Returns
    -------
    Grown

    Raises
    ------
    ValueError
        If a word has several senses already.
    InsufficientMemoryError
        If numpy's linear algebra would not get the memory that it needs.
    """
    if arrays.n_senses != arrays.n_words:
        raise ValueError("sense trees grow from a model with one sense a word; train it with senses=1")
    check_memory_for_algebra()
    settings = settings or TreeSettings()
    clock = _Clock(progress)
    words = np.asarray(arrays.sense_vectors)
    weights = _core.keep_probabilities(arrays.word_counts, settings.sample)
    encoder = _train_encoder(arrays, corpus, weights, settings, workers, clock)
    clock.start("whitening", 1)
    offsets, places = _core.sample_occurrences(corpus, arrays.n_words, settings.uses, settings.seed)
    uses = Uses(corpus, offsets, places, _tree_options(settings), workers)
    space = _make_space(words, arrays.word_counts, uses, weights, encoder, settings)
    clock.stop()
    if lemma is not None:
        offsets, places = pooled_uses(offsets, places, arrays.word_counts, lemma, settings.uses)
        uses = uses._replace(offsets=offsets, places=places)
    del offsets, places
    found = _core.grow_trees(
        space.core, corpus, uses.offsets, uses.places, uses.options, workers, clock.start("trees", len(uses.places))
    )
    clock.stop()
    clock.start("vectors", 1)
    if lemma is not None:
        found = of_each_form(found, lemma)
    to_vectors, shifts = _leaf_shifts(found["leaf_offset"], found["counts"], found["topics"], arrays, settings, workers)
    leaves = np.diff(found["leaf_offset"])
    trees = SenseTrees(
        found["leaf_offset"], found["means"], shifts, found["counts"], found["joins"], found["strengths"],
        np.clip(np.full(len(leaves), settings.senses), 1, np.maximum(leaves, 1)), settings.share_power,
    )  # fmt: skip
    del found
    clock.stop()
    clock.start("calibration", 1)
    asked = np.where(np.diff(uses.offsets) > 0, arrays.word_counts, 0)  # no forms, whose uses are those of their lemmas
    space, trees = _calibrate(space, trees, uses, asked, to_vectors, settings)
    del uses
    _core.give_back_memory()
    clock.stop()
    logger.info("grew sense trees of %d words with %d leaves", int((leaves > 0).sum()), int(leaves.sum()))
    return Grown(space, trees, encoder.loss, clock.seconds)


def _calibrate(
    space: UseSpace,
    trees: SenseTrees,
    uses: Uses,
    word_counts: NDArray[np.int64],
    to_vectors: NDArray[np.float64] | None,
    settings: TreeSettings,
) -> tuple[UseSpace, SenseTrees]:
    """With what is measured on the text, where the settings do not say."""
    temperature, strength, shrinkage = settings.temperature, settings.auto_strength, settings.shrinkage
    if temperature is None:
        temperature = measure_temperature(space, uses, word_counts, settings.seed) or _TEMPERATURE
    if strength is None:
        strength = measure_auto_strength(trees, word_counts)
        strength = _AUTO_STRENGTH if strength is None else strength
    if shrinkage is None:
        shrinkage = to_vectors is not None and measure_shrinkage(space, uses, word_counts, to_vectors, settings.seed)
        shrinkage = shrinkage or _SHRINKAGE
    logger.info("temperature %.3f, auto strength %.3f, shrinkage %.3f", temperature, strength, shrinkage)
    trees = dataclasses.replace(trees, auto_strength=strength, shrinkage=shrinkage)
    return dataclasses.replace(space, temperature=temperature), trees


# -- the encoder -------------------------------------------------------------------------------------------------------


class _Encoder(NamedTuple):
    words: Floats  # (V, De) each times its weight
    positions: Floats  # (2 W + 1, De)
    loss: float


def _train_encoder(
    arrays: Arrays,
    corpus: _core.Corpus,
    weights: Floats,
    settings: TreeSettings,
    workers: int,
    clock: _Clock,
) -> _Encoder:
    """One epoch from the words' U and V, and weights of places that fall with the distance."""
    wanted = max(settings.encoder_tokens, corpus.n_tokens // 2) if settings.encoder_tokens else corpus.n_tokens
    read = min(wanted, corpus.n_tokens)
    tick = clock.start("encoder", read)
    words, outputs = _start(arrays.sense_vectors, arrays.collocation_vectors, settings.encoder_size, workers)
    words *= weights[:, None]
    window = settings.encoder_window
    positions: Floats = _core.aligned_zeros(2 * window + 1, words.shape[1])
    distance = np.abs(np.arange(-window, window + 1))
    positions[:] = np.where(distance > 0, 1.0 / np.maximum(distance, 1), 0.0)[:, None]
    options = _core.EncoderOptions()
    options.window, options.alpha, options.position_alpha = window, settings.encoder_alpha, settings.position_alpha
    options.negative, options.group, options.shared = settings.negative, settings.encoder_group, settings.encoder_shared
    options.block_tokens, options.max_tokens = settings.encoder_block, read
    options.learn_words, options.seed = settings.encoder_learns_words, settings.seed
    counts = np.maximum(arrays.word_counts, 0)
    stats = _core.train_encoder(words, outputs, positions, corpus, weights, weights, counts, options, workers, tick)
    clock.stop()
    return _Encoder(words, positions, stats["loss"])


def _start(words: Floats, outputs: Floats, size: int, workers: int) -> tuple[Floats, Floats]:
    """Copies of U and V, in the directions in which they vary most where they have more than `size`."""
    dim = words.shape[1]
    axes: Floats | None = None
    if dim > size:
        step = max(1, len(words) // _ROWS_FOR_AXES)
        scatter = _core.scatter(words[::step], workers) + _core.scatter(outputs[::step], workers)
        axes = np.ascontiguousarray(_core.symmetric_eigen(scatter)[1][:, -size:], np.float32)
    copies = []
    for matrix in (words, outputs):
        copy: Floats = _core.aligned_zeros(len(matrix), min(dim, size))
        if axes is None:
            copy[:] = matrix
        else:
            _core.transform_rows(matrix, axes, copy, workers=workers)
        copies.append(copy)
    return copies[0], copies[1]


# -- the space ---------------------------------------------------------------------------------------------------------


def _make_space(
    words: Floats,
    counts: NDArray[np.int64],
    uses: Uses,
    weights: Floats,
    encoder: _Encoder,
    settings: TreeSettings,
) -> UseSpace:
    """Both blocks, centred and whitened by how contexts of one and the same word vary."""
    topics: Floats = _core.aligned_zeros(*words.shape)
    _core.centre_rows(words, np.maximum(counts, 0), topics, uses.workers)
    size = encoder.words.shape[1]
    plain = UseSpace(
        topics, weights, encoder.words, encoder.positions, np.zeros(size, np.float32), np.eye(size, dtype=np.float32),
        settings.topic_window, settings.topic_power, settings.order_weight, settings.prior_weight,
    )  # fmt: skip
    offsets, places = _sample_uses(uses, counts, settings)
    if len(places) < 2 * words.shape[1]:  # in a tiny corpus there is no covariance
        return plain
    topic_mean, topic_covariance, order_mean, order_covariance = _core.use_moments(
        plain.core, uses.corpus, offsets, places, uses.workers
    )
    topic_transform, order_transform = (
        _whitening(covariance, settings.whitening) for covariance in (topic_covariance, order_covariance)
    )
    mean, transform = topic_mean.astype(np.float32), np.ascontiguousarray(topic_transform, np.float32)
    _core.transform_rows(topics, transform, topics, mean, uses.workers)
    return dataclasses.replace(
        plain,
        order_mean=order_mean.astype(np.float32),
        order_transform=np.ascontiguousarray(_triangular(order_transform), np.float32),
    )


def _triangular(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The matrix but for a turn of what it makes, with zeros above the diagonal: half of the products are saved."""
    turned: NDArray[np.float64] = np.linalg.qr(matrix.T).R.T
    return turned


def _sample_uses(
    uses: Uses, counts: NDArray[np.int64], settings: TreeSettings
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of uses of some words, those of word i at ``places[offsets[i]:offsets[i + 1]]``."""
    rng = np.random.Generator(np.random.Philox(settings.seed))
    frequent = np.flatnonzero(counts >= settings.whitening_count)
    if len(frequent) > settings.whitening_words:
        frequent = np.sort(rng.permutation(frequent)[: settings.whitening_words])
    drawn = [uses.some(word, settings.whitening_uses) for word in frequent.tolist() if uses.count(word) > 1]
    offsets = np.cumsum([0, *(len(places) for places in drawn)], dtype=np.int64)
    return offsets, np.concatenate([np.zeros(0, np.int64), *drawn])


def _whitening(covariance: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    """The matrix that evens out how contexts vary around the mean of their word."""
    variance, axes = _core.symmetric_eigen(covariance)
    if variance[-1] < _LEAST_VARIANCE:
        return np.eye(len(variance))
    variance = np.maximum(variance, variance[-1] * _EIGENVALUE_FLOOR)
    even: NDArray[np.float64] = axes / variance ** (power / 2)
    return even


# -- trees and vectors -------------------------------------------------------------------------------------------------


def _tree_options(settings: TreeSettings) -> _core.TreeOptions:
    options = _core.TreeOptions()
    for name in ("leaves", "uses_a_leaf", "least_uses", "restarts", "iterations", "first_uses", "passes", "share_power",
                 "seed"):  # fmt: skip
        setattr(options, name, getattr(settings, name))
    return options


def linear_map(topics: Floats, vectors: Floats, workers: int = 1) -> NDArray[np.float64]:
    """What takes differences of mean topics (N, Dt) to those of vectors (N, D) by least squares, float64 (Dt, D)."""
    pairs = np.concatenate((topics, vectors), axis=1, dtype=np.float32)
    pairs -= pairs.mean(axis=0, dtype=np.float64).astype(np.float32)
    scatter, dim = _core.scatter(pairs, workers), topics.shape[1]
    variance, axes = _core.symmetric_eigen(scatter[:dim, :dim])
    least = variance[-1] * _EVEN_INPUTS
    inverse = np.divide(1, variance, out=np.zeros(dim), where=variance > least)
    solved: NDArray[np.float64] = (axes * inverse) @ (axes.T @ scatter[:dim, dim:])
    return solved


def _leaf_shifts(
    offset: NDArray[np.int64],
    uses: NDArray[np.int64],
    topics: Floats,
    arrays: Arrays,
    settings: TreeSettings,
    workers: int,
) -> tuple[NDArray[np.float64] | None, Floats]:
    """The linear map from words' mean topics to their vectors, and, in place of the topics, what it says that each leaf
    adds to its word's."""
    has_tree = np.flatnonzero(np.diff(offset))
    shifts = topics  # of the same size, and not needed any more
    learned = np.flatnonzero(arrays.word_counts[has_tree] >= settings.map_count)
    rng = np.random.Generator(np.random.Philox(settings.seed + 1))
    learned = has_tree[np.sort(rng.permutation(learned)[: settings.map_words])]
    if len(learned) < 2:
        shifts[:] = 0.0
        return None, shifts
    solved = linear_map(_means_of(learned, offset, uses, topics), arrays.sense_vectors[learned], workers)
    _core.transform_rows(topics, solved.astype(np.float32), shifts, workers=workers)  # in their place
    for first in range(0, len(has_tree), _WORDS_AT_ONCE):  # what is the word's own is taken off
        words = has_tree[first : first + _WORDS_AT_ONCE]
        rows = slice(int(offset[words[0]]), int(offset[words[-1] + 1]))
        starts = offset[words] - rows.start
        weights = uses[rows] / np.repeat(np.add.reduceat(uses[rows], starts), np.diff(offset)[words])
        means = np.add.reduceat(shifts[rows] * weights[:, None].astype(np.float32), starts, axis=0)
        shifts[rows] -= np.repeat(means, np.diff(offset)[words], axis=0)
    return solved, shifts


def _means_of(words: NDArray[np.int64], offset: NDArray[np.int64], uses: NDArray[np.int64], topics: Floats) -> Floats:
    """The mean topics of words from those of their leaves, float32 (n, Dt)."""
    sizes = np.diff(offset)[words]
    starts = np.cumsum(sizes) - sizes
    rows = np.repeat(offset[words] - starts, sizes) + np.arange(sizes.sum())
    means: Floats = np.add.reduceat(topics[rows] * uses[rows, None].astype(np.float32), starts, axis=0)
    means /= np.add.reduceat(uses[rows], starts)[:, None].astype(np.float32)
    return means
