"""Models with sense trees that are asked odd things: contexts without a known word, huge numbers, wrong types."""

from __future__ import annotations

import copy
import random

import numpy as np
import pytest

from muse import MUSE, Trees
from muse.datasets import make_ambiguous_corpus

CORPUS = make_ambiguous_corpus(1200, 200, seed=0)
WORD = "bank"
HUGE = 10**30


@pytest.fixture(scope="module")
def trained() -> MUSE:
    return MUSE(CORPUS.sentences, vector_size=12, epochs=1, workers=1, min_count=1, seed=1)


@pytest.fixture
def model(trained) -> MUSE:
    return copy.deepcopy(trained)


NOTHING = [["zzz"], [], ["yyy", "zzz"], ""]
"""Contexts without a known word."""


@pytest.mark.parametrize("before", [[], [["the"]], [["of", "the"], ["zzz"]], [["the", WORD]]], ids=str)
@pytest.mark.parametrize("last", NOTHING, ids=str)
def test_a_context_without_a_known_word_behind_others(trained, before, last):
    """It begins where the words of those before it end: no word is there to be read."""
    contexts = [*before, last]
    for ask in (trained.usage_vector, trained.sense_probabilities, trained.sense_vectors, trained.has_context):
        several = ask(WORD, contexts=contexts)
        for context, answer in zip(contexts, several, strict=True):
            np.testing.assert_allclose(answer, ask(WORD, context), atol=1e-6)
    assert not trained.usage_vector(WORD, contexts=contexts)[-1].any()
    words = [WORD] * len(contexts)
    np.testing.assert_allclose(
        trained.usage_vector_batch(words, contexts), trained.usage_vector(WORD, contexts=contexts)
    )
    batch = trained.sense_probabilities_batch(words, contexts)
    np.testing.assert_allclose(batch, trained.sense_probabilities(WORD, contexts=contexts), atol=1e-6)


def test_many_contexts_of_which_any_may_be_without_a_known_word(trained):
    draw = random.Random(0)
    known = ["the", "of", "a"]
    contexts = [draw.choices([*known, "zzz", "yyy"], k=draw.randrange(4)) for _ in range(200)]
    several = trained.usage_vector(WORD, contexts=contexts)
    for context, vector in zip(contexts, several, strict=True):
        np.testing.assert_allclose(vector, trained.usage_vector(WORD, context), atol=1e-6)


@pytest.mark.parametrize("huge", [2**31, 2**63 - 1, 2**63, HUGE], ids=hex)
def test_more_senses_than_fit_a_number_of_the_machine_are_the_finest(model, huge):
    finest = len(model.sense_tree(WORD, topn=0).leaves)
    model.recut(senses={WORD: huge})
    assert model.n_senses(WORD) == finest
    model.recut(senses=huge)
    assert model.n_senses(WORD) == finest
    assert len(model.sense_numbers(WORD, level=huge)) == finest


@pytest.mark.parametrize("place", ["position1", "position2"])
def test_positions_in_usage_similarity_are_checked_as_elsewhere(trained, place):
    for wrong in (1.0, "1", True, [1]):
        with pytest.raises(TypeError, match="a position is an index of the context's tokens"):
            trained.usage_similarity(WORD, ["the", WORD], ["a", WORD], **{place: wrong})
    with pytest.raises(ValueError, match="is not an occurrence of"):
        trained.usage_similarity(WORD, ["the", WORD], ["a", WORD], **{place: 0})


@pytest.mark.parametrize("wrong", [None, 5, [[WORD]], [1], {"text": 1}], ids=str)
def test_contexts_in_usage_similarity_are_checked_as_elsewhere(trained, wrong):
    with pytest.raises(TypeError, match="context"):
        trained.usage_similarity(WORD, wrong, ["the", WORD])
    with pytest.raises(TypeError, match="context"):
        trained.usage_similarity(WORD, ["the", WORD], wrong)


CORPORA = {
    "one sentence": [["a", "b", "c"]],
    "one token": [["a"]],
    "one word": [["a"] * 200] * 5,
    "lines of one word": [["a"]] * 300,
    "two words": [["a", "b"]] * 200,
    "each word once": [[f"{row} {place}" for place in range(10)] for row in range(50)],
    "each word as often": [[f"w{place}" for place in range(60)]] * 60,
    "empty lines": [[], ["a", "b"] * 5, [], ["b", "c"] * 40, []] * 20,
    "one long sentence": [[f"w{int(random.Random(i).paretovariate(0.8)) % 90}" for i in range(12_000)]],
}
SETTINGS = {
    "default": {},
    "dimension 1": {"vector_size": 1},
    "dimension 300": {"vector_size": 300, "recipe": Trees(whitening=1, uses_a_leaf=2, least_uses=4)},
    "many senses": {"senses": 50, "recipe": Trees(leaves=50, uses_a_leaf=2, least_uses=4), "sample": 0},
    "few uses": {"senses": "auto", "recipe": Trees(uses=50, leaves=2, topic_window=1)},
    "no negatives": {"negative": 0, "window": 1, "recipe": Trees(order_window=1, order_size=1, whitening=0)},
    "wide order": {"workers": 4, "recipe": Trees(order_window=100, order_weight=100, share_power=10, prior_weight=10)},
}


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("given", SETTINGS)
def test_trees_of_odd_corpora(corpus, given, tmp_path):
    settings = {"vector_size": 8, "min_count": 1, "epochs": 1, "workers": 1, **SETTINGS[given]}
    model = MUSE(CORPORA[corpus], **settings)
    word = model.vocabulary.words[0]
    for senses in (None, 1, 2, "auto", {word: 3}, 1000):
        model.recut(senses=senses)
        arrays = model.arrays
        assert np.isfinite(arrays.sense_vectors).all()
        np.testing.assert_array_equal(
            np.add.reduceat(arrays.sense_counts, arrays.sense_offset[:-1]), arrays.word_counts
        )
        shares = model.sense_probabilities(word, [word, "zzz", *model.vocabulary.words[:3]])
        assert shares.sum() == pytest.approx(1, abs=1e-4)
        length = np.linalg.norm(model.usage_vector(word, [word, *model.vocabulary.words[:3]]))
        assert length == pytest.approx(1, abs=1e-3) or length == 0
        assert len(str(model.sense_tree(word)).splitlines()) == len(model.sense_tree(word).nodes) + 1
    model.save(tmp_path / "m")
    again = MUSE.load(tmp_path / "m")
    again.recut(senses=2)
    model.recut(senses=2)
    assert again.disambiguate([word, word]) == model.disambiguate([word, word])
