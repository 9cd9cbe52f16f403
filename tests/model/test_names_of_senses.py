"""Names of senses: given, shown, kept in files and formats, and there again after every change of the senses."""

from __future__ import annotations

import copy
import itertools
import json
import pickle

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from muse import (
    MUSE,
    FormatWarning,
    ModelFileError,
    NotTrainedError,
    Paper,
    Split,
    UnknownSenseError,
    UnknownWordError,
    load_vectors,
)
from muse.data.sense_names import SenseNames, check_name, shown_names
from muse.datasets import make_ambiguous_corpus
from toy import toy_arrays, toy_model

CORPUS = make_ambiguous_corpus(2000, 300, seed=0)
SMALL = {"vector_size": 16, "epochs": 2, "workers": 1, "min_count": 1, "seed": 1}


@pytest.fixture(scope="module")
def trained() -> MUSE:
    return MUSE(CORPUS.sentences, **SMALL)


@pytest.fixture
def model(trained) -> MUSE:
    """With trees; the parts of one of the joins of "bank" that are senses have names."""
    model = copy.deepcopy(trained)
    one, other = parts_of(model)
    model.name_sense(f"bank#{one}", "money")
    model.name_sense(("bank", other), "river")
    return model


def parts_of(model: MUSE) -> tuple[int, int]:
    tree = model.sense_tree("bank", 0)
    return next(parts for _, parts in tree.joins if set(parts) <= set(tree.senses))


def join_of(model: MUSE) -> int:
    return next(number for number, parts in model.sense_tree("bank", 0).joins if parts == parts_of(model))


def toy() -> MUSE:
    """Without trees: "head" has three senses, "bank" two."""
    model = toy_model()
    model.name_sense("head#1", "chief")
    model.name_sense("head#2", "body part")
    return model


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


# -- other senses ------------------------------------------------------------------------------------------------------


def test_a_recut_finds_names_again(model):
    _, other = parts_of(model)
    join, names = join_of(model), model.sense_names("bank")
    model.recut(senses={"bank": 1})
    (whole,) = model.sense_numbers("bank").tolist()
    assert model.sense_names("bank") in ({f"bank#{whole}": "money / river"}, {f"bank#{whole}": "river / money"})
    assert model.sense_names() == names
    assert model.sense_key("bank:river") == f"bank#{other}"  # a node, no sense now
    with pytest.raises(UnknownSenseError, match=rf"there is no sense {other} of 'bank'"):
        model.sv["bank:river"]
    model.name_sense(f"bank#{join}", "both")  # its own name comes before those of its parts
    assert "both" in model.sense_names("bank")[f"bank#{whole}"]
    model.name_sense("bank:both", None)
    model.recut(senses={"bank": 12})
    shown = model.sense_names("bank")
    assert all(name.startswith(("money", "river")) for name in shown.values())
    assert len(set(shown.values())) == len(shown)
    model.recut()
    assert model.sense_names("bank") == names


def test_merging_and_pruning_with_trees(model):
    names = model.sense_names("bank")
    for change in (lambda: model.merge_senses(-1.0), lambda: model.prune_senses(min_prior=0.6)):
        change()
        assert {"money", "river"} & set(" / ".join(model.sense_names("bank").values()).split(" / "))
        model.recut()
        assert model.sense_names("bank") == names


def test_merging_without_trees_joins_names():
    vectors = toy_arrays().sense_vectors.copy()
    vectors[2] = vectors[1]  # of head
    model = toy_model(sense_vectors=vectors)
    model.name_sense("head#1", "chief")
    model.name_sense("head#2", "leader")
    model.name_sense("bank#1", "river")
    model.merge_senses(0.99)
    assert model.n_senses("head") == 2
    assert model.sense_names() == {"head#1": "chief / leader", "bank#1": "river"}
    assert model.sense_key("head:chief / leader") == "head#1"


def test_pruning_without_trees_says_what_is_lost(tmp_path):
    counts = np.array([5, 900, 900, 10, 10, 1, 99, 10, 10, 10, 10, 10, 10])
    model = toy_model(sense_counts=counts, senses=(3, 1, 1, 2, 1, 2, 1, 1, 1))
    for key, name in {"head#0": "rare", "head#2": "body part", "bank#0": "money", "bank#1": "river"}.items():
        model.name_sense(key, name)
    with pytest.warns(UserWarning, match=r"2 names of senses are gone, since .*: head#0 'rare', bank#0 'money'"):
        model.prune_senses(min_prior=0.05)
    assert model.sense_names() == {"head#1": "body part", "bank#0": "river"}
    model.save(tmp_path / "m")
    assert MUSE.load(tmp_path / "m").sense_names() == model.sense_names()


@pytest.mark.parametrize("recipe", [Split(warmup_epochs=1), Paper()], ids=["Split", "Paper"])
def test_recipes_without_trees_have_names(recipe, tmp_path):
    model = MUSE(CORPUS.sentences, senses=2, recipe=recipe, **SMALL)
    model.name_sense("bank#1", "river")
    model.train(CORPUS.sentences[:100], epochs=1)
    model.save(tmp_path / "m")
    assert MUSE.load(tmp_path / "m").sense_names() == {"bank#1": "river"}
    assert "bank#1 (river)" in str(model.describe("bank"))
    assert "bank#1* (river)" in str(model.sense_tree("bank"))


@pytest.mark.parametrize("recipe", [None, Split(min_contexts=5)], ids=["Trees", "Split"])
def test_names_of_words_that_get_senses(recipe):
    """Stopped before there were senses, named, and resumed."""

    model = MUSE(**SMALL, senses=2, recipe=recipe)
    model.build_vocab(CORPUS.sentences)
    with pytest.raises(KeyboardInterrupt):
        model.train(CORPUS.sentences, callbacks=[type("Stop", (), {"on_epoch_end": interrupt})()])
    rare = min(model.vocabulary.words, key=lambda word: int(model.vocabulary.counts[model.vocabulary[word]]))
    model.name_sense("bank#0", "all of it")
    model.name_sense(f"{rare}#0", "rare")
    if recipe is None:
        model.train(CORPUS.sentences, resume=True)
        tree = model.sense_tree("bank", 0)
        assert model.sense_names() == {f"bank#{tree.root}": "all of it", f"{rare}#0": "rare"}
    else:
        with pytest.warns(UserWarning, match=r"1 names of senses are gone, since .*: bank#0 'all of it'"):
            model.train(CORPUS.sentences, resume=True)
        assert model.sense_names() == {f"{rare}#0": "rare"}


def interrupt(*_):
    raise KeyboardInterrupt


def test_models_that_lose_their_senses_say_so(model, trained):
    with pytest.warns(UserWarning, match=r"2 names of senses are gone, since the model has no senses any more"):
        model.set_arrays(None)
    assert model.sense_names() == {}
    other = copy.deepcopy(trained)
    other.name_sense("bank#0", "x")
    with pytest.warns(UserWarning, match=r"1 names of senses are gone.*bank#0 'x'"):
        other.reset_from(model)
    other.train(CORPUS.sentences, epochs=1)  # its trees are of its own words
    assert other.n_senses("bank") > 1
    flat = toy()
    with pytest.warns(UserWarning, match=r"head#2 'body part'"):
        flat.set_arrays(toy_arrays((2, 1, 1, 2, 1, 2, 1, 1, 1)))
    assert flat.sense_names() == {"head#1": "chief"}


def test_a_mapped_file_with_names_of_no_sense(tmp_path):
    """It is opened without a look at its words; what is done with it does no harm."""
    path = tmp_path / "m"
    toy().save(path)
    with safe_open(path, framework="np") as file:
        metadata = dict(file.metadata())
    metadata.pop("checksums")
    names = {"nobody": {"0": "x"}, "head": {"7": "y", "1": "chief"}}
    metadata["model"] = json.dumps({**json.loads(metadata["model"]), "sense_names": names})
    save_file(load_file(path), path, metadata)
    model = MUSE.load(path, mmap=True)
    assert model.sense_names("head") == {"head#1": "chief"}
    str(model.describe("head"))
    model.sense_tree("head")
    model.disambiguate("the head")
    with pytest.warns(UserWarning, match=r"2 names of senses are gone.*: nobody#0 'x', head#7 'y'"):
        model.merge_senses(-1.0)
    assert model.sense_names() == {"head#0": "chief"}


def test_many_names():
    words = tuple(f"w{i}" for i in range(1000))
    model = toy_model(words=words, senses=(2,) * 1000)
    for word in words:
        model.name_sense(f"{word}#0", "first")
        model.name_sense(f"{word}#1", "second")
    assert len(model.sense_names()) == 2000
    assert model.sense_key("w999:second") == "w999#1"


# -- a model that was trained anew -------------------------------------------------------------------------------------


def turned(arrays, seed):
    """The same senses in another space, in another order and with noise, as another training would have them."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(arrays.vector_size, arrays.vector_size)))[0]
    order = np.concatenate([rng.permutation(np.arange(a, b)) for a, b in itertools.pairwise(arrays.sense_offset)])
    vectors = arrays.sense_vectors[order] @ turn + 0.1 * rng.normal(size=arrays.sense_vectors.shape)
    return order, vectors.astype(np.float32)


def test_another_model_takes_names():
    words, senses = tuple(f"w{i}" for i in range(200)), (4,) * 20 + (1,) * 180
    sizes = {"senses": senses, "vector_size": 20, "selection_size": 5}
    old = toy_model(words=words, **sizes)
    order, vectors = turned(old.arrays, 1)
    new = toy_model(words=words, sense_vectors=vectors, sense_counts=old.arrays.sense_counts[order], **sizes)
    for word in range(20):
        for number in range(4):
            old.name_sense(f"w{word}#{number}", f"name {number}")
    old.name_sense("w199#0", "single")
    new.name_sense("w0#0", "mine")
    with pytest.warns(UserWarning, match=r"names of senses are gone, since .*: w0#\d 'name \d'"):
        found = new.take_names(old)
    assert new.sense_names("w0")["w0#0"] == "mine"
    assert found["w199#0"] == "w199#0"
    right = {f"w{row // 4}#{old_row % 4}": f"w{row // 4}#{row % 4}" for row, old_row in enumerate(order[:80].tolist())}
    missed = [key for key, new_key in found.items() if key in right and new_key != right[key]]
    assert len(missed) == 1  # that of w0#0
    assert all(new.sense_names()[new_key] == old.sense_names()[key] for key, new_key in found.items() if new_key)


def test_the_root_of_a_tree_is_the_word(trained):
    old, new = copy.deepcopy(trained), copy.deepcopy(trained)
    root = old.sense_tree("bank", 0).root
    old.name_sense(("bank", root), "all")
    assert new.take_names(old) == {f"bank#{root}": f"bank#{root}"}


def test_names_that_are_not_taken_are_listed(model):
    new = toy()
    with pytest.warns(UserWarning, match=r"2 names of senses are gone.*money"):
        found = new.take_names(model)
    assert set(found.values()) == {None}
    assert new.sense_names() == toy().sense_names()
    with pytest.raises(TypeError, match="take_names takes a model of muse; got str"):
        new.take_names("old.safetensors")
    with pytest.raises(ValueError, match="threshold must be a number from -1 to 1"):
        new.take_names(model, threshold=3)
    again = copy.deepcopy(model)
    again.name_sense("bank:money", None)
    again.name_sense("bank:river", None)
    assert again.take_names(model) == {key: key for key in model.sense_names()}


# -- other formats -----------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::muse.FormatWarning")
@pytest.mark.parametrize("format", ["word2vec", "glove"])
def test_a_file_of_names_beside_vectors(format, tmp_path):
    model = toy_model(words=("head", "army", "the", "bank", "x", "y", "z", "u", "v"))
    model.name_sense("head#1", "chief")
    model.name_sense("head#2", "body part")
    model.export(tmp_path / "v", format, names=tmp_path / "names.tsv")
    assert (tmp_path / "names.tsv").read_text() == "head#1\tchief\nhead#2\tbody part\n"
    again = load_vectors(tmp_path / "v", format, names=tmp_path / "names.tsv")
    assert again.label("head#1") == "chief"
    assert again.label("head#0") is None
    np.testing.assert_allclose(again.sv["head:body part"], model.sv["head#2"], rtol=1e-6)
    again.export(tmp_path / "w", format, names=tmp_path / "more.tsv")
    assert (tmp_path / "more.tsv").read_bytes() == (tmp_path / "names.tsv").read_bytes()


def test_formats_without_room_say_so(tmp_path):
    model = toy_model(words=("head", "army", "the", "bank", "x", "y", "z", "u", "v"))
    model.name_sense("head#1", "chief")
    with pytest.warns(FormatWarning, match="names of senses"):
        model.export(tmp_path / "v", "word2vec")
    with pytest.warns(FormatWarning) as caught:
        model.export(tmp_path / "v", "word2vec", names=tmp_path / "n")
    assert "names of senses" not in str(caught[0].message)


def test_cut_models_export_what_they_show(model, tmp_path):
    model.recut(senses={"bank": 12})
    with pytest.warns(FormatWarning):
        model.export(tmp_path / "v", "word2vec", names=tmp_path / "n")
    vectors = load_vectors(tmp_path / "v", names=tmp_path / "n")
    shown = model.sense_names("bank")
    assert {vectors.label(("bank", i)) for i in range(vectors.n_senses("bank"))} - {None} == set(shown.values())


def test_gensim_keeps_names(tmp_path):
    pytest.importorskip("gensim")
    model = toy_model(words=("head", "army", "the", "bank", "x", "y", "z", "u", "v"))
    assert "name" not in model.sv.to_gensim().expandos
    model.name_sense("head#1", "chief")
    assert model.sv.to_gensim().get_vecattr("head#1", "name") == "chief"
    assert model.sv.to_gensim().get_vecattr("head#0", "name") is None
    with pytest.warns(FormatWarning):
        model.export(tmp_path / "kv", "gensim")
    again = load_vectors(tmp_path / "kv", "gensim")
    assert again.label("head#1") == "chief"
    np.testing.assert_array_equal(again.sv["head:chief"], model.sv["head#1"])


@pytest.mark.parametrize(
    "text", ["head#1 chief\n", "head#1\t\n", "head#1\ta\nhead#1\tb\n", "head#1\t\x01\n", b"head#1\t\xff\n"]
)
def test_damaged_files_of_names(text, write):
    vectors = write("2 2\nhead#0 1 0\nhead#1 0 1\n", "v")
    with pytest.raises(ModelFileError, match=r"line [12]"):
        load_vectors(vectors, names=write(text, "names"))


def test_two_senses_of_one_name_in_a_file(write):
    vectors = write("2 2\nhead#0 1 0\nhead#1 0 1\n", "v")
    with pytest.warns(FormatWarning, match="the second goes without: head 'a'"):
        again = load_vectors(vectors, names=write("head#0\ta\nhead#1\ta\n", "names"))
    assert again.sv.index("head:a") == 0


# -- the parts ---------------------------------------------------------------------------------------------------------


def test_the_table_of_names():
    names = SenseNames({"b": {3: "x", 1: "y"}, "empty": {}})
    assert list(names) == ["b"]
    assert list(names["b"]) == [1, 3]
    assert SenseNames.from_json(json.loads(json.dumps(names.to_json()))).keys_and_names() == {"b#1": "y", "b#3": "x"}
    assert names.with_name("b", 1, None).with_name("b", 3, None) == {}
    assert names.without({"b": {1}}).keys_and_names() == {"b#3": "x"}
    assert check_name("e\u0301") == "é"
