"""Correlation of similarities with the ratings of word pairs, in gensim's form."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from muse.base.optional import needed
from muse.readers.word_pairs import as_word_pairs, read_word_pairs

__all__ = ["correlate_word_pairs"]


def correlate_word_pairs(
    pairs: str | os.PathLike[str] | Sequence[tuple[str, str, float]],
    similarity: Callable[[str, str], float],
    spelling: Mapping[str, str],
    *,
    dummy4unknown: bool = False,
) -> tuple[Any, Any, float]:
    """gensim's evaluation of word pairs; `evaluate_word_pairs` of the vectors calls this.

    Parameters
    ----------
    pairs : path-like or sequence of (str, str, float)
        Rated pairs.
    similarity : callable
        Similarity of two known words.
    spelling : mapping of str to str
        The known word that a spelling, or one in upper case, stands for.
    dummy4unknown : bool
        Give pairs with an unknown word the similarity 0.

    Returns
    -------
    pearson, spearman : (statistic, p-value)
        As scipy gives them.
    oov_ratio : float
        Percentage of pairs with an unknown word.
    """
    stats = needed("scipy.stats", "evaluate_word_pairs", "eval")
    rated = read_word_pairs(pairs) if isinstance(pairs, str | os.PathLike) else as_word_pairs(pairs)
    scores: list[float] = []
    ratings: list[float] = []
    unknown = 0
    for pair in rated:
        found = [spelling.get(word, spelling.get(word.upper())) for word in pair[:2]]
        if found[0] is None or found[1] is None:
            unknown += 1
            if not dummy4unknown:
                continue
        scores.append(0.0 if found[0] is None or found[1] is None else similarity(found[0], found[1]))
        ratings.append(pair.rating)
    if len(scores) < 2:
        raise ValueError(f"only {len(scores)} of {len(rated)} pairs are in the vocabulary; that gives no correlation")
    return stats.pearsonr(ratings, scores), stats.spearmanr(ratings, scores), 100 * unknown / len(rated)
