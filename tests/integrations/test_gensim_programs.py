"""Programs as people write them for gensim run with one line changed, with `Word2Vec` replaced by `MUSE`.

`KeyedVectors`, where a program imports it beside, is `muse.KeyedVectors` then. Where gensim is installed, each runs
with it as well, and the results are of the same kinds: the programs prove nothing if gensim itself could not run them.
"""

from __future__ import annotations

import re
import runpy
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parent / "gensim_programs"
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.py"))
GENSIMS_LINE = re.compile(r"^from gensim\.models import (.*)$", re.MULTILINE)


def result_of(path: Path) -> dict[str, Any]:
    return runpy.run_path(str(path))["RESULT"]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What each program finds with muse, made at the first question."""
    folder, found = tmp_path_factory.mktemp("programs"), {}

    def with_muse(program: str) -> dict[str, Any]:
        if program not in found:
            text = (FOLDER / f"{program}.py").read_text(encoding="utf-8")
            imports = GENSIMS_LINE.findall(text)
            assert len(imports) == 1, "one line is to change"
            ours = ", ".join(name.replace("Word2Vec", "MUSE as Word2Vec") for name in imports[0].split(", "))
            path = folder / f"{program}.py"
            path.write_text(GENSIMS_LINE.sub(f"from muse import {ours}", text), encoding="utf-8")
            before = sys.modules.get("gensim")
            found[program] = result_of(path)
            assert sys.modules.get("gensim") is before, "a program that has changed does not import gensim"
        return found[program]

    return with_muse


def share(outcomes: list[bool]) -> float:
    return sum(outcomes) / len(outcomes)


def test_there_are_five():
    assert PROGRAMS == ["baskets", "classical_languages", "graph_walks", "node2vec", "text_as_data"]


def test_node2vec_finds_the_two_sides_of_the_club(results):
    found = results("node2vec")
    assert share(found["same_side"]) > 0.9  # half of them by chance
    assert len(found["embeddings"]) == 32
    assert found["matrix"].shape == (32, 32)


def test_text_as_data_finds_topics_and_the_axis(results):
    found = results("text_as_data")
    topics = [set("workers wages union strike factory pension".split()),
              set("trade profit investors enterprise growth capital".split()),
              set("hospital nurses doctors patients clinic medicine".split())]  # fmt: skip
    for topic, near in zip(topics, found["near"].values(), strict=True):
        assert len(topic & set(near)) >= 3  # of five, with words of the frame between
    assert found["odd_one_out"] == "clinic"
    axis = found["axis"]
    assert min(axis["union"], axis["pension"]) > max(axis["capital"], axis["growth"])
    assert found["loss"] > 0
    assert found["document"].shape == (40,)
    assert {"members", "red", "blue"} & set(found["frequent"])


def test_the_toolkit_finds_words_of_one_scene(results):
    found = results("classical_languages")
    assert set(found["synonyms"]["bellum"]) == {"pugna", "miles", "gladius"}
    assert set(found["synonyms"]["ager"]) == {"arator", "bos", "frumentum"}
    assert set(found["synonyms"]["λόγος"]) == {"μῦθος", "ῥήτωρ"}
    assert found["unknown"] is None
    assert found["header"] == ["11", "30"]
    assert found["war_is_nearer_to"] == "gladius"


def test_baskets_recommend_what_is_bought_together(results):
    found = results("baskets")
    aisle = found["aisle_of"]
    together = [aisle[item] == aisle[other] for item, others in found["recommended"].items() for other in others]
    assert share(together) > 0.9  # a quarter by chance
    assert found["hits"] > 0.9
    assert {aisle[item] for item in found["cosmul"]} == {"pasta"}
    assert {aisle[item] for item, _ in found["by_vector"]} == {"party"}
    assert [aisle[item] for item in found["likely"]].count("baby") >= 3
    assert found["unknown"] == []
    assert found["callback_epochs"]


def test_graph_walks_find_the_country_of_each_city(results):
    found = results("graph_walks")
    assert found["trained"] == (True, True)
    assert found["grown"] == (15, 19)
    right = [found["country"][city] == country for city, country in found["country_of"].items()]
    assert share(right) > 0.9  # a quarter by chance
    assert found["vectors"][0] == (17, 16)
    assert found["europe"]
    assert found["rank"] <= 6


def kind_of(value: Any) -> Any:
    """The shape of a result, whatever its numbers and the order of what was found."""
    if isinstance(value, dict):
        return {key: kind_of(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape
    if isinstance(value, (list, tuple)):
        kinds = [kind_of(item) for item in value]
        return type(value), len(value), sorted({str(kind) for kind in kinds})
    if isinstance(value, np.generic):
        return type(value.item())
    return type(value)


@pytest.mark.parametrize("program", PROGRAMS)
def test_gensim_itself_finds_results_of_the_same_kinds(results, program):
    pytest.importorskip("gensim", reason="runs the programs with gensim, which is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that gensim will drop
        theirs = result_of(FOLDER / f"{program}.py")
    ours = results(program)
    if program == "classical_languages":  # how many neighbours pass a threshold is not a kind
        assert theirs["synonyms"].keys() == ours["synonyms"].keys()
        assert all(isinstance(found, list) for found in theirs.pop("synonyms").values())
        ours = {name: value for name, value in ours.items() if name != "synonyms"}
    assert kind_of(theirs) == kind_of(ours)
