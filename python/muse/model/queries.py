"""What a model answers: senses of words, senses in context, similarities, collocates, cards, senses of sentences.

Cards, sense trees and sentences are asked for by methods that stand in modules of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.data.arrays import Arrays, Floats
from muse.data.settings import Settings
from muse.data.snapshot import Published, Snapshot
from muse.data.vocabulary import Vocabulary
from muse.model import answers, cards, sentences, trees
from muse.model.first import first_arrays
from muse.selector.context import Context
from muse.selector.selection import SenseSelector, selector_of
from muse.vectors.model_vectors import SenseVectors, WordVectors

__all__ = ["SenseQueries"]


class SenseQueries:
    """The questions to a model. Each looks at `snapshot` once, and is answered from what that is then.

    Parameters
    ----------
    snapshot : Snapshot
        What is asked until another one is published.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._show(snapshot)

    def _show(self, snapshot: Snapshot) -> None:
        """Begin with a snapshot, which `sv` and `wv` look up where it is published."""
        self._published = Published(snapshot)
        self._sv, self._wv = SenseVectors(self._published), WordVectors(self._published, first=first_arrays)

    # -- parts -------------------------------------------------------------------------------------------------------

    @property
    def snapshot(self) -> Snapshot:
        """The settings, words and numbers as they are now, which stay together whatever becomes of the model."""
        return self._published.snapshot

    @property
    def settings(self) -> Settings:
        """The settings; they never change."""
        return self.snapshot.settings

    @property
    def vocabulary(self) -> Vocabulary:
        """The words, their ids and their counts."""
        return self.snapshot.vocabulary

    @property
    def arrays(self) -> Arrays:
        """The numbers: ``model.arrays.sense_vectors`` and the others."""
        return self.snapshot.arrays

    @property
    def is_trained(self) -> bool:
        """Whether there are arrays, so that senses can be asked for."""
        return self.snapshot.is_trained

    @property
    def sv(self) -> SenseVectors:
        """Sense vectors with keys such as ``"head#0"``, and their nearest neighbours."""
        _ = self.arrays  # or there are none
        return self._sv

    @property
    def wv(self) -> WordVectors:
        """Word vectors, the means of sense vectors weighted by their priors, and their nearest neighbours.

        Before training it has the words and their counts.
        """
        _ = self.vocabulary  # or there is none
        return self._wv

    @property
    def selector(self) -> SenseSelector:
        """What selects senses."""
        return selector_of(self.snapshot)

    def __contains__(self, word: object) -> bool:
        words = self.snapshot.words
        return words is not None and word in words

    def __len__(self) -> int:
        words = self.snapshot.words
        return 0 if words is None else len(words)

    def __bool__(self) -> bool:
        return True  # an empty model is a model

    # Questions that stand with what answers them.
    describe = cards.describe
    disambiguate = sentences.disambiguate
    disambiguate_batch = sentences.disambiguate_batch
    disambiguate_blocks = sentences.disambiguate_blocks
    sentence_vector = sentences.sentence_vector
    sense_tree = trees.sense_tree
    forms = trees.forms
    has_usage_vectors = trees.has_usage_vectors
    sense_temperature = trees.sense_temperature
    usage_vector = trees.usage_vector
    usage_vector_batch = trees.usage_vector_batch
    usage_similarity = trees.usage_similarity

    # -- senses of a word --------------------------------------------------------------------------------------------

    def n_senses(self, word: str) -> int:
        """How many senses a word has."""
        rows = answers.rows_of(self.snapshot, word)
        return rows.stop - rows.start

    def sense_numbers(self, word: str, level: int | None = None) -> NDArray[np.int64]:
        """The number of each sense of a word, int64 (K,), in the order of its vectors, shares and probabilities.

        They are 0 to K-1, but after `recut` in a model with sense trees: there a number names a node of the tree, and
        the same node under every cut. Parameters are those of `sense_probabilities`.
        """
        return answers.sense_numbers(self.snapshot, word, level)

    def sense_prior(self, word: str) -> Floats:
        """Share of each sense in the uses of a word in all text that was trained on, float32 (K,)."""
        return answers.probabilities(self.snapshot, word)

    def sense_counts(self, word: str) -> NDArray[np.int64]:
        """How often each sense of a word is selected in all text seen, int64 (K,); together, the word's count."""
        snapshot = self.snapshot
        return snapshot.arrays.sense_counts[answers.rows_of(snapshot, word)].copy()

    def sense_vectors(
        self,
        word: str,
        context: Context | None = None,
        position: int | None = None,
        *,
        contexts: Iterable[Context] | None = None,
        positions: Iterable[int | None] | None = None,
    ) -> Floats:
        """The sense vectors of a word, or the vector of the sense that a context means.

        Parameters
        ----------
        word : str
            A known word.
        context : str or list of str, optional
            One context. A string is split at white space, as a line of a corpus file; nothing else is done to it. A
            list holds tokens, each of them one word. Where the word occurs in it, the window around its first
            occurrence counts; otherwise all of it does. Unknown words are skipped; where no known word is left beside
            the word itself, the prior decides, see `has_context`.
        position : int, optional
            Which occurrence is meant, as an index of the context's tokens.
        contexts : iterable of contexts, optional
            In place of `context`: several, of which each may be a string or a list of tokens.
        positions : iterable of int or None, optional
            The position in each of these.

        Returns
        -------
        float32 (K, D)
            Without a context; a copy.
        float32 (D,)
            With a context.
        float32 (N, D)
            With N `contexts`.

        Raises
        ------
        UnknownWordError
            A KeyError that names the nearest spellings.
        ValueError
            If a position is not one of the word.

        Examples
        --------
        >>> from muse import MUSE
        >>> from muse.datasets import make_ambiguous_corpus
        >>> model = MUSE(make_ambiguous_corpus(2000, 300, seed=0).sentences, senses=2, vector_size=16, workers=1)
        >>> model.sense_vectors("bank").shape, model.sense_vectors("bank", "money in the bank").shape
        ((2, 16), (16,))
        """
        snapshot = self.snapshot
        return answers.sense_vectors(snapshot, word, answers.asked(snapshot, context, position, contexts, positions))

    def select_sense(
        self,
        word: str,
        context: Context | None = None,
        position: int | None = None,
        *,
        contexts: Iterable[Context] | None = None,
        positions: Iterable[int | None] | None = None,
        level: int | None = None,
    ) -> Any:
        """Number of the sense that a context means, int; of each of N contexts, int64 (N,).

        Parameters are those of `sense_probabilities`. Without a context it is the most used sense.
        """
        snapshot = self.snapshot
        about = answers.asked(snapshot, context, position, contexts, positions)
        return answers.select_sense(snapshot, word, about, level)

    def sense_probabilities(
        self,
        word: str,
        context: Context | None = None,
        position: int | None = None,
        *,
        contexts: Iterable[Context] | None = None,
        positions: Iterable[int | None] | None = None,
        level: int | None = None,
    ) -> Floats:
        """Probability of each sense in a context (equation 1 of the paper), in the order of `sense_numbers`.

        Parameters
        ----------
        word, context, position, contexts, positions
            As in `sense_vectors`.
        level : int, optional
            In a model with sense trees: of the senses that the word has where it is cut into so many, or into all of
            its finest senses, if it has fewer. The model stays as it is.

        Returns
        -------
        float32 (K,)
            With one context, and without one: then it is the prior.
        float32 (N, K)
            With N `contexts`.

        Raises
        ------
        UnknownWordError
            A KeyError that names the nearest spellings.
        ValueError
            If a position is given without a context, or is not one of the word; for a `level` in a model
            without trees.

        Examples
        --------
        >>> model.sense_probabilities("bank", "money in the bank", level=2)  # doctest: +SKIP
        array([0.97, 0.03], dtype=float32)
        """
        snapshot = self.snapshot
        about = answers.asked(snapshot, context, position, contexts, positions)
        return answers.probabilities(snapshot, word, about, level)

    def has_context(
        self,
        word: str,
        context: Context | None = None,
        position: int | None = None,
        *,
        contexts: Iterable[Context] | None = None,
        positions: Iterable[int | None] | None = None,
    ) -> Any:
        """Whether a context holds a known word beside the occurrence itself, bool; of N contexts, bool (N,).

        Where it does not, every answer about the senses of `word` there is by the prior.

        Parameters
        ----------
        word, context, position, contexts, positions
            As in `sense_vectors`, and so are the errors.

        Returns
        -------
        bool, or bool (N,)

        Examples
        --------
        >>> from muse import MUSE
        >>> model = MUSE([["a", "rose", "is", "a", "rose"]] * 20, vector_size=8, workers=1)
        >>> model.has_context("rose", "a rose"), model.has_context("rose", ["rose", "?"])
        (True, False)
        """
        snapshot = self.snapshot
        return answers.has_context(snapshot, word, answers.asked(snapshot, context, position, contexts, positions))

    def sense_probabilities_batch(
        self, words: Sequence[str], contexts: Sequence[Context], positions: Sequence[int | None] | None = None
    ) -> list[Floats]:
        """`sense_probabilities` of N words, each in a context of its own: much faster than N calls.

        Parameters
        ----------
        words : sequence of N str
            Known words.
        contexts : sequence of N str or lists of str
            What each is used in.
        positions : sequence of N int or None, optional
            Which occurrence is meant, as in `sense_vectors`.

        Returns
        -------
        list of N float32 (K,)
            K is the number of senses of each word.

        Raises
        ------
        TypeError
            If they are no lists.
        ValueError
            If there are not as many contexts, or positions, as words.

        Examples
        --------
        >>> model.sense_probabilities_batch(["bank", "rock"], ["money in the bank", "rock and roll"])  # doctest: +SKIP
        [array([0.97, 0.03], dtype=float32), array([0.88, 0.12], dtype=float32)]
        """
        return answers.probabilities_batch(self.snapshot, words, contexts, positions)

    def similarity(
        self,
        word1: str,
        word2: str,
        context1: Context | None = None,
        context2: Context | None = None,
        *,
        how: str | None = None,
    ) -> float:
        """Similarity of two words, by the cosines of their senses.

        Parameters
        ----------
        word1, word2 : str
            The words.
        context1, context2 : str or list of str, optional
            What they are used in.
        how : {"max_sim_c", "avg_sim_c", "max", "avg"}, optional
            MaxSimC, of the senses that the contexts mean; AvgSimC, the mean over all pairs of senses, weighted by their
            probabilities; the largest cosine; the plain mean. Without a context a word's prior takes the place of its
            probabilities. Default: "max_sim_c" where there is a context, else "max".

        Returns
        -------
        float
            From -1 to 1.

        Raises
        ------
        UnknownWordError
            A KeyError that names the nearest spellings.
        ValueError
            For another `how`.

        Examples
        --------
        >>> model.similarity("bank", "river", "on the bank of the stream")  # doctest: +SKIP
        0.61
        """
        return answers.similarity(self.snapshot, (word1, word2), (context1, context2), how)

    def predict_collocates(
        self,
        word: str,
        context: Context | None = None,
        *,
        sense: int | None = None,
        topn: int = 10,
        restrict_vocab: int | None = None,
    ) -> list[tuple[str, float]]:
        """What the model expects near a sense, by collocation likelihood σ(U·V) (the paper's k-NN, table 3).

        Parameters
        ----------
        word : str
            A known word.
        context : str or list of str, optional
            What it is used in; this selects the sense.
        sense : int, optional
            The sense itself. Without either, it is the most used one.
        topn : int
            How many.
        restrict_vocab : int, optional
            Search the first, most frequent words only.

        Returns
        -------
        list of (str, float)
            Keys of senses, or words where collocation vectors are words', with likelihoods, best first.

        Raises
        ------
        UnknownWordError, UnknownSenseError
            Both are KeyErrors.
        ValueError
            If both a context and a sense are given, or `topn` is below 1.

        Examples
        --------
        >>> model.predict_collocates("bank", "money in the bank", topn=2)  # doctest: +SKIP
        [('loan', 0.83), ('deposit', 0.81)]
        """
        return answers.predict_collocates(
            self.snapshot, word, context, sense=sense, topn=topn, restrict_vocab=restrict_vocab
        )
