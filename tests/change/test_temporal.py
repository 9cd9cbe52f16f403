"""`TemporalMUSE` on generated text in which some words change by known amounts."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse import MUSE, LineSentence, Split
from muse.change import TemporalMUSE
from muse.datasets import make_ambiguous_corpus
from muse.errors import ModelFileError, UnknownSenseError, UnknownWordError
from muse.files import tensor_file

SETTINGS: dict[str, Any] = {"vector_size": 16, "senses": 2, "workers": 1, "seed": 1}
SHARES = {"a": 0.9, "b": 0.1}  # of the first sense of a changed word


def slices_with_change() -> tuple[dict[str, list[list[str]]], list[str], list[str]]:
    """Two slices, words that changed, and other ambiguous words."""
    corpus = make_ambiguous_corpus(8000, 400, seed=0, n_senses=2)
    words = list(corpus.ambiguous_words)
    changed, rng = words[:6], np.random.default_rng(0)
    slices: dict[str, list[list[str]]] = {"a": [], "b": []}
    for sentence, senses in zip(corpus.sentences, corpus.true_senses, strict=True):
        said = [sense for word, sense in zip(sentence, senses, strict=True) if word in changed and sense >= 0]
        first = rng.random() < (0.5 if not said else SHARES["a" if said[0] == 0 else "b"])
        slices["a" if first else "b"].append(sentence)
    return slices, changed, words[6:]


SLICES, CHANGED, OTHERS = slices_with_change()


@pytest.fixture(scope="module")
def model() -> TemporalMUSE:
    return TemporalMUSE(SLICES, **SETTINGS)


def test_shares_follow_the_text(model: TemporalMUSE) -> None:
    for word in CHANGED:
        rows = model.shares(word).rows
        before, after = ([row["share"] for row in rows if row["slice"] == name] for name in ("a", "b"))
        assert sum(before) == pytest.approx(1)
        assert max(np.abs(np.subtract(before, after))) > 0.4
        for row in rows:
            assert 0 <= row["low"] <= row["share"] <= row["high"] <= 1
            assert row["low"] < row["high"]
        uses = sum(sentence.count(word) for sentence in SLICES["a"])
        assert sum(row["uses"] for row in rows if row["slice"] == "a") == uses


@pytest.mark.parametrize("measure", ["jsd", "cosine", "apd"])
def test_changed_words_come_first(model: TemporalMUSE, measure: str) -> None:
    table = model.change(measure)
    assert {row["word"] for row in table[:6]} == set(CHANGED)
    assert set(CHANGED) <= set(table.changed)
    assert [row["excess"] for row in table] == sorted((row["excess"] for row in table), reverse=True)
    asked = model.change(measure, words=[*CHANGED[:2], OTHERS[0]])
    alone = {row["word"]: row for row in table}
    assert all(row["p"] == alone[row["word"]]["p"] for row in asked if row["word"] in alone)


def test_chance_and_frequency_are_not_change() -> None:
    """Of words that only became rarer, about as many fall below each level of p as the level says."""
    corpus = make_ambiguous_corpus(8000, 400, seed=3, n_senses=2)
    rng = np.random.default_rng(1)
    rarer = set(corpus.ambiguous_words)
    slices: dict[str, list[list[str]]] = {"a": [], "b": []}
    for sentence in corpus.sentences:
        name = "ab"[int(rng.integers(2))]
        kept = [word for word in sentence if name == "a" or word not in rarer or rng.random() < 0.3]
        slices[name].append(kept)
    table = TemporalMUSE(slices, **SETTINGS).change(least_uses=10)
    p = np.array([row["p"] for row in table])
    assert len(p) > 100
    assert (p <= 0.05).mean() <= 0.08
    assert 0.3 < np.median(p) < 0.7
    assert len(table.changed) <= 2
    assert not set(table.changed) & rarer


@pytest.mark.parametrize("block", [20, 200])
def test_slices_of_few_uses_by_chance(block: int) -> None:
    """Of words whose few uses were drawn by chance from the text, no more are below a level of p than it says."""
    sentences = make_ambiguous_corpus(4000, 400, seed=3, n_senses=2).sentences
    rng = np.random.default_rng(0)
    compass = TemporalMUSE({"all": sentences}, epochs=2, **SETTINGS).model
    few = rng.random(len(sentences)) < 0.02
    parts = {"few": few, "rest": ~few}
    slices = {name: [sentences[i] for i in np.flatnonzero(chosen)] for name, chosen in parts.items()}
    model = TemporalMUSE(slices, model=compass, block=block)
    for measure in ("jsd", "cosine", "apd"):
        p = np.array([row["p"] for row in model.change(measure, least_uses=1, permutations=200)])
        assert len(p) > 100
        assert (p <= 0.05).mean() <= 0.09


def test_new_and_lost_senses(model: TemporalMUSE) -> None:
    new, lost = model.new_senses(most_before=0.6), model.lost_senses(most_before=0.6)
    assert {row["sense"].rpartition("#")[0] for row in new} == set(CHANGED)
    assert {row["sense"] for row in new}.isdisjoint(row["sense"] for row in lost)
    back = model.lost_senses(between=("b", "a"), most_before=0.6)
    assert {row["sense"] for row in back} == {row["sense"] for row in new}
    for row in new:
        assert row["before"] < 0.6 * row["after"]
        assert row["q"] <= 0.05
    assert len(model.new_senses(most_before=0.0)) == 0


def test_neighbours_move_with_the_word(model: TemporalMUSE) -> None:
    word = CHANGED[0]
    near = model.nearest_over_time(word, 5)
    assert list(near) == ["a", "b"]
    assert [len(found) for found in near.values()] == [5, 5]
    assert len({name for name, _ in near["a"]} & {name for name, _ in near["b"]}) <= 2
    key = model.shares(word)[0]["sense"]
    of_sense = model.nearest_over_time(key, 3)
    assert all("#" in name and not name.startswith(f"{word}#") for name, _ in of_sense["a"])
    vector = model.vector(word, "a")
    assert vector.shape == (16,)
    assert not np.allclose(vector, model.vector(word, "b"))
    stays = [np.dot(model.vector(w, "a"), model.vector(w, "b")) / np.linalg.norm(model.vector(w, "a"))
             / np.linalg.norm(model.vector(w, "b")) for w in OTHERS]  # fmt: skip
    assert np.mean(stays) > 0.95


def test_examples_are_of_the_slice(model: TemporalMUSE) -> None:
    key = model.shares(CHANGED[0])[0]["sense"]
    found = model.examples(key, "b", 3)
    assert 1 <= len(found) <= 3
    for example in found:
        assert example.word == CHANGED[0]
        assert any(str(example) in " ".join(sentence) for sentence in SLICES["b"])


def test_a_slice_is_added_without_training(model: TemporalMUSE, tmp_path: Path) -> None:
    model.save(tmp_path / "m")
    other = TemporalMUSE.load(tmp_path / "m", workers=1)
    before = other.shares(CHANGED[0]).rows
    text = tmp_path / "late.txt"
    text.write_text("\n".join(" ".join(sentence) for sentence in SLICES["a"][:400]) + "\nunheard words\n")
    other.add_slice("late", text)
    assert other.slices == ("a", "b", "late")
    assert other.shares(CHANGED[0])[: len(before)] == before
    with pytest.raises(ValueError, match="already"):
        other.add_slice("late", text)
    with pytest.raises(ValueError, match="slice 'none'"):
        other.add_slice("none", [["unheard", "words"]])
    assert other.slices == ("a", "b", "late")


def test_a_word_in_one_slice_only() -> None:
    only = [["solo", *sentence] for sentence in SLICES["b"][:300]]
    model = TemporalMUSE({"a": SLICES["a"][:1000], "b": [*SLICES["b"][:300], *only]}, **SETTINGS)
    rows = model.shares("solo").rows
    assert all(row["share"] is None and row["low"] is None for row in rows if row["slice"] == "a")
    assert sum(row["share"] for row in rows if row["slice"] == "b") == pytest.approx(1)
    assert "solo" not in {row["word"] for row in model.change()}
    assert model.nearest_over_time("solo", 2)["a"] == []
    with pytest.raises(ValueError, match="no use"):
        model.vector("solo", "a")


def test_saving_and_loading(model: TemporalMUSE, tmp_path: Path) -> None:
    path = tmp_path / "model"
    model.save(path)
    again = TemporalMUSE.load(path, workers=1)
    assert again.change().rows == model.change().rows
    assert again.shares("bank").rows == model.shares("bank").rows
    assert again.nearest_over_time("bank") == model.nearest_over_time("bank")
    with pytest.raises(ValueError, match=r"attach\('a', text\)"):
        again.change("cosine")
    with pytest.raises(ValueError, match="attach"):
        again.examples(model.shares("bank")[0]["sense"], "a")
    with pytest.raises(ValueError, match="not the text of slice 'a'"):
        again.attach("a", SLICES["b"])
    for name, text in SLICES.items():
        again.attach(name, iter(text))
    assert again.change("cosine", words=CHANGED).rows == model.change("cosine", words=CHANGED).rows


def test_files_are_found_again(tmp_path: Path) -> None:
    for name, text in SLICES.items():
        (tmp_path / name).write_text("\n".join(" ".join(sentence) for sentence in text[:1500]), encoding="utf-8")
    model = TemporalMUSE({name: tmp_path / name for name in SLICES}, **SETTINGS)
    model.save(tmp_path / "m")
    again = TemporalMUSE.load(tmp_path / "m", workers=1)
    assert again.change("apd").rows == model.change("apd").rows
    (tmp_path / "a").unlink()
    assert TemporalMUSE.load(tmp_path / "m").shares("bank").rows == model.shares("bank").rows


def test_damaged_files_are_refused(model: TemporalMUSE, tmp_path: Path) -> None:
    path, slices = tmp_path / "model", tmp_path / "model.slices"
    model.save(path)
    whole = slices.read_bytes()
    rng = np.random.default_rng(0)
    for cut in (0, 7, 100, len(whole) // 2, len(whole) - 1):
        slices.write_bytes(whole[:cut])
        with pytest.raises(ModelFileError):
            TemporalMUSE.load(path)
    for place in rng.integers(0, len(whole), 40).tolist():
        slices.write_bytes(whole[:place] + bytes([whole[place] ^ 0x5A]) + whole[place + 1 :])
        with pytest.raises(ModelFileError):
            TemporalMUSE.load(path)
    slices.unlink()
    with pytest.raises(FileNotFoundError, match="slices"):
        TemporalMUSE.load(path)
    slices.write_bytes(whole)
    MUSE(SLICES["a"], **SETTINGS).save(path)
    with pytest.raises(ModelFileError, match="another"):
        TemporalMUSE.load(path)


def test_a_table_with_dates() -> None:
    rows = [{"year": 1800 + i % 100, "text": " ".join(sentence)} for i, sentence in enumerate(SLICES["a"][:600])]
    model = TemporalMUSE.from_table(rows, "text", "year", [1800, 1850, 1900], **SETTINGS)
    assert model.slices == ("1800-1850", "1850-1900")
    tokens = sum(len(row["text"].split()) for row in rows if row["year"] < 1850)
    assert abs(model._slices["1800-1850"].tokens - tokens) < tokens / 10  # but for rare words
    with pytest.raises(ValueError, match="rising"):
        TemporalMUSE.from_table(rows, "text", "year", [1900, 1800])
    with pytest.raises(ValueError, match="no row"):
        TemporalMUSE.from_table(rows, "text", "year", [1, 2])
    with pytest.raises(TypeError, match="of one kind"):
        TemporalMUSE.from_table(rows, "text", "year", ["1800", "1900"])
    with pytest.raises(KeyError, match="no column"):
        TemporalMUSE.from_table(rows, "words", "year")
    pandas = pytest.importorskip("pandas")
    same = TemporalMUSE.from_table(pandas.DataFrame(rows), "text", "year", [1800, 1850, 1900], **SETTINGS)
    assert same.shares("bank").rows == model.shares("bank").rows


def test_wrong_questions(model: TemporalMUSE) -> None:
    with pytest.raises(UnknownWordError):
        model.shares("unheard")
    with pytest.raises(UnknownSenseError, match="has no sense 77"):
        model.nearest_over_time("bank#77")
    with pytest.raises(KeyError, match="there is no slice 'c'"):
        model.examples("bank#0", "c")
    with pytest.raises(ValueError, match="measure must be one of 'jsd'"):
        model.change("euclid")
    with pytest.raises(ValueError, match="between two slices"):
        model.change(between=("a", "a"))
    with pytest.raises(TypeError, match="words must be a word or a list"):
        model.change(words=5)  # type: ignore[arg-type]
    assert model.change(words="bank").rows == model.change(words=["bank"]).rows
    for wrong in (5, "ab", (1, 2), {"a", "b"}):
        for call in (model.change, model.new_senses, model.lost_senses):
            with pytest.raises(TypeError, match="between must be the names of two slices"):
                call(between=wrong)
    assert model.change(between=["a", "b"], words="bank").rows == model.change(words="bank").rows  # type: ignore[arg-type]
    for name in ("new_senses", "lost_senses"):
        with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'foo'"):
            getattr(model, name)(foo=3)
    with pytest.raises(UnknownWordError):
        model.change(words=["unheard"])
    with pytest.raises(TypeError, match="unexpected keyword"):
        model.new_senses(shares=3)
    assert len(model.change(words=[])) == 0
    assert "none" in str(model.change(words=[]))


@pytest.mark.parametrize(
    ("slices", "error", "message"),
    [
        ([["a"]], TypeError, "mapping"), ({}, ValueError, "no slices"), ({"a": 3}, TypeError, "slice 'a' must be"),
        ({3: [["a"]]}, TypeError, "name of a slice"), ({"": [["a"]]}, ValueError, "must not be empty"),
        ({"a\0": [["a"]]}, ValueError, "NUL"), ({"a": "no such file.txt"}, FileNotFoundError, "no such file"),
        ({"a": b"bytes"}, TypeError, "slice 'a' must be"), ({"a": []}, ValueError, "empty"),
    ],
)  # fmt: skip
def test_wrong_slices(slices: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        TemporalMUSE(slices, **SETTINGS)


@pytest.mark.parametrize("block", [2**63, 2**31, 0])
def test_blocks_have_limits(block: int) -> None:
    with pytest.raises(ValueError, match="block must be from 1 to 2147483647"):
        TemporalMUSE(SLICES, block=block, **SETTINGS)


def test_the_compass_must_have_trees() -> None:
    plain = MUSE(SLICES["a"][:500], recipe=Split(), **SETTINGS)
    with pytest.raises(ValueError, match="sense trees"):
        TemporalMUSE({"a": SLICES["a"][:10]}, model=plain)
    with pytest.raises(TypeError, match="trained already"):
        TemporalMUSE({"a": SLICES["a"][:10]}, model=plain, epochs=3)
    with pytest.raises(TypeError, match="leave corpus_file out"):
        TemporalMUSE({"a": SLICES["a"][:10]}, corpus_file="a.txt")
    with pytest.raises(TypeError, match=r"muse\.MUSE"):
        TemporalMUSE({"a": SLICES["a"][:10]}, model="model")  # type: ignore[arg-type]


def test_copies_answer_alike(model: TemporalMUSE) -> None:
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other.shares("bank").rows == model.shares("bank").rows
        assert other.change("apd", words=CHANGED).rows == model.change("apd", words=CHANGED).rows


def test_a_model_that_was_cut_anew_is_noticed(model: TemporalMUSE, tmp_path: Path) -> None:
    other = copy.deepcopy(model)
    other.model.recut(4)
    for call in (lambda: other.shares("bank"), other.change, lambda: other.save(tmp_path / "m")):
        with pytest.raises(ValueError, match="tag them anew"):
            call()
    assert not (tmp_path / "m").exists()
    again = TemporalMUSE(SLICES, model=other.model)
    assert len({row["sense"] for row in again.shares("bank")}) == 4


def test_slices_of_a_few_words(model: TemporalMUSE, tmp_path: Path) -> None:
    model.save(tmp_path / "m")
    other = TemporalMUSE.load(tmp_path / "m", workers=1)
    other.add_slice("tiny", (sentence for sentence in [["bank"], ["the", "bank"]]))
    assert sum(row["uses"] for row in other.shares("bank") if row["slice"] == "tiny") == 2
    for measure in ("jsd", "cosine", "apd"):
        other.attach("a", SLICES["a"])
        table = other.change(measure, between=("a", "tiny"), least_uses=1)
        assert {row["word"] for row in table} <= {"bank", "the"}
        assert all(0 < row["p"] <= 1 and np.isfinite(row["value"]) for row in table)
    assert len(other.new_senses(between=("a", "tiny"))) == 0
    assert other.nearest_over_time("bank", 10**6)["tiny"] == []


def test_tables_convert_and_are_drawn(model: TemporalMUSE) -> None:
    table = model.shares("bank")
    assert table.to_dict()["rows"] == table.rows
    assert "bank#" in str(table)
    assert "<table>" in table._repr_html_()
    assert table.to_json().startswith("{")
    assert "more" in str(model.change())
    pandas = pytest.importorskip("pandas")
    assert isinstance(table.to_pandas(), pandas.DataFrame)


def test_the_plot(model: TemporalMUSE) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    ax = model.shares("bank").plot()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b"]
    assert len(ax.lines) == 2


def test_both_files_are_replaced_or_none(model: TemporalMUSE, tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "m.safetensors"
    model.save(path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    other = TemporalMUSE({"x": SLICES["a"][:200], "y": SLICES["b"][:200]}, **SETTINGS)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    for owner, name in ((MUSE, "save"), (tensor_file, "_write_rows")):
        with monkeypatch.context() as patched:
            patched.setattr(owner, name, full)
            with pytest.raises(OSError, match="No space left"):
                other.save(path)
        assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    other.save(path)
    assert TemporalMUSE.load(path).slices == ("x", "y")


def test_files_of_another_encoding(tmp_path: Path) -> None:
    text = "\n".join(" ".join(sentence) for sentence in SLICES["a"][:400]).replace("bank", "bänk")
    for name in ("old", "new"):
        (tmp_path / name).write_bytes(text.encode("cp1252"))
    model = TemporalMUSE(
        {name: LineSentence(tmp_path / name, encoding="cp1252") for name in ("old", "new")}, **SETTINGS
    )
    assert sum(row["uses"] for row in model.shares("bänk") if row["slice"] == "old") == text.split().count("bänk")


def test_senses_that_rose_by_their_shares(model: TemporalMUSE) -> None:
    """What is allowed for in shares is in the columns before and after."""
    for row in model.new_senses(most_before=0.6):
        shares = {one["slice"]: one["share"] for one in model.shares(row["sense"].rpartition("#")[0], resamples=0)
                  if one["sense"] == row["sense"]}  # fmt: skip
        assert (row["before"], row["after"]) == pytest.approx((shares["a"], shares["b"]), abs=0.002)
