"""Word in Context (WiC): does a word mean the same in two sentences?

Data: M. T. Pilehvar and J. Camacho-Collados (2019), *WiC: the word-in-context dataset for evaluating context-sensitive
meaning representations*, NAACL.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.corpus.tokens import Tokenizer, tokenize, tokens_of, word_of
from muse.errors import listed, quote
from muse.evaluation.protocol import SenseModel, SenseReader, Task, check_selector, cosines
from muse.evaluation.provenance import source_name, tokenizer_name
from muse.evaluation.results import EvaluationResult
from muse.evaluation.task_data import as_items, check_context, repeats, said_repeats
from muse.readers.lines import read_lines

__all__ = ["WicPair", "WicTask", "best_threshold", "evaluate_wic", "read_wic"]

_INDEX = re.compile("[0-9]{1,9}")
HOW = ("expected_cosine", "same_sense", "max_sim_c")


@dataclass(frozen=True)
class WicPair:
    """A word in two contexts.

    ``lemma`` is the word to look up, spelt as the model's words are; ``forms`` are the tokens in the text, ``None``
    where a target is not one token; ``contexts`` are lists of tokens, and ``positions`` the places of the forms.

    Raises
    ------
    TypeError, ValueError
        If a context is no list of tokens, or a known form's position is not in it.
    """

    lemma: str
    forms: tuple[str | None, str | None]
    contexts: tuple[list[str], list[str]]
    positions: tuple[int, int]
    same: bool

    def __post_init__(self) -> None:
        for form, tokens, position in zip(self.forms, self.contexts, self.positions, strict=True):
            check_context(tokens, position, form, f"the WiC pair of {self.lemma!r:.80}")

    @property
    def _places(self) -> tuple[str, frozenset[tuple[Any, ...]]]:
        """What is compared, in either order."""
        return self.lemma, frozenset(
            (tuple(tokens), at) for tokens, at in zip(self.contexts, self.positions, strict=True)
        )


def _context(text: str, index: int, place: str, tokenizer: Tokenizer) -> tuple[list[str], int, str | None]:
    pieces = text.split(" ")
    if not 0 <= index < len(pieces):
        raise ValueError(f"{place}: the target is word {index} of a sentence of {len(pieces)}: {quote(text)}")
    head = [token for piece in pieces[:index] for token in tokens_of(tokenizer, piece)]
    target = tokens_of(tokenizer, pieces[index])
    tail = [token for piece in pieces[index + 1 :] for token in tokens_of(tokenizer, piece)]
    return [*head, *target, *tail], len(head), target[0] if len(target) == 1 else None


def _lines(path: str | os.PathLike[str]) -> list[tuple[int, str]]:
    """The lines of a file without blank ones at its end; others count, since data and answers go line by line."""
    lines = list(read_lines(path))
    while lines and not lines[-1][1].strip():
        lines.pop()
    return lines


def read_wic(
    data: str | os.PathLike[str], gold: str | os.PathLike[str] | None = None, tokenizer: Tokenizer = tokenize
) -> list[WicPair]:
    """Read one part of WiC.

    Parameters
    ----------
    data : path
        A ``*.data.txt`` file: ``word <tab> part of speech <tab> index-index <tab> sentence <tab> sentence`` a line.
    gold : path, optional
        The ``*.gold.txt`` beside it, ``T`` or ``F`` a line; by default the file of that name in the same directory.
        Blank lines may stand at the end of both.
    tokenizer : callable
        How the sentences and the word are tokenised, which settles whether they keep their capitals.

    Raises
    ------
    FileNotFoundError, ValueError
        For missing or damaged files; the message names the file and the line.
    """
    if gold is None:
        path = Path(data)
        gold = path.with_name(path.name.replace(".data.", ".gold."))
        if gold == path:
            raise ValueError(f"{path} is not named *.data.txt: pass the answers as gold=")
    answers: list[bool] = []
    for number, line in _lines(gold):
        if line.strip() not in ("T", "F"):
            raise ValueError(f"{os.fspath(gold)}, line {number}: expected T or F, found {quote(line)}")
        answers.append(line.strip() == "T")
    pairs: list[WicPair] = []
    for number, line in _lines(data):
        place = f"{os.fspath(data)}, line {number}"
        fields = line.split("\t")
        indices = fields[2].split("-") if len(fields) == 5 else []
        if len(indices) != 2 or not all(_INDEX.fullmatch(index) for index in indices):
            raise ValueError(f"{place}: expected word, part of speech, index-index and two sentences between tabs")
        if len(pairs) == len(answers):
            raise ValueError(f"{os.fspath(gold)} has only {len(answers)} answers: is it the key of {os.fspath(data)}?")
        first = _context(fields[3], int(indices[0]), place, tokenizer)
        second = _context(fields[4], int(indices[1]), place, tokenizer)
        places = (first[1], second[1])
        lemma = word_of(tokenizer, fields[0])
        pairs.append(WicPair(lemma, (first[2], second[2]), (first[0], second[0]), places, answers[len(pairs)]))
    if len(pairs) != len(answers) or not pairs:
        raise ValueError(f"{os.fspath(gold)} has {len(answers)} answers for {len(pairs)} lines of {os.fspath(data)}")
    return pairs


def best_threshold(scores: Sequence[float] | NDArray[np.float64], same: Sequence[bool]) -> tuple[float, float]:
    """The threshold from which on ``score >= threshold`` should mean "same", and its accuracy.

    Candidates lie halfway between neighbouring scores and beyond both ends. Of those with the best accuracy the middle
    one is taken, which is the least tied to single pairs.

    Returns
    -------
    (float, float)
        Threshold and accuracy on the pairs given.
    """
    values = np.asarray(scores, dtype=np.float64)
    truth = np.asarray(same, dtype=bool)
    if values.shape != truth.shape or values.ndim != 1 or len(values) == 0:
        raise ValueError(f"expected as many scores as answers, and at least one, got {values.shape} and {truth.shape}")
    distinct = np.unique(values)
    edges = np.concatenate([[distinct[0] - 1], (distinct[1:] + distinct[:-1]) / 2, [distinct[-1] + 1]])
    order = np.argsort(values, kind="stable")
    below = np.searchsorted(values[order], edges, side="left")
    false_below = np.concatenate([[0], np.cumsum(~truth[order])])[below]
    true_above = truth.sum() - np.concatenate([[0], np.cumsum(truth[order])])[below]
    right = false_below + true_above
    best = np.flatnonzero(right == right.max())
    chosen = best[(len(best) - 1) // 2]
    return float(edges[chosen]), float(right[chosen] / len(values))


def _part(given: Any, name: str, tokenizer: Tokenizer) -> list[WicPair]:
    if isinstance(given, str | os.PathLike):
        return read_wic(given, tokenizer=tokenizer)
    return as_items(given, WicPair, name, "read_wic")


def _repeated(dev: Sequence[WicPair], test: Sequence[WicPair]) -> list[str]:
    """Notes of pairs that are given again, in either order: within a part, each counts; in both, they are no test."""
    notes: list[str] = []
    for name, part in (("dev", dev), ("test", test)):
        again = repeats((pair._places, pair) for pair in part).values()
        answers = [(pairs[0].lemma, ["same" if pair.same else "different" for pair in pairs]) for pairs in again]
        notes += said_repeats(f"{name} pairs", answers)
    known = {pair._places for pair in dev}
    if both := [pair.lemma for pair in test if pair._places in known]:
        notes.append(f"test pairs on which the threshold was chosen, as dev pairs: {len(both)} ({listed(both)})")
    return notes


class WicTask(Task):
    """WiC with the threshold chosen on the development part; call it with a model.

    Parameters
    ----------
    dev, test : path or sequence of WicPair
        ``*.data.txt`` files with their ``*.gold.txt`` beside them, or pairs already read.
    how : {"expected_cosine", "same_sense", "max_sim_c"}
        What is compared with the threshold. With sense probabilities p and q of the two contexts: the mean cosine of
        the senses weighted by p_k q_l (AvgSimC); the probability that the sense is the same, sum of p_k q_k; or the
        cosine of the two most probable senses.
    target : {"lemma", "form"}
        Look up the lemma, put in place of the inflected form so that both contexts are about the same senses; or the
        forms that stand in the text (for ``"same_sense"`` these must be equal).
    tokenizer : callable
        Used for paths; see :func:`read_wic`.

    Raises
    ------
    TypeError, ValueError
        If a part is empty or holds something else than pairs; the message says which item.

    Notes
    -----
    Where all known test pairs get one answer, a note says so: one sense a word, or nothing that the development part
    could separate. Notes also name pairs that are given again, and test pairs that are in the development part.

    Pairs whose word is unknown cannot be judged; they are answered "different" and counted. Beside the accuracy with
    the threshold stands ``sense_match``: "same" exactly when the most probable senses are the same, no threshold at
    all.
    """

    def __init__(
        self,
        dev: str | os.PathLike[str] | Sequence[WicPair],
        test: str | os.PathLike[str] | Sequence[WicPair],
        *,
        how: str = "expected_cosine",
        target: str = "lemma",
        tokenizer: Tokenizer = tokenize,
    ) -> None:
        if how not in HOW:
            raise ValueError(f"how must be one of {', '.join(HOW)}, got {how!r}")
        if target not in ("lemma", "form"):
            raise ValueError(f"target must be 'lemma' or 'form', got {target!r}")
        self.dev = _part(dev, "dev", tokenizer)
        self.test = _part(test, "test", tokenizer)
        if not self.dev or not self.test:
            raise ValueError("WiC needs pairs in both the development and the test part")
        self._notes = _repeated(self.dev, self.test)
        read = any(isinstance(part, str | os.PathLike) for part in (dev, test))
        self.settings = {
            "data": [source_name(dev, f"{len(self.dev)} pairs"), source_name(test, f"{len(self.test)} pairs")],
            "tokenizer": tokenizer_name(tokenizer) if read else None,
            "how": how,
            "target": target,
            "dev": len(self.dev),
            "test": len(self.test),
        }

    def _judge(self, reader: SenseReader, pair: WicPair) -> tuple[float, bool] | None:
        """Score and whether the chosen senses match; ``None`` where a word is unknown."""
        if None in pair.forms:
            return None
        words: list[str] = []
        shares: list[NDArray[np.float64]] = []
        for form, context, position in zip(pair.forms, pair.contexts, pair.positions, strict=True):
            word = pair.lemma if self.settings["target"] == "lemma" else str(form)
            if word not in reader.model:
                return None
            words.append(word)
            shares.append(reader.probabilities(word, [*context[:position], word, *context[position + 1 :]], position))
        p, q = shares
        match = words[0] == words[1] and int(np.argmax(p)) == int(np.argmax(q))
        if self.settings["how"] == "same_sense":
            return (float(np.round(p @ q, 12)) if words[0] == words[1] else 0.0), match
        table = cosines(reader.senses(words[0]), reader.senses(words[1]))
        if self.settings["how"] == "max_sim_c":
            return float(table[np.argmax(p), np.argmax(q)]), match
        return float(np.round(p @ table @ q, 12)), match

    def __call__(self, model: SenseModel) -> EvaluationResult:
        """Score a model.

        Raises
        ------
        ValueError
            If no word of the development part is known, or the model has no selector.
        """
        check_selector(model, "WiC")
        reader = SenseReader(model)
        judged = [(pair, self._judge(reader, pair)) for pair in self.dev]
        known = [(pair.same, verdict[0]) for pair, verdict in judged if verdict is not None]
        if not known:
            words = listed(dict.fromkeys(pair.lemma for pair in self.dev))
            raise ValueError(
                f"none of the words of the {len(self.dev)} development pairs is in the vocabulary: {words}. Does the "
                "tokeniser (tokenizer=) match the training text, capitals included?"
            )
        threshold, dev_accuracy = best_threshold([score for _, score in known], [same for same, _ in known])
        items: list[dict[str, Any]] = []
        for pair in self.test:
            verdict = self._judge(reader, pair)
            items.append(
                {
                    "word": pair.lemma,
                    "same": pair.same,
                    "known": verdict is not None,
                    "similarity": None if verdict is None else verdict[0],
                    "answer": verdict is not None and verdict[0] >= threshold,
                    "senses_match": verdict is not None and verdict[1],
                }
            )
        return self._result(items, threshold, dev_accuracy, len(known))

    def _result(self, items: list[dict[str, Any]], threshold: float, dev: float, dev_known: int) -> EvaluationResult:
        covered = [item for item in items if item["known"]]
        share = sum(item["same"] for item in items) / len(items)

        def accuracy(rows: list[dict[str, Any]], answer: str) -> float | None:
            return sum(row[answer] == row["same"] for row in rows) / len(rows) if rows else None

        summary = {
            "accuracy": accuracy(items, "answer"),
            "accuracy_covered": accuracy(covered, "answer"),
            "sense_match": accuracy(items, "senses_match"),
            "majority": max(share, 1 - share),
            "threshold": threshold,
            "dev_accuracy": dev,
            "pairs": len(items),
            "covered": len(covered),
        }
        notes = []
        if len(covered) < len(items) or dev_known < len(self.dev):
            notes.append(
                f"{len(items) - len(covered)} test and {len(self.dev) - dev_known} dev pairs have an unknown word; "
                "test ones count as answered 'different'"
            )
        if len({item["answer"] for item in covered}) == 1:
            said = "same" if covered[0]["answer"] else "different"
            values = [item["similarity"] for item in covered]
            notes.append(
                f"all {len(covered)} known test pairs are answered {said!r} (similarities {min(values):.3f} to "
                f"{max(values):.3f}, threshold {threshold:.3f}): the accuracy is that of one answer"
            )
        return EvaluationResult("WiC", "accuracy", summary, [], items, dict(self.settings), [*notes, *self._notes])


def evaluate_wic(model: SenseModel, directory: str | os.PathLike[str], **options: Any) -> EvaluationResult:
    """WiC in one call: ``directory`` holds ``dev/dev.data.txt`` and ``test/test.data.txt``, with gold, as released."""
    root = Path(directory)
    return WicTask(root / "dev" / "dev.data.txt", root / "test" / "test.data.txt", **options)(model)
