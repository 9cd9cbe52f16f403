"""Reading vector files piece by piece, with every count checked before memory is taken."""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.base.limits import usable_cores
from muse.errors import ModelFileError
from muse.files.lines import as_paths, is_compressed, read_chunks

__all__ = ["GrowingMatrix", "Reader", "damaged", "open_reader", "read_vectors"]

Floats: TypeAlias = NDArray[np.float32]

MAX_SIZE = 1 << 20  # numbers of a vector
_LONGEST_HEADER = 1 << 16  # bytes
_PIECE = 1 << 24
_LARGEST_PART = 1 << 32  # bytes of a part of a file whose size is not known
_BLOCK_ROWS = 1 << 14  # rows that a file of unknown length grows by, at least


def damaged(
    place: str, what: object, advice: str = "load another copy of the file, or name the right format"
) -> ModelFileError:
    """The error for a file that is not what it should be; `place` names it, and the line or byte where it can."""
    return ModelFileError(f"{place}: {what}; {advice}")


class Reader:
    """A file that is read from start to end, decompressed as its name says (.gz, .bz2, .xz, .zst).

    Parameters
    ----------
    path : Path
        Its name.
    file : binary file
        The open file.
    """

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path = path
        self.name = repr(os.fspath(path))
        self.line = 1  # the number of the next one
        self.at_end = False
        self._pieces = read_chunks(path, file)
        self._held = bytearray()  # what was read and not yet used
        size = os.fstat(file.fileno())
        self._plain_size = size.st_size if path.is_file() and not is_compressed(path) else None
        self._used = 0

    @property
    def position(self) -> int:
        """Bytes used so far, of the decompressed file."""
        return self._used

    @property
    def place(self) -> str:
        """The file and the line, for errors."""
        return f"{self.name}, line {self.line}"

    def left(self) -> int | None:
        """Bytes that are left, None where they cannot be known (of a compressed file or a pipe)."""
        return None if self._plain_size is None else self._plain_size - self._used

    def peek(self, size: int) -> bytes:
        """The next bytes, or fewer at the end; they stay where they are."""
        while len(self._held) < size and not self.at_end:
            self._more()
        return bytes(self._held[:size])

    def take_line(self, longest: int = _LONGEST_HEADER) -> bytes:
        """The next line without its end, empty at the end of the file; a ModelFileError if it does not end."""
        start = 0
        while (end := self._held.find(b"\n", start)) < 0 and len(self._held) <= longest and not self.at_end:
            start = len(self._held)
            self._more()
        if end < 0 and len(self._held) > longest:
            raise damaged(self.place, f"it does not end within {longest} bytes")
        text = bytes(self._held[:end]) if end >= 0 else bytes(self._held)
        self._drop(len(text) + (end >= 0))
        self.line += 1
        return text.removesuffix(b"\r")

    def read_rows(self, matrix: Floats, start: int, *, binary: bool, keyed: bool) -> tuple[list[bytes], int]:
        """Read rows into a matrix from row `start` on, as many as one piece holds: their keys, and how many."""
        while True:
            first = start + 1 if binary else self.line
            try:
                with memoryview(self._held) as text:
                    keys, rows, used, lines = _core.read_rows(
                        text, matrix, start, binary=binary, keyed=keyed, final=self.at_end,
                        first=first, workers=usable_cores(),
                    )  # fmt: skip
            except ValueError as error:
                raise damaged(self.name, error) from None
            self._drop(used)
            self.line += lines
            if rows or self.at_end:
                return keys, rows
            self._more()

    def take_rows(self, rows: int, columns: int) -> Floats:
        """The next lines of numbers, float32 (rows, columns)."""
        left = self.left()
        if rows * columns * 2 - 1 > (_LARGEST_PART if left is None else left):
            raise damaged(
                self.place, f"{rows} rows of {columns} numbers are expected, and the file is too small for that"
            )
        matrix = np.empty((rows, columns), np.float32)
        read = 0
        while read < rows:
            _, got = self.read_rows(matrix, read, binary=False, keyed=False)
            if not got:
                raise damaged(
                    self.place, f"the file ends where {rows - read} more rows of {columns} numbers are expected"
                )
            read += got
        return matrix

    def take_array(self, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
        """The next numbers of a binary file."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        left = self.left()
        if size > (_LARGEST_PART if left is None else left):
            raise damaged(
                f"{self.name}, byte {self._used}", f"{size} bytes are expected, and the file is too small for that"
            )
        array = np.empty(shape, dtype)
        target = array.reshape(-1).view(np.uint8)
        done = 0
        while done < size:
            part = self.peek(min(size - done, _PIECE))
            if not part:
                raise damaged(f"{self.name}, byte {self._used}", f"the file ends {size - done} bytes too early")
            target[done : done + len(part)] = np.frombuffer(part, np.uint8)
            self._drop(len(part))
            done += len(part)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise damaged(f"{self.name}, byte {self._used - size}", "the numbers from here on hold NaN or infinity")
        return array

    def _more(self) -> None:
        wanted = max(_PIECE, len(self._held))
        got = 0
        while got < wanted:
            piece = next(self._pieces, b"")
            if not piece:
                self.at_end = True
                return
            self._held += piece
            got += len(piece)

    def _drop(self, size: int) -> None:
        del self._held[:size]
        self._used += size


class GrowingMatrix:
    """Rows that are added one after another, float32; memory follows what was added."""

    def __init__(self, columns: int) -> None:
        self._matrix = np.empty((0, columns), np.float32)
        self._rows = 0

    def add(self, rows: Floats) -> None:
        """Add rows, float32 (N, columns)."""
        needed = self._rows + len(rows)
        if needed > len(self._matrix):
            wanted = max(needed, self._rows + self._rows // 2, _BLOCK_ROWS // 16)
            self._matrix.resize((wanted, self._matrix.shape[1]), refcheck=False)
        self._matrix[self._rows : needed] = rows
        self._rows = needed

    def finish(self) -> Floats:
        """All rows."""
        self._matrix.resize((self._rows, self._matrix.shape[1]), refcheck=False)
        return self._matrix


@contextlib.contextmanager
def open_reader(path: str | PathLike[str]) -> Iterator[Reader]:
    """Open a file for reading.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    ModelFileError
        If its compressed data is damaged.
    """
    (found,) = as_paths(path, "a vector file")
    with found.open("rb") as file:
        try:
            yield Reader(found, file)
        except ModelFileError:
            raise
        except ValueError as error:
            raise ModelFileError(str(error)) from error


def read_vectors(
    reader: Reader,
    columns: int,
    rows: int | None,
    *,
    binary: bool = False,
    keyed: bool = True,
    limit: int | None = None,
) -> tuple[list[bytes], Floats]:
    """Read the rows of a file up to its end.

    Parameters
    ----------
    reader : Reader
        The file, behind its header.
    columns : int
        Numbers of a row.
    rows : int or None
        Rows that the file claims to have; None: all that come.
    binary, keyed : bool
        The form of a row, see `muse._core.read_rows`.
    limit : int, optional
        Read no more rows than this.

    Returns
    -------
    keys : list of bytes
    vectors : float32 (N, columns)

    Raises
    ------
    ModelFileError
        If the file holds fewer rows, or one is not what it should be. Memory is taken for what the file can hold, and
        for what was read of a file whose size is not known, never for what its header claims.
    """
    if not 1 <= columns <= MAX_SIZE:
        raise damaged(reader.place, f"vectors of {columns} numbers; from 1 to {MAX_SIZE} are possible")
    smallest = 4 * columns + 1 if binary else 2 * columns
    left = reader.left()
    if rows is not None and left is not None and rows * smallest - 1 > left:
        raise damaged(
            reader.name, f"its header claims {rows} rows of {columns} numbers, and the file is too small for that"
        )
    wanted = rows if limit is None else min(limit, sys.maxsize if rows is None else rows)
    known = left is not None and wanted is not None and rows is not None
    matrix = np.empty((wanted if known and wanted is not None else 0, columns), np.float32)
    keys: list[bytes] = []
    count = 0
    while wanted is None or count < wanted:
        if count == len(matrix):
            grown = max(_BLOCK_ROWS, count // 2)
            matrix.resize((count + (grown if wanted is None else min(grown, wanted - count)), columns), refcheck=False)
        found, read = reader.read_rows(matrix, count, binary=binary, keyed=keyed)
        keys += found
        count += read
        if not read:
            break
    if wanted is not None and count < wanted and (rows is not None):
        raise damaged(reader.name, f"the file ends after {count} of {wanted} rows")
    matrix.resize((count, columns), refcheck=False)
    if binary and sys.byteorder == "big":
        matrix.byteswap(inplace=True)
    return keys, matrix
