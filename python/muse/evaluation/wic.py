"""Word in Context (WiC): does a word mean the same in two sentences?

Data: M. T. Pilehvar and J. Camacho-Collados (2019), *WiC: the word-in-context dataset for evaluating context-sensitive
meaning representations*, NAACL.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.corpus.tokens import Tokenizer, tokenize
from muse.errors import listed
from muse.evaluation.protocol import SenseModel, SenseReader, Task, check_selector, cosines
from muse.evaluation.provenance import source_name, tokenizer_name
from muse.evaluation.results import EvaluationResult
from muse.evaluation.task_data import as_items, repeats, said_repeats
from muse.readers.wic import WicPair, read_wic

__all__ = ["WicTask", "best_threshold", "evaluate_wic"]

HOW = ("expected_cosine", "same_sense", "max_sim_c")


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
        again = repeats((pair.places, pair) for pair in part).values()
        answers = [(pairs[0].lemma, ["same" if pair.same else "different" for pair in pairs]) for pairs in again]
        notes += said_repeats(f"{name} pairs", answers)
    known = {pair.places for pair in dev}
    if both := [pair.lemma for pair in test if pair.places in known]:
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
