"""Drawing pairs of words to merge into pseudo-words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["draw_pairs"]

_STEM = 4  # words that begin alike are too often forms of one another


def _counts(source: Any) -> dict[str, int]:
    """Counts by word, from a mapping or from a vocabulary with ``words`` and ``counts``."""
    if isinstance(source, Mapping):
        return {str(word): int(count) for word, count in source.items()}
    words, counts = getattr(source, "words", None), getattr(source, "counts", None)
    if words is None or counts is None:
        raise TypeError(
            f"counts must be a mapping of word to count or have words and counts, got {type(source).__name__}"
        )
    return {str(word): int(count) for word, count in zip(words, counts, strict=True)}


def draw_pairs(
    counts: Mapping[str, int] | Any,
    n_pairs: int = 80,
    *,
    min_count: int = 300,
    max_count: int = 3000,
    seed: int = 0,
    bands: int = 4,
    max_ratio: float = 1.2,
    exclude: Iterable[str] = (),
) -> list[tuple[str, str]]:
    """Draw pairs of words of similar frequency, to be merged into pseudo-words.

    The range of counts is cut into bands of equal width in the logarithm and each band gives the same number of pairs,
    so that rarer words are not crowded out by, nor crowd out, the frequent ones. Both words of a pair come from one
    band; they are alphabetic, of three letters or more, do not begin with the same four letters, and no word is drawn
    twice.

    Parameters
    ----------
    counts : mapping of str to int, or a vocabulary with ``words`` and ``counts``
        How often each word occurs.
    n_pairs : int
        How many pairs.
    min_count, max_count : int
        Range of counts of the words, both included. The defaults suit some ten million tokens; scale them with the
        corpus.
    seed : int
        Seed of the drawing; the same counts and seed give the same pairs, in whatever order the words come.
    bands : int
        How many frequency bands.
    max_ratio : float
        The larger count of a pair is at most this multiple of the smaller, so that at 1.2 the majority member holds
        0.5 to 0.545 of the occurrences, about 0.52 on average.
    exclude : iterable of str
        Words never to draw.

    Returns
    -------
    list of (str, str)
        The pairs, rarest band first.

    Raises
    ------
    TypeError, ValueError
        If there are not enough words; the message says in which band. For `exclude` that is one string, and other
        options out of range.

    Notes
    -----
    The idea is due to W. Gale, K. Church, D. Yarowsky (1992), *Work on statistical methods for word sense
    disambiguation*, and H. Schuetze (1992), *Context space*.

    Examples
    --------
    >>> draw_pairs({"red": 10, "sun": 11, "box": 30, "low": 31}, 2, min_count=10, max_count=40, bands=2)
    [('red', 'sun'), ('box', 'low')]
    """
    if n_pairs < 1 or bands < 1:
        raise ValueError(f"n_pairs and bands must be at least 1, got {n_pairs} and {bands}")
    if not 1 <= min_count < max_count:
        raise ValueError(f"need 1 <= min_count < max_count, got {min_count} and {max_count}")
    if max_ratio < 1:
        raise ValueError(f"max_ratio must be at least 1, got {max_ratio}")
    if isinstance(exclude, (str, bytes)) or not isinstance(exclude, Iterable):
        raise TypeError(f"exclude must be a collection of words, as in ['the']; got {exclude!r:.80}")
    banned = set(exclude)
    pool = sorted(
        (count, word)
        for word, count in _counts(counts).items()
        if min_count <= count <= max_count and len(word) >= 3 and word.isalpha() and word not in banned
    )
    generator = np.random.default_rng(seed)
    edges = np.geomspace(min_count, max_count, bands + 1)
    pairs: list[tuple[str, str]] = []
    for band in range(bands):
        last = band == bands - 1
        low, high = edges[band], edges[band + 1]
        # The outer edges are compared as given: geomspace may round them to just inside.
        words = [(c, w) for c, w in pool if (c >= low or band == 0) and (c < high or last)]
        share = n_pairs * (band + 1) // bands - n_pairs * band // bands
        drawn = _draw(words, share, max_ratio, generator)
        if len(drawn) < share:
            raise ValueError(
                f"only {len(drawn)} of {share} pairs can be drawn among the {len(words)} words that occur {low:.0f} to "
                f"{high:.0f} times: lower min_count, raise max_count or max_ratio, or ask for fewer pairs"
            )
        pairs.extend(drawn)
    return pairs


def _draw(
    words: Sequence[tuple[int, str]], n_pairs: int, max_ratio: float, generator: np.random.Generator
) -> list[tuple[str, str]]:
    counts = np.array([count for count, _ in words], dtype=np.int64)
    free = np.ones(len(words), dtype=bool)
    drawn: list[tuple[str, str]] = []
    for first in generator.permutation(len(words)).tolist():
        if len(drawn) == n_pairs:
            break
        if not free[first]:
            continue
        count, word = words[first]
        near = free & (counts <= count * max_ratio) & (counts * max_ratio >= count)
        near[first] = False
        partners = [i for i in np.flatnonzero(near).tolist() if words[i][1][:_STEM] != word[:_STEM]]
        if not partners:
            continue
        second = partners[int(generator.integers(len(partners)))]
        free[[first, second]] = False
        drawn.append((word, words[second][1]))
    return drawn
