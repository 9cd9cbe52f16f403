"""Rows of 16 bits beside floats: the program checks its kernels before it measures."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "benchmarks").exists():
    pytest.skip("the tests run away from the tree", allow_module_level=True)
sys.path.insert(0, str(ROOT))
from benchmarks.throughput import native  # noqa: E402

from benchmarks import half  # noqa: E402
from muse import _core  # noqa: E402


@pytest.fixture(scope="module")
def program() -> Path:
    try:
        return native.core_program(half.SOURCE)
    except native.NotAvailableError as error:
        if "no compiler" not in str(error):
            raise
        pytest.skip(str(error))


@pytest.mark.parametrize(("group", "threads"), [(1, 1), (1, 2), (16, 2)])
def test_both_kinds_of_rows_are_measured(program: Path, group: int, threads: int) -> None:
    row = half.measure(400, 100, group, threads, rounds=2, milliseconds=2)
    assert (row["words"], row["dim"], row["group"], row["threads"]) == (400, 100, group, threads)
    assert row["isa"] == _core.isa()
    for name in ("float32", "bfloat16"):
        assert len(row[name]) == 2
        assert all(1 < one < 1e6 for one in row[name])  # nanoseconds


def test_a_setting_that_is_none_is_refused(program: Path) -> None:
    with pytest.raises(RuntimeError, match="usage"):
        half.measure(0, 100, 16, 1)


def test_rows_are_kept_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    row = {"words": 400, "dim": 16, "group": 1, "threads": 1, "float32": [3.0, 1.0, 2.0], "bfloat16": [1.0] * 3,
           "ratio": 2.0}  # fmt: skip
    monkeypatch.setattr(half, "measure", lambda *asked: row)
    out = tmp_path / "half.jsonl"
    half.main(["--words", "400", "--dims", "16", "--groups", "1", "16", "--threads", "1", "--out", str(out)])
    assert [json.loads(line) for line in out.read_text().splitlines()] == [row, row]
    assert "| 400 | 16 | 1 | 1 | 2.000 | 2 | 1 |" in capsys.readouterr().out
