"""The best model of a training: its arrays in memory, or a file of it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.files.replacing import check_target

__all__ = ["BestModel", "shapes_of"]


class BestModel:
    """Where the best model of a training is kept.

    Parameters
    ----------
    keep : bool or str
        As the option ``keep_best`` of :class:`muse.evaluation.EvaluationCallback`.
    overwrite : bool
        Whether a file that is at the path already may be replaced.

    Raises
    ------
    FileExistsError
        If there is one that may not.

    Attributes
    ----------
    arrays : dict of str to array, or None
        A copy of the arrays that are kept in memory.
    shapes : dict of str to list of int
        The shapes of the best model's arrays.
    path : pathlib.Path or None
        Where the model was saved.
    """

    def __init__(self, keep: bool | str, overwrite: bool) -> None:
        self._keep, self._overwrite = keep, overwrite
        self.arrays: dict[str, NDArray[Any]] | None = None
        self.shapes: dict[str, list[int]] = {}
        self.path: Path | None = None
        self._folder: _TemporaryFolder | None = None
        self._check_free()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """For pickle and copy, which give a temporary file a place of its own."""
        self.__dict__.update(state)
        if self._folder is not None:
            self.path = self._folder.file

    def _check_free(self) -> None:
        if self._overwrite or not isinstance(self._keep, str):
            return
        if os.path.exists(self._keep) and not os.path.isdir(self._keep):
            raise FileExistsError(
                f"keep_best: there is a file already at {self._keep}, and it is not of this training; give each "
                "training a path of its own, move the file away, or pass overwrite=True, which loses it"
            )

    def check(self) -> None:
        """Raise an error, before training, if no file can be written at the path, or one of another would be lost.

        Raises
        ------
        FileExistsError, ValueError
            The message says what to do.
        """
        if not isinstance(self._keep, str):
            return
        if self.path is None:
            self._check_free()
        with contextlib.suppress(OSError):
            if os.access(check_target(self._keep).parent, os.W_OK):
                return
        raise ValueError(
            f"keep_best must be True, False, or the path of a file in a folder that exists; got {self._keep!r}"
        )

    def keep(self, model: Any) -> None:
        """Keep a model that is better than all before it. A model that saves itself whole or not at all, as `muse.MUSE`
        does, leaves the one before in the file if saving fails."""
        if self._keep is False:
            return
        arrays = getattr(model, "arrays", None)
        if isinstance(self._keep, str):
            model.save(self._keep)
            self.path = Path(self._keep)
        elif arrays is not None:
            # Copied into plain arrays of the same names: the live ones are views of padded buffers and go on changing.
            self.arrays = {name: np.array(value) for name, value in _fields(arrays).items()}
        else:
            self._folder = self._folder or _TemporaryFolder()
            self.path = self._folder.file
            model.save(os.fspath(self.path))
        self.shapes = shapes_of(model)

    def restore(self, model: Any) -> None:
        """See :meth:`muse.evaluation.EvaluationCallback.restore`."""
        if self.arrays is None:
            where = f"; the best model is in {self.path}" if self.path else ""
            raise RuntimeError(f"no arrays of a best model are in memory{where}")
        current = _fields(model.arrays)
        for name, best in self.arrays.items():
            if name not in current or current[name].shape != best.shape:
                raise ValueError(f"the model's {name} no longer has the shape {best.shape} that it had at its best")
            if not current[name].flags.writeable and not np.array_equal(current[name], best):
                raise ValueError(
                    f"the model's {name} is read-only; load the model without mmap=True to restore its best"
                )
        for name, best in self.arrays.items():
            if current[name].flags.writeable:
                np.copyto(current[name], best)
        if hasattr(model, "set_arrays"):
            model.set_arrays(model.arrays)  # what the model derived from the old values is out of date


def shapes_of(model: Any) -> dict[str, list[int]]:
    """The shapes of a model's arrays by their names; none, if it has no arrays."""
    arrays = getattr(model, "arrays", None) if getattr(model, "is_trained", True) else None
    return {} if arrays is None else {name: list(value.shape) for name, value in _fields(arrays).items()}


def _fields(arrays: Any) -> dict[str, NDArray[Any]]:
    """The numpy arrays of a dataclass, or of any object's attributes."""
    names = [f.name for f in dataclasses.fields(arrays)] if dataclasses.is_dataclass(arrays) else list(vars(arrays))
    return {name: value for name in names if isinstance(value := getattr(arrays, name), np.ndarray)}


class _TemporaryFolder:
    """A temporary folder with one file, removed with the object. A copy, also by pickle, has a folder of its own."""

    def __init__(self, contents: bytes | None = None) -> None:
        folder = Path(tempfile.mkdtemp(prefix="muse-best-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.file = folder / "best.safetensors"
        if contents is not None:
            self.file.write_bytes(contents)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _TemporaryFolder, (self.file.read_bytes() if self.file.is_file() else None,)
