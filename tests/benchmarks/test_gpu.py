"""The model of the limit behind docs/cuda.md, and what the script for a device measures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import gpu, gpu_limits
from muse import MUSE

ROOT = Path(__file__).parents[2]


def test_the_docs_hold_the_table_as_it_is_computed():
    assert gpu_limits.table() in (ROOT / "docs" / "cuda.md").read_text(encoding="utf-8")


def test_bounds_without_a_cache_are_those_of_counting_by_hand():
    own, shared = gpu_limits.CASES[:2]
    row = 4 * 304
    assert own.bytes_per_token() == pytest.approx(row * (27 + 2 * (1 + 26)))
    assert shared.bytes_per_token() == pytest.approx(row * (27 + 2 * (1 + 1 + 25 / 16)))
    assert own.flops()[0] == 6 * 300 * 26
    assert own.bound(gpu_limits.H100) == pytest.approx(3.35e12 / own.bytes_per_token() / 1e6)


@pytest.mark.parametrize("case", gpu_limits.CASES, ids=lambda case: case.name)
def test_caches_save_bytes_and_cannot_save_more_than_all(case):
    plain, near = case.bytes_per_token(), case.bytes_per_token(shared=True)
    cached = [case.bytes_per_token(shared=True, l2=size) for size in (0, 1e6, 5e7, 1e12)]
    assert plain > near == cached[0] > cached[1] > cached[2] > cached[3] > 0
    assert cached[3] == pytest.approx(4 * 304 * (2 + (2 if case.train_context else 0)))  # contexts and gradients pass


def test_the_model_has_the_negatives_of_the_paper_and_those_that_groups_share_by_default():
    assert MUSE.paper_defaults()["negative"] == gpu_limits.NEGATIVE
    for case in (gpu_limits.CASES[1], gpu_limits.CASES[5]):
        settings = gpu.paper(group_size=case.group, collocates="all" if case.all_collocates else "one")
        assert gpu.group_negatives(settings) == case.shared


def test_parts_note_what_they_find(on_device, tmp_path, monkeypatch):
    """The parts of the script, on the device or the emulation, with little to do."""
    for part in ("decisions", "inference", "trees", "sanitized"):
        path = tmp_path / "report.json"
        monkeypatch.setattr("sys.argv", ["gpu", part, "--small", "--out", str(path)])
        gpu.main()
        assert json.loads(path.read_text())[part]["device"]
    report = json.loads(path.read_text())
    assert report["inference"]["same_senses"] > 0.999
    assert set(report["trees"]) == {"device", "cpu", "cuda"}
    assert np.mean(report["trees"]["cuda"]["scores"]) > np.mean(report["trees"]["cpu"]["scores"]) - 0.15
    assert all(stages["words"] > 0 for stages in report["trees"]["cuda"]["seconds"])
    assert sorted(report) == ["decisions", "inference", "sanitized", "trees"]
