"""What a model has under the names that gensim's `Word2Vec` gives it, so that scripts find them."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, overload

from muse.data.settings import Settings
from muse.model.guard import Model, changes

__all__ = ["Setting", "set_attribute"]

T = TypeVar("T")

_BEFORE_GENSIM_4 = {"iter": "epochs", "size": "vector_size"}
_OF_ONE_CALL = {"alpha": "start_alpha", "min_alpha": "end_alpha", "epochs": "epochs", "callbacks": "callbacks"}


class Setting(Generic[T]):
    """A setting, read from the model's settings."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        self.__doc__ = f"The setting `{name}`."

    @overload
    def __get__(self, model: None, owner: type) -> Setting[T]: ...
    @overload
    def __get__(self, model: Model, owner: type) -> T: ...
    def __get__(self, model: Model | None, owner: type) -> Setting[T] | T:
        if model is None:
            return self
        value: T = getattr(model.snapshot.settings, self._name)
        return value


def set_attribute(self: Model, name: str, value: Any) -> None:
    """Set what can be set of a model; for a setting that is a part of it, an AttributeError that says what to do.

    Settings that say how to run (`workers`, `progress`, `device`, ...) can be set.
    """
    setting = _BEFORE_GENSIM_4.get(name, name)
    if setting in Settings.runtime_names() and setting not in _OF_ONE_CALL:
        set_setting(self, setting, value)
    elif setting in Settings.homes():
        raise AttributeError(_said(name, setting))
    else:
        object.__setattr__(self, name, value)


@changes
def set_setting(self: Model, setting: str, value: Any) -> None:
    """Another value of a setting that says how to run."""
    snapshot = self.snapshot
    self.publish(snapshot.replace(settings=snapshot.settings.replace(**{setting: value})))


def _said(name: str, setting: str) -> str:
    if setting in _OF_ONE_CALL:
        return f"{name} of a model cannot be set; give train({_OF_ONE_CALL[setting]}=...) what one call is to have"
    home = Settings.homes()[setting]
    where = f"MUSE({setting}=...)" if home is None else f"{home.owner}({home.name}=...) of the recipe"
    return f"{name} is a part of a model from its start and cannot be set; give it to {where}, and train a new one"
