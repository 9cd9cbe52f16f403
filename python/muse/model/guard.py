"""One call at a time changes a model, whatever threads do."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from muse._core import Corpus
from muse.data.memory import shortage_said
from muse.data.snapshot import Publisher

__all__ = ["Call", "Guarded", "Model", "changes", "part_of_a_change", "uses"]

Method = TypeVar("Method", bound=Callable[..., Any])

_NAMES = {"__getstate__": "pickle and copy"}  # what calls it
_CHANGES, _PART, _USES = "changes", "is changing", "is reading"


class Call:
    """A call under way that holds a model."""

    def __init__(self, name: str, kind: str) -> None:
        self.name, self.kind = name, kind
        self._thread = threading.get_ident()

    def excludes(self, later: Call) -> bool:
        """Whether `later` must not begin before this call has ended."""
        if self._thread == later._thread:  # within this one: in a callback, or in the generator that it reads
            return later.kind == _CHANGES
        return not self.kind == later.kind == _USES

    def shelters(self, later: Call) -> bool:
        """Whether `later` is a part of this change; what came after this call is refused, and does not count."""
        return self._thread == later._thread and self.kind == _CHANGES and later.kind != _CHANGES

    def refusal(self, later: Call) -> RuntimeError:
        """The error for `later`."""
        doing = "the model is in training" if self.name == "train" else f"{self.name} {self.kind} the model"
        return RuntimeError(f"{later.name} cannot be called while {doing}; call it when {self.name} has ended")


class Guarded(Protocol):
    """What has calls that exclude each other. Such a call is marked `changes`, `part_of_a_change` or `uses`.

    Attributes
    ----------
    _calls : dict
        Those under way, in the order in which they began. Its operations are atomic, so that of two calls one is the
        first; there is no lock that a Ctrl-C or a fork could leave locked.
    """

    _calls: dict[Call, None]


class Model(Guarded, Publisher, Protocol):
    """What the methods of `MUSE` that stand in modules of their own ask of it.

    Attributes
    ----------
    history : list of dict
        A row for each epoch of training.
    corpus_count : int
        Sentences of the corpus that `build_vocab` read.
    _corpus : Corpus, optional
        That corpus, until training has used it.
    _scanned : dict, optional
        What `scan_vocab` counted.
    """

    history: list[dict[str, Any]]
    corpus_count: int
    _corpus: Corpus | None
    _scanned: dict[str, int] | None


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
    def held(self: Guarded, *args: Any, **kwargs: Any) -> Any:
        calls, mine = self._calls, Call(name, kind)
        try:
            calls[mine] = None
            for other in list(calls):
                if other is mine or other.shelters(mine):
                    break
                if other.excludes(mine):
                    raise other.refusal(mine)
            with shortage_said(f"{name} was at work"):
                return method(self, *args, **kwargs)
        finally:
            calls.pop(mine, None)

    return held  # type: ignore[return-value]
