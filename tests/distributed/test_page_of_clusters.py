"""The page about training on several machines: its first example runs, and its table is what the code computes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import cases
import pytest

import muse

pytest.importorskip("dask.distributed", reason="dask is not installed: pip install 'muse-senses[dask]'")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "distributed.md"
if not PAGE.exists():
    pytest.skip("the documentation is not here: this is an installed package", allow_module_level=True)


def test_the_first_example_runs(tmp_path):
    code = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)[0]
    (tmp_path / "text").mkdir()
    cases.write_text(tmp_path / "text", "a.txt", count=2000)
    (tmp_path / "script.py").write_text(code)
    paths = os.pathsep.join([str(Path(muse.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths}, capture_output=True,
        text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "each token trained once in each: yes" in done.stdout
    assert "word" in str(muse.MUSE.load(tmp_path / "model.safetensors"))


def test_the_table_of_costs_is_what_the_model_computes():
    pytest.importorskip("benchmarks", reason="the benchmarks are not here: this is an installed package")
    from benchmarks.distributed import cost

    assert cost.table() in PAGE.read_text(encoding="utf-8")
    small, text = cost.Cluster(2, 1, 1e9), cost.Text(1e9, 1e5, 100)
    assert cost.cost(cost.Cluster(1, 1, 1e9), text).gain == 1.0
    assert 1.5 < cost.cost(small, text).gain < 2.0
    assert cost.cost(cost.Cluster(2, 1, 1e6), text).gain < cost.cost(small, text).gain
