"""Quality during training: scores after each epoch, against the training time and tokens that they took.

Models are trained on text with merged words, which leaves SCWS's words alone, so that one run gives both SCWS and the
pseudo-word score.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from benchmarks import common
from muse import MUSE
from muse.evaluation import PseudoWordTask, ScwsTask

MEASURES = ("MaxSimC", "AvgSimC", "V")


class Tasks:
    """SCWS and pseudo-words for one text."""

    def __init__(self, corpus: Path, pairs: int, *, seed: int = 0) -> None:
        merged = common.pseudo_word_corpus(corpus, pairs, seed=seed, exclude=common.evaluation_words())
        self.corpus = merged.corpus
        self._pseudo: PseudoWordTask = merged.task
        ratings = common.evaluation_file("SCWS")
        self._scws = ScwsTask(ratings, resamples=0)
        self.measured = {"pairs": merged.pairs, "data": common.digest(ratings)}  # what figures depend on

    def __call__(self, model: MUSE) -> dict[str, float]:
        """Values of `MEASURES`."""
        scws = self._scws(model).summary
        return {"MaxSimC": scws["MaxSimC"], "AvgSimC": scws["AvgSimC"], "V": self._pseudo(model).summary["v_measure"]}

    def curve(self, settings: dict[str, Any], every: int = 1) -> list[dict[str, Any]]:
        """Train with these settings, and score after every so many epochs: the points of `Curve`."""
        curve = Curve(self, every)
        MUSE(corpus_file=self.corpus, callbacks=[curve], **settings)
        return curve.points


class Curve:
    """A callback that scores the model after each epoch of sense training.

    Attributes
    ----------
    points : list of dict
        ``tokens``, ``seconds`` and ``cpu_seconds`` of training so far, the scores, and sense use. Evaluation is not
        counted, nor is the word-level start, which is the same for all.
    """

    def __init__(self, tasks: Tasks, every: int = 1) -> None:
        self.points: list[dict[str, Any]] = []
        self._tasks, self._every = tasks, every
        self._spent = {"tokens": 0.0, "seconds": 0.0, "cpu_seconds": 0.0}
        self._cpu = 0.0

    def on_epoch_begin(self, model: MUSE) -> None:
        self._cpu = time.process_time()

    def on_epoch_end(self, model: MUSE) -> None:
        cpu, row = time.process_time() - self._cpu, model.history[-1]
        if row["stage"] != "senses":
            return
        for name, value in (("tokens", row["tokens"]), ("seconds", row["seconds"]), ("cpu_seconds", cpu)):
            self._spent[name] += value
        if row["epoch"] % self._every == 0 or row["epoch"] == model.epochs:
            use = {name: row[name] for name in ("senses_used", "collapsed", "selection_entropy", "selection_norm")}
            self.points.append({"epoch": row["epoch"], **self._spent, **self._tasks(model), **use})
