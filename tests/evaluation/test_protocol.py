"""Results, statistics, the tokeniser, and the adapter that makes word#k vectors a model."""

import json
import re
import sys
import types
import unicodedata
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muse.corpus.tokens import locate
from muse.evaluation import EvaluationResult, SenseKeyedVectors, SenseModel, bootstrap_spearman, spearman, tokenize
from muse.evaluation.protocol import SenseReader, cosines, finite_unit_rows, senses_at
from muse.evaluation.results import format_table
from muse.evaluation.stats import _resampled, correlate, require
from muse.readers.lines import read_lines


def test_tokenize_follows_the_rule_of_the_corpora():
    assert tokenize("Don't re-do under_score ÜBER 3.5!") == ["don", "t", "re", "do", "under", "score", "über", "3", "5"]
    assert locate("The ", "Head's", " end") == (["the", "head", "s", "end"], 1, ["head", "s"])
    assert locate("", "--", "x") == (["x"], 0, [])
    with pytest.raises(TypeError, match=r"a tokenizer must give a list of strings, as str\.split does; it gave 'the '"):
        locate("The ", "Head's", " end", str.lower)


def test_combining_marks_stay_in_their_words():
    assert tokenize("Cafe\u0301s \u0939\u093f\u0928\u094d\u0926\u0940! \u0301a_\u0301b") == [
        "cafe\u0301s", "\u0939\u093f\u0928\u094d\u0926\u0940", "a", "b"
    ]  # fmt: skip
    for code in (*range(0xD800), *range(0xE000, sys.maxunicode + 1)):
        token = chr(code).isalnum() or unicodedata.category(chr(code))[0] == "M"
        assert (len(tokenize(f"a{chr(code)}b")) == 1) == token, hex(code)
    lower = tokenize("\u0130stanbul")
    assert tokenize(" ".join(lower)) == lower


def test_read_lines_splits_at_line_feeds_only_and_names_a_bad_line(tmp_path):
    path = tmp_path / "t.txt"
    path.write_bytes("\ufeffa\x85b\r\nc\n".encode())
    assert list(read_lines(path)) == [(1, "a\x85b"), (2, "c")]
    path.write_bytes(b"ok\n\xff\n")
    with pytest.raises(ValueError, match=r"t\.txt, line 2: invalid UTF-8"):
        list(read_lines(path))
    with pytest.raises(FileNotFoundError, match="no such evaluation file"):
        list(read_lines(tmp_path / "absent"))


def test_spearman_by_hand_with_ties_and_constants():
    assert spearman([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(1 - 6 * 2 / (4 * 15))
    assert spearman([1, 1, 2], [5, 6, 7]) == pytest.approx(np.corrcoef([1.5, 1.5, 3], [1, 2, 3])[0, 1])
    assert spearman([1, 1, 1], [1, 2, 3]) == 0
    for wrong, message in (([1], "at least 2"), ([1, 2, 3], "equally long"), ([1, np.nan], "NaN or infinity")):
        with pytest.raises(ValueError, match=message):
            spearman(wrong, [1, 2] if len(wrong) != 1 else [1])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=3, max_size=20))
def test_spearman_agrees_with_scipy(pairs):
    x, y = zip(*pairs, strict=True)
    if len(set(x)) > 1 and len(set(y)) > 1:
        assert spearman(x, y) == pytest.approx(require("scipy.stats").spearmanr(x, y).statistic)


def test_bootstrap_is_seeded_and_covers():
    generator = np.random.default_rng(0)
    x = generator.normal(size=200)
    y = x + generator.normal(size=200)
    low, high = bootstrap_spearman(x, y, seed=3)
    assert low < spearman(x, y) < high
    assert (low, high) == bootstrap_spearman(x, y, seed=3) != bootstrap_spearman(x, y, seed=4)
    wide = bootstrap_spearman(x, y, seed=3, confidence=0.99)
    assert wide[0] < low < high < wide[1]
    # Fisher's approximate standard error of a rank correlation.
    assert high - low == pytest.approx(2 * 1.96 * (1 - spearman(x, y) ** 2) * 1.03 / np.sqrt(200), rel=0.3)
    with pytest.raises(ValueError, match="confidence"):
        bootstrap_spearman(x, y, confidence=1.5)
    with pytest.raises(ValueError, match="resamples"):
        bootstrap_spearman(x, y, resamples=0)


def test_bootstrap_leaves_out_samples_that_rank_nothing():
    assert bootstrap_spearman([1, 2], [1, 2], resamples=20) == (1, 1)  # those of one pair twice
    with pytest.raises(ValueError, match="none of 20 samples ranks anything: one list of scores is constant"):
        bootstrap_spearman([1, 2], [3, 3], resamples=20)
    # All 256 samples of four pairs, and 20,000 drawn ones: the same correlations, about as often.
    stats = pytest.importorskip("scipy.stats")
    x, y = np.array([1.0, 2, 3, 3]), np.array([1.0, 3, 2, 4])
    chosen = [np.array(places) for places in product(range(4), repeat=4)]
    every = [stats.spearmanr(x[i], y[i]).statistic for i in chosen if len(set(x[i])) > 1 and len(set(y[i])) > 1]
    drawn = _resampled(x, y, 20_000, 0)
    assert len(drawn) / 20_000 == pytest.approx(len(every) / 256, abs=0.01)
    for value in set(np.round(every, 9)):
        assert np.mean(np.isclose(drawn, value)) == pytest.approx(np.mean(np.isclose(every, value)), abs=0.01)


@pytest.mark.filterwarnings("ignore")  # of scipy, about the constant samples
def test_bootstrap_is_that_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    generator = np.random.default_rng(1)
    x, y = generator.normal(size=9), np.array([0.0, 0, 0, 0, 0, 0, 1, 1, 2])  # 4 samples in 100 are constant
    found = stats.bootstrap(
        (x, y), lambda a, b: stats.spearmanr(a, b).statistic, paired=True, vectorized=False, n_resamples=3000,
        method="percentile", random_state=generator,
    )  # fmt: skip
    ranked = found.bootstrap_distribution[np.isfinite(found.bootstrap_distribution)]
    assert len(ranked) < 3000
    assert bootstrap_spearman(x, y, resamples=3000) == pytest.approx(np.quantile(ranked, [0.025, 0.975]), abs=0.05)


def test_intervals_of_few_pairs_are_noted():
    options = {"resamples": 1000, "confidence": 0.95, "seed": 0}
    notes: list[str] = []
    assert correlate("a", [1, 2], [2, 3], options, notes) == {"rho": 1.0, "low": None, "high": None, "pairs": 2}
    row = correlate("b", [1, 2, 3], [1, 3, 2], options, notes)
    assert row["low"] == -1
    assert row["high"] == 1
    assert correlate("c", [1, 1, 1], [1, 3, 2], options, notes)["low"] is None
    assert correlate("d", list(range(30)), list(range(30)), options, notes)["low"] == 1
    assert [note.partition(":")[0] for note in notes] == ["a", "b", "c"]
    assert notes[0] == "a: two pairs have no interval"
    assert re.fullmatch(
        r"b: 1\d\d of 1000 samples of the 3 pairs are constant and left out of the interval.*", notes[1]
    )


def test_bootstrap_ranks_each_sample_as_scipy_does():
    generator = np.random.default_rng(1)
    x, y = generator.integers(0, 9, size=(2, 30)).astype(float)  # with ties
    chosen = np.random.default_rng(5).integers(0, 30, size=(50, 30))
    expected = [require("scipy.stats").spearmanr(x[rows], y[rows]).statistic for rows in chosen]
    found = bootstrap_spearman(x, y, resamples=50, seed=5, confidence=0.9)
    assert found == pytest.approx(tuple(np.quantile(expected, [0.05, 0.95])))


def test_missing_scipy_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.metrics", None)
    with pytest.raises(ImportError, match=r"scikit-learn.*muse-senses\[eval\]"):
        require("sklearn.metrics")


def result(**summary):
    return EvaluationResult("demo", "rho", {"rho": np.float32(0.5), **summary}, items=[{"word": "a", "n": np.int64(3)}])


def test_result_prints_converts_and_stays_json():
    got = result(pairs=np.int64(7), missing=None)
    assert float(got) == got.score == got["rho"] == 0.5
    assert str(got).splitlines() == ["demo", "measure  value", "rho      0.500", "pairs        7", "missing      -"]
    assert json.loads(got.to_json(items=True))["items"] == [{"word": "a", "n": 3}]
    assert "items" not in got.to_dict()
    with pytest.raises(KeyError, match="has no measure 'nope'; it has rho"):
        got["nope"]
    with pytest.raises(ValueError, match="which must be"):
        got.to_pandas("rows")


def test_result_never_holds_nan():
    with pytest.raises(ValueError, match="came out as nan"):
        result(other=float("nan"))
    with pytest.raises(ValueError, match="is not a number"):
        EvaluationResult("demo", "rho", {"rho": None})


def test_to_pandas_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        result().to_pandas()


def test_to_pandas_hands_over_the_rows(monkeypatch):
    pandas = types.ModuleType("pandas")
    pandas.DataFrame = lambda rows: ("frame", rows)
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    assert result().to_pandas() == ("frame", [{"word": "a", "n": 3}])
    assert result().to_pandas("table") == ("frame", [{"measure": "rho", "value": 0.5}])


def test_table_aligns_numbers_right():
    assert format_table([{"a": "x", "b": 1.0}, {"a": "long", "b": None}]) == "a         b\nx     1.000\nlong      -"
    assert format_table([{"a": True}]) == "  a\nyes"


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
