"""What a model answers: senses in context, probabilities, similarities, cards, vocabulary growth."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import muse
from muse import MUSE, Arrays, Settings, UnknownWordError, Vocabulary
from muse.corpus.encoding import LineSentence
from muse.selector.context import encode
from toy import WORDS, toy_arrays, toy_model


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def expected_probabilities(model, word, context_words):
    """Equation 1 of the paper, written out."""
    arrays, index = model.arrays, model.vocabulary.index
    total = sum(arrays.context_vectors[index(w)].astype(float) for w in context_words)
    scores = arrays.selection_vectors[arrays.rows_of(index(word))] @ total
    return softmax(scores / model.settings.temperature)


# -- senses and contexts -----------------------------------------------------------------------------------------------


def test_shapes_of_sense_vectors():
    model = toy_model()
    assert model.sense_vectors("head").shape == (3, 7)
    assert model.sense_vectors("army").shape == (1, 7)
    assert model.sense_vectors("head", "the head of the army").shape == (7,)
    assert model.sense_vectors("head", ["the", "head"]).shape == (7,)
    assert model.sense_vectors("head", contexts=[["the", "head"], ["army"]]).shape == (2, 7)
    for batch in (["the head", "army"], ["river", "army"], ["the head"], ["army"], []):
        assert model.sense_vectors("head", contexts=batch).shape == (len(batch), 7)
        assert model.select_sense("head", contexts=batch).shape == (len(batch),)
        assert model.sense_probabilities("head", contexts=batch).shape == (len(batch), 3)
        assert model.sentence_vector(sentences=batch).shape == (len(batch), 7)
    for refused in (["the head", "army"], ["the head"]):
        for ask in (model.sense_vectors, model.select_sense, model.sense_probabilities):
            with pytest.raises(ValueError, match=r"is several words: give several contexts as contexts=\[\.\.\.\]"):
                ask("head", refused)
        with pytest.raises(ValueError, match=r"give several contexts as sentences=\[\.\.\.\]"):
            model.sentence_vector(refused)
    assert model.sense_vectors("head").dtype == np.float32


def test_sense_vectors_are_copies():
    model = toy_model()
    model.sense_vectors("head")[:] = 0
    assert model.arrays.sense_vectors.all()


def test_probabilities_are_the_softmax_of_the_papers_scores():
    model = toy_model({"temperature": 0.7})
    context = ["the", "head", "army"]
    got = model.sense_probabilities("head", context)
    np.testing.assert_allclose(got, expected_probabilities(model, "head", context), rtol=1e-5)
    assert model.select_sense("head", context) == got.argmax()
    np.testing.assert_array_equal(
        model.sense_vectors("head", context), model.arrays.sense_vectors[model.arrays.rows_of(0)][got.argmax()]
    )


def test_only_the_window_counts_around_the_first_occurrence_or_the_position():
    model = toy_model({"window": 1})
    tokens = "army head the bank head".split()
    first = expected_probabilities(model, "head", ["army", "head", "the"])
    last = expected_probabilities(model, "head", ["bank", "head"])
    np.testing.assert_allclose(model.sense_probabilities("head", tokens), first, rtol=1e-5)
    np.testing.assert_allclose(model.sense_probabilities("head", tokens, position=4), last, rtol=1e-5)
    both = model.sense_probabilities("head", contexts=[tokens, tokens], positions=[None, 4])
    np.testing.assert_allclose(both, [first, last], rtol=1e-5)


def test_unknown_words_are_skipped_before_the_window_is_cut():
    model = toy_model({"window": 1})
    with_unknown = model.sense_probabilities("head", "army xyzzy head plugh the")
    np.testing.assert_array_equal(with_unknown, model.sense_probabilities("head", "army head the"))


def test_all_of_a_context_counts_where_the_word_is_not_in_it():
    model = toy_model({"window": 1})
    far = ["army", "the", "bank", "the", "army"]
    got = model.sense_probabilities("head", far)
    np.testing.assert_allclose(got, expected_probabilities(model, "head", [*far, "head"]), rtol=1e-5)


@pytest.mark.parametrize("context", ["", [], "xyzzy plugh", ["xyzzy"]])
def test_the_prior_decides_where_no_known_word_is_left(context):
    model = toy_model()
    np.testing.assert_array_equal(model.sense_probabilities("head", context), model.sense_prior("head"))
    assert model.select_sense("head", context) == model.sense_prior("head").argmax()


def test_context_options():
    tokens = ["the", "head", "army"]
    mean = toy_model({"context": "mean"})
    scores = np.log(mean.sense_probabilities("head", tokens))
    np.testing.assert_allclose(
        scores - scores[0], (lambda s: (s - s[0]) / 3)(np.log(expected_probabilities(mean, "head", tokens))), rtol=1e-4
    )
    narrow = toy_model({"window": 5, "selection_window": 1})
    np.testing.assert_allclose(
        narrow.sense_probabilities("head", "army the head bank army"),
        expected_probabilities(narrow, "head", ["the", "head", "bank"]),
        rtol=1e-5,
    )
    weighted = toy_model({"context_weights": "keep", "sample": 1e-2})
    keep = muse._core.keep_probabilities(weighted.arrays.word_counts, 1e-2)
    total = sum(keep[weighted.vocabulary.index(w)] * weighted.arrays.context_vectors[weighted.vocabulary.index(w)]
                for w in tokens)  # fmt: skip
    np.testing.assert_allclose(
        weighted.sense_probabilities("head", tokens), softmax(weighted.arrays.selection_vectors[:3] @ total), rtol=1e-4
    )


def test_strings_in_memory_and_lines_of_a_file_are_the_same_words(tmp_path):
    text = "the head\tof\fthe\varmy  head\u00a0count « bank\u2003bank » \x1carmy\x85 a\u3000b c\u2028d e\u200bf \ufeffg"
    words = "the head of the army head count « bank bank » army a b c d e\u200bf g".split()
    (tmp_path / "text").write_text("\ufeff\ufeff" + text + "\n", encoding="utf-8")
    assert list(LineSentence(tmp_path / "text")) == [words]
    smallest = {"vector_size": 4, "min_count": 1, "epochs": 1, "workers": 1, "senses": 1}
    model = MUSE(corpus_file=tmp_path / "text", **smallest)
    assert set(model.vocabulary.words) == set(words)
    assert [t.token for t in model.disambiguate(text)] == words
    assert all(t.sense is not None for t in model.disambiguate(text))
    (senses,) = model.disambiguate_batch([text])
    assert senses.tolist() == [t.sense for t in model.disambiguate(text)]
    model.tag_corpus(tmp_path / "text", tmp_path / "tagged")
    (tagged,) = LineSentence(tmp_path / "tagged")
    assert tagged == [f"{word}#0" for word in words]


def test_encode():
    encoded = encode("bank", ["x the bank y bank", ["army"], []], [4, None, None], Vocabulary(list(WORDS)))
    assert encoded.tokens == [2, 3, 3, 1]
    assert encoded.offsets == [0, 3, 4, 4]
    assert encoded.positions == [2, -1, -1]
    assert [array.dtype for array in encoded.arrays()] == [np.int32, np.int64, np.int64]


# -- priors ------------------------------------------------------------------------------------------------------------


def test_counts_and_priors():
    counts = np.array([6, 3, 1, 5, 0, 0, 7, 2, 2, 2, 2, 2, 2])
    model = toy_model(sense_counts=counts)
    assert model.n_senses("head") == 3
    np.testing.assert_allclose(model.sense_prior("head"), [0.6, 0.3, 0.1], rtol=1e-6)
    assert model.sense_counts("head").tolist() == [6, 3, 1]
    np.testing.assert_allclose(model.sense_prior("the"), [1.0])  # never counted: equal shares
    together = np.concatenate([model.sense_prior(word) for word in WORDS])
    np.testing.assert_array_equal(model.arrays.priors(), together)


# -- sentences ---------------------------------------------------------------------------------------------------------


def test_disambiguate_gives_each_token_its_sense():
    model = toy_model()
    tokens = ["the", "xyzzy", "head", "new york", "bank"]
    answer = model.disambiguate(tokens)
    assert [t.token for t in answer] == tokens
    assert answer[1] == ("xyzzy", None, 0.0)
    assert answer[1].key == "xyzzy"
    for at in (0, 2, 3, 4):
        probabilities = model.sense_probabilities(tokens[at], tokens, at)
        assert answer[at].sense == probabilities.argmax()
        assert answer[at].probability == pytest.approx(probabilities.max(), rel=1e-5)
        assert answer[at].key == f"{tokens[at]}#{probabilities.argmax()}"
    assert model.disambiguate("") == []
    assert [t.token for t in model.disambiguate("the head")] == ["the", "head"]


def test_disambiguate_batch_agrees_with_disambiguate_and_reads_a_generator():
    model = toy_model()
    rng = np.random.default_rng(1)
    sentences = [list(rng.choice([*WORDS, "xyzzy"], size=n)) for n in (0, 1, 30, 5, 0, 100)] * 50
    senses = list(model.disambiguate_batch(sentence for sentence in sentences))
    pairs = list(model.disambiguate_batch(sentences, probabilities=True))
    assert len(senses) == len(sentences)
    for sentence, row, (again, probability) in zip(sentences, senses, pairs, strict=True):
        one = model.disambiguate(sentence)
        assert row.tolist() == [-1 if t.sense is None else t.sense for t in one] == again.tolist()
        np.testing.assert_allclose(probability, [t.probability for t in one], rtol=1e-5)  # sums slide, so they round
        assert row.dtype == np.int32
    assert list(model.disambiguate_batch([])) == []


def test_disambiguate_batch_streams(monkeypatch):
    monkeypatch.setattr("muse.selector.selection._BLOCK_TOKENS", 10)
    taken = []

    def sentences():
        for i in range(1000):
            taken.append(i)
            yield ["the", "head", "army"]

    answers = toy_model().disambiguate_batch(sentences())
    next(answers)
    assert len(taken) < 10
    assert len(list(answers)) == 999


# -- similarity, collocates, cards -------------------------------------------------------------------------------------


def test_similarity():
    model = toy_model()

    def unit(word):
        rows = model.sense_vectors(word).astype(float)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    cosines = unit("head") @ unit("bank").T
    context = "the head of the army"
    p, q = model.sense_probabilities("head", context), model.sense_prior("bank")
    assert model.similarity("head", "bank") == pytest.approx(cosines.max())
    assert model.similarity("head", "bank", how="avg") == pytest.approx(cosines.mean())
    assert model.similarity("head", "bank", context) == pytest.approx(cosines[p.argmax(), q.argmax()])
    assert model.similarity("head", "bank", context, how="avg_sim_c") == pytest.approx(p @ cosines @ q, rel=1e-5)
    assert model.similarity("bank", "head", None, context) == pytest.approx(cosines[p.argmax(), q.argmax()])


def test_predict_collocates_by_likelihood():
    model = toy_model()
    u, v = model.sense_vectors("head")[1], model.arrays.collocation_vectors
    likelihood = 1 / (1 + np.exp(-(v @ u)))
    got = model.predict_collocates("head", sense=1, topn=4)
    keys = model.sv.index_to_key
    assert [key for key, _ in got] == [keys[row] for row in np.argsort(-likelihood)[:4]]
    np.testing.assert_allclose([p for _, p in got], np.sort(likelihood)[::-1][:4], rtol=1e-5)
    context = "the head of the army"
    selected = model.select_sense("head", context)
    assert model.predict_collocates("head", context) == model.predict_collocates("head", sense=selected)
    assert model.predict_collocates("head") == model.predict_collocates(
        "head", sense=model.sense_prior("head").argmax()
    )
    assert len(model.predict_collocates("head", topn=99)) == model.arrays.n_senses
    restricted = model.predict_collocates("head", topn=99, restrict_vocab=2)
    assert {key for key, _ in restricted} == {"head#0", "head#1", "head#2", "army#0"}


def test_predict_collocates_of_word_level_vectors_names_words():
    words = toy_arrays().n_words
    vectors = np.random.default_rng(3).normal(size=(words, 7)).astype(np.float32)
    model = toy_model({"collocation": "word"}, collocation_vectors=vectors)
    assert {key for key, _ in model.predict_collocates("head", topn=99)} == set(WORDS)


def test_describe():
    model = toy_model()
    card = model.describe("head", topn=3)
    assert card.word == "head"
    assert card.count == model.arrays.word_counts[0]
    assert [s.share for s in card.senses] == sorted(model.sense_prior("head").tolist(), reverse=True)
    for sense in card.senses:
        assert len(sense.neighbours) == len(sense.collocates) == 3
        assert not any(key.startswith("head#") for key, _ in sense.neighbours)
    text = str(card)
    assert text.startswith("head: 90 uses, 3 senses\n")
    assert "head#0" in text and "  like  " in text and "  near  " in text  # noqa: PT018
    assert str(model.describe("army")).startswith("army: 89 uses, 1 sense\n")


def test_a_card_survives_any_token():
    model = toy_model()
    html = model.describe("line\nbreak")._repr_html_()
    assert html.startswith("<table>")
    words = ("<b>&", *WORDS[1:])
    assert "&lt;b&gt;&amp;#0" in toy_model(words=words).describe("<b>&")._repr_html_()
    assert "\nbreak#0," not in str(model.describe("head", topn=99))


# -- the model itself --------------------------------------------------------------------------------------------------


def test_container_and_repr():
    model = toy_model()
    assert "head" in model
    assert "xyzzy" not in model
    assert len(model) == len(WORDS)
    assert repr(model) == "<MUSE: 9 words, 13 senses, vector_size=7, strategy='eps_greedy'>"
    empty = MUSE()
    assert empty  # an empty model is true, and len is 0
    assert len(empty) == 0
    assert "head" not in empty
    assert repr(empty).startswith("<MUSE: 0 words, not trained, ")


def test_settings_of_senses():
    assert Settings(senses=2).senses_of(["a", "b"]).tolist() == [2, 2]
    assert Settings(senses={"b": 4}).senses_of(["a", "b"]).tolist() == [1, 4]
    assert Settings(senses="auto").senses_of(["a"]).tolist() == [3]


def test_settings_round_trip_through_json():
    settings = Settings(senses={"b": 4}, strategy="boltzmann", min_alpha=None, workers=3, epochs=np.int64(7))
    stored = json.loads(json.dumps(settings.to_json()))
    assert "workers" not in stored
    assert "callbacks" not in stored
    again = Settings.from_json(stored, settings.left_open, workers=3)
    assert again == settings
    assert again.replace(strategy="policy").selection_update == "paper"  # it was left open
    assert Settings.from_json(stored, workers=3).left_open == ()


def test_set_arrays_forgets_what_was_derived():
    model = toy_model()
    before = (
        model.sv.most_similar("head#0"),
        model.wv.most_similar("head"),
        model.sense_probabilities("head", "the army"),
    )
    held = model.sv, model.wv
    model.set_arrays(toy_arrays(seed=5))
    after = (
        model.sv.most_similar("head#0"),
        model.wv.most_similar("head"),
        model.sense_probabilities("head", "the army"),
    )
    assert held == (model.sv, model.wv)
    assert before[0] != after[0]
    assert before[1] != after[1]
    assert (before[2] != after[2]).any()


def test_unknown_word_errors_can_be_sent_to_another_process():
    with pytest.raises(UnknownWordError) as caught:
        toy_model().n_senses("heed")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again).startswith("the word 'heed' is not in the vocabulary")


def test_from_arrays_takes_the_dimensions_of_the_arrays():
    model = MUSE.from_arrays(WORDS, toy_arrays())
    assert (model.settings.vector_size, model.settings.selection_size) == (7, 5)
    assert (model.settings.collocation, model.settings.formulation) == ("sense", "one_sided")
    assert isinstance(model.arrays, Arrays)
    values = np.zeros((len(WORDS), 5), np.float32)
    assert MUSE.from_arrays(WORDS, toy_arrays(forward_values=values, backward_values=values)).settings.formulation == (
        "factorized"
    )
    words = toy_arrays(collocation_vectors=np.zeros((len(WORDS), 7), np.float32))
    assert MUSE.from_arrays(WORDS, words).settings.collocation == "word"


# -- vocabularies ------------------------------------------------------------------------------------------------------

TEXT = [["a", "b", "a"], ["b", "c", "a"]]


def test_build_vocab_and_update():
    model = MUSE(min_count=1, vector_size=4)
    model.build_vocab(iter(TEXT))
    assert list(model.vocabulary) == ["a", "b", "c"]
    assert model.corpus_count == 2
    assert not model.is_trained
    model.build_vocab([["d", "a"]], update=True)
    assert list(model.vocabulary) == ["a", "b", "c", "d"]
    assert model.vocabulary.counts.tolist() == [4, 2, 1, 1]


def test_build_vocab_update_grows_the_arrays():
    model = toy_model({"min_count": 1, "senses": 2})
    before = {word: model.sense_vectors(word) for word in WORDS}
    neighbours = model.sv
    model.build_vocab([["novel", "head"]], update=True)
    assert model.sense_vectors("novel").shape == (2, 7)
    for word in WORDS:
        np.testing.assert_array_equal(model.sense_vectors(word), before[word])
    assert "novel#1" in neighbours
    assert model.arrays.word_counts[0] == 91
    model.disambiguate("the novel head")


def test_build_vocab_from_freq():
    model = MUSE(min_count=2, max_final_vocab=2)
    model.build_vocab_from_freq({"rare": 1, "b": 3, "a": 9, "c": 2})
    assert list(model.vocabulary) == ["a", "b"]
    model.build_vocab_from_freq({"z": 10}, update=True)
    assert list(model.vocabulary) == ["a", "b", "z"]
