"""Which senses the selector takes for which others, and what shares a slice has when that is allowed for.

Tags that err even out shares: of a sense that all uses have, some are given to the others, so that a shift comes out
smaller than it is. What the compass says of its own uses tells how often each sense is taken for each other; that does
not depend on the shares of a slice, which so can be found again from the tags (Saerens, Latinne & Decaestecker 2002,
with a table of confusions in the place of the probabilities of each use).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.change.contexts import TaggedUses, read_contexts
from muse.data.arrays import Arrays, Floats
from muse.data.snapshot import Snapshot
from muse.selector.selection import uses_of

__all__ = ["Confusions", "true_shares"]

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]

_USES_AT_ONCE = 1 << 16  # whose contexts are in memory
_LEAST_USES = 0.5  # of a sense: with fewer there is nothing to say
_SHARPER = 0.45  # of the temperature of answers: trees of whole words err less than those of a few pooled uses
_ROUNDS, _NEAR = 30, 1e-3  # of the match of probabilities to tags, and when it is good enough
_STEPS, _STEADY = 200, 1e-5  # of the search for shares
_DOUBT = 2.0  # uses with the shares of the compass that are added to those of a slice


@dataclass(frozen=True)
class Confusions:
    """A table of each word.

    Attributes
    ----------
    offset : int64 (V + 1,)
        That of word i, K by K, is ``rates[offset[i]:offset[i + 1]]``.
    rates : float32 (N,)
        Row j, column k: how many of the uses of sense j are tagged as sense k.
    """

    offset: Integers
    rates: Floats

    @classmethod
    def none(cls, sense_offset: Integers) -> Confusions:
        """As if tags did not err."""
        senses = np.diff(sense_offset)
        offset = np.concatenate(([0], np.cumsum(senses**2))).astype(np.int64)
        rates = np.zeros(int(offset[-1]), np.float32)
        own = np.arange(int(sense_offset[-1])) - np.repeat(sense_offset[:-1], senses)
        rates[np.repeat(offset[:-1], senses) + own * (np.repeat(senses, senses) + 1)] = 1.0
        return cls(offset, rates)

    @classmethod
    def measure(cls, snapshot: Snapshot, slices: Sequence[TaggedUses]) -> Confusions:
        """Measured on uses of the slices that the compass is made of."""
        found = cls.none(snapshot.arrays.sense_offset)
        several = np.flatnonzero(np.diff(snapshot.arrays.sense_offset) > 1)
        begun, words = 0, 0
        held = np.cumsum(np.sum([np.diff(uses.offsets)[several] for uses in slices], axis=0))
        while words < len(several):
            last = max(int(np.searchsorted(held, begun + _USES_AT_ONCE, side="right")), words + 1)
            found._measure_some(snapshot, several[words:last], slices)
            begun, words = int(held[last - 1]), last
        return found

    def _measure_some(self, snapshot: Snapshot, words: Integers, slices: Sequence[TaggedUses]) -> None:
        forest, arrays = snapshot.forest, snapshot.arrays
        assert forest is not None  # of a compass
        workers = uses_of(snapshot, forest).workers
        cosines, tags, owners = [], [], []
        for uses in slices:
            counts = uses.offsets[words + 1] - uses.offsets[words]
            owner = np.repeat(np.arange(len(words)), counts)
            mine = np.arange(len(owner)) + np.repeat(uses.offsets[words] - (np.cumsum(counts) - counts), counts)
            contexts = read_contexts(forest, uses.corpus, uses.places[mine], workers)
            cosines.append(_cosines(contexts, owner, words, arrays))
            tags.append(uses.senses[mine] - arrays.sense_offset[words[owner]])
            owners.append(owner)
        owner = np.concatenate(owners)
        if not len(owner):
            return
        order = np.argsort(owner, kind="stable")
        present, owner = np.unique(owner[order], return_inverse=True)
        tag, scores = np.concatenate(tags)[order], np.concatenate(cosines)[order]
        shares = _probabilities(scores / np.float32(_SHARPER * forest.space.temperature), tag, owner)
        tables = np.zeros((len(present), shares.shape[1], shares.shape[1]))  # of tags, then of what they should be
        np.add.at(tables, (owner, tag), shares)
        for table, word in zip(tables, words[present].tolist(), strict=True):
            count = len(arrays.numbers_of(word))
            rates, sums = np.eye(count), table[:count, :count].sum(axis=0)
            known = sums > _LEAST_USES
            rates[known] = table[:count, :count].T[known] / sums[known, None]
            self.rates[self.offset[word] : self.offset[word + 1]] = rates.ravel()

    def are_rates(self) -> bool:
        """Whether the rows of all tables are shares."""
        senses = np.sqrt(np.diff(self.offset)).astype(np.int64)
        rows = np.repeat(senses, senses)  # the length of each row
        sums = np.add.reduceat(self.rates, np.cumsum(rows) - rows)
        return bool((self.rates >= 0).all() and (np.abs(sums - 1) < 1e-3).all())

    def of(self, word: int) -> Numbers:
        """The table of a word, float64 (K, K)."""
        rates = self.rates[self.offset[word] : self.offset[word + 1]].astype(np.float64)
        size = round(len(rates) ** 0.5)
        return rates.reshape(size, size)


def _cosines(contexts: Floats, owner: Integers, words: Integers, arrays: Arrays) -> Floats:
    """Those of uses, which stand word by word, with the senses of their words; -inf in the place of none."""
    width = int(np.diff(arrays.sense_offset)[words].max())
    found = np.full((len(contexts), width), -np.inf, np.float32)
    ends = np.searchsorted(owner, np.arange(len(words) + 1))
    for place, word in enumerate(words.tolist()):
        rows = arrays.rows_of(word)
        mine = contexts[ends[place] : ends[place + 1]]
        found[ends[place] : ends[place + 1], : rows.stop - rows.start] = mine @ arrays.selection_vectors[rows].T
    return found


def _probabilities(scores: NDArray[Any], tag: Integers, owner: Integers) -> Numbers:
    """Of the senses of each use, (n, K), whose means over the uses of a word are the shares of its tags.

    What is added to the scores of each sense of a word is found round by round.
    """
    words, width = int(owner[-1]) + 1, scores.shape[1]
    counts = np.zeros((words, width))
    np.add.at(counts, (owner, tag), 1.0)
    starts = np.searchsorted(owner, np.arange(words))
    wanted = np.maximum(counts, 1e-6)
    bias = np.log(wanted / wanted.sum(axis=1, keepdims=True))
    rising = np.exp(scores - scores.max(axis=1, keepdims=True)).astype(np.float64)
    shares: Numbers = rising
    for _ in range(_ROUNDS):
        shares = rising * np.exp(bias)[owner]
        shares /= shares.sum(axis=1, keepdims=True)
        have = np.maximum(np.add.reduceat(shares, starts, axis=0), 1e-6)
        if float(np.abs(have - wanted).max()) < _NEAR * len(owner) / words:
            break
        bias += np.log(wanted / have)
    return shares


def true_shares(counts: Numbers, rates: Numbers, usual: Numbers) -> Numbers:
    """The shares of senses that make such counts of tags likeliest, float64 (B, K).

    Parameters
    ----------
    counts : float64 (B, K)
        Tags, one row a slice or a sample of one.
    rates : float64 (K, K)
        A table of confusions.
    usual : float64 (K,)
        Shares in the compass: few uses are believed less.

    Returns
    -------
    float64 (B, K)
        A row without tags has the usual shares.

    Examples
    --------
    >>> rates = np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> true_shares(np.array([[7500.0, 2500.0]]) * [[0.92, 1.24]], rates, np.array([0.5, 0.5])).round(2).tolist()
    [[0.7, 0.3]]
    """
    usual = np.maximum(usual, 1e-3)
    usual = usual / usual.sum()
    total = counts.sum(axis=1, keepdims=True) + _DOUBT
    shares = np.broadcast_to(usual, counts.shape).copy()
    for _ in range(_STEPS):
        expected = shares @ rates
        ratio = np.divide(counts, expected, out=np.zeros_like(shares), where=expected > 1e-12)
        better = (shares * (ratio @ rates.T) + _DOUBT * usual) / total
        moved = float(np.abs(better - shares).max())
        shares = better
        if moved < _STEADY:
            break
    return shares
