"""What users give to tasks: checked with its index, looked through for repeats and for spellings."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeVar

from muse.errors import listed

__all__ = ["as_items", "repeats", "said_repeats", "spelling_hint"]

T = TypeVar("T")


def as_items(given: Any, kind: type[T], what: str, reader: str) -> list[T]:
    """The pairs, questions or occurrences that a user gives, as a list.

    Raises
    ------
    TypeError
        If they are not many of `kind`; the message says which is not, and names the reader that makes them.
    """
    if not isinstance(given, Iterable) or isinstance(given, str | bytes | os.PathLike):
        raise TypeError(f"{what} must be a list of {kind.__name__}, as {reader} makes it; got {given!r:.80}")
    found: list[T] = []
    for number, item in enumerate(given):
        if not isinstance(item, kind):
            raise TypeError(
                f"{what}, item {number}: must be of type {kind.__name__}, as {reader} makes it; got {item!r:.80}"
            )
        found.append(item)
    return found


def repeats(entries: Iterable[tuple[Hashable, T]]) -> dict[Hashable, list[T]]:
    """Keys that are given more than once, with what each was given with."""
    found: dict[Hashable, list[T]] = {}
    for key, value in entries:
        found.setdefault(key, []).append(value)
    return {key: values for key, values in found.items() if len(values) > 1}


def said_repeats(what: str, repeated: Sequence[tuple[str, Sequence[Hashable]]]) -> list[str]:
    """Notes of items that are given more than once: `repeated` holds their names, and the answers to each.

    Those that contradict themselves come first, with their answers.
    """
    if not repeated:
        return []
    same = [name for name, answers in repeated if len(set(answers)) == 1]
    torn = [f"{name} ({' and '.join(map(str, dict.fromkeys(a)))})" for name, a in repeated if len(set(a)) > 1]
    return [f"{what} given more than once, which count each time: {len(repeated)} ({listed([*torn, *same])})"]


def spelling_hint(model: Any, groups: Sequence[Sequence[str]], lowercase: bool) -> str:
    """Advice where the other value of ``lowercase`` would find more of the words, of which a group must be known."""

    def known(fold: Any) -> int:
        return sum(all(fold(word) in model for word in words) for words in groups)

    now, other = (str.lower, str) if lowercase else (str, str.lower)
    more = known(other)
    if more <= known(now):
        return ""
    return f"lowercase={not lowercase} finds {more} of {len(groups)}: the model's words " + (
        "are spelt with capitals" if lowercase else "are in lower case"
    )
