"""Models of given words and arrays: what does not fit together says what to do."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

import muse.data.memory
from muse import (
    MUSE,
    Settings,
    Vocabulary,
)
from toy import WORDS, toy_arrays


def raises(kind, message):
    return pytest.raises(kind, match=f"^{re.escape(message)}$")


def test_parts_that_do_not_fit_together():
    arrays = toy_arrays()
    with raises(ValueError, "the vocabulary has 1 words, and the arrays are for 9"):
        MUSE.from_arrays(muse.Vocabulary(["a"]), arrays)
    with raises(ValueError, "vector_size and selection_size of the settings must be the dimensions of the arrays"):
        MUSE.from_arrays(WORDS, arrays, Settings(vector_size=8))
    sizes = {"vector_size": 7, "selection_size": 5, "init": "random"}
    with raises(ValueError, "collocation='word' in the settings, but collocation_vectors has a row for each sense"):
        MUSE.from_arrays(WORDS, arrays, Settings(**sizes, collocation="word"))
    words = toy_arrays(collocation_vectors=np.zeros((9, 7), np.float32))
    with raises(ValueError, "collocation='sense' in the settings, but collocation_vectors has a row for each word"):
        MUSE.from_arrays(WORDS, words, Settings(**sizes, collocation="sense"))
    with raises(ValueError, "formulation='factorized' needs forward_values and backward_values"):
        MUSE.from_arrays(WORDS, arrays, Settings(**sizes, formulation="factorized"))
    with raises(ValueError, "sense_vectors must be float32 with 2 dimensions; it is float64 with shape (13, 7)"):
        MUSE.from_arrays(WORDS, toy_arrays(sense_vectors=np.zeros((13, 7))))


@pytest.mark.parametrize("number", [np.float32(2), np.int64(3), 2, None])
def test_a_number_is_no_corpus(number):
    model = MUSE(vector_size=4)
    with pytest.raises((TypeError, ValueError), match=r"sentences must be an iterable of token lists, not|no corpus"):
        model.build_vocab(number)


# -- models of given parts ---------------------------------------------------------------------------------------------


def test_parts_of_other_types_are_refused():
    for arrays in (None, {}, [toy_arrays()], "arrays"):
        with pytest.raises(TypeError, match=r"arrays must be muse\.Arrays; got"):
            MUSE.from_arrays(WORDS, arrays)
    for words in ("the words", b"words", None, 7):
        with pytest.raises(TypeError, match="vocabulary must be a Vocabulary or a list of words; got"):
            MUSE.from_arrays(words, toy_arrays())


@pytest.mark.parametrize(
    ("words", "kind", "message"),
    [
        (["a", "b", "a"], ValueError, "the vocabulary holds the word 'a' twice"),
        (["a", "b", 3], TypeError, "the words of the vocabulary must be strings; got 3"),
        (
            ["a", "b", "\ud800"],
            ValueError,
            "the word '\\ud800' of the vocabulary holds a lone surrogate, which is not text",
        ),
        (["a", "b"], ValueError, "the vocabulary has 2 words, and the arrays are for 3"),
    ],
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_words_of_given_parts(words, kind, message, wrapped):
    with raises(kind, message):
        MUSE.from_arrays(Vocabulary(words) if wrapped else words, toy_arrays((1, 2, 1)))


def test_layout_of_given_arrays():
    layout = "must lie one after another in memory (C order); pass it through numpy.ascontiguousarray"
    arrays = toy_arrays((1, 2, 1))
    for name in ("sense_vectors", "context_vectors"):
        given = dataclasses.replace(arrays, **{name: np.asfortranarray(getattr(arrays, name))})
        with raises(ValueError, f"the rows of {name} {layout}"):
            MUSE.from_arrays(["a", "b", "c"], given)
    with raises(ValueError, f"the rows of sense_counts {layout}"):
        MUSE.from_arrays(["a", "b", "c"], dataclasses.replace(arrays, sense_counts=np.ones(8, np.int64)[::2]))
    with raises(TypeError, "sense_counts must be a numpy array; got list"):
        MUSE.from_arrays(["a", "b", "c"], dataclasses.replace(arrays, sense_counts=[1, 1, 1, 1]))
    MUSE.from_arrays(["a", "b", "c"], arrays.for_training())  # padded rows are as good
    with raises(ValueError, "the arrays are for no words; a model needs at least one"):
        MUSE.from_arrays([], toy_arrays(()))
