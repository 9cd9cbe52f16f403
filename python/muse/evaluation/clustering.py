"""Measures that compare induced senses with true ones: hard, and graded with several senses an occurrence.

Everything here is a function of two labellings of the same occurrences, computed from their contingency table; only the
adjusted Rand index comes from scikit-learn. So `muse demo` can print a V-measure without the extra ``[eval]``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from numbers import Real
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
_CELLS = 1 << 18  # of the comparisons of occurrences that are held at a time


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


class _Graded(NamedTuple):
    """Weights of senses in n occurrences, only those above 0, by sense: arrays of one length, and where each begins."""

    occurrence: NDArray[np.int64]
    weight: NDArray[np.float64]  # the largest of an occurrence is 1
    begin: NDArray[np.int64]  # (senses + 1,)

    def sense(self) -> NDArray[np.int64]:
        """Which sense each weight is of."""
        return np.repeat(np.arange(len(self.begin) - 1), np.diff(self.begin))


def _graded(labels: GradedLabels, occurrences: Sequence[str]) -> _Graded:
    column: dict[str, int] = {}
    rows: list[tuple[int, int, float]] = []
    for row, name in enumerate(occurrences):
        given = labels.get(name, {})
        for sense, weight in given.items():
            if not (isinstance(weight, Real) and 0 < float(weight) < np.inf):
                raise ValueError(
                    f"{name!r:.80}: the weight of {sense!r:.80} must be a positive number, got {weight!r:.80}"
                )
        largest = max(given.values(), default=1.0)
        rows += [(column.setdefault(sense, len(column)), row, weight / largest) for sense, weight in given.items()]
    rows.sort()
    senses, occurrence, weights = zip(*rows, strict=True) if rows else ((), (), ())
    begin = np.searchsorted(np.asarray(senses, dtype=np.int64), np.arange(max(1, len(column)) + 1))
    return _Graded(
        np.asarray(occurrence, dtype=np.int64), np.asarray(weights, dtype=np.float64), begin.astype(np.int64)
    )


def _agreement(graded: _Graded, low: int, high: int, n: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """For occurrences `low` to `high` with each of all n: the agreement, and whether they share a sense.

    The agreement is the sum over shared senses of 1 - |difference of weights|. Both arrays have shape (high - low, n).
    """
    total = np.zeros((high - low, n))
    shared = np.zeros((high - low, n), dtype=bool)
    here = (graded.occurrence >= low) & (graded.occurrence < high)
    for sense in np.unique(graded.sense()[here]).tolist():
        of = slice(graded.begin[sense], graded.begin[sense + 1])
        rows, weights = graded.occurrence[of], graded.weight[of]
        first, last = np.searchsorted(rows, (low, high))
        block = np.ix_(rows[first:last] - low, rows)
        total[block] += 1 - np.abs(weights[first:last, None] - weights[None, :])
        shared[block] = True
    own = np.arange(low, high)
    shared[own - low, own] = False  # an occurrence is no neighbour of itself
    return total, shared


def _pair_shares(true: _Graded, induced: _Graded, n: int) -> tuple[float, float]:
    """Mean over occurrences of the mean of min(true, induced) / own over the others that share a sense in `own`.

    With the induced senses as `own` that is the precision, with the true ones the recall.
    """
    sums = np.zeros(2)
    block = max(1, _CELLS // n)
    for low in range(0, n, block):
        high = min(low + block, n)
        sides = [_agreement(graded, low, high, n) for graded in (induced, true)]
        smaller = np.minimum(sides[0][0], sides[1][0])
        for i, (own, shared) in enumerate(sides):
            ratio = np.divide(smaller, own, out=np.zeros_like(own), where=shared & (own > 0))
            counts = shared.sum(axis=1)
            sums[i] += np.divide(ratio.sum(axis=1), counts, out=np.zeros(len(counts)), where=counts > 0).sum()
    return float(sums[0] / n), float(sums[1] / n)


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
    true, induced = _graded(gold, occurrences), _graded(system, occurrences)
    return _harmonic(*_pair_shares(true, induced, len(occurrences)))


def _occurrences(gold: GradedLabels) -> list[str]:
    if not gold:
        raise ValueError("no occurrences to compare")
    return list(gold)


def _entropy(counts: NDArray[np.int64]) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


def _terms(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """-p log p of each."""
    return np.asarray(-shares * np.log2(shares, out=np.zeros_like(shares), where=shares > 0))


def _bins(graded: _Graded) -> NDArray[np.int64]:
    """Ten bins (0, .1], (.1, .2], ... as in the task's scorer; a weight up to .1 is the same as none, bin 0."""
    return np.clip(np.ceil(np.round(graded.weight * _BINS, 9)).astype(np.int64) - 1, 0, _BINS - 1)


def _residual(of: _Graded, given: _Graded, n: int) -> tuple[float, float]:
    """Sum of the entropies of the senses `of`, and the sum of what is left of each when `given` is known."""
    bins, other, sense = _bins(of), _bins(given), given.sense()
    senses = len(given.begin) - 1
    used = np.diff(given.begin)
    # Of each sense of `given` the counts of its bins; in all occurrences that it is absent from it is in bin 0.
    alone = np.bincount(sense * _BINS + other, minlength=senses * _BINS).reshape(senses, _BINS)
    alone[:, 0] += n - used
    known = _terms(alone / n).sum(axis=1)
    total = left = 0.0
    for low, high in pairwise(of.begin.tolist()):
        own, present = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=bool)
        own[of.occurrence[low:high]], present[of.occurrence[low:high]] = bins[low:high], True
        counts = np.bincount(own, minlength=_BINS)
        entropy = float(_terms(counts / n).sum())
        total += entropy
        # Joint counts with all senses of `given` at once: (senses, bins of given, bins of this one).
        here = own[given.occurrence]
        cells = (sense * _BINS + other) * _BINS + here
        joint = np.bincount(cells, minlength=senses * _BINS**2).reshape(senses, _BINS, _BINS)
        joint[:, 0] += counts - np.bincount(sense * _BINS + here, minlength=senses * _BINS).reshape(senses, _BINS)
        rest = _terms(joint.reshape(senses, -1) / n).sum(axis=1) - known
        both = np.bincount(sense[present[given.occurrence]], minlength=senses)
        rest = rest[~_complementary(both, high - low, used, n)]
        left += float(rest.min()) if len(rest) else entropy
    return total, left


def _complementary(both: NDArray[np.int64], first: int, second: NDArray[np.int64], n: int) -> NDArray[np.bool_]:
    """Whether knowing a sense tells of another by where it is absent (Lancichetti et al. 2009, eq. B.14).

    From the occurrences that have both, the one, and the other of them.
    """
    alike = _terms(both / n) + _terms((n - first - second + both) / n)
    return np.asarray(alike < _terms((first - both) / n) + _terms((second - both) / n))


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
    true, induced = _graded(gold, occurrences), _graded(system, occurrences)
    true_entropy, true_left = _residual(true, induced, len(occurrences))
    induced_entropy, induced_left = _residual(induced, true, len(occurrences))
    largest = max(true_entropy, induced_entropy)
    if largest <= 0:
        return 1.0
    return (true_entropy - true_left + induced_entropy - induced_left) / (2 * largest)
