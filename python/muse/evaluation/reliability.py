"""Whether the probabilities of senses mean what they say: among answers of 80%, eight of ten should be right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Answers", "member_answers", "reliability"]

_BINS = 20


class Answers(NamedTuple):
    """How sure the senses were of the member that they name, and whether they were right; n occurrences.

    Attributes
    ----------
    confidence : float64 (n,)
    right : bool (n,)
    """

    confidence: NDArray[np.float64]
    right: NDArray[np.bool_]


def member_answers(probabilities: NDArray[np.float64], truth: NDArray[np.int64]) -> Answers | None:
    """What the probabilities of a word's senses say of its members, of which a word may have fewer than senses.

    Each sense stands for the member that most of its probability falls on; a member has the probabilities of its
    senses. The member with the highest is the answer, and that is how sure it is.

    Parameters
    ----------
    probabilities : float64 (n, K)
        Of the senses at n occurrences, each row adding up to 1.
    truth : int64 (n,)
        The member at each.

    Returns
    -------
    Answers or None
        None if all senses stand for one member: they do not tell, and say so with nothing.
    """
    members, truth = np.unique(truth, return_inverse=True)
    mass = np.zeros((len(members), probabilities.shape[1]))
    np.add.at(mass, truth, probabilities)
    stands_for = mass.argmax(axis=0)
    if len(np.unique(stands_for)) < 2:
        return None
    of_members = np.zeros((len(truth), len(members)))
    for sense, member in enumerate(stands_for):
        of_members[:, member] += probabilities[:, sense]
    answer = of_members.argmax(axis=1)
    return Answers(of_members.max(axis=1), answer == truth)


def reliability(answers: Sequence[Answers]) -> tuple[list[dict[str, Any]], float]:
    """The curve of confidence against accuracy, and the expected calibration error.

    Parameters
    ----------
    answers : sequence of Answers
        Of words; their occurrences are pooled.

    Returns
    -------
    (list of dict, float)
        A row for each twentieth of confidence that occurs: its ends ``from`` and ``to``, the mean ``confidence``, the
        ``accuracy`` and the number of ``occurrences``. The error is the mean over occurrences of how far the two lie
        apart in their row.
    """
    confidence = np.concatenate([one.confidence for one in answers])
    right = np.concatenate([one.right for one in answers])
    place = np.minimum((confidence * _BINS + 1e-9).astype(np.int64), _BINS - 1)
    rows, error = [], 0.0
    for number in np.unique(place):
        here = place == number
        mean, share = float(confidence[here].mean()), float(right[here].mean())
        rows.append(
            {"from": number / _BINS, "to": (number + 1) / _BINS, "confidence": mean, "accuracy": share,
             "occurrences": int(here.sum())}
        )  # fmt: skip
        error += abs(mean - share) * int(here.sum())
    return rows, error / len(confidence)
