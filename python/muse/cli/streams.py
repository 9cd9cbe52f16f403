"""Standard input and output in the place of files: ``-`` everywhere."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from muse.files.lines import as_paths, decode_line, read_chunks, shown, split_lines
from muse.files.replacing import check_target
from muse.files.text_files import text_files

__all__ = [
    "claim_input",
    "input_file", "is_input", "is_output", "lines", "output_file", "raw_input", "raw_output", "refuse_overwriting",
    "refuse_two_inputs",
]  # fmt: skip

_INPUTS = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_OUTPUTS = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
_PIECE = 1 << 16


def is_input(name: str) -> bool:
    """Whether a name means standard input."""
    return name in _INPUTS


def is_output(name: str) -> bool:
    """Whether a name means standard output."""
    return name in _OUTPUTS


def claim_input() -> None:
    """Say that standard input is read now, which can be done once."""
    if sys.stdin is None:
        raise OSError("standard input is closed; name a file")
    taken = click.get_current_context().find_root().meta
    refuse_two_inputs("-", *(["-"] if taken.get(__name__) else []))
    taken[__name__] = True


def raw_input() -> Any:
    """Standard input as bytes, which gives what has come; it can be taken once."""
    claim_input()
    return getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)


def raw_output() -> Any:
    """Standard output as bytes."""
    if sys.stdout is None:
        raise OSError("standard output is closed; name a file")
    sys.stdout.flush()
    return sys.stdout.buffer


def lines(source: str, what: str = "the text") -> Iterator[str]:
    """The lines of a file, compressed or not, or of standard input as they come.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no such file, or it is no UTF-8 (with the line).
    """
    if is_input(source):
        stream, name = raw_input(), Path("standard input")
        yield from _decoded(iter(lambda: stream.read(_PIECE), b""), name)
        return
    (path,) = as_paths(source, what)
    with path.open("rb") as file:
        yield from _decoded(read_chunks(path, file), path)


def _decoded(chunks: Iterator[bytes], path: Path) -> Iterator[str]:
    for number, line in enumerate(split_lines(chunks), start=1):
        yield decode_line(line, path, number)


@contextlib.contextmanager
def input_file(name: str) -> Iterator[str]:
    """The name of a file to read: the same one or, of standard input, that of a copy."""
    if not is_input(name):
        yield name
        return
    stream = raw_input()
    with tempfile.TemporaryDirectory(prefix="muse-") as folder:
        copy = os.path.join(folder, "standard-input")
        with open(copy, "wb") as file:
            for piece in iter(lambda: stream.read(_PIECE), b""):
                file.write(piece)
        yield copy


@contextlib.contextmanager
def output_file(name: str) -> Iterator[str]:
    """The name of a file to write: the same one or, for standard output, one that is sent there when it is complete."""
    if not is_output(name):
        yield name
        return
    target = raw_output()
    with tempfile.TemporaryDirectory(prefix="muse-") as folder:
        made = os.path.join(folder, "standard-output")
        yield made
        if os.listdir(folder) != ["standard-output"] or os.path.isdir(made):
            raise click.UsageError("this is more than one file, which cannot go to standard output; name it")
        with open(made, "rb") as file:
            shutil.copyfileobj(file, target)
        target.flush()


def refuse_two_inputs(*names: str) -> None:
    """Say at once that two things cannot both be read from standard input."""
    if sum(map(is_input, names)) > 1:
        raise click.UsageError("standard input can be read once; name a file for the other")


def refuse_overwriting(target: str | None, *sources: str | None) -> None:
    """Say before the work, not after it, that a file cannot be written there, or would replace what is read."""
    if target is None or is_output(target):
        return
    for source in sources:
        if source is not None and not is_input(source) and os.path.realpath(target) in _read_from(source):
            raise ValueError(f"{shown(target)} is what is to be read; give another name for what is to be written")
    check_target(target)


def _read_from(source: str) -> set[str]:
    """The file of a name, and those of a folder or pattern."""
    names = {os.path.realpath(source)}
    with contextlib.suppress(OSError, ValueError):  # what is not there is said by who reads it
        names |= {os.path.realpath(path) for path in text_files(source, "text")}
    return names
