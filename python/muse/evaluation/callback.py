"""Evaluation during training: a curve of scores, the best model kept, and an early stop."""

from __future__ import annotations

import dataclasses
import inspect
import json
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
from numpy.typing import NDArray

from muse.base.checks import flag, integer, number, optional, path_like
from muse.evaluation.best import BestFile, TemporaryFolder, check_writable
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

    A callback goes on where a training is resumed: rows of epochs that are trained again are taken back, and the best
    stays the best, in another process too if ``keep_best`` is a path. With another model, as in a loop over seeds, or
    after the vocabulary has grown, it begins anew: its history and its best model are those of the present training. An
    interrupted training (Ctrl-C) is neither evaluated nor restored at its end, so that it can be resumed.

    Parameters
    ----------
    task : callable
        Takes the model; returns a number or an object with ``score``, higher being better. The tasks of this package
        are such callables.
    every : int
        Evaluate after every so many epochs, and after the last one in any case.
    keep_best : bool or path
        ``True`` keeps a copy of the best model's arrays in memory (or, for a model without ``arrays``, in a temporary
        file); a path saves the best model there each time that it improves, and its score in ``<path>.json``; ``False``
        keeps nothing. A file that is at the path already and is not of the present training is set aside:
        ``best.safetensors`` becomes ``best.previous.safetensors`` (of two such, the one of the better score stays).
    patience : int, optional
        Stop training after so many evaluations in a row without an improvement, by setting ``model.stop_training``.
    min_delta : float
        An improvement must exceed the best score by more than this.
    restore_best : bool
        Put the best arrays back into the model at the end of training. Needs ``keep_best=True`` and a model with
        ``arrays``.
    verbose : bool
        Print a line for each evaluation.

    Raises
    ------
    TypeError, ValueError
        For a parameter of the wrong type or out of range; before training also where ``keep_best`` is a path at which
        no file can be written, and after an epoch where the task gives no number.

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
        self.verbose = flag("verbose", verbose)
        if restore_best and keep_best is not True:
            raise ValueError("restore_best needs keep_best=True")
        self._model: Callable[[], Any] | None = None  # a weak reference to the model of the last training
        self._seen: list[Any] = []  # its epochs at the last hook
        self._forget()

    def _forget(self) -> None:
        self.history: list[dict[str, Any]] = []
        self.best_score: float | None = None
        self.best_epoch: int | None = None
        self.best_path: Path | None = None
        self._best_arrays: dict[str, NDArray[Any]] | None = None
        self._best_shapes: dict[str, list[int]] = {}
        self._folder: TemporaryFolder | None = None
        self._file = BestFile(self.keep_best) if isinstance(self.keep_best, str) else None
        self._epochs = 0  # that ended, of both stages
        self._epoch = 0  # the number of the last one
        self._evaluated = 0  # what `_epochs` was at the last evaluation
        self._failures = 0

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: all but the model of the last training, which is known again by its epochs."""
        return {**self.__dict__, "_model": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._folder is not None and self.best_path is not None:
            self.best_path = self._folder.file

    def on_train_begin(self, model: Any) -> None:
        """Try the task and the path; count the evaluations without improvement anew, and all else for a new model."""
        self._begin(model)
        self._failures = 0
        if isinstance(self.keep_best, str):
            check_writable(self.keep_best)
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
        if _is_interrupted(model):
            return
        if self._evaluated < self._epochs:
            self._evaluate(model)
        if self.restore_best and self._best_arrays is not None:
            self.restore(model)

    def _begin(self, model: Any) -> None:
        """Go on with what is known of this training, or begin anew."""
        losses, shapes = _losses(model), _shapes(model)
        if (self._model is not None and self._model() is model) or _agree(losses, self._seen):
            if _fits(self._best_shapes, shapes, model):
                return self._take_back(losses)
            logger.info("the model has other shapes than at its best; its evaluation begins anew")
            self._forget()
            return None
        self._forget()
        record = self._file.recorded() if self._file else None
        if self._file is None or record is None or record["task"] != _identity(self.task):
            return None
        if _agree(losses, [tuple(row) for row in record["trained"]]) and _fits(record["shapes"], shapes, model):
            self._file.take_up(record)
            self.history = record["history"]
            self.best_score, self.best_epoch = float(record["score"]), record["epoch"]
            self.best_path, self._best_shapes = self._file.given, record["shapes"]
            logger.info("%s goes on from score %.4f at epoch %d", self.best_path, self.best_score, self.best_epoch)
            self._take_back(losses)
        return None

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
        self.history.append(row)
        self._evaluated = self._epochs
        self._say(row)
        if better:
            self.best_score, self.best_epoch, self._failures = score, total, 0
            self._keep(model)
            return
        if self._file is not None and self.best_score is not None:
            self._file.note(self._record(model))
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

    def _say(self, row: dict[str, Any]) -> None:
        text = f"epoch {row['epoch']}: score {row['score']:.4f}{' (best)' if row['best'] else ''}"
        logger.info("%s", text)
        if not np.isfinite(row["score"]):
            logger.warning("epoch %d: the score is %s and counts as no improvement", row["epoch"], row["score"])
        if self.verbose:
            from tqdm import tqdm

            tqdm.write(text)  # which leaves a progress bar whole

    def _keep(self, model: Any) -> None:
        if self.keep_best is False:
            return
        arrays = getattr(model, "arrays", None)
        self._best_shapes = _shapes(model)
        if self._file is not None:
            self._file.save(model, self._record(model))
            self.best_path = self._file.given
        elif arrays is not None:
            # Copied into plain arrays of the same names: the live ones are views of padded buffers and go on changing.
            self._best_arrays = {name: np.array(value) for name, value in _fields(arrays).items()}
        else:
            self._folder = self._folder or TemporaryFolder()
            self.best_path = self._folder.file
            model.save(os.fspath(self.best_path))

    def _record(self, model: Any) -> dict[str, Any]:
        """What another process must know to go on."""
        return {
            "task": _identity(self.task), "score": self.best_score, "epoch": self.best_epoch,
            "shapes": self._best_shapes, "trained": _losses(model), "history": list(self.history),
        }  # fmt: skip

    def restore(self, model: Any) -> None:
        """Write the best arrays into a model of the same shape.

        Raises
        ------
        RuntimeError
            If no arrays were kept in memory; ``best_path`` names the saved model where there is one.
        ValueError
            If the model has other shapes, as after a growth of its vocabulary.
        """
        if self._best_arrays is None:
            where = f"; the best model is in {self.best_path}" if self.best_path else ""
            raise RuntimeError(f"no arrays of a best model are in memory{where}")
        current = _fields(model.arrays)
        for name, best in self._best_arrays.items():
            if name not in current or current[name].shape != best.shape:
                raise ValueError(f"the model's {name} no longer has the shape {best.shape} that it had at its best")
            if not current[name].flags.writeable and not np.array_equal(current[name], best):
                raise ValueError(
                    f"the model's {name} is read-only; load the model without mmap=True to restore its best"
                )
        for name, best in self._best_arrays.items():
            if current[name].flags.writeable:
                np.copyto(current[name], best)
        if hasattr(model, "set_arrays"):
            model.set_arrays(model.arrays)  # what the model derived from the old values is out of date

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


def _shapes(model: Any) -> dict[str, list[int]]:
    """The shapes of a model's arrays by their names; none, if it has no arrays."""
    arrays = getattr(model, "arrays", None) if getattr(model, "is_trained", True) else None
    return {} if arrays is None else {name: list(value.shape) for name, value in _fields(arrays).items()}


def _fits(best: dict[str, list[int]], now: dict[str, list[int]], model: Any) -> bool:
    """Whether a model has the shapes that it had at its best, or will have senses only after its split."""
    waiting = bool((getattr(model, "training_state", None) or {}).get("split_due"))
    return not best or waiting or best == now


def _identity(task: Any) -> dict[str, Any]:
    """What tells one task from another, in the types of JSON."""
    if isinstance(task, Task):
        name, settings = type(task).__qualname__, getattr(task, "settings", {})
    else:
        name, settings = getattr(task, "__qualname__", type(task).__qualname__), {}
    plain: dict[str, Any] = json.loads(json.dumps({"name": name, "settings": settings}, default=str))
    return plain


def _is_interrupted(model: Any) -> bool:
    """Whether a training has ended before its time and not by a callback, so that it can be resumed."""
    from muse.training.run import is_finished  # a cycle at import otherwise

    state = getattr(model, "training_state", None)
    if not isinstance(state, Mapping) or "epochs" not in state or model.stop_training:
        return False
    return not is_finished(model, state["epochs"])


def _is_warming(model: Any) -> bool:
    """Whether the model is about to be split into senses, so that its arrays will have other shapes."""
    history = getattr(model, "history", None) or [{}]
    return bool(history[-1].get("stage") == "words")


def _fields(arrays: Any) -> dict[str, NDArray[Any]]:
    """The numpy arrays of a dataclass, or of any object's attributes."""
    names = [f.name for f in dataclasses.fields(arrays)] if dataclasses.is_dataclass(arrays) else list(vars(arrays))
    return {name: value for name in names if isinstance(value := getattr(arrays, name), np.ndarray)}
