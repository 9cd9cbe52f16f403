"""Names of senses: given, found, shown, and kept in files and formats."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from muse import MUSE, ModelFileError, NotTrainedError, UnknownSenseError, UnknownWordError
from muse.data.sense_names import SenseNames, check_name, shown_names
from names import CORPUS, SMALL, interrupt, join_of, named, parts_of, toy
from toy import toy_model


@pytest.fixture(scope="module")
def trained() -> MUSE:
    return MUSE(CORPUS.sentences, **SMALL)


@pytest.fixture
def model(trained) -> MUSE:
    return named(copy.deepcopy(trained))


# -- giving, finding, taking away --------------------------------------------------------------------------------------


def test_names_are_given_found_changed_and_taken_away():
    model = toy()
    assert model.sense_names("head") == {"head#1": "chief", "head#2": "body part"} == model.sense_names()
    assert model.sense_names("bank") == {}
    assert model.sense_key("head:body part") == "head#2" == model.sense_key("head#2") == model.sense_key(("head", 2))
    np.testing.assert_array_equal(model.sv["head:chief"], model.sv["head#1"])
    assert model.sv.most_similar("head:chief") == model.sv.most_similar("head#1")
    assert model.sv.similarity("head:chief", "head:body part") == model.sv.similarity("head#1", "head#2")
    assert "head:chief" in model.sv
    assert "head:chef" not in model.sv
    model.name_sense("head:chief", "leader")
    model.name_sense("head:body part", None)
    assert model.sense_names() == {"head#1": "leader"}
    model.name_sense("head#1", None)
    model.name_sense("head#0", None)  # it has none
    assert model.sense_names() == {}
    assert not model.snapshot.names


def test_the_same_name_for_senses_of_two_words():
    model = toy()
    model.name_sense("bank#0", "chief")
    assert model.sense_key("bank:chief") == "bank#0"
    assert model.sense_key("head:chief") == "head#1"


def test_a_name_that_could_be_of_two_words_is_refused():
    model = toy_model(words=("a", "a:b"), senses=(2, 2))
    model.name_sense("a#0", "b:c")
    model.name_sense("a:b#1", "c")
    with pytest.raises(UnknownSenseError, match=r"could be any of a#0, a:b#1; give the key"):
        model.sense_key("a:b:c")
    assert model.sense_key("a:b#1") == "a:b#1"


def test_a_composed_and_a_decomposed_name_are_one():
    model = toy()
    model.name_sense("bank#0", "cafe\u0301")
    assert model.sense_names("bank") == {"bank#0": "café"}
    assert model.sense_key("bank:cafe\u0301") == model.sense_key("bank:café")
    with pytest.raises(ValueError, match="is the name of"):
        model.name_sense("bank#1", "café")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "must not be empty"),
        ("  ", "must not be empty"),
        ("two\nlines", r"the character U\+000A; a name is one line"),
        ("a\tb", r"U\+0009"),
        ("a\0b", r"U\+0000"),
        ("a\x1b[31mb", r"U\+001B"),
        ("a\u2028b", r"U\+2028"),
        ("a\ud800b", r"U\+D800"),
        ("a\u202eb", r"U\+202E"),
        (" river", "begins or ends with white space"),
        ("x" * 101, r"longer than 100 characters"),
        ("x" * 10**6, r"longer than 100 characters"),
        ("river#2", "ends as a sense key does; leave out '#2'"),
        ("chief", "is the name of 'head#1'; a name belongs to one sense"),
        (3, "must be text"),
        (b"river", "must be text"),
        (["river"], "must be text"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_hostile_names(name, message):
    model = toy()
    before = model.sense_names()
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        model.name_sense("head#0", name)
    assert len(str(caught.value)) < 400
    assert model.sense_names() == before


@pytest.mark.parametrize("name", ["c#", "Ufer (Fluß)", "می‌خواهم", "👩‍🚀 astronaut", "a: b", "x" * 100, "<b>&", "'\""])
def test_names_that_are_good(name, tmp_path):
    model = toy()
    model.name_sense("bank#1", name)
    assert model.sense_key(f"bank:{name}") == "bank#1"
    model.save(tmp_path / "m")
    assert MUSE.load(tmp_path / "m").sense_names("bank") == {"bank#1": name}


@pytest.mark.parametrize(
    ("key", "error"),
    [
        ("head#3", UnknownSenseError), ("head", UnknownSenseError), ("heads#0", UnknownWordError), (3, TypeError),
        ("head:none", UnknownSenseError), (None, TypeError), (("head", "0"), TypeError), (":", UnknownSenseError),
    ],
)  # fmt: skip
def test_keys_that_are_none(key, error):
    for call in (lambda model: model.name_sense(key, "x"), lambda model: model.sense_key(key)):
        with pytest.raises(error):
            call(toy())


def test_the_error_lists_the_names():
    with pytest.raises(UnknownSenseError, match=r"the names of 'head' are 'chief', 'body part'"):
        toy().sense_key("head:none")
    with pytest.raises(UnknownWordError):
        toy().sense_names("heads")


def test_models_without_senses_have_no_names():
    model = MUSE()
    for call in (lambda: model.name_sense("a#0", "x"), lambda: model.sense_key("a#0"), lambda: model.sense_names("a")):
        with pytest.raises(NotTrainedError):
            call()
    assert model.sense_names() == {}


def test_other_tokens_stay_words():
    model = toy()
    model.name_sense("c##0", "language")
    assert model.sense_key("c#:language") == "c##0"
    model.name_sense("#0", "nothing")  # of the empty string
    assert model.sense_key(":nothing") == "#0"
    model.name_sense(("line\nbreak", 0), "break")
    assert "'line\\nbreak#0' (break)" in str(model.describe("line\nbreak"))


# -- shown -------------------------------------------------------------------------------------------------------------


def test_cards_show_names(model):
    one, other = parts_of(model)
    card = model.describe("bank")
    assert {sense.key: sense.name for sense in card.senses if sense.name} == model.sense_names("bank")
    assert f"bank#{one} (money)  " in str(card)
    assert f"<b>bank#{other} (river)</b>" in card._repr_html_()
    near = next(key for key, _ in card.senses[0].neighbours)
    model.name_sense(near, "<near>")
    card = model.describe("bank")
    assert f"{near} (<near>)" in str(card)
    assert f"{near} (&lt;near&gt;)" in card._repr_html_()
    assert card.senses[0].neighbours[0][0] == near  # results stay keys


def test_trees_show_names(model):
    one, other = parts_of(model)
    tree = model.sense_tree("bank")
    text = str(tree)
    assert f"bank#{one}* (money)" in text
    assert f"bank#{join_of(model)} (money / river)" in text or f"bank#{join_of(model)} (river / money)" in text
    named = {node["number"]: node["name"] for node in tree.to_dict()["nodes"]}
    assert named[one] == "money"
    finer = tree.nodes[other].parts
    assert {named[number] for number in finer} <= {None}  # below it, no need to repeat
    assert named.keys() == set(range(len(tree.nodes)))
    model.recut(senses={"bank": 12})
    assert model.sense_names("bank").items() >= {f"bank#{n}": f"river, part {n}" for n in finer}.items()


def test_sentences_show_names(model):
    found = [token for sentence in CORPUS.sentences[:300] for token in model.disambiguate(sentence)]
    names = {f"bank#{number}": name for number, name in zip(parts_of(model), ("money", "river"), strict=True)}
    banks = [token for token in found if token.token == "bank"]
    assert {token.name for token in banks} >= {"money", "river"}
    assert all(token.name == names.get(token.key) for token in found)


def test_tags_of_names(model, tmp_path):
    model.name_sense(f"bank#{parts_of(model)[0]}", "piggy  bank\u00a0x")
    source = tmp_path / "text"
    source.write_text("\n".join(map(" ".join, CORPUS.sentences[:200])) + "\n")
    plain = model.tag_corpus(source, tmp_path / "plain")
    assert model.tag_corpus(source, tmp_path / "named", names=True) == plain
    one, other = parts_of(model)
    expected = (tmp_path / "plain").read_text().split(" ")
    tags = {f"bank#{one}": "bank:piggy_bank_x", f"bank#{other}": "bank:river"}
    named = (tmp_path / "named").read_text()
    assert "bank:river" in named
    assert "bank:piggy_bank_x" in named
    assert [part.split("\n") for part in named.split(" ")] == [
        [tags.get(token, token) for token in part.split("\n")] for part in expected
    ]
    with pytest.raises(TypeError, match="names must be True or False"):
        model.tag_corpus(source, tmp_path / "x", names="yes")


def test_tags_of_names_are_of_the_names_of_then(model, tmp_path):
    """A tagging that is resumed after a sense was given another name would be a mixture."""
    text, out = tmp_path / "text", tmp_path / "out"
    text.write_text("\n".join(map(" ".join, CORPUS.sentences[:300])) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("muse.selector.tag_file._PIECE", 4000)
        patch.setattr("muse.files.lines._CHUNK", 2560)
        patch.setattr("muse.base.progress._Hidden.update", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.tag_corpus(text, out, names=True)
    for changed in ({"names": False}, {"names": True}):
        other = copy.deepcopy(model)
        other.name_sense("bank:river", "shore")
        with pytest.raises(ValueError, match="from another model"):
            other.tag_corpus(text, out, resume=True, **changed)
    model.tag_corpus(text, out, names=True, resume=True)
    model.tag_corpus(text, tmp_path / "whole", names=True)
    assert out.read_bytes() == (tmp_path / "whole").read_bytes()


def test_what_nodes_show():
    leaves = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]], bool)
    assert shown_names({}, leaves) == {}
    assert shown_names({3: "a", 0: "b"}, leaves) == {0: "b", 1: "a, part 1", 3: "a", 4: "a"}
    assert shown_names({0: "a", 2: "a2"}, leaves) == {0: "a", 2: "a2", 3: "a", 4: "a / a2"}
    assert shown_names({4: "all"}, leaves) == {i: f"all, part {i}" for i in range(4)} | {4: "all"}
    assert shown_names({1: "x"}, None) == {1: "x"}
    assert shown_names({99: "x"}, leaves) == {99: "x"}


# -- kept --------------------------------------------------------------------------------------------------------------


def test_copies_keep_names(model):
    for again in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert again.sense_names() == model.sense_names()
    sv = pickle.loads(pickle.dumps(model.sv))
    np.testing.assert_array_equal(sv["bank:river"], model.sv["bank:river"])
    deep = copy.deepcopy(model)
    deep.name_sense("bank:river", None)
    assert "river" in model.sense_names().values()
    parts = model.vocabulary, model.arrays, model.settings
    again = MUSE.from_arrays(*parts, forest=model.snapshot.forest, sense_names=model.sense_names())
    assert again.sense_names() == model.sense_names()
    with pytest.raises(UnknownWordError):
        MUSE.from_arrays(*parts, forest=model.snapshot.forest, sense_names={"nobody#0": "x"})


@pytest.mark.parametrize("mmap", [False, True])
def test_files_keep_names(model, tmp_path, mmap):
    model.recut(senses=2)
    model.save(tmp_path / "m")
    again = MUSE.load(tmp_path / "m", mmap=mmap)
    assert again.sense_names() == model.sense_names()
    assert again.sense_names("bank") == model.sense_names("bank")
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_files_without_names_are_as_before(trained, tmp_path):
    trained.save(tmp_path / "m")
    with safe_open(tmp_path / "m", framework="np") as file:
        assert "sense_names" not in json.loads(file.metadata()["model"])
    assert MUSE.load(tmp_path / "m").sense_names() == {}


@pytest.mark.parametrize(
    "names",
    [
        3, [], {"bank": 3}, {"bank": {"x": "a"}}, {"bank": {"0": 5}}, {"bank": {"0": ""}}, {"bank": {"0": "a\nb"}},
        {"bank": {"0": "a", "1": "a"}}, {"bank": {"0": "a", "00": "b"}}, {"bank": {"99": "a"}}, {"nobody": {"0": "a"}},
        {"bank": {"9" * 30: "a"}}, {"bank": {"-1": "a"}}, {"bank": {"0": "x" * 200_000}}, None,
    ],
    ids=lambda names: repr(names)[:30],
)  # fmt: skip
def test_damaged_names_in_a_file(model, tmp_path, names):
    path = tmp_path / "m"
    model.save(path)
    with safe_open(path, framework="np") as file:
        metadata = dict(file.metadata())
    metadata.pop("checksums")
    metadata["model"] = json.dumps({**json.loads(metadata["model"]), "sense_names": names})
    save_file(load_file(path), path, metadata)
    with pytest.raises(ModelFileError, match=r"damaged.*name"):
        MUSE.load(path)


def test_checkpoints_and_training_on_keep_names(model, tmp_path):
    names = model.sense_names()
    model.checkpoint_dir = tmp_path
    model.train(CORPUS.sentences[:300], epochs=1)
    assert model.sense_names() == names
    again = MUSE.load(tmp_path / "checkpoint.safetensors")
    assert again.sense_names() == names
    model.build_vocab([["bank", "newcomer"]] * 10, update=True)
    model.train([["bank", "newcomer"]] * 10, epochs=1)
    assert model.sense_names() == names
    model.name_sense("newcomer#0", "new")


def test_names_cannot_change_in_training(trained):
    model = copy.deepcopy(trained)

    class Name:
        def on_epoch_end(self, model):
            model.name_sense("bank#0", "x")

    with pytest.raises(RuntimeError):
        model.train(CORPUS.sentences[:50], epochs=1, callbacks=[Name()])


# -- the parts ---------------------------------------------------------------------------------------------------------


def test_the_table_of_names():
    names = SenseNames({"b": {3: "x", 1: "y"}, "empty": {}})
    assert list(names) == ["b"]
    assert list(names["b"]) == [1, 3]
    assert SenseNames.from_json(json.loads(json.dumps(names.to_json()))).keys_and_names() == {"b#1": "y", "b#3": "x"}
    assert names.with_name("b", 1, None).with_name("b", 3, None) == {}
    assert names.without({"b": {1}}).keys_and_names() == {"b#3": "x"}
    assert check_name("e\u0301") == "é"
