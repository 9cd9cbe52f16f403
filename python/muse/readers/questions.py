"""Synonym questions and their files: the TOEFL layout, and one question a line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from muse.errors import listed, quote
from muse.readers.delimited import Column, column_of, delimiter_of, is_number_of_row, numbered, shown, split_csv
from muse.readers.lines import read_lines

__all__ = ["SynonymQuestion", "read_synonyms", "read_toefl"]

# Of lines without white space at their ends.
_QUESTION = re.compile(r"([0-9]{1,9})\.\s+(\S.*)")
_CANDIDATE = re.compile(r"([a-zA-Z])\.\s+(\S.*)")
_ANSWER = re.compile(r"([0-9]{1,9})\b.*\b([a-zA-Z])")
# Names of columns.
_ASKED_COLUMN = re.compile(r"(question|word|target|stem|problem|query|cue)s?", re.IGNORECASE)
_RIGHT_COLUMN = re.compile(
    r"((right|correct|true|gold)[ _-]?)?(answer|synonym|solution)s?|right|correct|gold", re.IGNORECASE
)
_WRONG = r"wrong|incorrect|false|other|distractor"
_WRONG_COLUMN = re.compile(rf"({_WRONG})s?[ _-]?(answer|synonym|candidate|choice|option)?s?[ _-]?\w?", re.IGNORECASE)
_CANDIDATE_COLUMN = re.compile(
    r"(answer|synonym|candidate|choice|option|alternative)s?[ _-]?(?P<label>\w)?|[a-z](?P<number>[0-9])?|[0-9]",
    re.IGNORECASE,
)
_SHORT = re.compile(r"[a-z]|[0-9]+", re.IGNORECASE)  # what stands for a candidate, more likely than for itself


@dataclass(frozen=True)
class SynonymQuestion:
    """A word, the candidates, and which of them is right.

    Raises
    ------
    TypeError
        If the candidates are one string, words are no strings, or the answer is no index.
    ValueError
        If there are fewer than two candidates or the answer is not the index of one.
    """

    word: str
    candidates: tuple[str, ...]
    answer: int

    def __post_init__(self) -> None:
        if isinstance(self.candidates, str) or not isinstance(self.candidates, Sequence):
            raise TypeError(
                f"the candidates must be a tuple of words, as ('queen', 'war'); got {self.candidates!r:.80}"
            )
        if not all(isinstance(word, str) for word in (self.word, *self.candidates)):
            raise TypeError(
                f"the word and the candidates must be strings; got {self.word!r:.80}, {self.candidates!r:.80}"
            )
        if isinstance(self.answer, bool) or not hasattr(self.answer, "__index__"):
            raise TypeError(f"the answer must be the index of a candidate, as 0; got {self.answer!r:.80}")
        if len(self.candidates) < 2:
            raise ValueError(
                f"the question {self.word!r:.80} has {len(self.candidates)} candidate(s); it needs 2 or more"
            )
        if not 0 <= self.answer < len(self.candidates):
            raise ValueError(f"the answer of {self.word!r:.80} is candidate {self.answer} of {len(self.candidates)}")
        object.__setattr__(self, "candidates", tuple(self.candidates))


def read_toefl(questions: str | os.PathLike[str], answers: str | os.PathLike[str]) -> list[SynonymQuestion]:
    """Read questions in the TOEFL layout, from a ``.qst`` and an ``.ans`` file.

    A question is a line ``1.<tab>word`` with lines ``a.<tab>candidate`` to ``d.`` below it. An answer line starts with
    the number of the question and ends with the letter of the right candidate, with anything in between, as in
    ``1 (a,a,-) 1 c``.

    Raises
    ------
    FileNotFoundError, ValueError
        For missing or damaged files; the message names the file and the line.
    """
    asked: dict[int, tuple[str, dict[str, str]]] = {}
    current: dict[str, str] | None = None
    for number, line in read_lines(questions):
        place = f"{os.fspath(questions)}, line {number}"
        question, candidate = _QUESTION.fullmatch(line.strip()), _CANDIDATE.fullmatch(line.strip())
        if question:
            if int(question[1]) in asked:
                raise ValueError(f"{place}: question {question[1]} occurs twice")
            current = {}
            asked[int(question[1])] = (question[2], current)
        elif candidate and current is not None:
            if candidate[1].lower() in current:
                raise ValueError(f"{place}: the question has a candidate {candidate[1]} already: {quote(line)}")
            current[candidate[1].lower()] = candidate[2]
        elif line.strip():
            raise ValueError(
                f"{place}: neither a question such as '1. word' nor a candidate such as 'a. word': {quote(line)}"
            )
    right: dict[int, str] = {}
    for number, line in read_lines(answers):
        place = f"{os.fspath(answers)}, line {number}"
        answer = _ANSWER.fullmatch(line.strip())
        if answer:
            if int(answer[1]) in right:
                raise ValueError(f"{place}: question {answer[1]} has an answer already: {quote(line)}")
            right[int(answer[1])] = answer[2].lower()
        elif line.strip():
            raise ValueError(f"{place}: no answer such as '1 (a,a,-) 1 c': {quote(line)}")
    found: list[SynonymQuestion] = []
    for key, (word, candidates) in asked.items():
        if right.get(key) not in candidates:
            raise ValueError(
                f"{os.fspath(answers)}: the answer to question {key} ({quote(word)}) is {right.get(key)!r}; "
                f"its candidates are {', '.join(candidates) or 'missing'}"
            )
        if len(candidates) < 2:
            raise ValueError(f"{os.fspath(questions)}: question {key} ({quote(word)}) has only one candidate")
        found.append(SynonymQuestion(word, tuple(candidates.values()), list(candidates).index(right[key])))
    if not found:
        raise ValueError(f"{os.fspath(questions)} holds no questions")
    return found


class _Layout(NamedTuple):
    """Which columns hold what, and the names of all."""

    question: int
    answer: int
    candidates: list[int]
    names: list[str]
    apart: bool  # whether the candidates may lack the answer


def _is_header(names: Sequence[str]) -> bool:
    """Whether a first line names the columns of question and answer, or numbers those of the candidates."""
    asked = any(map(_ASKED_COLUMN.fullmatch, names)) and any(map(_RIGHT_COLUMN.fullmatch, names))
    return asked or bool(numbered(names)) or {"a", "b"} <= {name.casefold() for name in names[1:]}


def _layout(
    names: list[str], place: str, question: Column | None, answer: Column | None, candidates: Iterable[Column] | None
) -> _Layout:
    """The columns of a header."""

    def one(given: Column | None, kind: re.Pattern[str], option: str) -> int:
        if given is not None:
            return column_of(given, names, option, place)
        found = [i for i, name in enumerate(names) if kind.fullmatch(name)]
        if len(found) != 1:
            raise ValueError(
                f"{place}: which column holds the {option}? There are {shown(names)}; name one {option!r}, or say "
                "which hold what with read_synonyms(..., question='...', answer='...')"
            )
        return found[0]

    asked, right = one(question, _ASKED_COLUMN, "question"), one(answer, _RIGHT_COLUMN, "answer")
    if candidates is not None:
        others = [column_of(column, names, "candidates", place) for column in candidates]
    else:
        others = [i for i, name in enumerate(names) if i not in (asked, right) and not is_number_of_row(name)]
        strange = [
            names[i]
            for i in others
            if not _CANDIDATE_COLUMN.fullmatch(names[i]) and not _WRONG_COLUMN.fullmatch(names[i])
        ]
        if 0 < len(strange) < len(others):
            raise ValueError(
                f"{place}: do the columns {shown(strange)} hold candidates? Say which do with "
                f"read_synonyms(..., candidates=[{shown([names[i] for i in others if names[i] not in strange])}])"
            )
    apart = right == asked + 1 or all(_WRONG_COLUMN.fullmatch(names[i]) for i in others)
    return _Layout(asked, right, others, names, apart)


def read_synonyms(
    path: str | os.PathLike[str],
    *,
    question: Column | None = None,
    answer: Column | None = None,
    candidates: Iterable[Column] | None = None,
) -> list[SynonymQuestion]:
    """Read questions one a line: the question, the right answer, then the other candidates.

    The fields are separated by ``|`` (the layout in which ESL-50 and RD-300 circulate), by tabs, semicolons or commas
    (CSV). Lines that start with ``#`` are comments. Compressed files (.gz, .bz2, .xz, .zst) are read as they are.

    A first line that names such columns is a header: ``question`` or ``word``, ``answer``, ``candidate 1``, ``wrong``,
    ``a``, ``b`` and the like. Then the columns are taken by these names, in any order and beside a number of the row.
    An answer may be one of the candidates, as in ``question,a,b,c,answer``, or stand for its column: ``b`` for that of
    ``b`` or ``option b``, ``2`` for that of ``c2``.

    Parameters
    ----------
    path : path
        The file.
    question, answer : str or int, optional
        The columns of a header that names them otherwise, by their names or their numbers from 0. With these the first
        line is a header.
    candidates : iterable of str or int, optional
        The columns of the candidates, likewise; by default all others.

    Raises
    ------
    FileNotFoundError, ValueError
        For a missing or damaged file; the message names the file and the line. For a header of which several columns,
        or none, may hold the question or the answer; the message lists them.

    Examples
    --------
    >>> questions = read_synonyms("meine.csv", question="Frage", answer="Antwort")  # doctest: +SKIP
    """
    found: list[SynonymQuestion] = []
    named = question is not None or answer is not None or candidates is not None
    given = None if candidates is None else list(candidates)
    layout: _Layout | None = None
    separator: str | None = None
    for number, line in read_lines(path):
        if not line.strip() or line.startswith("#"):
            continue
        place = f"{os.fspath(path)}, line {number}"
        separator = separator or delimiter_of(line, "|\t", ";,")
        if separator is None:
            raise ValueError(f"{place}: no fields separated by '|', tabs, semicolons or commas: {quote(line)}")
        cells = line.split(separator) if separator == "|" else split_csv(line, place, separator)
        fields = [field.strip() for field in cells]
        while fields and not fields[-1]:
            fields.pop()  # spreadsheets pad shorter questions with empty cells
        if not found and layout is None and (named or _is_header(fields)):
            layout = _layout(fields, place, question, answer, given)
            continue
        found.append(_plain(fields, line, place) if layout is None else _by_names(fields, layout, line, place))
    if not found:
        raise ValueError(f"{os.fspath(path)} holds no questions")
    return found


def _plain(fields: Sequence[str], line: str, place: str) -> SynonymQuestion:
    if len(fields) < 3 or not all(fields):
        raise ValueError(f"{place}: expected a question, its answer and one or more other candidates: {quote(line)}")
    return SynonymQuestion(fields[0], tuple(fields[1:]), 0)


def _by_names(fields: list[str], layout: _Layout, line: str, place: str) -> SynonymQuestion:
    """A question below a header; fields beyond it are candidates too."""
    width = len(layout.names)
    fields = fields + [""] * (width - len(fields))
    word, answer = fields[layout.question], fields[layout.answer]
    candidates = [*(fields[i] for i in layout.candidates), *fields[width:]]
    while candidates and not candidates[-1]:
        candidates.pop()
    if not (word and answer and candidates and all(candidates)):
        raise ValueError(f"{place}: expected a question, its answer and one or more other candidates: {quote(line)}")
    right = answer if answer in candidates else _labelled(fields, layout).get(answer.casefold(), answer)
    if right not in candidates:
        if not layout.apart or _SHORT.fullmatch(answer):
            raise ValueError(f"{place}: the answer {quote(answer)} is none of the candidates {listed(candidates)}")
        candidates.insert(0, right)
    if len(candidates) < 2:
        raise ValueError(f"{place}: the question {quote(word)} has only one candidate")
    return SynonymQuestion(word, tuple(candidates), candidates.index(right))


def _labelled(fields: Sequence[str], layout: _Layout) -> dict[str, str]:
    """Candidates by what an answer may call them: ``b``, and ``option b`` or ``b`` alone."""
    found: dict[str, str] = {}
    for i in layout.candidates:
        name = layout.names[i].casefold()
        if known := _CANDIDATE_COLUMN.fullmatch(name):
            label = known["label"] or known["number"] or name
            found.update({name: fields[i], label: fields[i]})
    return found
