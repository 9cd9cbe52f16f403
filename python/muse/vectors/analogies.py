"""Answers to analogies a : b = c : ?, by the largest cosine with b - a + c."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from muse.readers.analogies import Analogy

__all__ = ["answer_analogies"]

_BATCH = 1000  # questions that are searched at once


class SearchedVectors(Protocol):
    """What answering asks of vectors."""

    def get_vector(self, key: str, *, norm: bool = False) -> Any: ...
    def most_similar_cosmul(
        self, positive: Any, negative: Any, topn: int, *, restrict_vocab: int | None = None
    ) -> Any: ...
    def most_similar_batch(self, queries: Any, topn: int, *, restrict_vocab: int | None = None) -> Any: ...


def answer_analogies(
    vectors: SearchedVectors,
    questions: Sequence[Analogy],
    spelling: Mapping[str, str],
    *,
    restrict_vocab: int | None = None,
    dummy4unknown: bool = False,
    similarity_function: str = "most_similar",
) -> tuple[float, list[dict[str, Any]]]:
    """Answer analogies by the largest cosine with b - a + c; `WordVectors.evaluate_word_analogies` calls this.

    Parameters
    ----------
    vectors : WordVectors
        Or what else can be searched so.
    questions : sequence of Analogy
        The questions.
    spelling : mapping of str to str
        The known word that a spelling, or one in upper case, stands for.
    restrict_vocab : int, optional
        Search the first, most frequent words only.
    dummy4unknown : bool
        Count questions with an unknown word as wrong, instead of skipping them.
    similarity_function : {"most_similar", "most_similar_cosmul"}
        The method of the vectors that answers.

    Returns
    -------
    score : float
        Share of right answers; 0 without any.
    sections : list of dict
        ``section``, ``correct``, ``incorrect``; the last one is the total.
    """
    if similarity_function not in ("most_similar", "most_similar_cosmul"):
        raise ValueError(
            f"similarity_function must be 'most_similar' or 'most_similar_cosmul'; got {similarity_function!r:.60}"
        )
    spelt = [[spelling.get(word, spelling.get(word.upper())) for word in question[1:]] for question in questions]
    known = [i for i, words in enumerate(spelt) if None not in words]
    right: set[int] = set()
    for start in range(0, len(known), _BATCH):
        batch = known[start : start + _BATCH]
        asked_words = [spelt[i] for i in batch]
        if similarity_function == "most_similar":
            answers = _answers(vectors, asked_words, restrict_vocab)
        else:
            answers = _products(vectors, asked_words, restrict_vocab)
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


def _answers(vectors: SearchedVectors, questions: Sequence[Sequence[Any]], restrict_vocab: int | None) -> Iterable[Any]:
    """The word closest to b - a + c for each (a, b, c, expected), other than these three."""
    words = {word for question in questions for word in question[:3]}
    units = {word: vectors.get_vector(word, norm=True) for word in words}
    queries = np.stack([units[b] - units[a] + units[c] for a, b, c, _ in questions])
    found = vectors.most_similar_batch(queries, 4, restrict_vocab=restrict_vocab)
    for question, neighbours in zip(questions, found, strict=True):
        yield next((word for word, _ in neighbours if word not in question[:3]), None)


def _products(
    vectors: SearchedVectors, questions: Sequence[Sequence[Any]], restrict_vocab: int | None
) -> Iterable[Any]:
    """The same by products of cosines (3CosMul)."""
    for a, b, c, _ in questions:
        found = vectors.most_similar_cosmul([b, c], [a], 1, restrict_vocab=restrict_vocab)
        yield found[0][0] if found else None
