"""The words of prose: Unicode text segmentation, and what a vocabulary needs beyond it."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muse.corpus import tokenize, tokenize_wiki, tokenizer


@pytest.fixture(autouse=True)
def told_anew(monkeypatch):
    monkeypatch.setattr(tokenizer, "_said", set())


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("He sat on the Bank, by the River.", "he sat on the bank by the river"),
        ("Don't! 'tis o'clock, the dogs' bank's", "don't tis o'clock the dogs bank's"),
        ("don’t l’homme", "don't l'homme"),
        ("new_york bank_NN __init__ _emphasis_ ___ a_", "new_york bank_nn init emphasis a"),
        ("C++ C#, F#; Notepad++. C++17 (C) C", "c++ c# f# notepad++ c++ 17 c c"),
        ("head#2 #python a+b c+ + # ++", "head 2 python a b c"),
        ("3.5 1,000 3,14 12:30 2.", "3.5 1,000 3,14 12 30 2"),
        ("e.g. the U.S.A. and example.com well-known", "e.g the u.s.a and example.com well known"),
        ("naïve CAFÉ cafe\u0301s Ω", "naïve café cafe\u0301s ω"),
        ("C++ é C# é_é", "c++ é c# é_é"),
        ("CO₂ H₂O m² ½", "co₂ h₂o m ² ½"),
        ("", ""),
        (" \t\n\u3000\u2028\u0085\u00a0 ", ""),
        ("«…»—“”", ""),
    ],
)
def test_words_of_prose(text, tokens):
    assert tokenize(text) == tokens.split(" ") * bool(tokens)


def test_case_is_kept_on_request():
    assert tokenize("The Bank_NN of C#, Élan", lower=False) == ["The", "Bank_NN", "of", "C#", "Élan"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("می‌خواهم کتاب‌ها را", ["می\u200cخواهم", "کتاب\u200cها", "را"]),  # Persian, with zero-width non-joiners
        ("کتاب\u200c می‌رود", ["کتاب", "می\u200cرود"]),
        ("हिन्दी में बैंक, क्\u200dष", ["हिन्दी", "में", "बैंक", "क्\u200dष"]),
        ("ശ്രീ നന്\u200d", ["ശ്രീ", "നന്\u200d"]),
        ("ОРГАНИЗМ и клетка", ["организм", "и", "клетка"]),
        ('צה"ל ירושלים', ['צה"ל', "ירושלים"]),
        ("은행에서 돈을", ["은행에서", "돈을"]),
        ("التكنولوجيا والبنك", ["التكنولوجيا", "والبنك"]),
        ("word\u200e (\u202bעברית\u202c)", ["word", "עברית"]),
    ],
)
def test_scripts_with_spaces(text, tokens):
    assert tokenize(text) == tokens


@pytest.mark.parametrize(
    "text", ["co\u00adoperate", "\u00adco\u00adop\u00aderate\u00ad", "\ufeffco\u2060operate\ufeff"]
)
def test_layout_marks_make_no_other_word(text):
    assert tokenize(text) == ["cooperate"]


def test_emoji_are_tokens_whole():
    text = "good 👍👍🏽, ❤️! 👩‍👩‍👧 🇩🇪🇫🇷 1️⃣ ok👌 © 2020™"
    assert tokenize(text) == [*"good 👍 👍🏽 ❤️ 👩‍👩‍👧 🇩🇪 🇫🇷 1️⃣ ok 👌 2020".split()]


@pytest.mark.parametrize(
    ("text", "language", "package"),
    [
        ("我爱北京天安门", "Chinese", "jieba"),
        ("东京へ行きます", "Japanese", "fugashi"),
        ("ฉันรักประเทศไทย", "Thai", "pythainlp"),
        ("ຂ້ອຍຮັກລາວ", "Lao", "laonlp"),
        ("ខ្ញុំស្រឡាញ់ភាសាខ្មែរ", "Khmer", "khmer-nltk"),
        ("ကျွန်တော်မြန်မာ", "Burmese", "mmdt-tokenizer"),
    ],
)
def test_scripts_without_spaces_are_said_once_with_what_to_install(text, language, package):
    with pytest.warns(UserWarning, match=rf"there is {language} in the text.*pip install {package}") as said:
        tokens = tokenize(text)
    assert [warning.filename for warning in said] == [__file__]
    assert len(tokens) > 3
    assert "".join(tokens) == text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tokenize(text) == tokens
        tokenize("русский 日 café テレビ")  # a single character is a name in other text


def test_only_text():
    for wrong in (None, 3, b"text", ["a text"]):
        with pytest.raises(TypeError, match="tokenize takes a string"):
            tokenize(wrong)


@given(st.text(st.characters(max_codepoint=127), max_size=40) | st.text("aB1_.,':;+# -", max_size=20))
def test_the_quick_rule_for_ascii_is_the_general_one(text):
    """The word in front is not ASCII, so the text goes the other way; a full stop lets neither rule reach over."""
    assert tokenize("é. ! " + text) == ["é", *tokenize("a. ! " + text)[1:]]


@given(st.text(max_size=30))
def test_tokens_hold_no_white_space_and_are_found_again(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for token in tokenize(text):
            assert token
            assert token.split() == [token]


def test_the_rule_of_wikipedia_texts_stays():
    assert tokenize_wiki("Don't head_line C++") == ["don", "t", "head", "line", "c"]
