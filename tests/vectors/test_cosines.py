"""Cosines are from -1 to 1 and distances from 0 to 2, whatever rounding makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from muse import MUSE, load_vectors
from toy import toy_arrays

WORDS = [f"word{i}" for i in range(400)]


@pytest.fixture(scope="module")
def model() -> MUSE:
    """Senses that lie in a few directions, so that cosines of one, and of minus one, are many."""
    rng = np.random.default_rng(0)
    arrays = toy_arrays((2,) * len(WORDS), vector_size=100, selection_size=100)
    lines = rng.normal(size=(7, 100))
    arrays.sense_vectors[:] = lines[rng.integers(0, 7, 800)] * rng.choice([-3.0, -1.0, 0.1, 1.0, 7.0], (800, 1))
    return MUSE.from_arrays(WORDS, arrays)


def assert_within(low: float, high: float, found: object) -> None:
    values = np.asarray(found, np.float64)
    assert low <= values.min()
    assert values.max() <= high


@pytest.mark.parametrize("kind", ["wv", "sv"])
def test_of_vectors_with_keys(model, kind, tmp_path):
    vectors, keys = getattr(model, kind), list(getattr(model, kind).index_to_key)[:120]
    for key in keys:
        assert_within(-1, 1, vectors.most_similar([vectors[key]], topn=None))
        assert_within(-1, 1, [cosine for _, cosine in vectors.similar_by_vector(vectors[key], topn=50)])
        assert_within(-1, 1, vectors.similarity(key, key))
        assert_within(0, 2, vectors.distances(key, keys))
        assert_within(0, 2, vectors.distances(key))
        assert_within(0, 2, vectors.distance(key, key))
        assert_within(-1, 1, vectors.n_similarity([key, key], [key]))
        assert_within(0, 1, vectors.most_similar_cosmul(key, topn=None))
    assert_within(-1, 1, [cosine for found in vectors.most_similar_batch(keys, topn=30) for _, cosine in found])
    assert_within(-1, 1, [cosine for cosine, _ in vectors.rank_by_centrality(keys[:1] * 5)])
    assert not np.isnan(np.arccos(vectors.most_similar([vectors[keys[0]]], topn=None))).any()


@pytest.mark.parametrize("how", ["max_sim_c", "avg_sim_c", "max", "avg"])
def test_of_words_in_context(model, how):
    for word in WORDS[:100]:
        context = f"{WORDS[1]} {WORDS[2]} {WORDS[3]}"
        assert_within(-1, 1, model.similarity(word, word, context, context, how=how))


def test_of_loaded_vectors_and_of_senses_of_a_word(model, tmp_path):
    model.wv.save_word2vec_format(tmp_path / "words.vec")
    loaded = load_vectors(tmp_path / "words.vec")
    for word in WORDS[:100]:
        assert_within(-1, 1, loaded.wv.similar_by_vector(loaded.wv[word], topn=1)[0][1])
        for found in model.sv.neighbours_of(word, topn=20):
            assert_within(-1, 1, [cosine for _, cosine in found])


def test_a_library_that_refuses_negative_distances(model):
    cluster = pytest.importorskip("sklearn.cluster")
    matrix = np.stack([model.wv.distances(word, WORDS[:60]) for word in WORDS[:60]])
    cluster.DBSCAN(metric="precomputed").fit(matrix)
