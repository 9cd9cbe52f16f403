"""Synonym questions and their files: the TOEFL layout, and one question a line."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from muse.errors import listed, quote
from muse.readers.delimited import Column, columns_of, delimiter_of, shown, split_csv
from muse.readers.lines import read_lines

__all__ = ["SynonymQuestion", "read_synonyms", "read_toefl"]

# Of lines without white space at their ends.
_QUESTION = re.compile(r"([0-9]{1,9})\.\s+(\S.*)")
_CANDIDATE = re.compile(r"([a-zA-Z])\.\s+(\S.*)")
_ANSWER = re.compile(r"([0-9]{1,9})\b.*\b([a-zA-Z])")
_HEADER = re.compile(r"question|answer|candidate ?[0-9]*|[a-z]")  # names of the columns of a table of one's own
_LIKE_A_HEADER = re.compile(r"answer|.*[0-9]")  # names, more likely than words
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
    """Which columns hold the question, the answer and the candidates, and of how many."""

    question: int
    answer: int
    candidates: list[int]
    names: list[str]


def read_synonyms(path: str | os.PathLike[str], *, columns: Sequence[Column] | None = None) -> list[SynonymQuestion]:
    """Read questions one a line: the question, the right answer, then the other candidates.

    The fields are separated by ``|`` (the layout in which ESL-50 and RD-300 circulate), by tabs, semicolons or commas
    (CSV). Lines that start with ``#`` are comments. Compressed files (.gz, .bz2, .xz, .zst) are read as they are.

    A first line is a header if it names a ``question``, an ``answer`` and nothing but candidates beside them:
    ``candidate 1``, ``candidate 2``, ..., or the letters ``a``, ``b``, ...; columns may then stand in any order. The
    answer may be one of the candidates or one more, and below letters also the letter of its column.

    Parameters
    ----------
    path : path
        The file.
    columns : sequence of str or int, optional
        The columns of the question, of the answer and of the candidates, where the header is another. Names are those
        of the first line; numbers alone, from 0, are of a file without a header.

    Raises
    ------
    TypeError
        If `columns` are not three or more names or numbers.
    FileNotFoundError, ValueError
        For a missing or damaged file; the message names the file and the line.

    Examples
    --------
    >>> questions = read_synonyms("meine.csv", columns=("Frage", "Antwort", "Falsch1", "Falsch2"))  # doctest: +SKIP
    """
    if columns is not None and (isinstance(columns, str) or not isinstance(columns, Sequence) or len(columns) < 3):
        raise TypeError(f"columns must be a question, an answer and one or more candidates; got {columns!r:.80}")
    found: list[SynonymQuestion] = []
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
        if not found and layout is None:
            layout = _layout(fields, columns, place)
            if layout and layout.names:
                continue
        found.append(_plain(fields, line, place) if layout is None else _by_columns(fields, layout, line, place))
    if not found:
        raise ValueError(f"{os.fspath(path)} holds no questions")
    return found


def _layout(fields: list[str], columns: Sequence[Column] | None, place: str) -> _Layout | None:
    """The layout of a file from its first line; None if that is a question as all others."""
    if columns is not None:
        header = any(isinstance(column, str) for column in columns)
        question, answer, *candidates = columns_of(columns, fields, place)
        return _Layout(question, answer, candidates, fields if header else [])
    names = [field.casefold() for field in fields]
    if {"question", "answer"} <= set(names) and all(map(_HEADER.fullmatch, names)):
        pass
    elif any(map(_LIKE_A_HEADER.fullmatch, names)) or {"a", "b"} <= set(names[1:]):
        raise ValueError(
            f"{place}: is this a header? There are {shown(fields)}. Name the columns question, answer and candidate 1, "
            "candidate 2, ..., or say which is which: read_synonyms(..., columns=('question', 'answer', 'candidate', "
            "...)) by the names in the header, or columns=(0, 1, 2, ...) without one"
        )
    else:
        return None
    question, answer = names.index("question"), names.index("answer")
    return _Layout(question, answer, [i for i in range(len(names)) if i not in (question, answer)], names)


def _plain(fields: Sequence[str], line: str, place: str) -> SynonymQuestion:
    if len(fields) < 3 or not all(fields):
        raise ValueError(f"{place}: expected a question, its answer and one or more other candidates: {quote(line)}")
    return SynonymQuestion(fields[0], tuple(fields[1:]), 0)


def _by_columns(fields: list[str], layout: _Layout, line: str, place: str) -> SynonymQuestion:
    """A question whose columns are known; fields beyond those of the header are candidates too."""
    beyond = fields[len(layout.names) :] if layout.names else []
    fields = fields + [""] * (1 + max(layout.question, layout.answer, *layout.candidates) - len(fields))
    word, answer = fields[layout.question], fields[layout.answer]
    candidates = [*(fields[i] for i in layout.candidates), *beyond]
    while candidates and not candidates[-1]:
        candidates.pop()
    if not (word and answer and candidates and all(candidates)):
        raise ValueError(f"{place}: expected a question, its answer and one or more other candidates: {quote(line)}")
    letters = {layout.names[i]: fields[i] for i in layout.candidates if layout.names and len(layout.names[i]) == 1}
    right = answer if answer in candidates else letters.get(answer.casefold(), answer)
    if right not in candidates:
        if letters or _SHORT.fullmatch(answer):
            raise ValueError(f"{place}: the answer {quote(answer)} is none of the candidates {listed(candidates)}")
        candidates.insert(0, right)
    if len(candidates) < 2:
        raise ValueError(f"{place}: the question {quote(word)} has only one candidate")
    return SynonymQuestion(word, tuple(candidates), candidates.index(right))
