"""Synonym questions: which of several candidates means the same as the question word?

Data: T. K. Landauer and S. T. Dumais (1997) for TOEFL-80; P. D. Turney (2001), *Mining the web for synonyms*, for
ESL-50; M. Jarmasz and S. Szpakowicz (2004), *Roget's thesaurus and semantic similarity*, for RD-300. None may be
redistributed; ask their owners. Method: S. K. Jauhar, C. Dyer, E. Hovy (2015), *Ontologically grounded multi-sense
representation learning*, NAACL; section 4.3 of the MUSE paper (Lee and Chen, EMNLP 2017).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from muse.evaluation.naming import source_name
from muse.evaluation.protocol import SenseModel, SenseReader, Task, cosines
from muse.evaluation.results import EvaluationResult
from muse.evaluation.text import listed, quote, read_lines, split_csv

__all__ = ["SynonymQuestion", "SynonymTask", "evaluate_synonyms", "read_synonyms", "read_toefl"]

# Of lines without white space at their ends.
_QUESTION = re.compile(r"([0-9]{1,9})\.\s+(\S.*)")
_CANDIDATE = re.compile(r"([a-zA-Z])\.\s+(\S.*)")
_ANSWER = re.compile(r"([0-9]{1,9})\b.*\b([a-zA-Z])")
# A first line is a header if it begins with a column of the first kind, and one of the second is among the others.
_ASKED_COLUMN = re.compile(r"(question|word|target|stem|problem|query)s?", re.IGNORECASE)
_ANSWER_COLUMN = re.compile(
    r"((right|correct|true) )?(answer|synonym|solution|candidate|choice|option|distractor|other|wrong)s?[ _-]?\w?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class SynonymQuestion:
    """A word, the candidates, and which of them is right.

    Raises
    ------
    ValueError
        If there are fewer than two candidates or the answer is not the index of one.
    """

    word: str
    candidates: tuple[str, ...]
    answer: int

    def __post_init__(self) -> None:
        if len(self.candidates) < 2:
            raise ValueError(
                f"the question {self.word!r:.80} has {len(self.candidates)} candidate(s); it needs 2 or more"
            )
        if not 0 <= self.answer < len(self.candidates):
            raise ValueError(f"the answer of {self.word!r:.80} is candidate {self.answer} of {len(self.candidates)}")


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


def read_synonyms(path: str | os.PathLike[str]) -> list[SynonymQuestion]:
    """Read questions one a line: the question, the right answer, then the other candidates.

    The fields are separated by ``|`` (the layout in which ESL-50 and RD-300 circulate), by tabs, or by commas (CSV). A
    first line that names such columns is a header: ``question`` or ``word``, then ``answer``, ``candidate`` and the
    like. Lines that start with ``#`` are comments.

    Raises
    ------
    FileNotFoundError, ValueError
        For a missing or damaged file; the message names the file and the line.
    """
    found: list[SynonymQuestion] = []
    seen_header = False
    for number, line in read_lines(path):
        if not line.strip() or line.startswith("#"):
            continue
        place = f"{os.fspath(path)}, line {number}"
        separator = next((mark for mark in "|\t," if mark in line), None)
        if separator is None:
            raise ValueError(f"{place}: no fields separated by '|', tabs or commas: {quote(line)}")
        cells = line.split(separator) if separator == "|" else split_csv(line, place, separator)
        fields = [field.strip() for field in cells]
        if not found and not seen_header and _is_header(fields):
            seen_header = True
            continue
        while fields and not fields[-1]:
            fields.pop()  # spreadsheets pad shorter questions with empty cells
        if len(fields) < 3 or not all(fields):
            raise ValueError(
                f"{place}: expected a question, its answer and one or more other candidates: {quote(line)}"
            )
        found.append(SynonymQuestion(fields[0], tuple(fields[1:]), 0))
    if not found:
        raise ValueError(f"{os.fspath(path)} holds no questions")
    return found


def _is_header(fields: Sequence[str]) -> bool:
    return bool(_ASKED_COLUMN.fullmatch(fields[0])) and any(_ANSWER_COLUMN.fullmatch(field) for field in fields[1:])


class SynonymTask(Task):
    """Accuracy on synonym questions; call it with a model.

    The candidate chosen is the one with the largest MaxSim, the largest cosine between any sense of it and any sense of
    the question word. A question is answered only when the question word and all its candidates are in the vocabulary,
    as in the published figures; the others are counted and listed. Where n candidates tie for the first place and the
    answer is among them, the question counts 1/n. A candidate that is given twice counts once, and a note says so.

    Parameters
    ----------
    questions : path, (questions path, answers path), or sequence of SynonymQuestion
        One file for :func:`read_synonyms`, a pair of files for :func:`read_toefl`, or the questions themselves.
    lowercase : bool
        Look words up in lower case.

    Examples
    --------
    >>> task = SynonymTask(("toefl.qst", "toefl.ans"))  # doctest: +SKIP
    """

    def __init__(
        self,
        questions: str | os.PathLike[str] | tuple[Any, Any] | Sequence[SynonymQuestion],
        *,
        lowercase: bool = True,
    ) -> None:
        self.questions = _questions(questions)
        self._fold: Callable[[str], str] = str.lower if lowercase else str
        for question in self.questions:
            if len({self._fold(name) for name in question.candidates}) < 2:
                raise ValueError(
                    f"the candidates of {quote(question.word)} are one word: {quote(question.candidates[0])}"
                )
        self.settings = {
            "data": _data(questions, len(self.questions)),
            "questions": len(self.questions),
            "lowercase": lowercase,
        }

    def __call__(self, model: SenseModel) -> EvaluationResult:
        """Score a model.

        Raises
        ------
        ValueError
            If the model knows the words of no question.
        """
        reader = SenseReader(model)
        items = [self._ask(reader, question) for question in self.questions]
        answered = [item for item in items if not item["unknown"]]
        left = [item for item in items if item["unknown"]]
        if not answered:
            raise ValueError(
                f"none of the {len(items)} questions can be answered: unknown words "
                f"{listed(sorted({word for item in left for word in item['unknown']}))}"
            )
        credit = sum(item["credit"] for item in answered)
        chance = sum(1 / item["n_candidates"] for item in answered) / len(answered)
        summary = {
            "accuracy": credit / len(answered),
            "accuracy_all": credit / len(items),
            "chance": chance,
            "questions": len(items),
            "answered": len(answered),
            "unanswerable": len(left),
        }
        notes = [f"unanswerable: {item['question']} (unknown: {', '.join(item['unknown'])})" for item in left]
        twice = [item["question"] for item in items if item["repeated"]]
        if twice:
            notes.append(f"questions with a candidate that is given twice, which counts once: {listed(twice)}")
        return EvaluationResult("synonym questions", "accuracy", summary, [], items, dict(self.settings), notes)

    def _ask(self, reader: SenseReader, question: SynonymQuestion) -> dict[str, Any]:
        word, *given = (self._fold(name) for name in (question.word, *question.candidates))
        candidates = _unique(given)
        answer = candidates.index(given[question.answer])
        row: dict[str, Any] = {
            "question": question.word,
            "answer": question.candidates[question.answer],
            "n_candidates": len(candidates),
            "repeated": len(candidates) < len(given),
            "unknown": _unique(name for name in (word, *candidates) if name not in reader.model),
            "chosen": None,
            "tied": None,
            "credit": None,
        }
        if row["unknown"]:
            return row
        scores = [float(cosines(reader.senses(word), reader.senses(name)).max()) for name in candidates]
        best = [i for i, score in enumerate(scores) if score == max(scores)]
        row["chosen"], row["tied"] = question.candidates[given.index(candidates[best[0]])], len(best)
        row["credit"] = 1 / len(best) if answer in best else 0.0
        return row


def _unique(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _data(source: Any, count: int) -> str | list[str]:
    """What the questions were read from."""
    if isinstance(source, tuple | list) and any(isinstance(entry, str | os.PathLike) for entry in source):
        return [source_name(entry, "") for entry in source]
    return source_name(source, f"{count} questions")


def _questions(source: Any) -> list[SynonymQuestion]:
    if isinstance(source, str | os.PathLike):
        return read_synonyms(source)
    entries = list(source)
    if len(entries) == 2 and all(isinstance(entry, str | os.PathLike) for entry in entries):
        return read_toefl(*entries)
    if not entries or not all(isinstance(entry, SynonymQuestion) for entry in entries):
        raise TypeError("questions must be a path, a pair of paths (questions, answers), or SynonymQuestion objects")
    return entries


def evaluate_synonyms(model: SenseModel, questions: Any, **options: Any) -> EvaluationResult:
    """Synonym selection in one call; ``questions`` and ``options`` as for :class:`SynonymTask`.

    Examples
    --------
    >>> print(evaluate_synonyms(model, ("toefl.qst", "toefl.ans")))  # doctest: +SKIP
    """
    return SynonymTask(questions, **options)(model)
