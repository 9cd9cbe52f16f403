"""gensim's KeyedVectors, in memory and in gensim's own files.

Those files are pickles, which gensim opens, not we: load only files that you trust. The word2vec format says the same
without that risk.
"""

from __future__ import annotations

import os
from os import PathLike
from typing import Any

import numpy as np

from muse.base.optional import needed
from muse.formats.table import SenseTable, group_keys
from muse.vectors.gensim_copy import to_gensim

__all__ = ["from_gensim", "read_gensim", "write_gensim"]


def from_gensim(keyed_vectors: Any, *, mark: str = "#") -> SenseTable:
    """A copy of gensim ``KeyedVectors`` (or of the ``wv`` of a model) with keys ``word#k``, or plain words.

    Parameters
    ----------
    keyed_vectors : gensim.models.KeyedVectors, or a model of gensim
        The vectors; their attributes ``count`` and ``name`` are kept.
    mark : str
        What stands between a word and the number of its sense.
    """
    vectors = keyed_vectors if hasattr(keyed_vectors, "index_to_key") else getattr(keyed_vectors, "wv", None)
    if not hasattr(vectors, "index_to_key"):
        raise TypeError(f"expected gensim KeyedVectors, got {type(keyed_vectors).__name__}")
    assert vectors is not None
    counts = vectors.expandos.get("count")
    copy = np.array(vectors.vectors, np.float32, order="C")
    keys = list(vectors.index_to_key)
    given = vectors.expandos.get("name", ())
    names = {key: name for key, name in zip(keys, given, strict=False) if isinstance(name, str)}
    return group_keys(keys, copy, mark=mark, counts=counts, names=names, source="the KeyedVectors")


def read_gensim(path: str | PathLike[str], *, mark: str = "#", mmap: str | None = None) -> SenseTable:
    """Read a file that gensim's ``KeyedVectors.save`` wrote, through gensim, which runs the pickle in it.

    Parameters
    ----------
    path : path-like
        The file. Whoever wrote it can run any code here.
    mark : str
        As in `from_gensim`.
    mmap : str, optional
        As in gensim's ``load``.
    """
    models = needed("gensim.models", "reading gensim's files")
    return from_gensim(models.KeyedVectors.load(os.fspath(path), mmap=mmap), mark=mark)


def write_gensim(path: str | PathLike[str], table: SenseTable) -> None:
    """Write sense vectors, with counts and names, through gensim's ``KeyedVectors.save``."""
    keys = table.keys()  # not a mapping
    to_gensim(keys, table.sense_vectors, table.counts_of_senses(), table.names).save(os.fspath(path))
