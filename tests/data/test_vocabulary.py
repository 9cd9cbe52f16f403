"""Words, ids and counts."""

from __future__ import annotations

import re

import numpy as np
import pytest

from muse import MUSE
from muse.corpus.encoding import Vocabulary


def test_words_ids_and_counts():
    vocabulary = Vocabulary(["the", "head", "Head", "heads"], [5, 3, 1, 1])
    assert "head" in vocabulary
    assert "heed" not in vocabulary
    assert (len(vocabulary), vocabulary["head"], vocabulary.index("Head"), vocabulary.get("x")) == (4, 1, 2, -1)
    assert list(vocabulary) == ["the", "head", "Head", "heads"]
    assert set(vocabulary.nearest_spellings("heed")) >= {"head"}


def test_mistakes_are_named():
    vocabulary = Vocabulary(["the", "head"], [5, 3])
    with pytest.raises(KeyError, match=r"'heed' is not in the vocabulary.*'head'"):
        vocabulary["heed"]
    with pytest.raises(ValueError, match="as many counts"):
        Vocabulary(["a"], [1, 2])
    with pytest.raises(ValueError, match="'a' twice"):
        Vocabulary(["a", "b", "a"]).get("b")


def test_words_are_not_touched_before_they_are_needed():
    class Lazy(list):
        def __iter__(self):
            raise AssertionError("decoded too early")

    vocabulary = Vocabulary(Lazy(["a", "b"]), [1, 2])
    assert len(vocabulary) == 2
    assert repr(vocabulary) == "<Vocabulary: 2 words, 3 of 3 tokens>"


@pytest.mark.parametrize(
    ("frequencies", "kind", "message"),
    [
        ([("a", 1)], TypeError, r"word_freq must be a dict {word: count}; got list"),
        ({}, ValueError, r"word_freq is empty; give a dict {word: count}"),
        ({1: 2}, TypeError, r"the words of word_freq must be strings; got 1"),
        ({"a": 1.5}, TypeError, r"word_freq['a'] must be an integer; got 1.5"),
        ({"a": True}, TypeError, r"word_freq['a'] must be an integer; got True"),
        ({"a": "9"}, TypeError, r"word_freq['a'] must be an integer; got '9'"),
        ({"a": 9, "b": -1}, ValueError, r"word_freq['b'] must not be negative; got -1"),
        ({"a": 2**62, "b": 1}, ValueError, r"add up to 4611686018427387905, which is more than 2^62; scale them down"),
        ({"\ud800": 9}, ValueError, r"the word '\ud800' of word_freq holds a lone surrogate, which is not text"),
    ],
)
def test_tables_of_counts_that_are_none(frequencies, kind, message):
    with pytest.raises(kind, match=re.escape(message)):
        MUSE(min_count=1).build_vocab_from_freq(frequencies)


def test_tables_of_counts_may_hold_numpys_integers():
    model = MUSE(min_count=1)
    model.build_vocab_from_freq({"a": np.int32(3), "b": np.uint64(2**40)})
    assert dict(zip(model.vocabulary.words, model.vocabulary.counts.tolist(), strict=True)) == {"b": 2**40, "a": 3}


def test_counts_that_are_added_stay_below_the_limit():
    model = MUSE(min_count=1)
    model.build_vocab_from_freq({"a": 2**62})
    with pytest.raises(ValueError, match=f"with the {2**62} that the vocabulary has, add up to {2**62 + 5}, which is"):
        model.build_vocab_from_freq({"a": 5}, update=True)
    assert model.vocabulary.counts.tolist() == [2**62]
    model = MUSE(min_count=1)
    model.build_vocab_from_freq({"a": 2**61})
    model.build_vocab_from_freq({"a": 2**61}, update=True)
    assert model.vocabulary.counts.tolist() == [2**62]
