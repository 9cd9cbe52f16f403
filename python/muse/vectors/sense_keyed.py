"""Any ``word#k`` vectors, and plain one-vector-a-word vectors, as a model that can be evaluated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from muse.errors import listed
from muse.vectors.sense_keys import split_tool_key

__all__ = ["ADD_SELECTOR", "SenseKeyedVectors", "Selector", "sense_number"]

# For messages.
ADD_SELECTOR = (
    "SenseKeyedVectors({word: vectors.sense_vectors(word) for word in words}, selector=f) has one: your function "
    "f(word, tokens, position), which answers with the number of a sense or a weight for each"
)

Selector = Callable[[str, list[str], int], "int | str | ArrayLike"]


class _WordView:
    """Word-level vectors of a :class:`SenseKeyedVectors`."""

    def __init__(self, vectors: SenseKeyedVectors) -> None:
        self._vectors = vectors

    def __contains__(self, word: object) -> bool:
        return word in self._vectors

    def __getitem__(self, word: str) -> NDArray[np.float32]:
        return self._vectors.word_vector(word)


class SenseKeyedVectors:
    """Sense vectors under keys ``word#k``, or of a dict ``{word: (K, D)}``, evaluable like a model.

    Made by :meth:`from_word2vec_keys` or :meth:`from_gensim`. A key that names no sense is a word with one vector, so
    plain word2vec, GloVe or fastText vectors are the case of one sense a word; where a word has both kinds of keys,
    the plain one serves as its word-level vector. Senses are numbered 0 to K-1 in the order of their key numbers,
    whatever these are (some tools count from 1 or leave gaps); there a selector answers with the key, see
    :meth:`from_word2vec_keys`.

    Attributes
    ----------
    has_selector : bool
        Whether senses can be chosen by context: a selector was given, or no word has more than one sense.
    wv : word vectors
        ``wv[word]``: the plain vector where there is one, else the mean of the sense vectors weighted by the prior.

    Examples
    --------
    >>> vectors = SenseKeyedVectors.from_word2vec_keys(["head#0", "head#1", "army"], np.eye(3))
    >>> vectors.n_senses("head"), vectors.n_senses("army"), "head#0" in vectors
    (2, 1, False)
    """

    def __init__(
        self,
        senses: Mapping[str, NDArray[np.float32]],
        *,
        words: Mapping[str, NDArray[np.float32]] | None = None,
        priors: Mapping[str, ArrayLike] | None = None,
        selector: Selector | None = None,
    ) -> None:
        if selector is not None and not callable(selector):
            raise TypeError(
                f"selector must be a function of (word, tokens, position) that answers with the number of a sense or "
                f"with a weight for each; got {type(selector).__name__}"
            )
        self._senses = dict(senses)
        self._words = dict(words or {})
        self._check_shapes()
        self._priors: dict[str, NDArray[np.float64]] = {}
        for word, weights in (priors or {}).items():
            if word in self._senses:
                self._priors[word] = self._distribution(weights, word, "prior")
        self._selector = selector
        self._numbers: dict[str, list[int]] = {}  # those of the keys, where they are not 0 to K-1
        self.has_selector = selector is not None or all(len(rows) == 1 for rows in self._senses.values())
        self.wv = _WordView(self)

    def _check_shapes(self) -> None:
        """Every word has a (K, D) matrix and perhaps a (D,) vector, with one D."""
        size: int | None = None
        for what, rows, dimensions in (("senses", self._senses, 2), ("vector", self._words, 1)):
            for word, given in rows.items():
                shape = np.shape(given)
                size = shape[-1] if size is None and shape else size
                if len(shape) != dimensions or shape[0] == 0 or shape[-1] != size:
                    wanted = "(K, D) with at least one sense" if dimensions == 2 else "(D,)"
                    raise ValueError(
                        f"the {what} of {word!r} must have shape {wanted} and the D of all others"
                        f"{f' ({size})' if size else ''}; got {shape}"
                    )

    @classmethod
    def from_word2vec_keys(
        cls,
        keys: Iterable[str],
        matrix: ArrayLike,
        selector: Selector | None = None,
        *,
        counts: Iterable[float] | None = None,
    ) -> SenseKeyedVectors:
        """Group the rows of a matrix into words by their keys.

        Parameters
        ----------
        keys : iterable of str
            One key a row: ``word#k`` for a sense, anything else for a word with a single vector.
        matrix : array_like, shape (n, D)
            The vectors.
        selector : callable, optional
            ``selector(word, tokens, position)`` says which sense a context means: its key (``"head#2"``), its number
            from 0, or K weights in the order of the keys. A number is refused for words whose keys are not numbered 0
            to K-1, since it might be meant as that of the key. Without a selector, measures that need a context are
            refused for words with several senses.
        counts : iterable of float, optional
            How often each key was used, for the prior over a word's senses (uniform without it).

        Raises
        ------
        ValueError
            If keys, rows and counts differ in number, a key occurs twice, or a count is negative or no number.
        """
        names = list(keys)
        rows = np.asarray(matrix)
        if rows.ndim != 2 or len(rows) != len(names):
            raise ValueError(f"{len(names)} keys need a matrix of {len(names)} rows, got shape {rows.shape}")
        weights = None if counts is None else np.asarray(list(counts), dtype=np.float64)
        if weights is not None and weights.shape != (len(names),):
            raise ValueError(f"{len(names)} keys need as many counts, got {len(weights)}")
        if weights is not None and not (np.isfinite(weights) & (weights >= 0)).all():
            wrong = int(np.argmin(np.isfinite(weights) & (weights >= 0)))
            raise ValueError(f"counts must be numbers of at least 0; that of {names[wrong]!r} is {weights[wrong]}")
        grouped: dict[str, list[tuple[int, int]]] = {}
        plain: dict[str, int] = {}
        for row, key in enumerate(names):
            parts = split_tool_key(key)
            if parts is None:
                if key in plain:
                    raise ValueError(f"the key {key!r} occurs twice")
                plain[key] = row
            else:
                grouped.setdefault(parts[0], []).append((parts[1], row))
        senses: dict[str, NDArray[np.float32]] = {}
        priors: dict[str, NDArray[np.float64]] = {}
        numbers: dict[str, list[int]] = {}
        for word, numbered in grouped.items():
            if len({number for number, _ in numbered}) != len(numbered):
                raise ValueError(f"a sense key of {word!r} occurs twice")
            chosen = [row for _, row in sorted(numbered)]
            if (mine := [number for number, _ in sorted(numbered)]) != list(range(len(mine))):
                numbers[word] = mine
            senses[word] = rows[chosen]
            if weights is not None and weights[chosen].sum() > 0:
                priors[word] = weights[chosen]
        words = {word: rows[row] for word, row in plain.items()}
        for word, vector in words.items():
            senses.setdefault(word, vector[None])
        found = cls(senses, words=words, priors=priors, selector=selector)
        found._numbers = numbers
        return found

    @classmethod
    def from_gensim(cls, keyed_vectors: Any, selector: Selector | None = None) -> SenseKeyedVectors:
        """Wrap gensim ``KeyedVectors`` (or a model with ``.wv``), with ``word#k`` keys or plain ones.

        Parameters
        ----------
        keyed_vectors : gensim.models.KeyedVectors or a model that has one as ``wv``
            The vectors.
        selector : callable, optional
            As in :meth:`from_word2vec_keys`.
        """
        vectors = keyed_vectors if hasattr(keyed_vectors, "index_to_key") else getattr(keyed_vectors, "wv", None)
        if not hasattr(vectors, "index_to_key"):
            raise TypeError(f"expected gensim KeyedVectors, got {type(keyed_vectors).__name__}")
        assert vectors is not None
        return cls.from_word2vec_keys(vectors.index_to_key, vectors.vectors, selector)

    def _distribution(self, weights: ArrayLike, word: str, what: str) -> NDArray[np.float64]:
        values = np.asarray(weights, dtype=np.float64)
        if values.shape != (len(self._senses[word]),):
            raise ValueError(
                f"the {what} of {word!r} has shape {values.shape}; the word has {self.n_senses(word)} senses"
            )
        if not np.isfinite(values).all() or (values < 0).any() or values.sum() <= 0:
            raise ValueError(f"the {what} of {word!r} must be non-negative numbers, not all zero: {values}")
        return np.asarray(values / values.sum())

    def _number(self, answer: Any, word: str) -> int:
        """The number of the sense that a selector answered with a number or a key."""
        numbers = self._numbers.get(word, list(range(self.n_senses(word))))
        keys = [f"{word}#{number}" for number in numbers]
        if isinstance(answer, str) and "#" in answer:  # numpy's strings too
            if answer not in keys:
                raise ValueError(f"the selector answered {answer!r:.80}; the keys of {word!r} are {listed(keys)}")
            return keys.index(answer)
        if word in self._numbers:
            raise ValueError(
                f"the selector answered {answer!r:.80}, but the keys of {word!r} are {listed(keys)}: a number might be "
                f"that of a key or count from 0. Answer with the key, as {keys[0]!r}, or with {len(keys)} weights"
            )
        return sense_number(answer, word, len(keys), "the selector")

    def _rows(self, word: str) -> NDArray[np.float32]:
        rows = self._senses.get(word)
        if rows is None:
            raise KeyError(f"{word!r} is not among the {len(self._senses)} words of these vectors")
        return rows

    def __contains__(self, word: object) -> bool:
        return word in self._senses

    def __len__(self) -> int:
        return len(self._senses)

    def __iter__(self) -> Iterator[str]:
        return iter(self._senses)

    def n_senses(self, word: str) -> int:
        """How many senses a word has."""
        return len(self._rows(word))

    def word_vector(self, word: str) -> NDArray[np.float32]:
        """The word-level vector, shape (D,)."""
        rows = self._rows(word)
        if word in self._words:
            return self._words[word]
        return np.asarray(np.average(rows, axis=0, weights=self._priors.get(word)))

    def sense_vectors(
        self, word: str, context: Sequence[str] | None = None, position: int | None = None
    ) -> NDArray[np.float32]:
        """All sense vectors, shape (K, D); with a context the vector of the selected sense, shape (D,)."""
        rows = self._rows(word)
        return rows if context is None else rows[self.select_sense(word, context, position)]

    def sense_probabilities(
        self, word: str, context: Sequence[str] | None = None, position: int | None = None
    ) -> NDArray[np.float64]:
        """Distribution over the senses, shape (K,): the prior without a context, else what the selector says.

        Raises
        ------
        ValueError
            If a context is given for a word with several senses and there is no selector.
        """
        senses = self.n_senses(word)
        if senses == 1:
            return np.ones(1)
        if context is None:
            return self._priors.get(word, np.full(senses, 1 / senses))
        if self._selector is None:
            raise ValueError(f"these vectors cannot choose a sense by context, as for {word!r}. {ADD_SELECTOR}")
        tokens = list(context)
        if position is None:
            if word not in tokens:
                raise ValueError(f"{word!r} does not occur in the context: pass position=")
            position = tokens.index(word)
        answer = self._selector(word, tokens, position)
        if np.ndim(answer) == 0:
            return np.asarray(np.eye(senses)[self._number(answer, word)])
        return self._distribution(np.asarray(answer), word, "selector's answer")

    def select_sense(self, word: str, context: Sequence[str], position: int | None = None) -> int:
        """The number of the sense that a context means."""
        return int(np.argmax(self.sense_probabilities(word, context, position)))


def sense_number(answer: Any, word: str, senses: int | None, who: str) -> int:
    """The number of a sense that a selector answered, checked; `senses` is how many the word has, None if unknown.

    Raises
    ------
    TypeError
        If it is no whole number; a probability is not rounded to a sense.
    ValueError
        If the word has no such sense.
    """
    value = np.asarray(answer)
    if value.ndim != 0 or value.dtype.kind not in "iu":
        raise TypeError(f"{who} must answer with the number of a sense of {word!r} (an int); got {answer!r:.80}")
    if int(value) < 0 or (senses is not None and int(value) >= senses):
        have = "0 and more" if senses is None else f"0 to {senses - 1}"
        raise ValueError(f"{who} chose sense {int(value)} of {word!r}, which has senses {have}")
    return int(value)
