"""gensim's questions to vectors get gensim's answers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from muse import MUSE, UnknownWordError
from muse.evaluation import read_analogies
from toy import toy_arrays, toy_model

WORDS = tuple("king queen man woman river bank money water Paris France Rome Italy".split())
SENSES = (1, 1, 1, 1, 1, 3, 1, 1, 2, 1, 1, 1)


@pytest.fixture(scope="module")
def model() -> MUSE:
    arrays = toy_arrays(senses=SENSES, vector_size=6, seed=7)
    return MUSE.from_arrays(WORDS, arrays)


@pytest.fixture(params=["wv", "sv"])
def pair(request, model):
    """Our vectors, gensim's of the same numbers, and some keys."""
    pytest.importorskip("gensim", reason="compares with gensim, which is not installed")
    ours = getattr(model, request.param)
    return ours, ours.to_gensim(), list(ours.index_to_key)


def same(ours, theirs):
    """Equal keys and, within rounding, equal numbers."""
    assert [key for key, _ in ours] == [key for key, _ in theirs]
    np.testing.assert_allclose([x for _, x in ours], [x for _, x in theirs], atol=1e-5)


def test_pairs_of_keys(pair):
    ours, theirs, keys = pair
    for first, second in itertools.pairwise(keys):
        assert ours.similarity(first, second) == pytest.approx(theirs.similarity(first, second), abs=1e-5)
        assert ours.distance(first, second) == pytest.approx(theirs.distance(first, second), abs=1e-5)
        assert ours.rank(first, second) == theirs.rank(first, second)
        assert set(ours.closer_than(first, second)) == set(theirs.closer_than(first, second))
        assert ours.relative_cosine_similarity(first, second, 4) == pytest.approx(
            theirs.relative_cosine_similarity(first, second, 4), rel=1e-3
        )


def test_distances(pair):
    ours, theirs, keys = pair
    np.testing.assert_allclose(ours.distances(keys[0]), theirs.distances(keys[0]), atol=1e-5)
    np.testing.assert_allclose(ours.distances(keys[0], keys[2:5]), theirs.distances(keys[0], keys[2:5]), atol=1e-5)
    vector = np.arange(1, 7, dtype=np.float32)
    np.testing.assert_allclose(ours.distances(vector), theirs.distances(vector), atol=1e-5)


def test_sets_of_keys(pair):
    ours, theirs, keys = pair
    assert ours.n_similarity(keys[:3], keys[3:7]) == pytest.approx(theirs.n_similarity(keys[:3], keys[3:7]), abs=1e-5)
    assert ours.doesnt_match(keys[:5]) == theirs.doesnt_match(keys[:5])
    assert ours.most_similar_to_given(keys[0], keys[3:]) == theirs.most_similar_to_given(keys[0], keys[3:])
    same([k[::-1] for k in ours.rank_by_centrality(keys[:6])], [k[::-1] for k in theirs.rank_by_centrality(keys[:6])])
    options = [{}, {"weights": [1.0, -2.0, 0.5, 1.0]}, {"pre_normalize": False}, {"post_normalize": True}]
    for option in options:
        np.testing.assert_allclose(
            ours.get_mean_vector([*keys[:3], "nobody#0"], **option),
            theirs.get_mean_vector([*keys[:3], "nobody#0"], **option), atol=1e-5,
        )  # fmt: skip


@pytest.mark.filterwarnings("ignore:Call to deprecated:DeprecationWarning")  # gensim calls its own old names
def test_neighbours(pair):
    ours, theirs, keys = pair
    vector = np.arange(1, 7, dtype=np.float32)
    vector /= np.linalg.norm(vector)  # gensim takes vectors at any length here; ours have length one, as keys have
    same(
        ours.most_similar([keys[0], keys[3]], [keys[1]], topn=5),
        theirs.most_similar([keys[0], keys[3]], [keys[1]], topn=5),
    )
    weighted = {"positive": [(keys[0], 0.3), vector], "negative": [keys[2]]}
    same(ours.most_similar(**weighted), theirs.most_similar(**weighted))
    same(ours.similar_by_key(keys[1], 4), theirs.similar_by_key(keys[1], 4))
    same(ours.similar_by_vector(vector, topn=4), theirs.similar_by_vector(vector, topn=4))
    for query in [([keys[0]], []), ([keys[0], keys[5]], [keys[1]])]:
        same(ours.most_similar_cosmul(*query, topn=6), theirs.most_similar_cosmul(*query, topn=6))
    np.testing.assert_allclose(ours.get_normed_vectors(), theirs.get_normed_vectors(), atol=1e-6)
    np.testing.assert_allclose(ours.get_vector(keys[1], norm=True), theirs.get_vector(keys[1], norm=True), atol=1e-6)
    assert ours.get_index(keys[2]) == theirs.get_index(keys[2])
    assert ours.get_index("nobody#0", -1) == theirs.get_index("nobody#0", -1) == -1
    assert ours.has_index_for(keys[0])
    assert not ours.has_index_for("nobody#0")


def test_word_pairs_and_analogies_as_gensim_scores_them(model, tmp_path):
    pytest.importorskip("gensim", reason="compares with gensim, which is not installed")
    pytest.importorskip("scipy", reason="needs scipy")
    theirs = model.wv.to_gensim()
    pairs = tmp_path / "pairs.tsv"
    rng = np.random.default_rng(1)
    lines = [f"{a}\t{b}\t{rng.uniform(0, 10):.2f}" for a in WORDS[:6] for b in WORDS[5:]]
    pairs.write_text("\n".join([*lines, "king\tnobody\t3.0", "PARIS\tfrance\t9.1"]) + "\n")
    for options in ({}, {"dummy4unknown": True}, {"case_insensitive": False}, {"restrict_vocab": 8}):
        got, expected = (
            model.wv.evaluate_word_pairs(pairs, **options),
            theirs.evaluate_word_pairs(str(pairs), **options),
        )
        np.testing.assert_allclose(got[0], expected[0], atol=1e-5)
        np.testing.assert_allclose(got[1], expected[1], atol=1e-5)
        assert got[2] == pytest.approx(expected[2])
    questions = tmp_path / "questions.txt"
    questions.write_text(": family\nking queen man woman\nman woman king queen\n: capital\nParis France Rome Italy\n"
                         "Rome Italy paris FRANCE\nking queen nobody woman\n")  # fmt: skip
    for options in ({}, {"dummy4unknown": True}, {"case_insensitive": False}, {"restrict_vocab": 11}):
        score, sections = model.wv.evaluate_word_analogies(questions, **options)
        expected_score, expected_sections = theirs.evaluate_word_analogies(str(questions), **options)
        assert score == pytest.approx(expected_score)
        for row, expected in zip(sections, expected_sections, strict=True):
            assert row["section"] == expected["section"]
            for name in ("correct", "incorrect"):
                fold = [tuple(word.upper() for word in words) for words in expected[name]]
                assert [tuple(word.upper() for word in words) for words in row[name]] == fold


def test_analogies_that_hold(tmp_path):
    vectors = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1], [-1, 0.2, -1]], np.float32)
    arrays = toy_arrays(senses=(1,) * 5, vector_size=3, sense_vectors=vectors)
    model = MUSE.from_arrays(["man", "king", "woman", "queen", "stone"], arrays)
    questions = tmp_path / "questions"
    questions.write_text(": family\nman king woman queen\nman king woman stone\n")
    score, [family, total] = model.wv.evaluate_word_analogies(questions)
    assert score == 0.5
    assert family["correct"] == [("man", "king", "woman", "queen")]
    assert total == {"section": "Total accuracy", "correct": family["correct"], "incorrect": family["incorrect"]}


def test_bad_analogies(tmp_path):
    (tmp_path / "bad").write_text(": a\nking queen man\n")
    with pytest.raises(ValueError, match="bad, line 2: expected four words, found 3"):
        read_analogies(tmp_path / "bad")
    (tmp_path / "empty").write_text(": a\n")
    with pytest.raises(ValueError, match="holds no analogies"):
        read_analogies(tmp_path / "empty")
    with pytest.raises(FileNotFoundError):
        read_analogies(tmp_path / "nowhere")


def test_senses_are_rated_through_their_closest_pair(model):
    pytest.importorskip("scipy", reason="needs scipy")
    pairs = [("bank", "money", 9.0), ("bank", "river", 8.0), ("Paris", "bank", 1.0)]
    pearson, _, oov = model.sv.evaluate_word_pairs(pairs)
    scores = [model.similarity(a, b) for a, b, _ in pairs]
    assert pearson[0] == pytest.approx(np.corrcoef(scores, [9, 8, 1])[0, 1], abs=1e-5)
    assert oov == 0
    with pytest.raises(ValueError, match="only 0 of 1 pairs are in the vocabulary"):
        model.wv.evaluate_word_pairs([("x", "y", 1.0)])


def test_batches(model):
    queries = ["king", "bank", "Rome"]
    for got, word in zip(model.wv.most_similar_batch(queries, 3), queries, strict=True):
        same(got, model.wv.most_similar(word, topn=3))
    keys = ["bank#0", ("bank", 2)]
    for got, key in zip(model.sv.most_similar_batch(keys, 4), keys, strict=True):
        same(got, model.sv.most_similar([key], topn=4))
    vectors = model.wv[queries]
    for got, vector in zip(model.wv.most_similar_batch(vectors, 3), vectors, strict=True):
        same(got, model.wv.similar_by_vector(vector, topn=3))
    assert model.wv.most_similar_batch([]) == []


def test_options_of_most_similar_reach_the_short_forms(model):
    assert not any(key.startswith("bank#") for key, _ in model.sv.similar_by_key("bank#0", 9, exclude_same_word=True))
    assert {key for key, _ in model.wv.similar_by_word("king", 9, restrict_vocab=3)} == {"queen", "man"}
    assert model.wv.most_similar_cosmul("king", topn=None).shape == (len(WORDS),)


def test_vectors_of_zeros_give_no_nan():
    arrays = toy_arrays(senses=(1, 1, 1), vector_size=3)
    arrays.sense_vectors[1] = 0
    model = MUSE.from_arrays(["a", "zero", "b"], arrays)
    assert model.wv.similarity("a", "zero") == 0
    assert np.isfinite([x for _, x in model.wv.most_similar("zero")]).all()
    assert np.isfinite(model.wv.most_similar_cosmul("a", "zero", topn=None)).all()
    assert model.wv.n_similarity(["a"], ["zero"]) == 0
    assert np.isfinite(model.wv.get_normed_vectors()).all()


def test_what_is_refused(model):
    with pytest.raises(UnknownWordError):
        model.wv.n_similarity(["king"], ["nobody"])
    with pytest.raises(UnknownWordError):
        model.wv.get_mean_vector(["nobody"], ignore_missing=False)
    with pytest.raises(ValueError, match="at least one key"):
        model.wv.n_similarity([], ["king"])
    with pytest.raises(ValueError, match="as many weights"):
        model.wv.get_mean_vector(["king"], [1, 2])
    with pytest.raises(ValueError, match="at least one key"):
        model.wv.most_similar_cosmul()
    with pytest.raises(ValueError, match="at least one key"):
        model.wv.rank_by_centrality([])
    assert toy_model().wv.get_mean_vector(["nobody"]).any() == 0


@pytest.mark.parametrize("given", ["king", b"king", None, 7, 1.5, object()])
@pytest.mark.parametrize("view", ["wv", "sv"])
def test_what_takes_a_list_refuses_a_single_key(model, view, given):
    """A string would pass for the list of its letters, and a mean that skips unknown keys be silently zero."""
    vectors = getattr(model, view)
    first = vectors.index_to_key[0]
    for name, arguments in {
        "doesnt_match": (given,), "get_mean_vector": (given,), "rank_by_centrality": (given,),
        "n_similarity": ([first], given), "most_similar_batch": (given,), "distances": (first, given),
        "most_similar_to_given": (first, given),
    }.items():  # fmt: skip
        with pytest.raises(TypeError, match=f"{name} takes a list of keys or vectors; got"):
            getattr(vectors, name)(*arguments)


@pytest.mark.parametrize("word", [["king"], {}, None, 7])
def test_what_is_no_string_is_no_word(model, word):
    for ask in (model.n_senses, model.sense_vectors, model.describe, model.sense_prior, model.predict_collocates):
        with pytest.raises(UnknownWordError, match="words are strings"):
            ask(word)


@pytest.mark.parametrize("topn", [-1, 1.5, "x", True])
def test_topn_is_checked(model, topn):
    for ask in (model.sv.most_similar, model.sv.most_similar_cosmul):
        with pytest.raises(ValueError, match="topn must be an integer of at least 1"):
            ask("king#0", topn=topn)
