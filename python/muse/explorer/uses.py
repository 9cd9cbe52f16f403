"""Where example uses come from: the index of a text or, where there is none, the text itself, which is read through."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from muse.concordance.index import SUFFIX, CorpusIndex
from muse.concordance.indexing import index_beside
from muse.corpus.encoding import LineSentence
from muse.selector.uses import sentences_holding

__all__ = ["IndexedText", "ScannedText", "Use", "UseSource", "use_source"]

_MOST_TOKENS = 60  # kept on each side of a use: what the selector reads


class Use(NamedTuple):
    """A use of a word: the tokens around it and its place among them."""

    tokens: tuple[str, ...]
    position: int


class UseSource(Protocol):
    """What finds uses of words in a text."""

    def find(self, words: Collection[str], limit: int) -> dict[str, list[Use]]:
        """The uses of each of some words, `limit` of each at most."""
        ...


class ScannedText:
    """A text that is read from its beginning, until each word has as many uses as are asked for, or to its end.

    Parameters
    ----------
    corpus : path-like, list of paths, or iterable of lists of str
        The text; an iterator, which can be read once only, is refused.
    """

    def __init__(self, corpus: Any) -> None:
        if isinstance(corpus, Iterator):
            raise TypeError("the corpus is read again for each word, so it must be a path or a list, not an iterator")
        self._corpus = LineSentence(corpus) if isinstance(corpus, str | os.PathLike) else corpus  # is it there?

    def find(self, words: Collection[str], limit: int) -> dict[str, list[Use]]:
        """See `UseSource.find`."""
        found: dict[str, list[Use]] = {word: [] for word in words}
        wanted = set(words)
        if not wanted or limit < 1:
            return found
        for tokens in sentences_holding(self._corpus, wanted):
            for position, token in enumerate(tokens):
                if token not in wanted:
                    continue
                first = max(0, position - _MOST_TOKENS)
                around = tuple(tokens[first : position + 1 + _MOST_TOKENS])
                found[token].append(Use(around, position - first))
                if len(found[token]) == limit:
                    wanted.discard(token)
            if not wanted:
                break
        return found


class IndexedText:
    """The index of a text, in which uses of any word are found at once: those shown are drawn from all of the text.

    Parameters
    ----------
    index : CorpusIndex
        The index.
    seed : int
        Of the drawing; the same uses are shown each time.
    """

    def __init__(self, index: CorpusIndex, seed: int = 1) -> None:
        self._index, self._seed = index, seed

    def find(self, words: Collection[str], limit: int) -> dict[str, list[Use]]:
        """See `UseSource.find`."""
        return {word: self._uses(word, limit) for word in words}

    def _uses(self, word: str, limit: int) -> list[Use]:
        index, places = self._index, self._index.places(word)
        if len(places) > limit:
            places = np.sort(np.random.default_rng(self._seed).choice(places, max(limit, 0), replace=False))
        _, first, last = index.sentences_of(places)
        found: list[Use] = []
        for place, low, high in zip(
            places.tolist(),
            np.maximum(first, places - _MOST_TOKENS).tolist(),
            np.minimum(last, places + 1 + _MOST_TOKENS).tolist(),
            strict=True,
        ):
            rows = index.read(np.arange(low, high)).tolist()
            found.append(Use(tuple(index.words[row] for row in rows), place - low))
        return found


def use_source(corpus: Any) -> UseSource | None:
    """The source of uses that a `corpus` is: one already, an index, the index that lies beside a text, a text, or None.

    No index is made: that would leave a file behind. `muse.concordance.index_corpus` makes one.
    """
    if isinstance(corpus, CorpusIndex):
        return IndexedText(corpus)
    if corpus is None or (hasattr(corpus, "find") and not isinstance(corpus, str)):
        return corpus
    if isinstance(corpus, (str, os.PathLike)) and os.fspath(corpus).endswith(SUFFIX):
        return IndexedText(CorpusIndex.open(corpus))
    scanned = ScannedText(corpus)  # says what is wrong with it
    index = index_beside(corpus)
    return scanned if index is None else IndexedText(index)
