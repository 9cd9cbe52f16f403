"""Text files that are tokenised: one sentence a line, words between white space."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from pathlib import Path
from typing import IO

from muse.files.encodings import as_utf8, check_encoding
from muse.files.lines import STANDARD_INPUT, PathInput, decode_line, read_chunks, shown, split_lines, split_words
from muse.files.looks import ProseWatch
from muse.files.text_files import open_text, text_files

__all__ = ["LineSentence", "utf8_chunks"]


class LineSentence:
    """The sentences of one or more text files, as lists of tokens; can be iterated any number of times.

    One sentence a line; words are separated by white space, as ``str.split`` does it (so by U+3000, U+00A0 and their
    like, too); lines without words are skipped; byte order marks before a word are dropped. Files whose names
    end in .gz, .bz2, .xz or .zst are decompressed as they are read. ``MUSE(LineSentence(path))`` is the same as
    ``MUSE(corpus_file=path)``, and as fast. Plain prose, which is not tokenised, is for `muse.corpus.Prose`.

    Parameters
    ----------
    path_or_paths : path or sequence of paths
        Files, folders (their files that end in .txt or .text, compressed or not, or, where there are none, all that are
        not hidden, those of folders inside too), patterns such as ``"texts/*.txt"``, and ``"-"``, standard input.
        Checked at once: a missing file raises `FileNotFoundError` here, not in the middle of the corpus.
    encoding : str, optional
        That of the files, such as ``"cp1252"`` or ``"utf-16"``. UTF-8, if not given. ``"auto"`` reads those that are
        not UTF-8, and that no byte order mark says to be UTF-16, as Windows-1252, and names them in a warning.

    Raises
    ------
    ValueError
        For an unknown encoding; while iterating, where a file is not valid UTF-8 (with the line) or not in the given
        encoding (with the byte), its compressed data is damaged, or standard input is read again.

    Warns
    -----
    UserWarning
        Where a file looks like prose, whose words have punctuation stuck to them.

    Examples
    --------
    >>> for tokens in LineSentence("wiki.txt.xz"):  # doctest: +SKIP
    ...     print(len(tokens))
    """

    def __init__(self, path_or_paths: PathInput, *, encoding: str | None = None) -> None:
        self.encoding = check_encoding(encoding)
        self.paths = text_files(path_or_paths, "LineSentence")
        self._read = False

    def __iter__(self) -> Iterator[list[str]]:
        return self._sentences(None)

    def holding(self, words: Iterable[str]) -> Iterator[list[str]]:
        """The sentences that hold at least one of some words; far faster than to look at all."""
        wanted = set(words)
        pattern = re.compile(b"|".join(re.escape(word.encode()) for word in wanted))
        return self._sentences(pattern, wanted) if wanted else iter(())

    def begin(self) -> None:
        """Take note that the files are read; a ValueError where standard input is among them and was read before."""
        if self._read and STANDARD_INPUT in self.paths:
            raise ValueError("standard input can be read once, and was; write the text into a file")
        self._read = True

    def _sentences(self, pattern: re.Pattern[bytes] | None, wanted: Set[str] = frozenset()) -> Iterator[list[str]]:
        self.begin()
        watch = ProseWatch()
        for path in self.paths:
            with open_text(path) as file:
                chunks = watch.watched(utf8_chunks(path, file, self.encoding), shown(path))
                for number, line in enumerate(split_lines(chunks), start=1):
                    if pattern is not None and pattern.search(line) is None:
                        continue
                    words = split_words(decode_line(line, path, number))
                    if words and (pattern is None or not wanted.isdisjoint(words)):
                        yield words

    def __repr__(self) -> str:
        encoding = "" if self.encoding is None else f", encoding={self.encoding!r}"
        return f"LineSentence({[shown(path) for path in self.paths]}{encoding})"


def utf8_chunks(path: Path, file: IO[bytes], encoding: str | None) -> Iterator[bytes]:
    """The text of an open file in pieces of UTF-8: decompressed, and from another `encoding`, if one is given.

    What is said to be UTF-8 is not looked at.
    """
    chunks = read_chunks(path, file)
    return chunks if encoding is None else as_utf8(chunks, encoding, shown(path))
