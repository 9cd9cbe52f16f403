"""What table formats share: a row for each sense, with its word, number, count and share, and the word's count.

`COLUMNS` are the columns beside the vector. Where a tool has counts of neither senses nor words, they are 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse.formats.reading import damaged
from muse.formats.table import SenseTable, group_keys

__all__ = ["COLUMNS", "SenseRows", "rows_of_table", "table_of_rows"]

COLUMNS = ("key", "word", "sense", "count", "share", "word_count")
_LARGEST_NUMBER = 10**9 - 1  # of a sense
_LARGEST_COUNT = 2**62


class SenseRows(NamedTuple):
    """The columns of Z senses.

    Attributes
    ----------
    words : sequence of str
    numbers, counts, word_counts : int64 (Z,)
    shares : float64 (Z,)
    vectors : float32 (Z, D)
    """

    words: Sequence[str]
    numbers: NDArray[np.int64]
    counts: NDArray[np.int64]
    shares: NDArray[np.float64]
    word_counts: NDArray[np.int64]
    vectors: NDArray[np.float32]

    def keys(self) -> list[str]:
        """``word#k`` for each."""
        return [f"{word}#{k}" for word, k in zip(self.words, self.numbers.tolist(), strict=True)]

    def first(self, count: int) -> SenseRows:
        """The first of them."""
        return SenseRows(
            self.words[:count], self.numbers[:count], self.counts[:count], self.shares[:count],
            self.word_counts[:count], self.vectors[:count],
        )  # fmt: skip


def rows_of_table(table: SenseTable) -> SenseRows:
    """The rows of a table; each word stands in as many of them as it has senses."""
    owners = np.repeat(np.arange(table.n_words), table.senses)
    words = list(table.words)
    numbers = np.arange(table.n_senses) - table.sense_offset[:-1][owners] if table.numbers is None else table.numbers
    return SenseRows(
        [words[word] for word in owners.tolist()], numbers.astype(np.int64), table.counts_of_senses(),
        np.asarray(table.shares(), np.float64), table.counts_of_words()[owners], table.sense_vectors,
    )  # fmt: skip


def table_of_rows(rows: SenseRows, source: str) -> SenseTable:
    """The table of rows that may be in any order; a ModelFileError that names the `source` if they cannot be right."""
    for name, numbers, most in (
        ("sense", rows.numbers, _LARGEST_NUMBER), ("count", rows.counts, _LARGEST_COUNT),
        ("share", rows.shares, 1.0 + 1e-6), ("word_count", rows.word_counts, _LARGEST_COUNT),
    ):  # fmt: skip
        bad: NDArray[Any] = np.flatnonzero(~((numbers >= 0) & (numbers <= most)))
        if len(bad):
            raise damaged(source, f"{name} of row {bad[0] + 1} cannot be {numbers[bad[0]]}")
    if not len(rows.vectors) or not rows.vectors.shape[1]:
        raise damaged(source, "it is empty")
    table = group_keys(rows.keys(), rows.vectors, counts=range(len(rows.words)), source=source)
    assert table.sense_counts is not None
    place = table.sense_counts  # of each sense among the rows
    table.sense_counts, table.priors = rows.counts[place], rows.shares[place]
    table.word_counts = rows.word_counts[place[table.sense_offset[:-1]]]
    return table
