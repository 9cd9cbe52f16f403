"""docs/change.md keeps its word: its examples run, one after another, and print what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "change.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here: this is an installed package")
def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("scipy")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL):
        exec(compile(block, "docs/change.md", "exec"), names)
    printed = capsys.readouterr().out
    assert {"bank", "cell"} <= set(names["table"].changed)  # type: ignore[attr-defined]
    assert "senses of new that old hardly has" in printed
    assert "SenseMatch(first='bank#0'" in printed
    assert re.search(r"rho +1\.000|rho +0\.[89]", printed)
