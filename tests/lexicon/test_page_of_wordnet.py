"""docs/wordnet.md and the lists of the benchmark keep their word."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from dictionaries import write_princeton
from muse import MUSE
from muse.datasets import make_ambiguous_corpus
from muse.lexicon.opening import open_lexicon

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def model() -> MUSE:
    return MUSE(make_ambiguous_corpus(6000, 400, seed=0).sentences, senses=2, vector_size=32, workers=1)


@pytest.fixture(scope="module")
def command():
    if not (ROOT / "benchmarks" / "wordnet").is_dir():
        pytest.skip("the benchmarks are not here: this is an installed package")
    return runpy.run_module("benchmarks.wordnet.__main__")


def test_the_examples_run(model, tmp_path, monkeypatch, capsys):
    page = ROOT / "docs" / "wordnet.md"
    if not page.exists():
        pytest.skip("the documentation is not here: this is an installed package")
    monkeypatch.chdir(tmp_path)
    model.save("wiki.safetensors")
    folder, names = write_princeton(tmp_path / "dict"), {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
        exec(compile(block.replace("/usr/share/wordnet", str(folder)), "docs/wordnet.md", "exec"), names)
    printed = capsys.readouterr().out
    assert re.search(r"bank#\d banking company \('bank', 'banking company'\)", printed)
    assert names["model"].sense_names().keys() == {"bank#1"}


def test_the_lists(command):
    for path in command["LISTS"].values():
        items = command["read_items"](path)
        keys = [key for item in items for key in item.keys]
        assert len(set(keys)) == len(keys) > 15
        for item in items:
            assert all(re.fullmatch(rf"{item.word}%1:\d\d:\d\d::", key) for key in item.keys)
            assert len(item.contexts) == 3
            assert sum(item.word in context for context in item.contexts) >= 2


def test_the_command_says_what_it_lacks(command, tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped:
        command["main"](["--model", "x", "--lexicon", str(tmp_path / "nowhere")])
    assert stopped.value.code == 0
    assert "nothing was measured: there is no WordNet in" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command["main"](["--lexicon", str(tmp_path)])


def test_the_command_measures(model, command, tmp_path):
    item = command["Item"]
    items = [
        item("bank", frozenset({"bank%1:14:00::"}), (["money", "bank", "loan"], ["bank", "credit"])),
        item("unknown", frozenset({"unknown%1:14:00::"}), (["unknown"],)),
    ]
    found = command["measure"](model, open_lexicon(write_princeton(tmp_path / "dict")), items, None)
    assert (found["items"], found["missing"], found["bound"], found["first"]) == (1, 1, 1.0, 1.0)
    assert found["right"] == 1.0  # both nouns have this key in the small dictionary
    assert found["wrong"] == []
