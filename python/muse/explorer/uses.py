"""Where example uses come from: for now a text that is read through, later an index of it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple, Protocol

from muse.corpus.encoding import LineSentence
from muse.selector.uses import sentences_holding

__all__ = ["ScannedText", "Use", "UseSource", "use_source"]

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


def use_source(corpus: Any) -> UseSource | None:
    """The source of uses that a `corpus` is: one already, a text, or None."""
    if corpus is None or (hasattr(corpus, "find") and not isinstance(corpus, str)):
        return corpus
    return ScannedText(corpus)
