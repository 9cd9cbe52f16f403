"""An index of near neighbours: answers beside those of an exact search, options, files, and what cannot be."""

from __future__ import annotations

import numpy as np
import pytest

from muse import MUSE, ModelFileError
from muse.base import optional
from muse.datasets import make_ambiguous_corpus
from muse.files.tensor_file import write_tensors
from muse.vectors.model_vectors import WordVectors
from muse.vectors.neighbour_index import NeighbourIndex
from toy import toy_model

pytest.importorskip("usearch")


@pytest.fixture(scope="module")
def model() -> MUSE:
    return MUSE(make_ambiguous_corpus(1200, 200, seed=0).sentences, vector_size=12, epochs=1, workers=1, min_count=2)


@pytest.fixture(scope="module")
def index(model) -> NeighbourIndex:
    return model.sv.index(workers=1)


def test_it_answers_as_an_exact_search_does(model, index):
    assert (len(index), index.vector_size) == (len(model.sv), 12)
    for key in ("bank#0", "the#0", "loan#0"):
        exact = model.sv.most_similar(key, topn=10)
        found = model.sv.most_similar(key, topn=10, indexer=index)
        assert [k for k, _ in found] == [k for k, _ in exact]
        assert [c for _, c in found] == pytest.approx([c for _, c in exact], abs=1e-6)
        assert key not in dict(found)
    query = {"positive": ["bank#0", ("loan", 0)], "negative": ["the#0"]}
    assert [k for k, _ in model.sv.most_similar(**query, indexer=index)] == [
        k for k, _ in model.sv.most_similar(**query)
    ]


@pytest.mark.parametrize(
    "options",
    [{"exclude_same_word": True}, {"min_prior": 0.4}, {"restrict_vocab": 20}, {"restrict_vocab": 1}, {"min_prior": 1.0},
     {"exclude_same_word": True, "min_prior": 0.3, "restrict_vocab": 50, "topn": 3}, {"topn": 1000}, {"topn": 0}],
)  # fmt: skip
def test_options_of_a_search_hold(model, index, options):
    exact = model.sv.most_similar("bank#0", **options)
    found = model.sv.most_similar("bank#0", **options, indexer=index)
    assert [k for k, _ in found] == [k for k, _ in exact]


def test_words_have_one_too(model):
    index = model.wv.index(workers=1)
    assert model.wv.most_similar("bank", indexer=index)[0][0] == model.wv.most_similar("bank")[0][0]
    assert index.most_similar(model.wv["bank"], 2)[0][0] == "bank"
    own = WordVectors.empty(2)
    own.add_vectors(["a", "b"], [[1, 0], [1, 1]])
    assert own.most_similar("a", indexer=own.index()) == [("b", pytest.approx(0.5**0.5))]


def test_rows_of_keys_stay_what_they_are(model):
    assert model.sv.index("bank#0") == model.sv.key_to_index["bank#0"]
    assert model.wv.index("bank") == model.wv.key_to_index["bank"]
    for view in (model.sv, model.wv):
        assert None not in view
        with pytest.raises((TypeError, KeyError)):
            view.index(None)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
@pytest.mark.parametrize("mmap", [False, True])
def test_files(model, tmp_path, dtype, mmap):
    index = model.sv.index(workers=1, dtype=dtype, expansion=77)
    index.save(tmp_path / "i")
    again = NeighbourIndex.load(tmp_path / "i", mmap=mmap)
    assert repr(again) == repr(index) == f"<NeighbourIndex: {len(model.sv)} keys, dimension 12, expansion 77>"
    found = model.sv.most_similar("bank#0", indexer=again)
    assert found == model.sv.most_similar("bank#0", indexer=index)
    exact = dict(model.sv.most_similar("bank#0"))
    assert len(exact.keys() & dict(found).keys()) >= 9
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "i").read_bytes()
    again.expansion = 5
    assert again.expansion == 5


def test_it_knows_that_it_is_out_of_date(model, index):
    other = toy_model(words=("head", "army", "the", "bank", "🎉", "new york", "c#", "x", "y"))
    with pytest.raises(ValueError, match=r"the index is of \d+ vectors of 12 numbers, and these are 13 of 7.*make it"):
        other.sv.most_similar("head#0", indexer=index)


def test_vectors_of_zeros_are_near_to_nothing():
    model = toy_model(words=("head", "army", "the", "bank", "e", "f", "g", "h", "i"))
    model.arrays.sense_vectors[2] = 0
    model.set_arrays(model.arrays)
    index = model.sv.index(workers=1)
    assert "head#2" not in dict(model.sv.most_similar("head#0", topn=20, indexer=index))
    assert len(model.sv.most_similar("head#2", topn=20, indexer=index)) == 12


def test_any_index_with_gensims_method_is_asked(model):
    class Fixed:
        def most_similar(self, vector, count):
            assert vector.shape == (12,)
            return [("bank#0", 1.0), ("the#0", 0.5), ("loan#0", 0.25)][:count]

    assert model.sv.most_similar("bank#0", indexer=Fixed()) == [("the#0", 0.5), ("loan#0", 0.25)]
    assert model.sv.most_similar("bank#0", topn=1, indexer=Fixed()) == [("the#0", 0.5)]


@pytest.mark.parametrize(
    ("options", "error", "what"),
    [
        ({"connectivity": 1}, ValueError, "connectivity"),
        ({"expansion": 0}, ValueError, "expansion"),
        ({"build_expansion": "x"}, TypeError, "build_expansion"),
        ({"dtype": "float64"}, ValueError, "dtype must be one of 'float32', 'float16', 'int8'; got 'float64'"),
        ({"workers": 0}, ValueError, "workers"),
        ({"num_trees": 9}, TypeError, "'num_trees' is no option of an index; the options are connectivity, expansion"),
    ],
)
def test_wrong_options(model, options, error, what):
    with pytest.raises(error, match=what):
        model.sv.index(**options)


@pytest.mark.parametrize("vector", [np.zeros(3), np.full(12, np.nan), "bank#0"])
def test_wrong_queries(index, vector):
    with pytest.raises((ValueError, TypeError)):
        index.most_similar(vector)


def test_usearch_is_named_where_it_is_missing(model, monkeypatch, tmp_path):
    def missing(module):
        raise ImportError(module)

    monkeypatch.setattr(optional.importlib, "import_module", missing)
    for make in (model.sv.index, lambda: NeighbourIndex.load(tmp_path / "i")):
        with pytest.raises(ImportError, match=r"needs usearch; install it with: pip install 'muse-senses\[ann\]'"):
            make()


def test_damaged_files(index, model, tmp_path):
    path = tmp_path / "i"
    index.save(path)
    whole = path.read_bytes()
    with pytest.raises(FileNotFoundError):
        NeighbourIndex.load(tmp_path / "none")
    for size in (0, 7, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(ModelFileError, match="is no index, or it is damaged"):
            NeighbourIndex.load(path)
    model.save(path)
    with pytest.raises(ModelFileError, match="is no index that this version of muse wrote"):
        NeighbourIndex.load(path)
    flipped = bytearray(whole)
    flipped[-20] ^= 1
    path.write_bytes(flipped)
    with pytest.raises(ModelFileError, match="do not have the checksum"):
        NeighbourIndex.load(path)


PARTS = {"graph": np.zeros(3000, np.uint8), "keys": np.zeros(2, np.uint8), "keys_offset": np.array([0, 1, 2])}


@pytest.mark.parametrize(
    ("change", "described"),
    [
        ({}, "{}"),
        ({}, '{"expansion": 9, "build_expansion": 9}'),
        ({}, "[]"),
        ({}, "no JSON"),
        ({"graph": np.zeros(0, np.uint8)}, '{"expansion": 9, "build_expansion": 9}'),
        ({"keys_offset": np.zeros(0, np.int64)}, '{"expansion": 9, "build_expansion": 9}'),
        ({"keys_offset": np.array([0, 9])}, '{"expansion": 9, "build_expansion": 9}'),
        ({"keys_offset": np.zeros((2, 2), np.int64)}, '{"expansion": 9, "build_expansion": 9}'),
        ({"more": np.zeros(2, np.uint8)}, '{"expansion": 9, "build_expansion": 9}'),
    ],
)
@pytest.mark.parametrize("mmap", [False, True])
def test_files_that_are_none(tmp_path, change, described, mmap):
    metadata = {"format": "muse-index", "version": "1", "index": described}
    write_tensors(tmp_path / "i", {**PARTS, **change}, metadata, checked=["index"])
    with pytest.raises(ModelFileError, match="is no index, or it is damaged"):
        NeighbourIndex.load(tmp_path / "i", mmap=mmap)


def test_an_index_of_fewer_keys_is_damaged(index, tmp_path):
    graph = np.frombuffer(index._graph.save(), np.uint8)
    metadata = {"format": "muse-index", "version": "1", "index": '{"expansion": 9, "build_expansion": 9}'}
    write_tensors(tmp_path / "i", {**PARTS, "graph": graph}, metadata, checked=["index"])
    with pytest.raises(ModelFileError, match="its graph is of another number of keys"):
        NeighbourIndex.load(tmp_path / "i")
