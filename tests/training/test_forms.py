"""Inflected forms that share the senses of their lemmas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse import MUSE, Trees
from muse.datasets import make_ambiguous_corpus
from muse.training.forms import of_each_form, pooled_uses, shared_senses


@pytest.fixture(scope="module")
def sentences() -> list[list[str]]:
    """Every third "bank" and the like is a plural, and a few are past tenses."""
    corpus = make_ambiguous_corpus(2500, 300, seed=0)
    endings = {0: "s", 1: "", 2: ""}

    def form(word: str, number: int) -> str:
        if word not in corpus.ambiguous_words:
            return word
        return word + ("ed" if number % 20 == 0 else endings[number % 3])

    return [[form(word, number) for word in sentence] for number, sentence in enumerate(corpus.sentences)]


def train(sentences: list[list[str]], forms: Any, **settings: Any) -> MUSE:
    return MUSE(sentences, vector_size=16, epochs=3, workers=1, min_count=1, recipe=Trees(forms=forms), **settings)


@pytest.fixture(scope="module")
def model(sentences: list[list[str]]) -> MUSE:
    return train(sentences, {"banks": "bank", "banked": "bank", "bats": "bat"})


def test_forms_share_numbers_trees_and_centroids(model: MUSE) -> None:
    forest = model.snapshot.forest
    assert forest is not None
    one, other = (model.vocabulary[word] for word in ("bank", "banked"))
    assert model.forms("banks") == ["bank", "banks", "banked"]
    assert model.n_senses("bank") > 1
    assert model.sense_numbers("banked").tolist() == model.sense_numbers("bank").tolist()
    assert np.array_equal(forest.trees.node_centroids(one), forest.trees.node_centroids(other))
    probabilities = [model.sense_probabilities(word, "money loan account") for word in ("bank", "banks", "banked")]
    assert np.allclose(probabilities[0], probabilities[1])
    assert np.allclose(probabilities[0], probabilities[2])


def test_vectors_are_each_forms_own(model: MUSE) -> None:
    shifts = [model.sense_vectors(word) - model.wv[word] for word in ("bank", "banks")]
    assert np.allclose(shifts[0] - shifts[0][0], shifts[1] - shifts[1][0], atol=1e-5)
    assert not np.allclose(model.wv["bank"], model.wv["banks"])


def test_other_words_are_alone(model: MUSE) -> None:
    assert model.forms("crane") == ["crane"]
    assert model.forms("cranes") == ["cranes"]


def test_a_cut_is_for_all_forms(sentences: list[list[str]], model: MUSE, tmp_path: Path) -> None:
    model.save(tmp_path / "model.safetensors")
    again = MUSE.load(tmp_path / "model.safetensors")
    assert again.forms("bats") == ["bat", "bats"]
    again.recut(senses={"banks": 2})
    assert again.sense_numbers("bank").tolist() == again.sense_numbers("banked").tolist()
    assert again.n_senses("banked") == 2
    again.build_vocab([["zebras"] * 9], update=True)
    assert again.forms("zebras") == ["zebras"]
    assert again.forms("banks") == ["bank", "banks", "banked"]
    given = train(sentences, {"banks": "bank"}, senses={"bank": 2})
    assert [given.n_senses(word) for word in ("bank", "banks", "banked")] == [2, 2, 1]


def test_a_function_is_asked_of_all_words(sentences: list[list[str]], tmp_path: Path) -> None:
    model = train(sentences, lambda word: "bank" if word in ("banks", "banked") else None)
    assert model.forms("bank") == ["bank", "banks", "banked"]
    model.save(tmp_path / "model.safetensors")
    assert MUSE.load(tmp_path / "model.safetensors").settings.forms == {"banks": "bank", "banked": "bank"}


def test_rules_need_vectors_that_agree() -> None:
    words, near, far = (
        ["bank", "banks", "new", "news"],
        np.eye(4, dtype=np.float32)[[0, 0, 1, 2]],
        np.eye(4, dtype=np.float32),
    )
    lemmas = shared_senses(words, near, "en")
    assert lemmas is not None
    assert lemmas.tolist() == [0, 0, 2, 3]
    assert shared_senses(words, far, "en") is None
    assert shared_senses(words, far, {"news": "new"}) is not None


def test_forms_of_forms_and_circles() -> None:
    words, vectors = ["a", "b", "c", "d"], np.ones((4, 2), np.float32)
    chain = shared_senses(words, vectors, {"c": "b", "b": "a"})
    assert chain is not None
    assert chain.tolist() == [0, 0, 0, 3]
    for circle in ({"a": "b", "b": "a"}, {"a": "b", "b": "c", "c": "a"}):
        found = shared_senses(words, vectors, circle)
        assert found is not None
        assert (found[found] == found).all()
        assert len(set(found[: len(circle)].tolist())) == 1


def test_uses_are_pooled_by_counts() -> None:
    offsets, counts = np.array([0, 100, 200, 210]), np.array([300, 100, 10])
    places = np.concatenate([np.arange(0, 300, 3), np.arange(1, 300, 3), np.arange(1000, 1010)])
    pooled, chosen = pooled_uses(offsets, places, counts, np.array([0, 0, 2]), 100)
    assert np.diff(pooled).tolist() == [100, 0, 10]
    assert (np.diff(chosen[:100]) > 0).all()
    assert (chosen[:100] % 3 == 0).sum() == 75
    assert chosen[100:].tolist() == places[200:].tolist()


def test_trees_are_given_to_each_form() -> None:
    found = {
        "leaf_offset": np.array([0, 2, 2, 5]), "means": np.arange(5.0)[:, None], "topics": np.arange(5.0)[:, None],
        "counts": np.arange(5), "joins": np.array([[0, 1], [0, 1], [2, 3]]), "strengths": np.arange(3.0),
    }  # fmt: skip
    spread = of_each_form(found, np.array([0, 2, 2]))
    assert spread["leaf_offset"].tolist() == [0, 2, 5, 8]
    assert spread["counts"].tolist() == [0, 1, 2, 3, 4, 2, 3, 4]
    assert spread["strengths"].tolist() == [0.0, 1.0, 2.0, 1.0, 2.0]


@pytest.mark.parametrize("forms", ["de", 3, {"banks": 1}, {1: "bank"}])
def test_what_is_no_forms(forms: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="forms"):
        Trees(forms=forms)


def test_a_function_that_tells_no_word(sentences: list[list[str]]) -> None:
    with pytest.raises(TypeError, match="lemma"):
        train(sentences, lambda word: 3)
