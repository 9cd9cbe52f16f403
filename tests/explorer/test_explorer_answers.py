"""What the explorer answers: words, cuts, maps, uses, sentences and what decides them, two models."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse import MUSE, NotTrainedError, UnknownWordError
from muse.change import TemporalMUSE
from muse.concordance import index_corpus
from muse.data.snapshot import Snapshot
from muse.explorer.answers import Answers
from muse.explorer.comparing import compare_words
from muse.explorer.models import ExploredModel, explored
from muse.explorer.sentences import reasons, sentence_view
from muse.explorer.slices import change_view, over_time_view
from muse.explorer.uses import IndexedText, ScannedText, Use, use_source
from muse.explorer.words import projected, sense_axes, uses_view, word_view
from toy import toy_model

CONTEXT = "she sat on the bank of the river"


@pytest.fixture
def shown(model: MUSE) -> ExploredModel:
    return ExploredModel(model, "one")


@pytest.fixture
def answers(model: MUSE, other: MUSE, text: Path) -> Answers:
    return Answers(explored([model, other], ["one", "two"]), use_source(text), "title")


# -- slices of time ----------------------------------------------------------------------------------------------------


def test_slices_are_answered(slices: TemporalMUSE, other: MUSE):
    answers = Answers(explored([slices, other]))
    first, second = answers("/api/info", {})["models"]
    assert (first["slices"], second["slices"]) == (["1900s", "2000s"], [])
    changed = answers("/api/change", {})
    assert changed["rows"][0]["word"] == "bank"
    assert changed["called"] == sum(row["changed"] for row in slices.change())
    over = answers("/api/over", {"word": "BANK"})
    assert over["word"] == "bank"
    for told, name in zip(over["slices"], slices.slices, strict=True):
        rows = [row for row in slices.shares("bank") if row["slice"] == name]
        assert [sense["share"] for sense in told["senses"].values()] == [row["share"] for row in rows]
        assert all(word == "bank" for sense in told["senses"].values() for _, word, _ in sense["texts"])
    json.dumps([changed, over], allow_nan=False)
    for path, query in (("/api/change", {"model": "1"}), ("/api/over", {"model": "1", "word": "bank"})):
        with pytest.raises(ValueError, match="has no slices of time"):
            answers(path, query)
    with pytest.raises(UnknownWordError):
        answers("/api/over", {"word": "bannk"})


def test_one_slice_and_a_text_that_is_gone(model: MUSE, sentences: list[list[str]], tmp_path: Path):
    TemporalMUSE({"all": sentences}, model=model).save(tmp_path / "m")
    alone = TemporalMUSE.load(tmp_path / "m")
    assert change_view(alone)["rows"] == []
    assert all(sense["texts"] is None for sense in over_time_view(alone, "bank")["slices"][0]["senses"].values())


# -- words -------------------------------------------------------------------------------------------------------------


def test_a_word_is_shown_with_all_its_cuts(shown: ExploredModel, model: MUSE):
    view, tree = word_view(shown, "bank"), model.sense_tree("bank")
    assert view["own"] == model.sense_numbers("bank").tolist()
    assert [len(cut) for cut in view["cuts"]] == list(range(1, len(tree.leaves) + 1))
    assert all(cut == model.sense_numbers("bank", level=len(cut)).tolist() for cut in view["cuts"])
    assert [node["number"] for node in view["nodes"]] == list(range(len(tree.nodes)))
    assert [node["share"] for node in view["nodes"]] == pytest.approx([node.share for node in tree.nodes], abs=1e-3)
    assert json.loads(json.dumps(view, allow_nan=False))["word"] == "bank"


def test_neighbours_are_those_of_the_tree_one_sense_of_each_word(shown: ExploredModel, model: MUSE):
    view, tree = word_view(shown, "bank"), model.sense_tree("bank", topn=3)
    for node, told in zip(tree.nodes, view["nodes"], strict=True):
        words = [view["points"][point][0] for point, _ in told["neighbours"]]
        assert len(set(words)) == len(words) > 3
        word, sense = view["points"][told["neighbours"][0][0]][:2]
        assert (f"{word}#{sense}", told["neighbours"][0][1]) == (
            node.neighbours[0][0],
            pytest.approx(node.neighbours[0][1], abs=1e-3),
        )
    for number in view["own"]:
        point, cosine = view["nodes"][number]["neighbours"][0]
        assert view["near"][point][number] == pytest.approx(cosine, abs=2e-3)


def test_no_two_senses_of_a_cut_have_one_colour_and_the_larger_part_keeps_it(shown: ExploredModel):
    view = word_view(shown, "bank")
    colour = [node["colour"] for node in view["nodes"]]
    for cut in [*view["cuts"], view["own"]]:
        assert len({colour[number] for number in cut}) == len(cut)
    assert {colour[number] for number in view["cuts"][2]} == {0, 1, 2}
    for fewer, more in pairwise(view["cuts"]):
        assert all(colour[same] == colour[same] for same in set(fewer) & set(more))
        (undone,) = set(fewer) - set(more)
        assert colour[view["nodes"][undone]["parts"][0]] == colour[undone]


def test_labels_tell_the_senses_of_each_cut_apart(shown: ExploredModel):
    view = word_view(shown, "bank")
    assert len(view["labels"]) == len(view["cuts"]) + 1
    two = list(view["labels"][1].values())
    assert two[0] != two[1]
    assert not set(two[0].split(", ")) & set(two[1].split(", "))


def test_a_rare_word_and_a_model_without_trees_show_what_they_have(shown: ExploredModel):
    rare = min(
        shown.model.vocabulary.words, key=lambda word: shown.model.vocabulary.counts[shown.model.vocabulary[word]]
    )
    assert shown.model.n_senses(rare) == 1
    assert word_view(shown, rare)["cuts"] == [[0]]
    plain = ExploredModel(toy_model(), "plain")
    view = word_view(plain, "bank")
    assert (view["root"], view["cuts"], view["own"]) == (None, [[0, 1]], [0, 1])
    assert {node["colour"] for node in view["nodes"]} == {0, 1}
    uses = uses_view(plain, "bank", [Use(("the", "bank", "army"), 1)])
    assert [sum(map(len, found.values())) for found in uses["cuts"]] == [1, 1]


def test_odd_words_of_a_model_by_hand_can_be_looked_at():
    model = ExploredModel(toy_model(), "toy")
    for word in model.model.vocabulary.words:
        json.dumps(word_view(model, word), allow_nan=False)
    assert model.suggest("LINE") == [("line\nbreak", 83)]
    assert [word for word, _ in model.suggest("c")] == ["c#"]


def test_names_that_a_model_keeps_are_shown(shown: ExploredModel, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Snapshot, "shown_names", lambda self, word, parts=True: {1: "river"})
    assert [node["name"] for node in word_view(shown, "bank")["nodes"]][:3] == [None, "river", None]


def test_a_cut_anew_is_answered_anew(sentences: Any):
    model = MUSE(sentences, vector_size=8, workers=1, epochs=1)
    answers = Answers(explored([model]))
    assert len(answers("/api/word", {"word": "bank"})["own"]) > 2
    model.recut(senses=2)
    assert answers("/api/word", {"word": "bank"})["own"] == model.sense_numbers("bank").tolist()


# -- the map -----------------------------------------------------------------------------------------------------------


def test_axes_are_the_principal_components_of_the_senses():
    rng = np.random.default_rng(0)
    senses = np.zeros((5, 6), np.float32)
    senses[:, 1], senses[:, 4] = [-3, -1, 0, 2, 5], [1, -1, 0, 1, -1]
    axes, explained = sense_axes(senses, np.ones(5), rng.normal(size=(4, 6)).astype(np.float32))
    assert np.allclose(axes.T @ axes, np.eye(2), atol=1e-9)
    assert abs(axes[1, 0]) > 0.98
    assert abs(axes[4, 1]) > 0.98
    assert sum(explained) == pytest.approx(1)
    weighted, _ = sense_axes(senses, np.array([0, 1, 0, 1, 0]), np.zeros((0, 6), np.float32))
    assert abs(weighted[1, 0]) > abs(weighted[4, 0])


@pytest.mark.parametrize("n", [1, 2])
def test_few_senses_are_drawn_with_directions_of_the_words(n: int):
    rng = np.random.default_rng(1)
    words = rng.normal(size=(8, 6)).astype(np.float32)
    axes, explained = sense_axes(rng.normal(size=(n, 6)).astype(np.float32), np.ones(n), words)
    assert np.allclose(axes.T @ axes, np.eye(2), atol=1e-6)
    assert explained == pytest.approx([float(n == 2), 0])
    assert projected(words, axes).std(axis=0).min() > 0.1


def test_a_map_of_nothing_is_finite():
    axes, _ = sense_axes(np.full((2, 3), np.nan, np.float32), np.ones(2), np.zeros((0, 3), np.float32))
    assert axes.shape == (3, 2)
    assert not axes.any()
    assert projected(np.zeros((0, 3), np.float32), axes).shape == (0, 2)


# -- suggestions -------------------------------------------------------------------------------------------------------


def test_suggestions_are_the_most_frequent_words_that_begin_so(shown: ExploredModel):
    vocabulary = shown.model.vocabulary
    wanted = sorted(
        (w for w in vocabulary.words if w.startswith("b")),
        key=lambda w: (w != "b", -vocabulary.counts[vocabulary[w]], vocabulary[w]),
    )
    assert [word for word, _ in shown.suggest("B")] == wanted[:10]
    assert shown.suggest("") == []
    assert shown.suggest("zzz") == []
    assert shown.suggest("bank")[0][0] == "bank"


def test_the_first_page_offers_words_with_senses_far_apart(shown: ExploredModel):
    assert 0 < len(shown.start) <= 24
    assert all(shown.model.n_senses(word) > 1 for word in shown.start)


# -- uses --------------------------------------------------------------------------------------------------------------


def around(use: Use) -> tuple[str, str]:
    tokens, at = use
    return " ".join(tokens[max(0, at - 12) : at]), " ".join(tokens[at + 1 : at + 13])


def test_uses_are_those_of_the_text_with_the_probability_of_their_sense(shown: ExploredModel, text: Path, model: MUSE):
    uses = ScannedText(text).find(["bank"], 50)["bank"]
    assert len(uses) == 50
    assert all(tokens[position] == "bank" for tokens, position in uses)
    by_text = {around(use): use for use in uses}
    view = uses_view(shown, "bank", list(by_text.values()))
    cuts = word_view(shown, "bank")["cuts"]
    assert view["read"] == len(by_text)
    assert [list(found) for found in view["cuts"][:-1]] == cuts
    for level, found in enumerate(view["cuts"][:-1], start=1):
        for number, quoted in found.items():
            shares = [share for _, share in quoted]
            assert shares == sorted(shares, reverse=True)
            for place, share in quoted:
                before, word, after = view["texts"][place]
                tokens, at = by_text[before, after]
                assert word == "bank"
                told = model.sense_probabilities("bank", list(tokens), at, level=level)
                assert told.max() == pytest.approx(share, abs=1e-3)
                assert number == model.select_sense("bank", list(tokens), at, level=level)


def test_of_a_sentence_that_holds_a_word_twice_one_use_is_shown(shown: ExploredModel):
    row = ("money", "bank", "interest", "bank", "loan")
    view = uses_view(shown, "bank", [Use(row, 1), Use(row, 3), Use(row[:3], 1)])
    assert view["read"] == 3
    assert len(view["cuts"][0][word_view(shown, "bank")["root"]]) == 2


def test_a_text_is_read_once_for_all_words_and_no_further_than_needed():
    read = 0

    class Counted(list[list[str]]):
        def __iter__(self) -> Any:
            nonlocal read
            for row in super().__iter__():
                read += 1
                yield row

    rows = Counted([["a", "b"]] * 3 + [["b", "c"]] * 1000)
    found = ScannedText(rows).find(["a", "b"], 3)
    assert [len(found["a"]), len(found["b"])] == [3, 3]
    assert read <= 4  # one to see whether these are paths


def test_uses_in_an_index_are_drawn_from_all_of_the_text(tmp_path: Path):
    lines = [f"n{i} bank a{i}" + " bank" * (i == 7) for i in range(200)] + ["x " * 100 + "rare " + "y " * 100]
    text = tmp_path / "text.txt"
    text.write_text("\n".join(lines))
    assert isinstance(use_source(text), ScannedText)
    index = index_corpus(text)
    for source in (use_source(text), use_source(index), use_source(tmp_path / "text.txt.muse-index")):
        assert isinstance(source, IndexedText)
        found = source.find(["bank", "rare", "none"], 20)
        assert found == source.find(["bank", "rare", "none"], 20)
        assert len(found["bank"]) == 20
        assert max(int(tokens[0][1:]) for tokens, _ in found["bank"]) > 100
        assert all(tokens[position] == "bank" for tokens, position in found["bank"])
        (rare,) = found["rare"]
        assert rare.tokens[rare.position] == "rare"
        assert len(rare.tokens) == 121
        assert found["none"] == []
    every = IndexedText(index).find(["bank"], 1000)
    assert every == ScannedText(text).find(["bank"], 1000)


def test_an_index_that_is_not_of_the_text_is_not_used(tmp_path: Path):
    text, beside = tmp_path / "text.txt", tmp_path / "text.txt.muse-index"
    text.write_text("a bank\n")
    index_corpus(text)
    text.write_text("another bank\n" * 2)
    assert len(use_source(text).find(["bank"], 5)["bank"]) == 2
    beside.write_bytes(beside.read_bytes()[:100])
    assert isinstance(use_source(text), ScannedText)


def test_a_text_that_is_none_is_refused(tmp_path: Path):
    with pytest.raises(TypeError, match="not an iterator"):
        ScannedText(iter([["a"]]))
    with pytest.raises(FileNotFoundError):
        ScannedText(tmp_path / "missing.txt")
    with pytest.raises(TypeError, match="the corpus must be"):
        ScannedText(3).find(["a"], 1)
    assert use_source(None) is None


# -- sentences ---------------------------------------------------------------------------------------------------------


def test_a_sentence_has_the_senses_that_the_model_selects(shown: ExploredModel, model: MUSE):
    view = sentence_view(shown, "Deposit Money in the BANK, near Qqqq!")
    assert [token["text"] for token in view["tokens"]] == ["Deposit", "Money", "in", "the", "BANK", "near", "Qqqq"]
    known = [token["word"] for token in view["tokens"] if token["word"] is not None]
    assert view["tokens"][-1] == {"text": "Qqqq", "word": None}
    token = view["tokens"][4]
    told = model.sense_probabilities("bank", known, known.index("bank"))
    assert [sense["share"] for sense in token["senses"]] == pytest.approx(told.tolist(), abs=1e-4)
    assert token["best"] == told.argmax()


def test_a_model_that_remembers_how_its_text_was_split_splits_sentences_so(
    shown: ExploredModel, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(MUSE, "tokenize", lambda self, text: text.split("-"), raising=False)
    assert [token["word"] for token in sentence_view(shown, "money-bank-Bank")["tokens"]] == ["money", "bank", "bank"]


def test_reasons_are_what_the_model_says_without_each_word(shown: ExploredModel, model: MUSE):
    words = "money interest bank loan water".split()
    assert all(word in model for word in words)
    told = reasons(shown, " ".join(words), 2)
    full = model.sense_probabilities("bank", words)
    best = int(full.argmax())
    assert told["share"] == pytest.approx(full[best], abs=1e-4)
    assert [reason["token"] for reason in told["words"]] == [0, 1, 3, 4]
    for reason in told["words"]:
        left = [word for place, word in enumerate(words) if place != reason["token"]]
        without = float(model.sense_probabilities("bank", left)[best])
        assert reason["without"] == pytest.approx(without, abs=1e-4)
        wanted = math.log(full[best] / (1 - full[best])) - math.log(without / (1 - without))
        assert reason["effect"] == pytest.approx(wanted, abs=2e-3)


def test_the_same_word_twice_has_reasons_for_each_of_its_places(shown: ExploredModel):
    text = "bank money water bank"
    assert reasons(shown, text, 0)["words"][0]["token"] == 1
    assert [reason["token"] for reason in reasons(shown, text, 3)["words"]] == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "token"), [("bank", 5), ("bank", -1), ("", 0), ("qqqq bank", 0), ("bank " * 900, 0), ("b " * 900, 0)]
)
def test_what_is_no_token_is_refused(shown: ExploredModel, text: str, token: int):
    with pytest.raises(ValueError, match=r"token|letters|words"):
        reasons(shown, text, token)


def test_sentences_of_nothing_known(shown: ExploredModel):
    assert sentence_view(shown, "")["tokens"] == []
    assert sentence_view(shown, "qqqq wwww")["tokens"] == [
        {"text": "qqqq", "word": None},
        {"text": "wwww", "word": None},
    ]
    assert sentence_view(shown, "bank qqqq")["tokens"][0]["alone"]


# -- two models --------------------------------------------------------------------------------------------------------


def test_a_model_is_like_itself(shown: ExploredModel):
    alike = np.array(compare_words(shown, shown, "bank")["alike"])
    assert np.allclose(np.diag(alike), 1)
    assert np.allclose(alike, alike.T)


def test_senses_of_two_models_match_by_what_they_are_near(model: MUSE, other: MUSE):
    one, two = ExploredModel(model, "one"), ExploredModel(other, "two")
    found = compare_words(one, two, "bank")
    alike = np.array(found["alike"])
    assert alike.shape == (len(model.sense_tree("bank").nodes), len(other.sense_tree("bank").nodes))
    mine, theirs = (each.sense_numbers("bank", level=2).tolist() for each in (model, other))
    two_by_two = alike[np.ix_(mine, theirs)]
    one_way, other_way = two_by_two.trace(), np.fliplr(two_by_two).trace()
    assert max(one_way, other_way) > 1 > -1 > min(one_way, other_way)  # one way round fits, the other does not
    assert found["anchors"] > 100


# -- paths -------------------------------------------------------------------------------------------------------------


def test_every_path_answers(answers: Answers):
    asked = {
        "/api/info": {}, "/api/suggest": {"q": "ba"}, "/api/word": {"word": "Bank"},
        "/api/uses": {"word": "bank", "model": "1"},
        "/api/sentence": {"text": CONTEXT}, "/api/reasons": {"text": CONTEXT, "token": "4"},
        "/api/compare": {"word": "bank", "a": "0", "b": "1"},
    }  # fmt: skip
    for path, query in asked.items():
        assert path in answers
        assert json.dumps(answers(path, query), allow_nan=False) != "{}"
    assert [model["name"] for model in answers("/api/info", {})["models"]] == ["one", "two"]
    assert "/api/other" not in answers


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/api/word", {}),
        ("/api/word", {"word": "bank", "model": "2"}),
        ("/api/word", {"word": "bank", "model": "-1"}),
        ("/api/word", {"word": "bank", "model": "٣"}),
        ("/api/word", {"word": "bank", "model": "9" * 5000}),
        ("/api/word", {"word": "b" * 1300}),
        ("/api/suggest", {"q": "b" * 1300}),
        ("/api/reasons", {"text": "bank"}),
        ("/api/sentence", {"text": "b" * 13000}),
    ],
)
def test_wrong_parameters_are_refused(answers: Answers, path: str, query: dict[str, str]):
    with pytest.raises(ValueError, match=r"must be|missing|may have"):
        answers(path, query)


def test_an_unknown_word_comes_with_known_ones_like_it(answers: Answers):
    with pytest.raises(UnknownWordError) as caught:
        answers("/api/word", {"word": "bannk"})
    assert "bank" in caught.value.near  # type: ignore[attr-defined]


# -- models ------------------------------------------------------------------------------------------------------------


def test_models_have_names_of_their_own(model: MUSE, tmp_path: Path):
    path = tmp_path / "wiki.safetensors"
    model.save(path)
    assert [each.name for each in explored([path, str(path), model])] == ["wiki", "wiki (2)", "model 3"]
    assert [each.name for each in explored([model, model], ["a", "a"])] == ["a", "a (2)"]


def test_what_is_no_trained_model_is_refused(model: MUSE, tmp_path: Path):
    with pytest.raises(TypeError, match="the explorer shows models"):
        explored([3])  # type: ignore[list-item]
    with pytest.raises(NotTrainedError):
        explored([MUSE()])
    with pytest.raises(FileNotFoundError):
        explored([tmp_path / "missing.safetensors"])
    for names in (["a", "b"], "a"):
        with pytest.raises(ValueError, match="one name for each"):
            explored([model, model, model], names)
