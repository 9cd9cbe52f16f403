"""Files of models with sense trees: round trips, memory maps, versions, and what damaged ones do."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from muse import MUSE, ModelFileError, Split
from muse.data.forest import SPACE_TENSORS, TENSORS, TREE_TENSORS
from muse.datasets import make_ambiguous_corpus

CORPUS = make_ambiguous_corpus(1200, 200, seed=0)
SMALL = {"vector_size": 12, "epochs": 1, "workers": 1, "min_count": 2}
OF_TREES = (*SPACE_TENSORS, *TREE_TENSORS, *(name for name in TENSORS if name != "lemmas"))  # which few models have
DATA = Path(__file__).resolve().parents[1] / "data"


@pytest.fixture(scope="module")
def model() -> MUSE:
    return MUSE(CORPUS.sentences, **SMALL)


@pytest.fixture
def path(model, tmp_path) -> Path:
    model.save(tmp_path / "m")
    return tmp_path / "m"


def edit(path, change=lambda metadata: None, **tensors):
    with safe_open(path, framework="np") as file:
        metadata = dict(file.metadata())
    metadata.pop("checksums", None)
    described = json.loads(metadata["model"])
    change(described)
    metadata["model"] = json.dumps(described)
    kept = {**load_file(path), **tensors}
    save_file({name: array for name, array in kept.items() if array is not None}, path, metadata)


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("senses", [None, 2, {"bank": 1}])
def test_everything_comes_back(model, tmp_path, mmap, senses):
    model.recut(senses=senses)
    model.save(tmp_path / "m")
    again = MUSE.load(tmp_path / "m", mmap=mmap)
    for name, array in model.arrays.as_dict().items():
        np.testing.assert_array_equal(getattr(again.arrays, name), array)
    assert again.snapshot.forest.numbers() == model.snapshot.forest.numbers()
    for name, array in model.snapshot.forest.tensors().items():
        np.testing.assert_array_equal(again.snapshot.forest.tensors()[name], array)
    assert again.settings.recipe == model.settings.recipe
    for sentence in CORPUS.sentences[:20]:
        assert again.disambiguate(sentence) == model.disambiguate(sentence)
    assert str(again.sense_tree("bank")) == str(model.sense_tree("bank"))
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()
    again.recut(senses=3)
    model.recut(senses=3)
    np.testing.assert_array_equal(again.arrays.sense_vectors, model.arrays.sense_vectors)
    again.train(CORPUS.sentences[:100], epochs=1)
    assert again.n_senses("the") == 3


def test_a_mapped_file_is_not_read_into_memory(path):
    mapped = MUSE.load(path, mmap=True).snapshot.forest
    for name, array in mapped.tensors().items():
        assert not array.flags.writeable, name
        assert not array.flags.owndata, name


def test_numbers_are_float32(path):
    kinds = {name: array.dtype for name, array in load_file(path).items() if name in OF_TREES}
    assert set(kinds) == set(OF_TREES)
    floats = {name for name, dtype in kinds.items() if dtype.kind == "f"}
    assert {kinds[name] for name in floats} == {np.dtype(np.float32)}
    assert {"leaf_means", "leaf_shifts", "strengths", "order_vectors", "word_vectors"} <= floats


def test_versions(path, tmp_path):
    def version(file):
        with safe_open(file, framework="np") as opened:
            return opened.metadata()["version"]

    assert version(path) == "2"
    MUSE(CORPUS.sentences, recipe=Split(), senses=2, **SMALL).save(tmp_path / "split")
    assert version(tmp_path / "split") == "1"  # older versions read it


def test_files_of_before_have_trees_of_one_level():
    old = MUSE.load(DATA / "model-0.1.0.safetensors")
    assert old.snapshot.forest is None
    word = next(word for word in old.vocabulary if old.n_senses(word) > 1)
    tree = old.sense_tree(word)
    assert tree.root is None
    assert tree.senses == tuple(range(old.n_senses(word)))
    assert [node.share for node in tree.nodes] == pytest.approx(old.sense_prior(word).tolist())
    with pytest.raises(ValueError, match="recut needs sense trees, and this model has none"):
        old.recut(senses=2)


DAMAGE = [
    ({"leaf_means": None}, {}, "it lacks ['leaf_means']"),
    ({"nodes": None, "leaf_counts": None}, {}, "it lacks ['leaf_counts', 'nodes']"),
    ({"order_mean": None}, {}, "it must hold all of order_vectors"),
    ({"leaf_offset": lambda a: a[::-1].copy()}, {}, "leaf_offset must rise from 0"),
    ({"leaf_counts": lambda a: a * 0}, {}, "leaf_counts must be from 1 to"),
    ({"leaf_counts": lambda a: a | (2**63 - 1)}, {}, "leaf_counts must be from 1 to"),
    ({"joins": lambda a: a * 0}, {}, "joins must take each leaf and each earlier join"),
    ({"default_senses": lambda a: a * 0 + 99}, {}, "default_senses must lie between 1 and the number of leaves"),
    ({"leaf_means": lambda a: a[:, :-1].copy()}, {}, "the mean contexts of leaves must be as wide as contexts"),
    ({"leaf_shifts": lambda a: a[:, :-1].copy()}, {}, "the shifts of leaves must be as wide as word vectors"),
    ({"order_transform": lambda a: a[:-1].copy()}, {}, "the arrays of the order of contexts do not fit together"),
    ({"position_weights": lambda a: a[:-1].copy()}, {}, "the arrays of the order of contexts do not fit together"),
    ({"topic_weights": lambda a: a[:-1].copy()}, {}, "topic_weights must hold one number a word"),
    ({"word_vectors": lambda a: a[:-1].copy()}, {}, "there are vectors of"),
    ({"word_vectors": lambda a: a.astype(np.int64)}, {}, "word_vectors must be float32 with 2 dimensions"),
    ({"nodes": lambda a: a + 1}, {}, ""),
    ({"node_offset": lambda a: a[:-1].copy()}, {}, "sense_offset of the senses must be int64"),
    ({"node_offset": lambda a: a[None]}, {}, "sense_offset of the senses must be int64"),
    ({"node_offset": lambda a: a[:, None]}, {}, "sense_offset of the senses must be int64"),
    ({"nodes": lambda a: a[None]}, {}, "nodes of the senses must be int64"),
    ({"leaf_means": lambda a: a * np.float32(np.nan)}, {}, "leaf_means holds values that are not finite numbers"),
    ({"sense_offset": lambda a: a}, {"temperature": 0}, "temperature of its sense trees cannot be 0"),
    ({"sense_offset": lambda a: a}, {"temperature": "hot"}, "temperature of its sense trees cannot be 'hot'"),
    ({"sense_offset": lambda a: a}, {"topic_window": 1.5}, "topic_window of its sense trees cannot be 1.5"),
    ({"sense_offset": lambda a: a}, {"warmth": 1}, "the numbers of its sense trees are not there, or not all of them"),
]


@pytest.mark.parametrize(("tensors", "numbers", "what"), DAMAGE)
@pytest.mark.parametrize("mmap", [False, True])
def test_damaged_files_say_so(path, tensors, numbers, what, mmap):
    if mmap and "finite" in what:
        pytest.skip("a mapped file is not searched")
    kept = load_file(path)
    changed = {name: change if change is None else change(kept[name]) for name, change in tensors.items()}
    edit(path, lambda described: described["trees"].update(numbers), **changed)
    with pytest.raises(ModelFileError, match="is damaged: ") as caught:
        MUSE.load(path, mmap=mmap)
    assert what in str(caught.value)


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("what", ["part of another", "twice"])
def test_senses_that_are_no_cut_are_damage(model, tmp_path, what, mmap):
    """Each tensor is in order, and the two that hold the numbers of senses say the same."""
    model.recut(senses=2)
    model.save(tmp_path / "m")
    forest = model.snapshot.forest
    word = model.vocabulary["bank"]
    tree, rows = model.sense_tree("bank"), forest.rows_of(word)
    nodes = forest.nodes.copy()
    nodes[rows] = sorted((tree.root, tree.leaves[0])) if what == "part of another" else tree.leaves[0]
    edit(tmp_path / "m", nodes=nodes, sense_numbers=nodes)
    with pytest.raises(ModelFileError, match="is damaged: "):
        MUSE.load(tmp_path / "m", mmap=mmap)
    model.recut()


def test_a_flipped_bit_is_seen(path):
    whole = path.read_bytes()
    header = json.loads(whole[8 : 8 + int.from_bytes(whole[:8], "little")])
    start = 8 + int.from_bytes(whole[:8], "little")
    for name in OF_TREES:
        flipped = bytearray(whole)
        flipped[start + header[name]["data_offsets"][0]] ^= 1
        path.write_bytes(flipped)
        with pytest.raises(ModelFileError, match="is damaged"):
            MUSE.load(path)
