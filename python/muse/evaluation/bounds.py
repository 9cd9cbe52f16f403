"""What the pseudo-word test is compared with: one sense, k-means, and a supervised classifier on the same windows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from muse.base.checks import integer, number
from muse.base.numeric import unit_rows
from muse.errors import listed
from muse.evaluation import clustering
from muse.evaluation.protocol import WordLookup, check_finite
from muse.evaluation.results import EvaluationResult
from muse.evaluation.stats import require

__all__ = [
    "SCORES",
    "PseudoWordBounds",
    "WindowMeans",
    "compute_bounds",
    "k_means",
    "keep_probability",
    "mean_row",
    "one_thread",
    "score_word",
    "shares_of_bound",
    "supervised",
]


SCORES = ("v_measure", "ari", "purity")
SHARED = ("v_measure", "ari")  # of which a score is given as a share of the supervised one: both are 0 for one sense
SUPERVISED = "supervised"
COLLAPSED = 0.95  # a word of which one sense holds more than this share has collapsed
_NEAR_ZERO = 0.05  # a supervised score below this is none to take shares of


@dataclass(repr=False)
class PseudoWordBounds(EvaluationResult):
    """What :meth:`PseudoWordTask.baselines` found.

    Attributes
    ----------
    answers : dict of str to int64 array, shape (n,)
        What each method answers at each occurrence of the task, -1 where it has no answer; so that a model is compared
        with it on what both answer.
    """

    answers: dict[str, NDArray[np.int64]] = field(default_factory=dict, compare=False)


class Occurrences(NamedTuple):
    """Where pseudo-words stand and which of their members they are, int64 (n,) each."""

    word: NDArray[np.int64]
    sentence: NDArray[np.int64]
    position: NDArray[np.int64]
    truth: NDArray[np.int64]


class MarkedText(Protocol):
    """A text in which the true senses of some words are known, as :class:`PseudoWordTask` holds it."""

    words: list[str]
    sentences: list[list[str]]
    occurrences: Occurrences
    counts: Counter[str]

    def by_word(self) -> list[NDArray[np.int64]]:
        """Which occurrences each of the words has."""


def score_word(truth: NDArray[np.int64], chosen: NDArray[np.int64]) -> dict[str, Any]:
    """The measures of one pseudo-word: V-measure, ARI, purity, senses used, and whether it collapsed onto one."""
    top = float(np.unique(chosen, return_counts=True)[1].max() / len(chosen))
    return {
        "v_measure": clustering.v_measure(truth, chosen)[2],
        "ari": clustering.adjusted_rand(truth, chosen),
        "purity": clustering.purity(truth, chosen),
        "senses": len(np.unique(chosen)),
        "effective_senses": clustering.effective_clusters(chosen),
        "top_share": top,
        "collapsed": top > COLLAPSED,
    }


def mean_row(method: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The table row of a method: means over words, and over how many."""
    names = (*SCORES, "effective_senses", "collapsed")
    means = {name: float(np.mean([row[name] for row in rows])) for name in names}
    return {"method": method, **means, "words": len(rows)}


def shares_of_bound(
    model: Mapping[str, Mapping[str, Any]], bounds: Mapping[str, Mapping[str, Mapping[str, Any]]]
) -> tuple[dict[str, float | None], list[str]]:
    """A model's scores as shares of the supervised ones, on the words that both have.

    Parameters
    ----------
    model : mapping of word to scores
        As :func:`score_word` gives them.
    bounds : mapping of method to mapping of word to scores
        The same of each method, on the occurrences that it has in common with the model.

    Returns
    -------
    (dict, list of str)
        ``v_measure_share`` and ``ari_share``, ``None`` where the bound is none: not above what needs no labels, or near
        zero; and notes that say so.
    """
    words = [word for word in bounds.get(SUPERVISED, {}) if word in model]
    shares: dict[str, float | None] = {f"{name}_share": None for name in SHARED}
    if not words:
        return shares, ["no share of the supervised bound: it has none of the words that the model is scored on"]
    notes = []
    for name in SHARED:
        mean = {method: float(np.mean([rows[word][name] for word in words])) for method, rows in bounds.items()}
        mine, bound = float(np.mean([model[word][name] for word in words])), mean.pop(SUPERVISED)
        best = max(mean, key=mean.__getitem__)
        what = "V" if name == "v_measure" else name.upper()
        if reason := _no_bound(bound, best, mean[best], [model[word]["n"] for word in words]):
            notes.append(f"no share of the supervised {what}: {reason}")
            continue
        shares[f"{name}_share"] = mine / bound
        if name == "v_measure":
            over = "" if len(words) == len(model) else f", on the {len(words)} of {len(model)} words that both have"
            notes.append(f"V is {mine / bound:.0%} of the supervised bound{over}")
    return shares, notes


def _no_bound(bound: float, best: str, lower: float, uses: Sequence[int]) -> str | None:
    """Why the supervised score of words with so many uses is no upper bound, if it is not; `best` is a lower one."""
    # Two labellings of n uses in halves that have nothing to do with each other share chi2 / 2n nats of their ln 2: its
    # mean, and three standard deviations of the mean over words.
    by_chance = float(np.mean([1 / (2 * n * np.log(2)) for n in uses])) * (1 + 3 * np.sqrt(2 / len(uses)))
    few = "occurrences may be too few, or their windows tell too little"
    if bound < max(_NEAR_ZERO, by_chance):
        return f"it is {bound:.3f}, which chance may give; {few}"
    if bound < lower - 1e-9:
        return f"it is {bound:.3f}, below the {lower:.3f} of {best}, which sees no labels; {few}"
    return None


def keep_probability(counts: Mapping[str, int], sample: float) -> dict[str, float]:
    """The chance with which word2vec's subsampling keeps each word: ``min(1, (sqrt(f / t) + 1) t / f)``.

    Parameters
    ----------
    counts : mapping of str to int
        Word counts; f is a count over their sum.
    sample : float
        The threshold t; 0 keeps everything.
    """
    if not 0 <= sample < np.inf:
        raise ValueError(f"sample must be a number of at least 0, got {sample}")
    threshold = sample * sum(counts.values())
    if threshold == 0:
        return dict.fromkeys(counts, 1.0)
    return {
        word: min(1.0, float(np.sqrt(threshold / count)) + threshold / count) if count > 0 else 1.0
        for word, count in counts.items()
    }


class WindowMeans:
    """Weighted mean of the word vectors around each occurrence, the occurrence itself left out.

    Words without a vector are dropped before windows are measured, as a trainer drops them.

    Parameters
    ----------
    sentences : sequence of token lists
        The text.
    sentence, position : int64 array, shape (n,)
        Where the occurrences are.
    vectors : word vectors
        ``word in vectors`` and ``vectors[word]``.
    weights : mapping of str to float
        Weight of each word; 1 where it has none.
    window : int
        Words taken to each side.
    """

    def __init__(
        self,
        sentences: Sequence[Sequence[str]],
        sentence: NDArray[np.int64],
        position: NDArray[np.int64],
        vectors: WordLookup,
        weights: Mapping[str, float],
        window: int,
    ) -> None:
        if window < 1:
            raise ValueError(f"window must be at least 1, got {window}")
        self.window = window
        index: dict[str, int] = {}
        rows: list[NDArray[np.float32]] = []
        scale: list[float] = []
        flat: list[int] = []
        for tokens in sentences:
            for token in tokens:
                number = index.get(token)
                if number is None:
                    number = len(rows) if token in vectors else -1
                    index[token] = number
                    if number >= 0:
                        rows.append(np.asarray(vectors[token], dtype=np.float32))
                        check_finite(rows[-1], f"the vector of {token!r}")
                        scale.append(weights.get(token, 1.0))
                flat.append(number)
        if not rows:
            raise ValueError("the word vectors know no word of the text: were they trained on text of this kind?")
        matrix = np.stack(rows)
        self._matrix = matrix * np.asarray(scale, dtype=np.float32)[:, None]
        self._scale = np.asarray(scale, dtype=np.float32)
        ids = np.asarray(flat, dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum([len(tokens) for tokens in sentences])])
        target = starts[sentence] + position
        kept = ids >= 0
        kept[target] = True  # a target without a vector still stands between its neighbours
        before = np.concatenate([[0], np.cumsum(kept)])
        self._ids = ids[kept]
        self._target = before[target]
        self._low, self._high = before[starts[sentence]], before[starts[sentence + 1]]

    def __call__(self, chosen: NDArray[np.int64]) -> NDArray[np.float32]:
        """Window means of the chosen occurrences: shape (n, D); zero where a window holds no known word."""
        total = np.zeros((len(chosen), self._matrix.shape[1]), dtype=np.float32)
        weight = np.zeros(len(chosen), dtype=np.float32)
        target, low, high = self._target[chosen], self._low[chosen], self._high[chosen]
        for step in (*range(-self.window, 0), *range(1, self.window + 1)):
            place = target + step
            inside = np.flatnonzero((place >= low) & (place < high))
            words = self._ids[place[inside]]
            inside, words = inside[words >= 0], words[words >= 0]
            total[inside] += self._matrix[words]
            weight[inside] += self._scale[words]
        return np.asarray(np.divide(total, weight[:, None], out=total, where=weight[:, None] > 0))


def supervised(
    features: NDArray[np.float32], truth: NDArray[np.int64], folds: int, seed: int
) -> NDArray[np.int64] | None:
    """Cross-validated predictions of a linear classifier; ``None`` where a member is too rare to be held out."""
    rarest = int(np.unique(truth, return_counts=True)[1].min())
    if len(np.unique(truth)) < 2 or rarest < 2:
        return None
    selection = require("sklearn.model_selection")
    pipeline = require("sklearn.pipeline").make_pipeline(
        require("sklearn.preprocessing").StandardScaler(),
        # Any C from .003 to .3 gives nearly the same; this one is best on ten million tokens of encyclopedic text.
        require("sklearn.linear_model").LogisticRegression(C=0.03, max_iter=300, solver="newton-cholesky"),
    )
    splitter = selection.StratifiedKFold(min(folds, rarest), shuffle=True, random_state=seed)
    return np.asarray(selection.cross_val_predict(pipeline, features, truth, cv=splitter), dtype=np.int64)


def k_means(features: NDArray[np.float32], clusters: int, seed: int) -> NDArray[np.int64]:
    """Cluster of each row of `features`, int64 (n,); all in one where the rows are alike."""
    distinct = len(np.unique(features, axis=0))
    if distinct < 2:
        return np.zeros(len(features), dtype=np.int64)
    estimator = require("sklearn.cluster").KMeans(min(clusters, distinct), n_init=4, random_state=seed)
    return np.asarray(estimator.fit_predict(features), dtype=np.int64)


def one_thread() -> Any:
    """A context in which BLAS and OpenMP run on one thread.

    These problems are small, and on a busy machine the threads wait for each other for longer than they work.
    """
    for module in ("sklearn.cluster", "sklearn.linear_model"):  # only libraries that are loaded are limited
        require(module)
    return require("threadpoolctl").threadpool_limits(1)


def _word_vectors(given: Any) -> WordLookup:
    """Word vectors, or those of a model that has them as ``wv``."""
    vectors: WordLookup = given if hasattr(given, "__getitem__") else getattr(given, "wv", given)
    if isinstance(vectors, str) or not (hasattr(vectors, "__getitem__") and hasattr(vectors, "__contains__")):
        raise TypeError(
            "vectors must have `word in vectors` and `vectors[word]`, as model.wv, gensim KeyedVectors and a dict of "
            f"arrays do; got {type(given).__name__}"
        )
    return vectors


def _cluster_numbers(given: Any) -> tuple[int, ...]:
    numbers = (given,) if isinstance(given, (int, np.integer)) else given
    if isinstance(numbers, (str, bytes)) or not hasattr(numbers, "__iter__"):
        raise TypeError(f"clusters must be a number of clusters or several, as in (2, 3); got {given!r:.80}")
    return tuple(integer(2)("each of clusters", k) for k in numbers)


def compute_bounds(
    task: MarkedText,
    vectors: WordLookup,
    *,
    window: int,
    sample: float,
    clusters: Any,
    folds: int,
    seed: int,
) -> PseudoWordBounds:
    """The rows of :meth:`PseudoWordTask.baselines`."""
    vectors, clusters = _word_vectors(vectors), _cluster_numbers(clusters)
    window, folds, seed = integer(1)("window", window), integer(2)("folds", folds), integer(0)("seed", seed)
    sample = number(0.0, np.inf)("sample", sample)
    places = task.occurrences
    where = (task.sentences, places.sentence, places.position, vectors)
    means = WindowMeans(*where, keep_probability(task.counts, sample), window)
    plain = WindowMeans(*where, {}, window)
    answers: dict[str, NDArray[np.int64]] = {}
    items: list[dict[str, Any]] = []
    unlearnable: list[str] = []
    with one_thread():
        for word, mine in zip(task.words, task.by_word(), strict=True):
            truth = places.truth[mine]
            if len(np.unique(truth)) < 2:  # nothing to tell apart; PseudoWordTask leaves it out as well
                unlearnable.append(word)
                continue
            features = unit_rows(means(mine), np.float32)
            labels: dict[str, NDArray[np.int64] | None] = {"majority": np.zeros(len(mine), dtype=np.int64)}
            labels.update({f"k-means {k}": k_means(features, k, seed) for k in clusters})
            # Frequent words drown a clustering but tell a classifier of the part of speech, so it gets both means.
            labels[SUPERVISED] = supervised(
                np.hstack([features, unit_rows(plain(mine), np.float32)]), truth, folds, seed
            )
            if labels[SUPERVISED] is None:
                unlearnable.append(word)
            for method, chosen in labels.items():
                if chosen is not None:
                    answers.setdefault(method, np.full(len(places.word), -1, dtype=np.int64))[mine] = chosen
                    items.append({"word": word, "n": len(mine), "method": method, **score_word(truth, chosen)})
    if SUPERVISED not in answers:
        raise ValueError("no pseudo-word has two members with two occurrences each: there is nothing to learn from")
    table = [mean_row(method, [item for item in items if item["method"] == method]) for method in answers]
    summary = {f"{row['method']} {name}": row[name] for row in table for name in SCORES}
    settings = {"window": window, "sample": sample, "clusters": clusters, "folds": folds, "seed": seed}
    notes = [f"left out of the supervised bound, a member occurs less than twice: {listed(unlearnable)}"]
    notes = notes if unlearnable else []
    learnt = {item["word"]: item["n"] for item in items if item["method"] == SUPERVISED}
    shared = {m: mean_row(m, [i for i in items if i["method"] == m and i["word"] in learnt]) for m in answers}
    bound = shared.pop(SUPERVISED)["v_measure"]
    best = max(shared, key=lambda method: float(shared[method]["v_measure"]))
    if reason := _no_bound(bound, best, shared[best]["v_measure"], list(learnt.values())):
        notes.append(f"the supervised V is no bound: {reason}")
    return PseudoWordBounds(
        "pseudo-word baselines", "supervised v_measure", summary, table, items, settings, notes, answers=answers
    )
