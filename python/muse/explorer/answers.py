"""The answers to what the page asks, by path, in the types of JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from muse.change.temporal import TemporalMUSE
from muse.data.snapshot import Snapshot
from muse.errors import UnknownWordError, nearest_spellings
from muse.explorer.comparing import compare_words
from muse.explorer.models import ExploredModel
from muse.explorer.sentences import reasons, sentence_view
from muse.explorer.slices import change_view, over_time_view
from muse.explorer.uses import UseSource
from muse.explorer.words import uses_view, word_view

__all__ = ["USES_READ", "Answers", "NoSuchWordError"]

USES_READ = 400  # of a word
_KEPT = 256  # answers about words
_LONGEST = 1000  # letters of a word
_SPELLED = 40  # letters of a word that is compared with known ones

Query = Mapping[str, str]


class NoSuchWordError(UnknownWordError):
    """A word that a model does not know, with known ones that look like it."""

    def __init__(self, word: str, near: Sequence[str]) -> None:
        super().__init__(word)
        self.near = near


class Answers:
    """What is asked of some models and a text.

    Parameters
    ----------
    models : sequence of ExploredModel
        At least one.
    uses : UseSource, optional
        Where example uses come from.
    title : str
        What the page is called.

    Examples
    --------
    >>> answers("/api/word", {"word": "bank"})  # doctest: +SKIP
    """

    def __init__(self, models: Sequence[ExploredModel], uses: UseSource | None = None, title: str = "") -> None:
        self.models, self._uses, self._title = models, uses, title
        self._paths: dict[str, Callable[[Query], Any]] = {
            "/api/info": self._info,
            "/api/suggest": self._suggest,
            "/api/word": self._word,
            "/api/uses": self._uses_of,
            "/api/sentence": self._sentence,
            "/api/reasons": self._reasons,
            "/api/compare": self._compare,
            "/api/change": self._change,
            "/api/over": self._over,
        }
        # By snapshot, so that a model that is cut anew answers anew.
        self._words = lru_cache(_KEPT)(self._make_word)
        self._found = lru_cache(_KEPT)(self._find_uses)
        self._changed = lru_cache(_KEPT)(lambda slices, snapshot: change_view(slices))
        self._over_time = lru_cache(_KEPT)(lambda slices, snapshot, word: over_time_view(slices, word))
        self._compared = lru_cache(_KEPT)(self._make_comparison)

    def __contains__(self, path: object) -> bool:
        return path in self._paths

    def __call__(self, path: str, query: Query) -> Any:
        """The answer.

        Raises
        ------
        KeyError
            For a path that is none; `NoSuchWordError` for a word.
        ValueError
            For a parameter that is missing or wrong.
        """
        return self._paths[path](query)

    # -- paths -------------------------------------------------------------------------------------------------------

    def _info(self, query: Query) -> Any:
        return {
            "title": self._title,
            "models": [model.info() for model in self.models],
            "start": self.models[0].start,
            "uses": self._uses is not None,
            "sentences": [],
        }

    def _suggest(self, query: Query) -> Any:
        return {"words": self._model(query).suggest(_text(query, "q", empty=True))}

    def _word(self, query: Query) -> Any:
        model = self._model(query)
        return self._words(model, model.model.snapshot, _known(model, _text(query, "word")))

    def _uses_of(self, query: Query) -> Any:
        model = self._model(query)
        word = _known(model, _text(query, "word"))
        if self._uses is None:
            return {"read": 0, "texts": [], "cuts": []}
        return self._found(model, model.model.snapshot, word)

    def _sentence(self, query: Query) -> Any:
        return sentence_view(self._model(query), query.get("text", ""))

    def _reasons(self, query: Query) -> Any:
        return reasons(self._model(query), query.get("text", ""), _number(query, "token"))

    def _compare(self, query: Query) -> Any:
        one, other = self._model(query, "a"), self._model(query, "b")
        word = _text(query, "word")
        for model in (one, other):
            _known(model, word)
        return self._compared(one, one.model.snapshot, other, other.model.snapshot, word)

    def _change(self, query: Query) -> Any:
        model = self._model(query)
        return self._changed(_slices(model), model.model.snapshot)

    def _over(self, query: Query) -> Any:
        model = self._model(query)
        word = _known(model, _text(query, "word"))
        return self._over_time(_slices(model), model.model.snapshot, word)

    # -- parts -------------------------------------------------------------------------------------------------------

    def _model(self, query: Query, name: str = "model") -> ExploredModel:
        place = _number(query, name, 0)
        if not 0 <= place < len(self.models):
            raise ValueError(f"{name} must be from 0 to {len(self.models) - 1}; got {place}")
        return self.models[place]

    def _make_word(self, model: ExploredModel, snapshot: Snapshot, word: str) -> Any:
        return word_view(model, word)

    def _find_uses(self, model: ExploredModel, snapshot: Snapshot, word: str) -> Any:
        assert self._uses is not None
        return uses_view(model, word, self._uses.find([word], USES_READ)[word])

    def _make_comparison(
        self, one: ExploredModel, snapshot: Snapshot, other: ExploredModel, others: Snapshot, word: str
    ) -> Any:
        return compare_words(one, other, word)


def _slices(model: ExploredModel) -> TemporalMUSE:
    if model.slices is None:
        raise ValueError(f"the model {model.name} has no slices of time")
    return model.slices


def _text(query: Query, name: str, *, empty: bool = False) -> str:
    value = query.get(name, "")
    if len(value) > _LONGEST:
        raise ValueError(f"{name} may have {_LONGEST} letters; got {len(value)}")
    if not value and not empty and name not in query:
        raise ValueError(f"{name} is missing")
    return value


def _number(query: Query, name: str, default: int | None = None) -> int:
    value = query.get(name)
    if value is None and default is not None:
        return default
    if value is None or not (value.isascii() and value.isdigit()) or len(value) > 9:
        raise ValueError(f"{name} must be a whole number; got {value!r:.80}")
    return int(value)


def _known(model: ExploredModel, word: str) -> str:
    """The word, or that in lower case where only this is known."""
    for spelling in (word, word.lower()):
        if spelling in model.model:
            return spelling
    words = model.model.vocabulary.words
    raise NoSuchWordError(word, nearest_spellings(word, words) if len(word) <= _SPELLED else [])
