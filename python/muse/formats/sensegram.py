"""Sensegram: sense vectors as a word2vec file with keys ``word#k``, and their shares in a file beside it.

The shares are lines ``word#k``, tab, share; the file has the name of the vectors and ``.inventory.csv``, or ``.probs``
from older versions.
"""

from __future__ import annotations

import math
import os
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from muse.files.replacing import replacing
from muse.files.word2vec_rows import writable_keys, write_word2vec
from muse.formats.reading import damaged, open_reader
from muse.formats.selectors import SensegramSelector
from muse.formats.table import SenseTable
from muse.formats.word2vec import read_word2vec

__all__ = ["find_inventory", "read_sensegram", "write_sensegram"]

_ENDINGS = (".inventory.csv", ".probs")


def find_inventory(path: str | PathLike[str]) -> Path | None:
    """The file of shares beside one of vectors, if there is one."""
    candidates = (Path(os.fspath(path) + ending) for ending in _ENDINGS)
    return next((found for found in candidates if found.is_file()), None)


def read_sensegram(
    path: str | PathLike[str],
    *,
    inventory: str | PathLike[str] | None = None,
    word_vectors: str | PathLike[str] | None = None,
    method: str = "sim",
    window: int = 10,
    words_used: int = 2,
    **options: Any,
) -> SenseTable:
    """Read sense vectors of sensegram, with their shares, and with its selection of senses if word vectors are given.

    Parameters
    ----------
    path : path-like
        The vectors, ``*.senses.w2v``.
    inventory : path-like, optional
        The shares; found beside the vectors, if not given. Without any, senses have equal shares, as in sensegram.
    word_vectors : path-like, optional
        The word vectors (``method="sim"``) or context vectors (``"prob"``) that sensegram was given, a word2vec file.
        With them the senses can be selected by context.
    method, window, words_used
        See `muse.formats.selectors.SensegramSelector`; the defaults are sensegram's.
    **options
        As of `muse.formats.word2vec.read_word2vec`.
    """
    table = read_word2vec(path, **options)
    found = find_inventory(path) if inventory is None else Path(inventory)
    if found is not None:
        table.priors = _shares(table, _read_inventory(found))
    if word_vectors is not None:
        context = read_word2vec(word_vectors)
        if context.vector_size != table.vector_size:
            raise ValueError(
                f"word_vectors have {context.vector_size} numbers, and the sense vectors {table.vector_size}; "
                "give the word vectors that the senses were made from"
            )
        table.selector = SensegramSelector(table, window, context, method, words_used)
    return table


def _read_inventory(path: Path) -> dict[str, float]:
    shares: dict[str, float] = {}
    with open_reader(path) as reader:
        while not (reader.at_end and not reader.peek(1)):
            place = reader.place
            line = reader.take_line(1 << 21)
            if not line:
                continue
            key, tab, share = line.rpartition(b"\t")
            try:
                value, name = float(share), key.decode("utf-8")
            except ValueError:
                value, name = math.nan, ""
            if not tab or not 0 <= value <= 1:
                raise damaged(place, f"expected 'word#k', a tab and a share from 0 to 1, found {line[:60]!r}")
            shares[name] = value
    return shares


def _shares(table: SenseTable, known: dict[str, float]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Shares of the senses, adding up to one for each word; equal where a word has none."""
    shares = np.fromiter((known.get(key, 0.0) for key in table.keys()), np.float64, table.n_senses)  # noqa: SIM118
    sums = np.repeat(np.add.reduceat(shares, table.sense_offset[:-1]), table.senses) if len(shares) else shares
    equal = np.repeat(1.0 / table.senses, table.senses)
    return np.divide(shares, sums, out=equal, where=sums > 0)


def write_sensegram(
    path: str | PathLike[str], table: SenseTable, *, binary: bool = True, replace_spaces: str | None = None
) -> None:
    """Write vectors and shares (with six digits) as sensegram does."""
    keys = writable_keys(table.keys(), replace_spaces, "sensegram")
    with replacing(os.fspath(path) + _ENDINGS[0]) as file:
        for key, share in zip(keys, table.shares().tolist(), strict=True):
            file.write(f"{key}\t{share:.6f}\n".encode())
    write_word2vec(path, keys, table.sense_vectors, binary=binary)
