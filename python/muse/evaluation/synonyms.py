"""Synonym questions: which of several candidates means the same as the question word?

Data: T. K. Landauer and S. T. Dumais (1997) for TOEFL-80; P. D. Turney (2001), *Mining the web for synonyms*, for
ESL-50; M. Jarmasz and S. Szpakowicz (2004), *Roget's thesaurus and semantic similarity*, for RD-300. None may be
redistributed; ask their owners. Method: S. K. Jauhar, C. Dyer, E. Hovy (2015), *Ontologically grounded multi-sense
representation learning*, NAACL; section 4.3 of the MUSE paper (Lee and Chen, EMNLP 2017).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from muse.base.checks import flag
from muse.errors import listed, quote
from muse.evaluation.protocol import SenseModel, SenseReader, Task, cosines
from muse.evaluation.provenance import source_name
from muse.evaluation.results import EvaluationResult
from muse.evaluation.task_data import as_items, repeats, said_repeats, spelling_hint
from muse.readers.questions import SynonymQuestion, read_synonyms, read_toefl

__all__ = ["SynonymTask", "evaluate_synonyms"]


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
        Look words up in lower case; False for a model whose words keep their capitals.

    Raises
    ------
    TypeError, ValueError
        If there are no questions, or something else among them; the message says which item.

    Notes
    -----
    A question that is given more than once counts each time, and a note says so, with its answers where these differ.

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
        self._fold: Callable[[str], str] = str.lower if flag("lowercase", lowercase) else str
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
        words = [(question.word, *question.candidates) for question in self.questions]
        hint = spelling_hint(model, words, bool(self.settings["lowercase"])) if left else ""
        if not answered:
            raise ValueError(
                f"none of the {len(items)} questions can be answered: unknown words "
                f"{listed(sorted({word for item in left for word in item['unknown']}))}{hint and f'. {hint}'}"
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
        notes += self._repeated() + ([hint] if hint else [])
        return EvaluationResult("synonym questions", "accuracy", summary, [], items, dict(self.settings), notes)

    def _repeated(self) -> list[str]:
        """A note of questions with the same candidates that are given again, each of which counts."""

        def folded(question: SynonymQuestion) -> tuple[str, frozenset[str]]:
            return self._fold(question.word), frozenset(map(self._fold, question.candidates))

        again = repeats((folded(q), q) for q in self.questions).values()
        told = [(same[0].word, [self._fold(q.candidates[q.answer]) for q in same]) for same in again]
        return said_repeats("questions", told)

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
    entries = list(source) if isinstance(source, Iterable) else source
    if isinstance(entries, list) and len(entries) == 2 and all(isinstance(name, str | os.PathLike) for name in entries):
        return read_toefl(*entries)
    found = as_items(entries, SynonymQuestion, "questions", "read_synonyms")
    if not found:
        raise ValueError("there are no questions")
    return found


def evaluate_synonyms(model: SenseModel, questions: Any, **options: Any) -> EvaluationResult:
    """Synonym selection in one call; ``questions`` and ``options`` as for :class:`SynonymTask`.

    Examples
    --------
    >>> print(evaluate_synonyms(model, ("toefl.qst", "toefl.ans")))  # doctest: +SKIP
    """
    return SynonymTask(questions, **options)(model)
