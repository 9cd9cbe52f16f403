"""docs/evaluation.md keeps its word: its examples run, one after another, and print what they say."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "evaluation.md").read_text(encoding="utf-8")


def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(compile(block, "docs/evaluation.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "supervised" in printed
    assert "fuzzy_b_cubed" in printed
    assert "WordPair(first='tree', second='pear', rating=7.5)" in printed
    assert "% of what a supervised classifier reaches" in printed
    assert names["result"]["v_measure"] > 0.3  # type: ignore[index]
    assert names["result"]["calibration_words"] > 0  # type: ignore[index]
    assert names["wic"]["usage_accuracy"] > 0.7  # type: ignore[index]
    assert "one sense a word" in printed
    assert names["watch"].best_score > 0.3  # type: ignore[attr-defined]
