"""Evaluation files as they are published: lines with their numbers, compressed or not, in UTF-8."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from muse.base.checks import path_like
from muse.files.lines import decode_line, read_chunks, split_lines

__all__ = ["read_lines", "read_pieces"]


def read_pieces(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """The content of an evaluation file in pieces; decompressed where its name ends in .gz, .bz2, .xz or .zst.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file, or it is a folder.
    ValueError
        If the compressed data is damaged or the name does not say that it is compressed; if the file is a zip archive;
        if the path is that of a device.
    """
    file = Path(path_like("an evaluation file", path))
    if file.is_dir():
        raise IsADirectoryError(f"{file} is a folder; give the file in it that holds the data")
    if file.is_char_device() or file.is_block_device():
        raise ValueError(f"{file} is a device; give a file that holds the data")
    if not file.exists():
        raise FileNotFoundError(f"no such evaluation file: {file}. Check the path; muse does not ship evaluation data.")
    with file.open("rb") as stream:
        yield from read_chunks(file, stream)


def read_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Yield ``(line number, line)`` of a UTF-8 text file, without line ends and byte-order mark.

    Lines end at ``\\n`` or ``\\r\\n`` only: contexts may contain characters that ``str.splitlines`` would split at.
    Files are opened as by :func:`read_pieces`.

    Raises
    ------
    ValueError
        Also if a line is not UTF-8, with the file and the line in the message.
    """
    for number, raw in enumerate(split_lines(read_pieces(path)), start=1):
        line = decode_line(raw, Path(path), number)
        if "\0" in line:
            raise ValueError(
                f"{os.fspath(path)}, line {number}: a NUL character, as in UTF-16 text; convert the text to UTF-8 first"
            )
        yield number, (line.removeprefix("\ufeff") if number == 1 else line).rstrip("\r")
