"""The tokeniser: letters, digits and their combining marks."""

import sys
import unicodedata

import pytest

from muse.corpus.tokens import locate
from muse.evaluation import tokenize


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
