"""docs/plots.md keeps its word: its examples run and draw what they say, and its pictures are there."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "plots.md"


def test_the_examples_run(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    if not PAGE.exists():
        pytest.skip("the documentation is not here: this is an installed package")
    from matplotlib import pyplot

    monkeypatch.chdir(tmp_path)
    pyplot.close("all")
    text, names = PAGE.read_text(encoding="utf-8"), {}
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(compile(block, "docs/plots.md", "exec"), names)
    assert len(pyplot.get_fignums()) == 4
    pyplot.close("all")
    assert (tmp_path / "bank.png").read_bytes()[:4] == b"\x89PNG"
    pictures = re.findall(r"\]\((pictures/.*?)\)", text)
    assert len(pictures) == 3
    assert all((PAGE.parent / picture).is_file() for picture in pictures)
