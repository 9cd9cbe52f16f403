"""gensim's evaluations of vectors on word lists: rated pairs, and analogies a : b = c : ?."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from muse.base.optional import needed
from muse.data.arrays import Floats
from muse.readers.analogies import Analogy
from muse.readers.word_pairs import as_word_pairs, read_word_pairs

__all__ = ["answer_analogies", "correlate_word_pairs"]

_BATCH = 1000  # questions that are searched at once


class _Vectors(Protocol):
    """What analogies ask of word vectors."""

    def get_vector(self, key: str, *, norm: bool = False) -> Floats: ...
    def most_similar_batch(
        self, queries: Any, topn: int = 10, *, restrict_vocab: int | None = None
    ) -> list[list[tuple[str, float]]]: ...


def correlate_word_pairs(
    pairs: str | os.PathLike[str] | Sequence[tuple[str, str, float]],
    similarity: Callable[[str, str], float],
    spelling: Mapping[str, str],
    *,
    dummy4unknown: bool = False,
) -> tuple[Any, Any, float]:
    """gensim's evaluation of word pairs; `KeyedVectors.evaluate_word_pairs` is the way to call it.

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
    stats = needed("scipy.stats", "evaluate_word_pairs")
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


def answer_analogies(
    vectors: _Vectors,
    questions: Sequence[Analogy],
    spelling: Mapping[str, str],
    *,
    restrict_vocab: int | None = None,
    dummy4unknown: bool = False,
) -> tuple[float, list[dict[str, Any]]]:
    """Answer analogies by the largest cosine with b - a + c; `WordVectors.evaluate_word_analogies` calls this.

    Parameters
    ----------
    vectors : WordVectors
        The vectors.
    questions : sequence of Analogy
        The questions.
    spelling : mapping of str to str
        The known word that a spelling, or one in upper case, stands for.
    restrict_vocab : int, optional
        Search the first, most frequent words only.
    dummy4unknown : bool
        Count questions with an unknown word as wrong, instead of skipping them.

    Returns
    -------
    score : float
        Share of right answers; 0 without any.
    sections : list of dict
        ``section``, ``correct``, ``incorrect``; the last one is the total.
    """
    spelt = [[spelling.get(word, spelling.get(word.upper())) for word in question[1:]] for question in questions]
    known = [i for i, words in enumerate(spelt) if None not in words]
    right: set[int] = set()
    for start in range(0, len(known), _BATCH):
        batch = known[start : start + _BATCH]
        answers = _answers(vectors, [spelt[i] for i in batch], restrict_vocab)
        right.update(i for i, answer in zip(batch, answers, strict=True) if answer == spelt[i][3])
    sections: dict[str, dict[str, Any]] = {}
    for i, question in enumerate(questions):
        row = sections.setdefault(question.section, {"section": question.section, "correct": [], "incorrect": []})
        if dummy4unknown or None not in spelt[i]:
            row["correct" if i in right else "incorrect"].append(question[1:])
    rows = list(sections.values())
    total = {name: [found for row in rows for found in row[name]] for name in ("correct", "incorrect")}
    asked = len(total["correct"]) + len(total["incorrect"])
    rows.append({"section": "Total accuracy", **total})
    return (len(total["correct"]) / asked if asked else 0.0), rows


def _answers(vectors: _Vectors, questions: Sequence[Sequence[Any]], restrict_vocab: int | None) -> Iterable[Any]:
    """The word closest to b - a + c for each (a, b, c, expected), other than these three."""
    words = {word for question in questions for word in question[:3]}
    units = {word: vectors.get_vector(word, norm=True) for word in words}
    queries = np.stack([units[b] - units[a] + units[c] for a, b, c, _ in questions])
    found = vectors.most_similar_batch(queries, 4, restrict_vocab=restrict_vocab)
    for question, neighbours in zip(questions, found, strict=True):
        yield next((word for word, _ in neighbours if word not in question[:3]), None)
