"""One change of a model at a time, and answers that are of one state of it, whatever threads do."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from muse.data.memory import with_figure

__all__ = ["Derived", "Held", "answers", "changed", "changes", "part_of_a_change", "uses"]

T = TypeVar("T")
Method = TypeVar("Method", bound=Callable[..., Any])

_NAMES = {"__getstate__": "pickle and copy"}  # what calls it
_CHANGES, _PART, _USES = "changes", "is changing", "is reading"


class _Call:
    """A call under way that holds a model."""

    def __init__(self, name: str, kind: str) -> None:
        self.name, self.kind = name, kind
        self._thread = threading.get_ident()

    def excludes(self, later: _Call) -> bool:
        """Whether `later` must not begin before this call has ended."""
        if self._thread == later._thread:  # within this one: in a callback, or in the generator that it reads
            return later.kind == _CHANGES
        return not self.kind == later.kind == _USES

    def shelters(self, later: _Call) -> bool:
        """Whether `later` is a part of this change; what came after this call is refused, and does not count."""
        return self._thread == later._thread and self.kind == _CHANGES and later.kind != _CHANGES

    def refusal(self, later: _Call) -> RuntimeError:
        doing = "the model is in training" if self.name == "train" else f"{self.name} {self.kind} the model"
        return RuntimeError(f"{later.name} cannot be called while {doing}; call it when {self.name} has ended")


class Held:
    """What calls may hold, the first one first. Such a call must be marked `changes`, `part_of_a_change` or `uses`.

    Attributes
    ----------
    _calls : dict
        In the order in which they began. Its operations are atomic, so that of two calls one is the first; there is no
        lock that a Ctrl-C or a fork could leave locked.
    """

    _calls: dict[_Call, None]


def changes(method: Method) -> Method:
    """A method that changes the model: a RuntimeError while any other does, in this thread or another, or reads it.

    Its whole call counts, what it reads of the user's text too; it is over however the call ends.
    """
    return _holding(method, _CHANGES)


def part_of_a_change(method: Method) -> Method:
    """The same, but it may be called within a change, by the thread that makes it."""
    return _holding(method, _PART)


def uses(method: Method) -> Method:
    """A method that writes what the model is: no other thread may change the model before it has ended."""
    return _holding(method, _USES)


def _holding(method: Method, kind: str) -> Method:
    name = _NAMES.get(method.__name__, method.__name__)

    @functools.wraps(method)
    def held(self: Held, *args: Any, **kwargs: Any) -> Any:
        calls, mine = self._calls, _Call(name, kind)
        try:
            calls[mine] = None
            for other in list(calls):
                if other is mine or other.shelters(mine):
                    break
                if other.excludes(mine):
                    raise other.refusal(mine)
            return method(self, *args, **kwargs)
        except MemoryError as error:
            raise with_figure(error, f"{name} was at work") from error
        finally:
            calls.pop(mine, None)

    return held  # type: ignore[return-value]


class Derived:
    """Something whose parts are replaced while other threads ask it, and what was derived from the present parts.

    Attributes
    ----------
    _derived : dict or None
        By name. Whoever replaces parts sets it to None first, and at last to an empty dict, see `answers`.
    """

    _derived: dict[str, Any] | None

    def _once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` gives, kept for as long as the parts are the same."""
        derived = self._derived  # before `make` looks at the parts: no later dict gets what came from earlier ones
        if derived is None:
            return make()
        if name not in derived:
            derived[name] = make()
        made: T = derived[name]
        return made


def answers(kind: type[T]) -> type[T]:
    """A class of `Derived` whose public methods answer from one state of it: else they raise a RuntimeError."""
    for name, method in list(vars(kind).items()):
        public = not name.startswith("_") or name == "__getitem__"
        whole = public and inspect.isfunction(method) and name not in ("refresh", "is_of")
        if whole and not getattr(method, "__isabstractmethod__", False):
            setattr(kind, name, _answer(method))
    return kind


def _answer(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def answer(self: Derived, *args: Any, **kwargs: Any) -> Any:
        before = self._derived
        try:
            given = method(self, *args, **kwargs)
        except Exception as error:
            if before is None or self._derived is not before:
                raise changed(method.__name__) from error
            if isinstance(error, MemoryError):
                raise with_figure(error, f"{method.__name__} was at work") from error
            raise
        if before is None or self._derived is not before:
            raise changed(method.__name__)
        return given

    return answer


def changed(name: str) -> RuntimeError:
    """The error for a question that has no answer from one state of the model."""
    return RuntimeError(f"the model changed while {name} was asking it, in another thread or a callback; ask again")
