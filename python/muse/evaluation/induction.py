"""Word-sense induction: do the senses that a model selects match those that people marked?

Data and protocols: S. Manandhar, I. Klapaftis, D. Dligach, S. Pradhan (2010), *SemEval-2010 task 14: word sense
induction and disambiguation*; D. Jurgens and I. Klapaftis (2013), *SemEval-2013 task 13: word sense induction for
graded and non-graded senses*; C. Biemann (2012), *Turk bootstrap word sense inventory 2.0*; A. Panchenko et al.
(2018), *RUSSE'2018: a shared task on word sense induction for the Russian language*.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from muse.evaluation import clustering
from muse.evaluation.keys import Key, Occurrence, read_instances, read_key, read_table
from muse.evaluation.protocol import SenseModel, SenseReader, Task, senses_at
from muse.evaluation.results import EvaluationResult
from muse.evaluation.text import Tokenizer, tokenize

__all__ = ["InductionTask", "evaluate_induction", "score_key"]

HARD = ("v_measure", "paired_f", "b_cubed", "ari")
FUZZY = ("fuzzy_nmi", "fuzzy_b_cubed")
_UNANSWERED = "(unanswered)"

KeyLike = Mapping[str, Mapping[str, Mapping[str, float]]]


def _hard(senses: Mapping[str, float] | None) -> str:
    """The heaviest sense; senses that tie form a sense of their own, as in SemEval-2007 task 2."""
    if not senses:
        return _UNANSWERED
    heaviest = max(senses.values())
    return "+".join(sorted(sense for sense, weight in senses.items() if weight == heaviest))


def _score_word(gold: Mapping[str, Mapping[str, float]], system: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    true = [_hard(senses) for senses in gold.values()]
    induced = [_hard(system.get(name)) for name in gold]
    homogeneity, completeness, value = clustering.v_measure(true, induced)
    fuzzy = clustering.fuzzy_b_cubed(gold, system)
    return {
        "occurrences": len(gold),
        "answered": sum(bool(system.get(name)) for name in gold),
        "senses_gold": len(set(true)),
        "senses_system": len(set(induced) - {_UNANSWERED}),
        "homogeneity": homogeneity,
        "completeness": completeness,
        "v_measure": value,
        "paired_f": clustering.paired_f_score(true, induced).f,
        "b_cubed": clustering.b_cubed(true, induced).f,
        "ari": clustering.adjusted_rand(true, induced),
        "fuzzy_nmi": clustering.fuzzy_nmi(gold, system),
        "fuzzy_b_cubed": fuzzy.f,
        "fuzzy_precision": fuzzy.precision,
        "fuzzy_recall": fuzzy.recall,
    }


def _average(items: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Hard measures weighted by occurrences (SemEval-2010, RUSSE), fuzzy ones by word (SemEval-2013)."""
    sizes = np.array([item["occurrences"] for item in items], dtype=np.float64)
    mean = {name: float(np.average([item[name] for item in items], weights=sizes)) for name in HARD}
    mean["fuzzy_nmi"] = float(np.mean([item["fuzzy_nmi"] for item in items]))
    # The official scorer takes F of the mean precision and the mean recall, not the mean of F.
    precision = float(np.mean([item["fuzzy_precision"] for item in items]))
    recall = float(np.mean([item["fuzzy_recall"] for item in items]))
    mean["fuzzy_b_cubed"] = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return mean


def score_key(gold: KeyLike, system: KeyLike, *, score: str = "v_measure") -> EvaluationResult:
    """Compare an induced key with a gold key.

    Parameters
    ----------
    gold, system : mapping of word to mapping of occurrence to mapping of sense to weight
        As :func:`read_key` gives them. Words and occurrences that ``gold`` lacks are ignored.
    score : str
        Which measure is *the* score.

    Returns
    -------
    EvaluationResult
        ``v_measure``, ``paired_f``, ``b_cubed`` and ``ari`` compare the heaviest sense of each occurrence, averaged
        over words with their numbers of occurrences as weights; ``fuzzy_nmi`` and ``fuzzy_b_cubed`` use all senses
        with their weights, averaged over words. Occurrences without an answer are counted and noted. The hard measures
        put those of a word into one common cluster; the fuzzy ones give them no sense.

    Raises
    ------
    ValueError
        If the keys have no occurrence in common.
    """
    if score not in HARD + FUZZY:
        raise ValueError(f"score must be one of {', '.join(HARD + FUZZY)}, got {score!r}")
    items = [{"word": word, **_score_word(answers, system.get(word, {}))} for word, answers in gold.items()]
    occurrences = sum(item["occurrences"] for item in items)
    answered = sum(item["answered"] for item in items)
    if not answered:
        raise ValueError("the system key answers no occurrence of the gold key: do the words and names match?")
    mean = _average(items)
    summary: dict[str, Any] = {
        **mean,
        "words": len(items),
        "occurrences": occurrences,
        "answered": answered,
        "senses_per_word": float(np.mean([item["senses_system"] for item in items])),
    }
    notes: list[str] = []
    silent = [item["word"] for item in items if not item["answered"]]
    if answered < occurrences:
        notes.append(f"{occurrences - answered} of {occurrences} occurrences have no answer")
    if silent:
        notes.append(f"words without any answer: {', '.join(silent[:10])}{' ...' if len(silent) > 10 else ''}")
    settings = {"score": score, "hard_average": "occurrences", "fuzzy_average": "words"}
    return EvaluationResult("word-sense induction", score, summary, [], items, settings, notes)


class InductionTask(Task):
    """Sense induction on marked contexts; call it with a model.

    Parameters
    ----------
    occurrences : sequence of Occurrence
        The contexts. :meth:`from_semeval2013` and :meth:`from_table` read them from files.
    gold : key, optional
        The true senses; without it, those of the occurrences.
    target : {"lemma", "form"}
        Look up the lemma, put in place of the inflected form so that all occurrences share its senses; or the form that
        stands in the text, whose senses count as its own.
    graded : bool
        Answer with all senses whose probability is at least ``threshold`` times the largest, weighted by it, rather
        than with the most probable one.
    threshold : float
        See ``graded``.
    score : str
        Which measure is *the* score, see :func:`score_key`.

    Examples
    --------
    >>> task = InductionTask.from_semeval2013("semeval2013_task13")  # doctest: +SKIP
    >>> print(task(model))  # doctest: +SKIP
    """

    def __init__(
        self,
        occurrences: Sequence[Occurrence],
        gold: KeyLike | None = None,
        *,
        target: str = "lemma",
        graded: bool = False,
        threshold: float = 0.25,
        score: str = "v_measure",
    ) -> None:
        if target not in ("lemma", "form"):
            raise ValueError(f"target must be 'lemma' or 'form', got {target!r}")
        if score not in HARD + FUZZY:
            raise ValueError(f"score must be one of {', '.join(HARD + FUZZY)}, got {score!r}")
        if not 0 < threshold <= 1:
            raise ValueError(f"threshold must lie above 0 and not above 1, got {threshold}")
        self.occurrences = list(occurrences)
        self.gold: KeyLike = gold if gold is not None else _key((item, item.gold) for item in self.occurrences)
        if not self.gold:
            raise ValueError("no true senses: pass gold=, or occurrences that carry them")
        wanted = {(word, name) for word, answers in self.gold.items() for name in answers}
        # The released contexts hold a few that the gold key dropped.
        self.occurrences = [item for item in self.occurrences if (item.word, item.name) in wanted]
        self.settings: dict[str, Any] = {
            "target": target,
            "graded": graded,
            "threshold": threshold if graded else None,
            "score": score,
        }

    @classmethod
    def from_semeval2013(
        cls, directory: str | os.PathLike[str], *, key: str = "all", tokenizer: Tokenizer = tokenize, **options: Any
    ) -> InductionTask:
        """The test data of SemEval-2013 task 13 as released (``contexts/xml-format``, ``keys/gold``).

        Parameters
        ----------
        directory : path
            Where the release was unpacked.
        key : str
            Name of the gold key: ``"all"``, ``"nouns"``, ``"all.singlesense"``, ...
        tokenizer : callable
            How the contexts are tokenised.
        **options
            As for :class:`InductionTask`.
        """
        root = Path(directory)
        gold = root / "keys" / "gold" / f"{key}.key"
        return cls.from_files(root / "contexts" / "xml-format", gold, tokenizer=tokenizer, **options)

    @classmethod
    def from_files(
        cls,
        contexts: str | os.PathLike[str],
        key: str | os.PathLike[str],
        *,
        tokenizer: Tokenizer = tokenize,
        **options: Any,
    ) -> InductionTask:
        """XML contexts and a gold key, such as those of SemEval-2010 task 14.

        Parameters
        ----------
        contexts : path
            As for :func:`read_instances`: a file, or a directory of files.
        key : path
            The gold key, see :func:`read_key`.
        tokenizer : callable
            How the contexts are tokenised.
        **options
            As for :class:`InductionTask`.
        """
        return cls(read_instances(contexts, tokenizer), read_key(key), **options)

    @classmethod
    def from_table(
        cls, path: str | os.PathLike[str], *, tokenizer: Tokenizer = tokenize, **options: Any
    ) -> InductionTask:
        """Contexts and true senses from a table in the layout of RUSSE or TWSI, see :func:`read_table`."""
        return cls(read_table(path, tokenizer), **options)

    def _text(self, item: Occurrence) -> tuple[str | None, list[str]]:
        """The word to look up and its context, or ``None`` for a target that is not one token."""
        if item.form is None:
            return None, item.tokens
        if self.settings["target"] == "form":
            return item.form, item.tokens
        return item.lemma, [*item.tokens[: item.position], item.lemma, *item.tokens[item.position + 1 :]]

    def label(self, model: SenseModel) -> Key:
        """The senses that a model gives to the occurrences, as a key; occurrences of unknown words are left out."""
        words, texts = zip(*(self._text(item) for item in self.occurrences), strict=True)
        known = [i for i, word in enumerate(words) if word is not None and word in model]
        answers: dict[int, dict[str, float]] = {}
        if self.settings["graded"]:
            reader = SenseReader(model)
            for i in known:
                shares = reader.probabilities(words[i], texts[i], self.occurrences[i].position)
                shares = shares / shares.max()
                kept = np.flatnonzero(shares >= self.settings["threshold"])
                answers[i] = {f"{words[i]}#{sense}": float(shares[sense]) for sense in kept}
        else:
            chosen = senses_at(model, texts, {i: [self.occurrences[i].position] for i in known})
            answers = {i: {f"{words[i]}#{sense[0]}": 1.0} for i, sense in chosen.items() if sense[0] >= 0}
        return _key((self.occurrences[i], senses) for i, senses in answers.items())

    def __call__(self, model: SenseModel) -> EvaluationResult:
        """Score a model; see :func:`score_key`."""
        result = score_key(self.gold, self.label(model), score=self.settings["score"])
        result.settings = {**result.settings, **self.settings}
        return result


def _key(labelled: Iterable[tuple[Occurrence, Mapping[str, float]]]) -> Key:
    key: Key = {}
    for item, senses in labelled:
        if senses:
            key.setdefault(item.word, {})[item.name] = dict(senses)
    return key


def evaluate_induction(
    model: SenseModel, data: str | os.PathLike[str], key: str | os.PathLike[str] = "all", **options: Any
) -> EvaluationResult:
    """Sense induction in one call.

    Parameters
    ----------
    model : SenseModel
        The model.
    data : path
        The directory of SemEval-2013 task 13 as released; XML contexts of that task or of SemEval-2010 task 14, with
        their gold key as ``key``; or a table in the layout of RUSSE or TWSI, which has its own.
    key : str or path
        For the release of SemEval-2013 the name of its gold key; for XML contexts the file of theirs.
    **options
        As for :class:`InductionTask`.

    Examples
    --------
    >>> print(evaluate_induction(model, "semeval2013_task13"))  # doctest: +SKIP
    >>> print(evaluate_induction(model, "test_data/nouns", "unsup_eval/keys/all.key"))  # doctest: +SKIP
    """
    path = Path(data)
    if (path / "keys" / "gold").is_dir():
        return InductionTask.from_semeval2013(path, key=os.fspath(key), **options)(model)
    if path.is_dir() or path.suffix.lower() == ".xml":
        return InductionTask.from_files(path, key, **options)(model)
    return InductionTask.from_table(path, **options)(model)
