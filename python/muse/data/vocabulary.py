"""The words of a model: their ids and their counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from muse.errors import UnknownWordError, nearest_spellings

__all__ = ["LARGEST_TOTAL", "Vocabulary", "check_words", "counts_of"]

LARGEST_TOTAL = 2**62  # sums and products of counts stay far from the end of int64


class Vocabulary:
    """Words with their ids, which are 0, 1, 2, ... in the order given, and their counts.

    Parameters
    ----------
    words : sequence of str
        Kept as it is; it may decode its words lazily.
    counts : array_like of int, (V,), optional
        How often each word occurs. Zeros if not given.
    raw_words : int, optional
        Tokens of the corpus before any word was dropped. The sum of `counts` if not given.
    effective_min_count : int
        The count below which words were dropped: `min_count`, or what `max_final_vocab` raised it to.

    Examples
    --------
    >>> vocabulary = Vocabulary(["the", "head"], [7, 2])
    >>> vocabulary.index("head"), vocabulary.get("heed"), "the" in vocabulary
    (1, -1, True)
    >>> vocabulary.nearest_spellings("heed")
    ['head']
    """

    def __init__(
        self,
        words: Sequence[str],
        counts: ArrayLike | None = None,
        *,
        raw_words: int | None = None,
        effective_min_count: int = 1,
    ) -> None:
        self.words = words
        given = np.zeros(len(words), np.int64) if counts is None else np.asarray(counts)
        if given.shape != (len(words),):
            raise ValueError(f"{len(words)} words need as many counts, not an array of shape {given.shape}")
        if len(given) and (given.dtype.kind not in "iu" or given.min() < 0):
            raise ValueError(f"counts must be whole numbers of at least 0; got {counts!r:.80}")
        if given.sum(dtype=np.float64) > LARGEST_TOTAL:
            raise ValueError(f"counts must not add up to more than {LARGEST_TOTAL}; got {counts!r:.80}")
        self.counts: NDArray[np.int64] = given.astype(np.int64, copy=False)
        if (raw_words or 0) > LARGEST_TOTAL:
            raise ValueError(f"raw_words must not be more than {LARGEST_TOTAL}; got {raw_words}")
        self.raw_words = int(self.counts.sum()) if raw_words is None else raw_words
        self.effective_min_count = effective_min_count

    @cached_property
    def ids(self) -> dict[str, int]:
        """The id of each word; built when it is first needed, so that a mapped model opens at once."""
        ids = {word: i for i, word in enumerate(self.words)}
        if len(ids) < len(self.words):
            twice = next(word for i, word in enumerate(self.words) if ids[word] != i)
            raise ValueError(f"the vocabulary holds the word {twice!r} twice")
        return ids

    def get(self, word: str) -> int:
        """The id of `word`, or -1."""
        return self.ids.get(word, -1) if isinstance(word, str) else -1

    def index(self, word: str) -> int:
        """The id of `word`; `UnknownWordError`, a `KeyError` with the nearest spellings, if there is none."""
        try:
            return self.ids[word]
        except (KeyError, TypeError):  # what cannot be a key of a dict is no word either
            raise UnknownWordError(word, self.words) from None

    def nearest_spellings(self, word: str, n: int = 3) -> list[str]:
        """Up to `n` known words that are spelt like `word`."""
        return nearest_spellings(word, self.words, n)

    def __getitem__(self, word: str) -> int:
        return self.index(word)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and word in self.ids

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __repr__(self) -> str:
        return f"<Vocabulary: {len(self)} words, {int(self.counts.sum())} of {self.raw_words} tokens>"


def check_words(words: Sequence[Any], name: str) -> None:
    """Raise a TypeError or ValueError unless all are strings of valid text, and no two the same.

    Parameters
    ----------
    words : sequence
        What a user gives as words.
    name : str
        What they are called, for errors.
    """
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"the words of {name} must be strings; got {word!r:.80}")
        if not word.isascii() and any("\ud800" <= letter <= "\udfff" for letter in word):
            raise ValueError(f"the word {word!r} of {name} holds a lone surrogate, which is not text")
    if len(set(words)) < len(words):
        twice, _ = Counter(words).most_common(1)[0]
        raise ValueError(f"{name} holds the word {twice!r} twice")


def counts_of(word_freq: Mapping[str, Any], known: int = 0) -> NDArray[np.int64]:
    """The counts of a table ``{word: count}`` that a user gives, checked, int64 (V,).

    Parameters
    ----------
    word_freq : mapping of str to int
        The table.
    known : int
        Tokens that the vocabulary counts already, to which these are to be added.

    Raises
    ------
    TypeError, ValueError
        See `MUSE.build_vocab_from_freq`.
    """
    if not isinstance(word_freq, Mapping):
        raise TypeError(f"word_freq must be a dict {{word: count}}; got {type(word_freq).__name__}")
    if not word_freq:
        raise ValueError("word_freq is empty; give a dict {word: count}")
    check_words(list(word_freq), "word_freq")
    total = 0
    for word, count in word_freq.items():
        if isinstance(count, (bool, np.bool_)) or not isinstance(count, Integral):
            raise TypeError(f"word_freq[{word!r}] must be an integer; got {count!r:.80}")
        if count < 0:
            raise ValueError(f"word_freq[{word!r}] must not be negative; got {count}")
        total += int(count)
    if total + known > LARGEST_TOTAL:
        before = f", with the {known} that the vocabulary has," if known else ""
        raise ValueError(
            f"the counts of word_freq{before} add up to {total + known}, which is more than 2^62; scale them down"
        )
    return np.fromiter(word_freq.values(), np.int64, len(word_freq))
