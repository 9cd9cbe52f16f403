"""Formats that are read and written through the libraries they belong to."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest

from muse import FormatWarning, LoadedVectors, ModelFileError, load_vectors
from muse.formats.registry import detect_format
from toy import toy_model

WORDS = ("head", "army", "the", "bank", "🎉", "naïve", "c#", "a_b", "x|y")
LOST = "does not hold the selector"


def exported(tmp_path, name, **options):
    model = toy_model(words=WORDS)
    with pytest.warns(FormatWarning, match=LOST):
        model.export(tmp_path / "v", name, **options)
    return model


def check_vectors(vectors, model):
    assert set(vectors.sv.index_to_key) == set(model.sv.index_to_key)
    for key in model.sv.index_to_key:
        np.testing.assert_array_equal(vectors.sv[key], model.sv[key])


# -- gensim ------------------------------------------------------------------------------------------------------------


def test_gensim_in_memory_and_back():
    pytest.importorskip("gensim")
    model = toy_model(words=WORDS)
    keyed = model.sv.to_gensim()
    before = keyed.vectors.copy()
    vectors = LoadedVectors.from_gensim(keyed)
    check_vectors(vectors, model)
    for word in WORDS:
        np.testing.assert_allclose(vectors.sense_prior(word), model.sense_prior(word))
    np.testing.assert_array_equal(keyed.vectors, before)  # a copy
    assert keyed.vectors.flags.writeable
    with pytest.raises(TypeError, match="expected gensim KeyedVectors, got list"):
        LoadedVectors.from_gensim([])


def test_gensims_own_files(tmp_path):
    gensim = pytest.importorskip("gensim")
    model = exported(tmp_path, "gensim")
    theirs = gensim.models.KeyedVectors.load(str(tmp_path / "v"))
    np.testing.assert_array_equal(theirs["head#1"], model.sv["head#1"])
    check_vectors(load_vectors(tmp_path / "v", "gensim"), model)
    with pytest.raises(ModelFileError, match="is a pickle, which is not opened unasked"):
        load_vectors(tmp_path / "v")


def test_vectors_of_a_gensim_model(tmp_path):
    gensim = pytest.importorskip("gensim")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = gensim.models.Word2Vec([["a", "b", "c"]] * 20, vector_size=4, min_count=1, seed=1, workers=1)
    vectors = LoadedVectors.from_gensim(theirs)
    assert vectors.n_senses("a") == 1
    np.testing.assert_array_equal(vectors.wv["b"], theirs.wv["b"])
    assert vectors.vocabulary.counts.tolist() == [20, 20, 20]


# -- sense2vec ---------------------------------------------------------------------------------------------------------


def test_sense2vec_folders(tmp_path):
    library = pytest.importorskip("sense2vec")
    model = exported(tmp_path, "sense2vec")
    assert detect_format(tmp_path / "v") == "sense2vec"
    theirs = library.Sense2Vec().from_disk(tmp_path / "v")
    np.testing.assert_array_equal(theirs["bank|1"], model.sv["bank#1"])
    assert theirs.get_freq("bank|1") == model.sense_counts("bank")[1]
    vectors = load_vectors(tmp_path / "v")
    check_vectors(vectors, model)
    assert vectors.label("bank#1") == "1"
    np.testing.assert_allclose(vectors.sense_prior("head"), model.sense_prior("head"))


def test_tags_of_sense2vec_are_labels(tmp_path):
    library = pytest.importorskip("sense2vec")
    theirs = library.Sense2Vec(shape=(3, 2), senses=["NOUN", "VERB"])
    for key, vector, frequency in (("duck|NOUN", [1, 2], 30), ("new_york|GPE", [3, 4], 5), ("duck|VERB", [5, 6], 10)):
        theirs.add(key, np.array(vector, np.float32), frequency)
    theirs.to_disk(tmp_path / "v")
    vectors = load_vectors(tmp_path / "v")
    assert sorted(vectors.vocabulary.words) == ["duck", "new_york"]
    found = {vectors.label(("duck", k)): vectors.sv["duck", k].tolist() for k in range(2)}
    assert found == {"NOUN": [1, 2], "VERB": [5, 6]}
    shares = {vectors.label(("duck", k)): float(vectors.sense_prior("duck")[k]) for k in range(2)}
    assert shares == {"NOUN": 0.75, "VERB": 0.25}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vectors.export(tmp_path / "w", "sense2vec")
    assert set(library.Sense2Vec().from_disk(tmp_path / "w").keys()) == {"duck|NOUN", "duck|VERB", "new_york|GPE"}
    with pytest.warns(FormatWarning, match="does not hold shares of senses, labels of senses"):
        vectors.export(tmp_path / "x", "word2vec")


def test_damaged_sense2vec_folders(tmp_path):
    pytest.importorskip("sense2vec")
    exported(tmp_path, "sense2vec")
    with pytest.raises(FileExistsError, match="remove it, or give another name"):
        load_vectors(tmp_path / "v").export(tmp_path / "v", "sense2vec")
    (tmp_path / "v" / "cfg").write_text("{")
    with pytest.raises(ModelFileError, match="sense2vec cannot read it"):
        load_vectors(tmp_path / "v")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        load_vectors(tmp_path / "none", "sense2vec")


# -- spaCy -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [True, False])
def test_spacy_folders(tmp_path, words):
    spacy = pytest.importorskip("spacy")
    model = exported(tmp_path, "spacy", words=words)
    assert detect_format(tmp_path / "v") == "spacy"
    nlp = spacy.load(tmp_path / "v")
    np.testing.assert_array_equal(nlp.vocab["bank#1"].vector, model.sv["bank#1"])
    assert nlp("head")[0].has_vector is words
    if words:
        np.testing.assert_allclose(nlp("the head")[1].vector, model.wv["head"], rtol=1e-6)
    vectors = load_vectors(tmp_path / "v")
    check_vectors(vectors, model)
    if words:
        np.testing.assert_allclose(vectors.wv["head"], model.wv["head"], rtol=1e-6)
    check_vectors(load_vectors(tmp_path / "v" / "vocab", "spacy"), model)


def test_damaged_spacy_folders(tmp_path):
    pytest.importorskip("spacy")
    exported(tmp_path, "spacy")
    (tmp_path / "v" / "vocab" / "vectors").write_bytes(b"x")
    with pytest.raises(ModelFileError, match="spaCy cannot read it"):
        load_vectors(tmp_path / "v")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        load_vectors(tmp_path / "none", "spacy")
    with pytest.raises(FileNotFoundError, match="make it first"):
        toy_model(words=WORDS).export(tmp_path / "none" / "v", "spacy")


@pytest.mark.parametrize("name", ["gensim", "sense2vec", "spacy"])
def test_missing_libraries_are_named(tmp_path, monkeypatch, name):
    for module in (name, "gensim.models", "spacy.vocab"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=f"needs {name}; install it with: pip install {name}"):
        toy_model(words=WORDS).export(tmp_path / "v", name)
    with pytest.raises(ImportError, match=f"pip install {name}"):
        load_vectors(tmp_path / "v", name)
