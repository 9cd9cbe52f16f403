"""Checks of settings and arguments.

Each takes a name and value, and returns the value as it is kept or raises an error that says what is allowed.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Iterable, Mapping
from os import PathLike, fsencode, fspath
from typing import Any

import numpy as np

from muse.callbacks import HOOKS

MAX_SENSES = 1000  # of one word

Check = Callable[[str, Any], Any]


class Choice:
    """One of the given strings; None too if `or_none`."""

    def __init__(self, *allowed: str, or_none: bool = False) -> None:
        self.allowed = allowed
        self._or_none = or_none

    def __call__(self, name: str, value: Any) -> str | None:
        """Check a value."""
        if (value is None and self._or_none) or (isinstance(value, str) and value in self.allowed):
            return value
        raise ValueError(f"{name} must be one of {', '.join(map(repr, self.allowed))}; got {value!r:.80}")


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise TypeError(f"{name} must be True or False; got {value!r:.80}")


def integer(low: int, high: int | None = None) -> Check:
    """An integer from `low` to `high`, or of at least `low`."""
    span, article = (f"at least {low}", "of ") if high is None else (f"from {low} to {high}", "")

    def check(name: str, value: Any) -> int:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
            raise TypeError(f"{name} must be an integer {article}{span}; got {value!r:.80}")
        whole = int(value)
        if whole < low or (high is not None and whole > high):
            raise ValueError(f"{name} must be {span}; got {whole}")
        return whole

    return check


def number(low: float, high: float, *, above: bool = False) -> Check:
    """A number from `low` (or above it) to `high`."""
    span = f"above {low:g} and at most {high:g}" if above else f"from {low:g} to {high:g}"

    def check(name: str, value: Any) -> float:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
            raise TypeError(f"{name} must be a number {span}; got {value!r:.80}")
        real = float(value)
        if math.isnan(real) or not low <= real <= high or (above and real == low):
            raise ValueError(f"{name} must be a number {span}; got {value}")
        return real

    return check


def optional(check: Check) -> Check:
    """None, or what `check` allows."""
    if isinstance(check, Choice):
        return Choice(*check.allowed, or_none=True)
    return lambda name, value: None if value is None else check(name, value)


def path_like(name: str, value: Any) -> str:
    """A path."""
    if not isinstance(value, (str, PathLike)):
        raise TypeError(f"{name} must be a path (str or os.PathLike); got {value!r:.80}")
    path = fspath(value)
    if not isinstance(path, str):
        raise TypeError(f"{name} must be a path of text, not of bytes; os.fsdecode makes one of {path!r:.80}")
    if not path or "\0" in path or not _encodable(path):
        raise ValueError(f"{name} must be a path; got {path!r:.80}")
    return path


def _encodable(path: str) -> bool:
    try:
        fsencode(path)
    except UnicodeEncodeError:  # a surrogate that stands for no byte
        return False
    return True


def senses(name: str, value: Any) -> int | str | dict[str, int]:
    """A number of senses, one for each of some words, or 'auto'."""
    if isinstance(value, str) and value == "auto":
        return "auto"
    if isinstance(value, Mapping):
        count = integer(1, MAX_SENSES)
        for word in value:
            if not isinstance(word, str):
                raise TypeError(f"the keys of {name} must be words (str); got {word!r:.80}")
        return {word: count(f"{name}[{word!r}]", k) for word, k in value.items()}
    if isinstance(value, numbers.Integral):
        return int(integer(1, MAX_SENSES)(name, value))
    raise TypeError(f"{name} must be an integer, a dict {{word: senses}}, or 'auto'; got {value!r:.80}")


def interval(name: str, value: Any) -> int | str:
    """Tokens, or seconds as in '600s'."""
    if isinstance(value, str):
        if re.fullmatch(r"[1-9][0-9]*s", value):
            return value
        raise ValueError(f"{name} must be a number of tokens or seconds such as '600s'; got {value!r:.80}")
    return int(integer(1, 2**62)(name, value))


def trim_rule(name: str, value: Any) -> Callable[[str, int, int], Any]:
    """gensim's trim_rule."""
    if not callable(value):
        raise TypeError(f"{name} must be a function of (word, count, min_count), as in gensim; got {value!r:.80}")
    return value  # type: ignore[no-any-return]


def forms_of_words(name: str, value: Any) -> str | dict[str, str] | Callable[[str], Any]:
    """Which words are inflected forms: "en", a mapping from forms to lemmas, or a function of a word."""
    if isinstance(value, str) and value != "en":
        raise ValueError(f"{name} must be 'en', a dict {{form: lemma}}, or a function of a word; got {value!r:.80}")
    if isinstance(value, str) or (callable(value) and not isinstance(value, Mapping)):
        return value
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be 'en', a dict {{form: lemma}}, or a function of a word; got {value!r:.80}")
    for form, lemma in value.items():
        if not isinstance(form, str) or not isinstance(lemma, str):
            raise TypeError(f"{name} must map words to words (str); got {form!r:.80}: {lemma!r:.80}")
    return dict(value)


def sentences(name: str, value: Any) -> Iterable[Any]:
    """What can be gone through; whether it holds token lists is seen as it is read."""
    iterable = isinstance(value, Iterable) or hasattr(value, "__getitem__")
    if not iterable or isinstance(value, np.generic):  # numpy's numbers have the methods, and fail
        raise TypeError(f"{name} must be an iterable of token lists, not {type(value).__name__}")
    return value  # type: ignore[no-any-return]


def callbacks(name: str, value: Any) -> tuple[Any, ...]:
    """Objects with some of the hooks of `muse.Callback`."""
    if not isinstance(value, Iterable):
        raise TypeError(f"{name} must be a list of callbacks; got {value!r:.80}")
    given = tuple(value)
    for callback in given:
        if isinstance(callback, type):
            raise TypeError(f"{name} holds the class {callback.__name__}; give an instance: {callback.__name__}()")
        if not any(callable(getattr(callback, hook, None)) for hook in HOOKS):
            raise TypeError(f"{callback!r} in {name} has none of the methods {', '.join(HOOKS)}")
    return given
