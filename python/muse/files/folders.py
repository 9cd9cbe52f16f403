"""Folders that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from muse.files.replacing import beginning_of, check_folder

__all__ = ["new_folder"]


@contextlib.contextmanager
def new_folder(path: str | PathLike[str]) -> Iterator[Path]:
    """A temporary folder that takes the name `path` when all is written.

    Raises
    ------
    FileExistsError
        If there is something of that name, which is never replaced.
    FileNotFoundError
        If the folder that it lies in does not exist.
    """
    target = Path(os.path.abspath(path))
    if target.exists():
        raise FileExistsError(
            errno.EEXIST, "there is something of that name; remove it, or give another name", str(path)
        )
    check_folder(target.parent)
    with tempfile.TemporaryDirectory(prefix=f".{beginning_of(target.name)}.", dir=target.parent) as temporary:
        inside = Path(temporary) / "new"
        inside.mkdir()
        yield inside
        inside.rename(target)
