"""Apache Parquet, through pyarrow: a row for each sense, read by pandas, polars, DuckDB, Spark and others.

Columns are those of `muse.formats.sense_rows.COLUMNS` and ``vector``, a list of D float32.
"""

from __future__ import annotations

import os
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.base.optional import needed
from muse.files.replacing import replacing
from muse.formats.reading import damaged, open_reader
from muse.formats.sense_rows import COLUMNS, SenseRows, rows_of_table, table_of_rows
from muse.formats.table import SenseTable

__all__ = ["read_parquet", "write_parquet"]


def read_parquet(path: str | PathLike[str]) -> SenseTable:
    """Read a Parquet file with these columns; vectors may be lists of any length that is the same for all.

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    ModelFileError
        If pyarrow cannot read the file, or a column is missing or not what it should be.
    """
    arrow, parquet = (needed(name, "reading Parquet files", "parquet") for name in ("pyarrow", "pyarrow.parquet"))
    with open_reader(path) as reader:  # is it there, and a file?
        source = reader.name
    try:
        with parquet.ParquetFile(os.fspath(path)) as file:
            found = file.read([*COLUMNS[1:], "vector"])
        missing = {*COLUMNS[1:], "vector"} - set(found.column_names)
        if missing:
            raise damaged(source, f"it lacks the columns {', '.join(sorted(missing))}")
        nulls = [name for name in found.column_names if found.column(name).null_count]
        if nulls:
            raise damaged(source, f"the column {nulls[0]!r} has rows without a value")
        integers = [found.column(name).cast("int64").to_numpy() for name in ("sense", "count", "word_count")]
        rows = SenseRows(
            found.column("word").cast("string").to_pylist(), integers[0], integers[1],
            found.column("share").cast("float64").to_numpy(), integers[2],
            _matrix(arrow, found.column("vector"), source),
        )  # fmt: skip
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:  # the last: of words
        raise damaged(source, f"pyarrow cannot read it ({error})") from error
    return table_of_rows(rows, source)


def _matrix(arrow: Any, column: Any, source: str) -> NDArray[np.float32]:
    """A column of lists as float32 (Z, D)."""
    kind = arrow.types
    if not (kind.is_list(column.type) or kind.is_large_list(column.type) or kind.is_fixed_size_list(column.type)):
        raise damaged(source, f"the column 'vector' holds {column.type}, not lists of numbers")
    made = np.empty((len(column), 0), np.float32)
    first = 0
    for chunk in column.chunks:
        values = chunk.flatten()
        size, rest = divmod(len(values), max(len(chunk), 1))
        lengths = chunk.value_lengths().to_numpy(zero_copy_only=False)
        if rest or values.null_count or (lengths != size).any():
            raise damaged(source, "its vectors are not equally long")
        if not first:
            made = np.empty((len(column), size), np.float32)
        if size != made.shape[1]:
            raise damaged(source, "its vectors are not equally long")
        made[first : first + len(chunk)] = values.cast("float32").to_numpy(zero_copy_only=False).reshape(-1, size)
        first += len(chunk)
    return made


def write_parquet(path: str | PathLike[str], table: SenseTable, *, compression: str = "zstd") -> None:
    """Write a Parquet file.

    Parameters
    ----------
    path, table
        The file, which is replaced only when the new one is complete, and what it is to hold.
    compression : str
        One of pyarrow's: ``"zstd"``, ``"snappy"``, ``"none"``, ...

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    ValueError
        For another `compression`.
    """
    arrow, parquet = (needed(name, "writing Parquet files", "parquet") for name in ("pyarrow", "pyarrow.parquet"))
    rows = rows_of_table(table)
    flat = arrow.array(np.ascontiguousarray(rows.vectors, np.float32).reshape(-1))
    columns = [
        arrow.array(rows.keys()), arrow.array(rows.words), *(arrow.array(numbers) for numbers in rows[1:5]),
        arrow.FixedSizeListArray.from_arrays(flat, table.vector_size),
    ]  # fmt: skip
    made = arrow.Table.from_arrays(columns, [*COLUMNS, "vector"])
    if not isinstance(compression, str) or not (compression == "none" or _is_codec(arrow, compression)):
        raise ValueError(f"compression must be one of pyarrow's, such as 'zstd' or 'none'; got {compression!r:.80}")
    with replacing(path) as file:
        parquet.write_table(made, file, compression=compression)


def _is_codec(arrow: Any, name: str) -> bool:
    try:
        return bool(arrow.Codec.is_available(name))
    except ValueError:  # what some versions say of a name that they do not know
        return False
