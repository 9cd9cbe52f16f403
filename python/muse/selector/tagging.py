"""Senses of running text: sentences, streams of sentences, and files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise, repeat
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.base.checks import flag, number
from muse.base.numeric import unit_rows
from muse.base.tables import frame_columns, named
from muse.data.arrays import Arrays, Floats
from muse.data.snapshot import Snapshot
from muse.selector.context import Context, as_tokens, asked_contexts
from muse.selector.selection import SenseBlock, TokenSense, selector_of
from muse.selector.tag_file import Tagger, TagReport, fingerprint, tag_file
from muse.selector.tag_sentences import tag_sentences

__all__ = ["naming_tagger", "sense_blocks", "sentence_senses", "sentence_vectors", "stream_senses", "tag_text"]

_SIF = 1e-3  # Arora, Liang & Ma (2017): a word of this share weighs half


def sentence_senses(snapshot: Snapshot, sentence: Context) -> list[TokenSense]:
    """The sense of every token of a sentence; see `MUSE.disambiguate`."""
    selector = selector_of(snapshot)
    tokens = as_tokens(sentence, selector.reader.tokens)
    block = next(selector.blocks([tokens]))
    known = (None if sense < 0 else sense for sense in block.senses.tolist())
    found = list(map(TokenSense, tokens, known, block.probabilities.tolist()))
    for i in np.flatnonzero(~block.has_context).tolist():
        found[i].has_context = False
    for token in found if snapshot.names else ():
        if token.sense is not None and token.token in snapshot.known_names:
            token.name = snapshot.shown_names(token.token).get(token.sense)
    return found


def stream_senses(
    snapshot: Snapshot, sentences: Iterable[Context], probabilities: bool, margin: float | None
) -> Iterator[Any]:
    """The senses of every token of many sentences; see `MUSE.disambiguate_batch`."""
    limit = None if margin is None else number(0, 1)("margin", margin)
    return _by_sentence(sense_blocks(snapshot, sentences), probabilities, limit)


def sense_blocks(snapshot: Snapshot, sentences: Iterable[Context]) -> Iterator[SenseBlock]:
    """The same in arrays of many sentences; see `MUSE.disambiguate_blocks`."""
    if isinstance(sentences, (str, bytes)) or not isinstance(sentences, Iterable):
        raise TypeError("disambiguate_batch takes an iterable of sentences; for a single one use disambiguate")
    _refuse_table("disambiguate_batch", sentences)
    return selector_of(snapshot).blocks(sentences)


def _refuse_table(what: str, sentences: Any) -> None:
    columns = list(sentences) if isinstance(sentences, Mapping) else frame_columns(sentences)
    if columns is not None:
        raise TypeError(
            f"{what} takes an iterable of sentences, not a table with the columns {named(columns)}; "
            "give one of them, as muse.corpus.Column(table, name)"
        )


def _refuse_own_text(sentences: Any, output: str | PathLike[str]) -> None:
    """A ValueError where the output would replace a file that the sentences are read from."""
    target = os.path.realpath(os.fspath(output))
    if any(os.path.realpath(path) == target for path in getattr(sentences, "paths", ())):
        raise ValueError(f"input and output are the same file, {os.fspath(output)!r}; give the output another name")


def tag_text(
    snapshot: Snapshot,
    input: str | PathLike[str] | Iterable[Context],
    output: str | PathLike[str],
    *,
    margin: float,
    resume: bool,
    progress: bool | None,
    names: bool = False,
) -> TagReport:
    """Write a text with the sense of each word behind it; see `MUSE.tag_corpus`."""
    arrays, selector, settings = snapshot.arrays, selector_of(snapshot), snapshot.settings
    named = _tags_of_names(snapshot) if flag("names", names) else {}
    tagger = naming_tagger(snapshot, named)
    shown = settings.progress if progress is None else bool(progress)
    limit = number(0, 1)("margin", margin)
    if not isinstance(input, (str, bytes, PathLike)) and isinstance(input, Iterable):
        if resume:
            raise ValueError("resume goes on with a file; sentences are tagged in one go")
        if hasattr(input, "read"):
            raise TypeError("input is an open file; give its path")
        _refuse_table("tag_corpus", input)
        _refuse_own_text(input, output)
        return tag_sentences(selector, input, output, margin=limit, progress=shown, named=named)

    def identify() -> str:
        stored = {**settings.to_json(), "words": list(snapshot.vocabulary.words)}
        stored |= {"tags of names": named} if named else {}
        numbers = [] if arrays.sense_numbers is None else [arrays.sense_numbers]
        return fingerprint(stored, arrays.context_vectors, arrays.selection_vectors, arrays.sense_offset, *numbers)

    return tag_file(
        tagger, identify, input, output,
        margin=limit, workers=selector.workers, resume=bool(resume), progress=shown,
    )  # fmt: skip


_TAG = re.compile(r"\S+#[0-9]+(?!\S)")


def naming_tagger(snapshot: Snapshot, named: dict[str, str] | None = None) -> Tagger:
    """What tags text with names where senses have any; `named` has what takes the place of which key."""
    named = _tags_of_names(snapshot) if named is None else named
    tagger = selector_of(snapshot).tagger
    return _NamingTagger(tagger, named) if named else tagger


class _NamingTagger:
    """The core's tagger, whose tags become those of names.

    Parameters
    ----------
    tagger : _core.Tagger
    named : dict of str to str
        See `_tags_of_names`.
    """

    def __init__(self, tagger: _core.Tagger, named: dict[str, str]) -> None:
        self._tagger, self._named = tagger, named

    def tag(self, text: bytes, *how: Any) -> tuple[bytes, int, int]:
        """As the core's."""
        tagged, tokens, changed = self._tagger.tag(text, *how)
        named = _TAG.sub(lambda found: self._named.get(found[0], found[0]), tagged.decode("utf-8"))
        return named.encode("utf-8"), tokens, changed


def _tags_of_names(snapshot: Snapshot) -> dict[str, str]:
    """What takes the place of the key of each sense that has a name, ``word:name``, without white space."""
    found: dict[str, str] = {}
    for word in snapshot.known_names:
        if word in snapshot.vocabulary:
            shown, row = snapshot.shown_names(word), snapshot.vocabulary.index(word)
            for number in snapshot.arrays.numbers_of(row).tolist():
                if number in shown:
                    found[f"{word}#{number}"] = f"{word}:{'_'.join(shown[number].split())}"
    return found


def sentence_vectors(
    snapshot: Snapshot, sentence: Context | None, sentences: Iterable[Context] | None, weights: str | None
) -> Floats:
    """The mean of the vectors of the selected senses, of one sentence or several; see `MUSE.sentence_vector`."""
    if weights not in (None, "sif"):
        raise ValueError(f"weights must be None or 'sif'; got {weights!r:.80}")
    vocabulary, arrays = snapshot.vocabulary, snapshot.arrays
    if (sentence is None) == (sentences is None):
        raise ValueError("give either sentence, which is one, or sentences, which are several")
    asked = asked_contexts(sentence, None, sentences, None, vocabulary, "sentences")
    assert asked is not None  # something was given
    split = selector_of(snapshot).reader.tokens
    listed = [as_tokens(context, split) for context in asked.contexts]
    vectors = np.zeros((len(listed), arrays.vector_size), np.float32)
    for row, (tokens, senses) in enumerate(zip(listed, stream_senses(snapshot, listed, False, None), strict=True)):
        known = senses >= 0
        ids = np.fromiter(map(vocabulary.ids.get, tokens, repeat(-1)), np.int64, len(tokens))[known]
        if len(ids):
            vectors[row] = _mean(arrays, ids, senses[known], weights)
    return vectors[0] if asked.single else vectors


def _mean(
    arrays: Arrays, words: NDArray[np.int64], senses: NDArray[np.int32], weights: str | None
) -> NDArray[np.float64]:
    units = unit_rows(arrays.sense_vectors[arrays.rows_at(words, senses)])
    if weights is None:
        return np.asarray(units.mean(axis=0))
    shares = arrays.word_counts[words] / max(int(arrays.word_counts.sum()), 1)
    return np.average(units, axis=0, weights=_SIF / (_SIF + shares))


def _by_sentence(blocks: Iterator[SenseBlock], probabilities: bool, margin: float | None) -> Iterator[Any]:
    for block in blocks:
        columns: list[NDArray[Any]] = [block.senses]
        if probabilities:
            columns.append(block.probabilities)
        if margin is not None:
            columns.append((block.margins < margin) & (block.senses >= 0))
        ends = block.offsets.tolist()
        if len(columns) == 1:
            yield from (block.senses[a:b] for a, b in pairwise(ends))
        else:
            for a, b in pairwise(ends):
                yield tuple(column[a:b] for column in columns)
