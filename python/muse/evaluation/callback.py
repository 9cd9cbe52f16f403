"""Evaluation during training: a curve of scores, the best model kept, and an early stop."""

from __future__ import annotations

import inspect
import logging
import numbers
import os
import sys
import time
import weakref
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from muse.base.checks import flag, integer, number, optional, path_like
from muse.evaluation.best_model import BestModel, shapes_of
from muse.evaluation.protocol import Task
from muse.evaluation.results import EvaluationResult

__all__ = ["EvaluationCallback"]

logger = logging.getLogger("muse.evaluation")


class EvaluationCallback:
    """Evaluates a model every few epochs, keeps the best, and may stop training early.

    Its hooks have gensim's names, so it serves ``muse.MUSE(..., callbacks=[...])``. A model that still is in the
    word-level start of the recipe `Split` has one sense a word: it is scored for the curve, but not kept as the best,
    nor counted against ``patience``. A task of this package is tried once before training, so that one that cannot
    score the model (none of its words are known, say) ends it at the start and not after an epoch.

    The curve is in `history`. To see it meanwhile, pass ``verbose=True``; or log at level INFO, as gensim does:
    ``logging.basicConfig(level=logging.INFO)`` shows the epochs of ``muse`` and the scores of ``muse.evaluation``.

    A callback goes on where a training is resumed with it: rows of epochs that are trained again are taken back, and
    the best stays the best. With another model, as in a loop over seeds, or after the vocabulary has grown, it begins
    anew: its history and its best model are those of the present training. Another process, which has a callback of its
    own, begins anew as well. An interrupted training (Ctrl-C) is neither evaluated nor restored at its end, so that it
    can be resumed.

    Parameters
    ----------
    task : callable
        Takes the model; returns a number or an object with ``score``, higher being better. The tasks of this package
        are such callables.
    every : int
        Evaluate after every so many epochs, and after the last one in any case.
    keep_best : bool or path
        ``True`` keeps a copy of the best model's arrays in memory (or, for a model without ``arrays``, in a temporary
        file); a path saves the best model there each time that it improves; ``False`` keeps nothing. A file that is at
        the path already, such as that of another training, is refused.
    patience : int, optional
        Stop training after so many evaluations in a row without an improvement, by setting ``model.stop_training``.
    min_delta : float
        An improvement must exceed the best score by more than this.
    restore_best : bool
        Put the best arrays back into the model at the end of training. Needs ``keep_best=True`` and a model with
        ``arrays``.
    overwrite : bool
        Let the best model of each training replace what is at the path.
    verbose : bool
        Print a line for each evaluation.

    Raises
    ------
    TypeError, ValueError
        For a parameter of the wrong type or out of range; before training also where ``keep_best`` is a path at which
        no file can be written, and after an epoch where the task gives no number.
    FileExistsError
        If there is a file at ``keep_best`` already, now or when a training begins of which it is not.

    Attributes
    ----------
    history : list of dict
        A row for each evaluation: ``epoch`` (as in the model's own history, from 1 in each call of ``train``),
        ``total`` (epochs of all its calls of ``train``), ``score``, ``best`` (whether it is the best so far),
        ``seconds``, and the numbers of the result's ``summary``.
    best_score, best_epoch : float or None, int or None
        The best evaluation so far, and its ``total``.
    best_path : pathlib.Path or None
        Where the best model was saved. A temporary file goes when the callback does.

    Examples
    --------
    >>> watch = EvaluationCallback(ScwsTask("ratings.txt"), every=1, patience=2)  # doctest: +SKIP
    >>> model = muse.MUSE(sentences, epochs=20, callbacks=[watch])  # doctest: +SKIP
    >>> watch.restore(model)  # doctest: +SKIP
    """

    def __init__(
        self,
        task: Callable[[Any], Any],
        every: int = 1,
        keep_best: bool | str | os.PathLike[str] = True,
        patience: int | None = None,
        *,
        min_delta: float = 0.0,
        restore_best: bool = False,
        overwrite: bool = False,
        verbose: bool = False,
    ) -> None:
        if isinstance(task, type) and issubclass(task, Task):
            raise TypeError(f"task is the class {task.__name__}; give an instance: {task.__name__}(...)")
        if not callable(task):
            raise TypeError(f"task must be callable with a model, got {type(task).__name__}")
        _check_signature(task)
        self.task: Callable[[Any], Any] = task
        self.every = integer(1)("every", every)
        self.keep_best = keep_best if isinstance(keep_best, bool) else path_like("keep_best", keep_best)
        self.patience = optional(integer(1))("patience", patience)
        self.min_delta = number(0.0, sys.float_info.max)("min_delta", min_delta)
        self.restore_best = flag("restore_best", restore_best)
        self.overwrite = flag("overwrite", overwrite)
        self.verbose = flag("verbose", verbose)
        if restore_best and keep_best is not True:
            raise ValueError("restore_best needs keep_best=True")
        self._model: Callable[[], Any] | None = None  # a weak reference to the model of the last training
        self._seen: list[Any] = []  # its epochs at the last hook
        self._forget()

    def _forget(self) -> None:
        self._best = BestModel(self.keep_best, self.overwrite)  # first, since it may refuse
        self.history: list[dict[str, Any]] = []
        self.best_score: float | None = None
        self.best_epoch: int | None = None
        self._epochs = 0  # that ended, of both stages
        self._begun = 0  # what `_epochs` was when the last call of train began
        self._epoch = 0  # the number of the last one
        self._evaluated = 0  # what `_epochs` was at the last evaluation
        self._failures = 0

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: all but the model of the last training, which is known again by its epochs."""
        return {**self.__dict__, "_model": None}

    @property
    def best_path(self) -> Path | None:
        """Where the best model was saved."""
        return self._best.path

    def on_train_begin(self, model: Any) -> None:
        """Try the task and the path; count the evaluations without improvement anew, and all else for a new model."""
        self._begin(model)
        self._failures, self._begun = 0, self._epochs
        self._best.check()
        if isinstance(self.task, Task):
            self.task.check(model)
        if self._missed(model):
            self._epoch = model.history[-1]["epoch"]
            self._evaluate(model)
        self._note(model)

    def on_epoch_begin(self, model: Any) -> None:
        """Nothing to do; gensim calls it."""

    def on_epoch_end(self, model: Any) -> None:
        """Count the epoch, and evaluate when it is time."""
        self._epochs += 1
        rows = getattr(model, "history", None)
        self._epoch = rows[-1].get("epoch", self._epochs) if rows else self._epochs
        if self._epoch % self.every == 0:
            self._evaluate(model)
        self._note(model)

    def on_train_end(self, model: Any) -> None:
        """Evaluate the final model if its epoch was not, and put the best arrays back if asked to."""
        if self._is_interrupted(model):
            return
        if self._evaluated < self._epochs:
            self._evaluate(model)
        if self.restore_best and self._best.arrays is not None:
            self.restore(model)

    def _begin(self, model: Any) -> None:
        """Go on with what is known of this training, or begin anew."""
        losses = _losses(model)
        if (self._model is not None and self._model() is model) or _agree(losses, self._seen):
            if _fits(self._best.shapes, model):
                return self._take_back(losses)
            logger.info("the model has other shapes than at its best; its evaluation begins anew")
        return self._forget()

    def _missed(self, model: Any) -> bool:
        """Whether a training that goes on was stopped between the end of an epoch, with its checkpoint, and this."""
        losses, state = _losses(model), getattr(model, "training_state", None)
        if not self.history or not losses or not isinstance(state, Mapping):
            return False
        at_end = state.get("stage", 0) > 0 and state.get("batch") == 0
        return at_end and losses[-1][0] % self.every == 0 and self.history[-1]["total"] < _total(losses)

    def _take_back(self, losses: list[Any]) -> None:
        """Forget the evaluations of epochs that a resumed training goes through again."""
        if losses:
            self.history = [row for row in self.history if row["total"] <= _total(losses)]

    def _note(self, model: Any) -> None:
        try:
            self._model = weakref.ref(model)
        except TypeError:  # an object without weak references: held, so that no other can take its address
            self._model = lambda: model
        self._seen = _losses(model)

    def _evaluate(self, model: Any) -> None:
        started = time.perf_counter()
        result = self.task(model)
        score = _score(result)
        warming = _is_warming(model)
        losses = _losses(model)
        total = _total(losses) if losses else self._epochs
        again = total == self.best_epoch and self.best_score is not None and score >= self.best_score  # resumed
        improved = self.best_score is None or score > self.best_score + self.min_delta or again
        better = bool(np.isfinite(score)) and improved and not warming
        row: dict[str, Any] = {"epoch": self._epoch, "total": total, "score": score, "best": better}
        row["seconds"] = time.perf_counter() - started
        if isinstance(result, EvaluationResult):
            row.update({key: value for key, value in result.summary.items() if key not in row})
        if better:
            self._best.keep(model)  # first, since it may fail: then the training can be resumed from the epoch's end
        self.history.append(row)
        self._evaluated = self._epochs
        self._say(row)
        if better:
            self.best_score, self.best_epoch, self._failures = score, total, 0
            return
        if warming:
            return
        self._failures += 1
        if self.patience is not None and self._failures >= self.patience:
            logger.info(
                "stopping: no improvement on %s (epoch %s) in %d evaluations",
                self.best_score,
                self.best_epoch,
                self._failures,
            )
            model.stop_training = True

    def _is_interrupted(self, model: Any) -> bool:
        """Whether a training has ended before its time and not by a callback, so that it can be resumed."""
        state = getattr(model, "training_state", None)
        if not isinstance(state, Mapping) or "epochs" not in state or model.stop_training:
            return False
        return self._epochs == self._begun or self._epoch < state["epochs"] or _is_warming(model)

    def _say(self, row: dict[str, Any]) -> None:
        text = f"epoch {row['epoch']}: score {row['score']:.4f}{' (best)' if row['best'] else ''}"
        logger.info("%s", text)
        if not np.isfinite(row["score"]):
            logger.warning("epoch %d: the score is %s and counts as no improvement", row["epoch"], row["score"])
        if self.verbose:
            from tqdm import tqdm

            tqdm.write(text)  # which leaves a progress bar whole

    def restore(self, model: Any) -> None:
        """Write the best arrays into a model of the same shape.

        Raises
        ------
        RuntimeError
            If no arrays were kept in memory; ``best_path`` names the saved model where there is one.
        ValueError
            If the model has other shapes, as after a growth of its vocabulary.
        """
        self._best.restore(model)

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        return f"EvaluationCallback: {len(self.history)} evaluations, best {self.best_score} at epoch {self.best_epoch}"


def _check_signature(task: Callable[..., Any]) -> None:
    """Raise a TypeError where a function does not take one argument, as those of one call, which take the data too."""
    try:
        signature = inspect.signature(task)
    except (TypeError, ValueError):  # of some built-in functions it is not known
        return
    try:
        signature.bind(None)
    except TypeError as error:
        name = getattr(task, "__name__", type(task).__name__)
        raise TypeError(
            f"task must take the model alone, and {name}{signature} does not ({error}). Give a task, such as "
            "ScwsTask('ratings.txt'), or a function of the model that calls it"
        ) from None


def _score(result: Any) -> float:
    score = getattr(result, "score", result)
    if isinstance(score, (bool, np.bool_)) or not isinstance(score, numbers.Real):
        raise TypeError(
            f"task(model) must give a number, or a result whose score is one; got {type(result).__name__}"
            + ("" if score is result else f" with a score of type {type(score).__name__}")
        )
    return float(score)


def _losses(model: Any) -> list[Any]:
    """What tells one training from another: its epochs and their losses; files do not keep how long they took."""
    return [(row.get("epoch"), row.get("loss"), row.get("stage")) for row in getattr(model, "history", None) or []]


def _agree(losses: list[Any], seen: list[Any]) -> bool:
    """Whether both can be of one training, which one of them saw more of."""
    common = min(len(losses), len(seen))
    return common > 0 and losses[:common] == seen[:common]


def _total(losses: list[Any]) -> int:
    """How many epochs these are: one epoch alone has a row for its half of words and one for that of senses."""
    halves = sum(
        1
        for (epoch, _, stage), (next_epoch, _, next_stage) in pairwise(losses)
        if epoch == next_epoch and (stage, next_stage) == ("words", "senses")
    )
    return len(losses) - halves


def _fits(best: dict[str, list[int]], model: Any) -> bool:
    """Whether a model has the shapes that it had at its best, or will have senses only after its split."""
    waiting = bool((getattr(model, "training_state", None) or {}).get("split_due"))
    return not best or waiting or best == shapes_of(model)


def _is_warming(model: Any) -> bool:
    """Whether the model is about to be split into senses, so that its arrays will have other shapes."""
    history = getattr(model, "history", None) or [{}]
    return bool(history[-1].get("stage") == "words")
