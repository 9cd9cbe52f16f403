"""What a question is about: one context or several, and never by what is in them."""

from __future__ import annotations

import pytest

from muse.selector.context import AskedContexts, as_tokens, asked_contexts

KNOWN = {"the", "river", "money", "new york", "東京"}


def asked(context=None, position=None, contexts=None, positions=None):
    return asked_contexts(context, position, contexts, positions, KNOWN)


@pytest.mark.parametrize(
    ("context", "tokens"),
    [
        ("the river", ["the", "river"]),
        ("river", ["river"]),
        ("", []),
        ("我爱北京", ["我爱北京"]),
        ("東京　大阪", ["東京", "大阪"]),
        (["river", "money"], ["river", "money"]),
        (["river"], ["river"]),
        ([], []),
        (("the", "river"), ["the", "river"]),
        (iter(["the", "river"]), ["the", "river"]),
        (["東京", "大阪"], ["東京", "大阪"]),
        (["new york", "river"], ["new york", "river"]),  # a word of the model
        (["river", " ", ""], ["river", " ", ""]),  # white space alone is no phrase
    ],
)
def test_one_context_is_one_whatever_is_in_it(context, tokens):
    found = asked(context)
    assert found.single
    assert found.positions == [None]
    assert [as_tokens(item) for item in found.contexts] == [tokens]
    assert asked(tokens, 0) == AskedContexts([tokens], [0], single=True)


@pytest.mark.parametrize("size", [0, 1, 2, 3])
@pytest.mark.parametrize("form", [list, tuple, iter])
@pytest.mark.parametrize("item", ["river", "the river", ["river"], ["the", "river"], "", [], "東京", ["new york"]])
def test_contexts_are_several_whatever_is_in_them(size, form, item):
    assert asked(contexts=form([item] * size)) == AskedContexts([item] * size, [None] * size, single=False)


def test_batches_of_queries_of_one_word_and_more():
    for batch in (["the river", "money"], ["river", "money"], ["the river"], ["river"], ["我爱北京", "日本"]):
        assert asked(contexts=batch) == AskedContexts(batch, [None] * len(batch), single=False)


@pytest.mark.parametrize(
    ("context", "place"),
    [
        (["the river", "money"], 0),
        (["the river"], 0),
        (["money", "the river"], 1),
        (["a\u3000b"], 0),
        (["a\tb", "c"], 0),
    ],
)
def test_a_phrase_in_a_list_is_refused_with_both_ways_out(context, place):
    with pytest.raises(
        ValueError, match=rf"its item {place}, .* is several words: .*contexts=\[\.\.\.\].* as a string"
    ):
        asked(context)
    with pytest.raises(ValueError, match=rf"its item {place}, .* is several words"):
        asked(contexts=["the river", context])


@pytest.mark.parametrize("context", [[["the"], ["river"]], [["the"], "a head"], [("the", "river")], ["the", ["river"]]])
def test_a_list_of_lists_is_refused(context):
    with pytest.raises(TypeError, match=r"this is a list of lists; give several as contexts=\[\.\.\.\]"):
        asked(context)


@pytest.mark.parametrize("context", [3, b"the river", [3], {"text": "river"}, 2.5, ["the", None]])
def test_what_is_no_context(context):
    for given in ({"context": context}, {"contexts": [context]}):
        with pytest.raises(
            TypeError, match=r"a context must be a string or a list of tokens|is a row with the columns"
        ):
            asked(**given)
    with pytest.raises(TypeError, match=r"contexts must be a list of contexts, each a string or a list of tokens; got"):
        asked(contexts="the river")


def test_no_context():
    assert asked() is None


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"context": "a", "contexts": ["a"]}, ValueError, "give either context, which is one, or contexts"),
        ({"position": 0}, ValueError, "give the context too"),
        ({"positions": [0]}, ValueError, r"positions are for contexts=\[\.\.\.\]"),
        ({"context": "a", "positions": [0]}, ValueError, r"positions are for contexts=\[\.\.\.\]"),
        ({"contexts": ["a"], "position": 0}, ValueError, r"for contexts give positions=\[\.\.\.\]"),
        ({"contexts": ["a", "b"], "positions": [0]}, ValueError, "2 contexts need as many positions; got 1"),
        ({"contexts": ["a", "b"], "positions": 0}, TypeError, "positions must be a list"),
        ({"contexts": ["a"], "positions": "0"}, TypeError, "positions must be a list"),
        ({"contexts": ["a"], "positions": ["0"]}, TypeError, "an integer or None; got '0'"),
        ({"context": "a", "position": [0]}, TypeError, "an integer or None"),
        ({"context": "a", "position": True}, TypeError, "an integer or None; got True"),
    ],
)
def test_arguments_that_do_not_go_together(given, error, said):
    with pytest.raises(error, match=said):
        asked(**given)


def test_positions():
    assert asked("the river", 1).positions == [1]
    assert asked(contexts=["the river", ["money"], "x"], positions=(1, None, 0)).positions == [1, None, 0]
    assert asked(contexts=[], positions=[]) == AskedContexts([], [], single=False)
