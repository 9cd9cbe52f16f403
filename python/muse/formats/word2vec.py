"""The word2vec text and binary formats: a header line ``rows columns``, then one key and its vector a row.

GloVe's text has the same rows and no header, and so has what AdaGram.jl exports.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from muse.errors import warn_of_format
from muse.formats.names import read_names
from muse.formats.reading import Reader, damaged, open_reader, read_vectors
from muse.formats.table import SenseTable, group_keys

__all__ = [
    "read_counts",
    "read_glove",
    "read_keyed_vectors",
    "read_lines_of_vectors",
    "read_word2vec",
]

_SNIFFED = 1 << 21  # bytes that tell text from binary
_PRINTED = bytes({*range(256)} - {*range(9), *range(14, 32), 127})


def read_word2vec(
    path: str | PathLike[str],
    *,
    binary: bool | None = None,
    counts: str | PathLike[str] | None = None,
    names: str | PathLike[str] | None = None,
    mark: str = "#",
    limit: int | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
) -> SenseTable:
    """Read vectors that word2vec, gensim, fastText, sensegram, AdaGram-Cpp or `write_word2vec` wrote.

    Parameters
    ----------
    path : path-like
        The file; .gz, .bz2, .xz and .zst are decompressed.
    binary : bool, optional
        Whether it is binary; found out, if not given.
    counts : path-like, optional
        A file of lines ``key count``, as word2vec's ``-save-vocab`` and gensim's ``fvocab`` write it.
    names : path-like, optional
        A file of lines ``key``, tab, ``name``, as `MUSE.export` writes it.
    mark : str
        What stands between a word and the number of its sense.
    limit : int, optional
        Read no more rows than this.
    encoding, errors : str
        How keys are decoded; ``errors="replace"`` for files that word2vec cut in the middle of a character.

    Returns
    -------
    SenseTable

    Raises
    ------
    ModelFileError
        If the file is damaged or something else; the message names the line or row.
    """
    with open_reader(path) as reader:
        keys, vectors = read_keyed_vectors(reader, binary=binary, limit=limit, encoding=encoding, errors=errors)
        return _grouped(reader, keys, vectors, (counts, names), mark)


def read_glove(
    path: str | PathLike[str],
    *,
    counts: str | PathLike[str] | None = None,
    names: str | PathLike[str] | None = None,
    mark: str = "#",
    limit: int | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
) -> SenseTable:
    """Read lines ``key numbers`` without a header, as GloVe writes them and AdaGram.jl exports them (``mark="_"``).

    The parameters are those of `read_word2vec`.
    """
    with open_reader(path) as reader:
        keys, vectors = read_lines_of_vectors(reader, limit=limit, encoding=encoding, errors=errors)
        return _grouped(reader, keys, vectors, (counts, names), mark)


def read_lines_of_vectors(
    reader: Reader, *, limit: int | None = None, encoding: str = "utf-8", errors: str = "strict"
) -> tuple[list[str], NDArray[np.float32]]:
    """The keys and vectors, float32 (N, D), of an open file without a header."""
    first = reader.peek(_SNIFFED)
    if not first.strip():
        raise damaged(reader.name, "it is empty")
    columns = len(first.lstrip(b"\r\n").partition(b"\n")[0].split()) - 1
    raw, vectors = read_vectors(reader, columns, None, limit=limit)
    return decoded(raw, reader, encoding, errors), vectors


def _grouped(
    reader: Reader,
    keys: list[str],
    vectors: NDArray[np.float32],
    beside: tuple[str | PathLike[str] | None, str | PathLike[str] | None],
    mark: str,
) -> SenseTable:
    """The table of keys and vectors, with what is in the files of counts and names `beside` them."""
    counts, names = beside
    known = None
    if counts is not None:
        found = read_counts(counts)
        known = [found.get(key, 0) for key in keys]
    named = None if names is None else read_names(names)
    return group_keys(keys, vectors, mark=mark, counts=known, names=named, source=reader.name)


def read_keyed_vectors(
    reader: Reader,
    *,
    binary: bool | None = None,
    limit: int | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
) -> tuple[list[str], NDArray[np.float32]]:
    """The keys and vectors, float32 (N, D), of an open word2vec file."""
    rows, columns = read_header(reader, (2,), "rows columns")
    if binary is None:
        binary = _looks_binary(reader.peek(_SNIFFED), columns)
    keys, vectors = read_vectors(reader, columns, rows, binary=binary, limit=limit)
    if limit is None and reader.peek(_SNIFFED).strip():
        warn_of_format(
            f"{reader.name}: the file goes on behind the {rows} rows that its header names; the rest is not read"
        )
    return decoded(keys, reader, encoding, errors), vectors


def read_header(reader: Reader, counts: Sequence[int], what: str) -> list[int]:
    """The whole numbers, from 0 on, in the first line; `counts` says how many there may be."""
    place = reader.place
    fields = reader.take_line().split()
    if len(fields) not in counts or not all(field.isdigit() and len(field) < 20 for field in fields):
        shown = b" ".join(fields)[:60].decode("utf-8", "replace")
        raise damaged(place, f"expected the header {what!r}, found {shown!r}")
    return [int(field) for field in fields]


def decoded(keys: list[bytes], reader: Reader, encoding: str, errors: str) -> list[str]:
    """Keys as text."""
    try:
        return [key.decode(encoding, errors) for key in keys]
    except UnicodeDecodeError as error:
        shown = bytes(error.object)[:60]
        raise damaged(
            reader.name, f"the key {shown!r} is not {encoding}", "give encoding=, or errors='replace' to read it so"
        ) from None


def _looks_binary(text: bytes, columns: int) -> bool:
    """Whether what follows the header is no text."""
    fields = text.lstrip(b"\r\n").partition(b"\n")[0].split()
    if len(fields) == columns + 1:
        with contextlib.suppress(ValueError):
            list(map(float, fields[1:]))
            return False
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(text) - 4:  # not a character that is cut at the end
            return True
    return bool(text.translate(None, _PRINTED))


def read_counts(path: str | PathLike[str]) -> dict[str, int]:
    """A file of lines ``key count``."""
    counts: dict[str, int] = {}
    with open_reader(path) as reader:
        while not (reader.at_end and not reader.peek(1)):
            place = reader.place
            key, _, count = reader.take_line(1 << 21).rstrip().rpartition(b" ")
            if not key and not count:
                continue
            if not count.isdigit() or len(count) > 18:
                raise damaged(place, "expected 'key count'")
            counts[key.decode("utf-8", "replace")] = int(count)
    return counts
