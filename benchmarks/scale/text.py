"""Real text made longer: its sentences in another order each time, with new rare words, as more text would have.

The text is repeated. So that the vocabulary grows as in real text, tokens of each repetition but the first become new
words, by the Pitman-Yor process (Pitman and Yor, 1997), whose words follow Zipf's law and whose vocabulary grows by
Heaps' law. After n tokens with V words its next token is a word of count c with probability (c - d) / n, and a new one
with probability d V / n. So a token of a word that the text has c times is replaced with probability d / c, and what it
is replaced by is drawn from the same process over the words that are new since. The discount d is measured: it is the
power with which the vocabulary grows in the text itself.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse.corpus.encoding import encode_corpus

__all__ = ["Base", "Lengthened", "NewWords", "lengthen", "read_base"]

_BLOCK = 200_000  # sentences that are written at a time
_DIGITS = "abcdefghijklmnopqrstuvwxyz"


class Base(NamedTuple):
    """The text to be repeated: ids by descending count, where sentences begin, the words and their counts."""

    tokens: NDArray[np.int32]
    offsets: NDArray[np.int64]
    words: list[str]
    counts: NDArray[np.int64]
    discount: float


class Lengthened(NamedTuple):
    """What was written."""

    tokens: int
    words: int
    bytes: int


def read_base(path: Path) -> Base:
    """Read a text with all of its words, and measure how its vocabulary grows."""
    vocabulary, corpus = encode_corpus(None, path, min_count=1)
    tokens = corpus.tokens
    half = len(np.unique(tokens[: len(tokens) // 2]))
    discount = float(np.clip(np.log2(len(vocabulary) / half), 0.05, 0.95))
    return Base(tokens, corpus.offsets, list(vocabulary.words), np.asarray(vocabulary.counts), discount)


class NewWords:
    """The words that are new since the first repetition: a Pitman-Yor process that begins where the text's ends.

    Parameters
    ----------
    first : int
        The id of the first new word, which is the number of words of the text.
    discount : float
        d.
    """

    def __init__(self, first: int, discount: float) -> None:
        self._discount = discount
        self._first = self._next = first
        self._drawn = np.empty(0, np.int32)  # all tokens so far
        self._opens = np.empty(0, np.bool_)  # the first token of a word

    @property
    def words(self) -> int:
        """How many there are."""
        return self._next - self._first

    def draw(self, count: int, rng: np.random.Generator) -> NDArray[np.int32]:
        """The next `count` tokens. Words of earlier calls are repeated, not those of the call itself."""
        concentration, seen = self._discount * self._first, len(self._drawn)
        # A token seen before, or a new word. The word's first token counts 1 - d.
        earlier = rng.random(count) < seen / (concentration + seen)
        at = rng.integers(0, max(seen, 1), count)
        if seen:
            earlier &= ~(self._opens[at] & (rng.random(count) < self._discount))
        found = np.empty(count, np.int32)
        found[earlier] = self._drawn[at[earlier]] if seen else 0
        fresh = count - int(earlier.sum())
        found[~earlier] = np.arange(self._next, self._next + fresh, dtype=np.int32)
        self._next += fresh
        self._drawn = np.concatenate([self._drawn, found])
        self._opens = np.concatenate([self._opens, ~earlier])
        return found


def name_of(base: list[str], number: int) -> str:
    """A name for the new word of this number, which no word of the text has: letters, a hyphen, letters."""
    letters, rest = "", number // len(base)
    while True:
        rest, digit = divmod(rest, len(_DIGITS))
        letters = _DIGITS[digit] + letters
        if rest == 0:
            return f"{base[-1 - number % len(base)]}-{letters}"


def repetitions(base: Base, new: NewWords, seed: int) -> Iterator[NDArray[np.int32]]:
    """Tokens in blocks, without end, with -1 behind each sentence: first the text as it is, then in another order."""
    sentences = len(base.offsets) - 1
    for number in itertools.count():
        rng = np.random.default_rng([seed, number])
        order = rng.permutation(sentences) if number else np.arange(sentences)
        for begin in range(0, sentences, _BLOCK):
            block = _sentences(base, order[begin : begin + _BLOCK])
            if number:
                words = np.flatnonzero(block >= 0)
                chosen = words[rng.random(len(words)) * base.counts[block[words]] < base.discount]
                block[chosen] = new.draw(len(chosen), rng)
            yield block


def _sentences(base: Base, order: NDArray[np.int64]) -> NDArray[np.int32]:
    """Sentences one behind another, each with -1 at its end."""
    begins = base.offsets[order]
    lengths = base.offsets[order + 1] - begins
    ends = np.cumsum(lengths + 1)
    places = np.arange(ends[-1]) - np.repeat(ends - lengths - 1 - begins, lengths + 1)
    block = base.tokens[np.minimum(places, len(base.tokens) - 1)]
    block[ends - 1] = -1
    return block


def lengthen(base: Base, tokens: int, path: Path, seed: int = 1) -> Lengthened:
    """Write a text of `tokens` tokens, to the end of the sentence, by way of a temporary file.

    Parameters
    ----------
    base : Base
        What it is made of.
    tokens : int
        How many.
    path : Path
        Where it goes.
    seed : int
        The same seed makes the same text.
    """
    if tokens < 1 or len(base.tokens) == 0:
        raise ValueError(f"a text of at least one token is made of at least one; got {tokens}")
    new, names, written = NewWords(len(base.words), base.discount), [*base.words], 0
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with unfinished.open("w", encoding="utf-8", buffering=1 << 22) as file:
            for block in repetitions(base, new, seed):
                ends = np.flatnonzero(block < 0)
                counts = np.arange(1, len(ends) + 1)
                last = int(np.searchsorted(ends + 1 - counts, tokens - written))
                if last < len(ends):
                    block = block[: ends[last] + 1]
                while len(names) < len(base.words) + new.words:
                    names.append(name_of(base.words, len(names) - len(base.words)))
                file.write(_text(block, names))
                written += int((block >= 0).sum())
                if written >= tokens:
                    break
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return Lengthened(written, len(base.words) + new.words, path.stat().st_size)


def _text(block: NDArray[np.int32], names: list[str]) -> str:
    """A block as lines: -1, which ends a sentence, is the last name for as long as this takes."""
    names.append("\n")
    try:
        return " ".join(map(names.__getitem__, block.tolist())).replace(" \n ", "\n").replace(" \n", "\n")
    finally:
        names.pop()
