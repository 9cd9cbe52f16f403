"""Benchmarks of small files and of indexes: one tiny run of each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from muse.formats.loaded import LoadedVectors
from muse.formats.table import SenseTable
from toy import toy_model


@pytest.fixture(scope="module", autouse=True)
def _benchmarks() -> Iterator[None]:
    """`benchmarks` is imported from the root of the repository, as its commands are run from there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).resolve().parents[2]))
        yield


def test_sizes(tmp_path):
    pytest.importorskip("sklearn")
    if not Path("/proc/self/status").exists():
        pytest.skip("memory is read from /proc")
    from benchmarks import sizes

    model = toy_model(words=tuple(f"w{i}" for i in range(120)), senses=(2,) * 120)
    rows = sizes.measure(model, tmp_path, None)
    assert [row["dtype"] for row in rows] == ["float32", "float16", "int8"]
    assert rows[0]["MB"] > rows[1]["MB"] > rows[2]["MB"]
    assert all(row["load ms"] > 0 for row in rows)


def test_ann(tmp_path):
    pytest.importorskip("usearch")
    from benchmarks import ann

    vectors = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)
    table = SenseTable([f"w{i}" for i in range(150)], vectors, np.arange(0, 301, 2))
    rows = ann.measure(LoadedVectors(table), 10, tmp_path)
    assert len(rows) == 7
    assert rows[0]["recall"] == 1.0
    assert all(row["recall"] > 0.9 for row in rows)
    model = toy_model(words=tuple(f"w{i}" for i in range(120)), senses=(2,) * 120)
    first = ann.first_senses(model, 51)
    assert (len(first), len(first.sv)) == (25, 50)
    np.testing.assert_array_equal(first.sv["w3#1"], model.sv["w3#1"])
