"""The vocabulary of a text in shards: counted apart with bounded memory, and put together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.distributed.sources import Shard

__all__ = ["Table", "count_shard", "join_tables", "kept"]

_MEMORY = 1 << 26  # bytes of the ids of a shard; what exceeds them goes to a temporary file


class Table(NamedTuple):
    """Words of a part of a text by first occurrence.

    Attributes
    ----------
    words : list of str
    counts : int64 (len(words),)
    raw_tokens : int
        All, also of words that were forgotten.
    """

    words: list[str]
    counts: NDArray[np.int64]
    raw_tokens: int


def count_shard(shard: Shard, most: int) -> Table:
    """Count the words of a shard.

    Parameters
    ----------
    shard : Shard
    most : int
        Words in memory at once; beyond that the rarest are forgotten, as by ``max_vocab_size``.
    """
    encoder = _core.Encoder(max_vocab_size=most, max_ram=_MEMORY)
    shard.feed(encoder)
    words, counts = encoder.vocabulary()
    return Table(words, counts, encoder.raw_tokens)


def join_tables(one: Table, other: Table, most: int) -> Table:
    """The table of two parts of a text that follow one another; the rarest words are forgotten beyond `most`.

    Examples
    --------
    >>> a, b = Table(["x", "y"], np.array([1, 2]), 3), Table(["y", "z"], np.array([1, 1]), 2)
    >>> joined = join_tables(a, b, most=10)
    >>> joined.words, joined.counts.tolist()
    (['x', 'y', 'z'], [1, 3, 1])
    """
    ids = {word: i for i, word in enumerate(one.words)}
    rows = np.fromiter((ids.get(word, -1) for word in other.words), np.int64, len(other.words))
    counts = one.counts.copy()
    np.add.at(counts, rows[rows >= 0], other.counts[rows >= 0])
    words = one.words + [word for word, row in zip(other.words, rows.tolist(), strict=True) if row < 0]
    table = Table(words, np.concatenate([counts, other.counts[rows < 0]]), one.raw_tokens + other.raw_tokens)
    threshold = 1
    while len(table.words) > most:
        threshold += 1
        table = kept(table, threshold)
    return table


def kept(table: Table, min_count: int) -> Table:
    """The words that occur so often, or the most frequent one where none does: an error can then name it."""
    stays = table.counts >= min_count
    if not stays.any() and len(table.words):
        stays[int(table.counts.argmax())] = True
    words = [word for word, stay in zip(table.words, stays.tolist(), strict=True) if stay]
    return Table(words, table.counts[stays], table.raw_tokens)
