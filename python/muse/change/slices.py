"""Slices of a text: where their text comes from, and what is counted in one when a model has told the senses."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.base.tables import is_series
from muse.change.contexts import Means
from muse.corpus.encoding import encode_corpus
from muse.corpus.prose import Prose
from muse.data.snapshot import Snapshot
from muse.files.line_sentence import LineSentence
from muse.files.lines import STANDARD_INPUT, PathInput
from muse.selector.selection import selector_of

__all__ = ["GROUPS", "Counts", "Slice", "Source", "count_senses", "encoded", "of_text", "senses_of"]

GROUPS = 128  # of the blocks in which a word occurs in a slice: enough for intervals, and bounds what is kept
_TOKENS_AT_ONCE = 1 << 18  # whose senses are told at once, so that Ctrl-C is heard

Integers = NDArray[np.int64]


class Source:
    """The text of a slice, which can be read as often as needed.

    Parameters
    ----------
    given : path-like, list of paths, or iterable of lists of str
        Files of one sentence a line, or sentences; an iterator, which can be read once, is kept as a list.
    name : str
        Of the slice, for messages.
    """

    def __init__(self, given: Any, name: str) -> None:
        self.paths: list[str] | None = None
        if isinstance(given, (str, os.PathLike)) or _are_paths(given):
            given = LineSentence(given)
        if type(given) is LineSentence and given.encoding is None:
            self.paths = [os.fspath(path) for path in given.paths]
        elif isinstance(given, bytes) or not (isinstance(given, Iterable) or is_series(given)):
            raise TypeError(
                f"slice {name!r} must be a path, a list of paths, or an iterable of lists of str; got {given!r:.80}"
            )
        elif iter(given) is given:
            given = list(given)
        self.given: Any = given

    def __iter__(self) -> Iterator[Any]:
        return iter(self.given)

    @property
    def files(self) -> list[Path]:
        """The files that are read, whatever their encoding; none where the text is sentences."""
        if not isinstance(self.given, (LineSentence, Prose)):
            return []
        return [path for path in self.given.paths if path != STANDARD_INPUT]

    def keep_places(self) -> None:
        """Find the files from now on even if the process goes to another folder."""
        if self.files:
            self.given = copy.copy(self.given)  # which may be the caller's
            self.given.paths = [path if path == STANDARD_INPUT else path.absolute() for path in self.given.paths]
            self.paths = None if self.paths is None else [os.fspath(path) for path in self.given.paths]

    def stamp(self) -> list[tuple[int, int, int]] | None:
        """What changes when a file is written anew; None where one is not there."""
        try:
            return [(found.st_ino, found.st_size, found.st_mtime_ns) for found in map(os.stat, self.files)]
        except OSError:
            return None


def _are_paths(given: Any) -> bool:
    return isinstance(given, (list, tuple)) and len(given) > 0 and all(
        isinstance(item, (str, os.PathLike)) for item in given
    )  # fmt: skip


def of_text(sources: Sequence[Source]) -> tuple[Iterable[Any] | None, PathInput | None]:
    """All text as a model takes it: sentences, or files, which are read on all threads."""
    if all(source.paths is not None for source in sources):
        return None, [path for source in sources for path in source.paths or ()]
    return (sentence for source in sources for sentence in source), None


def encoded(source: Source, snapshot: Snapshot, name: str) -> _core.Corpus:
    """The text of a slice in the words of a model.

    Raises
    ------
    ValueError
        If no word of it is known.
    """
    try:
        if source.paths is not None:
            _, corpus = encode_corpus(corpus_file=source.paths, vocab=snapshot.vocabulary)
        else:
            _, corpus = encode_corpus(source.given, vocab=snapshot.vocabulary)
    except ValueError as error:
        raise ValueError(f"slice {name!r}: {error}") from error
    return corpus


class Counts(NamedTuple):
    """How often each sense occurs in a slice, by groups of blocks of sentences.

    Attributes
    ----------
    offset : int64 (Z + 1,)
        Entries of sense z are ``[offset[z], offset[z + 1])``.
    groups : int32 (N,)
        The group of blocks, of its word's own, 0 to `GROUPS` - 1.
    uses : int32 (N,)
        Uses of the sense in it.
    """

    offset: Integers
    groups: NDArray[np.int32]
    uses: NDArray[np.int32]

    def totals(self) -> Integers:
        """Uses of each sense, int64 (Z,)."""
        sums = np.concatenate(([0], np.cumsum(self.uses, dtype=np.int64)))
        totals: Integers = sums[self.offset[1:]] - sums[self.offset[:-1]]
        return totals

    def table(self, rows: slice[int, int, None]) -> Integers:
        """Uses of the senses of a word by group, int64 (groups, K); groups without a use are left out."""
        first, last = int(self.offset[rows.start]), int(self.offset[rows.stop])
        sense = np.repeat(np.arange(rows.stop - rows.start), np.diff(self.offset[rows.start : rows.stop + 1]))
        found = np.zeros((GROUPS, rows.stop - rows.start), np.int64)
        found[self.groups[first:last], sense] = self.uses[first:last]
        held: Integers = found[found.sum(axis=1) > 0]
        return held


@dataclass
class Slice:
    """What is kept of a slice.

    Attributes
    ----------
    name : str
    counts : Counts
        Of senses.
    means : Means
        Mean contexts of senses.
    sentences, tokens : int
        Known words, and sentences that hold any.
    source : Source or None
        Its text, where it is known.
    corpus : _core.Corpus or None
        The text in the words of the model, where it has been read.
    stamp : list or None
        That of the source when it was read.
    """

    name: str
    counts: Counts
    means: Means
    sentences: int
    tokens: int
    source: Source | None = None
    corpus: _core.Corpus | None = None
    stamp: list[tuple[int, int, int]] | None = None
    totals: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.totals = self.counts.totals()

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: the encoded text is read anew when it is needed."""
        return {**self.__dict__, "corpus": None}


def senses_of(snapshot: Snapshot, corpus: _core.Corpus) -> NDArray[np.int64]:
    """The row of the sense of every token, int64 (T,)."""
    arrays, selector = snapshot.arrays, selector_of(snapshot)
    tokens, offsets = corpus.tokens, corpus.offsets
    rows, first = np.empty(len(tokens), np.int64), 0
    while first < corpus.n_sentences:
        beyond = int(np.searchsorted(offsets, offsets[first] + _TOKENS_AT_ONCE, side="right"))
        last = min(max(beyond - 1, first + 1), corpus.n_sentences)
        part = slice(int(offsets[first]), int(offsets[last]))
        block = tokens[part]
        rows[part] = arrays.sense_offset[block] + selector.choose(block, offsets[first : last + 1] - offsets[first])
        first = last
    return rows


def count_senses(snapshot: Snapshot, corpus: _core.Corpus, rows: Integers, block: int) -> Counts:
    """Count the senses of a slice by groups of blocks of so many sentences.

    Parameters
    ----------
    snapshot : Snapshot
        The compass.
    corpus : _core.Corpus
        The slice.
    rows : int64 (T,)
        Of `senses_of`.
    block : int
        Sentences a block.
    """
    arrays, tokens = snapshot.arrays, corpus.tokens
    block_of = np.repeat((np.arange(corpus.n_sentences) // block).astype(np.int32), np.diff(corpus.offsets))
    order = np.argsort(tokens, kind="stable")  # so blocks rise within each word
    words, blocks = tokens[order], block_of[order]
    new_word = np.diff(words, prepend=-1) != 0
    rank = np.cumsum(new_word | (np.diff(blocks, prepend=-1) != 0)) - 1
    rank -= rank[np.flatnonzero(new_word)][np.cumsum(new_word) - 1]
    held = np.zeros(arrays.n_words, np.int64)  # blocks that hold the word
    np.maximum.at(held, words, rank + 1)
    group = np.where(held[words] > GROUPS, rank * GROUPS // np.maximum(held[words], 1), rank)
    keys, uses = np.unique(rows[order] * GROUPS + group, return_counts=True)
    offset = np.searchsorted(keys, np.arange(arrays.n_senses + 1) * GROUPS)
    return Counts(offset.astype(np.int64), (keys % GROUPS).astype(np.int32), uses.astype(np.int32))
