"""The files that a user means: one, several, a folder, a pattern, standard input."""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from muse.base.checks import path_like
from muse.files.lines import STANDARD_INPUT, compression, is_compressed

__all__ = ["open_text", "text_files"]

_TEXT = (".txt", ".text")
_NO_TEXT = (".muse-index", ".safetensors")  # what this package writes beside texts


def text_files(value: Any, name: str) -> list[Path]:
    """The files that a path, or several of them, means, after a check that each is there.

    Parameters
    ----------
    value : path or iterable of paths
        A folder stands for its files and those of the folders in it, in the order of their names: those that end in
        .txt or .text (and .gz, .bz2, .xz, .zst behind it), or, where it has none, all that are not hidden and no models
        or indexes of texts. A pattern,
        such as ``"texts/**/*.txt"``, stands for the files that it matches, if there is none of that name. ``"-"`` is
        standard input.
    name : str
        What it is called in messages.

    Raises
    ------
    TypeError, ValueError
        If it is no path, or an empty list.
    FileNotFoundError
        If there is no such file, no file in the folder, or none that the pattern matches.
    """
    if isinstance(value, bytes) or hasattr(value, "read"):
        raise TypeError(f"{name} needs the path of a file, not {type(value).__name__}; pass e.g. file.name")
    if isinstance(value, str | os.PathLike):
        value = [value]
    if not isinstance(value, Iterable):
        raise TypeError(f"{name} needs a path or a list of paths, not {type(value).__name__}")
    found = [path for item in value for path in _meant(path_like(name, item), name)]
    if not found:
        raise ValueError(f"{name} is an empty list; name at least one file")
    if found.count(STANDARD_INPUT) > 1:
        raise ValueError(f"{name} names standard input twice, which can be read once")
    return found


def _meant(given: str, name: str) -> list[Path]:
    """The files that one path stands for."""
    if given == "-":
        return [STANDARD_INPUT]
    path = Path(given)
    if path.is_dir():
        files = sorted(_visible(path))
        if not files:
            raise FileNotFoundError(errno.ENOENT, f"{name}: there is no file in this folder", given)
        return [file for file in files if _is_text(file)] or files
    if path.exists() or path == STANDARD_INPUT:
        return [path]
    if not glob.has_magic(given):
        raise FileNotFoundError(errno.ENOENT, f"{name}: no such file; check the path", given)
    matched = sorted(map(Path, glob.glob(given, recursive=True)))
    if files := [match for match in matched if match.is_file()]:
        return files
    raise FileNotFoundError(errno.ENOENT, f"{name}: no file matches this pattern", given)


def _visible(folder: Path) -> Iterator[Path]:
    """Files in a folder and in those below it, but hidden ones."""
    for parent, folders, files in os.walk(folder):
        folders[:] = [child for child in folders if not child.startswith(".")]
        for file in files:
            path = Path(parent, file)
            if not file.startswith(".") and not file.endswith(_NO_TEXT) and path.is_file():
                yield path


def _is_text(path: Path) -> bool:
    return compression(path.with_suffix("") if is_compressed(path) else path) in _TEXT


def open_text(path: Path) -> IO[bytes]:
    """A file, or standard input, to be read from its beginning."""
    return open(0, "rb", closefd=False) if path == STANDARD_INPUT else path.open("rb")
