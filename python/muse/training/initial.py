"""The values that a model starts from (P and U uniform with unit length in expectation, Q and V zero)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.data.arrays import Arrays, Floats
from muse.data.counts import apportioned
from muse.data.settings import Settings
from muse.data.vocabulary import Vocabulary

__all__ = ["added_senses", "grown_arrays", "initial_arrays", "without_selector"]

_BLOCK_NUMBERS = 1 << 18  # random numbers at a time; a number takes 28 bytes while it is made
_CONTEXT, _SENSE = 0, 1  # which matrix a stream of random numbers fills
_STREAMS = 8


def initial_arrays(
    settings: Settings,
    senses: NDArray[np.int64],
    word_counts: NDArray[np.int64],
    *,
    first_word: int = 0,
    of_words: bool = False,
) -> Arrays:
    """Arrays of a model that has seen nothing yet, padded for training.

    Parameters
    ----------
    settings : Settings
        Dimensions, seed and initial scale.
    senses : int64 (V,)
        How many senses each word gets.
    word_counts : int64 (V,)
        How often each word occurs.
    first_word : int
        Number of the first word: words that are added later get other random numbers than those already there.
    of_words : bool
        Senses will be made of these words: until then nothing reads P, which is zeros and takes no memory.

    Notes
    -----
    A coordinate is uniform in ±sqrt(3 / dimension), which makes the expected squared length of a row one; U is
    multiplied by `initial_scale`. The numbers depend on the seed alone, not on the machine or the version of numpy.
    """
    words, total = len(senses), int(senses.sum())
    offset = np.zeros(words + 1, np.int64)
    np.cumsum(senses, out=offset[1:])
    selection, dim = settings.selection_dim, settings.vector_size
    factorized = settings.formulation == "factorized"
    unread = of_words and total == words
    return Arrays(
        context_vectors=_core.aligned_zeros(words, selection, used=False)
        if unread
        else _uniform(words, selection, 1.0, settings.seed, _CONTEXT + _STREAMS * first_word),
        selection_vectors=_core.aligned_zeros(total, selection, used=total > words),  # unused with one sense a word
        sense_vectors=_uniform(total, dim, settings.initial_scale, settings.seed, _SENSE + _STREAMS * first_word),
        collocation_vectors=_core.aligned_zeros(words if settings.collocation == "word" else total, dim),
        sense_offset=offset,
        sense_counts=np.zeros(total, np.int64),
        word_counts=word_counts.astype(np.int64),
        forward_values=_core.aligned_zeros(words, selection) if factorized else None,
        backward_values=_core.aligned_zeros(words, selection) if factorized else None,
    )


def without_selector(arrays: Arrays) -> Arrays:
    """The arrays of words of which senses will be made, whose P and Q nothing reads: zeros that take no memory.

    A file of such words holds zeros, which are not worth the memory that they take once they were read.
    """
    if arrays.n_senses != arrays.n_words:
        return arrays
    (words, context), (senses, selection) = arrays.context_vectors.shape, arrays.selection_vectors.shape
    return dataclasses.replace(
        arrays, context_vectors=_core.aligned_zeros(words, context, used=False),
        selection_vectors=_core.aligned_zeros(senses, selection, used=False),
    )  # fmt: skip


def added_senses(settings: Settings, words: Sequence[str]) -> NDArray[np.int64]:
    """How many senses words get that join a trained model, int64 (V,): one where senses are made from words."""
    return np.ones(len(words), np.int64) if settings.from_words else settings.senses_of(words)


def grown_arrays(arrays: Arrays, vocabulary: Vocabulary, settings: Settings) -> Arrays:
    """Arrays for a vocabulary that begins with the words of `arrays`: old rows keep their values, new ones start."""
    known = arrays.n_words
    senses = added_senses(settings, vocabulary.words[known:])
    fresh = initial_arrays(settings, senses, vocabulary.counts[known:], first_word=known)
    if settings.from_words:
        fresh.context_vectors[:] = 0.0  # there are none that would fit those that the split made
        if settings.share_weight:
            fresh.context_vectors[:, -1] = arrays.context_vectors[0, -1]  # a constant, see muse.training.whitening
    if arrays.selection_vectors.shape[1] != fresh.selection_vectors.shape[1]:  # both blocks of a context
        fresh.selection_vectors = _core.aligned_zeros(fresh.n_senses, arrays.selection_vectors.shape[1])
    if arrays.sense_numbers is not None:
        fresh.sense_numbers = np.zeros(fresh.n_senses, np.int64)
    old, new = arrays.as_dict(), fresh.as_dict()
    joined = {name: _join(old[name], new[name]) for name in old if name not in ("sense_offset", "word_counts")}
    joined["sense_offset"] = np.concatenate([arrays.sense_offset, arrays.n_senses + fresh.sense_offset[1:]])
    joined["sense_counts"] = apportioned(joined["sense_counts"], vocabulary.counts, joined["sense_offset"])
    return Arrays(**joined, word_counts=vocabulary.counts.copy())


def _join(old: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
    if old.ndim == 1:
        return np.concatenate([old, new])
    joined: NDArray[Any] = _core.aligned_zeros(len(old) + len(new), old.shape[1])
    joined[: len(old)], joined[len(old) :] = old, new
    return joined


def _uniform(rows: int, dim: int, scale: float, seed: int, stream: int) -> Floats:
    """A padded matrix of uniform numbers; the raw output of Philox is the same in every version of numpy."""
    matrix: Floats = _core.aligned_zeros(rows, dim)
    generator = np.random.Philox(key=np.array([seed, stream], np.uint64))
    limit = np.float32(scale * np.sqrt(3.0 / dim))
    block = max(1, _BLOCK_NUMBERS // dim)
    for first in range(0, rows, block):
        last = min(first + block, rows)
        bits = generator.random_raw((last - first) * dim) >> np.uint64(40)
        unit = bits.astype(np.float32) * np.float32(2.0**-23) - np.float32(1.0)
        matrix[first:last] = (limit * unit).reshape(last - first, dim)
    return matrix
