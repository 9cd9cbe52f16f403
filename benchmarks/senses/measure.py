"""What is measured of a trained model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import evaluation_file, evaluation_folder, similarity_sets
from benchmarks.senses.texts import JOINER, Encoded, Merged, PlainVectors
from muse import MUSE, _core
from muse.evaluation import (
    EvaluationResult,
    InductionTask,
    PseudoWordTask,
    ScwsTask,
    SenseModel,
    WicTask,
    WordSimilarityTask,
)
from muse.evaluation.bounds import k_means, mean_row, one_thread, score_word, supervised
from muse.selector.selection import context_weights, selection_options

__all__ = [
    "SCORES",
    "bounds_of_context",
    "bounds_of_windows",
    "chosen_senses",
    "neighbours",
    "pseudo_words",
    "sense_numbers",
    "task_scores",
    "word_scores",
]

SCORES = ("v_measure", "ari", "purity", "majority", "effective_senses", "collapsed", "words", "occurrences")
_MEASURES = ("MaxSimC", "AvgSimC", "MaxSim", "AvgSim", "globalSim", "AvgSimC + contexts", "scored")
_ENOUGH = 30  # pairs that must be known before a correlation means anything
_NEAREST = 10
_IN_USE = 0.05  # share of a word's uses from which on a sense counts as used


def pseudo_words(model: MUSE, merged: Merged, encoded: Encoded) -> EvaluationResult:
    """The pseudo-word score."""
    return merged.task.score(chosen_senses(model, encoded))


def chosen_senses(model: MUSE, encoded: Encoded) -> NDArray[np.int32]:
    """The senses of the scored occurrences, selected in the whole text, so that contexts may cross sentences."""
    return model.selector.choose(encoded.corpus.tokens, encoded.corpus.offsets)[encoded.places]


def neighbours(model: MUSE, merged: Merged, chosen: NDArray[np.int32], plain: PlainVectors) -> float:
    """Whether senses mean what the merged words meant: how far their nearest words are the same.

    Of each merged word the sense that is most its own is looked up, the purest of those in use. The score is the share
    of that sense's ten nearest words that are among the ten nearest of the word itself, in a plain word model of the
    text before merging; the mean of all merged words. Cosines of the vectors of senses alone can mislead: noise takes
    senses apart as well as meaning does.

    Parameters
    ----------
    model : MUSE
        Trained on the merged text.
    merged : Merged
        That text.
    chosen : int32 (len(merged.places),)
        The senses selected at its scored places.
    plain : PlainVectors
        The plain model's.
    """
    parts = {word for name in merged.names for word in name.split(JOINER)}
    known = [word for word in plain.ids if word in model and word not in parts]
    words = plain.vectors[[plain.ids[word] for word in known]]
    rows = [np.arange(*model.arrays.sense_offset[model.vocabulary.index(word) :][:2]) for word in known]
    senses = _unit(model.arrays.sense_vectors[np.concatenate(rows)])
    starts = np.cumsum([0, *map(len, rows[:-1])])
    shared = []
    for pair, name in enumerate(merged.names):
        here = merged.pair == pair
        uses = np.zeros((model.n_senses(name), 2))
        np.add.at(uses, (chosen[here], merged.member[here]), 1)
        total = uses.sum(axis=1, keepdims=True)
        purity = np.where(total >= _IN_USE * total.sum(), uses / np.maximum(total, 1), -1)
        own = _unit(model.sense_vectors(name))[purity.argmax(axis=0)]
        found = np.maximum.reduceat(senses @ own.T, starts)
        true = words @ plain.vectors[[plain.ids[word] for word in name.split(JOINER)]].T
        shared += [len({*_nearest(one)} & {*_nearest(other)}) for one, other in zip(found.T, true.T, strict=True)]
    return float(np.mean(shared)) / _NEAREST


def _nearest(similarities: NDArray[np.float32]) -> list[int]:
    return np.argsort(-similarities)[:_NEAREST].tolist()


def sense_numbers(model: Any, words: Iterable[str]) -> dict[str, Any]:
    """How many senses words have, and how many of these they use: as ``{senses: words}``, and as means."""
    known = [word for word in words if word in model]
    has = [model.n_senses(word) for word in known]
    shares = [model.sense_prior(word).astype(np.float64) for word in known]
    uses = [int((share >= _IN_USE).sum()) for share in shares]
    effective = [float(np.exp(-(share[share > 0] * np.log(share[share > 0])).sum())) for share in shares]
    return {
        "has": dict(sorted(Counter(has).items())),
        "uses": dict(sorted(Counter(uses).items())),
        "mean_has": _mean(has),
        "mean_uses": _mean(uses),
        "effective": _mean(effective),
    }


def word_scores(model: SenseModel) -> dict[str, float]:
    """SCWS and word similarity, as far as the model knows their words."""
    task = ScwsTask(evaluation_file("SCWS"), resamples=0)
    scores: dict[str, float] = {}
    if sum(all(word is not None and word in model for word in pair.words) for pair in task.pairs) >= _ENOUGH:
        result = task(model)
        scores |= {f"SCWS {name}": result[name] for name in _MEASURES if result.get(name) is not None}
    for name, path in similarity_sets().items():
        similarity = WordSimilarityTask({name: path}, resamples=0)
        if sum(first in model and second in model for first, second, _ in similarity.data[name]) >= _ENOUGH:
            scores[name] = similarity(model)[f"{name} wv"]
    return scores


@cache
def _induction() -> InductionTask:
    return InductionTask.from_semeval2013(evaluation_folder("SemEval-2013 task 13"))


@cache
def _wic() -> WicTask:
    parts = [evaluation_folder("WiC") / part / f"{part}.data.txt" for part in ("dev", "test")]
    return WicTask(*parts)


def task_scores(model: SenseModel) -> dict[str, float]:
    """Sense induction (SemEval-2013 task 13) and WiC, as far as the model knows enough of their words."""
    scores: dict[str, float] = {}
    induction, wic = _induction(), _wic()
    if sum(word in model for word in {item.lemma for item in induction.occurrences}) >= _ENOUGH:
        found = induction(model)
        names = ("v_measure", "paired_f", "b_cubed", "ari", "fuzzy_nmi", "fuzzy_b_cubed")
        scores |= {f"SemEval-2013 {name}": found[name] for name in (*names, "answered", "senses_per_word")}
    if sum(pair.lemma in model for pair in wic.dev) >= _ENOUGH:
        found = wic(model)
        names = ("accuracy", "sense_match", "usage_accuracy", "majority", "covered")
        scores |= {f"WiC {name}": found[name] for name in names if name in found}
    return scores


def bounds_of_windows(task: PseudoWordTask, vectors: Any, *, window: int, sample: float, seed: int) -> dict[str, Any]:
    """Majority, k-means and the supervised limit on windows of word vectors: method to scores."""
    rows = task.baselines(vectors, window=window, sample=sample, clusters=(2, 3), seed=seed).table
    task.bounds = None  # the scores of the models stand by themselves here
    return {row["method"]: {name: row[name] for name in SCORES if name in row} for row in rows}


def bounds_of_context(model: MUSE, merged: Merged, encoded: Encoded, seed: int) -> dict[str, Any]:
    """K-means and the supervised limit on the contexts that the model's own selector sees."""
    arrays, settings = model.arrays, model.settings
    contexts = _core.context_vectors(
        arrays.context_vectors, context_weights(settings, arrays.word_counts), selection_options(settings),
        encoded.corpus, encoded.places,
    )  # fmt: skip
    found: dict[str, list[dict[str, Any]]] = {}
    for mine in merged.task.by_word():
        features, truth = _unit(contexts[mine]), merged.member[mine]
        with one_thread():
            labels = {f"k-means {k}": k_means(features, k, seed) for k in (2, 3)}
            if (learned := supervised(features, truth, 5, seed)) is not None:
                labels["supervised"] = learned
        for method, chosen in labels.items():
            found.setdefault(method, []).append(score_word(truth, chosen))
    rows = [mean_row(method, scores) for method, scores in found.items()]
    return {row["method"]: {name: row[name] for name in SCORES if name in row} for row in rows}


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0))


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
