"""Senses in a dictionary: the right entry for each, none where none is likely, in models of every recipe."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from dictionaries import write_lmf, write_princeton
from muse import MUSE, NotTrainedError, Paper, Split, UnknownWordError
from muse.datasets import make_ambiguous_corpus
from muse.lexicon.linking import SenseLink, SenseLinks, text_of
from muse.lexicon.synsets import Synset
from toy import toy_model

CORPUS = make_ambiguous_corpus(6000, 400, seed=0)


class Own:
    """A dictionary of given entries."""

    name = "own"

    def __init__(self, entries):
        self.entries = entries

    def synsets(self, word):
        return self.entries.get(word, [])


@pytest.fixture(scope="module", params=["Trees", "Split"])
def model(request) -> MUSE:
    recipe = {"Trees": None, "Split": Split()}[request.param]
    return MUSE(CORPUS.sentences, senses=2, vector_size=32, workers=1, recipe=recipe)


@pytest.fixture
def folder(tmp_path):
    return write_princeton(tmp_path / "dict")


def truth(model: MUSE) -> dict[str, str]:
    """The true topic of most uses of each sense of bank."""
    counted: dict[str, list[str]] = {}
    for sentence, topics in zip(CORPUS.sentences, CORPUS.true_senses, strict=True):
        if "bank" in sentence:
            place = sentence.index("bank")
            key = f"bank#{model.select_sense('bank', sentence, place)}"
            counted.setdefault(key, []).append(str(CORPUS.ambiguous_words["bank"][topics[place]]))
    return {key: max(set(topics), key=topics.count) for key, topics in counted.items()}


def test_the_right_entry(model, folder):
    links = model.link_wordnet("bank", folder)
    senses = truth(model)
    assert set(senses.values()) == {"finance", "river"}
    assert links.keys() == {f"bank#{number}" for number in model.sense_numbers("bank")}
    for key, topic in senses.items():
        link = links[key]
        assert link is not None
        assert link.gloss.startswith("where loans" if topic == "finance" else "the shore")
        assert link.key == key
        assert link.pos == "n"
        assert 0.5 <= link.score <= 1
        assert link.name == ("banking company" if topic == "finance" else "riverside")
    assert links.linked == dict(links)
    assert repr(links).startswith("<SenseLinks: 2 of 2 senses have an entry in WordNet in ")


def test_the_same_from_both_kinds_of_files(model, folder, tmp_path):
    pytest.importorskip("wn")
    one, other = model.link_wordnet("bank", folder), model.link_wordnet("bank", write_lmf(tmp_path / "t.xml"))
    assert [(link.gloss, link.score, link.name) for link in one.values()] == [
        (link.gloss, link.score, link.name) for link in other.values()
    ]


def test_none_where_none_is_likely(model, folder):
    assert set(model.link_wordnet("bank", folder, threshold=1.0).values()) == {None}
    assert set(model.link_wordnet("rock", folder).values()) == {None}  # not in it
    strange = Own({"bank": [Synset("1", "n", "zzz qqq"), Synset("2", "n", "")]})
    assert set(model.link_wordnet("bank", strange, threshold=0).values()) == {None}  # no word is known
    links = model.link_wordnet("bank", folder, pos="v", threshold=0)
    assert all(link is None or link.pos == "v" for link in links.values())


def test_several_words_and_all(model, folder):
    assert model.link_wordnet(["bank", "rock"], folder).keys() == {
        f"{word}#{n}" for word in ("bank", "rock") for n in model.sense_numbers(word)
    }
    every = model.link_wordnet(None, folder)
    ambiguous = np.diff(model.arrays.sense_offset) > 1
    assert len(every) == np.diff(model.arrays.sense_offset)[ambiguous].sum()
    assert model.link_wordnet([], folder) == {}
    assert dict(model.link_wordnet("bank", folder)) == {key: every[key] for key in every if key.startswith("bank#")}


def test_words_of_one_sense(model, folder):
    single = next(word for word in model.vocabulary if model.n_senses(word) == 1)
    found = model.link_wordnet(single, Own({single: [Synset("1", "n", "money loans"), Synset("2", "n", "the shore")]}))
    assert len(found) == 1
    model.link_wordnet([single], folder)


def test_names_from_links(folder):
    model = MUSE(CORPUS.sentences, senses=2, vector_size=32, workers=1)
    for key, link in model.link_wordnet("bank", folder).linked.items():
        model.name_sense(key, link.name)
    assert set(model.sense_names("bank").values()) == {"banking company", "riverside"}


def test_models_of_every_recipe(folder):
    paper = MUSE(CORPUS.sentences[:500], senses=2, vector_size=16, workers=1, epochs=1, recipe=Paper())
    links = paper.link_wordnet("bank", folder, threshold=0)
    assert all(link is None or math.isfinite(link.score) for link in links.values())
    toy_model().link_wordnet("head", Own({"head": [Synset("1", "n", "army the"), Synset("2", "n", "bank")]}))


def test_wrong_arguments(model, folder):
    with pytest.raises(UnknownWordError):
        model.link_wordnet("banks", folder)
    with pytest.raises(UnknownWordError):
        model.link_wordnet([3], folder)
    with pytest.raises(ValueError, match="threshold must be a number from 0 to 1; got 2"):
        model.link_wordnet("bank", folder, threshold=2)
    with pytest.raises(ValueError, match="pos must be some of 'n', 'v', 'a', 'r'; got 'noun'"):
        model.link_wordnet("bank", folder, pos="noun")
    with pytest.raises(NotTrainedError):
        MUSE().link_wordnet("bank", folder)


def test_how_links_are_shown():
    link = SenseLink("a<b>#0", "id-1", "n", "a <i>gloss</i>\nof two lines", ("x & y",), 0.75, 0.3, "x & y")
    links = SenseLinks({"a<b>#0": link, "c#1": None}, "a <lexicon>")
    assert str(links).splitlines() == ["a<b>#0  0.75  id-1  'a <i>gloss</i>\\nof two lines'", "c#1  -"]
    page = links._repr_html_()
    assert "<i>" not in page
    assert "<b>#" not in page
    assert "&lt;lexicon&gt;" in page
    assert json.loads(json.dumps(links.to_dict()))["a<b>#0"]["lemmas"] == ["x & y"]
    assert str(SenseLinks({}, "x")) == ""


def test_the_text_of_an_entry():
    model = toy_model()
    entry = Synset("1", "n", "The head of an Army", ("the bank!",), ("new_york", "army"), ("bank",), (), ("the",))
    assert text_of(entry, "head", model.snapshot) == ["the", "army", "the", "bank", "army", "army", "bank", "the"]
