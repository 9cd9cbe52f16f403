"""Generated text and pseudo-words: the truth that they claim is the truth of the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pytest

from muse._topic_words import AMBIGUOUS, FUNCTION_WORDS, TOPICS
from muse.datasets import AmbiguousCorpus, iter_pseudo_words, make_ambiguous_corpus, pseudo_words


def topic_of_word() -> dict[str, str]:
    return {word: topic for topic, words in TOPICS.items() for word in words}


def test_word_lists_are_disjoint() -> None:
    counts = Counter(chain(AMBIGUOUS, FUNCTION_WORDS, *TOPICS.values()))
    assert [word for word, count in counts.items() if count > 1] == []
    assert set(chain(*AMBIGUOUS.values())) <= set(TOPICS)


@pytest.fixture(scope="module")
def corpus() -> AmbiguousCorpus:
    return make_ambiguous_corpus(n_sentences=5000, n_words=1000, seed=3)


def test_senses_align_with_tokens(corpus: AmbiguousCorpus) -> None:
    assert len(corpus.sentences) == 5000
    for sentence, senses in zip(corpus.sentences, corpus.true_senses, strict=True):
        assert len(sentence) == len(senses) >= 4
        for word, sense in zip(sentence, senses, strict=True):
            assert sense in range(len(corpus.ambiguous_words[word])) if word in corpus.ambiguous_words else sense == -1


def test_sense_is_the_topic_of_the_context(corpus: AmbiguousCorpus) -> None:
    """A vote of the topic words around it names the true sense nearly as often as topic_purity allows."""
    topic_of = topic_of_word()
    right = total = 0
    for word, found in corpus.occurrences().items():
        for number, _, sense in found:
            votes = Counter(topic_of[w] for w in corpus.sentences[number] if w in topic_of)
            named = [votes[topic] for topic in corpus.ambiguous_words[word]]
            if max(named) > min(named):
                right += int(np.argmax(named)) == sense
                total += 1
    assert total > 1500
    assert right / total > 0.9


def test_topic_purity_of_one_leaves_one_topic_a_sentence() -> None:
    topic_of = topic_of_word()
    pure = make_ambiguous_corpus(n_sentences=500, n_words=1000, topic_purity=1.0)
    mixed = make_ambiguous_corpus(n_sentences=500, n_words=1000, topic_purity=0.5)

    def topics_in(sentence: list[str]) -> int:
        return len({topic_of[word] for word in sentence if word in topic_of})

    assert max(map(topics_in, pure.sentences)) == 1
    assert max(map(topics_in, mixed.sentences)) == 2


def test_every_sense_occurs_often_enough_to_be_learned() -> None:
    for word, found in make_ambiguous_corpus().occurrences().items():
        counts = Counter(sense for *_, sense in found)
        assert min(counts[0], counts[1]) >= 30, word


def test_frequencies_follow_zipf() -> None:
    corpus = make_ambiguous_corpus(n_sentences=20_000, n_words=5000)
    counts = np.array(sorted(Counter(chain(*corpus.sentences)).values(), reverse=True), dtype=float)
    assert len(counts) > 4900
    ranks = np.arange(1, len(counts) + 1)
    middle = slice(20, 2000)
    slope = np.polyfit(np.log(ranks[middle]), np.log(counts[middle]), 1)[0]
    assert -1.3 < slope < -0.7
    flat = make_ambiguous_corpus(n_sentences=20_000, n_words=300, zipf=0.0)
    own = set(topic_of_word())
    flat_counts = [c for word, c in Counter(chain(*flat.sentences)).items() if word in own]
    assert max(flat_counts) < 4 * min(flat_counts)


def test_function_words_never_stand_side_by_side(corpus: AmbiguousCorpus) -> None:
    function = set(FUNCTION_WORDS)
    flags = [[word in function for word in sentence] for sentence in corpus.sentences]
    assert not any(a and b for sentence in flags for a, b in pairwise(sentence))
    assert 0.2 < np.mean(list(chain(*flags))) < 0.4


def test_seed_decides_everything() -> None:
    first = make_ambiguous_corpus(n_sentences=200, seed=5)
    assert make_ambiguous_corpus(n_sentences=200, seed=5) == first
    assert make_ambiguous_corpus(n_sentences=200, seed=6).sentences != first.sentences


@pytest.mark.parametrize("n_senses", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("n_words", [30, 300, 100_000])
def test_sizes(n_words: int, n_senses: int) -> None:
    corpus = make_ambiguous_corpus(n_sentences=300, n_words=n_words, n_senses=n_senses)
    assert len(set(chain(*corpus.sentences))) <= n_words
    assert corpus.ambiguous_words
    for names in corpus.ambiguous_words.values():
        assert len(set(names)) == len(names) == n_senses
    lengths = [len(sentence) for sentence in corpus.sentences]
    assert np.mean(lengths) == pytest.approx(15, abs=1.5)


def test_vocabulary_has_exactly_the_words_asked_for() -> None:
    corpus = make_ambiguous_corpus(n_sentences=5000, n_words=64, zipf=0.0)
    assert len(set(chain(*corpus.sentences))) == 64


def test_smallest_vocabulary_and_no_sentences() -> None:
    corpus = make_ambiguous_corpus(n_sentences=50, n_words=4)
    assert set(chain(*corpus.sentences)) == {"bank", "water", "money", "the"}
    assert make_ambiguous_corpus(n_sentences=0).sentences == []
    with pytest.raises(ValueError, match="at least 4 words"):
        make_ambiguous_corpus(n_words=3)


def test_senses_by_word() -> None:
    wanted = {"spring": 3, "water": 1, "gizmo": 4}
    corpus = make_ambiguous_corpus(n_sentences=4000, n_words=300, n_senses=wanted)
    assert {word: len(names) for word, names in corpus.ambiguous_words.items()} == wanted
    assert corpus.ambiguous_words["spring"] == ["weather", "mechanics", "river"]
    seen = {word: {sense for *_, sense in found} for word, found in corpus.occurrences().items()}
    assert seen == {"spring": {0, 1, 2}, "water": {0}, "gizmo": {0, 1, 2, 3}}


def test_more_ambiguous_words_than_english_ones() -> None:
    corpus = make_ambiguous_corpus(n_sentences=10, n_words=1000, n_ambiguous=60)
    assert len(corpus.ambiguous_words) == 60
    assert "homonym0" in corpus.ambiguous_words


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_sentences": -1}, "n_sentences must be at least 0"),
        ({"n_senses": 0}, "n_senses must be from 1 to"),
        ({"n_senses": {"bank": 99}}, r"n_senses\['bank'\] must be from 1 to"),
        ({"n_senses": {"bank": 2}, "n_ambiguous": 3}, "already lists the ambiguous words"),
        ({"n_ambiguous": -2}, "n_ambiguous must be at least 0"),
        ({"n_words": 50, "n_ambiguous": 49}, "n_words=50 is too small"),
        ({"topic_purity": 0.0}, "topic_purity must be a number above 0 and at most 1"),
        ({"sentence_length": 2}, "sentence_length must be a number from 4"),
        ({"zipf": -1}, "zipf must be a number from 0"),
        ({"zipf": float("nan")}, "zipf must be a number from 0"),
        ({"seed": -1}, "seed must be at least 0"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_ambiguous_corpus(**arguments)


TEXT = [["the", "ripe", "banana"], ["open", "the", "door"], ["a", "banana", "door"], []]


@pytest.mark.parametrize("value", [[], "x", 1.5, True, None])
@pytest.mark.parametrize("name", ["n_sentences", "n_words", "n_senses", "seed"])
def test_arguments_that_are_no_numbers(name: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"{name} must be an integer"):
        make_ambiguous_corpus(**{name: value})


@pytest.mark.parametrize(
    ("sentences", "pairs", "kind", "message"),
    [
        (TEXT, 3, TypeError, "`pairs` must be a list of tuples of words, not 3"),
        (TEXT, [3], ValueError, "must be a tuple of two words or more, not 3"),
        (TEXT, [("banana", 1)], ValueError, "must be a tuple of two words or more"),
        (TEXT, [b"ab"], ValueError, "must be a tuple of two words or more"),
        (3, [("banana", "door")], TypeError, "sentences must be an iterable of token lists, not int"),
    ],
)
def test_pairs_and_texts_of_the_wrong_kind(sentences: Any, pairs: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        pseudo_words(sentences, pairs)


def test_pseudo_words_keep_the_truth() -> None:
    corpus = pseudo_words(TEXT, [("banana", "door")])
    assert corpus.sentences == [
        ["the", "ripe", "banana_door"],
        ["open", "the", "banana_door"],
        ["a", "banana_door", "banana_door"],
        [],
    ]
    assert corpus.true_senses == [[-1, -1, 0], [-1, -1, 1], [-1, 0, 1], []]
    assert corpus.ambiguous_words == {"banana_door": ["banana", "door"]}
    assert TEXT[0] == ["the", "ripe", "banana"], "the text given is left alone"


def test_pseudo_words_can_be_undone(corpus: AmbiguousCorpus) -> None:
    pairs = [("water", "money"), ("song", "engine", "judge")]
    merged = pseudo_words(corpus.sentences, pairs, joiner="+")
    restored = [
        [merged.ambiguous_words[word][sense] if sense >= 0 else word for word, sense in zip(*pair, strict=True)]
        for pair in zip(merged.sentences, merged.true_senses, strict=True)
    ]
    assert restored == corpus.sentences
    assert list(merged.ambiguous_words) == ["water+money", "song+engine+judge"]


def test_pseudo_words_reads_an_iterator_once() -> None:
    corpus = pseudo_words(iter([tuple(sentence) for sentence in TEXT]), iter([("banana", "door")]))
    assert corpus == pseudo_words(TEXT, [("banana", "door")])


def test_iter_pseudo_words_streams() -> None:
    def endless() -> Iterator[list[str]]:
        while True:
            yield from TEXT

    stream = iter_pseudo_words(endless(), [("banana", "door")])
    assert next(stream) == (["the", "ripe", "banana_door"], [-1, -1, 0])
    assert next(stream) == (["open", "the", "banana_door"], [-1, -1, 1])


@pytest.mark.parametrize(
    ("sentences", "pairs", "joiner", "message"),
    [
        (TEXT, [("banana", "door"), ("door", "ripe")], "_", "'door' stands twice"),
        (TEXT, [("banana", "banana")], "_", "'banana' stands twice"),
        (TEXT, [("banana", "window"), ("x", "ripe")], "_", "do not occur in the text: window, x"),
        ([*TEXT, ["a", "banana_door"]], [("banana", "door")], "_", "sentence 4 already holds the word 'banana_door'"),
        (TEXT, [("banana",)], "_", "tuple of two words"),
        (TEXT, ["ab"], "_", "tuple of two words"),
        ([["a", "b", "ab", "c"]], [("a", "bc"), ("ab", "c")], "", "the same name 'abc'"),
    ],
)
def test_pseudo_words_errors(sentences: list[list[str]], pairs: Any, joiner: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pseudo_words(sentences, pairs, joiner)


def test_wrong_pairs_are_reported_before_any_reading() -> None:
    with pytest.raises(ValueError, match="stands twice"):
        iter_pseudo_words(TEXT, [("banana", "banana")])


def test_pseudo_words_of_plain_strings() -> None:
    with pytest.raises(TypeError, match=r"sentence 1 is a string.*split"):
        pseudo_words([["a", "b"], "a b"], [("a", "b")])
