"""How the tools that vector files come from select senses, as callables ``selector(word, tokens, position)``.

Each gives the weights of the senses of the word, float (K,), for `muse.evaluation`; words that a tool does not know are
left out of a context.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from muse.base.numeric import softmax, unit_rows
from muse.formats.table import SenseTable

__all__ = ["AdaGramSelector", "CenterSelector", "SensegramSelector"]

Weights: TypeAlias = NDArray[np.floating[Any]]

_SMALLEST_DISTANCE = 1e-6
_ADAGRAM_SMALLEST_PRIOR = 1e-3


def _neighbours(tokens: Sequence[str], position: int, window: int, ids: Mapping[str, int]) -> list[int]:
    """Ids of the known words around a position, those beyond the window left out."""
    around = [*tokens[max(0, position - window) : position], *tokens[position + 1 : position + 1 + window]]
    return [ids[token] for token in around if token in ids]


def _cosines(vector: Weights, rows: Weights) -> Weights:
    return unit_rows(rows) @ unit_rows(vector)


@dataclass
class _OfTable:
    """A selector of a table of senses."""

    table: SenseTable
    window: int

    def __post_init__(self) -> None:
        self._ids = {word: i for i, word in enumerate(self.table.words)}

    def _rows(self, word: str) -> slice[int, int, None]:
        rows = self.table.rows_of(self._ids[word])
        return slice(rows.start, rows.stop)

    def _prior(self, rows: slice[int, int, None]) -> Weights:
        shares = self.table.shares()[rows] if self.table.priors is None else self.table.priors[rows]
        return shares if shares.sum() > 0 else np.ones(len(shares))


@dataclass
class CenterSelector(_OfTable):
    """MSSG and MSWord2Vec: the sense whose contexts are most like the mean of the context's word vectors.

    A sense weighs one over its cosine distance from the context, as in the papers' AvgSimC. Without centres
    (MSSG-MaxOut) the sense vectors are compared themselves, by inner product and softmax.

    Parameters
    ----------
    table : SenseTable
        The senses.
    window : int
        Words on each side that count.
    context_vectors : float32 (V, D)
        Word-level vectors of context words.
    centers : float32 (Z, D) or None
        Mean context of each sense.
    """

    context_vectors: NDArray[np.float32]
    centers: NDArray[np.float32] | None

    def __call__(self, word: str, tokens: Sequence[str], position: int) -> Weights:
        """Weights of the senses of a word in a context, (K,)."""
        rows = self._rows(word)
        context = _neighbours(tokens, position, self.window, self._ids)
        if not context:
            return self._prior(rows)
        vectors = self.context_vectors[context].astype(np.float64)
        if self.centers is None:
            return softmax(self.table.sense_vectors[rows].astype(np.float64) @ vectors.sum(axis=0))
        distances = 1.0 - _cosines(vectors.mean(axis=0), self.centers[rows].astype(np.float64))
        weights: Weights = 1.0 / np.maximum(distances, _SMALLEST_DISTANCE)
        return weights


@dataclass
class SensegramSelector(_OfTable):
    """Sensegram: the sense most like the mean of the few context words that tell senses apart best.

    Parameters
    ----------
    table : SenseTable
        The senses.
    window : int
        Known words on each side that count; 10 by default there.
    context_vectors : SenseTable
        Word vectors (``method="sim"``) or context vectors (``method="prob"``) of the same word2vec model.
    method : str
        ``"sim"``: cosine; ``"prob"``: the probability of the mean of the context.
    words_used : int
        Context words that are used, those that separate senses most; 2 by default there.
    """

    context_vectors: SenseTable
    method: str = "sim"
    words_used: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method not in ("sim", "prob"):
            raise ValueError(f"method must be 'sim' or 'prob'; got {self.method!r:.80}")
        self._context_ids = {word: i for i, word in enumerate(self.context_vectors.words)}
        self._context_rows = self.context_vectors.mean_vectors()

    def __call__(self, word: str, tokens: Sequence[str], position: int) -> Weights:
        """One for the sense that is selected, zero for the others, (K,)."""
        rows = self._rows(word)
        known = [(place, token) for place, token in enumerate(tokens) if token in self._context_ids]
        left = [token for place, token in known if place < position][-self.window :]
        right = [token for place, token in known if place > position][: self.window]
        context = [self._context_ids[token] for token in (*left, *right)]
        if not context:
            return self._prior(rows)
        vectors = self._context_rows[context].astype(np.float64)
        senses = self.table.sense_vectors[rows].astype(np.float64)
        spread = [np.ptp(self._scores(vector, senses)) for vector in vectors]
        used = np.argsort(-np.asarray(spread), kind="stable")[: self.words_used]
        chosen = int(np.argmax(self._scores(vectors[used].mean(axis=0), senses)))
        weights: Weights = np.eye(len(senses))[chosen]
        return weights

    def _scores(self, vector: Weights, senses: Weights) -> Weights:
        if self.method == "sim":
            return _cosines(vector, senses)
        scores: Weights = 1.0 / (1.0 + np.exp(-(senses @ vector)))
        return scores


@dataclass
class AdaGramSelector(_OfTable):
    """AdaGram: the posterior of the senses, from their priors and the likelihood of each context word.

    Parameters
    ----------
    table : SenseTable
        The senses, with priors.
    window : int
        Words on each side that count.
    nodes : float32 (V, D)
        Output vectors of the inner nodes of the tree over words.
    path : int32 (V, L)
        The nodes above each word, from 1.
    code : int8 (V, L)
        The branch taken at each, 0 or 1; -1 behind the end.
    """

    nodes: NDArray[np.float32]
    path: NDArray[np.int32]
    code: NDArray[np.int8]

    def __call__(self, word: str, tokens: Sequence[str], position: int) -> Weights:
        """Posterior probabilities of the senses of a word in a context, (K,)."""
        rows = self._rows(word)
        prior = self._prior(rows).astype(np.float64)
        if (prior >= _ADAGRAM_SMALLEST_PRIOR).any():
            prior = np.where(prior < _ADAGRAM_SMALLEST_PRIOR, 0.0, prior)
        senses = self.table.sense_vectors[rows].astype(np.float64)
        with np.errstate(divide="ignore"):
            scores = np.log(prior)
        for other in _neighbours(tokens, position, self.window, self._ids):
            length = int(np.argmax(self.code[other] < 0)) if (self.code[other] < 0).any() else self.code.shape[1]
            signs = 1.0 - 2.0 * self.code[other, :length]
            steps = senses @ self.nodes[self.path[other, :length] - 1].T.astype(np.float64)
            scores = scores - np.logaddexp(0.0, -steps * signs).sum(axis=1)
        return softmax(scores)


Selector: TypeAlias = Callable[[str, Sequence[str], int], Weights]
