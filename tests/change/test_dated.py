"""Slices of a table by its dates: edges, rows outside, and what is no table of dates."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from muse.change.dated import by_bins


def rows(*dates: Any) -> list[dict[str, Any]]:
    return [{"when": date, "text": f"word{place}"} for place, date in enumerate(dates)]


def test_slices_are_half_open_but_for_the_last_edge() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = by_bins(rows(1810, 1859, 1860, 1910), "text", "when", [1810, 1860, 1910])
    assert found == {"1810-1860": [["word0"], ["word1"]], "1860-1910": [["word2"], ["word3"]]}


def test_rows_outside_are_told() -> None:
    with pytest.warns(UserWarning, match="3 rows are in no slice"):
        found = by_bins(rows(1700, 1810, 1911, 1911), "text", "when", [1810, 1910])
    assert found == {"1810-1910": [["word1"]]}


@pytest.mark.parametrize("missing", [None, math.nan, np.float32("nan"), np.datetime64("NaT")])
def test_missing_dates_are_left_out(missing: Any) -> None:
    date = 1810 if not isinstance(missing, np.datetime64) else np.datetime64("1810-01-01")
    assert list(by_bins(rows(date, missing), "text", "when", None)) == [str(date)]
    with pytest.raises(ValueError, match="no row of the table has both a date in 'when'"):
        by_bins(rows(missing, missing), "text", "when", None)


def test_dates_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"when": pandas.to_datetime(["1810-01-01", None, "1900-05-01"]), "text": ["a", "b", "c"]})
    assert [name[:4] for name in by_bins(frame, "text", "when", None)] == ["1810", "1900"]
    with pytest.raises(TypeError, match="by must be the name of a column, not a Series"):
        by_bins(frame, "text", frame["when"], None)


@pytest.mark.parametrize(
    ("table", "by", "bins", "error", "message"),
    [
        (rows([1810], [1820]), "when", None, TypeError, r"one is \[1810\]"),
        ({"when": [1, 2], "text": ["a"]}, "when", None, ValueError, "column 'when' has 2 cells and column 'text' 1"),
        (None, "when", None, TypeError, "table must be a data frame, or an iterable of mappings"),
        ("rows.csv", "when", None, TypeError, "table must be a data frame"),
        (rows(1810), "when", 50, TypeError, "bins must be a list of edges"),
        (rows(1810), "when", "1810", TypeError, "bins must be a list of edges"),
        (rows(1810), ["when"], None, TypeError, "by must be the name of a column, not a list"),
        (rows(1810, "x"), "when", None, TypeError, "of one kind"),
    ],
)  # fmt: skip
def test_what_is_no_table_of_dates(table: Any, by: Any, bins: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        by_bins(table, "text", by, bins)
