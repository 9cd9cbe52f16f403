"""Which sense a context means: the paper's selection module in use. Every call of the core's selector is made here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.arrays import Arrays
from muse.context import Context, as_tokens, encode
from muse.settings import Settings
from muse.vocabulary import Vocabulary

__all__ = ["SenseSelector", "TokenSense", "context_weights", "selection_options"]

_BLOCK_TOKENS = 1 << 18  # tokens that disambiguate hands to the core at once


class TokenSense(NamedTuple):
    """A token of a sentence and the sense that was selected for it.

    Attributes
    ----------
    token : str
        The token as it was given.
    sense : int or None
        Number of the sense, None for a word that the model does not know.
    probability : float
        Probability of that sense in this context (equation 1 of the paper); 0 for an unknown word.
    """

    token: str
    sense: int | None
    probability: float

    @property
    def key(self) -> str:
        """``"word#k"``, or the bare token for an unknown word."""
        return self.token if self.sense is None else f"{self.token}#{self.sense}"


def selection_options(settings: Settings) -> _core.SelectionOptions:
    """What a context is, the same for training and for use."""
    options = _core.SelectionOptions()
    options.window = settings.selection_window or settings.window
    options.mean = settings.context == "mean"
    options.cross_sentences = settings.cross_sentences
    options.full_text = settings.full_text
    if settings.distance_power > 0 or not settings.context_center:
        reach = max(options.window, settings.window)
        near = [float(d) ** -settings.distance_power for d in range(1, reach + 1)]
        options.distance = [float(bool(settings.context_center)), *near]
    return options


def context_weights(settings: Settings, word_counts: NDArray[np.int64]) -> NDArray[np.float32]:
    """Weight of each word in a context that is read in full, float32 (V,); empty where every word weighs one."""
    if settings.context_weights == "none":
        return np.empty(0, np.float32)
    keep: NDArray[np.float32] = _core.keep_probabilities(word_counts, settings.sample)
    return np.sqrt(keep) if settings.context_weights == "sqrt_keep" else keep


class SenseSelector:
    """Selects senses with the P and Q of a model.

    Parameters
    ----------
    vocabulary, arrays, settings
        Those of the model. The settings say which window counts, and whether context words are summed or averaged and
        weighted by how often subsampling kept them in training.
    """

    def __init__(self, vocabulary: Vocabulary, arrays: Arrays, settings: Settings) -> None:
        self._vocabulary = vocabulary
        self._arrays = arrays
        self._temperature = settings.temperature
        self._workers = settings.workers or os.cpu_count() or 1
        self._options = selection_options(settings)
        self._center_counts = bool(settings.context_center)
        self._weights = context_weights(settings, arrays.word_counts)

    def probabilities(
        self, word: str, contexts: Sequence[Context], positions: Sequence[int | None]
    ) -> NDArray[np.float32]:
        """Probability of each sense of a word in each of N contexts, float32 (N, K): softmax of its scores.

        Where a context holds no known word, or none but the word itself, the row is the prior of the word (the word
        itself says something only with the setting `context_center`).
        """
        row = self._vocabulary.index(word)
        scores, is_empty = self._scores(word, np.full(len(contexts), row, np.int32), contexts, positions)
        senses = self._arrays.rows_of(row)
        probabilities = _softmax(scores.reshape(len(contexts), senses.stop - senses.start) / self._temperature)
        probabilities[is_empty] = self._arrays.prior(row)
        return probabilities

    def probabilities_of(
        self, words: Sequence[str], contexts: Sequence[Context], positions: Sequence[int | None]
    ) -> list[NDArray[np.float32]]:
        """`probabilities` of the senses of N words, each in a context of its own, N float32 (K,), in one search."""
        rows = np.fromiter(map(self._vocabulary.index, words), np.int32, len(words))
        scores, is_empty = self._scores(words, rows, contexts, positions)
        senses = self._arrays.sense_offset[rows + 1] - self._arrays.sense_offset[rows]
        starts = np.cumsum(senses) - senses
        found: list[NDArray[np.float32]] = [np.empty(0, np.float32)] * len(words)
        for count in np.unique(senses):
            same = np.flatnonzero(senses == count)
            block = _softmax(scores[starts[same, None] + np.arange(count)] / self._temperature)
            for place, row in zip(same.tolist(), block, strict=True):
                found[place] = row
        for place in np.flatnonzero(is_empty).tolist():
            found[place] = self._arrays.prior(int(rows[place]))
        return found

    def _scores(
        self,
        words: str | Sequence[str],
        rows: NDArray[np.int32],
        contexts: Sequence[Context],
        positions: Sequence[int | None],
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """The scores of all senses, one context after another, and whether a context says nothing."""
        arrays, encoded = self._arrays, encode(words, contexts, positions, self._vocabulary)
        scores = _core.sense_scores(
            arrays.context_vectors, arrays.selection_vectors, arrays.sense_offset, self._weights, self._options,
            encoded.tokens, encoded.offsets, encoded.positions, rows,
        )  # fmt: skip
        lengths = np.diff(encoded.offsets)
        alone = (lengths == 1) & (encoded.positions == 0) & (not self._center_counts)
        return scores, (lengths == 0) | alone

    def select(
        self, sentences: Iterable[Context]
    ) -> Iterator[tuple[list[str], NDArray[np.int32], NDArray[np.float32]]]:
        """For each sentence its tokens, their senses, int32, -1 for unknown words, and probabilities, float32.

        Reads the sentences as they come, some hundred thousand tokens ahead, and runs on all threads.
        """
        tokenised = map(as_tokens, sentences)
        while block := list(_take_tokens(tokenised, _BLOCK_TOKENS)):
            ids = [np.fromiter(map(self._vocabulary.get, tokens), np.int32, len(tokens)) for tokens in block]
            stream = np.concatenate(ids)
            known = stream >= 0
            lengths = [int((row >= 0).sum()) for row in ids]
            arrays, offsets = self._arrays, np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
            chosen, probability = _core.select_senses(
                arrays.context_vectors, arrays.selection_vectors, arrays.sense_offset, self._weights, self._options,
                stream[known], offsets, self._temperature, self._workers,
            )  # fmt: skip
            senses, probabilities = np.full(len(stream), -1, np.int32), np.zeros(len(stream), np.float32)
            senses[known], probabilities[known] = chosen, probability
            ends = np.cumsum([len(tokens) for tokens in block])[:-1]
            yield from zip(block, np.split(senses, ends), np.split(probabilities, ends), strict=True)


def _take_tokens(sentences: Iterator[list[str]], count: int) -> Iterator[list[str]]:
    """Sentences with at least `count` tokens in all, or those that are left."""
    for tokens in sentences:
        yield tokens
        count -= len(tokens) + 1  # an empty sentence counts too
        if count <= 0:
            return


def _softmax(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
    probabilities: NDArray[np.float32] = exponentials / exponentials.sum(axis=1, keepdims=True)
    return probabilities
