"""Measures of change between two slices, and the ranking of words by them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.base.numeric import unit_rows
from muse.change.contexts import read_contexts, read_topics
from muse.change.permuting import Measure, Numbers, Part, adjusted, jensen_shannon, part_of_counts, permutation_verdict
from muse.change.slices import Counts
from muse.data.arrays import Arrays, Floats
from muse.data.forest import Forest

__all__ = ["MEASURES", "Groups", "Sample", "contexts_of", "count_groups", "rank", "use_groups"]

MEASURES = ("jsd", "cosine", "apd")
_WORDS_AT_ONCE = 256  # whose uses are in memory
_SAMPLED = 200  # uses of a word in a slice that "cosine" and "apd" look at

Integers = NDArray[np.int64]


class Groups(NamedTuple):
    """One word in two slices: what each group of blocks adds up to, and the measure of such sums.

    Attributes
    ----------
    word : int
        Its row.
    sums : two float64 (A, F), (B, F)
    uses : two float64 (A,), (B,)
    measure : callable
    part : callable
        Draws some of the uses of groups.
    """

    word: int
    sums: tuple[Numbers, Numbers]
    uses: tuple[Numbers, Numbers]
    measure: Measure
    part: Part


def count_groups(arrays: Arrays, words: Sequence[int], first: Counts, second: Counts) -> Iterator[Groups]:
    """The groups of words for the measure "jsd"."""
    for word in words:
        rows = arrays.rows_of(word)
        a, b = (counts.table(rows).astype(np.float64) for counts in (first, second))
        yield Groups(
            word, (a, b), (a.sum(axis=1), b.sum(axis=1)), jensen_shannon, part_of_counts(np.concatenate((a, b)))
        )


class Sample(NamedTuple):
    """Sampled uses of all words in a slice.

    Attributes
    ----------
    corpus : _core.Corpus
    offsets, places : int64 (V + 1,), (N,)
    block : int
        Sentences a block.
    """

    corpus: _core.Corpus
    offsets: Integers
    places: Integers
    block: int

    @classmethod
    def of(cls, corpus: _core.Corpus, n_words: int, block: int, seed: int) -> Sample:
        """A sample of so many uses of each word."""
        return cls(corpus, *_core.sample_occurrences(corpus, n_words, _SAMPLED, seed), block)

    def read(self, words: Sequence[int], forest: Forest, what: str, workers: int) -> list[tuple[Floats, Integers]]:
        """The contexts of the uses of each word, and the block that each use is in."""
        mine = [np.sort(self.places[self.offsets[word] : self.offsets[word + 1]]) for word in words]
        places = np.concatenate(mine)
        vectors = contexts_of(forest, self.corpus, places, what, workers)
        blocks = (np.searchsorted(self.corpus.offsets, places, side="right") - 1) // self.block
        ends = np.cumsum([len(some) for some in mine])[:-1]
        return list(zip(np.split(vectors, ends), np.split(blocks, ends), strict=True))


def contexts_of(forest: Forest, corpus: _core.Corpus, places: Integers, what: str, workers: int) -> Floats:
    """Topics for the measure "cosine"; contexts at length one for "apd"."""
    read = read_topics if what == "cosine" else read_contexts
    return read(forest, corpus, places, workers)


def use_groups(
    words: Sequence[int], samples: tuple[Sample, Sample], forest: Forest, what: str, induced: Any, workers: int
) -> Iterator[Groups]:
    """The groups of words for the measures that look at uses.

    Parameters
    ----------
    words : sequence of int
    samples : two Sample
        Of both slices.
    forest : Forest
    what : {"cosine", "apd"}
    induced : callable
        ``induced(word, topics)`` gives the vectors of a word for mean topics, (B, D).
    workers : int
    """
    for start in range(0, len(words), _WORDS_AT_ONCE):
        some = words[start : start + _WORDS_AT_ONCE]
        read = [sample.read(some, forest, what, workers) for sample in samples]
        for word, first, second in zip(some, *read, strict=True):
            a, b = _by_block(*first), _by_block(*second)
            measure = _pair_distance if what == "apd" else _vector_distance(word, induced)
            part = _part_of_uses(np.concatenate((first[0], second[0])), np.concatenate((a[:, 0], b[:, 0])))
            yield Groups(word, (a, b), (a[:, 0].copy(), b[:, 0].copy()), measure, part)


def _by_block(vectors: Floats, blocks: Integers) -> Numbers:
    """Uses and the sum of their contexts, by block."""
    if not len(blocks):
        return np.zeros((0, 1 + vectors.shape[1]))
    _, starts = np.unique(blocks, return_index=True)
    joined = np.column_stack((np.ones(len(vectors)), vectors))
    sums: Numbers = np.add.reduceat(joined, starts, axis=0)
    return sums


def _part_of_uses(vectors: Floats, sizes: Numbers) -> Part:
    """What draws uses from groups, of which each has so many of the vectors, one group after another."""
    held = sizes.astype(np.int64)
    starts = np.cumsum(held) - held

    def part(groups: Integers, wanted: Integers, rng: np.random.Generator) -> Numbers:
        found = np.empty((len(groups), 1 + vectors.shape[1]))
        found[:, 0] = wanted
        for row, (group, some) in enumerate(zip(groups.tolist(), wanted.tolist(), strict=True)):
            mine = starts[group] + rng.permutation(held[group])[:some]
            found[row, 1:] = vectors[mine].sum(axis=0, dtype=np.float64)
        return found

    return part


def _pair_distance(first: Numbers, second: Numbers) -> Numbers:
    """Mean distance (1 - cosine) of a use of one side and one of the other, which is that of the mean contexts."""
    products = (first[:, 1:] * second[:, 1:]).sum(axis=1)
    distance: Numbers = np.clip(1 - products / np.maximum(first[:, 0] * second[:, 0], 1e-12), 0.0, 2.0)
    return distance


def _vector_distance(word: int, induced: Any) -> Measure:
    def measure(first: Numbers, second: Numbers) -> Numbers:
        a, b = (
            unit_rows(induced(word, side[:, 1:] / np.maximum(side[:, :1], 1e-12))) for side in (first, second)
        )  # fmt: skip
        distance: Numbers = np.clip(1 - (a * b).sum(axis=1), 0.0, 2.0)
        return distance

    return measure


def rank(
    groups: Iterator[Groups], names: Sequence[str], totals: tuple[Integers, Integers], permutations: int, rate: float,
    seed: int,
) -> list[dict[str, Any]]:  # fmt: skip
    """The rows of a `ChangeTable`.

    Parameters
    ----------
    groups : iterator of Groups
    names : sequence of V str
    totals : two int64 (V,)
        Uses of each word in both slices.
    permutations : int
    rate : float
        Of false discoveries among the words that are called changed.
    seed : int
    """
    found = []
    for one in groups:
        rng = np.random.Generator(np.random.Philox([seed & 0x7FFFFFFF, one.word]))  # the same whatever is asked with it
        found.append((one.word, permutation_verdict(*one.sums, one.uses, one.measure, permutations, rng, one.part)))
    q = adjusted(np.array([verdict.p for _, verdict in found])) if found else np.zeros(0)
    rows = [
        {
            "word": names[word], "value": verdict.value, "expected": verdict.expected,
            "excess": verdict.value - verdict.expected, "p": verdict.p, "q": float(rate_of), "changed":
            bool(rate_of <= rate), "uses_before": int(totals[0][word]), "uses_after": int(totals[1][word]),
        }
        for (word, verdict), rate_of in zip(found, q, strict=True)
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (-row["excess"], row["word"]))
