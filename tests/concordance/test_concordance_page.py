"""docs/concordance.md keeps its word: its examples run, one after another, and print what they say."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "concordance.md").read_text(encoding="utf-8")


def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(compile(block, "docs/concordance.md", "exec"), names)
    printed = capsys.readouterr().out
    shown = re.search(r"```text\n(.*?)…", PAGE, flags=re.DOTALL)
    assert shown is not None
    assert shown[1].splitlines()[0] in printed
    assert "collocates of bank#1 within 5 words, by logdice" in printed
    assert "collocates of bank#0 and bank#1 within 5 words" in printed
    assert "<CorpusIndex: " in printed
    assert names["csv"].startswith("left,keyword,right,sense")  # type: ignore[attr-defined]


def test_the_table_names_all_measures() -> None:
    from muse.concordance.collocates import MEASURES

    assert re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE)[: len(MEASURES)] == list(MEASURES)
