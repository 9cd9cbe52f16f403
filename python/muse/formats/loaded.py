"""Vectors of other tools, as something that can be asked and evaluated like a model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.data.arrays import Floats
from muse.data.settings import Settings
from muse.data.snapshot import Snapshot
from muse.data.vocabulary import Vocabulary
from muse.formats.gensim_vectors import from_gensim
from muse.formats.names import names_of_table
from muse.formats.registry import read_sense_table, write_sense_table
from muse.formats.table import SenseTable
from muse.vectors.model_vectors import SenseVectors, WordVectors
from muse.vectors.sense_keyed import SenseKeyedVectors
from muse.vectors.sense_keys import SenseKey

__all__ = ["LoadedVectors", "load_vectors"]


def load_vectors(path: str | PathLike[str], format: str | None = None, **options: Any) -> LoadedVectors:
    """Read sense vectors, or plain word vectors, that any of the tools in docs/formats.md wrote.

    Parameters
    ----------
    path : path-like
        The file or folder. Files that end in .gz, .bz2, .xz or .zst are decompressed as they are read.
    format : str, optional
        The name of its format, a key of `muse.formats.registry.FORMATS`; found out, if not given.
    **options
        Those of the format, such as ``limit=`` or ``encoding=``.

    Returns
    -------
    LoadedVectors
        Senses are ``word#k`` with k from 0, whatever the tool calls them. Where it has a way to select senses by
        context and the file holds what that needs, so have the vectors.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ModelFileError
        If it is damaged or of another format; the message names the file and the line.
    ImportError
        If the format is read through a library that is not installed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "senses.vec"
    >>> _ = path.write_text("3 2\\nhead#0 1 0\\nhead#1 0 1\\narmy#0 .5 2\\n")
    >>> vectors = load_vectors(path)
    >>> vectors.n_senses("head"), vectors.sv.most_similar("army#0", topn=1)[0][0]
    (2, 'head#1')
    """
    return LoadedVectors(read_sense_table(path, format, **options))


class LoadedVectors:
    """Sense vectors from a file: read-only, and evaluable by `muse.evaluation` like a model.

    Made by `load_vectors` and `from_gensim`.

    Parameters
    ----------
    table : SenseTable
        What the file holds.

    Examples
    --------
    >>> from muse.formats.table import SenseTable
    >>> table = SenseTable(["head", "army"], np.eye(3, dtype=np.float32), np.array([0, 2, 3]))
    >>> vectors = LoadedVectors(table)
    >>> vectors
    <LoadedVectors: 2 words, 3 senses, vector_size=3>
    >>> vectors.sense_vectors("head").shape, "army" in vectors, len(vectors)
    ((2, 3), True, 2)
    """

    def __init__(self, table: SenseTable) -> None:
        self.table = table
        self._arrays = table.arrays()
        self._vocabulary = Vocabulary(table.words, self._arrays.word_counts)
        table.sense_vectors.flags.writeable = False
        snapshot = Snapshot(Settings(), self._vocabulary, self._arrays, names=names_of_table(table))
        self._sv = SenseVectors(snapshot)
        self._wv = WordVectors(snapshot, table.word_vectors)

    @classmethod
    def from_gensim(cls, keyed_vectors: Any, *, mark: str = "#") -> LoadedVectors:
        """A copy of gensim ``KeyedVectors``.

        Parameters
        ----------
        keyed_vectors : gensim.models.KeyedVectors
            Its keys are senses, ``word#k``, or plain words. Counts that it holds as attribute ``count`` are taken.
        mark : str
            What stands between word and number in its keys.

        Returns
        -------
        LoadedVectors
        """
        return cls(from_gensim(keyed_vectors, mark=mark))

    @property
    def vocabulary(self) -> Vocabulary:
        """The words, their ids and their counts where the file has them."""
        return self._vocabulary

    @property
    def sv(self) -> SenseVectors:
        """Sense vectors with keys such as ``"head#0"``, and their nearest neighbours."""
        return self._sv

    @property
    def wv(self) -> WordVectors:
        """The tool's own word-level vectors, or the means of senses weighted by their shares."""
        return self._wv

    @property
    def vector_size(self) -> int:
        """D, the dimension of the vectors."""
        return self.table.vector_size

    @property
    def has_selector(self) -> bool:
        """Whether senses can be selected by context."""
        return self._evaluable.has_selector

    def label(self, key: SenseKey) -> str | None:
        """What the tool calls a sense, such as a part of speech, or the name that it has; None where it has none."""
        row = self._sv.index(key)
        return self.table.names.get(row) if self.table.labels is None else self.table.labels[row]

    def n_senses(self, word: str) -> int:
        """How many senses a word has."""
        return len(self.table.rows_of(self._vocabulary.index(word)))

    def sense_prior(self, word: str) -> Floats:
        """Share of each sense in the uses of a word, float32 (K,); equal shares where the file has none."""
        rows = self.table.rows_of(self._vocabulary.index(word))
        if self.table.priors is None:
            return self._arrays.prior(self._vocabulary.index(word))
        return self.table.priors[rows.start : rows.stop].astype(np.float32)

    def sense_vectors(self, word: str, context: Sequence[str] | None = None, position: int | None = None) -> Floats:
        """All sense vectors of a word, or that of the sense that a context means.

        Parameters
        ----------
        word : str
            A known word.
        context : list of str, optional
            The tokens around it.
        position : int, optional
            Where it stands in them; its first occurrence, if not given.

        Returns
        -------
        float32 (K, D), or (D,) with a context
            Read-only views.

        Raises
        ------
        UnknownWordError
            A KeyError that names the nearest spellings.
        ValueError
            If a context is given, and the file holds nothing to select senses with.
        """
        rows = self.table.rows_of(self._vocabulary.index(word))
        vectors = self.table.sense_vectors[rows.start : rows.stop]
        return vectors if context is None else vectors[self.select_sense(word, context, position)]

    def sense_probabilities(
        self, word: str, context: Sequence[str] | None = None, position: int | None = None
    ) -> NDArray[np.float64]:
        """Distribution over the senses of a word: their shares or, with a context, what the tool's selection says.

        Parameters
        ----------
        word : str
            A known word.
        context : list of str, optional
            The tokens around it.
        position : int, optional
            Where it stands in them; its first occurrence, if not given.

        Returns
        -------
        float64 (K,)

        Raises
        ------
        UnknownWordError
            A KeyError that names the nearest spellings.
        ValueError
            If a context is given, and the file holds nothing to select senses with.
        """
        self._vocabulary.index(word)
        return self._evaluable.sense_probabilities(word, context, position)

    def select_sense(self, word: str, context: Sequence[str], position: int | None = None) -> int:
        """The number of the sense that a context means: the most probable one.

        The parameters are those of `sense_probabilities`, and so are the errors.
        """
        return int(np.argmax(self.sense_probabilities(word, context, position)))

    def export(self, path: str | PathLike[str], format: str, **options: Any) -> None:
        """Write the vectors in the format of another tool; the parameters are those of `MUSE.export`."""
        write_sense_table(path, self.table, format, **options)

    def __contains__(self, word: object) -> bool:
        return word in self._vocabulary

    def __len__(self) -> int:
        return len(self._vocabulary)

    def __repr__(self) -> str:
        return f"<LoadedVectors: {len(self)} words, {self.table.n_senses} senses, vector_size={self.vector_size}>"

    @cached_property
    def _evaluable(self) -> SenseKeyedVectors:
        """The same with a selector by name and position, made at the first use."""
        table, shares = self.table, self.table.shares()
        rows = [table.rows_of(i) for i in range(table.n_words)]
        senses = {word: table.sense_vectors[r.start : r.stop] for word, r in zip(table.words, rows, strict=True)}
        priors = {word: shares[r.start : r.stop] for word, r in zip(table.words, rows, strict=True) if len(r) > 1}
        return SenseKeyedVectors(senses, priors=priors, selector=table.selector)
