"""Uses of a word in an indexed corpus, and the probabilities of its senses in each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse.concordance.index import CorpusIndex, Integers
from muse.data.arrays import Floats
from muse.data.snapshot import Snapshot
from muse.data.vocabulary import Vocabulary
from muse.selector.context import EncodedContexts
from muse.selector.selection import selector_of
from muse.vectors.model_vectors import sense_row
from muse.vectors.sense_keys import SenseKey, parse_sense_key, read_sense_key

__all__ = ["Asked", "SensedUses", "asked_sense", "sensed_uses", "spans"]

_BLOCK_TOKENS = 1 << 22  # that are looked at together


class Asked(NamedTuple):
    """A word that is asked about, or one of its senses.

    Attributes
    ----------
    word : str
        The word, which the model knows.
    number : int or None
        That of the sense; None: all of them.
    """

    word: str
    number: int | None

    @property
    def key(self) -> str:
        """``"bank#1"``, or ``"bank"``."""
        return self.word if self.number is None else f"{self.word}#{self.number}"


class SensedUses(NamedTuple):
    """N uses of a word with K senses.

    Attributes
    ----------
    word : str
        The word.
    total : int
        Its uses in the corpus, of which these are all, or a sample.
    numbers : int64 (K,)
        Those of its senses.
    places : int64 (N,)
        Where it stands in the corpus, rising.
    sentences, first, last : int64 (N,)
        The sentence that each use is in, where that begins, and where it ends.
    probabilities : float32 (N, K)
        Of its senses.
    """

    word: str
    total: int
    numbers: Integers
    places: Integers
    sentences: Integers
    first: Integers
    last: Integers
    probabilities: Floats

    @property
    def selected(self) -> Integers:
        """The column of the sense that is selected for each use; of equally probable ones the first."""
        best: Integers = self.probabilities.argmax(axis=1)
        return best

    @property
    def counts(self) -> dict[str, int]:
        """How many uses each sense is selected for, by its key."""
        counts = np.bincount(self.selected, minlength=len(self.numbers)).tolist()
        return {f"{self.word}#{number}": count for number, count in zip(self.numbers.tolist(), counts, strict=True)}


def asked_sense(snapshot: Snapshot, what: SenseKey) -> Asked:
    """What ``"bank"``, ``"bank#1"``, ``("bank", 1)`` or ``"bank:river"``, with a sense's name, means in a model.

    A known word comes before the key of a sense.

    Raises
    ------
    UnknownWordError, UnknownSenseError
        Both are KeyErrors.
    TypeError
        If it is none of these.
    """
    arrays, vocabulary = snapshot.arrays, snapshot.vocabulary
    if isinstance(what, str) and (what in vocabulary or read_sense_key(what, snapshot.known_names) is None):
        vocabulary.index(what)
        return Asked(what, None)
    word, number = parse_sense_key(what, snapshot.known_names)
    sense_row(arrays, word, vocabulary.index(word), number)
    return Asked(word, number)


def sensed_uses(
    snapshot: Snapshot, index: CorpusIndex, word: str, max_uses: int | None = None, seed: int = 1
) -> SensedUses:
    """The uses of a word, and the probabilities of its senses in each, on all threads.

    They are what `MUSE.disambiguate` finds in the sentence of each use: a context is made of the known words of the
    sentence, as far as the selector looks.

    Parameters
    ----------
    snapshot : Snapshot
        A trained model.
    index : CorpusIndex
        Of the corpus.
    word : str
        A word that the model knows.
    max_uses : int, optional
        Of more uses, so many are drawn at random.
    seed : int
        Of the drawing.
    """
    places = index.places(word)
    total = len(places)
    if max_uses is not None and total > max_uses:
        places = np.sort(np.random.default_rng(seed).choice(places, max_uses, replace=False))
    numbers = snapshot.arrays.numbers_of(snapshot.vocabulary.index(word))
    sentences, first, last = index.sentences_of(places)
    probabilities = np.ones((len(places), len(numbers)), np.float32)
    if len(numbers) > 1:
        selector = selector_of(snapshot)
        for rows in _blocks(np.minimum(last - first, 4 * selector.reach + 17)):
            encoded = _contexts(index, snapshot.vocabulary, places[rows], first[rows], last[rows], selector.reach)
            probabilities[rows] = selector.probabilities_in(word, encoded)
    return SensedUses(word, total, numbers, places, sentences, first, last, probabilities)


def spans(low: Integers, high: Integers) -> tuple[Integers, Integers]:
    """The numbers from ``low[i]`` to ``high[i]``, without that, of all i one after another, and where each begins."""
    offsets: Integers = np.concatenate((np.zeros(1, np.int64), np.cumsum(high - low)))
    return np.arange(offsets[-1]) + np.repeat(low - offsets[:-1], high - low), offsets


def _blocks(lengths: NDArray[Any]) -> Iterator[slice[int, int, None]]:
    """Runs of uses whose contexts have about `_BLOCK_TOKENS` tokens in all."""
    ends, first = np.cumsum(lengths), 0
    while first < len(lengths):
        done = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + _BLOCK_TOKENS, side="right")))
        yield slice(first, last)
        first = last


def _contexts(
    index: CorpusIndex, vocabulary: Vocabulary, places: Integers, first: Integers, last: Integers, reach: int
) -> EncodedContexts:
    """The known words around each place, `reach` of them and more on each side where the sentence has as many."""
    radius = np.full(len(places), 2 * reach + 8, np.int64)
    while True:
        low, high = np.maximum(first, places - radius), np.minimum(last, places + radius + 1)
        where, offsets = spans(low, high)
        ids = index.ids_in(vocabulary, index.read(where))
        known: Integers = np.concatenate((np.zeros(1, np.int64), np.cumsum(ids >= 0)))
        begin, end = known[offsets[:-1]], known[offsets[1:]]
        before = known[offsets[:-1] + places - low] - begin
        after = end - begin - before - 1
        short = ((before < reach) & (low > first)) | ((after < reach) & (high < last))
        if not short.any():
            return EncodedContexts(ids[ids >= 0].tolist(), np.append(begin, known[-1]).tolist(), before.tolist())
        radius[short] *= 4
