"""Tables in files, row by row: CSV and its like, JSON lines, Parquet."""

from __future__ import annotations

import contextlib
import csv
import errno
import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from muse.base.checks import path_like
from muse.base.optional import needed
from muse.files.encodings import check_encoding, decoded
from muse.files.lines import compression, is_compressed, read_chunks, shown

__all__ = ["TableFile", "is_table"]

_SEPARATED, _JSON, _PARQUET = (".csv", ".tsv", ".tab"), (".jsonl", ".ndjson"), (".parquet", ".pq")
_SEPARATORS = ",;\t|"
_LONGEST_CELL = 1 << 30
_limit_is_ours = threading.RLock()


def is_table(path: str | PathLike[str]) -> bool:
    """Whether the ending of a name is one of those that `TableFile` reads.

    Examples
    --------
    >>> is_table("letters.csv.gz"), is_table("letters.txt.gz")
    (True, False)
    """
    return _kind_of(Path(path)) in (*_SEPARATED, *_JSON, *_PARQUET)


def _kind_of(path: Path) -> str:
    """The ending that says what is in a file, without that of its compression."""
    return compression(path.with_suffix("") if is_compressed(path) else path)


class TableFile:
    """The rows of a file, each a dict of the columns that are asked for; can be read any number of times.

    Parameters
    ----------
    path : path-like
        Its ending says what it is: .csv, .tsv or .tab; .jsonl or .ndjson; .parquet or .pq. All but the last may be
        compressed (.gz, .bz2, .xz, .zst). What separates cells is seen from the first line: comma, semicolon, tab or
        bar.
    encoding : str, optional
        As of `muse.LineSentence`.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        For another ending, and for a file that is not what its ending says.
    ImportError
        If pyarrow is needed, and not installed: ``pip install 'muse-senses[parquet]'``.
    """

    def __init__(self, path: str | PathLike[str], encoding: str | None = None) -> None:
        self._path = Path(path_like("the file of a table", path))
        self._encoding = check_encoding(encoding)
        self._kind = _kind_of(self._path)
        if not is_table(self._path):
            raise ValueError(
                f"{shown(self._path)}: the name of a table must end in .csv, .tsv, .jsonl or .parquet; text without "
                "columns is for muse.corpus.Prose or muse.LineSentence"
            )
        if not self._path.exists():
            raise FileNotFoundError(errno.ENOENT, "there is no such table; check the path", str(path))
        self.columns: list[str] = self._header()

    def rows(self, names: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
        """The rows, with at least these columns."""
        if self._kind in _PARQUET:
            yield from self._of_parquet(list(names))
        elif self._kind in _JSON:
            yield from self._of_json()
        else:
            twice = [name for name in names if self.columns.count(name) > 1]
            if twice:
                raise ValueError(f"{shown(self._path)} has several columns {twice[0]!r}; give them names of their own")
            yield from self._separated()

    def _header(self) -> list[str]:
        if self._kind in _PARQUET:
            return list(self._parquet().schema_arrow.names)
        if self._kind in _SEPARATED:
            next(self._separated(), None)
            return self._names
        first = next(self._of_json(), None)
        if first is None:
            raise ValueError(f"{shown(self._path)} holds no row")
        return list(first)

    def _lines(self) -> Iterator[str]:
        """Lines with their line feeds, as `csv` wants them."""
        with self._path.open("rb") as file:
            begun = ""
            for text in decoded(read_chunks(self._path, file), self._encoding, shown(self._path)):
                *whole, begun = (begun + text).split("\n")
                yield from (line + "\n" for line in whole)
            if begun:
                yield begun

    def _separated(self) -> Iterator[Mapping[str, Any]]:
        lines = self._lines()
        first = next(lines, "")
        if not first.strip():
            raise ValueError(f"{shown(self._path)} is empty, or has no names of columns in its first line")
        separator = "," if self._kind == ".csv" else "\t"
        if first.count(separator) == 0:
            separator = max(_SEPARATORS, key=first.count) if self._kind == ".csv" else separator
        reader = csv.DictReader(_chained(first, lines), delimiter=separator)
        try:
            with _long_cells():
                self._names = list(reader.fieldnames or ())
            while True:
                with _long_cells():
                    row = next(reader, None)
                if row is None:
                    return
                yield row
        except csv.Error as error:
            raise ValueError(f"{shown(self._path)}, line {reader.line_num}: {error}; the table is damaged") from error

    def _of_json(self) -> Iterator[Mapping[str, Any]]:
        for number, line in enumerate(self._lines(), start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{shown(self._path)}, line {number} is not JSON ({error})") from None
            if not isinstance(row, dict):
                raise ValueError(f"{shown(self._path)}, line {number} is no object with columns; got {line:.60}")
            yield row

    def _parquet(self) -> Any:
        parquet = needed("pyarrow.parquet", f"reading {shown(self._path)}", "parquet")
        try:
            return parquet.ParquetFile(self._path)
        except (ValueError, OSError) as error:  # pyarrow's own errors are of these
            raise ValueError(f"{shown(self._path)} is not Parquet, or damaged ({error})") from error

    def _of_parquet(self, names: list[str]) -> Iterator[Mapping[str, Any]]:
        with self._parquet() as file:
            for batch in file.iter_batches(columns=names):
                yield from batch.to_pylist()


def _chained(first: str, lines: Iterable[str]) -> Iterator[str]:
    yield first
    yield from lines


@contextlib.contextmanager
def _long_cells() -> Iterator[None]:
    """Whole documents in a cell: the limit is the process's, by default 128 kB, and others may rely on it."""
    with _limit_is_ours:  # or threads would set back each other's
        before = csv.field_size_limit(_LONGEST_CELL)
        try:
            yield
        finally:
            csv.field_size_limit(before)
