"""What is counted in the text of a training: uses of words, uses of senses, and a checksum that tells texts apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.base.numeric import checksum
from muse.data.snapshot import Snapshot
from muse.selector.selection import selector_of

__all__ = ["digest", "sense_uses", "word_uses"]

_NUMBERS_AT_ONCE = 1 << 20  # of the corpus: Ctrl-C waits for no more
_COUNTED_TOKENS = 1 << 18  # whose senses are counted at once, for the same reason


def digest(corpus: _core.Corpus) -> int:
    """A checksum of the encoded corpus, which tells texts of the same size apart."""
    return checksum(
        np.ascontiguousarray(numbers[first : first + _NUMBERS_AT_ONCE]).data
        for numbers in (corpus.tokens, corpus.offsets)
        for first in range(0, len(numbers), _NUMBERS_AT_ONCE)
    )


def word_uses(corpus: _core.Corpus, n_words: int) -> NDArray[np.int64]:
    """How often each word occurs in the corpus, int64 (V,)."""
    tokens, uses = corpus.tokens, np.zeros(n_words, np.int64)
    for first in range(0, len(tokens), _NUMBERS_AT_ONCE):
        uses += np.bincount(tokens[first : first + _NUMBERS_AT_ONCE], minlength=n_words)
    return uses


def sense_uses(
    snapshot: Snapshot, corpus: _core.Corpus, grown_from: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Uses of the senses in the corpus as the selector takes them, int64 (Z,).

    Words without context, as in titles of one word, do not count. Where sense trees were grown from this corpus, whose
    words have the uses `grown_from`, (V,), these are shared out by the uses of nodes, which are off by a hundredth on
    average and known already; not those of inflected forms, which have the nodes of their lemma.
    """
    forest = snapshot.forest
    if grown_from is not None and forest is not None and forest.lemmas is None and forest.is_cut(snapshot.arrays):
        return forest.spread(grown_from)
    arrays = snapshot.arrays
    if arrays.n_senses == arrays.n_words:  # there is nothing to select
        return word_uses(corpus, arrays.n_words)
    selector = selector_of(snapshot.replace())  # not one of before a callback changed values
    tokens, offsets = corpus.tokens, corpus.offsets
    counts, first = np.zeros(arrays.n_senses, np.int64), 0
    while first < corpus.n_sentences:
        beyond = int(np.searchsorted(offsets, offsets[first] + _COUNTED_TOKENS, side="right"))
        last = min(max(beyond - 1, first + 1), corpus.n_sentences)
        block = tokens[offsets[first] : offsets[last]]
        limits = offsets[first : last + 1] - offsets[first]
        rows = arrays.sense_offset[block] + selector.choose(block, limits)
        rows = rows[np.repeat(np.diff(limits) > 1, np.diff(limits))]
        counts += np.bincount(rows, minlength=arrays.n_senses)
        first = last
    return counts
