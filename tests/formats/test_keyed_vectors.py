"""Word vectors of one's own, as gensim's class of that name has them: `muse.KeyedVectors`."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

import muse
from muse import KeyedVectors
from muse.files.tensor_file import write_tensors
from muse.vectors import own_words
from toy import toy_model


def some_vectors() -> KeyedVectors:
    vectors = KeyedVectors(2)
    vectors.add_vectors(
        ["a", "b", "c"], [[3, 4], [0, 2], [1, 0]], extras={"count": [5, 9, 7], "pos": ["noun", "verb", "noun"]}
    )
    return vectors


def test_they_are_made_empty_and_grow():
    vectors = KeyedVectors(vector_size=3, count=10)
    assert (len(vectors), vectors.vector_size, vectors.next_index) == (0, 3, 0)
    vectors["new"] = [1, 2, 3]
    assert vectors.next_index == 1
    for size, error in ((0, ValueError), ("3", TypeError), (None, TypeError), (2.5, TypeError)):
        with pytest.raises(error, match="vector_size"):
            KeyedVectors(size)


def test_attributes_of_words(tmp_path):
    vectors = some_vectors()
    vectors.set_vecattr("a", "count", 11)
    vectors.set_vecattr("b", "weight", 0.5)
    vectors.set_vecattr("c", "pos", "a longer string than those before")
    vectors.add_vector("d", [1, 1])
    assert [vectors.get_vecattr(word, "count") for word in vectors] == [11, 9, 7, 0]
    assert [vectors.get_vecattr(word, "weight") for word in vectors] == [0, 0.5, 0, 0]
    assert [vectors.get_vecattr(word, "pos") for word in vectors][1:] == [
        "verb",
        "a longer string than those before",
        "",
    ]
    assert set(vectors.expandos) == {"count", "weight", "pos"}
    with pytest.raises(ValueError, match="read-only"):
        vectors.expandos["weight"][0] = 1
    vectors.save(tmp_path / "words")
    for again in (KeyedVectors.load(tmp_path / "words"), pickle.loads(pickle.dumps(vectors)),
                  vectors.vectors_for_all(["a", "b", "c", "d"], copy_vecattrs=True)):  # fmt: skip
        assert isinstance(again, KeyedVectors)
        assert {name: column.tolist() for name, column in again.expandos.items()} == {
            name: column.tolist() for name, column in vectors.expandos.items()
        }
    assert set(vectors.vectors_for_all(["a"]).expandos) == {"count"}
    vectors.set_vecattr("a", "pos", 7)  # of another kind than the others
    assert (vectors.get_vecattr("a", "pos"), vectors.get_vecattr("b", "pos")) == (7, "verb")
    vectors.set_vecattr("a", "senses", ["one", "two"])
    assert vectors.get_vecattr("a", "senses") == ["one", "two"]
    vectors.save(tmp_path / "words")
    assert KeyedVectors.load(tmp_path / "words").get_vecattr("a", "senses") == ["one", "two"]
    for word in vectors:
        vectors.set_vecattr(word, "senses", ["one", "two"])
    vectors.save(tmp_path / "words")
    assert KeyedVectors.load(tmp_path / "words").expandos["senses"].tolist() == [["one", "two"]] * 4
    vectors.set_vecattr("a", "thing", object())
    with pytest.raises(TypeError, match="must be numbers or strings"):
        vectors.save(tmp_path / "words")


def test_attributes_that_cannot_be(tmp_path):
    vectors = some_vectors()
    with pytest.raises(muse.UnknownWordError):
        vectors.set_vecattr("zzz", "pos", "noun")
    with pytest.raises(TypeError, match="is a string"):
        vectors.set_vecattr("a", 3, "noun")
    with pytest.raises((TypeError, ValueError), match="count must be"):
        vectors.set_vecattr("a", "count", -1)
    with pytest.raises(ValueError, match="one value for each of 1 keys"):
        vectors.add_vectors("d", [[1, 1]], extras={"pos": ["noun", "verb"]})
    for counts in (["x"], [1.5], [-1], [np.nan]):
        with pytest.raises(ValueError, match="counts must be whole numbers"):
            vectors.add_vectors("d", [[1, 1]], extras={"count": counts})
    assert list(vectors) == ["a", "b", "c"]
    for name in ("unheard-of", ["pos"]):
        with pytest.raises(ValueError, match="no attribute "):
            vectors.get_vecattr("a", name)
    with pytest.raises(TypeError, match=r"copy\(model.wv\) are your own"):
        toy_model().wv.set_vecattr("head", "pos", "noun")


def test_lengths_and_order():
    vectors = some_vectors()
    assert vectors.norms.tolist() == [5, 2, 1]
    vectors.fill_norms(force=True)
    vectors.sort_by_descending_frequency()
    assert vectors.index_to_key == ["b", "c", "a"]
    assert vectors.key_to_index["a"] == 2
    assert (vectors["a"].tolist(), vectors.get_vecattr("a", "count"), vectors.get_vecattr("a", "pos")) == (
        [3, 4], 5, "noun",
    )  # fmt: skip
    vectors.init_sims()
    assert vectors["a"].tolist() == [3, 4]
    vectors.init_sims(replace=True)
    assert vectors["a"] == pytest.approx([0.6, 0.8])
    assert vectors.get_vecattr("a", "pos") == "noun"
    assert (vectors.word_vec("b") == vectors.get_vector("b")).all()
    of_a_model = toy_model().wv
    before = of_a_model.vectors.copy()
    for change in (of_a_model.unit_normalize_all, of_a_model.sort_by_descending_frequency):
        with pytest.raises(TypeError, match="senses would not follow"):
            change()
    assert (of_a_model.vectors == before).all()


def test_cosines_of_given_vectors(caplog):
    rows = np.array([[2, 0], [0, 0], [-1, 1e-30]])
    assert KeyedVectors.cosine_similarities([1, 0], rows).tolist() == [1, 0, -1]
    with pytest.raises(ValueError, match="takes a vector"):
        KeyedVectors.cosine_similarities([[1, 0]], rows)
    with caplog.at_level("INFO"):
        assert KeyedVectors.log_accuracy({"section": "capitals", "correct": [1, 2, 3], "incorrect": [4]}) == 0.75
        assert KeyedVectors.log_accuracy({"section": "none", "correct": [], "incorrect": []}) == 0
        KeyedVectors.log_evaluate_word_pairs((0.5, 0.1), (0.25, 0.1), 12.5, "pairs.tsv")
    assert "capitals: 75.0% (3 of 4)" in caplog.text
    assert "Spearman 0.2500; 12.5%" in caplog.text


@pytest.mark.parametrize("binary", [False, True])
def test_files_of_word2vec(tmp_path, binary):
    vectors = some_vectors()
    vectors["bank#1"] = [8, 9]  # a key like that of a sense is a word here
    vectors.save_word2vec_format(tmp_path / "v", tmp_path / "counts", binary=binary)
    again = KeyedVectors.load_word2vec_format(tmp_path / "v", tmp_path / "counts", binary=binary)
    assert again.index_to_key == ["a", "b", "c", "bank#1"]
    assert (again.vectors == vectors.vectors).all()
    assert [again.get_vecattr(word, "count") for word in again] == [5, 9, 7, 0]
    assert list(KeyedVectors.load_word2vec_format(str(tmp_path / "v"), binary=binary, limit=2)) == ["a", "b"]
    vectors["a"] = [1 / 3, 1]
    vectors.save_word2vec_format(tmp_path / "v", binary=binary)
    half = KeyedVectors.load_word2vec_format(tmp_path / "v", binary=binary, datatype=np.float16)
    assert half["a"][0] == np.float16(1 / 3)
    for kind in (np.int32, str):
        with pytest.raises(TypeError, match="datatype"):
            KeyedVectors.load_word2vec_format(tmp_path / "v", binary=binary, datatype=kind)


def test_files_that_are_odd(tmp_path):
    (tmp_path / "glove").write_text("a 1 2\nb 3 4\na 5 6\n")
    with pytest.warns(muse.FormatWarning, match="1 rows of .* words that it has already"):
        vectors = KeyedVectors.load_word2vec_format(tmp_path / "glove", no_header=True)
    assert (list(vectors), vectors["a"].tolist()) == (["a", "b"], [1, 2])
    with pytest.raises(muse.ModelFileError, match="header"):
        KeyedVectors.load_word2vec_format(tmp_path / "glove")
    with pytest.raises(FileNotFoundError):
        KeyedVectors.load_word2vec_format(tmp_path / "absent")
    (tmp_path / "nan").write_text("1 2\na nan 1\n")
    with pytest.raises(ValueError, match="finite"):
        KeyedVectors.load_word2vec_format(tmp_path / "nan")
    (tmp_path / "empty").write_text("0 2\n")
    assert len(KeyedVectors.load_word2vec_format(tmp_path / "empty")) == 0
    with pytest.raises((TypeError, ValueError), match="limit"):
        KeyedVectors.load_word2vec_format(tmp_path / "glove", limit=-1, no_header=True)


def test_vectors_of_another_file_replace_those_of_known_words(tmp_path):
    others = KeyedVectors(2)
    others.add_vectors(["b", "zzz"], [[7, 7], [1, 1]])
    others.save_word2vec_format(tmp_path / "v", binary=True)
    vectors = some_vectors()
    vectors.intersect_word2vec_format(tmp_path / "v", lockf=1.0, binary=True)
    assert vectors.vectors.tolist() == [[3, 4], [7, 7], [1, 0]]
    with pytest.raises(ValueError, match="have 2 numbers, and these 3"):
        KeyedVectors(3).intersect_word2vec_format(tmp_path / "v", binary=True)


def test_word_movers_distance():
    pytest.importorskip("scipy")
    rng = np.random.default_rng(0)
    vectors = KeyedVectors(4)
    vectors.add_vectors(list("abcdef"), rng.normal(size=(6, 4)))
    units = vectors.get_normed_vectors()
    costs = np.linalg.norm(units[:3, None] - units[None, 3:], axis=2)
    least = min(sum(costs[i, j] for i, j in enumerate(order)) / 3 for order in itertools.permutations(range(3)))
    assert vectors.wmdistance(list("abc"), ["d", "e", "f", "unheard-of"]) == pytest.approx(least, abs=1e-6)
    assert vectors.wmdistance("a b".split(), "b a b a".split()) == pytest.approx(0, abs=1e-6)
    assert vectors.wmdistance(["a"], ["a", "b"]) == pytest.approx(
        np.linalg.norm(units[0] - units[1]) / 2, abs=1e-6
    )  # half of it moves
    assert vectors.wmdistance(["a"], ["b"], norm=False) == pytest.approx(
        np.linalg.norm(vectors["a"] - vectors["b"]), abs=1e-5
    )
    assert vectors.wmdistance([], ["a"]) == vectors.wmdistance(["unheard-of"], ["a"]) == float("inf")
    for text in ("abc", None, 5):
        with pytest.raises(TypeError, match="wmdistance takes a list"):
            vectors.wmdistance(text, ["a"])


def test_a_damaged_file_of_attributes_is_said(tmp_path):
    vectors = some_vectors()
    vectors.save(tmp_path / "words")
    content = (tmp_path / "words").read_bytes()
    (tmp_path / "words").write_bytes(content.replace(b"verb", b"vexb"))
    with pytest.raises(muse.ModelFileError):
        KeyedVectors.load(tmp_path / "words")


@pytest.mark.parametrize("attributes", ["[1]", '{"pos": ["noun"]}', '{"pos": 3}'])
def test_a_file_whose_attributes_do_not_fit_is_refused(tmp_path, monkeypatch, attributes):
    write = own_words.write_tensors

    def written(path, tensors, metadata, **options):
        write(path, tensors, {**metadata, "attributes": attributes}, **options)

    with monkeypatch.context() as patch:
        patch.setattr(own_words, "write_tensors", written)
        some_vectors().save(tmp_path / "words")
    with pytest.raises(muse.ModelFileError, match="attributes of words"):
        KeyedVectors.load(tmp_path / "words")


@pytest.mark.parametrize(
    "wrong",
    [{"words": "{}"}, {"words": "5"}, {"words": '["a"]'}, {"words": '["a","a"]'}, {"words": '["a",3]'}, {"words": "x"},
     {"words": '["a","\\ud800"]'}, {"vectors": np.ones(2, np.float32)}, {"vectors": np.ones((2, 3), np.int64)},
     {"vectors": np.ones((2, 0), np.float32)}, {"counts": np.array([1])}, {"counts": np.array([-1, 2])},
     {"counts": np.array([1.5, 2], np.float32)}, {"counts": np.array([[1], [2]])}, {"attributes": "x"}],
)  # fmt: skip
def test_files_whose_parts_do_not_fit_are_refused(tmp_path, wrong):
    parts = {"words": '["a","b"]', "attributes": "{}", "vectors": np.ones((2, 3), np.float32),
             "counts": np.array([2, 1])} | wrong  # fmt: skip
    tensors = {name: parts.pop(name) for name in ("vectors", "counts")}
    write_tensors(tmp_path / "words", tensors, {"format": "muse-words", "version": "1", **parts}, checked=["words"])
    with pytest.raises(muse.ModelFileError, match="is damaged, or is no file"):
        KeyedVectors.load(tmp_path / "words")
