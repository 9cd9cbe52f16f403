"""What a trained model answers: senses of words, senses in context, similarities, collocates, cards."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.base.numeric import unit_rows
from muse.data.arrays import Floats
from muse.errors import UnknownSenseError, quote
from muse.model import cards
from muse.model.changes import answers
from muse.model.parts import ModelPart
from muse.selector.context import Context, as_contexts
from muse.vectors.keyed import check_topn
from muse.vectors.model_vectors import SenseVectors, WordVectors

__all__ = ["SenseQueries"]

SIMILARITIES = ("max_sim_c", "avg_sim_c", "max", "avg")


@answers
class SenseQueries(ModelPart):
    """The part of `MUSE` that answers questions; it changes nothing."""

    @property
    @abstractmethod
    def sv(self) -> SenseVectors:
        """Sense vectors with keys such as ``"head#0"``, and their nearest neighbours."""

    @property
    @abstractmethod
    def wv(self) -> WordVectors:
        """Word vectors, the means of sense vectors weighted by their priors, and their nearest neighbours."""

    def __contains__(self, word: object) -> bool:
        return word in self.vocabulary

    def n_senses(self, word: str) -> int:
        """How many senses a word has."""
        rows = self._rows(word)
        return rows.stop - rows.start

    def sense_prior(self, word: str) -> Floats:
        """Share of each sense in the uses of a word in the training text, float32 (K,)."""
        return self.arrays.prior(self.vocabulary.index(word))

    def sense_counts(self, word: str) -> NDArray[np.int64]:
        """How often each sense of a word is selected in the training text, int64 (K,)."""
        return self.arrays.sense_counts[self._rows(word)].copy()

    def sense_vectors(
        self,
        word: str,
        context: Context | Sequence[Context] | None = None,
        position: int | Sequence[int | None] | None = None,
    ) -> Floats:
        """The sense vectors of a word, or the vector of the sense that a context means.

        Parameters
        ----------
        word : str
            A known word.
        context : str, list of str, or list of contexts, optional
            A string is split at ASCII white space, as a line of a corpus file; words that are not known then, also at
            other white space, as `str.split` does. Nothing else is done to it. Where the word occurs in the context,
            the window around its first occurrence counts; otherwise all of the context does. Unknown words are skipped;
            if no known word is left, the prior decides. A list of strings is the tokens of one context, unless one of
            them holds white space and is not a known word: then it is a list of contexts.
        position : int or list of int, optional
            Which occurrence is meant, as an index of the context's tokens.

        Returns
        -------
        float32 (K, D)
            Without a context; a copy.
        float32 (D,)
            With a context.
        float32 (N, D)
            With a list of N contexts.

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
        vectors = self.arrays.sense_vectors[self._rows(word)]
        if context is None and position is None:
            return vectors.copy()
        selected: Floats = vectors[self.select_sense(word, context, position)]
        return selected

    def select_sense(
        self,
        word: str,
        context: Context | Sequence[Context] | None = None,
        position: int | Sequence[int | None] | None = None,
    ) -> Any:
        """Number of the sense that a context means, int; of each of N contexts, int64 (N,).

        Parameters are those of `sense_vectors`. Without a context it is the most used sense.
        """
        best = self.sense_probabilities(word, context, position).argmax(axis=-1)
        return int(best) if best.ndim == 0 else best

    def sense_probabilities(
        self,
        word: str,
        context: Context | Sequence[Context] | None = None,
        position: int | Sequence[int | None] | None = None,
    ) -> Floats:
        """Probability of each sense in a context (equation 1 of the paper); parameters as in `sense_vectors`.

        Returns
        -------
        float32 (K,)
            With one context, and without one: then it is the prior.
        float32 (N, K)
            With a list of N contexts.

        Raises
        ------
        UnknownWordError
            A KeyError that names the nearest spellings.
        ValueError
            If a position is given without a context, or is not one of the word.
        """
        if context is None:
            if position is not None:
                raise ValueError("position is an index of the context's tokens; give the context too")
            return self.sense_prior(word)
        contexts, single = as_contexts(context, self.vocabulary)
        probabilities = self.selector.probabilities(word, contexts, _positions(position, len(contexts), single))
        return probabilities[0] if single else probabilities

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
        if any(isinstance(given, str) or not hasattr(given, "__len__") for given in (words, contexts)):
            raise TypeError("sense_probabilities_batch takes a list of words and a list of as many contexts")
        if len(words) != len(contexts):
            raise ValueError(f"there must be as many contexts as words; got {len(contexts)} for {len(words)}")
        return self.selector.probabilities_of(words, contexts, _positions(positions, len(contexts), False))

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
        if how is None:
            how = "max" if context1 is None and context2 is None else "max_sim_c"
        if how not in SIMILARITIES:
            raise ValueError(f"how must be one of {', '.join(map(repr, SIMILARITIES))}; got {how!r:.80}")
        cosines = unit_rows(self.sense_vectors(word1)) @ unit_rows(self.sense_vectors(word2)).T
        if how in ("max", "avg"):
            return float(cosines.max() if how == "max" else cosines.mean())
        first, second = self.sense_probabilities(word1, context1), self.sense_probabilities(word2, context2)
        if how == "max_sim_c":
            return float(cosines[first.argmax(), second.argmax()])
        return float(first @ cosines @ second)

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
        if sense is None:
            sense = self.select_sense(word, context)
        elif context is not None:
            raise ValueError("give either a context, which selects the sense, or sense")
        if isinstance(sense, (bool, np.bool_)) or not isinstance(sense, (int, np.integer)):
            raise TypeError(f"sense must be the number of a sense, an integer; got {sense!r:.80}")
        if not 0 <= sense < self.n_senses(word):
            raise UnknownSenseError(f"there is no sense {sense} of {quote(word)}, which has {self.n_senses(word)}")
        topn = check_topn(topn)
        return cards.collocates(self, self.sense_vectors(word)[[sense]], topn, restrict_vocab)[0]

    def describe(self, word: str, topn: int = 8, *, corpus: Any = None, n_examples: int = 3) -> cards.WordCard:
        """A card a sense: share, label, the nearest senses of other words, expected collocates, and example uses.

        The card prints as text and shows as a table in a notebook.

        Parameters
        ----------
        word : str
            A known word.
        topn : int
            How many neighbours and collocates.
        corpus : path-like, list of paths, or iterable of lists of str, optional
            A text, such as that of training, in which to look for uses; up to 20,000 sentences with the word are read.
        n_examples : int
            How many uses to show of each sense: those of which the selector is surest.

        Returns
        -------
        WordCard
            ``senses`` holds a `SenseCard` for each.

        Raises
        ------
        UnknownWordError
            A KeyError that names the nearest spellings.
        FileNotFoundError, TypeError, ValueError
            If the corpus is a file that is not there, or is no text; or for numbers that are no counts.

        Examples
        --------
        >>> print(model.describe("head", corpus="text.txt"))  # doctest: +SKIP
        """
        return cards.describe(self, word, topn, corpus, n_examples)  # type: ignore[arg-type]  # MUSE is what asks

    def _rows(self, word: str) -> slice[int, int, None]:
        return self.arrays.rows_of(self.vocabulary.index(word))


def _positions(given: Any, count: int, single: bool) -> list[int | None]:
    """A position, or None, for each of `count` contexts."""
    if given is None:
        return [None] * count
    listed = [given] if single and np.ndim(given) == 0 else given
    if isinstance(listed, str) or not isinstance(listed, Iterable):
        listed = []
    positions = list(listed)
    if len(positions) != count:
        wanted = "one context needs one position" if single else f"{count} contexts need a list of as many positions"
        raise ValueError(f"{wanted}; got {given!r:.80}")
    for position in positions:
        if isinstance(position, bool) or not isinstance(position, (int, np.integer, type(None))):
            raise TypeError(f"a position is an index of the context's tokens, an integer or None; got {position!r:.80}")
    return [None if position is None else int(position) for position in positions]
