"""Collocates: counts by hand, measures by their formulas, what tells two senses apart."""

from __future__ import annotations

from collections import Counter
from math import log, log2, sqrt

import numpy as np
import pytest

from muse import MUSE, UnknownSenseError
from muse.concordance import index_corpus
from muse.datasets import make_ambiguous_corpus
from toy import toy_model

RNG = np.random.default_rng(8)
TOKENS = ["head", "army", "the", "bank", "xyzzy", "unknown", "🎉"]
SENTENCES = [RNG.choice(TOKENS, size=n).tolist() for n in RNG.integers(1, 20, 80)]
INDEX = index_corpus(SENTENCES)
TOTALS = Counter(token for sentence in SENTENCES for token in sentence)
MODEL = toy_model()


def by_hand(word, window, weight):
    """What stands near a word: each time counts as `weight(line)`; and the sum of these weights."""
    near, uses = Counter(), 0.0
    for line in MODEL.concordance(word, INDEX):
        sentence, at = SENTENCES[line.sentence], line.token
        uses += weight(line)
        for place in range(max(0, at - window), min(len(sentence), at + window + 1)):
            if place != at:
                near[sentence[place]] += weight(line)
    return near, uses


@pytest.mark.parametrize("window", [1, 3, 100])
def test_counts_are_those_of_the_text(window):
    near, uses = by_hand("head", window, lambda line: 1)
    rows = MODEL.collocates("head", INDEX, window=window, measure="count", min_count=1)
    assert {row.collocate: row.near for row in rows} == near
    assert {row.collocate: row.total for row in rows} == {word: TOTALS[word] for word in near}
    assert [row.near for row in rows] == sorted(near.values(), reverse=True)
    assert {row.share for row in rows} == {1.0}
    assert uses == TOTALS["head"]


def test_a_sense_has_its_part_of_the_word():
    near, _ = by_hand("head", 5, lambda line: 1)
    of_sense, uses = by_hand("head", 5, lambda line: line.sense == "head#1")
    whole = {row.collocate: row for row in MODEL.collocates("head", INDEX)}
    for row in MODEL.collocates("head#1", INDEX, min_count=1):
        assert isinstance(row.near, int)
        assert row.near == of_sense[row.collocate]
        assert row.share == pytest.approx(of_sense[row.collocate] / near[row.collocate])
        assert row.word_score == whole[row.collocate].score
        assert row.score == pytest.approx(14 + log2(2 * row.near / (uses + row.total)))


def test_weights_are_the_probabilities():
    def weight(line):
        tokens = SENTENCES[line.sentence]
        return float(MODEL.sense_probabilities("head", tokens, line.token)[1])

    near, uses = by_hand("head", 2, weight)
    for row in MODEL.collocates("head#1", INDEX, window=2, weighted=True, min_count=1):
        assert row.near == pytest.approx(near[row.collocate], abs=1e-3)
        assert row.score == pytest.approx(14 + log2(2 * near[row.collocate] / (uses + row.total)), abs=1e-4)


def test_measures():
    near, uses = by_hand("head", 5, lambda line: 1)
    neighbours, tokens = sum(near.values()), sum(TOTALS.values())

    def scores(measure):
        return {row.collocate: row.score for row in MODEL.collocates("head", INDEX, measure=measure, min_count=1)}

    for word, count in near.items():
        expected = neighbours * TOTALS[word] / tokens
        table = np.array([[count, neighbours - count], [TOTALS[word] - count, 0.0]])
        table[1, 0] = max(table[1, 0], 0)
        table[1, 1] = max(tokens - neighbours, 1) - table[1, 0]
        means = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
        ratio = 2 * sum(o * log(o / e) for o, e in zip(table.flat, means.flat, strict=True) if o > 0 and e > 0)
        assert scores("pmi")[word] == pytest.approx(log2(count / expected))
        assert scores("t")[word] == pytest.approx((count - expected) / sqrt(count))
        assert scores("logdice")[word] == pytest.approx(14 + log2(2 * count / (uses + TOTALS[word])))
        if table.min() > 0:
            assert scores("likelihood")[word] == pytest.approx(ratio * (1 if count >= expected else -1), rel=1e-6)


def test_what_tells_senses_apart():
    rows = MODEL.collocate_difference("head#0", "head#1", INDEX, min_count=1, topn=50)
    first, _ = by_hand("head", 5, lambda line: line.sense == "head#0")
    second, _ = by_hand("head", 5, lambda line: line.sense == "head#1")
    assert {row.collocate for row in rows} == {word for word in {**first, **second} if first[word] + second[word]}
    for row in rows:
        assert (row.first_near, row.second_near) == (first[row.collocate], second[row.collocate])
        assert row.difference == row.first_score - row.second_score
        assert row.first_score >= 0
    assert [row.difference for row in rows] == sorted((row.difference for row in rows), reverse=True)
    few = MODEL.collocate_difference("head#0", "head#1", INDEX, min_count=1, topn=2)
    assert [*few] == [*rows[:2], *rows[-2:]]
    words = MODEL.collocate_difference("head", "bank", INDEX, weighted=True)
    assert "collocates of head and bank" in str(words)


def test_senses_of_a_text_have_their_own_words():
    corpus = make_ambiguous_corpus(2000, 300, seed=0).sentences
    model = MUSE(corpus, senses=2, vector_size=16, epochs=2, workers=1)
    index = index_corpus(corpus)
    rows = model.collocate_difference("bank#0", "bank#1", index)
    about = {rows[0].collocate, rows[-1].collocate}
    assert about & {"money", "loan", "interest", "credit"}
    assert about & {"water", "river", "stream", "shore", "flood"}
    assert max(row.share for row in model.collocates("bank#0", index)) > 0.9


def test_forms():
    rows = MODEL.collocates("head#1", INDEX)
    assert str(rows).splitlines()[0] == "collocates of head#1 within 5 words, by logdice"
    assert str(rows).splitlines()[1].split() == ["collocate", "near", "total", "score", "share", "word", "score"]
    assert rows.to_csv().splitlines()[0] == "collocate,near,total,score,share,word_score"
    assert len(rows.to_json_lines().splitlines()) == len(rows) > 0
    assert rows[:2][1] == rows[1]
    assert repr(rows) == f"<Collocates: collocates of head#1 within 5 words, by logdice, {len(rows)} words>"
    hostile = MODEL.collocates("head", [["<b>", "head", "\x1b"]], min_count=1)
    assert ">&lt;b&gt;</td>" in hostile._repr_html_()
    assert "><b></td>" not in hostile._repr_html_()
    assert "\x1b" not in str(hostile)


def test_nothing_is_near():
    for sentences in ([["head"]], [["army"]]):
        for measure in ("logdice", "pmi", "t", "likelihood", "count"):
            rows = MODEL.collocates("head#0", sentences, min_count=1, measure=measure)
            assert len(rows) == 0
            assert str(rows).count("\n") == 1
            assert "<table>" in rows._repr_html_()
    assert len(MODEL.collocate_difference("head#0", "head#1", [["army"]])) == 0


@pytest.mark.parametrize(
    "options", [{"window": 0}, {"measure": "dice"}, {"weighted": 1}, {"min_count": 0}, {"topn": 0}]
)
def test_options_out_of_range(options):
    with pytest.raises((TypeError, ValueError)) as told:
        MODEL.collocates("head", INDEX, **options)
    assert str(told.value).startswith(next(iter(options)))
    if "measure" not in options:
        with pytest.raises((TypeError, ValueError)):
            MODEL.collocate_difference("head#0", "head#1", INDEX, **options)
    with pytest.raises(UnknownSenseError):
        MODEL.collocate_difference("head#0", "head#9", INDEX)
