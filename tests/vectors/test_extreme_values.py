"""Finite values at the ends of float32, and arrays changed by hand: right answers, or an error; never NaN."""

from __future__ import annotations

import numpy as np
import pytest

from muse import MUSE, Callback, Vocabulary, _core
from toy import WORDS, toy_arrays, toy_model


@pytest.mark.parametrize("size", [1e-44, 1e-39, 1e-31, 1e31, 1e38])
def test_cosines_of_vectors_of_any_length(size):
    plain, model = toy_model(), toy_model()
    scale = np.float32(size)
    model.arrays.sense_vectors[2:5] = np.float32(1.5) * np.eye(7, dtype=np.float32)[:3] * scale
    plain.arrays.sense_vectors[2:5] = np.eye(7, dtype=np.float32)[:3]
    for view, expected in ((model.sv, plain.sv), (model.wv, plain.wv)):
        for key in ("head", "army") if view is model.wv else ("head#0", "army#0", "the#0"):
            found, wanted = view.most_similar(key, topn=None), expected.most_similar(key, topn=None)
            assert np.isfinite(found).all()
            if view is model.sv:
                np.testing.assert_allclose(found, wanted, atol=1e-5)
                assert [k for k, _ in view.most_similar(key)] == [k for k, _ in expected.most_similar(key)]
                np.testing.assert_allclose(view.distances(key), expected.distances(key), atol=1e-5)
                np.testing.assert_allclose(
                    [s for _, s in view.most_similar_cosmul(key)], [s for _, s in expected.most_similar_cosmul(key)],
                    atol=1e-4,
                )  # fmt: skip
    lengths = np.linalg.norm(model.sv.get_normed_vectors().astype(np.float64), axis=1)
    np.testing.assert_allclose(lengths, 1, rtol=1e-5)
    assert np.isfinite([score for score, _ in model.sv.rank_by_centrality(["army#0", "the#0"], use_norm=False)]).all()


@pytest.mark.parametrize("factor", [1e20, 3e37])
def test_scores_beyond_float32_are_an_error_wherever_a_sense_is_selected(factor, tmp_path):
    model = toy_model()
    for name in ("context_vectors", "selection_vectors"):
        getattr(model.arrays, name)[:] *= np.float32(factor)
    model.set_arrays(model.arrays)
    text = tmp_path / "text"
    text.write_text("head army bank\n")
    for ask in (
        lambda: model.sense_probabilities("head", "army bank"),
        lambda: model.sense_probabilities_batch(["head"], ["army bank"]),
        lambda: model.select_sense("head", "army bank"),
        lambda: model.similarity("head", "bank", "army", "army", how="avg_sim_c"),
        lambda: model.disambiguate(["head", "army", "bank"]),
        lambda: list(model.disambiguate_batch([["head", "army", "bank"]], probabilities=True)),
        lambda: model.tag_corpus(text, tmp_path / "tagged"),
    ):
        with pytest.raises(ValueError, match="a score of a sense is not a finite number: context_vectors and"):
            ask()
    assert not (tmp_path / "tagged").exists()


def test_a_temperature_near_zero_gives_no_nan():
    model = toy_model({"temperature": 1e-6})
    model.arrays.selection_vectors[:] *= np.float32(1e34)
    probabilities = model.sense_probabilities("head", "army bank")
    assert np.isfinite(probabilities).all()
    assert probabilities.sum() == pytest.approx(1)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["context_vectors", "selection_vectors", "sense_vectors", "collocation_vectors"])
def test_parts_that_are_not_finite_are_refused(name, value):
    arrays = toy_arrays()
    getattr(arrays, name)[0, 0] = value
    with pytest.raises(ValueError, match=f"{name} holds values that are not finite"):
        MUSE.from_arrays(WORDS, arrays)


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (None, TypeError, "sense_vectors must be a numpy array; got NoneType"),
        ([[1.0]], TypeError, "sense_vectors must be a numpy array; got list"),
        (np.zeros((13, 7)), ValueError, "sense_vectors must be float32 with 2 dimensions; it is float64"),
        (np.zeros(13, np.float32), ValueError, "sense_vectors must be float32 with 2 dimensions"),
    ],
)
def test_an_array_of_another_type_is_refused_where_it_is_given(value, kind, message):
    model = toy_model()
    before = model.arrays.sense_vectors
    with pytest.raises(kind, match=message):
        model.arrays.sense_vectors = value
    assert model.arrays.sense_vectors is before
    with pytest.raises(kind, match=message):
        toy_arrays(sense_vectors=value)


def test_arrays_that_do_not_fit_are_refused():
    model = toy_model()
    before = model.arrays
    for arrays, message in (
        (toy_arrays(vector_size=6), "vector_size and selection_size of the settings"),
        (toy_arrays(senses=(1, 2)), "the vocabulary has 9 words, and the arrays are for 2"),
        (toy_arrays(sense_vectors=np.zeros((12, 7), np.float32)), "sense_vectors must have shape"),
        (toy_arrays(sense_vectors=np.zeros((7, 13), np.float32).T), "in memory"),
    ):
        with pytest.raises(ValueError, match=message):
            model.set_arrays(arrays)
    with pytest.raises(TypeError, match=r"arrays must be muse\.Arrays; got dict"):
        model.set_arrays(before.as_dict())
    assert model.arrays is before
    assert np.isfinite(model.sv.most_similar("head#0")[0][1])


def test_arrays_that_a_callback_spoils_stop_training():
    class Spoils(Callback):
        def on_epoch_begin(self, model):
            if model.history:
                model.arrays.sense_vectors = model.arrays.sense_vectors[:2]

    with pytest.raises(ValueError, match="must have shape"):
        MUSE([["a", "b", "c"]] * 50, min_count=1, vector_size=4, epochs=3, callbacks=[Spoils()])


def test_keys_and_numbers_of_any_kind():
    model = toy_model()
    many = np.int8(127)
    for view in (model.sv, model.wv):
        key = view.index_to_key[0]
        assert len(view.most_similar_cosmul(key, topn=many)) == len(view.most_similar(key, topn=many))
        normed = view.get_vector([key, view.index_to_key[1]], norm=True)
        np.testing.assert_allclose(np.linalg.norm(normed, axis=1), 1, rtol=1e-6)
        assert view.get_vector([], norm=True).shape == (0, 7)
        for ask in (
            lambda view=view, key=key: view.similarity([key], key),
            lambda view=view, key=key: view.distance(key, [key]),
            lambda view=view, key=key: view.rank_by_centrality([[key], [key]]),
            lambda view=view, key=key: view.most_similar_to_given(key, [[key]]),
        ):
            with pytest.raises(TypeError, match="key"):
                ask()
        for topn in (None, 0, True, "3"):
            for ask in (view.most_similar_batch, lambda keys, topn, view=view: view.relative_cosine_similarity(
                keys[0], keys[0], topn
            )):  # fmt: skip
                with pytest.raises(ValueError, match=r"topn must be an integer of at least 1; got"):
                    ask([key], topn)
    for index in (1.5, ["a"], "0"):
        with pytest.raises(TypeError):
            model.sv.index_to_key[index]
    for sense in (0.5, True, "0"):
        with pytest.raises(TypeError, match="sense must be the number of a sense, an integer; got"):
            model.predict_collocates("head", sense=sense)
    assert [] not in model
    assert model.vocabulary.get([]) == -1
    assert model.vocabulary.nearest_spellings("heed", 0) == []


@pytest.mark.parametrize("counts", [[1.5], [-1], [2**63], ["1"], [None], [np.nan]])
def test_counts_that_are_none(counts):
    with pytest.raises(ValueError, match="counts must"):
        Vocabulary(["a"], counts)


def test_training_takes_no_callbacks_as_none():
    model = MUSE([["a", "b", "c"]] * 50, min_count=1, vector_size=4, epochs=1)
    model.train([["a", "b"]], callbacks=None)
    with pytest.raises(TypeError, match="callbacks must be a list of callbacks; got 3"):
        model.train([["a", "b"]], callbacks=3)


def test_messages_hold_no_whole_lists():
    model, long = toy_model(), ["the"] * 10_000
    for ask in (
        lambda: model.sense_vectors(long),
        lambda: model.n_senses(long),
        lambda: model.wv.similarity(long, "the"),
        lambda: model.wv.get_vecattr("the", long),
        lambda: model.similarity("the", "head", how=long),
        lambda: model.sense_probabilities("the", dict.fromkeys(range(10_000))),
        lambda: model.disambiguate_batch([["the"]], margin=long),
    ):
        with pytest.raises((KeyError, TypeError, ValueError)) as caught:
            ask()
        assert len(str(caught.value)) < 500


def test_a_search_is_exact_where_scores_overflow_before_they_are_scaled():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(640, 15)).astype(np.float32) * np.float32(10) ** rng.uniform(-30, 30, (640, 1))
    matrix = matrix.astype(np.float32)
    scale = (1 / np.linalg.norm(matrix.astype(np.float64), axis=1)).astype(np.float32)
    search = _core.Search(matrix, scale=scale)
    for size in (1e-5, 1.0, 1e10, 1e17):
        query = (rng.normal(size=(1, 15)) * size).astype(np.float32)
        rows, scores = search.top_k(query, 20)
        expected = _core.top_k(matrix, query, 20, scale=scale)
        assert (rows.tolist(), scores.tolist()) == tuple(part.tolist() for part in expected)
