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
from typing import Any, Self

import numpy as np

from muse.base.checks import flag, number, optional
from muse.corpus.tokens import Tokenizer, tokenize
from muse.errors import listed
from muse.evaluation import clustering
from muse.evaluation.protocol import SenseModel, SenseReader, Task, check_selector, sense_numbers, senses_at
from muse.evaluation.provenance import source_name, tokenizer_name
from muse.evaluation.results import EvaluationResult
from muse.evaluation.task_data import as_items
from muse.readers.instances import is_xml, read_instances
from muse.readers.key_tables import read_table
from muse.readers.keys import Key, Occurrence, as_key, conflict, make_key

__all__ = ["InductionTask", "evaluate_induction", "score_key"]

HARD = ("v_measure", "paired_f", "b_cubed", "ari")
FUZZY = ("fuzzy_nmi", "fuzzy_b_cubed")
_UNANSWERED = "(unanswered)"
_ONE = "one sense a word"

KeyLike = Mapping[str, Mapping[str, Mapping[str, float]]] | str | os.PathLike[str]


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
    gold, system : path, or mapping of word to mapping of occurrence to mapping of sense to weight
        Files for :func:`read_key`, or keys as it and :func:`make_key` give them. Words and occurrences that ``gold``
        lacks are ignored.
    score : str
        Which measure is *the* score.

    Returns
    -------
    EvaluationResult
        ``v_measure``, ``paired_f``, ``b_cubed`` and ``ari`` compare the heaviest sense of each occurrence, averaged
        over words with their numbers of occurrences as weights; ``fuzzy_nmi`` and ``fuzzy_b_cubed`` use all senses
        with their weights, averaged over words. Occurrences without an answer are counted and noted. The hard measures
        put those of a word into one common cluster; the fuzzy ones give them no sense. ``senses_per_word`` is the mean
        number of senses answered of the words that have an answer.

    Raises
    ------
    TypeError, ValueError
        If one is no key, or they have no occurrence in common.
    """
    if score not in HARD + FUZZY:
        raise ValueError(f"score must be one of {', '.join(HARD + FUZZY)}, got {score!r}")
    true, induced = as_key(gold, "gold key"), as_key(system, "system key", gaps=True)
    result = _compare(true, induced, score)
    result.settings = {"gold": source_name(gold, "given"), "system": source_name(system, "given"), **result.settings}
    return result


def _compare(gold: Key, system: Key, score: str) -> EvaluationResult:
    def scored(key: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[dict[str, Any]]:
        return [{"word": word, **_score_word(answers, key.get(word, {}))} for word, answers in gold.items()]

    items = scored(system)
    occurrences = sum(item["occurrences"] for item in items)
    answered = sum(item["answered"] for item in items)
    if not answered:
        raise ValueError("the system key answers no occurrence of the gold key: do the words and names match?")
    mean = _average(items)
    senses = [item["senses_system"] for item in items if item["answered"]]
    summary: dict[str, Any] = {
        **mean,
        "words": len(items),
        "occurrences": occurrences,
        "answered": answered,
        "senses_per_word": float(np.mean(senses)),
    }
    notes: list[str] = []
    silent = [item["word"] for item in items if not item["answered"]]
    if answered < occurrences:
        notes.append(f"{occurrences - answered} of {occurrences} occurrences have no answer")
    if silent:
        notes.append(f"words without any answer: {listed(silent)}")
    one = _average(scored({word: {name: {_ONE: 1.0} for name in answers} for word, answers in gold.items()}))
    one["senses_per_word"] = 1.0
    table = [{"measure": name, "value": value, _ONE: one.get(name)} for name, value in summary.items()]
    settings = {"score": score, "hard_average": "occurrences", "fuzzy_average": "words"}
    return EvaluationResult("word-sense induction", score, summary, table, items, settings, notes)


class InductionTask(Task):
    """Sense induction on marked contexts; call it with a model.

    Parameters
    ----------
    occurrences : sequence of Occurrence
        The contexts. :meth:`from_semeval2013` and :meth:`from_table` read them from files.
    gold : key or path, optional
        The true senses, see :func:`score_key`; without it, those of the occurrences.
    target : {"lemma", "form"}
        Look up the lemma, put in place of the inflected form so that all occurrences share its senses; or the form that
        stands in the text, whose senses count as its own.
    graded : bool
        Answer with all senses whose probability is at least ``threshold`` times the largest, weighted by it, rather
        than with the most probable one.
    threshold : float
        See ``graded``.
    temperature : float or None
        Graded answers are written at this temperature: a model's probabilities p are raised to the power
        ``model.sense_temperature / temperature``, and add up to 1 again. Probabilities that say how sure a model is are
        softer than the weights that annotators give. None, and models that name no ``sense_temperature``: as they are.
    score : str
        Which measure is *the* score, see :func:`score_key`.

    Raises
    ------
    TypeError, ValueError
        If there are no occurrences or no true senses, the two have no occurrence in common, or one name stands for
        different ones.

    Notes
    -----
    What is left out or cannot be answered is counted in the notes of the result: repeated occurrences, of which the
    first counts; those without a true sense; those of the gold key without a context; targets that are not one token.

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
        temperature: float | None = 0.05,
        score: str = "v_measure",
    ) -> None:
        if target not in ("lemma", "form"):
            raise ValueError(f"target must be 'lemma' or 'form', got {target!r}")
        if score not in HARD + FUZZY:
            raise ValueError(f"score must be one of {', '.join(HARD + FUZZY)}, got {score!r}")
        number(0, 1, above=True)("threshold", threshold)
        flag("graded", graded)
        temperature = optional(number(0, 1e6, above=True))("temperature", temperature)
        occurrences = as_items(occurrences, Occurrence, "occurrences", "read_instances or read_table")
        given = _distinct(occurrences)
        self.gold: Key = make_key(given.values()) if gold is None else as_key(gold, "gold key")
        if not self.gold:
            raise ValueError("no true senses: pass gold=, or occurrences that carry them")
        wanted = dict.fromkeys((word, name) for word, answers in self.gold.items() for name in answers)
        self.occurrences = [item for place, item in given.items() if place in wanted]
        if not self.occurrences:
            raise ValueError(
                f"none of the {len(given)} contexts is in the gold key: do the two belong together? The contexts begin "
                f"with {_named(list(given)[:1])}, the key with {_named(list(wanted)[:1])}"
            )
        self._notes = _left_out(len(occurrences) - len(given), given, wanted, self.occurrences, gold is None)
        self.settings: dict[str, Any] = {
            "data": f"{len(occurrences)} occurrences",
            "key": "of the occurrences" if gold is None else source_name(gold, "given"),
            "tokenizer": None,
            "target": target,
            "graded": graded,
            "threshold": threshold if graded else None,
            "temperature": temperature if graded else None,
            "score": score,
        }

    @classmethod
    def from_semeval2013(
        cls,
        directory: str | os.PathLike[str],
        *,
        key: str | os.PathLike[str] = "all",
        tokenizer: Tokenizer = tokenize,
        **options: Any,
    ) -> Self:
        """The test data of SemEval-2013 task 13 as released (``contexts/xml-format``, ``keys/gold``).

        Parameters
        ----------
        directory : path
            Where the release was unpacked.
        key : str or path
            Name of the gold key: ``"all"``, ``"nouns"``, ``"all.singlesense"``, ..., with ``.key`` or
            without; or the path of another key.
        tokenizer : callable
            How the contexts are tokenised.
        **options
            As for :class:`InductionTask`.
        """
        root = Path(directory)
        gold = _gold_key(root / "keys" / "gold", key)
        task = cls.from_files(root / "contexts" / "xml-format", gold, tokenizer=tokenizer, **options)
        return task._read_from(root, tokenizer)

    @classmethod
    def from_files(
        cls,
        contexts: str | os.PathLike[str],
        key: str | os.PathLike[str],
        *,
        tokenizer: Tokenizer = tokenize,
        **options: Any,
    ) -> Self:
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
        return cls(read_instances(contexts, tokenizer), key, **options)._read_from(contexts, tokenizer)

    @classmethod
    def from_table(cls, path: str | os.PathLike[str], *, tokenizer: Tokenizer = tokenize, **options: Any) -> Self:
        """Contexts and true senses from a table in the layout of RUSSE or TWSI, see :func:`read_table`."""
        return cls(read_table(path, tokenizer), **options)._read_from(path, tokenizer)

    def _read_from(self, data: str | os.PathLike[str], tokenizer: Tokenizer) -> Self:
        """Note in the settings what the occurrences were read from, and how they were tokenised."""
        self.settings.update(data=source_name(data, ""), tokenizer=tokenizer_name(tokenizer))
        return self

    def _word(self, item: Occurrence) -> str | None:
        """The word to look up, or ``None`` for a target that is not one token."""
        return None if item.form is None else item.form if self.settings["target"] == "form" else item.lemma

    def _power(self, model: SenseModel) -> float:
        """What probabilities are raised to; 1 where the model or the task says no temperature."""
        own, wanted = getattr(model, "sense_temperature", None), self.settings["temperature"]
        if own is None or wanted is None:
            return 1.0
        return float(number(0, 1e6, above=True)("sense_temperature", own) / wanted)

    def label(self, model: SenseModel) -> Key:
        """The senses that a model gives to the occurrences, as a key; occurrences of unknown words are left out.

        Raises
        ------
        ValueError
            If the model has no selector.
        """
        check_selector(model, "sense induction")
        words = [self._word(item) for item in self.occurrences]
        known = [i for i, word in enumerate(words) if word is not None and word in model]
        texts: list[list[str]] = [[]] * len(words)
        for i in known:  # the word looked up stands in the place of its form
            item = self.occurrences[i]
            texts[i] = [*item.tokens[: item.position], str(words[i]), *item.tokens[item.position + 1 :]]
        answers: dict[int, dict[str, float]] = {}
        if self.settings["graded"]:
            reader, power = SenseReader(model), self._power(model)
            for i in known:
                shares = reader.probabilities(str(words[i]), texts[i], self.occurrences[i].position)
                shares = (shares / shares.max()) ** power
                kept = np.flatnonzero(shares >= self.settings["threshold"])
                names = sense_numbers(model, str(words[i]))
                answers[i] = {f"{words[i]}#{names[sense]}": float(shares[sense]) for sense in kept}
        else:
            chosen = senses_at(model, texts, {i: [self.occurrences[i].position] for i in known})
            answers = {i: {f"{words[i]}#{sense[0]}": 1.0} for i, sense in chosen.items() if sense[0] >= 0}
        key: Key = {}
        for i, senses in answers.items():
            key.setdefault(self.occurrences[i].word, {})[self.occurrences[i].name] = senses
        return key

    def __call__(self, model: SenseModel) -> EvaluationResult:
        """Score a model; see :func:`score_key`.

        Raises
        ------
        ValueError
            If the model knows none of the words, or has no selector.
        """
        answers = self.label(model)
        words = [word for item in self.occurrences if (word := self._word(item)) is not None]
        unknown = dict.fromkeys(word for word in words if word not in model)
        if not answers:
            found = f"not in the vocabulary: {listed(unknown)}" if unknown else "no target is one token"
            raise ValueError(
                f"the model can answer none of the {len(self.occurrences)} occurrences ({found}). Is it lower-cased, "
                "or its min_count too high? Does the tokeniser match the training text?"
            )
        result = _compare(self.gold, answers, self.settings["score"])
        result.settings = {**result.settings, **self.settings}
        words_left = [f"not in the vocabulary: {listed(unknown)}"] if unknown else []
        result.notes = [*self._notes, *words_left, *result.notes]
        return result


def _distinct(occurrences: Sequence[Occurrence]) -> dict[tuple[str, str], Occurrence]:
    """Occurrences by word and name, the first of those that are given again."""
    if not occurrences:
        raise ValueError("there are no occurrences to label")
    found: dict[tuple[str, str], Occurrence] = {}
    for index, item in enumerate(occurrences):
        if different := conflict(found.setdefault((item.word, item.name), item), item):
            raise ValueError(
                f"occurrence {index}, {_named([(item.word, item.name)])}, was given before with {different}"
            )
    return found


def _named(places: Iterable[tuple[str, str]], most: int = 5) -> str:
    """Occurrences in a message; their names mostly hold their words."""
    names = [str(name) if str(name).startswith(word) else f"{word} {name}" for word, name in places]
    return listed(names, most)


def _left_out(
    repeated: int,
    given: Mapping[tuple[str, str], Occurrence],
    wanted: Mapping[tuple[str, str], Any],
    kept: Sequence[Occurrence],
    own: bool,
) -> list[str]:
    """Notes of what is not scored as it was given."""
    groups = {
        f"{'without a true sense' if own else 'that are not in the gold key'}, left out": given.keys() - wanted.keys(),
        "of the gold key without a context, unanswered": wanted.keys() - given.keys(),
        "without a target that is one token, unanswered": {
            (item.word, item.name) for item in kept if item.form is None
        },
    }
    notes = [f"occurrences that repeat an earlier one, left out: {repeated}"] if repeated else []
    order = {**given, **wanted}
    for said, places in groups.items():
        if places:
            names = _named(place for place in order if place in places)
            notes.append(f"occurrences {said}: {len(places)} ({names})")
    return notes


def _gold_key(folder: Path, key: str | os.PathLike[str]) -> Path:
    """A key of the release of SemEval-2013 by its name, or one elsewhere by its path."""
    name = os.fspath(key)
    for path in (folder / f"{name}.key", folder / name, Path(key)):
        if path.is_file():
            return path
    there = listed(sorted(path.name.removesuffix(".key") for path in folder.glob("*.key")), 12)
    raise FileNotFoundError(f"no gold key {name!r}: {folder} has {there or 'none'}. Give one of these, or a path")


def evaluate_induction(
    model: SenseModel, data: str | os.PathLike[str], key: str | os.PathLike[str] | None = None, **options: Any
) -> EvaluationResult:
    """Sense induction in one call.

    Parameters
    ----------
    model : SenseModel
        The model.
    data : path
        The directory of SemEval-2013 task 13 as released; XML contexts of that task or of SemEval-2010 task 14, with
        their gold key as ``key``; or a table in the layout of RUSSE or TWSI, which has its own.
    key : str or path, optional
        For the release of SemEval-2013 the name of its gold key, ``"all"`` by default, or a path; for XML contexts the
        file of theirs; for a table a key in place of its own senses.
    **options
        As for :class:`InductionTask`.

    Raises
    ------
    FileNotFoundError, ValueError
        For missing or damaged files; if XML contexts come without a key.

    Examples
    --------
    >>> print(evaluate_induction(model, "semeval2013_task13"))  # doctest: +SKIP
    >>> print(evaluate_induction(model, "test_data/nouns", "unsup_eval/keys/all.key"))  # doctest: +SKIP
    """
    path = Path(data)
    if (path / "keys" / "gold").is_dir():
        return InductionTask.from_semeval2013(path, key="all" if key is None else key, **options)(model)
    if path.is_dir() or is_xml(path):
        if key is None:
            raise ValueError(f"the contexts in {path} need their gold key: pass key='...', the path of its file")
        return InductionTask.from_files(path, key, **options)(model)
    return InductionTask.from_table(path, **(options if key is None else {**options, "gold": key}))(model)
