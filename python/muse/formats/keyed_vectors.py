"""Word vectors of one's own, made, read and merged as with gensim's class of that name: `muse.KeyedVectors`."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from muse.base.checks import integer, optional
from muse.data.arrays import Floats
from muse.data.snapshot import Published, Snapshot
from muse.errors import warn_of_format
from muse.formats.reading import open_reader
from muse.formats.word2vec import read_counts, read_keyed_vectors, read_lines_of_vectors
from muse.vectors.model_vectors import WordVectors
from muse.vectors.own_words import snapshot_of_words

__all__ = ["KeyedVectors"]


class KeyedVectors(WordVectors):
    """Word vectors that are your own, under the name and with the ways of gensim's class.

    They have the methods of `WordVectors`, and can be made empty and read from files of word2vec.

    Parameters
    ----------
    vector_size : int, or the words and numbers that another method gives
        D, the dimension of the vectors to come.
    count : int
        As in gensim, and needless: rows are made as they come.

    Raises
    ------
    TypeError, ValueError
        For what is no size.

    Examples
    --------
    >>> vectors = KeyedVectors(2)
    >>> vectors.add_vectors(["rain", "sun"], [[1, 0], [0, 1]])
    >>> vectors["sun"].tolist(), len(vectors)
    ([0.0, 1.0], 2)
    """

    def __init__(self, vector_size: int | Snapshot | Published, count: int = 0) -> None:
        integer(0)("count", count)
        if not isinstance(vector_size, (Snapshot, Published)):
            size = integer(1)("vector_size", vector_size)
            vector_size = snapshot_of_words([], np.empty((0, size), np.float32), np.empty(0, np.int64))
        super().__init__(vector_size)

    @classmethod
    def load_word2vec_format(
        cls,
        fname: str | PathLike[str],
        fvocab: str | PathLike[str] | None = None,
        binary: bool = False,
        encoding: str = "utf8",
        unicode_errors: str = "strict",
        limit: int | None = None,
        datatype: DTypeLike = np.float32,
        no_header: bool = False,
    ) -> KeyedVectors:
        """Read word vectors as word2vec, GloVe (with `no_header`) and gensim write them.

        Parameters
        ----------
        fname : path-like
            The file; .gz, .bz2, .xz and .zst are decompressed.
        fvocab : path-like, optional
            A file of lines ``word count``; without it all counts are 0.
        binary : bool
            Whether it is binary.
        encoding, unicode_errors : str
            How words are decoded.
        limit : int, optional
            Read no more rows than this.
        datatype : numpy type
            Numbers are rounded to it; they are float32 in any case.
        no_header : bool
            Whether the file begins with the first word, not with a line that says how many rows follow.

        Returns
        -------
        KeyedVectors
            A word that comes a second time is left out, which a `FormatWarning` says.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ModelFileError
            A ValueError: it is damaged or something else; the message names the line or row.

        Examples
        --------
        >>> vectors = KeyedVectors.load_word2vec_format("vectors.bin", binary=True)  # doctest: +SKIP
        """
        optional(integer(0))("limit", limit)
        with open_reader(fname) as reader:
            options: dict[str, Any] = {"limit": limit, "encoding": encoding, "errors": unicode_errors}
            if no_header:
                keys, rows = read_lines_of_vectors(reader, **options)
            else:
                keys, rows = read_keyed_vectors(reader, binary=binary, **options)
        first = {key: row for row, key in reversed(list(enumerate(keys)))}
        if len(first) < len(keys):
            warn_of_format(f"{len(keys) - len(first)} rows of {str(fname)!r} are of words that it has already; "
                           "the first row of each word is kept")  # fmt: skip
        kept = sorted(first.values())
        words = [keys[row] for row in kept]
        known = {} if fvocab is None else read_counts(fvocab)
        vectors = cls(max(rows.shape[1], 1))
        vectors.add_vectors(words, _rounded(rows[kept], datatype), {"count": [known.get(word, 0) for word in words]})
        return vectors

    def intersect_word2vec_format(
        self, fname: str | PathLike[str], lockf: float = 0.0, binary: bool = False, **options: Any
    ) -> None:
        """Give words that are known the vectors that a file of word2vec's has for them; other words of it are left out.

        Parameters
        ----------
        fname : path-like
            The file, with vectors of the same size.
        lockf : float
            As in gensim, and needless: vectors that are your own are not trained.
        binary, **options
            As in `load_word2vec_format`.

        Raises
        ------
        ValueError
            If the vectors are of another size, or as in `load_word2vec_format`.

        Examples
        --------
        >>> vectors.intersect_word2vec_format("vectors.bin", binary=True)  # doctest: +SKIP
        """
        others = type(self).load_word2vec_format(fname, binary=binary, **options)
        words = [word for word in others.index_to_key if word in self]
        if others.vector_size != self.vector_size:
            raise ValueError(
                f"the vectors of {str(fname)!r} have {others.vector_size} numbers, and these {self.vector_size}"
            )
        if words:
            self.add_vectors(words, others[words], replace=True)


def _rounded(rows: Floats, datatype: DTypeLike) -> Floats:
    kind = np.dtype(datatype)
    if kind.kind != "f":
        raise TypeError(f"datatype must be a floating-point type such as numpy.float32; got {datatype!r:.80}")
    return rows.astype(kind).astype(np.float32)
