"""Words, ids and counts."""

from __future__ import annotations

import pytest

from muse.corpus import Vocabulary


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
