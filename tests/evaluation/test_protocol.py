"""What evaluations ask of models, and the adapter that makes word#k vectors a model."""

import numpy as np
import pytest

from muse.evaluation import SenseKeyedVectors, SenseModel
from muse.evaluation.protocol import SenseReader, cosines, finite_unit_rows, senses_at

KEYS = ["head#0", "head#1", "army", "c#", "#1", "leg#5", "leg#2"]


def adapter(**options):
    return SenseKeyedVectors.from_word2vec_keys(KEYS, np.arange(14.0).reshape(7, 2), **options)


def test_adapter_groups_keys_into_words():
    vectors = adapter()
    assert isinstance(vectors, SenseModel)
    assert list(vectors) == ["head", "leg", "army", "c#", "#1"]
    assert len(vectors) == 5
    assert [vectors.n_senses(word) for word in vectors] == [2, 2, 1, 1, 1]
    np.testing.assert_array_equal(vectors.sense_vectors("leg"), [[12, 13], [10, 11]])  # sense 2 before sense 5
    np.testing.assert_array_equal(vectors.wv["head"], [1, 2])
    assert "head#0" not in vectors
    assert "head" in vectors.wv
    with pytest.raises(KeyError, match="'nope' is not among the 5 words"):
        vectors.n_senses("nope")


def test_adapter_uses_counts_and_plain_vectors_at_word_level():
    vectors = adapter(counts=[3, 1, 1, 1, 1, 0, 0])
    np.testing.assert_allclose(vectors.sense_probabilities("head"), [0.75, 0.25])
    np.testing.assert_allclose(vectors.sense_probabilities("leg"), [0.5, 0.5])  # never used: uniform
    np.testing.assert_allclose(vectors.wv["head"], [0.5, 1.5])
    both = SenseKeyedVectors.from_word2vec_keys(["a#0", "a#1", "a"], np.eye(3))
    np.testing.assert_array_equal(both.wv["a"], [0, 0, 1])
    assert both.n_senses("a") == 2


def test_adapter_selects_by_number_or_by_weights():
    by_number = adapter(selector=lambda word, tokens, position: int(tokens[position - 1] == "my"))
    assert by_number.select_sense("head", ["my", "head"], 1) == 1
    assert by_number.select_sense("head", ["the", "head"]) == 0
    np.testing.assert_array_equal(by_number.sense_vectors("head", ["my", "head"]), [2, 3])
    by_weight = adapter(selector=lambda word, tokens, position: [1, 3])
    np.testing.assert_allclose(by_weight.sense_probabilities("head", ["head"], 0), [0.25, 0.75])
    np.testing.assert_allclose(by_weight.sense_probabilities("army", ["army"], 0), [1])
    for answer, message in (
        (5, "chose sense 5"),
        ([1, 2, 3], "has shape"),
        ([0, 0], "not all zero"),
        ([-1, 2], "non-neg"),
    ):
        with pytest.raises(ValueError, match=message):
            adapter(selector=lambda *_, answer=answer: answer).sense_probabilities("head", ["head"], 0)
    with pytest.raises(ValueError, match="pass position="):
        by_number.select_sense("head", ["other"])


def test_adapter_without_selector_says_so():
    assert not adapter().has_selector
    assert SenseKeyedVectors.from_word2vec_keys(["a", "b"], np.eye(2)).has_selector
    with pytest.raises(
        ValueError, match=r"cannot choose a sense by context, as for 'head'\. SenseKeyedVectors.*selector=f\) has one"
    ):
        adapter().select_sense("head", ["head"])


def test_adapter_refuses_wrong_tables():
    make = SenseKeyedVectors.from_word2vec_keys
    for keys, rows, options, message in (
        (["a"], np.eye(2), {}, "1 keys need a matrix of 1 rows"),
        (["a", "a"], np.eye(2), {}, "occurs twice"),
        (["a#0", "a#00"], np.eye(2), {}, "occurs twice"),
        (["a", "b"], np.eye(2), {"counts": [1]}, "as many counts"),
    ):
        with pytest.raises(ValueError, match=message):
            make(keys, rows, **options)


def test_adapter_takes_gensim_vectors():
    gensim = pytest.importorskip("gensim.models")
    vectors = gensim.KeyedVectors(vector_size=2)
    vectors.add_vectors(["a#0", "a#1", "b"], np.array([[1, 0], [0, 1], [1, 1]], dtype=np.float32))
    assert SenseKeyedVectors.from_gensim(vectors).n_senses("a") == 2
    with pytest.raises(TypeError, match="expected gensim KeyedVectors, got dict"):
        SenseKeyedVectors.from_gensim({})


def test_cosines_of_zero_tiny_and_broken_vectors():
    rows = finite_unit_rows([[0, 0], [1e-200, 0], [1e200, 1e200]])
    np.testing.assert_allclose(rows, [[0, 0], [1, 0], [0.5**0.5, 0.5**0.5]])
    np.testing.assert_allclose(cosines(rows, rows)[0], [0, 0, 0])
    with pytest.raises(ValueError, match="NaN or infinity"):
        finite_unit_rows([[np.inf, 0]])


class Batch:
    """Knows "a" with two senses; chooses sense 1 behind "x"."""

    def __init__(self, wrong=""):
        self.wrong = wrong

    def __contains__(self, word):
        return word == "a"

    def select_sense(self, word, context, position=None):
        return int(position > 0 and context[position - 1] == "x")

    def sense_vectors(self, word):
        return np.eye(2)

    def sense_probabilities(self, word, context=None, position=None):
        return {"shape": [1.0], "nan": [np.nan, 1], "zero": [0, 0]}[self.wrong]


class WithBatch(Batch):
    def disambiguate_batch(self, sentences):
        for tokens in sentences[: 1 if self.wrong == "few" else None]:
            senses = [self.select_sense(t, tokens, i) if t in self else -1 for i, t in enumerate(tokens)]
            yield senses[1:] if self.wrong == "short" else senses


def test_senses_at_with_and_without_a_batch_method():
    sentences = [["x", "a", "b", "a"], ["never"], ["b", "a"]]
    wanted = {0: [1, 2, 3], 2: [1]}
    for model in (Batch(), WithBatch()):
        found = senses_at(model, sentences, wanted)
        assert {i: senses.tolist() for i, senses in found.items()} == {0: [1, -1, 0], 2: [0]}
    for wrong, message in (("few", "1 answers for 2 sentences"), ("short", "3 senses for a sentence of 4 tokens")):
        with pytest.raises(ValueError, match=message):
            senses_at(WithBatch(wrong), sentences, wanted)


@pytest.mark.parametrize(
    ("wrong", "message"), [("shape", "has shape"), ("nan", "no distribution"), ("zero", "no dist")]
)
def test_probabilities_are_checked(wrong, message):
    with pytest.raises(ValueError, match=message):
        SenseReader(Batch(wrong)).probabilities("a", ["a"], 0)


@pytest.mark.parametrize("answer", [0.9, 1.7, 1.0, "1", True, None, {"a": 1}, float("nan"), iter([0])])
def test_a_selector_answers_with_a_whole_number_or_with_weights(answer):
    vectors = SenseKeyedVectors.from_word2vec_keys(["head#0", "head#1"], np.eye(2), lambda *asked: answer)
    with pytest.raises(TypeError, match="the selector must answer with the number of a sense of 'head' \\(an int\\)"):
        vectors.select_sense("head", ["head"])
    stub = type("Stub", (), {"__contains__": lambda self, word: True, "n_senses": lambda self, word: 2,
                             "select_sense": lambda self, *asked: answer})()  # fmt: skip
    with pytest.raises(TypeError, match="select_sense must answer with the number of a sense of 'head'"):
        senses_at(stub, [["head"]], {0: [0]})


def test_senses_that_a_word_does_not_have():
    stub = type("Stub", (), {"n_senses": lambda self, word: 2, "disambiguate_batch": lambda self, s: [[5]]})()
    with pytest.raises(ValueError, match="disambiguate_batch chose sense 5 of 'head', which has senses 0 to 1"):
        senses_at(stub, [["head"]], {0: [0]})


def test_adapter_refuses_what_would_give_wrong_numbers():
    keys = ["a#0", "a#1"]
    for counts, message in (([np.nan, 3], "that of 'a#0' is nan"), ([5, -3], "that of 'a#1' is -3")):
        with pytest.raises(ValueError, match=message):
            SenseKeyedVectors.from_word2vec_keys(keys, np.eye(2), counts=counts)
    for senses in ({"a": np.ones(3)}, {"a": np.ones((0, 3))}, {"a": np.ones((1, 3)), "b": np.ones((1, 2))}):
        with pytest.raises(ValueError, match=r"the senses of '.' must have shape \(K, D\)"):
            SenseKeyedVectors(senses)
    with pytest.raises(ValueError, match=r"the vector of 'a' must have shape \(D,\) and the D of all others \(3\)"):
        SenseKeyedVectors({"a": np.ones((1, 3))}, words={"a": np.ones(2)})
    with pytest.raises(TypeError, match="selector must be a function"):
        SenseKeyedVectors({"a": np.ones((1, 3))}, selector=3)


def test_plain_vectors_are_no_model():
    plain = _WordVectors()
    for ask in (lambda: SenseReader(plain), lambda: senses_at(plain, [["a"]], {0: [0]})):
        with pytest.raises(
            TypeError,
            match=r"SenseKeyedVectors\.from_gensim\(\.\.\.\) around plain vectors, or SenseKeyedVectors.*; got _Word",
        ):
            ask()


class _WordVectors:
    def __getitem__(self, word):
        return np.ones(2)
