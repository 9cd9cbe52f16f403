"""Tagging of sentences that are no file of tokens: prose, tables, whatever can be iterated."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import IO

from muse.base.progress import progress_bar
from muse.files.lines import compression
from muse.files.replacing import naming, replacing
from muse.selector.context import Context, as_tokens
from muse.selector.selection import SenseSelector
from muse.selector.tag_file import TagReport, compressor, is_stream

__all__ = ["tag_sentences"]

_SENTENCES = 20_000  # that are tagged at once


def tag_sentences(
    selector: SenseSelector,
    sentences: Iterable[Context],
    target: str | PathLike[str],
    *,
    margin: float,
    progress: bool,
) -> TagReport:
    """Write sentences, one a line, their tokens between spaces, with the senses of these; see `MUSE.tag_corpus`."""
    remaining, report = iter(sentences), TagReport(0, 0)
    compress = compressor(compression(Path(target)))
    with _sink(target) as sink, progress_bar(total=None, desc="tagging", unit=" sentences", show=progress) as bar:
        while given := [as_tokens(sentence, selector.reader.tokens) for sentence in islice(remaining, _SENTENCES)]:
            tagged = 0
            for text, senses in _lines(selector, given, margin):
                with naming(target):
                    sink.write(compress(text.encode()))
                tagged += senses
            report = TagReport(report.tokens + sum(map(len, given)), report.tagged + tagged)
            bar.update(len(given))
    return report


def _sink(target: str | PathLike[str]) -> contextlib.AbstractContextManager[IO[bytes]]:
    return open(target, "wb") if is_stream(target) else replacing(target)


def _lines(selector: SenseSelector, sentences: Sequence[list[str]], margin: float) -> Iterator[tuple[str, int]]:
    """The text of some sentences, and how many of their tokens have a sense there."""
    places = iter(sentences)
    for block in selector.blocks(sentences):
        said = ((block.senses >= 0) & (block.margins >= margin)).tolist()
        senses, ends = block.senses.tolist(), block.offsets.tolist()
        lines = []
        for begin, sentence in zip(ends, islice(places, len(ends) - 1), strict=False):
            tokens = enumerate(sentence, start=begin)
            lines.append(" ".join(f"{token}#{senses[i]}" if said[i] else token for i, token in tokens))
        yield "\n".join(lines) + "\n", sum(said)
