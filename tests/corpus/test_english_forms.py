"""Which words the rules of English, a mapping or a function take for forms of others."""

from __future__ import annotations

from muse.corpus.forms import Forms, candidates


def pairs(words: str, forms: Forms) -> set[str]:
    known = words.split()
    return {f"{known[form]}>{known[lemma]}" for form, lemma in candidates(known, forms)}


def test_rules_of_english() -> None:
    known = "bank banks banked banking stop stopped stopping make making city cities box boxes try tried"
    assert pairs(known, "en") == {
        "banks>bank", "banked>bank", "banking>bank", "stopped>stop", "stopping>stop", "making>make", "cities>city",
        "boxes>box", "tried>try",
    }  # fmt: skip


def test_irregular_forms() -> None:
    assert pairs("take took taken man men child children", "en") == {
        "took>take", "taken>take", "men>man", "children>child"
    }  # fmt: skip


def test_endings_that_are_none() -> None:
    assert pairs("glas glass viru virus basi basis th thing s sing b bed", "en") == set()


def test_a_lemma_must_be_known() -> None:
    assert pairs("banks banking", "en") == set()
    assert pairs("banks banking", {"banks": "bank", "banking": "banks"}) == {"banking>banks"}


def test_a_function() -> None:
    assert pairs("bank banken banks", lambda word: word.removesuffix("en") if word.endswith("en") else None) == {
        "banken>bank"
    }


def test_without_words() -> None:
    assert candidates([], "en").shape == (0, 2)
