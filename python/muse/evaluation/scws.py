"""Similarity of words in context: Stanford's Contextual Word Similarities (SCWS).

Data: E. H. Huang, R. Socher, C. D. Manning, A. Y. Ng (2012), *Improving word representations via global context and
multiple word prototypes*, ACL. Measures: J. Reisinger and R. J. Mooney (2010), *Multi-prototype vector-space models of
word meaning*, NAACL; section 4.2 of the MUSE paper (Lee and Chen, EMNLP 2017).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.corpus.tokens import Tokenizer, tokenize
from muse.errors import listed
from muse.evaluation.protocol import SenseModel, SenseReader, Task, check_selector, cosines
from muse.evaluation.provenance import source_name, tokenizer_name
from muse.evaluation.results import EvaluationResult
from muse.evaluation.stats import bootstrap_options, correlate
from muse.evaluation.task_data import as_items, repeats, said_repeats
from muse.readers.scws import ScwsPair, read_scws

__all__ = ["ScwsTask", "evaluate_scws"]

CONTEXTUAL = ("MaxSimC", "AvgSimC")
MEASURES = (*CONTEXTUAL, "MaxSim", "AvgSim", "globalSim")
CONTEXTS = "contexts"  # cosine of the two contexts
WITH_CONTEXTS = "AvgSimC + contexts"
_CONTEXT_WEIGHT = 0.2


class ScwsTask(Task):
    """Contextual word similarity; call it with a model.

    For a pair with sense probabilities p and q in context and unit sense vectors a_k and b_l,
    MaxSimC is the cosine of the two most probable senses, AvgSimC the mean of all cosines weighted by p_k q_l, MaxSim
    the largest cosine, AvgSim the plain mean, and globalSim the cosine of the word-level vectors (``model.wv``). Each
    is compared with the human ratings by Spearman's correlation.

    For models with vectors of contexts (``usage_vector``, see :class:`SenseModel`) there are two more: ``contexts``,
    the cosine of the two contexts, which knows nothing of the words, and ``AvgSimC + contexts``, AvgSimC and a fifth of
    it. Over the pairs that are scored, both have mean 0 and standard deviation 1 before they are added. The fifth was
    chosen on this set: from a tenth to a half little changes.

    Parameters
    ----------
    pairs : path or sequence of ScwsPair
        The official ``ratings.txt``, or pairs already read.
    tokenizer : callable
        Used when ``pairs`` is a path.
    score : str
        Which measure is *the* score: ``"MaxSimC"``, ``"AvgSimC"``, ``"MaxSim"``, ``"AvgSim"``, ``"globalSim"``,
        ``"contexts"`` or ``"AvgSimC + contexts"``.
    resamples, confidence, seed : int, float, int
        Of the bootstrap intervals, see :func:`bootstrap_spearman`; ``resamples=0`` leaves them out, which is faster
        during training.

    Raises
    ------
    TypeError, ValueError
        If pairs or options are not what they must be; the message says which.

    Examples
    --------
    >>> task = ScwsTask("ratings.txt")  # doctest: +SKIP
    >>> print(task(model))  # doctest: +SKIP
    """

    def __init__(
        self,
        pairs: str | os.PathLike[str] | Sequence[ScwsPair],
        *,
        tokenizer: Tokenizer = tokenize,
        score: str = "MaxSimC",
        resamples: int = 1000,
        confidence: float = 0.95,
        seed: int = 0,
    ) -> None:
        if score not in (*MEASURES, CONTEXTS, WITH_CONTEXTS):
            raise ValueError(f"score must be one of {', '.join((*MEASURES, CONTEXTS, WITH_CONTEXTS))}, got {score!r}")
        if isinstance(pairs, str | os.PathLike):
            self.pairs, data = read_scws(pairs, tokenizer), source_name(pairs, "")
        else:
            self.pairs = as_items(pairs, ScwsPair, "pairs", "read_scws")
            data = f"{len(self.pairs)} pairs"
        again = repeats((pair.places, pair) for pair in self.pairs).values()
        told = [(f"pair {' and '.join(p.number for p in same)}", [p.rating for p in same]) for same in again]
        self._notes = said_repeats("pairs with the same contexts", told)
        self.settings: dict[str, Any] = {
            "data": data,
            "tokenizer": tokenizer_name(tokenizer) if isinstance(pairs, str | os.PathLike) else None,
            "score": score,
            **bootstrap_options(resamples, confidence, seed),
        }

    def _reason(self, model: SenseModel, pair: ScwsPair) -> str | None:
        for surface, word in zip(pair.surfaces, pair.words, strict=True):
            if word is None:
                return f"not one token: {surface}"
            if word not in model:
                return f"not in the vocabulary: {word}"
        return None

    def __call__(self, model: SenseModel) -> EvaluationResult:
        """Score a model.

        Raises
        ------
        ValueError
            If fewer than two pairs can be scored, or the model cannot give the measure that is the score.
        """
        reader = SenseReader(model)
        contextual = bool(getattr(model, "has_selector", True))
        score = self.settings["score"]
        if score in (*CONTEXTUAL, WITH_CONTEXTS):
            check_selector(model, score, ". Or ask for score='MaxSim', which needs none")
        if score in (CONTEXTS, WITH_CONTEXTS) and not reader.has_usage_vectors:
            raise ValueError(
                f"{score!r} needs a model with vectors of contexts (usage_vector), as one with sense trees"
            )
        reasons = [self._reason(model, pair) for pair in self.pairs]
        known = [pair for pair, reason in zip(self.pairs, reasons, strict=True) if reason is None]
        similarities = _similarities(reader, known, contextual)
        measures: tuple[str, ...] = MEASURES
        if reader.has_usage_vectors and len(known) > 1:
            measures = (*MEASURES, CONTEXTS, *([WITH_CONTEXTS] if contextual else []))
            similarities = iter(_with_contexts(list(similarities), _usage_cosines(reader, known)))
        items: list[dict[str, Any]] = []
        for pair, reason in zip(self.pairs, reasons, strict=True):
            row = {"pair": pair.number, "word1": pair.surfaces[0], "word2": pair.surfaces[1], "rating": pair.rating}
            scores = dict.fromkeys(measures) if reason else next(similarities)
            items.append({**row, **scores, "skipped": reason})
        return self._result(items, measures)

    def _result(self, items: list[dict[str, Any]], measures: Sequence[str]) -> EvaluationResult:
        skipped = [item for item in items if item["skipped"]]
        if len(items) - len(skipped) < 2:
            raise ValueError(
                f"only {len(items) - len(skipped)} of {len(items)} SCWS pairs can be scored; first reason: "
                f"{skipped[0]['skipped'] if skipped else 'too few pairs'}. Does the tokeniser match the training text?"
            )
        summary: dict[str, Any] = {}
        table: list[dict[str, Any]] = []
        notes = list(self._notes)
        for measure in measures:
            scored = [item for item in items if item[measure] is not None]
            row: dict[str, Any] = {"rho": None, "low": None, "high": None, "pairs": len(scored)}
            if len(scored) > 1:
                scores, ratings = ([item[column] for item in scored] for column in (measure, "rating"))
                row = correlate(measure, scores, ratings, self.settings, notes)
            summary[measure] = row["rho"]
            table.append({"measure": measure, **row})
        summary["pairs"] = len(items)
        summary["scored"] = len(items) - len(skipped)
        summary["skipped"] = len(skipped)
        if skipped:
            notes.append(f"{len(skipped)} of {len(items)} pairs skipped: {_reasons(skipped)}")
        return EvaluationResult("SCWS", self.settings["score"], summary, table, items, dict(self.settings), notes)


def _reasons(skipped: Iterable[dict[str, Any]]) -> str:
    """Each reason once, with the words that it is so of."""
    words: dict[str, set[str]] = {}
    for item in skipped:
        reason, _, word = str(item["skipped"]).partition(": ")
        words.setdefault(reason, set()).add(word)
    return "; ".join(f"{reason}: {listed(sorted(words[reason]))}" for reason in sorted(words))


def _similarities(
    reader: SenseReader, pairs: Sequence[ScwsPair], contextual: bool
) -> Iterator[dict[str, float | None]]:
    """The measures of pairs of known words; the model is asked about all contexts at once."""
    words = [word for pair in pairs for word in pair.words if word is not None]
    asked: list[NDArray[np.float64]] = []
    if contextual:
        contexts = [context for pair in pairs for context in pair.contexts]
        asked = reader.probabilities_batch(words, contexts, [place for pair in pairs for place in pair.positions])
    for i in range(0, len(words), 2):
        first, second = words[i : i + 2]
        table = cosines(reader.senses(first), reader.senses(second))
        values: dict[str, float | None] = {
            "MaxSimC": None,
            "AvgSimC": None,
            "MaxSim": float(table.max()),
            "AvgSim": float(table.mean()),
            "globalSim": reader.word_cosine(first, second),
        }
        if contextual:
            p, q = asked[i : i + 2]
            values["MaxSimC"] = float(table[np.argmax(p), np.argmax(q)])
            values["AvgSimC"] = float(p @ table @ q)
        yield values


def _usage_cosines(reader: SenseReader, pairs: Sequence[ScwsPair]) -> list[float]:
    """Cosine of the two contexts of each pair of known words."""
    vectors = reader.usage_vectors(
        [str(word) for pair in pairs for word in pair.words],
        [context for pair in pairs for context in pair.contexts],
        [place for pair in pairs for place in pair.positions],
    )
    return [float(value) for value in np.round((vectors[::2] * vectors[1::2]).sum(axis=1), 12)]


def _with_contexts(rows: list[dict[str, float | None]], contexts: list[float]) -> list[dict[str, float | None]]:
    """The measures with those that contexts give; the sum only where there is an AvgSimC."""
    added = [{**row, CONTEXTS: value} for row, value in zip(rows, contexts, strict=True)]
    average = [value for row in rows if (value := row["AvgSimC"]) is not None]
    if len(average) < len(rows):
        return added
    both = _standard(average) + _CONTEXT_WEIGHT * _standard(contexts)
    return [{**row, WITH_CONTEXTS: float(value)} for row, value in zip(added, np.round(both, 12), strict=True)]


def _standard(values: Sequence[float]) -> NDArray[np.float64]:
    """At mean 0 and standard deviation 1; zeros where all are the same."""
    centred = np.asarray(values, dtype=np.float64) - np.mean(values)
    spread = centred.std()
    return np.asarray(centred / spread if spread > 1e-12 else np.zeros_like(centred))


def evaluate_scws(model: SenseModel, path: str | os.PathLike[str], **options: Any) -> EvaluationResult:
    """MaxSimC, AvgSimC and the other measures of :class:`ScwsTask`, whose options it takes, on SCWS in one call.

    Examples
    --------
    >>> print(evaluate_scws(model, "ratings.txt"))  # doctest: +SKIP
    """
    return ScwsTask(path, **options)(model)
