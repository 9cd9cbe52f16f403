"""The TensorBoard projector's two tables: a folder of ``vectors.tsv``, a row a sense, and ``metadata.tsv``.

``metadata.tsv`` has a header, ``sense``, ``word``, ``share`` and ``count``. One that another program wrote may have
other columns, of which the first is the key, or one column and then no header, as the projector has it.
"""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from muse.files.folders import new_folder
from muse.files.replacing import naming
from muse.formats.reading import damaged, open_reader, read_vectors
from muse.formats.table import SenseTable, group_keys
from muse.formats.word2vec import decoded

__all__ = ["VECTORS", "read_projector", "write_projector"]

VECTORS, METADATA = "vectors.tsv", "metadata.tsv"
_LONGEST_LINE = 1 << 21
_SNIFFED = 1 << 21

Floats: TypeAlias = NDArray[np.float32]


def read_projector(path: str | PathLike[str], *, mark: str = "#") -> SenseTable:
    """Read a folder for the TensorBoard projector.

    Parameters
    ----------
    path : path-like
        The folder.
    mark : str
        What stands between word and number in its keys.

    Raises
    ------
    FileNotFoundError
        If one of its two files is missing.
    ModelFileError
        If they do not fit together, or a line is not what it should be; the message names the file and the line.
    """
    folder = Path(path)
    with open_reader(folder / VECTORS) as reader:
        first = reader.peek(_SNIFFED)
        if not first.strip():
            raise damaged(reader.name, "it is empty")
        columns = len(first.lstrip(b"\r\n").partition(b"\n")[0].split())
        _, vectors = read_vectors(reader, columns, None, keyed=False)
    keys, counts = _read_metadata(folder / METADATA)
    if len(keys) != len(vectors):
        raise damaged(repr(os.fspath(path)), f"{METADATA} has {len(keys)} rows, and {VECTORS} {len(vectors)}")
    return group_keys(keys, vectors, mark=mark, counts=counts, source=repr(os.fspath(path)))


def _read_metadata(path: Path) -> tuple[list[str], list[int] | None]:
    """Keys, and counts where there is a column of them."""
    keys: list[bytes] = []
    counts: list[int] | None = None
    with open_reader(path) as reader:
        header = reader.peek(_SNIFFED).partition(b"\n")[0].rstrip(b"\r").split(b"\t")
        if len(header) > 1:
            reader.take_line(_LONGEST_LINE)
            counts = [] if b"count" in header else None
        place = header.index(b"count") if counts is not None else 0
        while not (reader.at_end and not reader.peek(1)):
            at = reader.place
            line = reader.take_line(_LONGEST_LINE).rstrip(b"\r")
            if not line:
                continue
            fields = line.split(b"\t")
            if len(fields) != len(header):
                raise damaged(at, f"expected {len(header)} fields, found {len(fields)}")
            keys.append(fields[0])
            if counts is not None:
                if not fields[place].isdigit() or len(fields[place]) > 18:
                    raise damaged(at, f"the count must be a whole number, found {fields[place][:40]!r}")
                counts.append(int(fields[place]))
        return decoded(keys, reader, "utf-8", "strict"), counts


def write_projector(
    path: str | PathLike[str], table: SenseTable, *, limit: int | None = None, replace_tabs: str | None = None
) -> None:
    """Write a folder for the TensorBoard projector: `vectors.tsv`, and `metadata.tsv` with the sense of each row.

    Parameters
    ----------
    path : path-like
        The folder, which is made.
    table : SenseTable
        The senses.
    limit : int, optional
        The senses of so many words only, the first ones, which are the most frequent: the projector is a page in a
        browser, and slow beyond some ten thousand rows.
    replace_tabs : str, optional
        What takes the place of tabs and ends of lines in words; without it such words are an error.

    Raises
    ------
    FileExistsError
        If there is something of that name.
    ValueError
        For a word with a tab or an end of line in it.
    """
    words = [_writable(str(word), replace_tabs) for word in table.words[: table.n_words if limit is None else limit]]
    rows = int(table.sense_offset[len(words)])
    names = table.keys()[:rows]
    owners = np.repeat(np.arange(len(words)), table.senses[: len(words)]).tolist()
    shares, counts = table.shares()[:rows].tolist(), table.counts_of_senses()[:rows].tolist()
    row_format = "\t".join(["%.9g"] * table.vector_size) + "\n"
    with naming(path), new_folder(path) as folder:
        with open(folder / VECTORS, "wb") as file:
            for vector in table.sense_vectors[:rows]:
                file.write((row_format % tuple(vector.tolist())).encode())
        with open(folder / METADATA, "wb") as file:
            file.write(b"sense\tword\tshare\tcount\n")
            for name, owner, share, count in zip(names, owners, shares, counts, strict=True):
                key = words[owner] + name[len(str(table.words[owner])) :]
                file.write(f"{key}\t{words[owner]}\t{share:.6f}\t{count}\n".encode())


def _writable(word: str, replacement: str | None) -> str:
    parts = word.replace("\r", "\n").replace("\t", "\n").split("\n")
    if len(parts) == 1:
        return word
    if replacement is None:
        raise ValueError(
            f"the projector format cannot hold the word {word!r}, which has a tab or an end of line in it; give "
            "replace_tabs='_' (or another string) to replace it"
        )
    return replacement.join(parts)
