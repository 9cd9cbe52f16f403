"""Files of half the size: float16 and int8, mapped or not, with sense trees and without, and what damaged ones do."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from muse import MUSE, ModelFileError, Split
from muse.data.forest import Forest
from muse.data.reduced import KINDS, Reduced, held_by, reduced_rows
from muse.datasets import make_ambiguous_corpus
from muse.files import model_file
from muse.files.reduced_tensors import OF_TREES, REDUCIBLE
from toy import toy_model

CORPUS = make_ambiguous_corpus(1200, 200, seed=0)
SMALL = {"vector_size": 12, "epochs": 1, "workers": 1, "min_count": 2}
ERROR = {"float16": 1 / 1024, "int8": 1 / 200}  # of a number, as a share of the largest of its row


@pytest.fixture(scope="module")
def model() -> MUSE:
    return MUSE(CORPUS.sentences, **SMALL)


@pytest.fixture(params=KINDS)
def kind(request) -> str:
    return request.param


@pytest.fixture
def path(model, kind, tmp_path) -> Path:
    model.save(tmp_path / "m", dtype=kind)
    return tmp_path / "m"


def senses(model, sentence):
    return [(found.token, found.sense) for found in model.disambiguate(sentence)]


def is_near(found, wanted, kind):
    assert found.dtype == np.float32
    assert (np.abs(found - wanted) <= ERROR[kind] * np.abs(wanted).max(axis=1, keepdims=True) + 1e-7).all()


@pytest.mark.parametrize("mmap", [False, True])
def test_a_model_comes_back_nearly_as_it_was(model, path, kind, mmap):
    again = MUSE.load(path, mmap=mmap)
    for name, array in model.arrays.as_dict().items():
        if name not in OF_TREES and name in REDUCIBLE:
            is_near(getattr(again.arrays, name), array, kind)
        elif name not in REDUCIBLE:
            np.testing.assert_array_equal(getattr(again.arrays, name), array)
    trees = again.snapshot.forest.tensors()
    for name, array in model.snapshot.forest.tensors().items():
        if name in REDUCIBLE:
            is_near(trees[name], array, kind)
        else:
            np.testing.assert_array_equal(trees[name], array)
    np.testing.assert_allclose(again.arrays.sense_vectors, model.arrays.sense_vectors, atol=0.05)
    pairs = [pair for s in CORPUS.sentences[:50] for pair in zip(senses(again, s), senses(model, s), strict=True)]
    assert sum(one == other for one, other in pairs) > 0.98 * len(pairs)
    assert again.sv.most_similar("bank#0", topn=None) == pytest.approx(
        model.sv.most_similar("bank#0", topn=None), abs=0.02
    )


@pytest.mark.parametrize("mmap", [False, True])
def test_saved_again_it_is_the_same_file(path, kind, tmp_path, mmap):
    again = MUSE.load(path, mmap=mmap)
    again.save(tmp_path / "again", dtype=np.dtype(kind))
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    again.save(tmp_path / "whole")
    whole = MUSE.load(tmp_path / "whole")
    np.testing.assert_array_equal(whole.arrays.sense_vectors, again.arrays.sense_vectors)
    whole.save(tmp_path / "again", dtype=kind)
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("mmap", [False, True])
def test_it_can_be_cut_anew_and_trained(path, model, mmap):
    again, whole = MUSE.load(path, mmap=mmap), copy.deepcopy(model)
    again.recut(senses=3)
    whole.recut(senses=3)
    np.testing.assert_array_equal(again.arrays.sense_offset, whole.arrays.sense_offset)
    np.testing.assert_allclose(again.arrays.selection_vectors, whole.arrays.selection_vectors, atol=0.03)
    again.build_vocab([["newly", "met", "bank"]] * 4, update=True)
    again.train(CORPUS.sentences[:100], epochs=1)
    assert again.n_senses("bank") == whole.n_senses("bank") > 1
    assert "newly" in again


def test_a_mapped_file_is_made_float32_part_by_part(path):
    again = MUSE.load(path, mmap=True)
    arrays, forest = again.arrays, again.snapshot.forest
    assert set(held_by(arrays)) == {"context_vectors", "collocation_vectors", *OF_TREES}
    assert {*held_by(forest), *held_by(forest.trees)} == {"word_vectors", "leaf_means", "leaf_shifts"}
    assert set(held_by(forest.space)) == {"topic_vectors", "order_vectors"}

    def made():
        names = {name for part in (arrays, forest, forest.trees, forest.space) for name in part.__dict__}
        return (names & {*REDUCIBLE}) - {"forward_values", "backward_values"}

    assert made() == set()
    assert repr(again)
    assert again.n_senses("bank") == len(again.sense_prior("bank"))
    assert made() == set()
    again.wv.most_similar("bank")
    assert made() == {"sense_vectors"}
    again.disambiguate(CORPUS.sentences[0])
    assert again.sense_tree("bank").nodes
    assert "collocation_vectors" not in made()
    again.recut(senses=2)
    assert not made() & {"word_vectors", "leaf_means", "leaf_shifts"}
    assert forest.space.topic_vectors is arrays.context_vectors
    assert not arrays.sense_vectors.flags.writeable


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_of_a_mapped_file(path, copied):
    again = MUSE.load(path, mmap=True)
    other = copied(again)
    np.testing.assert_array_equal(other.arrays.sense_vectors, again.arrays.sense_vectors)
    assert other.disambiguate(CORPUS.sentences[0]) == again.disambiguate(CORPUS.sentences[0])


@pytest.mark.parametrize("mmap", [False, True])
def test_without_trees_all_matrices_are_there(tmp_path, kind, mmap):
    model = MUSE(CORPUS.sentences, recipe=Split(), senses=2, **SMALL)
    model.save(tmp_path / "m", dtype=kind)
    again = MUSE.load(tmp_path / "m", mmap=mmap)
    for name, array in model.arrays.as_dict().items():
        if name in REDUCIBLE:
            is_near(getattr(again.arrays, name), array, kind)
    again.train(CORPUS.sentences[:50], epochs=1)


def test_vectors_that_were_changed_by_hand_are_kept(model, tmp_path, kind):
    changed = copy.deepcopy(model)
    changed.arrays.sense_vectors[:] = 1.0
    changed.set_arrays(changed.arrays)
    changed.save(tmp_path / "m", dtype=kind)
    np.testing.assert_allclose(MUSE.load(tmp_path / "m", mmap=True).arrays.sense_vectors, 1.0, rtol=1e-3)


def test_sizes(model, tmp_path):
    sizes = {}
    for dtype in model_file.DTYPES:
        model.save(tmp_path / dtype, dtype=dtype)
        sizes[dtype] = sum(array.nbytes for array in load_file(tmp_path / dtype).values())
    assert sizes["int8"] < 0.35 * sizes["float32"]
    assert sizes["float16"] < 0.5 * sizes["float32"]


def test_large_counts_keep_eight_bytes(tmp_path, kind):
    model = toy_model()
    model.arrays.word_counts[0] = 2**40
    model.save(tmp_path / "m", dtype=kind)
    again = MUSE.load(tmp_path / "m", mmap=True).arrays
    assert again.word_counts[0] == 2**40
    assert {again.word_counts.dtype, again.sense_counts.dtype} == {np.dtype(np.int64)}
    assert load_file(tmp_path / "m")["sense_counts"].dtype == np.int32


def test_words_that_share_senses_still_do(model, tmp_path, kind):
    shared = copy.deepcopy(model)
    forest = dataclasses.replace(shared.snapshot.forest, lemmas=np.arange(len(model)))
    shared.publish(shared.snapshot.replace(forest=forest))
    shared.save(tmp_path / "m", dtype=kind)
    again = MUSE.load(tmp_path / "m", mmap=True)
    again.recut(senses=2)
    np.testing.assert_array_equal(again.snapshot.forest.lemmas, np.arange(len(model)))
    assert again.snapshot.forest.lemmas.dtype == np.int64


def test_older_readers_say_what_to_do(path, monkeypatch):
    monkeypatch.setattr(model_file, "VERSION", 2)
    with pytest.raises(ModelFileError, match=r"has version 3 of the model format, and this muse reads up to 2; update"):
        MUSE.load(path)


@pytest.mark.parametrize("dtype", ["float64", "int4", "", None, 8, "bfloat16", np.float64, [], "int8 "])
def test_other_types_are_refused(model, tmp_path, dtype):
    with pytest.raises(ValueError, match="dtype must be one of 'float32', 'float16', 'int8'; got"):
        model.save(tmp_path / "m", dtype=dtype)
    assert not list(tmp_path.iterdir())


def test_numbers_that_do_not_fit_are_refused(tmp_path):
    model = toy_model()
    model.arrays.sense_vectors[0, 0] = 1e6
    with pytest.raises(ValueError, match=r"sense_vectors holds numbers beyond 65504.*dtype='int8'"):
        model.save(tmp_path / "m", dtype="float16")
    model.save(tmp_path / "m", dtype="int8")
    assert MUSE.load(tmp_path / "m").arrays.sense_vectors[0, 0] == pytest.approx(1e6, rel=1e-3)
    model.arrays.sense_vectors[0, 0] = np.nan
    for kind in KINDS:
        with pytest.raises(ValueError, match="sense_vectors holds values that are not finite"):
            model.save(tmp_path / "other", dtype=kind)


def test_resuming_needs_the_numbers_of_then(tmp_path, kind):
    class Stop:
        def on_epoch_end(self, model):
            model.stop_training = True

    model = MUSE(CORPUS.sentences, callbacks=[Stop()], **{**SMALL, "epochs": 3})
    model.save(tmp_path / "m", dtype=kind)
    again = MUSE.load(tmp_path / "m")
    with pytest.raises(ValueError, match=f"saved with dtype='{kind}'.*load a checkpoint or a file of float32"):
        again.train(CORPUS.sentences, resume=True)
    again.train(CORPUS.sentences, epochs=1)
    assert "reduced" not in again.training_state
    assert "reduced" not in model.training_state


@pytest.mark.parametrize("rows", [0, 1, 5000])
def test_reducing_twice_is_reducing_once(kind, rows):
    rng = np.random.default_rng(0)
    matrix = (rng.normal(size=(rows, 7)) * np.exp(rng.normal(size=(rows, 1)))).astype(np.float32)
    matrix[::5] = 0
    codes, scales = reduced_rows(matrix, kind)
    once = Reduced(codes, scales).whole()
    again, scales_again = reduced_rows(once, kind)
    np.testing.assert_array_equal(again, codes)
    assert scales is None or np.array_equal(scales, scales_again)
    if rows:
        is_near(once, matrix, kind)


@pytest.mark.parametrize("row", [[1e-45, -1e-45], [3e38, -3e38], [1e-38, 3e38], [0.0, -0.0]])
def test_extreme_rows(row):
    matrix = np.array([row], np.float32)
    whole = Reduced(*reduced_rows(matrix, "int8"))
    assert whole.is_finite()
    np.testing.assert_allclose(whole.whole(), matrix, rtol=0.01, atol=max(map(abs, row)) / 200 + 1e-44)


# -- damaged files -----------------------------------------------------------------------------------------------------


def edit(path, change=lambda metadata: None, **tensors):
    with safe_open(path, framework="np") as file:
        metadata = dict(file.metadata())
    metadata.pop("checksums", None)
    change(metadata)
    kept = {**load_file(path), **tensors}
    save_file({name: array for name, array in kept.items() if array is not None}, path, metadata)


DAMAGE = [
    ({"word_vectors_scale": None}, "word_vectors must have scales where it is int8"),
    ({"word_vectors_scale": lambda a: a[:-1].copy()}, "word_vectors must have as many scales of float32"),
    ({"word_vectors_scale": lambda a: a.astype(np.float16)}, "word_vectors must have as many scales of float32"),
    ({"word_vectors_scale": lambda a: a[None]}, "word_vectors must have as many scales of float32"),
    ({"leaf_means": lambda a: a[0]}, "leaf_means must be float16 or int8 with 2 dimensions"),
    ({"leaf_means": lambda a: a.astype(np.float16)}, "leaf_means must have scales where it is int8, and else none"),
    ({"leaf_means": lambda a: a.astype(np.float32)}, "it holds unknown tensors ['leaf_means_scale']"),
    ({"leaf_means": lambda a: a.astype(np.uint8)}, "leaf_means"),
    ({"leaf_means": lambda a: a[:, :-1].copy()}, "the mean contexts of leaves must be as wide as contexts"),
    ({"leaf_means": None, "leaf_means_scale": None}, "it lacks ["),
    ({"context_vectors": lambda a: a[:-1].copy(), "context_vectors_scale": lambda a: a[:-1].copy()}, "must have shape"),
    ({"sense_counts": lambda a: a[:-1].copy()}, "sense_offset must rise from 0 to the number of senses"),
    ({"sense_counts": lambda a: a[None]}, "it lacks ["),
    ({"joins": lambda a: a.astype(np.int8)}, "joins must be a numpy array of int32"),
    ({"vocabulary": lambda a: a.view(np.int8)}, "its vocabulary does not have the right type"),
]


@pytest.mark.parametrize(("tensors", "what"), DAMAGE)
@pytest.mark.parametrize("mmap", [False, True])
def test_damaged_files_say_so(model, tmp_path, tensors, what, mmap):
    path = tmp_path / "m"
    model.save(path, dtype="int8")
    kept = load_file(path)
    edit(path, **{name: change if change is None else change(kept[name]) for name, change in tensors.items()})
    with pytest.raises(ModelFileError, match="is damaged: ") as caught:
        MUSE.load(path, mmap=mmap)
    assert what in str(caught.value)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, np.float32(3e38)])
def test_scales_that_are_no_numbers_are_found(model, tmp_path, value):
    path = tmp_path / "m"
    model.save(path, dtype="int8")
    edit(path, word_vectors_scale=np.full(len(model), value, np.float32))
    with pytest.raises(ModelFileError, match="word_vectors holds values that are not finite numbers"):
        MUSE.load(path)
    MUSE.load(path, mmap=True)  # is not searched


def test_a_file_that_says_it_is_older_may_not_have_them(path):
    edit(path, lambda metadata: metadata.update(version="2"))
    with pytest.raises(ModelFileError, match="is damaged"):
        MUSE.load(path)


@pytest.mark.parametrize("state", ["int4", 8, None])
def test_an_impossible_state_is_damage(path, state):
    def change(metadata):
        described = json.loads(metadata["model"])
        described["training_state"]["reduced"] = state
        metadata["model"] = json.dumps(described)

    edit(path, change)
    with pytest.raises(ModelFileError, match="impossible value of 'reduced'"):
        MUSE.load(path)


def test_a_flipped_bit_is_seen(path):
    whole = path.read_bytes()
    start = 8 + int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8:start])
    for name in set(header) - {"__metadata__"}:
        flipped = bytearray(whole)
        flipped[start + header[name]["data_offsets"][0]] ^= 1
        path.write_bytes(flipped)
        with pytest.raises(ModelFileError, match="is damaged"):
            MUSE.load(path)


def test_the_senses_of_a_mapped_file_are_made_once(path, monkeypatch):
    calls = []
    matrices = Forest.matrices
    monkeypatch.setattr(Forest, "matrices", lambda self: calls.append(1) or matrices(self))
    again = MUSE.load(path, mmap=True)
    assert not calls
    assert again.arrays.selection_vectors.shape[0] == again.arrays.sense_vectors.shape[0]
    assert len(calls) == 1
