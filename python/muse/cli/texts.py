"""The text that a command reads: tokens or prose in files, folders or patterns; a table, a Wikipedia dump, a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import click

from muse.base.limits import usable_cores
from muse.cli.kinds import Checked
from muse.cli.streams import claim_input, is_input
from muse.corpus.columns import Column
from muse.corpus.encoding import LineSentence
from muse.corpus.prose import Prose
from muse.files.encodings import check_encoding
from muse.files.lines import shown
from muse.files.looks import looks_like_prose
from muse.files.table_files import TableFile, is_table
from muse.files.text_files import text_files
from muse.integrations.wikipedia import WikipediaSentences, is_dump

__all__ = ["ENCODING", "Reading", "Text", "reading_options", "text_of"]


ENCODING = click.option("--encoding", type=Checked(lambda _, value: check_encoding(str(value))), metavar="NAME",
                        help="Of the text, such as cp1252; auto: UTF-8, or else Windows-1252.  [utf-8]")  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """How text is read: the options of `reading_options`."""

    prose: bool | None = None
    encoding: str | None = None
    language: str | None = None
    text_column: str | None = None
    tables: bool = True  # whether the command has --text-column

    @classmethod
    def taken(cls, values: dict[str, Any]) -> Reading:
        """Of the values of a command's options, from which they are taken away."""
        return cls(**{name: values.pop(name) for name in cls.__dataclass_fields__ if name in values})


class Text(NamedTuple):
    """Sentences, and what to call them."""

    name: str
    sentences: Any


def reading_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say how text is read."""
    for option in reversed((
        click.option("--prose/--tokens", default=None,
                     help="Split text into sentences and words, or take lines and words as they are.  [as it looks]"),
        ENCODING,
        click.option("--language", metavar="CODE", help="Of prose, such as de: its abbreviations are known then."),
        click.option("--text-column", metavar="NAME", help="The text of a table: .csv, .tsv, .jsonl, .parquet."),
    )):  # fmt: skip
        function = option(function)
    return function


def text_of(paths: Sequence[str], reading: Reading) -> Text:
    """The sentences in files, folders, patterns of names, a table, a Wikipedia dump or standard input.

    Raises
    ------
    FileNotFoundError, ValueError, click.UsageError
        If there is no such file, or an option does not go with it.
    """
    for path in paths:
        if is_input(path):
            claim_input()
    name = ", ".join("standard input" if is_input(path) else shown(path) for path in paths)
    if reading.text_column is not None:
        if len(paths) > 1:
            raise click.UsageError(f"--text-column reads one table; got {len(paths)}")
        prose = bool(reading.prose)
        language = reading.language if prose else None
        try:
            table = _Table(paths[0], reading.text_column, prose=prose, language=language, encoding=reading.encoding)
        except KeyError as error:
            raise ValueError(f"{name}: {error.args[0]}") from error
        return Text(name, table)
    if len(paths) == 1 and is_dump(paths[0]):
        return Text(name, WikipediaSentences(paths[0], workers=usable_cores()))
    text_files(paths, "the corpus")
    if reading.tables and reading.prose is None:
        _refuse_tables(paths, reading)
    if reading.prose or (reading.prose is None and _is_prose(paths, reading)):
        return Text(name, Prose(paths, language=reading.language, encoding=reading.encoding))
    return Text(name, LineSentence(paths, encoding=reading.encoding))


class _Table(Column):
    """The column of a file, whose rows are data: what is wrong in them is a fault of the data."""

    def __iter__(self) -> Iterator[list[str]]:
        try:
            yield from super().__iter__()
        except (TypeError, KeyError) as error:
            raise ValueError(str(error.args[0] if error.args else error)) from error


def _refuse_tables(paths: Sequence[str], reading: Reading) -> None:
    """Say that the text of a table is in one of its columns; all of its cells, marks and names are no text."""
    for path in filter(is_table, paths):
        has = ""
        if Path(path).is_file():
            has = f", of {', '.join(map(repr, TableFile(path, reading.encoding).columns[:8]))},"
        raise click.UsageError(
            f"{shown(path)} is a table: name the column{has} that holds its text with --text-column, or have its lines "
            "read as they are with --tokens"
        )


def _is_prose(paths: Sequence[str], reading: Reading) -> bool:
    """Whether text looks like prose, which is said, since it decides what is a word."""
    if not looks_like_prose(paths, encoding=reading.encoding):
        return False
    print("this looks like prose, and is split into sentences and words; --tokens takes it as it is", file=sys.stderr)
    return True
