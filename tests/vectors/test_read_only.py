"""What vectors show of themselves cannot be written to."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from muse import MUSE
from toy import toy_model


@pytest.mark.parametrize("kind", ["wv", "sv"])
def test_vectors(kind):
    model = toy_model()
    vectors = getattr(model, kind)
    key = vectors.index_to_key[1]
    before = vectors[key]
    for matrix in (vectors.vectors, copy.copy(vectors).vectors):
        with pytest.raises(ValueError, match="read-only"):
            matrix[1] = 0
    one = vectors[key]
    one[:] = 0  # a copy
    assert (vectors[key] == before).all()
    model.arrays.sense_vectors[:] += 1  # the model's own


def test_keys():
    vectors = toy_model().wv
    keys = vectors.index_to_key
    changes = [lambda: keys.__setitem__(0, "XXX"), lambda: keys.append("XXX"), keys.sort, keys.clear, keys.reverse,
               keys.pop, lambda: keys.extend(["a"]), lambda: keys.insert(0, "a"), lambda: keys.remove("head"),
               lambda: keys.__delitem__(0), lambda: keys.__iadd__(["a"])]  # fmt: skip
    for change in changes:
        with pytest.raises(TypeError, match="belong to the vectors and cannot be changed"):
            change()
    assert keys == list(toy_model().vocabulary.words)
    assert keys is vectors.index_to_key
    assert pickle.loads(pickle.dumps(keys)) == keys
    assert json.loads(json.dumps(keys)) == keys
    assert isinstance(keys, list)
    assert keys[:2] == ["head", "army"]
    with pytest.raises(TypeError):
        vectors.key_to_index["head"] = 3
    with pytest.raises(TypeError):
        toy_model().sv.index_to_key[0] = "XXX"


def test_a_mapped_model_decodes_words_as_they_are_asked_for(tmp_path):
    toy_model().save(tmp_path / "model")
    keys = MUSE.load(tmp_path / "model", mmap=True).wv.index_to_key
    assert not isinstance(keys, list)
    assert keys[0] == "head"


def test_senses_of_words_that_are_not_there(caplog):
    text = [["bank", "river"]] * 40
    MUSE(text, senses={"bank": 2, "bnak": 3}, vector_size=8, workers=1)
    assert "names 1 words that are not in the vocabulary, and has no effect on them: 'bnak' (did you mean 'bank'?)" in (
        caplog.text
    )
    caplog.clear()
    MUSE(text, senses={"bank": 2}, vector_size=8, workers=1)
    assert "names" not in caplog.text
