"""SQLite, by the standard library: a table of senses with their vectors as blobs, for programs in any language.

Tables: ``senses`` has the columns of `muse.formats.sense_rows.COLUMNS` and ``vector``, D little-endian float32 one
after another, with an index of words; ``about`` has names and values: format, version, dimension. If asked for,
``neighbours`` has the nearest senses of each: ``key``, ``rank`` from 1, ``neighbour``, ``cosine``.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

import numpy as np

from muse.base.checks import integer
from muse.data.settings import Settings
from muse.data.snapshot import Snapshot
from muse.data.vocabulary import Vocabulary
from muse.files.replacing import check_target, replacing
from muse.formats.reading import damaged, open_reader
from muse.formats.sense_rows import COLUMNS, SenseRows, rows_of_table, table_of_rows
from muse.formats.table import SenseTable
from muse.vectors.model_vectors import SenseVectors

__all__ = ["read_sqlite", "write_sqlite"]

_FORMAT = "muse-senses-sqlite"
_BLOCK_ROWS = 1024
_HEADER = 100  # bytes, among them the size of a page and the number of pages
_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE senses (
    key TEXT NOT NULL UNIQUE, word TEXT NOT NULL, sense INTEGER NOT NULL, count INTEGER NOT NULL, share REAL NOT NULL,
    word_count INTEGER NOT NULL, vector BLOB NOT NULL
);
"""
_INDEX = "CREATE INDEX senses_of_words ON senses (word)"
_NEIGHBOURS = """
CREATE TABLE neighbours (
    key TEXT NOT NULL, rank INTEGER NOT NULL, neighbour TEXT NOT NULL, cosine REAL NOT NULL, PRIMARY KEY (key, rank)
) WITHOUT ROWID;
"""


def read_sqlite(path: str | PathLike[str]) -> SenseTable:
    """Read the table ``senses`` of a database that `write_sqlite` wrote, or of one like it.

    Raises
    ------
    ModelFileError
        If SQLite cannot read the file, or the table is not what it should be.
    """
    with open_reader(path) as reader:
        source, start = reader.name, reader.peek(_HEADER)
    if int.from_bytes(start[28:32]) * (int.from_bytes(start[16:18]) or 1) > os.path.getsize(path):
        raise damaged(source, "it was cut short")  # SQLite sees that only where it reads
    with _opened(Path(path).absolute().as_uri() + "?mode=ro", source) as database:
        known = "SELECT type FROM sqlite_master WHERE name = 'senses'"
        if database.execute(known).fetchall() != [("table",)]:
            raise damaged(source, "it has no table of the name senses")
        columns = {row[1]: row[6] for row in database.execute("PRAGMA table_xinfo(senses)")}
        if any(columns.get(name) != 0 for name in (*COLUMNS[1:], "vector")):
            raise damaged(source, f"its table senses must have the columns {', '.join((*COLUMNS[1:], 'vector'))}")
        (size, most), (count,) = (
            database.execute(f"SELECT {what} FROM senses").fetchone()
            for what in ("min(length(vector)), max(length(vector))", "count(*)")
        )
        if not count or size != most or size % 4 or not size or count * size > os.path.getsize(path):
            raise damaged(source, "the vectors of its table senses are not equally long, or there are none")
        return table_of_rows(_rows(database, source, count, size // 4), source)


def _rows(database: sqlite3.Connection, source: str, count: int, size: int) -> SenseRows:
    vectors = np.empty((count, size), np.float32)
    words: list[str] = []
    numbers = np.empty((count, 3), np.int64)
    shares = np.empty(count, np.float64)
    names = ("word", "vector", "sense", "count", "word_count", "share")
    for row, values in enumerate(database.execute(f"SELECT {', '.join(names)} FROM senses ORDER BY rowid")):
        word, vector, *whole, share = values
        kinds = (isinstance(word, str), isinstance(vector, bytes), *(isinstance(number, int) for number in whole))
        if not all(kinds) or not isinstance(share, (int, float)):
            raise damaged(source, f"row {row + 1} of its table senses has a value of another type")
        words.append(word)
        vectors[row], numbers[row], shares[row] = np.frombuffer(vector, "<f4"), whole, share
    return SenseRows(words, numbers[:, 0], numbers[:, 1], shares, numbers[:, 2], vectors)


@contextlib.contextmanager
def _opened(uri: str, source: str) -> Iterator[sqlite3.Connection]:
    """A database from nobody knows where: nothing in it is run but reading of tables."""
    try:
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as database:
            database.execute("PRAGMA trusted_schema = OFF")
            database.execute("PRAGMA query_only = ON")
            yield database
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise damaged(source, f"SQLite cannot read it ({error})") from error


def write_sqlite(path: str | PathLike[str], table: SenseTable, *, neighbours: int = 0) -> None:
    """Write a database, which is replaced only when the new one is complete.

    Parameters
    ----------
    path, table
        The file, and what it is to hold.
    neighbours : int
        How many of the nearest senses of each sense to store, too; 0: none, and no such table.
    """
    wanted = integer(0)("neighbours", neighbours)
    check_target(path)
    with _disk_errors(path), contextlib.closing(sqlite3.connect("", isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = OFF")  # a temporary database: nobody goes back in it
        database.execute("BEGIN")
        _fill(database, rows_of_table(table), table)
        if wanted:
            _fill_neighbours(database, table, wanted)
        database.execute("COMMIT")
        made = database.serialize()
    with replacing(path) as file:
        file.write(made)


@contextlib.contextmanager
def _disk_errors(path: str | PathLike[str]) -> Iterator[None]:
    """SQLite's errors with its temporary files as those of the system, which name the file that was to be written."""
    try:
        yield
    except sqlite3.OperationalError as error:
        full = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_FULL
        raise OSError(errno.ENOSPC if full else errno.EIO, f"temporary files: {error}", os.fspath(path)) from error


def _fill(database: sqlite3.Connection, rows: SenseRows, table: SenseTable) -> None:
    for statement in filter(str.strip, _TABLES.split(";")):
        database.execute(statement)
    about = {"format": _FORMAT, "version": "1", "dimension": str(table.vector_size), "vector": "float32, little-endian"}
    database.executemany("INSERT INTO about VALUES (?, ?)", about.items())
    columns = (rows.keys(), rows.words, *(numbers.tolist() for numbers in rows[1:5]))
    blobs = (vector.astype("<f4").tobytes() for vector in rows.vectors)
    database.executemany("INSERT INTO senses VALUES (?, ?, ?, ?, ?, ?, ?)", zip(*columns, blobs, strict=True))
    database.execute(_INDEX)


def _fill_neighbours(database: sqlite3.Connection, table: SenseTable, wanted: int) -> None:
    database.execute(_NEIGHBOURS)
    database.executemany("INSERT INTO neighbours VALUES (?, ?, ?, ?)", _neighbours(table, wanted))


def _neighbours(table: SenseTable, wanted: int) -> Iterator[tuple[str, int, str, float]]:
    """The nearest senses of each: its key, their rank, their key and cosine."""
    arrays = table.arrays()
    arrays.sense_numbers = table.numbers
    senses = SenseVectors(Snapshot(Settings(), Vocabulary(table.words, arrays.word_counts), arrays))
    keys = table.keys()
    for first in range(0, len(keys), _BLOCK_ROWS):
        block = keys[first : first + _BLOCK_ROWS]
        for key, near in zip(block, senses.most_similar_batch(block, wanted), strict=True):
            for rank, (other, cosine) in enumerate(near, 1):
                yield key, rank, other, cosine
