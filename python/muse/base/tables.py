"""Rows, frames and series of other libraries, known by what they can do: none of the libraries is imported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

__all__ = ["column_of_text", "frame_columns", "is_missing", "is_series", "named", "refuse_row"]

# Of frames: pandas; polars and pyarrow; Hugging Face datasets.
_MARKS = ("iloc", "__arrow_c_stream__", "select_columns")


def frame_columns(value: Any) -> list[Any] | None:
    """The names of the columns of a frame (pandas, polars, pyarrow, Hugging Face); None for anything else."""
    if isinstance(value, type) or not any(hasattr(value, mark) for mark in _MARKS):
        return None
    for attribute in ("column_names", "columns"):
        names = getattr(value, attribute, None)
        if names is not None and not callable(names):
            return list(names)
    return None


def is_series(value: Any) -> bool:
    """Whether this is one column: a series or an index of pandas, a series of polars."""
    return not isinstance(value, type) and hasattr(value, "to_frame") and hasattr(value, "dtype")


def is_missing(value: Any) -> bool:
    """Whether a cell of a table is empty: None, NaN, a date that is none (NaT), or the NA of pandas."""
    if isinstance(value, (float, np.floating, np.datetime64)):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def named(columns: Iterable[Any], most: int = 8) -> str:
    """Names of columns in a message."""
    names = [f"{name!r:.40}" for name in columns]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def column_of_text(row: Mapping[Any, Any]) -> Any:
    """The column of a row that looks most like text: of several words, or a list of strings; else of any string."""
    for name, value in row.items():
        if (isinstance(value, str) and len(value.split()) > 1) or (
            isinstance(value, (list, tuple)) and len(value) > 0 and isinstance(value[0], str)
        ):
            return name
    texts = (name for name, value in row.items() if isinstance(value, str))
    return next(texts, next(iter(row), "text"))


def refuse_row(what: str, value: Any) -> None:
    """A TypeError for a mapping, whose keys would be read as tokens; it names the column to take."""
    if isinstance(value, Mapping):
        raise TypeError(
            f"{what} is a row with the columns {named(value)}, not a list of tokens; name the column that holds the "
            f"text: muse.corpus.Column(rows, {column_of_text(value)!r})"
        )
