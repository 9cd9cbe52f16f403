"""docs/gensim.md keeps its word: its script runs, and its tables name all that gensim has."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import muse
from muse import MUSE, Settings
from muse.datasets import make_ambiguous_corpus
from toy import toy_model

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "gensim.md").read_text(encoding="utf-8")


def table(heading: str) -> dict[str, str]:
    """What the table under a heading says of each name of gensim."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| .*\|$", section, re.MULTILINE)
    names = [name for name, _ in rows]
    assert len(names) == len(set(names)), "a name stands twice"
    return {name: here.strip("`") for name, here in rows}


def public(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


@pytest.fixture(scope="module")
def gensim_model():
    models = pytest.importorskip("gensim.models", reason="walks the names of gensim, which is not installed")
    return models.Word2Vec([["a", "b", "c"]] * 5, min_count=1, vector_size=4, epochs=1)


def test_every_public_name_of_gensim_is_in_a_table(gensim_model):
    parameters = set(inspect.signature(type(gensim_model)).parameters)
    assert parameters - table("Parameters of Word2Vec").keys() == set()
    assert public(gensim_model) - table("Word2Vec").keys() == set()
    assert public(gensim_model.wv) - table("KeyedVectors").keys() == set()


def test_no_table_names_what_gensim_does_not_have(gensim_model):
    assert table("Parameters of Word2Vec").keys() - set(inspect.signature(type(gensim_model)).parameters) == set()
    assert table("Word2Vec").keys() - public(gensim_model) == set()
    assert table("KeyedVectors").keys() - public(gensim_model.wv) == set()


@pytest.mark.parametrize(
    ("heading", "ours"),
    [
        ("Parameters of Word2Vec", set(inspect.signature(MUSE).parameters)),
        ("Word2Vec", public(toy_model())),
        ("KeyedVectors", public(toy_model().wv)),
    ],
)
def test_what_the_tables_promise_is_there(heading, ours):
    promised = {name if here == "same" else here for name, here in table(heading).items()}
    assert promised - ours - {"–"} == set()
    absent = {name for name, here in table(heading).items() if here == "–"}
    assert absent & ours == set()


def test_sense_vectors_have_the_same_names_but_for_those_of_words():
    of_words = {"similar_by_word", "words_closer_than", "evaluate_word_analogies"}
    names = {name for name, here in table("KeyedVectors").items() if here == "same"}
    assert names - public(toy_model().sv) == of_words


def test_parameters_that_are_absent_are_refused_with_a_hint():
    for name, here in table("Parameters of Word2Vec").items():
        if here != "same":
            with pytest.raises(TypeError, match=f"'{name}' is not a setting of MUSE: "):
                Settings.of(**{name: 1})


def test_the_script_runs(tmp_path, monkeypatch, capsys):
    script = PAGE.split("<!-- script:")[1].split("```python\n")[1].split("```")[0]
    lines = [line for line in script.splitlines() if line.strip()]
    assert 25 <= len(lines) <= 35
    monkeypatch.chdir(tmp_path)
    sentences = make_ambiguous_corpus(1500, 300, seed=0).sentences
    words = {word for sentence in sentences for word in sentence}
    assert {"bank", "money", "stream", "loan"} <= words
    Path("corpus.txt").write_text("\n".join(map(" ".join, sentences)) + "\n", encoding="utf-8")
    exec(compile(script, "docs/gensim.md", "exec"), {"__name__": "script"})
    printed = capsys.readouterr().out
    assert "epoch 3" in printed
    assert printed.strip().endswith("(50,)")


def test_the_same_script_runs_with_gensim(tmp_path, monkeypatch, gensim_model):
    """Otherwise it would prove nothing."""
    script = PAGE.split("<!-- script:")[1].split("```python\n")[1].split("```")[0]
    original = re.sub(r"^from muse.*?# (from gensim.*)$", r"\1", script, flags=re.MULTILINE)
    assert "muse" not in original
    monkeypatch.chdir(tmp_path)
    sentences = make_ambiguous_corpus(1500, 300, seed=0).sentences
    Path("corpus.txt").write_text("\n".join(map(" ".join, sentences)) + "\n", encoding="utf-8")
    exec(compile(original, "docs/gensim.md", "exec"), {"__name__": "script"})


def test_the_package_exports_what_the_page_imports():
    assert {"MUSE", "Callback"} <= set(muse.__all__)
