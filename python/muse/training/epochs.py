"""What is watched in training: rows of ``model.history``, log lines, and warnings of what a loss does not show."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.data.arrays import Arrays, Floats
from muse.data.settings import Settings
from muse.data.training_state import SUMS

__all__ = ["EpochTotals", "Warnings", "log_row"]

logger = logging.getLogger("muse")

_WATCHED_USES = 20  # words used less often in an epoch say nothing about collapse
_COLLAPSED_SHARE = 0.95  # of one sense in a word's uses
_MANY_COLLAPSED = 0.5  # share of words: then it is the training, not the words
_LARGE_NORM = 100.0  # rows of P and Q in healthy runs stay below a few tens, but for the scale of whitening
_GROWTH = 2.0  # from the start of a training
_MANY_WORDS = 10  # of fewer a share says nothing
_FEW_PAIRS = 0.05  # a token; usual texts have one or more


class EpochTotals:
    """Sums over the runs of one stage of an epoch.

    Parameters
    ----------
    n_senses : int
        Z.
    sums : mapping of str to number, optional
        Where an interrupted epoch stood.
    sense_use : int64 (Z,), optional
        And how often it had selected each sense.
    """

    def __init__(
        self, n_senses: int, sums: Mapping[str, float] | None = None, sense_use: NDArray[np.int64] | None = None
    ) -> None:
        self.sums: dict[str, float] = dict(sums or dict.fromkeys(SUMS, 0))
        self.sense_use = np.zeros(n_senses, np.int64) if sense_use is None else sense_use.copy()
        self._before = dict(self.sums)
        self._start = time.perf_counter()

    def add(self, stats: Mapping[str, Any]) -> None:
        """Add what the core's trainer returned."""
        for name in SUMS:
            self.sums[name] += stats[name]
        self.sense_use += stats["sense_use"]

    def row(self, epoch: int, stage: str, alphas: tuple[float, float], arrays: Arrays) -> dict[str, Any]:
        """The row of ``model.history``, see `MUSE.train`."""
        seconds = time.perf_counter() - self._start
        return {
            "epoch": epoch,
            "stage": stage,
            "tokens": self.sums["tokens"],
            "pairs": self.sums["pairs"],
            "seconds": seconds,
            "tokens_per_second": self._rate("tokens", seconds),
            "pairs_per_second": self._rate("pairs", seconds),
            "alpha": alphas[0],
            "end_alpha": alphas[1],
            "loss": self._mean("loss", "loss_pairs"),
            "reward": self._mean("reward", "pairs"),
            "selection_entropy": self._mean("entropy", "entropy_targets"),
            **_sense_use(self.sense_use, arrays.sense_offset),
            "context_norm": _largest_norm(arrays.context_vectors),
            "selection_norm": _largest_norm(arrays.selection_vectors),
        }

    def _rate(self, name: str, seconds: float) -> float:
        return (self.sums[name] - self._before[name]) / max(seconds, 1e-9)

    def _mean(self, value: str, count: str) -> float:
        return float(self.sums[value] / self.sums[count]) if self.sums[count] else 0.0


def _sense_use(use: NDArray[np.int64], offset: NDArray[np.int64]) -> dict[str, float]:
    """How the words with a choice use their senses: how many they are, mean effective number, and share collapsed."""
    senses = np.diff(offset)
    totals = np.add.reduceat(use, offset[:-1])
    watched = (senses > 1) & (totals >= _WATCHED_USES)
    if not watched.any():
        return {"ambiguous_words": 0, "senses_used": 1.0, "collapsed": 0.0}
    share = use / np.repeat(np.maximum(totals, 1), senses)
    logs = np.log(share, out=np.zeros(len(share)), where=share > 0)
    entropy = np.add.reduceat(-share * logs, offset[:-1])
    most = np.maximum.reduceat(share, offset[:-1])
    return {
        "ambiguous_words": int(watched.sum()),
        "senses_used": float(np.exp(entropy[watched]).mean()),
        "collapsed": float((most[watched] > _COLLAPSED_SHARE).mean()),
    }


def _largest_norm(matrix: Floats, block_rows: int = 1 << 14) -> float:
    largest = 0.0
    for first in range(0, len(matrix), block_rows):
        block = matrix[first : first + block_rows]
        largest = max(largest, float(np.einsum("ij,ij->i", block, block, dtype=np.float64).max()))
    return float(np.sqrt(largest))


def log_row(row: Mapping[str, Any], epochs: int) -> None:
    """One line about an epoch, at level INFO."""
    logger.info(
        "epoch %d of %d (%s): %.0f thousand tokens/s, loss %.4f, reward %.3f, |P| %.1f, |Q| %.1f; in the %d words that "
        "have several senses: senses used %.2f, collapsed %.0f%%",
        row["epoch"], epochs, row["stage"], row["tokens_per_second"] / 1e3, row["loss"], row["reward"],
        row["context_norm"], row["selection_norm"], row["ambiguous_words"], row["senses_used"], 100 * row["collapsed"],
    )  # fmt: skip


class Warnings:
    """Says what looks like success in a loss curve and is not.

    Parameters
    ----------
    settings : Settings
        For what to change.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._few_pairs_said = False
        self._norm = np.inf

    def begin(self, arrays: Arrays) -> None:
        """Take note of how long the vectors of the selection module are, before they can grow."""
        self._norm = max(map(_largest_norm, (arrays.context_vectors, arrays.selection_vectors)))

    def say(self, row: Mapping[str, Any]) -> None:
        """Look at a row of the history."""
        self._say_what_was_trained(row)
        largest = max(row["context_norm"], row["selection_norm"])
        if largest > max(_LARGE_NORM, _GROWTH * self._norm):
            bound = "" if self._settings.max_norm else ", or bound them with max_norm (30, say)"
            logger.warning(
                "epoch %d: vectors of the selection module have grown to length %.0f, from %.0f, which ends in one "
                "sense taking everything; lower selection_alpha" + bound, row["epoch"], largest, self._norm,
            )  # fmt: skip
        many = row["ambiguous_words"] >= _MANY_WORDS
        if row["stage"] == "senses" and many and row["collapsed"] > _MANY_COLLAPSED:
            logger.warning(
                "epoch %d: in %.0f%% of the words with several senses one sense takes more than %.0f%% of the uses; "
                "try recipe=Split(selection_update='posterior'), or a lower selection_alpha",
                row["epoch"], 100 * row["collapsed"], 100 * _COLLAPSED_SHARE,
            )  # fmt: skip

    def _say_what_was_trained(self, row: Mapping[str, Any]) -> None:
        """A text can be so small that subsampling, which is made for large ones, leaves out nearly all of it."""
        tokens, pairs, sample = row["tokens"], row["pairs"], self._settings.sample
        if self._few_pairs_said or pairs > _FEW_PAIRS * tokens:
            return
        what = "no pair of words at all was" if pairs == 0 else f"only {pairs} pairs of words were"
        if sample:
            why = f"since sample={sample:g} leaves out nearly all of so small a text; give sample=0, or more text"
        else:
            why = "since nearly all sentences have one known word; give longer ones, or a lower min_count"
        self._few_pairs_said = True
        logger.warning("%s trained on %d tokens, so that vectors are as random as at the start, %s", what, tokens, why)
