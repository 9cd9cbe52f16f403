"""docs/names.md keeps its word: its examples run, one after another, and do what they say."""

import re
from pathlib import Path

import pytest


def test_the_examples_run(capsys, tmp_path, monkeypatch):
    page = Path(__file__).resolve().parents[2] / "docs" / "names.md"
    if not page.exists():
        pytest.skip("the documentation is not here: this is an installed package")
    names = {}
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
        exec(compile(block, "docs/names.md", "exec"), names)
    printed = capsys.readouterr().out
    assert re.search(r"^bank#1 \(river\)  \d+%", printed, flags=re.MULTILINE)
    assert "bank#0* (money)" in printed
    assert names["model"].sense_names() == {"bank#0": "money", "bank#1": "river"}
    assert names["again"].sense_names() == {"bank#0": "money", "bank#1": "river"}
