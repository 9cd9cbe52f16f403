"""model.sv and model.wv: keys, nearest neighbours, similarities, other tools' formats."""

from __future__ import annotations

import numpy as np
import pytest

from muse import MUSE, Paper, Vocabulary, _core
from muse.files.word2vec_rows import write_word2vec
from muse.vectors.model_vectors import WordVectors, parse_sense_key
from toy import WORDS, toy_arrays, toy_model


def cosines(matrix, query):
    lengths = np.linalg.norm(matrix, axis=1) * np.linalg.norm(query)
    return np.divide(matrix @ query, lengths, out=np.zeros(len(matrix)), where=lengths > 0)


def unit(vector):
    return vector / np.linalg.norm(vector)


def brute_force(view, query, excluded, topn):
    """Neighbours by numpy, from all keys."""
    scores = cosines(view.vectors.astype(float), query)
    order = [row for row in np.argsort(-scores, kind="stable") if view.index_to_key[row] not in excluded]
    return [(view.index_to_key[row], scores[row]) for row in order[:topn]]


def check_same(got, expected):
    assert [key for key, _ in got] == [key for key, _ in expected]
    np.testing.assert_allclose([s for _, s in got], [s for _, s in expected], rtol=1e-5, atol=1e-6)


# -- keys --------------------------------------------------------------------------------------------------------------


def test_gensims_names_of_rows_and_counts():
    model = toy_model()
    for view in (model.sv, model.wv):
        assert dict(view.key_to_index) == {key: row for row, key in enumerate(view.index_to_key)}
    assert model.sv.get_vecattr("head#1", "count") == model.sense_counts("head")[1]
    assert model.wv.get_vecattr("head", "count") == model.arrays.word_counts[model.vocabulary.index("head")]
    assert model.corpus_total_words == model.vocabulary.raw_words


def test_sense_keys():
    assert parse_sense_key("head#0") == ("head", 0)
    assert parse_sense_key(("head", 2)) == ("head", 2)
    assert parse_sense_key(("head", np.int64(2))) == ("head", 2)
    assert parse_sense_key("c##0") == ("c#", 0)  # split at the last #
    assert parse_sense_key("a#1#2") == ("a#1", 2)
    assert parse_sense_key("#7") == ("", 7)


def test_every_key_finds_its_vector():
    model = toy_model()
    sv, wv = model.sv, model.wv
    assert len(sv) == 13
    assert len(wv) == 9
    assert list(sv.index_to_key)[:4] == ["head#0", "head#1", "head#2", "army#0"]
    for row, key in enumerate(sv.index_to_key):
        assert sv.index_to_key[row] == key
        assert sv.index(key) == row
        assert key in sv
        np.testing.assert_array_equal(sv[key], model.arrays.sense_vectors[row])
    assert sv.index_to_key[-1] == "#0"
    assert sv.index_to_key[1:3] == ["head#1", "head#2"]
    np.testing.assert_array_equal(sv["head", 1], sv["head#1"])
    np.testing.assert_array_equal(sv[["head#1", ("bank", 0)]], [sv["head#1"], sv["bank#0"]])
    for key in ("head", "head#3", "xyzzy#0", ("head", -1), 3, None):
        assert key not in sv
    assert "head" in wv
    assert "head#0" not in wv
    assert 3 not in wv
    assert sv[[]].shape == (0, 7)


def test_vectors_are_copies():
    model = toy_model()
    model.sv["head#0"][:] = 0
    model.wv["head"][:] = 0
    assert model.sv["head#0"].all()
    assert model.wv["head"].all()


def test_word_vectors_are_means_weighted_by_the_prior():
    model = toy_model()
    for word in WORDS:
        mean = model.sense_prior(word) @ model.sense_vectors(word)
        np.testing.assert_allclose(model.wv[word], mean, rtol=1e-5)
    np.testing.assert_allclose(model.wv.vectors[0], model.wv["head"], rtol=1e-6)


# -- nearest neighbours ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sv", "wv"])
def test_most_similar_agrees_with_numpy(kind):
    view = getattr(toy_model(), kind)
    keys = list(view.index_to_key)
    for key in keys:
        check_same(view.most_similar(key, topn=4), brute_force(view, view[key], {key}, 4))
    a, b, c = keys[0], keys[5], keys[7]
    query = unit(view[a]) + unit(view[b]) - unit(view[c])
    check_same(view.most_similar([a, b], [c], topn=99), brute_force(view, query, {a, b, c}, 99))
    check_same(view.most_similar(positive=[a, b], negative=c), brute_force(view, query, {a, b, c}, 10))
    weighted = 0.5 * unit(view[a]) - 2 * unit(view[b])
    check_same(view.most_similar([(a, 0.5), (b, -2.0)]), brute_force(view, weighted, {a, b}, 10))
    check_same(view.most_similar(view[a]), brute_force(view, view[a], set(), 10))
    check_same(view.most_similar(negative=[a]), brute_force(view, -view[a], {a}, 10))


def test_most_similar_accepts_pairs_as_keys():
    sv = toy_model().sv
    assert sv.most_similar(("head", 0)) == sv.most_similar("head#0")
    assert sv.most_similar([("head", 0), ("bank", 1)]) == sv.most_similar(["head#0", "bank#1"])
    assert sv.most_similar([(("head", 0), 0.5), "bank#1"]) == sv.most_similar([("head#0", 0.5), ("bank#1", 1.0)])


def test_most_similar_filters():
    model = toy_model()
    others = {key for key, _ in model.sv.most_similar("head#0", topn=99, exclude_same_word=True)}
    assert others == set(model.sv.index_to_key) - {"head#0", "head#1", "head#2"}
    priors = dict(zip(model.sv.index_to_key, model.arrays.priors().tolist(), strict=True))
    frequent = {key for key, _ in model.sv.most_similar("army#0", topn=99, min_prior=0.3)}
    assert frequent == {key for key, prior in priors.items() if prior >= 0.3} - {"army#0"}
    assert {k for k, _ in model.sv.most_similar("the#0", topn=99, restrict_vocab=2)} == {
        "head#0", "head#1", "head#2", "army#0"
    }  # fmt: skip
    both = model.sv.most_similar("the#0", topn=99, restrict_vocab=2, min_prior=0.3)
    assert {k for k, _ in both} == {k for k in ("head#0", "head#1", "head#2", "army#0") if priors[k] >= 0.3}
    assert {k for k, _ in model.wv.most_similar("the", topn=99, restrict_vocab=2)} == {"head", "army"}


@pytest.mark.parametrize("kind", ["sv", "wv"])
def test_topn_none_gives_all_similarities(kind):
    view = getattr(toy_model(), kind)
    key = view.index_to_key[0]
    similarities = view.most_similar(key, topn=None)
    np.testing.assert_allclose(similarities, cosines(view.vectors, view[key]), rtol=1e-5, atol=1e-6)


def test_neighbours_of_asks_for_all_senses_at_once():
    sv = toy_model().sv
    assert [[key for key, _ in row] for row in sv.neighbours_of("head", 3)] == [
        [key for key, _ in sv.most_similar(f"head#{k}", topn=3)] for k in range(3)
    ]


def test_zero_vectors_never_give_nan():
    vectors = toy_arrays().sense_vectors
    vectors[0] = vectors[3] = 0  # head#0 and army#0
    model = toy_model(sense_vectors=vectors)
    for view, zero, other in ((model.sv, "army#0", "the#0"), (model.wv, "army", "the")):
        neighbours = view.most_similar(zero, topn=99)
        assert len(neighbours) == len(view) - 1
        assert all(score == 0 for _, score in neighbours)
        assert dict(view.most_similar(other, topn=99))[zero] == 0
        assert view.similarity(zero, other) == view.similarity(zero, zero) == 0
        assert not np.isnan(view.most_similar(zero, topn=None)).any()
        assert not np.isnan(view.most_similar(other, topn=None)).any()
        assert view.doesnt_match([zero, other, other]) == zero
    assert model.similarity("army", "the") == 0


def test_vectors_that_are_not_finite_are_never_neighbours():
    model = toy_model()
    vectors, sv = model.arrays.sense_vectors, model.sv
    vectors[3], vectors[4] = np.nan, np.inf
    found = dict(sv.most_similar("head#0", topn=99))
    assert "army#0" not in found
    assert all(np.isfinite(score) for score in found.values())


def test_similarity_and_doesnt_match():
    vectors = toy_arrays().sense_vectors
    vectors[4] = 2 * vectors[3]
    vectors[5] = -vectors[3]
    sv = toy_model(sense_vectors=vectors).sv
    assert sv.similarity("army#0", "the#0") == pytest.approx(1.0)
    assert sv.similarity("army#0", ("bank", 0)) == pytest.approx(-1.0)
    assert sv.doesnt_match(["army#0", "bank#0", "the#0"]) == "bank#0"
    assert sv.doesnt_match([("army", 0), ("bank", 0), ("the", 0)]) == ("bank", 0)


def test_large_lengths_do_not_overflow():
    vectors = toy_arrays().sense_vectors
    scaled = toy_model(sense_vectors=vectors * np.float32(1e25)).sv
    plain = toy_model(sense_vectors=vectors).sv
    check_same(scaled.most_similar("head#0"), plain.most_similar("head#0"))


# -- the core's search -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_top_k_reads_padded_and_plain_rows(workers):
    rng = np.random.default_rng(0)
    plain = rng.normal(size=(5000, 19)).astype(np.float32)
    padded = _core.aligned_zeros(5000, 19)
    padded[:] = plain
    queries = rng.normal(size=(9, 19)).astype(np.float32)
    mask = (rng.random(5000) < 0.5).astype(np.uint8)
    scale = rng.random(5000).astype(np.float32)
    exact = queries.astype(float) @ plain.T * scale
    exact[:, mask == 0] = -np.inf
    for matrix in (plain, padded, np.repeat(plain, 2, axis=0)[::2]):
        rows, scores = _core.top_k(matrix, queries, 7, scale=scale, mask=mask, workers=workers)
        np.testing.assert_array_equal(rows, np.argsort(-exact, axis=1, kind="stable")[:, :7])
        np.testing.assert_allclose(scores, -np.sort(-exact, axis=1)[:, :7], rtol=1e-4)


def test_top_k_checks_its_arguments():
    matrix = np.zeros((3, 2), np.float32)
    with pytest.raises(ValueError, match="same number of columns"):
        _core.top_k(matrix, np.zeros((1, 3), np.float32), 1)
    with pytest.raises(ValueError, match="k must be at least 1"):
        _core.top_k(matrix, matrix, 0)
    with pytest.raises(ValueError, match="scale must hold one number for each row"):
        _core.top_k(matrix, matrix, 1, scale=np.ones(2, np.float32))
    with pytest.raises(ValueError, match="mask must hold one number for each row"):
        _core.top_k(matrix, matrix, 1, mask=np.ones(4, np.uint8))
    with pytest.raises(TypeError):
        _core.top_k(matrix.astype(np.float64), matrix, 1)


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_a_search_that_is_kept_finds_what_top_k_finds(workers):
    rng = np.random.default_rng(0)
    matrix = _core.aligned_zeros(3000, 21)
    matrix[:] = rng.normal(size=(3000, 21))
    matrix[7], matrix[8] = 0, np.nan
    queries = rng.normal(size=(5, 21)).astype(np.float32)
    scale = rng.random(3000).astype(np.float32)
    mask = (rng.random(3000) < 0.5).astype(np.uint8)
    search = _core.Search(matrix, scale=scale, workers=workers)
    for end, k in ((3000, 7), (3000, 400), (1234, 7), (3, 7), (0, 1)):
        for i in range(5):
            rows, scores = search.top_k(queries[i : i + 1], k, end=end, mask=mask[:end])
            expected = _core.top_k(matrix[:end], queries[i : i + 1], k, scale=scale[:end], mask=mask[:end])
            assert (rows.tolist(), scores.tolist()) == tuple(part.tolist() for part in expected)
    for k in (7, 400):
        rows, scores = search.top_k(queries, k)
        expected = [search.top_k(queries[i : i + 1], k) for i in range(5)]
        assert rows.tolist() == [one.tolist()[0] for one, _ in expected]
        assert scores.tolist() == [one.tolist()[0] for _, one in expected]


def test_a_search_checks_its_arguments():
    matrix = np.zeros((3, 2), np.float32)
    with pytest.raises(ValueError, match="scale must hold one number for each row"):
        _core.Search(matrix, scale=np.ones(2, np.float32))
    with pytest.raises(TypeError):
        _core.Search(matrix.astype(np.float64))
    search = _core.Search(matrix)
    with pytest.raises(ValueError, match="same number of columns"):
        search.top_k(np.zeros((1, 3), np.float32), 1)
    with pytest.raises(ValueError, match="k must be at least 1"):
        search.top_k(matrix, 0)
    for end in (-1, 4):
        with pytest.raises(ValueError, match="end must be a number of rows"):
            search.top_k(matrix, 1, end=end)
    with pytest.raises(ValueError, match="mask must hold one number for each row"):
        search.top_k(matrix, 1, end=2, mask=np.ones(3, np.uint8))


def test_neighbours_are_those_that_all_cosines_say():
    """Through rows of bytes, of which there are enough here: with ties, zeros, and vectors at the ends of the range."""
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(600, 9)).astype(np.float32)
    vectors[5], vectors[6], vectors[7], vectors[8] = 0, vectors[9] * 2, vectors[9] * 1e-35, vectors[9] * 1e35
    made = WordVectors.empty(9)
    made.add_vectors([f"w{i}" for i in range(600)], vectors)
    for i in (0, 5, 9, 599):
        cosines = made.most_similar(f"w{i}", topn=None)
        found = made.most_similar(f"w{i}", topn=5)
        assert len(found) == 5
        best = np.sort(np.delete(cosines, i))[::-1][:5]
        np.testing.assert_allclose([cosine for _, cosine in found], best, atol=1e-6)
        for key, cosine in found:
            assert cosines[made.index(key)] == pytest.approx(cosine, abs=1e-6)
    batch = made.most_similar_batch(["w0", "w9", "w599"], topn=5)
    assert batch == [made.most_similar(key, topn=5) for key in ("w0", "w9", "w599")]


# -- word2vec files and gensim -----------------------------------------------------------------------------------------

PLAIN = ("head", "army", "the", "bank", "🎉", "naïve", "c#", "#", "a.b")


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("kind", ["sv", "wv"])
def test_word2vec_files_reload_in_gensim_with_the_same_numbers(tmp_path, binary, kind):
    keyed_vectors = pytest.importorskip("gensim.models").KeyedVectors
    view = getattr(toy_model(words=PLAIN), kind)
    view.save_word2vec_format(tmp_path / "v", binary=binary)
    loaded = keyed_vectors.load_word2vec_format(tmp_path / "v", binary=binary)
    assert loaded.index_to_key == list(view.index_to_key)
    np.testing.assert_array_equal(loaded.vectors, view.vectors)


def test_word2vec_text_is_plain(tmp_path):
    write_word2vec(tmp_path / "v.txt", ["a#0", "b#1"], np.array([[1, 0.5], [-2, 0.1]], np.float32))
    assert (tmp_path / "v.txt").read_text() == "2 2\na#0 1 0.5\nb#1 -2 0.100000001\n"


def test_word2vec_files_refuse_white_space(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("old")
    with pytest.raises(ValueError, match="cannot hold the key 'new york#0', which has white space in it; give "):
        toy_model(words=(*WORDS[:-1], "x")).sv.save_word2vec_format(path)
    assert path.read_text() == "old"
    words = ("head", "army", "the", "bank", "🎉", "new york", "c#", "line\nbreak", "x")
    toy_model(words=words).sv.save_word2vec_format(path, replace_spaces="_")
    assert "new_york#1 " in path.read_text()
    assert "line_break#0 " in path.read_text()
    with pytest.raises(ValueError, match="two keys become the same"):
        write_word2vec(path, ["a b", "a_b"], np.ones((2, 1), np.float32), replace_spaces="_")
    with pytest.raises(ValueError, match="without white space, such as '_'"):
        write_word2vec(path, ["a b"], np.ones((1, 1), np.float32), replace_spaces=" ")
    with pytest.raises(ValueError, match="cannot hold the empty string as a key"):
        write_word2vec(path, [""], np.ones((1, 1), np.float32))
    assert [p.name for p in tmp_path.iterdir()] == ["v.txt"]  # no temporary file is left


def test_to_gensim():
    pytest.importorskip("gensim")
    model = toy_model()
    for view, counts in ((model.sv, model.arrays.sense_counts), (model.wv, model.arrays.word_counts)):
        keyed = view.to_gensim()
        assert keyed.index_to_key == list(view.index_to_key)
        np.testing.assert_array_equal(keyed.vectors, view.vectors)
        assert [keyed.get_vecattr(key, "count") for key in view.index_to_key] == counts.tolist()
        key = view.index_to_key[0]
        check_same(view.most_similar(key, topn=5), keyed.most_similar(key, topn=5))


def test_to_gensim_without_gensim(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "gensim.models", None)
    with pytest.raises(ImportError, match="to_gensim needs gensim; install it with: pip install gensim"):
        toy_model().sv.to_gensim()


def test_views_of_a_growing_model_follow_it():
    model = toy_model({"min_count": 1})
    sv, wv = model.sv, model.wv
    wv.most_similar("head")
    model.build_vocab([["novel"]], update=True)
    assert dict(sv.most_similar("head#0", topn=99)).keys() >= {"novel#0", "novel#2"}
    assert "novel" in dict(wv.most_similar("head", topn=99))
    assert isinstance(model.vocabulary, Vocabulary)
    assert isinstance(model, MUSE)


def test_numbers_of_senses_of_any_length():
    model = toy_model()
    assert "head#" + "1" * 5000 not in model.sv
    assert "head#02" in model.sv
    with pytest.raises(KeyError, match="there is no sense"):
        model.sv["head#" + "9" * 5000]


def test_whole_numbers_as_weights():
    sv = toy_model(words=("head", "army", "the", "bank", "e", "f", "c#", "g", "c")).sv
    assert sv.most_similar([("head#0", 2), ("army#0", 1)]) == sv.most_similar([("head#0", 2.0), ("army#0", 1.0)])
    assert sv.most_similar([("c#", 0)]) == sv.most_similar("c##0")  # a word, and the number of its sense
    with pytest.raises(KeyError, match="'hed' is not in the vocabulary"):
        sv.most_similar([("hed", 2)])


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"restrict_vocab": 2.5}, TypeError, "restrict_vocab must be an integer of at least 1; got 2.5"),
        ({"restrict_vocab": "a"}, TypeError, "restrict_vocab must be an integer of at least 1; got 'a'"),
        ({"restrict_vocab": True}, TypeError, "restrict_vocab must be an integer of at least 1; got True"),
        ({"restrict_vocab": 0}, ValueError, "restrict_vocab must be at least 1; got 0"),
        ({"min_prior": "x"}, TypeError, "min_prior must be a number from 0 to 1; got 'x'"),
        ({"min_prior": np.nan}, ValueError, "min_prior must be a number from 0 to 1; got nan"),
        ({"min_prior": 2}, ValueError, "min_prior must be a number from 0 to 1; got 2"),
    ],
)
def test_options_of_searches_are_checked(options, kind, message):
    model = toy_model()
    with pytest.raises(kind, match=message):
        model.sv.most_similar("head#0", **options)
    if "restrict_vocab" in options:
        for ask in (
            lambda: model.wv.most_similar("head", **options),
            lambda: model.sv.most_similar("head#0", topn=None, **options),
            lambda: model.predict_collocates("head", sense=0, **options),
            lambda: model.wv.evaluate_word_pairs([("head", "army", 1.0), ("the", "bank", 2.0)], **options),
        ):
            with pytest.raises(kind, match=message):
                ask()


@pytest.mark.parametrize(("weight", "kind"), [(np.nan, ValueError), (np.inf, ValueError), ("x", TypeError)])
def test_weights_are_finite_numbers(weight, kind):
    model = toy_model()
    with pytest.raises(kind, match="the weight of 'head#0' must be a number from"):
        model.sv.most_similar([("head#0", weight)])
    if kind is ValueError:
        with pytest.raises(ValueError, match="weights must be finite numbers"):
            model.sv.get_mean_vector(["head#0"], weights=[weight])


def test_what_vectors_say_of_themselves():
    model = MUSE(vector_size=8, min_count=1, epochs=1, recipe=Paper(), senses=2, workers=1)
    model.build_vocab([["a", "b"]] * 20)
    assert repr(model.wv) == "<WordVectors: not trained yet>"
    model.train()
    assert repr(model.sv) == "<SenseVectors: 4 keys, dimension 8>"
    assert repr(model.wv) == "<WordVectors: 2 keys, dimension 8>"


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e300])
def test_vectors_that_are_given_hold_finite_numbers(wrong):
    model = toy_model()
    given = np.ones(model.vector_size)
    given[3] = wrong
    asked = (
        lambda: model.wv.most_similar(given),
        lambda: model.wv.most_similar([model.wv.index_to_key[0], given]),
        lambda: model.wv.most_similar_cosmul(positive=[given]),
        lambda: model.wv.get_mean_vector([given]),
        lambda: model.sv.most_similar(given),
    )
    for ask in asked:
        with pytest.raises(ValueError, match="a given vector must hold finite numbers"):
            ask()


def test_large_vectors_that_are_given_do_not_overflow():
    model = toy_model()
    given = model.wv[model.wv.index_to_key[3]]
    near = [key for key, _ in model.wv.most_similar(given)]
    assert [key for key, _ in model.wv.most_similar(given * np.float32(1e38 / np.abs(given).max()))] == near


def test_rows_of_senses_cannot_be_changed_in_place():
    with pytest.raises(ValueError, match="read-only"):
        toy_model().arrays.sense_offset[1:] += 100_000
