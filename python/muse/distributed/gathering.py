"""A sample of a text for sense trees: of each word about as many uses as its tree needs, with what is around them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse import _core

__all__ = ["Passages", "Sampling", "gather", "uses_within"]

_BLOCK = 1 << 20  # tokens at once


class Sampling(NamedTuple):
    """What is gathered.

    Attributes
    ----------
    uses : float
        Of a word, about; infinity: the whole text.
    reach : int
        Tokens on each side of a use, within its sentence.
    seed : int
    """

    uses: float
    reach: int
    seed: int


class Passages(NamedTuple):
    """Passages of a text as sentences.

    Attributes
    ----------
    tokens : int32 (n,)
    offsets : int64 (sentences + 1,)
    """

    tokens: NDArray[np.int32]
    offsets: NDArray[np.int64]


def gather(corpus: _core.Corpus, first_token: int, counts: NDArray[np.int64], sampling: Sampling) -> Passages:
    """The passages of a part of a text around the uses that are drawn.

    Whether a use is drawn depends on its place in the whole text, and on the count of its word there: so parts draw
    without knowing of each other, and what they have drawn is one sample of the text.

    Parameters
    ----------
    corpus : Corpus
        The part.
    first_token : int
        Where it begins in the text.
    counts : int64 (V,)
        Of the words in the whole text.
    sampling : Sampling
    """
    if not np.isfinite(sampling.uses):
        return Passages(corpus.tokens, corpus.offsets)
    rates = np.minimum(1.0, sampling.uses / np.maximum(counts, 1))
    found = [_passages(corpus, first, last, first_token, rates, sampling) for first, last in _blocks(corpus)]
    lengths = np.concatenate([np.zeros(0, np.int64), *(lengths for _, lengths in found)])
    tokens = np.concatenate([np.zeros(0, np.int32), *(tokens for tokens, _ in found)])
    return Passages(tokens, np.concatenate(([0], np.cumsum(lengths))))


def _blocks(corpus: _core.Corpus) -> Iterator[tuple[int, int]]:
    """Sentences [first, last), about a million tokens of them."""
    first = 0
    while first < corpus.n_sentences:
        last = int(np.searchsorted(corpus.offsets, corpus.offsets[first] + _BLOCK, side="right")) - 1
        last = min(max(last, first + 1), corpus.n_sentences)
        yield first, last
        first = last


def _passages(
    corpus: _core.Corpus, first: int, last: int, first_token: int, rates: NDArray[np.float64], sampling: Sampling
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Tokens of the passages in some sentences, and their lengths."""
    offsets = corpus.offsets[first : last + 1]
    begin = int(offsets[0])
    tokens, limits = corpus.tokens[begin : offsets[-1]], offsets - begin
    drawn = np.flatnonzero(_uniform(first_token + begin, len(tokens), sampling.seed) < rates[tokens])
    sentence = np.searchsorted(limits, drawn, side="right") - 1
    change = np.zeros(len(tokens) + 1, np.int64)
    np.add.at(change, np.maximum(limits[sentence], drawn - sampling.reach), 1)
    np.add.at(change, np.minimum(limits[sentence + 1], drawn + sampling.reach + 1), -1)
    inside = np.cumsum(change[:-1]) > 0
    begins = inside.copy()
    begins[1:] &= ~inside[:-1]
    starts = limits[:-1][limits[:-1] < len(tokens)]
    begins[starts] = inside[starts]
    number = np.cumsum(begins)[inside] - 1
    return tokens[inside], np.bincount(number, minlength=int(begins.sum())).astype(np.int64)


def _uniform(first: int, count: int, seed: int) -> NDArray[np.float64]:
    """A number in [0, 1) for each place of a text, which depends on nothing but the place and the seed."""
    with np.errstate(over="ignore"):
        places = np.arange(first + 1, first + count + 1, dtype=np.uint64) + np.uint64(seed % 2**32)
        x = places * np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x ^= x >> np.uint64(shift)
            x *= np.uint64(factor)
        x ^= x >> np.uint64(31)
    return (x >> np.uint64(11)).astype(np.float64) * 2.0**-53


def uses_within(counts: NDArray[np.int64], uses: int, span: float, most: int) -> float:
    """How many uses of a word can be gathered, at most `uses`, so that there are about `most` tokens in all.

    Parameters
    ----------
    counts : int64 (V,)
        Of the words in the whole text.
    uses : int
    span : float
        Tokens that come with a use.
    most : int

    Returns
    -------
    float
        Infinity where the whole text is no larger.

    Examples
    --------
    >>> uses_within(np.array([1000, 10]), uses=100, span=5.0, most=300)
    50.0
    """
    if counts.sum() <= most:
        return float("inf")
    low, high = 1, uses
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.minimum(counts, middle).sum() * span <= most else (low, middle - 1)
    return float(low)
