"""What a model has under the names that gensim's `Word2Vec` gives it, so that scripts find them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

from muse.data.settings import Settings
from muse.data.snapshot import Snapshot
from muse.model.guard import changes

__all__ = ["GensimNames"]

T = TypeVar("T")

_BEFORE_GENSIM_4 = {"iter": "epochs", "size": "vector_size"}
_OF_ONE_CALL = {"alpha": "start_alpha", "min_alpha": "end_alpha", "epochs": "epochs", "callbacks": "callbacks"}


class _Setting(Generic[T]):
    """A setting, read from the model's settings."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        self.__doc__ = f"The setting `{name}`."

    @overload
    def __get__(self, model: None, owner: type) -> _Setting[T]: ...
    @overload
    def __get__(self, model: GensimNames, owner: type) -> T: ...
    def __get__(self, model: GensimNames | None, owner: type) -> _Setting[T] | T:
        if model is None:
            return self
        value: T = getattr(model.settings, self._name)
        return value


class GensimNames:
    """The settings of a model as its attributes, and other attributes of gensim's models.

    Settings that say how to run (`workers`, `progress`, `device`, ...) can be set. The others are a part of the model,
    and setting one is an AttributeError that says where to give it.
    """

    snapshot: Snapshot
    settings: Settings
    publish: Callable[[Snapshot], None]

    window = _Setting[int]()
    min_count = _Setting[int]()
    max_vocab_size = _Setting["int | None"]()
    max_final_vocab = _Setting["int | None"]()
    sorted_vocab = _Setting[bool]()
    sample = _Setting[float]()
    negative = _Setting[int]()
    ns_exponent = _Setting[float]()
    alpha = _Setting[float]()
    min_alpha = _Setting["float | None"]()
    seed = _Setting[int]()
    workers = _Setting["int | None"]()
    shrink_windows = _Setting[bool]()

    def __setattr__(self, name: str, value: Any) -> None:
        """Set what can be set; for a setting that is a part of the model, an AttributeError that says what to do."""
        setting = _BEFORE_GENSIM_4.get(name, name)
        if setting in Settings.runtime_names() and setting not in _OF_ONE_CALL:
            self._run_with(setting, value)
        elif setting in Settings.homes():
            raise AttributeError(_said(name, setting))
        else:
            super().__setattr__(name, value)

    @changes
    def _run_with(self, setting: str, value: Any) -> None:
        snapshot = self.snapshot
        self.publish(snapshot.replace(settings=snapshot.settings.replace(**{setting: value})))


def _said(name: str, setting: str) -> str:
    if setting in _OF_ONE_CALL:
        return f"{name} of a model cannot be set; give train({_OF_ONE_CALL[setting]}=...) what one call is to have"
    home = Settings.homes()[setting]
    where = f"MUSE({setting}=...)" if home is None else f"{home.owner}({home.name}=...) of the recipe"
    return f"{name} is a part of a model from its start and cannot be set; give it to {where}, and train a new one"
