"""Measures that compare induced senses with true ones: hard, and graded with several senses an occurrence.

Everything here is a function of two labellings of the same occurrences, computed from their contingency table; only the
adjusted Rand index comes from scikit-learn. So `muse demo` can print a V-measure without the extra ``[eval]``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse.evaluation.stats import require

__all__ = [
    "PrecisionRecall",
    "adjusted_rand",
    "b_cubed",
    "contingency",
    "effective_clusters",
    "fuzzy_b_cubed",
    "fuzzy_nmi",
    "paired_f_score",
    "purity",
    "v_measure",
]

Labels = Sequence[Hashable] | NDArray[Any]
GradedLabels = Mapping[str, Mapping[str, float]]
_BINS = 10


class PrecisionRecall(NamedTuple):
    """Precision, recall and their harmonic mean (0 where both are 0)."""

    precision: float
    recall: float
    f: float


def _harmonic(precision: float, recall: float) -> PrecisionRecall:
    total = precision + recall
    return PrecisionRecall(precision, recall, 2 * precision * recall / total if total > 0 else 0.0)


def _codes(labels: Labels) -> NDArray[np.int64]:
    """Labels as numbers 0 to C-1; any hashable labels are allowed, which ``np.unique`` would not."""
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iub":
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    numbers: dict[Hashable, int] = {}
    return np.fromiter((numbers.setdefault(label, len(numbers)) for label in labels), dtype=np.int64, count=len(labels))


def _check(gold: Labels, system: Labels) -> None:
    if len(gold) != len(system):
        raise ValueError(f"{len(gold)} true but {len(system)} induced labels: they must label the same occurrences")
    if len(gold) == 0:
        raise ValueError("no occurrences to compare")


def contingency(gold: Labels, system: Labels) -> NDArray[np.int64]:
    """How often each true sense meets each induced one: shape (true senses, induced senses).

    Parameters
    ----------
    gold, system : sequence of hashable, or int array, length n
        The two labellings of the same n occurrences.

    Raises
    ------
    ValueError
        If they differ in length or are empty.
    """
    _check(gold, system)
    rows, columns = _codes(gold), _codes(system)
    width = int(columns.max()) + 1
    counts = np.bincount(rows * width + columns, minlength=(int(rows.max()) + 1) * width)
    return counts.reshape(-1, width).astype(np.int64)


def v_measure(gold: Labels, system: Labels) -> tuple[float, float, float]:
    """Homogeneity, completeness and V-measure, their harmonic mean (Rosenberg and Hirschberg 2007, EMNLP-CoNLL).

    Returns
    -------
    (float, float, float)
        Each in [0, 1]. One true sense makes homogeneity 1, one induced sense makes completeness 1, as in the paper.
    """
    table = contingency(gold, system)
    true, induced = _entropy(table.sum(axis=1)), _entropy(table.sum(axis=0))
    shared = max(0.0, true + induced - _entropy(table.ravel()))  # mutual information
    homogeneity = min(1.0, shared / true) if true > 0 else 1.0
    completeness = min(1.0, shared / induced) if induced > 0 else 1.0
    return homogeneity, completeness, _harmonic(homogeneity, completeness).f


def adjusted_rand(gold: Labels, system: Labels) -> float:
    """Adjusted Rand index (Hubert and Arabie 1985): 1 for the same clusters, near 0 for chance; may be negative."""
    _check(gold, system)
    return float(require("sklearn.metrics").adjusted_rand_score(_codes(gold), _codes(system)))


def purity(gold: Labels, system: Labels) -> float:
    """Share of occurrences that carry the commonest true sense of their induced sense.

    Never below the share of the commonest true sense overall, which is what one induced sense gives.
    """
    table = contingency(gold, system)
    return float(table.max(axis=0).sum() / table.sum())


def effective_clusters(system: Labels) -> float:
    """Effective number of clusters used: exp of the entropy of their shares; 1 when all fall in one."""
    if len(system) == 0:
        raise ValueError("no occurrences to count")
    shares = np.bincount(_codes(system)) / len(system)
    shares = shares[shares > 0]
    return float(np.exp(-(shares * np.log(shares)).sum()))


def paired_f_score(gold: Labels, system: Labels) -> PrecisionRecall:
    """Paired F-score of SemEval-2010 task 14 (Artiles, Amigo, Gonzalo 2009; Manandhar et al. 2010).

    Precision is the share of the pairs of occurrences in one induced sense that share their true sense, recall the
    share of pairs of one true sense that share their induced sense. Where the induced senses hold no pair (each
    occurrence by itself) precision counts 0, unless there is no true pair either: then all is 1.
    """
    table = contingency(gold, system)

    def pairs(counts: NDArray[np.int64]) -> float:
        return float((counts * (counts - 1) / 2).sum())

    both, true, induced = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    if true == 0 and induced == 0:
        return PrecisionRecall(1.0, 1.0, 1.0)
    return _harmonic(both / induced if induced else 0.0, both / true if true else 0.0)


def b_cubed(gold: Labels, system: Labels) -> PrecisionRecall:
    """B-cubed (Bagga and Baldwin 1998; Amigo et al. 2009), each occurrence counting as a neighbour of itself.

    The precision of an occurrence is the share of its induced sense that has its true sense, the recall the share of
    its true sense that is in its induced sense; both are averaged over occurrences.
    """
    table = contingency(gold, system).astype(np.float64)
    squares = table * table
    precision = (squares / table.sum(axis=0, keepdims=True)).sum() / table.sum()
    recall = (squares / table.sum(axis=1, keepdims=True)).sum() / table.sum()
    return _harmonic(float(precision), float(recall))


def _weights(labels: GradedLabels, occurrences: Sequence[str]) -> NDArray[np.float64]:
    """Weight of each sense in each occurrence: shape (n, senses), 0 where absent, the largest of a row 1."""
    senses = list(dict.fromkeys(sense for name in occurrences for sense in labels.get(name, {})))
    column = {sense: i for i, sense in enumerate(senses)}
    matrix = np.zeros((len(occurrences), max(1, len(senses))))
    for row, name in enumerate(occurrences):
        for sense, weight in labels.get(name, {}).items():
            if not (np.isfinite(weight) and weight > 0):
                raise ValueError(f"{name}: the weight of {sense} must be a positive number, got {weight}")
            matrix[row, column[sense]] = weight
    largest = matrix.max(axis=1, keepdims=True)
    return np.asarray(np.divide(matrix, largest, out=matrix, where=largest > 0))


def _agreement(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum over shared senses of 1 - |difference of weights|, for each two occurrences: shape (n, n)."""
    total = np.zeros((len(weights), len(weights)))
    for column in weights.T:
        rows = np.flatnonzero(column)
        shared = 1 - np.abs(column[rows, None] - column[None, rows])
        total[np.ix_(rows, rows)] += shared
    return total


def _pair_share(own: NDArray[np.float64], other: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Mean over occurrences of the mean of min(own, other) / own over the others that share a sense in ``own``."""
    present = (weights > 0).astype(np.float64)
    neighbours = (present @ present.T) > 0
    np.fill_diagonal(neighbours, False)
    ratio = np.divide(np.minimum(own, other), own, out=np.zeros_like(own), where=neighbours & (own > 0))
    counts = neighbours.sum(axis=1)
    means = np.divide(ratio.sum(axis=1), counts, out=np.zeros(len(counts)), where=counts > 0)
    return float(means.mean())


def fuzzy_b_cubed(gold: GradedLabels, system: GradedLabels) -> PrecisionRecall:
    """Fuzzy B-cubed of SemEval-2013 task 13 (Jurgens and Klapaftis 2013), for weighted, overlapping senses.

    Two occurrences agree in a labelling by the sum over their common senses of ``1 - |w_i - w_j|``, weights scaled to a
    maximum of 1. Precision averages, over the pairs that share an induced sense, the smaller of both agreements
    divided by the agreement in the induced labelling; recall the same over the pairs that share a true sense. An
    occurrence is no neighbour of itself, so an occurrence alone in its senses counts 0 ("one sense an occurrence"
    scores 0).

    Parameters
    ----------
    gold, system : mapping of occurrence to mapping of sense to positive weight
        Occurrences that only ``system`` has are ignored; those it lacks have no induced sense.

    Notes
    -----
    The task's own scorer prints precision and recall under each other's names; F is the same.
    """
    occurrences = _occurrences(gold)
    true, induced = _weights(gold, occurrences), _weights(system, occurrences)
    in_gold, in_system = _agreement(true), _agreement(induced)
    return _harmonic(_pair_share(in_system, in_gold, induced), _pair_share(in_gold, in_system, true))


def _occurrences(gold: GradedLabels) -> list[str]:
    if not gold:
        raise ValueError("no occurrences to compare")
    return list(gold)


def _entropy(counts: NDArray[np.int64]) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


def _term(share: float) -> float:
    return -share * float(np.log2(share)) if share > 0 else 0.0


def _complementary(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> bool:
    """Whether knowing ``second`` tells of ``first`` by where it is absent (Lancichetti et al. 2009, eq. B.14)."""
    joint = [float(np.mean(a & b)) for a in (first, ~first) for b in (second, ~second)]
    return _term(joint[0]) + _term(joint[3]) < _term(joint[1]) + _term(joint[2])


def _residual(of: NDArray[np.float64], given: NDArray[np.float64]) -> tuple[float, float]:
    """Sum of the entropies of the senses ``of``, and the sum of what is left of each when ``given`` is known."""
    # Ten bins (0, .1], (.1, .2], ... as in the task's scorer; a weight up to .1 is the same as none.
    own = np.clip(np.ceil(np.round(of * _BINS, 9)).astype(np.int64) - 1, 0, _BINS - 1)
    other = np.clip(np.ceil(np.round(given * _BINS, 9)).astype(np.int64) - 1, 0, _BINS - 1)
    entropy = [_entropy(np.bincount(column)) for column in own.T]
    known = [_entropy(np.bincount(column)) for column in other.T]
    left = 0.0
    for i in range(own.shape[1]):
        candidates = [
            _entropy(np.bincount(own[:, i] * _BINS + other[:, j])) - known[j]
            for j in range(other.shape[1])
            if not _complementary(of[:, i] > 0, given[:, j] > 0)
        ]
        left += min(candidates, default=entropy[i])
    return sum(entropy), left


def fuzzy_nmi(gold: GradedLabels, system: GradedLabels) -> float:
    """Fuzzy normalised mutual information of SemEval-2013 task 13 (Jurgens and Klapaftis 2013).

    The overlapping NMI of Lancichinetti, Fortunato and Kertesz (2009) with weights in ten bins:
    ``(H(G) - H(G|S) + H(S) - H(S|G)) / (2 max(H(G), H(S)))``, where each sense is matched with the sense of the other
    side that says most about it.

    Parameters
    ----------
    gold, system : mapping of occurrence to mapping of sense to positive weight
        As for :func:`fuzzy_b_cubed`.

    Returns
    -------
    float
        0 for unrelated senses, 1 for the same. Where neither side has any entropy (one sense for all occurrences on
        both) the quotient is undefined and 1 is returned, as the labellings are equal.
    """
    occurrences = _occurrences(gold)
    true, induced = _weights(gold, occurrences), _weights(system, occurrences)
    true_entropy, true_left = _residual(true, induced)
    induced_entropy, induced_left = _residual(induced, true)
    largest = max(true_entropy, induced_entropy)
    if largest <= 0:
        return 1.0
    return (true_entropy - true_left + induced_entropy - induced_left) / (2 * largest)
