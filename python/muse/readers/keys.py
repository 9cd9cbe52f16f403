"""Sense keys: the files in which the senses of occurrences travel.

A *key* says which senses an occurrence has: ``{word: {occurrence: {sense: weight}}}``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Any

from muse.corpus.tokens import Tokenizer, locate, whole_word, word_of
from muse.errors import quote
from muse.files.lines import is_compressed
from muse.readers.lines import read_lines

__all__ = [
    "Key",
    "Occurrence",
    "as_key",
    "conflict",
    "key_lines",
    "make_key",
    "occurrence_at",
    "parse_senses",
    "read_key",
    "write_key",
]

Key = dict[str, dict[str, dict[str, float]]]


@dataclass(frozen=True)
class Occurrence:
    """An occurrence of a word in context, with its true and its induced senses where a file gives them.

    ``word`` is the entry under which occurrences are compared (``"add.v"``), ``lemma`` the word to look up (``"add"``),
    ``form`` the token in the text (``"adding"``), which is ``tokens[position]``; ``None`` for a target that is not one
    token, or whose place is not known.
    """

    word: str
    name: str
    lemma: str
    form: str | None
    tokens: list[str]
    position: int
    gold: dict[str, float] = field(default_factory=dict)
    system: dict[str, float] = field(default_factory=dict)


def occurrence_at(
    word: str, name: str, lemma: str, text: str, span: tuple[int, int] | None, tokenizer: Tokenizer
) -> Occurrence:
    """The occurrence of a word whose characters `span` says, or that was not found (None)."""
    start, end = (0, 0) if span is None else whole_word(text, *span)
    tokens, position, target = locate(text[:start], text[start:end], text[end:], tokenizer)
    form = target[0] if len(target) == 1 else None
    return Occurrence(word, name, word_of(tokenizer, lemma), form, tokens, position)


def conflict(first: Occurrence, second: Occurrence) -> str | None:
    """In what two occurrences of one name differ that must be the same; None if they may be one."""
    if first.tokens != second.tokens:
        return "another context"
    return "other senses" if first.gold != second.gold else None


def make_key(occurrences: Iterable[Occurrence], which: str = "gold") -> Key:
    """The true or the induced senses of occurrences as a key.

    Parameters
    ----------
    occurrences : iterable of Occurrence
        Such as :func:`read_table` gives; those without senses are left out.
    which : {"gold", "system"}
        The true senses, or those of the table's column of predictions.

    Raises
    ------
    ValueError
        If one name of a word stands for different senses.

    Examples
    --------
    A filled table of RUSSE'18, as its own ``evaluate.py`` scores it:

    >>> rows = read_table("train.csv")  # doctest: +SKIP
    >>> score_key(make_key(rows), make_key(rows, "system"), score="ari")  # doctest: +SKIP
    """
    if which not in ("gold", "system"):
        raise ValueError(f"which must be 'gold' or 'system', got {which!r}")
    key: Key = {}
    for item in occurrences:
        senses = item.gold if which == "gold" else item.system
        if senses and key.setdefault(item.word, {}).setdefault(item.name, dict(senses)) != senses:
            named = f"the occurrence {quote(item.name)} of {quote(item.word)}"
            raise ValueError(f"{named} is given twice, with other senses")
    return key


def parse_senses(entries: list[str], place: str) -> dict[str, float]:
    """``["a%1/4", "a%2/2"]`` as weights; all 1 unless each distinct sense has one, as in the official scorer."""
    weights: dict[str, float] = {}
    weighted = 0
    for entry in entries:
        sense, mark, number = entry.rpartition("/") if "/" in entry else (entry, "", "")
        if not sense:
            raise ValueError(f"{place}: a sense without a name in {quote(entry)}")
        weights[sense] = 1.0
        if mark:
            try:
                weights[sense] = float(number)
            except ValueError:
                raise ValueError(
                    f"{place}: {quote(number)} in {quote(entry)} is no weight; write sense/weight"
                ) from None
            if not 0 < weights[sense] < float("inf"):
                raise ValueError(f"{place}: the weight in {quote(entry)} must be positive")
            weighted += 1
    if weighted != len(weights):
        return dict.fromkeys(weights, 1.0)
    return weights


def read_key(path: str | os.PathLike[str]) -> Key:
    """Read a Senseval key, as of SemEval-2007 task 2, SemEval-2010 task 14 and SemEval-2013 task 13.

    A line is ``word occurrence sense[/weight] [sense[/weight] ...]``, separated by spaces; what follows ``!!`` is a
    comment. Weights count where each sense of the occurrence has one. Otherwise all its senses weigh 1, as in the
    official scorer: in ``s/4 t`` the 4 is dropped.

    Raises
    ------
    FileNotFoundError, ValueError
        For a missing or damaged file; the message names the file and the line.
    """
    key: Key = {}
    for number, line in read_lines(path):
        place = f"{os.fspath(path)}, line {number}"
        fields = line.split("!!")[0].split()
        if not fields:
            continue
        if len(fields) < 3:
            raise ValueError(f"{place}: expected 'word occurrence sense[/weight] ...', found {quote(line)}")
        word, name, *senses = fields
        answers = key.setdefault(word, {})
        if name in answers:
            raise ValueError(f"{place}: the occurrence {quote(name)} of {quote(word)} occurs twice")
        answers[name] = parse_senses(senses, place)
    if not key:
        raise ValueError(f"{os.fspath(path)} holds no occurrences")
    return key


def as_key(given: Any, role: str, *, gaps: bool = False) -> Key:
    """A key that a user gives, checked, or read where it is a path; an answer may be missing (`gaps`).

    Raises
    ------
    TypeError, ValueError
        If it is no key; the message names the word and the occurrence.
    """
    if isinstance(given, str | os.PathLike):
        return read_key(given)
    expected = "a path, or {word: {occurrence: {sense: weight}}}"
    if not isinstance(given, Mapping):
        raise TypeError(f"the {role} must be {expected}; got {given!r:.80}")
    key: Key = {}
    for word, answers in given.items():
        if not isinstance(word, str) or not isinstance(answers, Mapping):
            raise TypeError(f"the {role} must be {expected}; the entry of {word!r:.80} is {answers!r:.80}")
        if not answers and not gaps:
            raise ValueError(f"the {role} has no occurrences of {quote(word)}; leave the word out")
        place = f"the {role}, {word!r:.80}"
        key[word] = {name: _checked(senses, f"{place} {name!r:.80}", gaps) for name, senses in answers.items()}
    if not key and not gaps:
        raise ValueError(f"the {role} is empty")
    return key


def _checked(senses: Any, place: str, gaps: bool) -> dict[str, float]:
    if not isinstance(senses, Mapping):
        raise TypeError(f"{place}: senses must be {{sense: weight}}, such as {{'bank%1': 1.0}}; got {senses!r:.80}")
    if not senses and not gaps:
        raise ValueError(f"{place} has no senses; leave the occurrence out")
    for sense, weight in senses.items():
        if not isinstance(sense, str):
            raise TypeError(f"{place}: the label of a sense must be a string; got {sense!r:.80}, pass str() of it")
        if isinstance(weight, bool) or not isinstance(weight, Real):
            raise TypeError(f"{place}: the weight of {quote(sense)} must be a number; got {weight!r:.80}")
        if not 0 < float(weight) < math.inf:
            raise ValueError(f"{place}: the weight of {quote(sense)} must be a positive number; got {weight!r:.80}")
    return {sense: float(weight) for sense, weight in senses.items()}


def write_key(key: Mapping[str, Mapping[str, Mapping[str, float]]], path: str | os.PathLike[str]) -> None:
    """Write a key that the official scorers (and :func:`read_key`) read; weights are left out where all are 1.

    Raises
    ------
    TypeError, ValueError
        If it is no key, or holds what no file can: empty names, names with spaces, ``/`` or ``!!``, no senses; if the
        path is named like a compressed file.
    """
    if is_compressed(Path(path)):
        raise ValueError(f"a key is written as plain text; give it a name that does not end in {Path(path).suffix}")
    Path(path).write_text("".join(key_lines(as_key(key, "key"))), encoding="utf-8")


def key_lines(key: Key) -> Iterator[str]:
    """The lines of the file of a key, see :func:`write_key`; a ValueError for what no file can hold."""
    for word, answers in key.items():
        for name, senses in answers.items():
            for part in (word, name, *senses):
                if not isinstance(part, str) or part.split() != [part] or "/" in part or "!!" in part:
                    place = f"{word!r:.80} {name!r:.80}"
                    raise ValueError(
                        f"{place}: names in a key must not contain spaces, '/' or '!!', nor be empty: {part!r:.80}"
                    )
            plain = all(weight == 1 for weight in senses.values())
            parts = [sense if plain else f"{sense}/{weight:.6g}" for sense, weight in senses.items()]
            yield " ".join([word, name, *parts]) + "\n"
