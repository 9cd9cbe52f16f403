"""The model that a command is about: a file of ours, or vectors of another tool."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from muse.base.checks import path_like
from muse.cli.streams import input_file
from muse.data.sense_names import NO_NAMES
from muse.formats.loaded import LoadedVectors, load_vectors
from muse.integrations.pretrained import is_pretrained, pretrained_file
from muse.model.muse import MUSE
from muse.vectors.sense_keys import read_sense_key

__all__ = ["is_model", "is_sense", "model_file", "open_model", "open_vectors"]


@contextlib.contextmanager
def open_model(path: str, **runtime: Any) -> Iterator[MUSE]:
    """The model in a file, mapped, so that it opens at once; `runtime` settings are those of `MUSE.load`."""
    with input_file(model_file(path)) as name:
        yield MUSE.load(name, mmap=True, **{key: value for key, value in runtime.items() if value is not None})


@contextlib.contextmanager
def open_vectors(path: str, format: str | None = None) -> Iterator[MUSE | LoadedVectors]:
    """The model in a file or, where it is none of ours, the vectors that another tool wrote."""
    with input_file(model_file(path)) as name:
        if format in (None, "muse") and (format == "muse" or is_model(name)):
            yield MUSE.load(name, mmap=True)
        else:
            yield load_vectors(name, format)


def model_file(path: str) -> str:
    """The file that is meant: the name of a pretrained model stands for its own, where no other file is called so."""
    return pretrained_file(path) if not os.path.exists(path) and is_pretrained(path) else path


def is_model(path: str) -> bool:
    """Whether a file begins as a model of ours does."""
    path_like("the file", path)
    try:
        with open(path, "rb") as file:
            return file.read(9)[8:9] == b"{"
    except IsADirectoryError:
        return False


def is_sense(opened: MUSE | LoadedVectors, word: str) -> bool:
    """Whether a word of the command line is the key of a sense: ``bank#1``, or ``bank:river`` with the name of one."""
    names = opened.snapshot.known_names if isinstance(opened, MUSE) else NO_NAMES
    return word not in opened and read_sense_key(word, names) is not None
