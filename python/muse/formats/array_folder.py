"""Folders of an array and a table: ``vectors.npy`` or ``vectors.tsv``, and ``metadata.tsv`` with a line for each row.

``numpy.load(folder + "/vectors.npy", mmap_mode="r")`` maps the first; the other is what the TensorBoard projector loads
(projector.tensorflow.org). The first line of ``metadata.tsv`` has the names of `muse.formats.sense_rows.COLUMNS`.
"""

from __future__ import annotations

import errno
import os
import re
import tokenize
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from muse.base.checks import integer
from muse.files.folders import new_folder
from muse.files.replacing import naming
from muse.formats.reading import damaged, open_reader, read_vectors
from muse.formats.sense_rows import COLUMNS, SenseRows, rows_of_table, table_of_rows
from muse.formats.table import SenseTable

__all__ = ["METADATA", "read_numpy", "read_projector", "write_numpy", "write_projector"]

METADATA = "metadata.tsv"
_LONGEST_LINE = 1 << 21
_SNIFFED = 1 << 24
_BREAKS = re.compile(r"[\t\n\r]")


def read_numpy(path: str | PathLike[str]) -> SenseTable:
    """Read a folder of ``vectors.npy``, of any floating-point type, and ``metadata.tsv``.

    Raises
    ------
    FileNotFoundError
        If one of them is missing.
    ModelFileError
        If one is damaged, or they do not belong together.
    """
    folder = _folder(path)
    file = folder / "vectors.npy"
    try:
        mapped = np.lib.format.open_memmap(file, mode="r")  # compares the size with that of the file, allocates nothing
    except (ValueError, TypeError, OverflowError, EOFError, SyntaxError, tokenize.TokenError) as error:
        raise damaged(repr(os.fspath(file)), f"numpy cannot read it ({error})") from error
    if not isinstance(mapped, np.ndarray) or mapped.ndim != 2 or mapped.dtype.kind != "f":
        raise damaged(repr(os.fspath(file)), "it holds no matrix of floating-point numbers")
    with np.errstate(over="ignore"):  # becomes infinite, which is refused
        vectors = np.array(mapped, np.float32, order="C")
    return _table(folder, vectors)


def read_projector(path: str | PathLike[str]) -> SenseTable:
    """Read a folder of ``vectors.tsv`` and ``metadata.tsv``; the errors are those of `read_numpy`."""
    folder = _folder(path)
    with open_reader(folder / "vectors.tsv") as reader:
        columns = len(reader.peek(_SNIFFED).lstrip(b"\r\n").partition(b"\n")[0].split())
        if not columns:
            raise damaged(reader.name, "it is empty")
        _, vectors = read_vectors(reader, columns, None, keyed=False)
    return _table(folder, vectors)


def _folder(path: str | PathLike[str]) -> Path:
    if not os.path.isdir(path):
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", os.fspath(path))
    return Path(path)


def _table(folder: Path, vectors: NDArray[np.float32]) -> SenseTable:
    words: list[str] = []
    numbers: list[tuple[float, ...]] = []
    with open_reader(folder / METADATA) as reader:
        if reader.take_line().decode("utf-8", "replace").split("\t") != list(COLUMNS):
            raise damaged(reader.name, f"its first line must be the columns {', '.join(COLUMNS)}")
        while not (reader.at_end and not reader.peek(1)):
            place = reader.place
            fields = reader.take_line(_LONGEST_LINE).split(b"\t")
            if fields == [b""] and not reader.peek(1):
                break
            try:
                _, word, sense, count, share, word_count = (field.decode("utf-8") for field in fields)
                numbers.append((int(sense), int(count), float(share), int(word_count)))
            except ValueError:
                raise damaged(place, f"expected {', '.join(COLUMNS)}, found {fields!r:.100}") from None
            words.append(word)
        if len(words) != len(vectors):
            raise damaged(reader.name, f"{len(words)} lines for {len(vectors)} vectors")
    columns = list(zip(*numbers, strict=True)) or [()] * 4
    try:
        whole = [np.array(columns[column], np.int64) for column in (0, 1, 3)]
    except OverflowError:
        raise damaged(repr(os.fspath(folder / METADATA)), "it holds a number beyond 2^63") from None
    rows = SenseRows(words, whole[0], whole[1], np.array(columns[2], np.float64), whole[2], vectors)
    return table_of_rows(rows, repr(os.fspath(folder / METADATA)))


def write_numpy(path: str | PathLike[str], table: SenseTable, *, replace_spaces: str | None = None) -> None:
    """Write a folder of ``vectors.npy``, float32 (Z, D), and ``metadata.tsv``.

    Raises
    ------
    FileExistsError
        If there is something of that name.
    ValueError
        If a word has a tab or a line break in it, and `replace_spaces` does not say what takes its place.
    """
    rows = _writable(rows_of_table(table), replace_spaces)
    with naming(path), new_folder(path) as folder:
        vectors = np.ascontiguousarray(rows.vectors, "<f4")
        described = {"descr": "<f4", "fortran_order": False, "shape": vectors.shape}
        with open(folder / "vectors.npy", "wb") as file:  # numpy's own writing does not say what is wrong with a disk
            np.lib.format.write_array_header_1_0(file, described)
            file.write(vectors.reshape(-1).view(np.uint8).data)
        _write_metadata(folder, rows)


def write_projector(
    path: str | PathLike[str], table: SenseTable, *, limit: int | None = None, replace_spaces: str | None = None
) -> None:
    """Write a folder for the TensorBoard projector, numbers with nine digits; the errors are those of `write_numpy`.

    `limit` leaves out all but the senses of so many words, the first ones, which are the most frequent: the projector
    is a page in a browser, and slow beyond some ten thousand rows.
    """
    count = table.n_words if limit is None else min(integer(1)("limit", limit), table.n_words)
    rows = rows_of_table(table).first(int(table.sense_offset[count]))
    rows = _writable(rows, replace_spaces)
    row_format = "\t".join(["%.9g"] * table.vector_size) + "\n"
    with naming(path), new_folder(path) as folder:
        with open(folder / "vectors.tsv", "wb") as file:
            for vector in rows.vectors:
                file.write((row_format % tuple(vector.tolist())).encode())
        _write_metadata(folder, rows)


def _writable(rows: SenseRows, replace_spaces: str | None) -> SenseRows:
    """The rows with words that a line of a table can hold."""
    if replace_spaces is not None and (not isinstance(replace_spaces, str) or _BREAKS.search(replace_spaces)):
        raise ValueError(f"replace_spaces must be a string without tabs and line breaks; got {replace_spaces!r:.80}")
    odd = [row for row, word in enumerate(rows.words) if _BREAKS.search(word)]
    if not odd:
        return rows
    if replace_spaces is None:
        raise ValueError(
            f"a table in text cannot hold the word {rows.words[odd[0]]!r:.80}, which has a tab or a line break in it; "
            "give replace_spaces='_' (or another string) to replace it, or take format='parquet' or 'sqlite'"
        )
    words = list(rows.words)
    for row in odd:
        words[row] = _BREAKS.sub(lambda _: replace_spaces, words[row])
    changed = rows._replace(words=words)
    if len(set(changed.keys())) < len(words):
        raise ValueError(f"with replace_spaces={replace_spaces!r} two words become the same; give another string")
    return changed


def _write_metadata(folder: Path, rows: SenseRows) -> None:
    columns = (rows.keys(), rows.words, *(numbers.tolist() for numbers in rows[1:5]))
    with open(folder / METADATA, "wb") as file:
        file.write(("\t".join(COLUMNS) + "\n").encode())
        for values in zip(*columns, strict=True):
            file.write(("\t".join(map(str, values)) + "\n").encode("utf-8"))
