"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import BinaryIO

__all__ = ["check_target", "replacing"]


def check_target(path: str | PathLike[str]) -> Path:
    """The file that `path` names, links followed, if one can be written there; `replacing` lists the errors."""
    target = Path(os.path.realpath(path))  # a link stays a link
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder; give the name of a file in it", str(path))
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "is not a regular file, and would be lost; give another name", str(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "the folder does not exist; make it first", str(target.parent))
    return target


@contextlib.contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its name only when it is complete and on the disk.

    The bytes go to a temporary file in the same folder, which is synced and then renamed; if anything goes wrong on the
    way, a file that was there before is untouched.

    Raises
    ------
    IsADirectoryError, FileNotFoundError
        If `path` is a folder, or lies in one that does not exist.
    OSError
        If `path` is a device, a pipe or a socket.
    """
    target = check_target(path)
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make a rename in the folder survive a power cut, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
