"""Evaluation during training: a curve of scores, the best model kept, and an early stop."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import numbers
import os
import shutil
import sys
import tempfile
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.checks import flag, integer, number, optional, path_like
from muse.evaluation.protocol import Task
from muse.evaluation.results import EvaluationResult
from muse.formats.replacing import check_target

__all__ = ["EvaluationCallback"]

logger = logging.getLogger("muse.evaluation")


class EvaluationCallback:
    """Evaluates a model every few epochs, keeps the best, and may stop training early.

    Its hooks have gensim's names, so it serves ``muse.MUSE(..., callbacks=[...])``. A model that still is in the
    word-level start of ``init="split"`` has one sense a word: it is scored for the curve, but is not kept as the best,
    nor counted against ``patience``. A task of this package is tried once before training, so that one that cannot
    score the model (none of its words are known, say) ends it at the start and not after an epoch.

    A callback goes on where a training is resumed. With another model, as in a loop over seeds, it begins anew: its
    history and its best model are those of the present training.

    Parameters
    ----------
    task : callable
        Takes the model; returns a number or an object with ``score``, higher being better. The tasks of this package
        are such callables.
    every : int
        Evaluate after every so many epochs, and after the last one in any case.
    keep_best : bool or path
        ``True`` keeps a copy of the best model's arrays in memory (or, for a model without ``arrays``, in a temporary
        file); a path saves the best model there each time that it improves; ``False`` keeps nothing.
    patience : int, optional
        Stop training after so many evaluations in a row without an improvement, by setting ``model.stop_training``.
    min_delta : float
        An improvement must exceed the best score by more than this.
    restore_best : bool
        Put the best arrays back into the model at the end of training. Needs ``keep_best=True`` and a model with
        ``arrays``.

    Raises
    ------
    TypeError, ValueError
        For a parameter of the wrong type or out of range; before training also where ``keep_best`` is a path at which
        no file can be written, and after an epoch where the task gives no number.

    Attributes
    ----------
    history : list of dict
        A row for each evaluation: ``epoch`` (as in the model's own history, from 1), ``score``, ``best`` (whether it is
        the best so far), ``seconds``, and the numbers of the result's ``summary``.
    best_score, best_epoch : float or None, int or None
        The best evaluation so far.
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
    ) -> None:
        if not callable(task):
            raise TypeError(f"task must be callable with a model, got {type(task).__name__}")
        self.task = task
        self.every = integer(1)("every", every)
        self.keep_best = keep_best if isinstance(keep_best, bool) else path_like("keep_best", keep_best)
        self.patience = optional(integer(1))("patience", patience)
        self.min_delta = number(0.0, sys.float_info.max)("min_delta", min_delta)
        self.restore_best = flag("restore_best", restore_best)
        if restore_best and keep_best is not True:
            raise ValueError("restore_best needs keep_best=True")
        self._model: Callable[[], Any] = lambda: None  # a weak reference to the model of the last training
        self._seen: list[Any] = []  # its epochs at the last hook
        self._forget()

    def _forget(self) -> None:
        self.history: list[dict[str, Any]] = []
        self.best_score: float | None = None
        self.best_epoch: int | None = None
        self.best_path: Path | None = None
        self._best_arrays: dict[str, NDArray[Any]] | None = None
        self._folder: _Folder | None = None
        self._epochs = 0  # that ended, of both stages
        self._epoch = 0  # the number of the last one
        self._evaluated = 0  # what `_epochs` was at the last evaluation
        self._failures = 0

    def on_train_begin(self, model: Any) -> None:
        """Try the task and the path; count the evaluations without improvement anew, and all else for a new model."""
        if not self._goes_on(model):
            self._forget()
        self._failures = 0
        if isinstance(self.keep_best, str):
            _check_writable(self.keep_best)
        if isinstance(self.task, Task):
            self.task.check(model)
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
        if self._evaluated < self._epochs:
            self._evaluate(model)
        if self.restore_best and self._best_arrays is not None:
            self.restore(model)

    def _goes_on(self, model: Any) -> bool:
        """Whether this is the training that was watched before, of the same model or of one loaded from its files."""
        if self._model() is model:
            return True
        rows = _losses(model)
        common = min(len(rows), len(self._seen))
        return common > 0 and rows[:common] == self._seen[:common]

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
        improved = self.best_score is None or score > self.best_score + self.min_delta
        better = bool(np.isfinite(score)) and improved and not warming
        row: dict[str, Any] = {"epoch": self._epoch, "score": score, "best": better}
        row["seconds"] = time.perf_counter() - started
        if isinstance(result, EvaluationResult):
            row.update({key: value for key, value in result.summary.items() if key not in row})
        self.history.append(row)
        self._evaluated = self._epochs
        logger.info("epoch %d: score %.4f%s", self._epoch, score, " (best)" if better else "")
        if not np.isfinite(score):
            logger.warning("epoch %d: the score is %s and counts as no improvement", self._epoch, score)
        if better:
            self.best_score, self.best_epoch, self._failures = score, self._epoch, 0
            self._keep(model)
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

    def _keep(self, model: Any) -> None:
        if self.keep_best is False:
            return
        arrays = getattr(model, "arrays", None)
        if self.keep_best is True and arrays is not None:
            # Copied into plain arrays of the same names: the live ones are views of padded buffers and go on changing.
            self._best_arrays = {name: np.array(value) for name, value in _fields(arrays).items()}
            return
        if self.keep_best is True:
            self._folder = self._folder or _Folder()
            path = self._folder.path / f"best-{id(self)}.safetensors"  # a copy of this callback writes another file
        else:
            path = Path(self.keep_best)
        model.save(os.fspath(path))
        self.best_path = path

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

    def __str__(self) -> str:
        return f"EvaluationCallback: {len(self.history)} evaluations, best {self.best_score} at epoch {self.best_epoch}"


class _Folder:
    """A temporary folder, removed with the last callback that holds it: copies of a callback share it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="muse-best-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def __deepcopy__(self, memo: object) -> _Folder:
        return self


def _check_writable(path: str) -> None:
    with contextlib.suppress(OSError):
        if os.access(check_target(path).parent, os.W_OK):
            return
    raise ValueError(f"keep_best must be True, False, or the path of a file in a folder that exists; got {path!r}")


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
    return [(row.get("epoch"), row.get("loss")) for row in getattr(model, "history", None) or []]


def _is_warming(model: Any) -> bool:
    """Whether the model is about to be split into senses, so that its arrays will have other shapes."""
    history = getattr(model, "history", None) or [{}]
    return bool(history[-1].get("stage") == "words")


def _fields(arrays: Any) -> dict[str, NDArray[Any]]:
    """The numpy arrays of a dataclass, or of any object's attributes."""
    names = [f.name for f in dataclasses.fields(arrays)] if dataclasses.is_dataclass(arrays) else list(vars(arrays))
    return {name: value for name in names if isinstance(value := getattr(arrays, name), np.ndarray)}
