"""The dump of the code that was published with the paper (Lee & Chen, 2017): two text files side by side.

Its menu entry 6 writes ``embed.txt``, the numbers of one sense a line, and ``index.tsv``, the key ``word_k`` of each,
with k from 1.
"""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path

from muse.files.replacing import replacing
from muse.files.word2vec_rows import writable_keys
from muse.formats.reading import damaged, open_reader, read_vectors
from muse.formats.table import SenseTable, group_keys

__all__ = ["read_paper", "write_paper"]

_SNIFFED = 1 << 24
_LONGEST_KEY = 1 << 21


def index_of(path: str | PathLike[str], index: str | PathLike[str] | None) -> Path:
    """The file of keys: the one that was named, or ``index.tsv`` beside the vectors."""
    return Path(os.fspath(path)).with_name("index.tsv") if index is None else Path(index)


def read_paper(path: str | PathLike[str], *, index: str | PathLike[str] | None = None) -> SenseTable:
    """Read a dump of the paper's code.

    Parameters
    ----------
    path : path-like
        The vectors, ``embed.txt``.
    index : path-like, optional
        The keys; ``index.tsv`` in the same folder, if not given.

    Raises
    ------
    FileNotFoundError
        If one of the two is missing.
    ModelFileError
        If one is damaged, or they do not belong together.
    """
    keys: list[str] = []
    with open_reader(index_of(path, index)) as reader:
        while not (reader.at_end and not reader.peek(1)):
            place = reader.place
            line = reader.take_line(_LONGEST_KEY)
            word, mark, number = line.rpartition(b"_")
            if not line and not reader.peek(1):
                break
            if not mark or not number.isdigit() or len(number) > 9 or int(number) < 1:
                raise damaged(place, f"expected a key such as 'head_1', found {line[:60]!r}")
            try:
                keys.append(f"{word.decode('utf-8')}#{int(number) - 1}")
            except UnicodeDecodeError:
                raise damaged(place, f"the key {line[:60]!r} is not UTF-8") from None
    with open_reader(path) as reader:
        columns = len(reader.peek(_SNIFFED).lstrip(b"\r\n").partition(b"\n")[0].split())
        if not keys or not columns:
            raise damaged(reader.name if keys else repr(str(index_of(path, index))), "it is empty")
        _, vectors = read_vectors(reader, columns, None, keyed=False)
        if len(vectors) != len(keys):
            raise damaged(
                reader.name, f"{len(vectors)} vectors for {len(keys)} keys", "give the index= written with it"
            )
        return group_keys(keys, vectors, source=reader.name)


def write_paper(
    path: str | PathLike[str],
    table: SenseTable,
    *,
    index: str | PathLike[str] | None = None,
    replace_spaces: str | None = None,
) -> None:
    """Write the two files as the paper's code does; the parameters are those of `read_paper`."""
    keys = writable_keys(table.keys("_", 1), replace_spaces, "paper's")
    with replacing(index_of(path, index)) as file:
        file.write("".join(f"{key}\n" for key in keys).encode())
    row_format = " ".join(["%.9g"] * table.vector_size) + "\n"
    with replacing(path) as file:
        for vector in table.sense_vectors:
            file.write((row_format % tuple(vector.tolist())).encode())
