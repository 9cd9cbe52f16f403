"""Word in Context (WiC): does a word mean the same in two sentences?

Data: M. T. Pilehvar and J. Camacho-Collados (2019), *WiC: the word-in-context dataset for evaluating context-sensitive
meaning representations*, NAACL.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse.base.checks import number
from muse.corpus.tokens import Tokenizer, tokenize
from muse.errors import listed
from muse.evaluation.protocol import SenseModel, SenseReader, Task, check_selector, cosines
from muse.evaluation.provenance import source_name, tokenizer_name
from muse.evaluation.results import EvaluationResult
from muse.evaluation.task_data import as_items, repeats, said_repeats
from muse.readers.wic import WicPair, read_wic

__all__ = ["WicTask", "best_threshold", "evaluate_wic"]

HOW = ("expected_cosine", "same_sense", "max_sim_c", "usage_similarity")


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


class _Verdict(NamedTuple):
    """What a model says of a pair."""

    similarity: float
    match: bool  # of the most probable senses
    usage: float | None  # cosine of the two contexts, where the model has vectors of them


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
    """WiC with the threshold chosen on the development or training part; call it with a model.

    Parameters
    ----------
    dev : path or sequence of WicPair, or None
        What the threshold is chosen on: a ``*.data.txt`` file with its ``*.gold.txt`` beside it, or pairs already read.
        The rules of the task allow its development and its training part, never the test part. ``None`` only with
        ``threshold``.
    test : path or sequence of WicPair
        What is judged.
    how : {"expected_cosine", "same_sense", "max_sim_c", "usage_similarity"}
        What is compared with the threshold. With sense probabilities p and q of the two contexts: the mean cosine of
        the senses weighted by p_k q_l (AvgSimC); the probability that the sense is the same, sum of p_k q_k; the
        cosine of the two most probable senses; or the cosine of the two contexts themselves, for models that have
        vectors of them.
    threshold : float, optional
        Answer "same" from this similarity (that of ``how``) on, rather than choose it. The development part, if there
        is one, then only tells how right it is there.
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
    all. For models with vectors of contexts (``usage_vector``, see :class:`SenseModel`) stands there, too, what their
    cosine reaches with a threshold of its own from the same part: ``usage_accuracy``, ``usage_threshold`` and
    ``usage_dev_accuracy``.

    Best practice: decide on the part and on ``how`` before looking at the test part, and report both. The development
    part (638 pairs) was drawn as the test part was; the training part (5,428 pairs) has other words more often, but
    its threshold rests on eight times as many pairs. The two differ by less than a point as a rule, and so do two
    seeds of a model.
    """

    def __init__(
        self,
        dev: str | os.PathLike[str] | Sequence[WicPair] | None,
        test: str | os.PathLike[str] | Sequence[WicPair],
        *,
        how: str = "expected_cosine",
        threshold: float | None = None,
        target: str = "lemma",
        tokenizer: Tokenizer = tokenize,
    ) -> None:
        if how not in HOW:
            raise ValueError(f"how must be one of {', '.join(HOW)}, got {how!r}")
        if target not in ("lemma", "form"):
            raise ValueError(f"target must be 'lemma' or 'form', got {target!r}")
        if threshold is not None:
            threshold = number(-2, 2)("threshold", threshold)
        self.dev = [] if dev is None and threshold is not None else _part(dev, "dev", tokenizer)
        self.test = _part(test, "test", tokenizer)
        if not self.test or (not self.dev and dev is not None):
            raise ValueError("WiC needs pairs in both the development and the test part")
        self._notes = _repeated(self.dev, self.test)
        read = any(isinstance(part, str | os.PathLike) for part in (dev, test))
        self.settings: dict[str, Any] = {
            "data": [
                None if dev is None else source_name(dev, f"{len(self.dev)} pairs"),
                source_name(test, f"{len(self.test)} pairs"),
            ],
            "tokenizer": tokenizer_name(tokenizer) if read else None,
            "how": how,
            "threshold": threshold,
            "target": target,
            "dev": len(self.dev),
            "test": len(self.test),
        }

    def _judge(self, reader: SenseReader, pair: WicPair) -> _Verdict | None:
        """Score and whether the chosen senses match; ``None`` where a word is unknown."""
        if None in pair.forms:
            return None
        words: list[str] = []
        texts: list[list[str]] = []
        for form, context, position in zip(pair.forms, pair.contexts, pair.positions, strict=True):
            word = pair.lemma if self.settings["target"] == "lemma" else str(form)
            if word not in reader.model:
                return None
            words.append(word)
            texts.append([*context[:position], word, *context[position + 1 :]])
        p, q = (reader.probabilities(*asked) for asked in zip(words, texts, pair.positions, strict=True))
        usage = None
        if reader.has_usage_vectors:
            first, second = reader.usage_vectors(words, texts, pair.positions)
            usage = float(cosines(first[None], second[None])[0, 0])
        match = words[0] == words[1] and int(np.argmax(p)) == int(np.argmax(q))
        return _Verdict(self._similarity(reader, words, p, q, usage), match, usage)

    def _similarity(
        self,
        reader: SenseReader,
        words: Sequence[str],
        p: NDArray[np.float64],
        q: NDArray[np.float64],
        usage: float | None,
    ) -> float:
        """What `how` asks for."""
        if self.settings["how"] == "usage_similarity" and usage is not None:
            return usage
        if self.settings["how"] == "same_sense":
            return float(np.round(p @ q, 12)) if words[0] == words[1] else 0.0
        table = cosines(reader.senses(words[0]), reader.senses(words[1]))
        if self.settings["how"] == "max_sim_c":
            return float(table[np.argmax(p), np.argmax(q)])
        return float(np.round(p @ table @ q, 12))

    def __call__(self, model: SenseModel) -> EvaluationResult:
        """Score a model.

        Raises
        ------
        ValueError
            If no word of the development part is known, the model has no selector, or ``how="usage_similarity"`` and
            it has no vectors of contexts.
        """
        check_selector(model, "WiC")
        reader = SenseReader(model)
        if self.settings["how"] == "usage_similarity" and not reader.has_usage_vectors:
            raise ValueError(
                "this model has no vectors of contexts (usage_vector), which how='usage_similarity' compares; train "
                "one with sense trees, or ask for how='expected_cosine'"
            )
        judged = [(pair.same, self._judge(reader, pair)) for pair in self.dev]
        known = [(same, verdict) for same, verdict in judged if verdict is not None]
        if self.dev and not known:
            words = listed(dict.fromkeys(pair.lemma for pair in self.dev))
            raise ValueError(
                f"none of the words of the {len(self.dev)} development pairs is in the vocabulary: {words}. Does the "
                "tokeniser (tokenizer=) match the training text, capitals included?"
            )
        threshold, dev = _threshold([(same, v.similarity) for same, v in known], self.settings["threshold"])
        usual = [(same, v.usage) for same, v in known if v.usage is not None]
        by_usage = _threshold(usual, None) if usual else None
        items: list[dict[str, Any]] = []
        for pair in self.test:
            verdict = self._judge(reader, pair)
            item = {
                "word": pair.lemma,
                "same": pair.same,
                "known": verdict is not None,
                "similarity": None if verdict is None else verdict.similarity,
                "answer": verdict is not None and verdict.similarity >= threshold,
                "senses_match": verdict is not None and verdict.match,
            }
            if by_usage is not None:
                usage = None if verdict is None else verdict.usage
                item |= {"usage_similarity": usage, "usage_answer": usage is not None and usage >= by_usage[0]}
            items.append(item)
        return self._result(items, (threshold, dev), by_usage, len(known))

    def _result(
        self,
        items: list[dict[str, Any]],
        fitted: tuple[float, float | None],
        by_usage: tuple[float, float | None] | None,
        dev_known: int,
    ) -> EvaluationResult:
        covered = [item for item in items if item["known"]]
        share = sum(item["same"] for item in items) / len(items)
        threshold, dev = fitted

        def accuracy(rows: list[dict[str, Any]], answer: str) -> float | None:
            return sum(row[answer] == row["same"] for row in rows) / len(rows) if rows else None

        summary = {
            "accuracy": accuracy(items, "answer"),
            "accuracy_covered": accuracy(covered, "answer"),
            "sense_match": accuracy(items, "senses_match"),
        }
        if by_usage is not None:
            summary["usage_accuracy"] = accuracy(items, "usage_answer")
            summary["usage_accuracy_covered"] = accuracy(covered, "usage_answer")
        summary |= {"majority": max(share, 1 - share), "threshold": threshold, "dev_accuracy": dev}
        if by_usage is not None:
            summary |= {"usage_threshold": by_usage[0], "usage_dev_accuracy": by_usage[1]}
        summary |= {"pairs": len(items), "covered": len(covered)}
        notes = self._unknown(len(items) - len(covered), len(self.dev) - dev_known) + _one_answer(covered, threshold)
        return EvaluationResult("WiC", "accuracy", summary, [], items, dict(self.settings), [*notes, *self._notes])

    def _unknown(self, test: int, dev: int) -> list[str]:
        if not test and not dev:
            return []
        return [f"{test} test and {dev} dev pairs have an unknown word; test ones count as answered 'different'"]


def _threshold(known: Sequence[tuple[bool, float]], given: float | None) -> tuple[float, float | None]:
    """The threshold, given or the best for known pairs, and its accuracy on them, None where there are none."""
    if given is None:
        return best_threshold([score for _, score in known], [same for same, _ in known])
    return given, sum((score >= given) == same for same, score in known) / len(known) if known else None


def _one_answer(covered: Sequence[Mapping[str, Any]], threshold: float) -> list[str]:
    if len({item["answer"] for item in covered}) != 1:
        return []
    said = "same" if covered[0]["answer"] else "different"
    values = [item["similarity"] for item in covered]
    note = (
        f"all {len(covered)} known test pairs are answered {said!r} (similarities {min(values):.3f} to "
        f"{max(values):.3f}, threshold {threshold:.3f}): the accuracy is that of one answer"
    )
    return [note]


def evaluate_wic(
    model: SenseModel, directory: str | os.PathLike[str], *, fit: str = "dev", **options: Any
) -> EvaluationResult:
    """WiC in one call.

    Parameters
    ----------
    model : SenseModel
        The model.
    directory : path
        Holds ``dev/dev.data.txt``, ``train/train.data.txt`` and ``test/test.data.txt``, with gold, as released; the
        part that is not asked for may be missing.
    fit : {"dev", "train"}
        Which part the threshold is chosen on; see the notes of :class:`WicTask`.
    **options
        As for :class:`WicTask`.

    Raises
    ------
    FileNotFoundError, ValueError
        For missing or damaged files; if ``fit`` is another part.

    Examples
    --------
    >>> print(evaluate_wic(model, "WiC_dataset"))  # doctest: +SKIP
    >>> evaluate_wic(model, "WiC_dataset", fit="train")["usage_accuracy"]  # doctest: +SKIP
    0.615
    """
    if fit not in ("dev", "train"):
        raise ValueError(f"fit must be 'dev' or 'train', got {fit!r}: no threshold may be chosen on the test part")
    root = Path(directory)
    return WicTask(root / fit / f"{fit}.data.txt", root / "test" / "test.data.txt", **options)(model)
