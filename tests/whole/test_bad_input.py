"""Odd corpora: each trains, or says why not; nothing crashes."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muse import MUSE, DivergenceError, Paper, Split
from muse.data.settings import POLICIES
from odd_corpora import CORPORA, TOKENS, check_file
from resolved import arguments

SMALL = {"vector_size": 8, "min_count": 1, "workers": 1, "epochs": 2}


def check(model: MUSE, sentences=None) -> None:
    """What holds for every trained model."""
    arrays = model.arrays
    arrays.check()
    arrays.check_finite()
    assert (np.diff(arrays.sense_offset) >= 1).all()
    np.testing.assert_array_equal(np.add.reduceat(arrays.sense_counts, arrays.sense_offset[:-1]), arrays.word_counts)
    np.testing.assert_allclose(np.add.reduceat(arrays.priors(), arrays.sense_offset[:-1]), 1, rtol=1e-5)
    words = list(model.vocabulary.words)
    for word in words[:3]:
        senses = model.n_senses(word)
        assert model.sense_vectors(word).shape == (senses, model.vector_size)
        for context in (words[:5], [word], [word, *words[:5], word], []):
            probabilities = model.sense_probabilities(word, context)
            assert probabilities.shape == (senses,)
            assert probabilities.sum() == pytest.approx(1, rel=1e-5)
            assert 0 <= model.select_sense(word, context) < senses
        model.describe(word)
    for sentence, row in zip(sentences or [words], model.disambiguate_batch(sentences or [words]), strict=True):
        assert len(row) == len(sentence)
        for token, sense in zip(sentence, row, strict=True):
            assert 0 <= sense < model.n_senses(token) if token in model else sense == -1


ODD = {
    "one sentence": [["the", "head", "of", "the", "army"]],
    "one word": [["word"]],
    "one word, often": [["word"] * 1000] * 3,
    "one word a sentence": [["a"], ["b"], ["a"]] * 40,
    "two words": [["a", "b"]] * 200,
    "a word with one sense among others": [["a", "b", "c", "d"]] * 50 + [["rare", "a"]],
    "spaces, newlines, tabs": [["new york", "line\nbreak", "tab\tbed", " ", "\n", "\u00a0", "plain"]] * 30,
    "empty strings": [["", "a", ""], [""], [], ["", "b"]] * 30,
    "emoji": [["🎉", "👩‍👩‍👧", "é", "e\u0301", "🏳️‍🌈", "\u202etxet"]] * 30,
    "control characters": [["\x00", "\x1f", "a\x00b", "\x7f"]] * 30,
    "long words": [["x" * 100_000, "y" * 100_000, "z"]] * 5,
    "marks of senses": [["head#0", "head", "#", "##1", "head#x"]] * 30,
    "numbers": [["1", "2", "-0", "1e9", "nan", "inf"]] * 30,
    "many words, once each": [[str(i) for i in range(3000)]],
    "tuples and generators": [("a", "b"), (token for token in "abc"), ["c"]] * 10,
}


@pytest.mark.parametrize("recipe", [Split(), Paper()], ids=["split", "paper"])
@pytest.mark.parametrize("name", ODD)
def test_odd_corpora_train(name, recipe):
    sentences = [list(sentence) for sentence in ODD[name]]  # generators are read once
    model = MUSE(iter(sentences), recipe=recipe, **SMALL)
    assert set(model.vocabulary) == set(itertools.chain(*sentences))
    check(model, sentences[:5])
    check_file(model)


@pytest.mark.parametrize(
    "options", [{}, {"senses": 3, "recipe": Split(min_contexts=1)}, {"recipe": Paper(), "sample": 0}]
)
def test_sentences_of_a_hundred_thousand_tokens(options):
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(200)])
    sentences = [words[rng.integers(200, size=100_000)].tolist() for _ in range(2)]
    model = MUSE(sentences, **{**SMALL, "epochs": 1}, **options)
    assert model.vocabulary.counts.sum() == 200_000  # never truncated, as gensim does after 10,000
    assert sum(row["tokens"] for row in model.history) == 200_000
    check(model, [sentences[0][:1000]])


def test_odd_contexts():
    model = MUSE([["the", "head", "of", "the", "army"]] * 100, **SMALL)
    for context in ("", " \n\t ", "🎉", "head", "head " * 50_000, ["head", ""], ["x"] * 100_000):
        assert model.sense_probabilities("head", context).sum() == pytest.approx(1, rel=1e-5)
    assert [t.token for t in model.disambiguate(["", "the", "\n"])] == ["", "the", "\n"]


@pytest.mark.parametrize(
    ("sentences", "kind", "message"),
    [
        ([], ValueError, "the corpus is empty: it holds no words"),
        ([[], []], ValueError, "the corpus is empty: it holds no words"),
        (
            [["a"]],
            ValueError,
            "no word occurs min_count=5 times; the most frequent, 'a', occurs once: pass min_count=1",
        ),
        ([["a"] * 4], ValueError, "no word occurs min_count=5 times; the most frequent, 'a', occurs 4 times: pass"),
        ("a string", TypeError, "sentences is a str; pass an iterable of token lists"),
        (["a string"], TypeError, "sentence 1 is a string; pass a list of tokens, e.g. text.split()"),
        ([["a"], "b"], TypeError, "sentence 2 is a string"),
        ([["a"], None], TypeError, "sentence 2 is of type NoneType; pass a list of tokens"),
        ([["a"], ["b", 7]], TypeError, "token 2 of sentence 2 is of type int; tokens must be strings"),
        ([["a"], [b"b"]], TypeError, "token 1 of sentence 2 is of type bytes; tokens must be strings"),
        ([["a", "\ud800"]], ValueError, "token 2 of sentence 1 holds a lone surrogate, which is not text"),
        ([[["a"]]], TypeError, "token 1 of sentence 1 is of type list; tokens must be strings"),
        ({"a": 1}, TypeError, "sentences is a dict with the keys 'a'"),
        (7, TypeError, "sentences must be an iterable of token lists, not int"),
    ],
)
def test_corpora_that_cannot_be_one(sentences, kind, message):
    with pytest.raises(kind, match=f"^{re.escape(message)}"):
        MUSE(sentences)


def test_an_error_in_the_users_generator_comes_through():
    def sentences():
        yield ["a", "b"]
        raise ZeroDivisionError("in the generator")

    with pytest.raises(ZeroDivisionError, match="in the generator"):
        MUSE(sentences(), **SMALL)


def test_files_that_are_no_text(tmp_path):
    (tmp_path / "latin").write_bytes("na\u00efve text\n".encode("latin-1") * 10)
    with pytest.raises(ValueError, match=r"latin.*line 1"):
        MUSE(corpus_file=tmp_path / "latin", **SMALL)
    (tmp_path / "empty").touch()
    with pytest.raises(ValueError, match="the corpus is empty"):
        MUSE(corpus_file=tmp_path / "empty", **SMALL)
    with pytest.raises(FileNotFoundError):
        MUSE(corpus_file=tmp_path / "nothing", **SMALL)
    with pytest.raises(ValueError, match=r"latin.*line 1"):
        MUSE(corpus_file=tmp_path, **SMALL)
    (tmp_path / "odd").write_bytes(b"\r\n\r\na\0b a\0b c\r\n" * 10 + b"last")
    model = MUSE(corpus_file=tmp_path / "odd", **SMALL)
    assert set(model.vocabulary) == {"a\0b", "c", "last"}
    check(model)


def test_training_on_a_text_of_unknown_words():
    model = MUSE([["a", "b"]] * 20, **SMALL)
    with pytest.raises(ValueError, match="none of the 2 tokens of the corpus is in the vocabulary of 2 words"):
        model.train([["x", "y"]])
    check(model)
    model.train([["x", "a", "y"]])  # a single token is left
    model.arrays.check_finite()


# -- anything goes -----------------------------------------------------------------------------------------------------

SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "senses": st.one_of(st.integers(1, 5), st.just("auto"), st.dictionaries(TOKENS, st.integers(1, 4))),
        "strategy": st.sampled_from(["greedy", "eps_greedy", "boltzmann", *POLICIES]),
        "formulation": st.sampled_from(["one_sided", "two_sided", "factorized"]),
        "reward": st.sampled_from(["likelihood", "sampled_likelihood"]),
        "vector_size": st.sampled_from([1, 2, 15, 16, 17, 33]),
        "selection_size": st.sampled_from([None, 1, 16, 31]),
        "window": st.sampled_from([1, 2, 5, 10_000]),
        "selection_window": st.sampled_from([None, 1, 3, 10_000]),
        "min_count": st.integers(0, 4),
        "max_vocab_size": st.sampled_from([None, 1, 3]),
        "max_final_vocab": st.sampled_from([None, 1, 3]),
        "sample": st.sampled_from([0, 1e-5, 1e-3, 1]),
        "negative": st.sampled_from([0, 1, 5, 40]),
        "ns_exponent": st.sampled_from([-1, 0, 0.75, 5]),
        "alpha": st.sampled_from([1e-6, 0.025, 1, 10]),
        "min_alpha": st.sampled_from([None, 0, 1e-4]),
        "selection_alpha": st.sampled_from([0, 0.01, 1, 100]),
        "epsilon": st.sampled_from([0, 0.05, 1]),
        "temperature": st.sampled_from([1e-6, 1, 1e6]),
        "epochs": st.integers(1, 3),
        "seed": st.sampled_from([0, 1, 2**64 - 1]),
        "workers": st.sampled_from([1, 2, 5]),
        "shrink_windows": st.booleans(),
        "sorted_vocab": st.booleans(),
        "collocates": st.sampled_from(["one", "all"]),
        "batch_tokens": st.sampled_from([1, 10, 2048]),
        "init": st.sampled_from(["random", "split"]),
        "start": st.sampled_from([None, "trees"]),
        "warmup_epochs": st.integers(1, 3),
        "whitening": st.sampled_from([0, 0.5, 1]),
        "min_contexts": st.integers(1, 5),
        "discourse": st.sampled_from([0, 1, 10, 2**31 - 1]),
        "selection_update": st.sampled_from(["paper", "posterior", "none"]),
        "posterior_weight": st.sampled_from([0, 1, 1e3]),
        "context": st.sampled_from(["sum", "mean"]),
        "context_weights": st.sampled_from(["none", "keep", "sqrt_keep"]),
        "distance_power": st.sampled_from([0, 0.5, 10]),
        "context_center": st.booleans(),
        "full_text": st.booleans(),
        "train_context_vectors": st.booleans(),
        "sibling_share": st.sampled_from([0, 0.5, 1]),
        "collocation": st.sampled_from(["sense", "word"]),
        "initial_scale": st.sampled_from([1e-3, 1, 100]),
        "max_norm": st.sampled_from([0, 1, 30]),
        "group_size": st.sampled_from([1, 2, 16, 1024]),
        "selection_reduction": st.sampled_from(["sum", "mean"]),
    },
)
EXPECTED = "|".join(
    [
        r"the corpus is empty",
        r"no word occurs min_count=\d+ times",
        r"max_vocab_size is so low that every word was forgotten",
        r"max_final_vocab=\d+ leaves no word",
        r"cannot be used with formulation='factorized'",
        r"min_alpha \(.*\) must not be above alpha",
        r"selection_update='posterior' is one-sided",
        r"needs collocation='sense'; with collocation='word'",
        r"senses='auto' needs the recipe Trees or Split",
        r"the recipes Trees and Split, and start='trees', take the selection module's vectors from the word vectors",
        r"max_vocab_size \(\d\) limits the words while counting",
    ]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sentences=CORPORA, options=SETTINGS)
def test_any_corpus_with_any_settings(sentences, options):
    try:
        model = MUSE(sentences, **arguments(**{"min_count": 1, "workers": 1, "vector_size": 4, **options}))
    except DivergenceError:  # whose conditions test_training.py checks
        assert options.get("alpha", 0) >= 1 or options.get("selection_alpha", 0) >= 1
        return
    except ValueError as error:
        assert re.search(EXPECTED, str(error))  # noqa: PT017
        return
    if "max_vocab_size" not in options:  # with which early uses of a word can be forgotten
        check(model, sentences)
    check_file(model)
