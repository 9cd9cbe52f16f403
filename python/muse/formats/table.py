"""What vector files hold, whichever tool wrote them: words, senses, their vectors and shares.

Each format is a module that turns a file into a `SenseTable` and a table into a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.data.arrays import Arrays
from muse.data.vocabulary import Vocabulary
from muse.errors import warn_of_format
from muse.vectors.sense_keys import split_tool_key

__all__ = ["SenseTable", "group_keys"]

Floats: TypeAlias = NDArray[np.float32]
Integers: TypeAlias = NDArray[np.int64]

_PER_MILLION = 10**6  # uses of a word in place of its count, where a file has shares and no counts
_BLOCK_ROWS = 1 << 16


@dataclass
class SenseTable:
    """Sense vectors of V words, Z senses in all, and what a file says of them beside.

    Parameters
    ----------
    words : sequence of V str
        The words.
    sense_vectors : float32 (Z, D)
        The senses of word i are rows ``sense_offset[i]:sense_offset[i + 1]``.
    sense_offset : int64 (V + 1,)
        First row of each word's senses, and Z.
    sense_counts : int64 (Z,), optional
        How often each sense was used.
    priors : float (Z,), optional
        Share of each sense in the uses of its word; what `sense_counts` say, if not given.
    word_counts : int64 (V,), optional
        How often each word was used.
    word_vectors : float32 (V, D), optional
        One vector a word, where a tool has its own.
    labels : sequence of Z str, optional
        Names of senses, such as parts of speech.
    selector : callable, optional
        ``selector(word, tokens, position)`` gives the weights of the senses that a context means, float (K,).
    parts : dict
        What only the tool that wrote the file understands, by name; written back to its own format.
    lost : list of str
        What the model has and no vector file holds.
    numbers : int64 (Z,), optional
        The number of each sense within its word, see `Arrays.sense_numbers`.
    names : dict of int to str
        The names that people gave to senses, by row.
    """

    words: Sequence[str]
    sense_vectors: Floats
    sense_offset: Integers
    sense_counts: Integers | None = None
    priors: NDArray[np.floating[Any]] | None = None
    word_counts: Integers | None = None
    word_vectors: Floats | None = None
    labels: Sequence[str] | None = None
    selector: Any = None
    parts: dict[str, Any] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    numbers: Integers | None = None
    names: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of_model(cls, vocabulary: Vocabulary, arrays: Arrays, names: dict[int, str] | None = None) -> SenseTable:
        """The part of a model of ours that vector files can hold, with names of senses by row; nothing is copied."""
        lost = ["the selector (context and selection vectors)", "collocation vectors"]
        return cls(
            vocabulary.words, arrays.sense_vectors, arrays.sense_offset, arrays.sense_counts, None,
            arrays.word_counts, lost=lost, numbers=arrays.sense_numbers, names=names or {},
        )  # fmt: skip

    @property
    def n_words(self) -> int:
        """V"""
        return len(self.sense_offset) - 1

    @property
    def n_senses(self) -> int:
        """Z, the senses of all words together."""
        return len(self.sense_vectors)

    @property
    def vector_size(self) -> int:
        """D"""
        return int(self.sense_vectors.shape[1])

    @property
    def senses(self) -> Integers:
        """How many senses each word has, int64 (V,)."""
        return np.diff(self.sense_offset)

    def rows_of(self, word: int) -> range:
        """Rows of the senses of a word."""
        return range(int(self.sense_offset[word]), int(self.sense_offset[word + 1]))

    def named_rows(self) -> list[tuple[int, int]]:
        """The word, as a number, and the row of each sense that has a name."""
        rows = sorted(self.names)
        words = np.searchsorted(self.sense_offset, rows, side="right") - 1
        return list(zip(words.tolist(), rows, strict=True))

    def keys(self, mark: str = "#", first: int = 0) -> list[str]:
        """The key of each sense, ``word#k``; with another mark between, or counted from another number, if asked."""
        counts = self.senses.tolist()
        if self.numbers is not None:
            named = np.repeat(np.arange(self.n_words), self.senses).tolist()
            return [
                f"{self.words[word]}{mark}{k + first}" for word, k in zip(named, self.numbers.tolist(), strict=True)
            ]
        return [f"{word}{mark}{k}" for word, n in zip(self.words, counts, strict=True) for k in range(first, first + n)]

    def shares(self) -> NDArray[np.floating[Any]]:
        """`priors`, or what the counts say, or equal shares; float (Z,)."""
        return self.priors if self.priors is not None else self.arrays().priors()

    def counts_of_senses(self) -> Integers:
        """`sense_counts`; where there are only shares, these as uses in a word's count, or in a million; int64 (Z,)."""
        if self.sense_counts is not None:
            return self.sense_counts
        if self.priors is None:
            return np.zeros(self.n_senses, np.int64)
        counts = np.full(self.n_words, _PER_MILLION) if self.word_counts is None else self.word_counts
        uses: Integers = np.rint(self.priors * np.repeat(counts, self.senses)).astype(np.int64)
        return uses

    def counts_of_words(self) -> Integers:
        """`word_counts`, or the sums of what is known of the senses; int64 (V,)."""
        if self.word_counts is not None:
            return self.word_counts
        counts = np.zeros(self.n_words, np.int64)
        if self.sense_counts is not None and self.n_words:
            counts = np.add.reduceat(self.sense_counts, self.sense_offset[:-1])
        return counts

    def arrays(self) -> Arrays:
        """The table as the arrays of a model that cannot select senses nor tell collocates: these take no memory."""
        return Arrays(
            context_vectors=np.empty((self.n_words, 0), np.float32),
            selection_vectors=np.empty((self.n_senses, 0), np.float32),
            sense_vectors=self.sense_vectors,
            collocation_vectors=np.broadcast_to(np.float32(0), (self.n_words, self.vector_size)),
            sense_offset=self.sense_offset,
            sense_counts=self.counts_of_senses(),
            word_counts=self.counts_of_words(),
        )

    def mean_vectors(self) -> Floats:
        """`word_vectors`, or the means of the senses weighted by their shares; float32 (V, D)."""
        return self.arrays().word_vectors() if self.word_vectors is None else self.word_vectors

    def check_finite(self) -> None:
        """Raise a ValueError that names the first key or word whose vector holds NaN or infinity."""
        for matrix in (self.sense_vectors, self.word_vectors):
            for first in range(0, 0 if matrix is None else len(matrix), _BLOCK_ROWS):
                assert matrix is not None
                bad = np.flatnonzero(~np.isfinite(matrix[first : first + _BLOCK_ROWS]).all(axis=1))
                if len(bad):
                    row = first + int(bad[0])
                    name = self.keys()[row] if matrix is self.sense_vectors else self.words[row]
                    raise ValueError(f"the vector of {name!r} holds NaN or infinity")

    def check(self) -> SenseTable:
        """This table, if its parts fit together; a ValueError says which do not."""
        self.arrays().check()
        for name, shape in (("priors", (self.n_senses,)), ("word_vectors", (self.n_words, self.vector_size))):
            part = getattr(self, name)
            if part is not None and part.shape != shape:
                raise ValueError(f"{name} must have the shape {shape}; it has {part.shape}")
        if len(self.words) != self.n_words:
            raise ValueError(f"{len(self.words)} words for the senses of {self.n_words}")
        return self


def group_keys(
    keys: Sequence[str],
    vectors: Floats,
    *,
    mark: str = "#",
    digits: bool = True,
    counts: Sequence[int] | None = None,
    names: Mapping[str, str] | None = None,
    source: str = "the file",
) -> SenseTable:
    """Make words of the rows of a matrix, by their keys ``word#k``.

    Parameters
    ----------
    keys : sequence of N str
        Split at the last `mark`. A key without a number behind it is a word with one vector: its only sense, or, if
        there are keys of its senses too, its word-level vector.
    vectors : float32 (N, D)
        Taken over and put in order in place: the senses of a word become 0 to K - 1 in the order of their numbers.
    mark : str
        What stands between word and number.
    digits : bool
        Whether what stands behind the mark must be a number; if not, it is the label of a sense, and they keep their
        order.
    counts : sequence of N int, optional
        How often each key was used.
    names : mapping of str to str, optional
        The names of some senses by keys, as these stand in the file.
    source : str
        The name of the file, for warnings.

    Warns
    -----
    FormatWarning
        Where a key occurs twice; the first one counts, as in gensim.
    """
    words: dict[str, int] = {}
    split = [_named(key, mark) if digits else _labelled(key, mark) for key in keys]
    number = [words.setdefault(word, len(words)) for word, _ in split]
    word_of = np.asarray(number, np.int64)
    sense_of = np.asarray([sense for _, sense in split], np.int64) if digits else _within(word_of)
    labels = None if digits else [key[len(word) + len(mark) :] for key, (word, _) in zip(keys, split, strict=True)]
    order = np.lexsort((sense_of, word_of))  # by word, then by sense; stable, so the first of equals comes first
    known = _Known(list(words), word_of[order], sense_of[order], order)
    known.drop_twins(source, keys)
    plain = known.take_plain(vectors)
    kept = known.order
    if len(kept) < len(keys) or (kept != np.arange(len(kept))).any():
        rest = np.setdiff1d(np.arange(len(keys)), kept, assume_unique=True)
        _core.permute_rows(vectors, np.concatenate((kept, rest)))
    senses = np.bincount(known.word_of, minlength=len(words))
    offset = np.concatenate(([0], np.cumsum(senses))).astype(np.int64)
    table = SenseTable(list(words), vectors[: len(kept)], offset, word_vectors=plain)
    if labels is not None:
        table.labels = [labels[row] for row in kept.tolist()]
    if counts is not None:
        table.sense_counts = np.asarray(counts, np.int64)[kept]
    if names:
        table.names = {place: names[keys[row]] for place, row in enumerate(kept.tolist()) if keys[row] in names}
    return table


@dataclass
class _Known:
    """Rows in the order of words and senses, with their words and senses; -1 is the sense of a key that names none."""

    words: list[str]
    word_of: Integers
    sense_of: Integers
    order: Integers

    def _keep(self, rows: NDArray[np.bool_]) -> None:
        self.word_of, self.sense_of, self.order = self.word_of[rows], self.sense_of[rows], self.order[rows]

    def drop_twins(self, source: str, keys: Sequence[str]) -> None:
        """Leave out rows whose key was there before."""
        twin = np.zeros(len(self.order), bool)
        twin[1:] = (np.diff(self.word_of) == 0) & (np.diff(self.sense_of) == 0)
        if twin.any():
            first = keys[int(self.order[np.argmax(twin)])]
            warn_of_format(f"{source}: {int(twin.sum())} keys occur twice, such as {first!r}; the first of each counts")
            self._keep(~twin)

    def take_plain(self, vectors: Floats) -> Floats | None:
        """Word-level vectors, float32 (V, D), if there are keys without a number beside those of senses.

        A word that lacks one gets the mean of its senses.
        """
        senses = np.bincount(self.word_of, minlength=len(self.words))
        beside = (self.sense_of < 0) & (senses[self.word_of] > 1)
        if not beside.any():
            return None
        rows, owners = self.order[beside], self.word_of[beside]
        means = np.zeros((len(self.words), vectors.shape[1]), np.float32)
        self._keep(~beside)
        starts = np.flatnonzero(np.diff(self.word_of, prepend=-1))
        for first, last in zip(starts.tolist(), [*starts[1:].tolist(), len(self.order)], strict=True):
            means[self.word_of[first]] = vectors[self.order[first:last]].mean(axis=0)
        means[owners] = vectors[rows]
        return means


def _named(key: str, mark: str) -> tuple[str, int]:
    """The word and the number in a key; -1 for a key that names no sense."""
    return split_tool_key(key, mark) or (key, -1)


def _labelled(key: str, mark: str) -> tuple[str, int]:
    """The word before the label of a sense, and 0; -1 for a key that names none."""
    word = key.rpartition(mark)[0]
    return (word, 0) if word else (key, -1)


def _within(word_of: Integers) -> Integers:
    """The place of each row among those of its word, int64 (N,)."""
    order = np.argsort(word_of, kind="stable")
    starts = np.flatnonzero(np.diff(word_of[order], prepend=-1))
    place = np.arange(len(word_of)) - np.repeat(starts, np.diff([*starts, len(word_of)]))
    within = np.empty_like(word_of)
    within[order] = place
    return within
