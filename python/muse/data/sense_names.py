"""Names that people give to senses: by word and number, the same under every cut of a sense tree."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import UnknownSenseError, listed, quote, warn_at_caller

__all__ = ["NO_NAMES", "SenseNames", "check_name", "joined_names", "shown_names", "warn_of_lost"]

_LONGEST = 100  # characters of a name that is given; those that merging joins may be longer
_LONGEST_IN_FILES = 100_000
_ORDERING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_LINES = ("Cc", "Cs", "Zl", "Zp")  # control characters, lone surrogates, ends of lines and paragraphs
_BETWEEN = " / "  # the names of what a coarse sense is made of
_PART = ", part "  # of the sense that has the name, and the number of the node


def check_name(name: Any, longest: int = _LONGEST) -> str:
    """A name as it is kept, in Unicode's composed form (NFC); a TypeError or ValueError that says what is wrong.

    Examples
    --------
    >>> check_name("river")
    'river'
    >>> check_name("two\\nlines")
    Traceback (most recent call last):
    ...
    ValueError: the name 'two\\nlines' holds the character U+000A; a name is one line of visible text
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a sense must be text (str), or None to take it away; got {name!r:.80}")
    if not name.strip():
        raise ValueError(f"the name of a sense must not be empty, got {quote(name)}; None takes a name away")
    for character in name:
        if character in _ORDERING or unicodedata.category(character) in _LINES:
            raise ValueError(
                f"the name {quote(name)} holds the character U+{ord(character):04X}; a name is one line of visible text"
            )
    if len(name) > longest:
        raise ValueError(
            f"the name {quote(name)} is longer than {longest} characters; give a short one, notes belong elsewhere"
        )
    if name != name.strip():
        raise ValueError(f"the name {quote(name)} begins or ends with white space; leave that out")
    behind = name.rpartition("#")[2]
    if "#" in name and behind.isdecimal():
        raise ValueError(f"the name {quote(name)} ends as a sense key does; leave out {'#' + behind!r}")
    return unicodedata.normalize("NFC", name)


class SenseNames(Mapping[str, Mapping[int, str]]):
    """The names that were given to senses: ``names["bank"][1]`` is that of the sense with number 1. Immutable.

    A number is that of a sense or, in a model with sense trees, of a node, which stays the same under every cut.

    Parameters
    ----------
    given : mapping of str to mapping of int to str
        Words, numbers and names, which `check_name` has seen.

    Examples
    --------
    >>> names = SenseNames({"bank": {1: "river"}}).with_name("bank", 0, "money")
    >>> names["bank"], names.find("bank:money")
    ({0: 'money', 1: 'river'}, ('bank', 0))
    """

    def __init__(self, given: Mapping[str, Mapping[int, str]] | None = None) -> None:
        self._given = {word: dict(sorted(names.items())) for word, names in (given or {}).items() if names}

    def __getitem__(self, word: str) -> Mapping[int, str]:
        return self._given[word]

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)

    def of(self, word: str) -> dict[int, str]:
        """The names of a word's senses by their numbers; none for a word without names."""
        return dict(self._given.get(word, {}))

    def keys_and_names(self) -> dict[str, str]:
        """Every name by the key of its sense, ``{"bank#1": "river"}``."""
        return {f"{word}#{number}": name for word, names in self._given.items() for number, name in names.items()}

    def with_name(self, word: str, number: int, name: str | None) -> SenseNames:
        """These with another name of a sense, or without its name (None).

        Raises
        ------
        ValueError
            If another sense of the word has the name.
        """
        others = {other: its for other, its in self.of(word).items() if other != number}
        if name is not None:
            for other, its in others.items():
                if its == name:
                    raise ValueError(
                        f"{quote(name)} is the name of {quote(f'{word}#{other}')}; a name belongs to one sense of a "
                        f"word: take it away there first, with name_sense({quote(f'{word}#{other}')}, None)"
                    )
            others[number] = name
        return self._with({**self._given, word: dict(sorted(others.items()))})

    @classmethod
    def _with(cls, given: dict[str, dict[int, str]]) -> SenseNames:
        """Those given, in which one word alone may have none: thousands of names are given one after another."""
        names = cls()
        names._given = given if all(given.values()) else {word: its for word, its in given.items() if its}
        return names

    def without(self, lost: Mapping[str, set[int]]) -> SenseNames:
        """These without the names of some senses."""
        return SenseNames(
            {word: {number: name for number, name in names.items() if number not in lost.get(word, ())}
             for word, names in self._given.items()}
        )  # fmt: skip

    def find(self, text: str) -> tuple[str, int] | None:
        """The word and number of the sense that ``"word:name"`` names; None where nothing has that name.

        Raises
        ------
        UnknownSenseError
            If two senses could be meant, as a word and a name may hold colons, too.
        """
        found = []
        place = text.find(":")
        while place >= 0:
            names, wanted = self._given.get(text[:place], {}), unicodedata.normalize("NFC", text[place + 1 :])
            found += [(text[:place], number) for number, name in names.items() if name == wanted]
            place = text.find(":", place + 1)
        if len(found) > 1:
            raise UnknownSenseError(
                f"{quote(text)} could be any of {listed(f'{word}#{number}' for word, number in found)}; give the key"
            )
        return found[0] if found else None

    # -- storage -----------------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, dict[str, str]]:
        """As a model file keeps them."""
        return {word: {str(number): name for number, name in names.items()} for word, names in self._given.items()}

    @classmethod
    def from_json(cls, stored: Any) -> SenseNames:
        """What `to_json` gave; a ValueError where it is damaged."""
        if not isinstance(stored, dict):
            raise ValueError("its names of senses are no table of words")
        given: dict[str, dict[int, str]] = {}
        for word, names in stored.items():
            if not isinstance(names, dict) or not all(key.isdecimal() and len(key) < 19 for key in names):
                raise ValueError(f"its names of the senses of {quote(word)} are no table of numbers")
            try:
                given[word] = {int(key): check_name(name, _LONGEST_IN_FILES) for key, name in names.items()}
            except TypeError as error:
                raise ValueError(f"of its names of senses, {error}") from error
            if len(given[word]) < len(names) or len(set(given[word].values())) < len(names):
                raise ValueError(f"two names of the senses of {quote(word)} are the same, or of the same one")
        return cls(given)


NO_NAMES = SenseNames()


def warn_of_lost(lost: Mapping[str, str], why: str, what: str = "are gone") -> None:
    """Warn of names, by the keys of their senses, that are gone, or not taken over."""
    if lost:
        all_of_them = listed((f"{key} {name!r}" for key, name in lost.items()), most=1000)
        warn_at_caller(f"{len(lost)} names of senses {what}, since {why}: {all_of_them}", UserWarning)


def joined_names(names: list[str]) -> str:
    """The name of a sense that is made of several that have names."""
    return _BETWEEN.join(dict.fromkeys(names))


def shown_names(names: Mapping[int, str], leaves: NDArray[np.bool_] | None, *, parts: bool = True) -> dict[int, str]:
    """What is shown as the name of each sense or node of a word, by number; those without a name are left out.

    A node without a name of its own shows those of its parts, or else that of the node that it is part of with its own
    number behind it, "river, part 5".

    Parameters
    ----------
    names : mapping of int to str
        The names that were given.
    leaves : bool (nodes, leaves), optional
        The leaves of each node of the word's tree; without a tree only the names that were given are shown.
    parts : bool
        Whether to show something for nodes that are only a part of one with a name.

    Examples
    --------
    >>> shown_names({0: "money", 1: "river"}, np.array([[1, 0], [0, 1], [1, 1]], bool))
    {0: 'money', 1: 'river', 2: 'money / river'}
    """
    if leaves is None or not names:
        return dict(names)
    shown = dict(names)
    given = {number: leaves[number] for number in names if number < len(leaves)}
    for number in range(len(leaves)):
        if number in names:
            continue
        mine = leaves[number]
        within = [other for other, its in given.items() if (its & mine).any() and not (its & ~mine).any()]
        top = [o for o in within if not any(o != p and not (given[o] & ~given[p]).any() for p in within)]
        around = [other for other, its in given.items() if not (mine & ~its).any()]
        if top:
            shown[number] = joined_names([names[other] for other in top])
        elif around and parts:
            shown[number] = names[min(around, key=lambda other: int(given[other].sum()))] + f"{_PART}{number}"
    return dict(sorted(shown.items()))
