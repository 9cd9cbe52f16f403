"""What `encode_corpus` and the builders of vocabularies take as options, and what they refuse before they read."""

from __future__ import annotations

import pytest

from muse import MUSE, Vocabulary
from muse.corpus.encoding import encode_corpus

WRONG = [
    ("min_count", "a", TypeError, "an integer of at least|an integer from"),
    ("min_count", None, TypeError, "an integer"),
    ("min_count", 1.5, TypeError, "an integer"),
    ("min_count", -1, ValueError, "from 0"),
    ("max_vocab_size", "a", TypeError, "an integer"),
    ("max_vocab_size", 1.5, TypeError, "an integer"),
    ("max_vocab_size", 2**64, ValueError, "from 1"),
    ("max_vocab_size", -1, ValueError, "from 1"),
    ("max_final_vocab", -1, ValueError, "from 1"),
    ("max_final_vocab", "a", TypeError, "an integer"),
    ("max_ram", "a", TypeError, "an integer"),
    ("max_ram", 1.5, TypeError, "an integer"),
    ("max_ram", 2**70, ValueError, "from 0"),
    ("max_ram", -1, ValueError, "from 0"),
    ("workers", 1.5, TypeError, "an integer"),
    ("workers", "a", TypeError, "an integer"),
    ("workers", -1, ValueError, "from 1"),
    ("trim_rule", 1, TypeError, "a function"),
    ("sorted_vocab", "no", TypeError, "True or False"),
    ("progress", 3, TypeError, "True or False"),
    ("spill_dir", 7, TypeError, "a path"),
    ("spill_dir", b"/tmp", TypeError, "a path"),
    ("vocab", 7, TypeError, "a Vocabulary or a list of words"),
    ("vocab", "words", TypeError, "a Vocabulary or a list of words"),
]


@pytest.mark.parametrize(("option", "value", "kind", "says"), WRONG)
def test_options_that_are_none(option, value, kind, says, tmp_path):
    (tmp_path / "text").write_text("a b\n")
    sentences = iter([["a", "b"]])
    for corpus in ({"sentences": sentences}, {"corpus_file": tmp_path / "text"}):
        with pytest.raises(kind, match=f"^{option} must be ({says})"):
            encode_corpus(**corpus, **{option: value})
    assert next(sentences) == ["a", "b"]  # nothing was read


@pytest.mark.parametrize("vocab", [[1], ["a", None], Vocabulary([1])])
def test_words_that_are_none(vocab):
    for extend in (False, True):
        with pytest.raises(TypeError, match="the words of vocab must be strings; got"):
            encode_corpus([["a"]], vocab=vocab, extend=extend)


def test_words_that_stand_twice():
    with pytest.raises(ValueError, match="vocab holds the word 'a' twice"):
        encode_corpus([["a"]], vocab=["a", "a"])


def test_limits_that_contradict_each_other():
    with pytest.raises(ValueError, match="must not be below max_final_vocab"):
        encode_corpus([["a"]], max_vocab_size=1, max_final_vocab=2)


def test_rules_and_counts_that_are_none():
    for build in (
        lambda model, **options: model.build_vocab([["a"]], **options),
        lambda model, **options: model.build_vocab_from_freq({"a": 9}, **options),
    ):
        with pytest.raises(TypeError, match="trim_rule must be a function"):
            build(MUSE(min_count=1), trim_rule=1)
    for count, kind in (("a", TypeError), (-1, ValueError), (1.5, TypeError)):
        model = MUSE()
        with pytest.raises(kind, match="corpus_count must be"):
            model.build_vocab_from_freq({"a": 9}, corpus_count=count)
        assert "a" not in model
