"""What ``model.describe(word)`` shows: one card for each sense of a word."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from muse import _core

if TYPE_CHECKING:
    from muse.queries import SenseQueries

__all__ = ["SenseCard", "WordCard", "collocates", "describe"]

Scored = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class SenseCard:
    """One sense of a word.

    Attributes
    ----------
    key : str
        ``word#k``.
    share : float
        Its share in the uses of the word in the training text.
    neighbours : tuple of (str, float)
        The most similar senses of other words, with cosines.
    collocates : tuple of (str, float)
        What the model expects near it, with likelihoods.
    """

    key: str
    share: float
    neighbours: Scored
    collocates: Scored


@dataclass(frozen=True)
class WordCard:
    """The senses of a word, the most used first. Prints as text, shows as a table in a notebook.

    Attributes
    ----------
    word : str
        The word.
    count : int
        How often it occurs in the training text.
    senses : tuple of SenseCard
        Its senses by falling share.
    """

    word: str
    count: int
    senses: tuple[SenseCard, ...]

    def __str__(self) -> str:
        noun = "sense" if len(self.senses) == 1 else "senses"
        lines = [f"{self.word}: {self.count:,} uses, {len(self.senses)} {noun}"]
        for sense in self.senses:
            lines += [
                "",
                f"{sense.key}  {sense.share:.0%}",
                f"  like  {_listed(sense.neighbours)}",
                f"  near  {_listed(sense.collocates)}",
            ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td><b>{html.escape(sense.key)}</b></td><td>{sense.share:.0%}</td>"
            f"<td>{html.escape(_listed(sense.neighbours))}</td><td>{html.escape(_listed(sense.collocates))}</td></tr>"
            for sense in self.senses
        )
        return (
            f"<table><caption>{html.escape(self.word)}: {self.count:,} uses</caption>"
            f"<tr><th>sense</th><th>share</th><th>like</th><th>near</th></tr>{rows}</table>"
        )


def _listed(scored: Scored) -> str:
    return ", ".join(key if key.isprintable() else repr(key) for key, _ in scored) or "(none)"


def describe(model: SenseQueries, word: str, topn: int) -> WordCard:
    """The card of a word; see `SenseQueries.describe`."""
    prior = model.sense_prior(word)
    neighbours = model.sv.neighbours_of(word, topn, exclude_same_word=True)
    expected = collocates(model, model.sense_vectors(word), topn, None)
    senses = (
        SenseCard(f"{word}#{k}", float(prior[k]), tuple(neighbours[k]), tuple(expected[k]))
        for k in np.argsort(-prior, kind="stable").tolist()
    )
    return WordCard(word, int(model.arrays.word_counts[model.vocabulary.index(word)]), tuple(senses))


def collocates(
    model: SenseQueries, vectors: NDArray[np.float32], topn: int, restrict_vocab: int | None
) -> list[list[tuple[str, float]]]:
    """For each of M sense vectors, float32 (M, D), the collocates of the largest likelihood σ(U·V)."""
    arrays = model.arrays
    words = arrays.n_words if restrict_vocab is None else max(1, min(restrict_vocab, arrays.n_words))
    by_word = len(arrays.collocation_vectors) == arrays.n_words
    end = words if by_word else int(arrays.sense_offset[words])
    rows, scores = _core.top_k(arrays.collocation_vectors[:end], vectors, min(topn, end))
    keys = model.wv.index_to_key if by_word else model.sv.index_to_key
    likelihoods = np.exp(-np.logaddexp(0.0, -scores.astype(np.float64)))  # sigmoid, without overflow
    return [
        [(keys[row], likelihood) for row, likelihood in zip(*found, strict=True) if row >= 0]
        for found in zip(rows.tolist(), likelihoods.tolist(), strict=True)
    ]
