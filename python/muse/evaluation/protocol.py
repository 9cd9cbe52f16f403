"""What an evaluation asks of a model, and the checked ways of asking."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from muse.base.numeric import unit_rows
from muse.errors import listed
from muse.evaluation.results import EvaluationResult
from muse.vectors.sense_keyed import ADD_SELECTOR, sense_number

__all__ = [
    "SenseModel",
    "SenseReader",
    "Task",
    "WordLookup",
    "check_finite",
    "check_model",
    "check_selector",
    "cosines",
    "sense_numbers",
    "senses_at",
    "finite_unit_rows",
]

_BLOCK = 20_000  # sentences handed to disambiguate_batch at a time, which bounds the memory held


@runtime_checkable
class WordLookup(Protocol):
    """Word-level vectors: ``word in vectors`` and ``vectors[word]``. gensim's ``KeyedVectors`` is one."""

    def __contains__(self, word: object, /) -> bool: ...
    def __getitem__(self, word: str, /) -> Any: ...


@runtime_checkable
class SenseModel(Protocol):
    """The methods that evaluations call. :class:`muse.MUSE` has them; so has any object that a user writes.

    A context is a list of tokens, and ``position`` the index of the target word in it.
    ``disambiguate_batch(sentences)`` is used when the model has it and must then yield, for each token list, one local
    sense number per token, -1 for a word that the model does not know. Without it, ``select_sense`` is called for each
    occurrence. ``sense_probabilities_batch(words, contexts, positions)`` is likewise used when the model has it: one
    call in place of many of ``sense_probabilities``, which gives a list of their answers. A model may set
    ``has_selector = False`` to say that it cannot tell senses apart by context.

    More is used where a model has it, and models without are evaluated as far as they go.
    ``usage_vector(word, context, position)``, shape (S,), is the vector of the context itself, in a space where the
    cosine of two contexts says how alike the uses are; ``usage_vector_batch(words, contexts, positions)`` does the same
    for many, and ``has_usage_vectors = False`` says that this model has none although its class has the method.
    ``sense_numbers(word)`` are the numbers of its senses in the order of their rows, where these are not 0, 1, ...:
    senses that are nodes of a tree keep theirs under every cut. ``sense_temperature`` is the number T for which
    ``sense_probabilities`` is the softmax of scores divided by T.
    """

    @property
    def wv(self) -> WordLookup: ...
    def __contains__(self, word: object, /) -> bool: ...
    def n_senses(self, word: str, /) -> int: ...
    def sense_vectors(self, word: str, context: Any = None, position: int | None = None) -> Any: ...
    def sense_probabilities(self, word: str, context: Any = None, position: int | None = None) -> Any: ...
    def select_sense(self, word: str, context: Any, position: int | None = None) -> int: ...


class Task:
    """A task: call it with a model to score it."""

    def __call__(self, model: Any) -> EvaluationResult:
        raise NotImplementedError

    def check(self, model: Any) -> None:
        """Score a model for nothing but the errors that this raises, before an hour of training ends in one."""
        self(model)


def check_model(model: Any, *methods: str) -> None:
    """Raise a TypeError that says what to pass where an object has none of the methods, or is a class."""
    if isinstance(model, type):
        raise TypeError(f"evaluation needs a model; got the class {model.__name__}. Give a trained one: an instance")
    if not any(callable(getattr(model, method, None)) for method in methods):
        raise TypeError(
            f"evaluation needs a model with senses: a muse.MUSE, LoadedVectors, SenseKeyedVectors.from_gensim(...) "
            "around plain vectors, or SenseKeyedVectors({word: matrix of its senses, (K, D)}); "
            f"got {type(model).__name__}, which has no {' or '.join(methods)}"
        )


def check_selector(model: Any, what: str, otherwise: str = "") -> None:
    """Raise a ValueError that says how to add a selector where a model says that it has none.

    Parameters
    ----------
    model : SenseModel
        The model.
    what : str
        What needs the selector.
    otherwise : str
        What can be asked for without one, as the end of the message.
    """
    if not getattr(model, "has_selector", True):
        raise ValueError(
            f"{what} needs a model that selects senses by context; these vectors have no selector. {ADD_SELECTOR}"
            f"{otherwise}"
        )


def check_finite(rows: NDArray[Any], whose: str = "vectors") -> None:
    """Raise a ValueError, with whose vectors they are, if there is NaN or infinity among them."""
    if not np.isfinite(rows).all():
        raise ValueError(f"NaN or infinity in {whose}: has the model diverged? Retrain with a smaller alpha.")


def finite_unit_rows(matrix: Any, whose: str = "vectors") -> NDArray[np.float64]:
    """The rows of a matrix, or one vector as a matrix, at length 1; a ValueError for NaN or infinity in them."""
    rows = np.atleast_2d(np.asarray(matrix, dtype=np.float64))
    check_finite(rows, whose)
    return unit_rows(rows)


def cosines(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosine of each row of ``first`` with each row of ``second``, both from :func:`finite_unit_rows`: shape (K, L).

    Rounded to 12 digits: cosines that differ by rounding noise alone are ties, and must not be ranked.
    """
    return np.clip(np.round(first @ second.T, 12), -1.0, 1.0)


class SenseReader:
    """Asks a model for sense vectors and probabilities, checks what comes back, and keeps each word's unit vectors."""

    def __init__(self, model: SenseModel) -> None:
        check_model(model, "sense_vectors")
        self.model = model
        self._senses: dict[str, NDArray[np.float64]] = {}
        self._words: dict[str, NDArray[np.float64]] = {}

    def senses(self, word: str) -> NDArray[np.float64]:
        """Unit sense vectors of a known word, shape (K, D)."""
        if word not in self._senses:
            self._senses[word] = finite_unit_rows(self.model.sense_vectors(word), f"the sense vectors of {word!r}")
        return self._senses[word]

    def probabilities(self, word: str, context: Sequence[str], position: int) -> NDArray[np.float64]:
        """Probabilities of the senses of ``word`` at ``position``, shape (K,), summing to 1."""
        return self._checked(word, self.model.sense_probabilities(word, context, position))

    def probabilities_batch(
        self, words: Sequence[str], contexts: Sequence[Sequence[str]], positions: Sequence[int]
    ) -> list[NDArray[np.float64]]:
        """:meth:`probabilities` of many words, in one call of the model where it can."""
        batch = getattr(self.model, "sense_probabilities_batch", None)
        if not callable(batch):
            return [self.probabilities(*asked) for asked in zip(words, contexts, positions, strict=True)]
        answers = list(batch(words, contexts, positions))
        return [self._checked(word, answer) for word, answer in zip(words, answers, strict=True)]

    @property
    def has_usage_vectors(self) -> bool:
        """Whether the model gives vectors of contexts."""
        says = bool(getattr(self.model, "has_usage_vectors", True))
        return says and callable(getattr(self.model, "usage_vector", None))

    def usage_vectors(
        self, words: Sequence[str], contexts: Sequence[Sequence[str]], positions: Sequence[int]
    ) -> NDArray[np.float64]:
        """Unit vectors of the contexts of words, shape (N, S); in one call of the model where it can."""
        batch = getattr(self.model, "usage_vector_batch", None)
        asked = list(zip(words, contexts, positions, strict=True))
        if callable(batch):
            answers = [np.asarray(row, dtype=np.float64) for row in batch(words, contexts, positions)]
        else:
            model: Any = self.model
            answers = [np.asarray(model.usage_vector(*one), dtype=np.float64) for one in asked]
        shapes = {answer.shape for answer in answers}
        if len(answers) != len(asked) or len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
            raise ValueError(
                f"usage vectors must be {len(asked)} of one shape (S,); got {len(answers)} of the shapes "
                f"{listed(sorted(map(str, shapes)))}"
            )
        return finite_unit_rows(np.stack(answers), "the vectors of contexts") if answers else np.zeros((0, 0))

    def _checked(self, word: str, answer: Any) -> NDArray[np.float64]:
        values = np.asarray(answer, dtype=np.float64)
        expected = (len(self.senses(word)),)
        if values.shape != expected:
            raise ValueError(f"sense_probabilities({word!r}) has shape {values.shape}, but {word!r} has {expected[0]}")
        total = values.sum()
        if not np.isfinite(values).all() or (values < 0).any() or total <= 0:
            raise ValueError(f"sense_probabilities({word!r}) is no distribution: {values}. Has the model diverged?")
        return np.asarray(values / total)

    def word_cosine(self, first: str, second: str) -> float | None:
        """Cosine through the word-level vectors, ``None`` where one is missing."""
        vectors = self.model.wv
        if first not in vectors or second not in vectors:
            return None
        for word in (first, second):
            if word not in self._words:
                self._words[word] = finite_unit_rows(vectors[word], f"the vector of {word!r}")
        return float(cosines(self._words[first], self._words[second])[0, 0])


def _blocks(items: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(items), _BLOCK):
        yield items[start : start + _BLOCK]


def senses_at(
    model: SenseModel, sentences: Sequence[Sequence[str]], places: Mapping[int, Sequence[int]]
) -> dict[int, NDArray[np.int64]]:
    """Senses that a model selects at given places.

    Parameters
    ----------
    model : SenseModel
        The model; ``disambiguate_batch`` is used where it exists.
    sentences : sequence of token lists
        The text. Only the sentences named in ``places`` are touched.
    places : mapping of sentence index to token positions
        Where senses are wanted.

    Returns
    -------
    dict of sentence index to int64 array
        The local sense number at each wanted position, -1 for a word that the model does not know.
    """
    check_model(model, "disambiguate_batch", "select_sense")
    wanted = list(places)
    found: dict[int, NDArray[np.int64]] = {}
    senses: dict[str, tuple[int, ...] | None] = {}
    batch = getattr(model, "disambiguate_batch", None)
    if not callable(batch):
        for index in wanted:
            tokens = sentences[index]
            picked = [
                _checked(model, senses, tokens[p], model.select_sense(tokens[p], tokens, p), "select_sense")
                if tokens[p] in model
                else -1
                for p in places[index]
            ]
            found[index] = np.asarray(picked, dtype=np.int64)
        return found
    for block in _blocks(wanted):
        answers = _answers(batch([list(sentences[index]) for index in block]), len(block))
        for index, answer in zip(block, answers, strict=True):
            tokens = sentences[index]
            if len(answer) != len(tokens):
                raise ValueError(
                    f"disambiguate_batch gave {len(answer)} senses for a sentence of {len(tokens)} tokens; "
                    "it must give one per token, -1 for an unknown word"
                )
            chosen = np.asarray(answer)[np.asarray(places[index], dtype=np.int64)]
            for position, sense in zip(places[index], chosen.tolist(), strict=True):
                if sense != -1:
                    _checked(model, senses, tokens[position], sense, "disambiguate_batch")
            found[index] = chosen.astype(np.int64)
    return found


def sense_numbers(model: SenseModel, word: str) -> tuple[int, ...]:
    """The numbers of a word's senses in the order of their rows: the model's own, or 0, 1, ..."""
    own = getattr(model, "sense_numbers", None)
    return tuple(int(one) for one in own(word)) if callable(own) else tuple(range(model.n_senses(word)))


def _checked(model: SenseModel, senses: dict[str, tuple[int, ...] | None], word: str, answer: Any, who: str) -> int:
    """A selected sense, compared with those that the word has, which `senses` keeps, where the model says it."""
    if word not in senses:
        senses[word] = sense_numbers(model, word) if hasattr(model, "n_senses") else None
    known = senses[word]
    counted = known is not None and known == tuple(range(len(known)))
    number = sense_number(answer, word, len(known) if known is not None and counted else None, who)
    if known is not None and number not in known:
        raise ValueError(f"{who} chose sense {number} of {word!r}, which has senses {', '.join(map(str, known))}")
    return number


def _answers(produced: Iterable[Any], expected: int) -> list[Any]:
    answers = list(produced)
    if len(answers) != expected:
        raise ValueError(f"disambiguate_batch gave {len(answers)} answers for {expected} sentences")
    return answers
