"""Names of senses are there again after every change of the senses, in another model, and in other formats."""

from __future__ import annotations

import copy
import itertools
import json

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from muse import MUSE, FormatWarning, ModelFileError, Paper, Split, Trees, UnknownSenseError, load_vectors
from names import CORPUS, SMALL, interrupt, join_of, named, parts_of, toy
from toy import toy_arrays, toy_model


@pytest.fixture(scope="module")
def trained() -> MUSE:
    return MUSE(CORPUS.sentences, **SMALL)


@pytest.fixture
def model(trained) -> MUSE:
    return named(copy.deepcopy(trained))


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


def test_forms_share_names():
    """Those of a lemma are those of its forms, which have the same senses."""
    text = [[f"{word}s" if word == "bank" and i % 2 else word for word in s] for i, s in enumerate(CORPUS.sentences)]
    model = MUSE(text * 2, recipe=Trees(forms={"banks": "bank"}), **SMALL)
    assert model.forms("banks") == ["bank", "banks"] or model.forms("banks") == ["banks", "bank"]
    model.name_sense("bank#1", "river")
    assert model.sense_names() == {"bank#1": "river"}
    assert model.sense_names("banks") == {"banks#1": "river"}
    assert model.sense_key("banks:river") == "banks#1"
    np.testing.assert_array_equal(model.sv["banks:river"], model.sv["banks#1"])
    assert "banks#1 (river)" in str(model.describe("banks"))
    model.name_sense("banks:river", "shores")
    assert model.sense_names("banks") == {"banks#1": "shores"}
    assert model.sense_names("bank") == {"bank#1": "river"}
    model.name_sense("bank#0", "shores")
    assert model.sense_names("banks") == {"banks#1": "shores"}


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
    with pytest.warns(UserWarning, match=r"names of senses are not taken, since .*: w0#\d 'name \d'"):
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
    with pytest.warns(UserWarning, match=r"2 names of senses are not taken.*money"):
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
