"""docs/reading-text.md keeps its word: its examples run, one after another, and give what their comments say."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reading-text.md"


def test_the_examples_run(tmp_path, monkeypatch):
    if not PAGE.exists():
        pytest.skip("the documentation is not here: this is an installed package")
    monkeypatch.chdir(tmp_path)
    text, names, compared = PAGE.read_text(encoding="utf-8"), {}, 0
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*is read as Windows-1252")
            warnings.filterwarnings("ignore", message=".*looks like prose")
            exec(compile(block, PAGE.name, "exec"), names)
            for line in block.splitlines():
                asked, _, said = line.partition("  # ")
                if re.match(r"[\[\dTF]", said) and "=" not in asked.partition("(")[0]:
                    compared += 1
                    assert str(eval(asked, names)) == (said if said[0] in "[TF" else said.split()[0]), line
    assert compared == 7
    model: Any = names["model"]
    assert (
        model.sense_probabilities("bank", "on the Bank, by") == model.sense_probabilities("bank", "on the bank")
    ).all()
    assert {line.partition("#")[0] for line in Path("tagged.txt").read_text().splitlines()} == {"dr", "is", "the"}
    (message,) = re.findall(r"```text\n(.*?)```", text, flags=re.DOTALL)
    with pytest.raises(ValueError, match="letters") as refused:
        list(names["Prose"]("letters/old.txt"))
    assert f"ValueError: {refused.value}" == " ".join(message.split())
