"""Parquet, a row a sense: ``sense``, ``word``, ``number``, ``share``, ``count`` and ``vector``, through pyarrow.

pandas, polars, DuckDB and viewers of embeddings read it. ``vector`` is a list of fixed size of float32.
"""

from __future__ import annotations

import os
from os import PathLike
from typing import Any

import numpy as np

from muse.base.optional import needed
from muse.errors import ModelFileError
from muse.files.replacing import replacing
from muse.formats.reading import damaged
from muse.formats.table import SenseTable, group_keys

__all__ = ["MAGIC", "read_parquet", "write_parquet"]

MAGIC = b"PAR1"
_ROWS = 1 << 16  # of a group, so that memory stays small beside the vectors


def read_parquet(path: str | PathLike[str], *, column: str = "sense", vectors: str = "vector") -> SenseTable:
    """Read a Parquet file of keys and vectors.

    Parameters
    ----------
    path : path-like
        The file.
    column, vectors : str
        Names of its columns: of keys, ``word#k`` or words, and of lists of numbers that are all of one length. Counts
        are taken from a column ``count``, if there is one.

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    ModelFileError
        If it is damaged or lacks a column; the message names those that it has.
    """
    library, name = needed("pyarrow.parquet", "reading Parquet", "parquet"), repr(os.fspath(path))
    try:
        file = library.ParquetFile(os.fspath(path))
        known = file.schema_arrow.names
        if missing := [wanted for wanted in (column, vectors) if wanted not in known]:
            raise damaged(name, f"it has no column {missing[0]!r}, but {', '.join(map(repr, known))}",
                          "name the columns with column= and vectors=")  # fmt: skip
        counted = ["count"] if "count" in known else []
        read = file.read(columns=[column, vectors, *counted])
        keys = [str(key) for key in read[column].to_pylist()]
        matrix = _matrix(read[vectors], len(keys))
        counts = [int(count or 0) for count in read["count"].to_pylist()] if counted else None
    except (FileNotFoundError, ModelFileError):
        raise
    except (OSError, ValueError, TypeError, AttributeError, OverflowError) as error:  # pyarrow's errors are among these
        raise damaged(name, error) from error
    return group_keys(keys, matrix, counts=counts, source=name)


def _matrix(column: Any, rows: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """A column of lists as float32 (rows, D)."""
    flat = np.concatenate([chunk.flatten().to_numpy(zero_copy_only=False) for chunk in column.chunks] or [np.empty(0)])
    if column.null_count or not rows or len(flat) == 0 or len(flat) % rows:
        raise ValueError(f"{rows} rows with {len(flat)} numbers in all are not vectors of one length")
    lengths = {len(vector) for vector in column.slice(0, 1).to_pylist()}
    matrix: np.ndarray[Any, np.dtype[np.float32]] = np.ascontiguousarray(flat.reshape(rows, -1), np.float32)
    if lengths != {matrix.shape[1]}:
        raise ValueError(f"{rows} rows with {len(flat)} numbers in all are not vectors of one length")
    return matrix


def write_parquet(path: str | PathLike[str], table: SenseTable, *, compression: str = "zstd") -> None:
    """Write a Parquet file, a row a sense.

    Parameters
    ----------
    path : path-like
        The file.
    table : SenseTable
        The senses.
    compression : {"zstd", "snappy", "gzip", "none"}
        Of its columns.

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    ValueError
        For another compression.
    """
    if compression not in ("zstd", "snappy", "gzip", "none"):
        raise ValueError(f"compression must be 'zstd', 'snappy', 'gzip' or 'none'; got {compression!r:.40}")
    arrow, library = (
        needed("pyarrow", "writing Parquet", "parquet"),
        needed("pyarrow.parquet", "writing Parquet", "parquet"),
    )
    owners = np.repeat(np.arange(table.n_words), table.senses)
    keys, shares, counts = table.keys(), np.asarray(table.shares(), np.float32), table.counts_of_senses()
    numbers = np.arange(table.n_senses) - np.repeat(table.sense_offset[:-1], table.senses)
    numbers = numbers if table.numbers is None else table.numbers
    schema = arrow.schema([
        ("sense", arrow.string()), ("word", arrow.string()), ("number", arrow.int32()), ("share", arrow.float32()),
        ("count", arrow.int64()), ("vector", arrow.list_(arrow.float32(), table.vector_size)),
    ])  # fmt: skip
    with replacing(path) as file, library.ParquetWriter(file, schema, compression=compression) as writer:
        for start in range(0, max(table.n_senses, 1), _ROWS):
            rows = slice(start, min(start + _ROWS, table.n_senses))
            vectors = arrow.FixedSizeListArray.from_arrays(
                arrow.array(np.ascontiguousarray(table.sense_vectors[rows]).reshape(-1)), table.vector_size
            )
            columns = [
                arrow.array(keys[rows], arrow.string()),
                arrow.array([str(table.words[word]) for word in owners[rows].tolist()], arrow.string()),
                arrow.array(numbers[rows].astype(np.int32)), arrow.array(shares[rows]), arrow.array(counts[rows]),
                vectors,
            ]  # fmt: skip
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema))
