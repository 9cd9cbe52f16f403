"""SCWS, word similarity and synonym questions on files made here, and on the published ones where they are."""

import numpy as np
import pytest

from muse import MUSE, Paper
from muse.evaluation import (
    ScwsTask,
    SenseKeyedVectors,
    SynonymQuestion,
    SynonymTask,
    WordSimilarityTask,
    evaluate_scws,
    evaluate_synonyms,
    evaluate_word_similarity,
    read_scws,
    spearman,
)
from published import scws_line

ANGLES = {"bank#0": 0, "bank#1": 90, "river#0": 10, "river#1": 40, "money#0": 80, "loan#0": 60, "zero#0": None}


def unit(angle):
    return [0.0, 0.0] if angle is None else [np.cos(np.radians(angle)), np.sin(np.radians(angle))]


def by_cue(word, tokens, position):
    """Three quarters for sense 1 where the context says "cash" and one quarter for the other, else the other way."""
    return [0.25, 0.75] if "cash" in tokens else [0.75, 0.25]


@pytest.fixture
def model():
    return SenseKeyedVectors.from_word2vec_keys(ANGLES, [unit(a) for a in ANGLES.values()], by_cue)


LINES = [
    scws_line(1, "Bank", "money", "cash at the <b> Bank </b> .", "<b>money</b> talks", 9.0),
    scws_line(2, "bank", "river", "the <b>bank</b> , green", "a <b>river</b>", 8.0),
    scws_line(3, "river", "loan", "<b>river</b>", "a <b>loan</b>", 1.0),
    scws_line(4, "well-known", "loan", "a <b>well-known</b> man", "a <b>loan</b>", 1.0),
    scws_line(5, "loan", "absent", "a <b>loan</b>", "an <b>absent</b> one", 1.0),
]


@pytest.fixture
def ratings(tmp_path):
    path = tmp_path / "ratings.txt"
    path.write_text("".join(LINES), encoding="utf-8")
    return path


def cos(a, b):
    return np.cos(np.radians(a - b))


def test_scws_is_its_formulas(model, ratings):
    result = evaluate_scws(model, ratings, resamples=200)
    first, second, third = result.items[:3]
    assert first["MaxSimC"] == pytest.approx(cos(90, 80))
    assert first["AvgSimC"] == pytest.approx(0.25 * cos(0, 80) + 0.75 * cos(90, 80))
    assert second["MaxSimC"] == pytest.approx(cos(0, 10))
    mixed = [0.75 * 0.75 * cos(0, 10), 0.75 * 0.25 * cos(0, 40), 0.25 * 0.75 * cos(90, 10), 0.25 * 0.25 * cos(90, 40)]
    assert second["AvgSimC"] == pytest.approx(sum(mixed))
    assert second["MaxSim"] == pytest.approx(cos(0, 10))
    assert second["AvgSim"] == pytest.approx(np.mean([cos(a, b) for a in (0, 90) for b in (10, 40)]))
    assert third["globalSim"] == pytest.approx(cos(25, 60))
    assert (
        result.score == result["MaxSimC"] == pytest.approx(spearman([9, 8, 1], [cos(90, 80), cos(0, 10), cos(10, 60)]))
    )
    assert result.table[0]["low"] <= result.table[0]["rho"] <= result.table[0]["high"]


def test_scws_asks_a_model_about_all_contexts_at_once(ratings):
    model = MUSE([pair.contexts[k] for pair in read_scws(ratings) for k in (0, 1)] * 60, senses=2, vector_size=8,
                 min_count=1, sample=0, epochs=2, workers=1, recipe=Paper(), window=2)  # fmt: skip
    calls = []

    class OneByOne:
        wv, sense_vectors, n_senses = model.wv, model.sense_vectors, model.n_senses

        def __contains__(self, word):
            return word in model

        def sense_probabilities(self, *asked):
            calls.append(asked)
            return model.sense_probabilities(*asked)

    assert ScwsTask(ratings, resamples=0)(model).items == ScwsTask(ratings, resamples=0)(OneByOne()).items
    assert len(calls) == 8
    words, contexts = ["bank", "the", "bank", "a"], ["cash at the bank", "the bank", "qwerty", ["a", "loan"]]
    for word, context, found in zip(words, contexts, model.sense_probabilities_batch(words, contexts), strict=True):
        np.testing.assert_array_equal(found, model.sense_probabilities(word, context))
    assert model.sense_probabilities_batch([], []) == []


def test_scws_reports_what_it_skipped(model, ratings):
    result = ScwsTask(ratings)(model)
    assert (result["pairs"], result["scored"], result["skipped"]) == (5, 3, 2)
    assert [item["skipped"] for item in result.items[3:]] == [
        "not one token: well-known",
        "not in the vocabulary: absent",
    ]
    assert result.items[3]["MaxSimC"] is None
    assert result.notes[-1] == "2 of 5 pairs skipped: not in the vocabulary: absent; not one token: well-known"
    assert "not one token: well-known" in str(result)
    assert result.settings["data"] == "ratings.txt"


def test_scws_position_is_that_of_the_tokenised_target(ratings):
    pair = read_scws(ratings)[0]
    assert pair.contexts[0] == ["cash", "at", "the", "bank"]
    assert pair.positions == (3, 0)
    assert pair.words == ("bank", "money")


def test_scws_without_a_selector(ratings):
    vectors = SenseKeyedVectors.from_word2vec_keys(ANGLES, [unit(a) for a in ANGLES.values()])
    with pytest.raises(ValueError, match="MaxSimC needs a model that selects senses"):
        ScwsTask(ratings)(vectors)
    result = ScwsTask(ratings, score="MaxSim", resamples=0)(vectors)
    assert result["MaxSimC"] is None
    assert result.table[0] == {"measure": "MaxSimC", "rho": None, "low": None, "high": None, "pairs": 0}
    assert result.score == pytest.approx(spearman([9, 8, 1], [cos(90, 80), cos(0, 10), cos(40, 60)]))


def test_scws_with_one_vector_a_word_is_the_same_by_all_measures(ratings):
    words = ["bank", "river", "money", "loan"]
    result = ScwsTask(ratings, resamples=0)(
        SenseKeyedVectors.from_word2vec_keys(words, [unit(a) for a in (0, 9, 50, 70)])
    )
    assert len({result[name] for name in ("MaxSimC", "AvgSimC", "MaxSim", "AvgSim", "globalSim")}) == 1


def test_scws_with_constant_scores_reports_zero_and_says_so(ratings):
    words = ["bank", "river", "money", "loan"]
    result = ScwsTask(ratings)(SenseKeyedVectors.from_word2vec_keys(words, np.zeros((4, 2))))
    assert result.score == 0
    assert "MaxSimC: all scores are equal; reported as 0" in result.notes


def test_scws_needs_pairs(tmp_path, ratings):
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(ValueError, match="holds no pairs"):
        read_scws(tmp_path / "empty")
    with pytest.raises(ValueError, match="only 0 of 5 SCWS pairs can be scored"):
        ScwsTask(ratings)(SenseKeyedVectors.from_word2vec_keys(["else"], [[1.0]]))
    with pytest.raises(ValueError, match="score must be one of MaxSimC"):
        ScwsTask(ratings, score="maxsimc")


PAIRS = [("bank", "river", 9.0), ("money", "loan", 8.0), ("River", "money", 5.0), ("loan", "absent", 1.0)]


def test_word_similarity_through_words_and_senses(model):
    result = WordSimilarityTask(PAIRS, which=["wv", "max", "avg"])(model)
    by_which = {row["which"]: row for row in result.table}
    assert by_which["wv"]["rho"] == pytest.approx(spearman([9, 8, 5], [cos(45, 25), cos(80, 60), cos(25, 80)]))
    assert by_which["max"]["rho"] == pytest.approx(spearman([9, 8, 5], [cos(0, 10), cos(80, 60), cos(40, 80)]))
    assert by_which["avg"]["pairs"] == 3
    assert by_which["avg"]["of"] == 4
    assert result.score == by_which["wv"]["rho"]
    assert result["pairs coverage"] == 0.75
    assert "1 of 4 pairs skipped, unknown words: absent" in result.notes[0]
    assert all(row["low"] <= row["rho"] <= row["high"] for row in result.table)


def test_word_similarity_over_several_sets_is_their_mean(model, tmp_path):
    path = tmp_path / "RG.txt"
    path.write_text("bank river 2\nmoney loan 3\nriver money 1\n")
    result = evaluate_word_similarity(model, {"own": PAIRS, "RG": path}, which="max", resamples=0)
    assert result.score == pytest.approx((result["own max"] + result["RG max"]) / 2)
    assert [row["low"] for row in result.table] == [None, None]


def test_every_pair_has_a_row_and_skipped_ones_say_why(model):
    pairs = [("money", "loan", 1.0), ("river", "loan", 2.0), ("nope", "loan", 3.0), ("nope", "nada", 4.0)]
    result = WordSimilarityTask(pairs, which=["wv", "max"])(model)
    assert [(item["which"], item["word1"], item["skipped"]) for item in result.items] == [
        (which, word, reason)
        for which in ("wv", "max")
        for word, reason in [
            ("money", None), ("river", None), ("nope", "not in the vocabulary: nope"),
            ("nope", "not in the vocabulary: nope, nada"),
        ]
    ]  # fmt: skip
    assert [item["similarity"] is None for item in result.items] == [False, False, True, True] * 2


def test_word_similarity_of_constants_and_unknown_words(model):
    zero = WordSimilarityTask([("zero", "bank", 1.0), ("zero", "loan", 2.0)])(model)
    assert zero.score == 0
    assert "all scores are equal; reported as 0" in zero.notes[0]
    flat = WordSimilarityTask([("money", "loan", 1.0), ("river", "loan", 1.0)])(model)
    assert flat.score == 0
    assert "all ratings are equal" in flat.notes[0]
    with pytest.raises(ValueError, match="only 1 of 2 pairs are in the vocabulary"):
        WordSimilarityTask([("bank", "loan", 1.0), ("x", "y", 2.0)])(model)
    with pytest.raises(ValueError, match="only 0 of 4 pairs"):
        WordSimilarityTask([(a.upper(), b.upper(), r) for a, b, r in PAIRS], lowercase=False)(model)
    with pytest.raises(ValueError, match="which must be one or more of wv, max, avg"):
        WordSimilarityTask(PAIRS, which="vw")
    with pytest.raises(ValueError, match="no data sets"):
        WordSimilarityTask({})


def test_synonym_accuracy_lists_the_unanswerable(model):
    questions = [
        SynonymQuestion("Bank", ("loan", "river", "zero"), 1),  # 10 degrees: right
        SynonymQuestion("money", ("bank", "loan"), 1),  # the second sense of bank is nearer: wrong
        SynonymQuestion("money", ("absent", "loan"), 1),
        SynonymQuestion("zero", ("bank", "loan"), 0),  # all cosines are 0: half a point
    ]
    result = evaluate_synonyms(model, questions)
    assert result.score == pytest.approx(1.5 / 3)
    assert result["accuracy_all"] == pytest.approx(1.5 / 4)
    assert result["chance"] == pytest.approx((1 / 3 + 1 / 2 + 1 / 2) / 3)
    assert (result["questions"], result["answered"], result["unanswerable"]) == (4, 3, 1)
    assert result.notes == ["unanswerable: money (unknown: absent)"]
    assert [item["chosen"] for item in result.items] == ["river", "bank", None, "bank"]
    assert [item["tied"] for item in result.items] == [1, 1, None, 2]


def test_a_candidate_that_is_given_twice_counts_once(model):
    asked = SynonymQuestion("bank", ("loan", "River", "river", "river"), 2)
    result = evaluate_synonyms(model, [asked])
    assert (result.score, result["chance"], result.items[0]["chosen"]) == (1, 0.5, "River")
    assert result.notes == ["questions with a candidate that is given twice, which counts once: bank"]
    with pytest.raises(ValueError, match="the candidates of 'bank' are one word: 'River'"):
        SynonymTask([SynonymQuestion("bank", ("River", "river"), 0)])


def test_synonym_questions_are_checked(model):
    with pytest.raises(ValueError, match="needs 2 or more"):
        SynonymQuestion("a", ("b",), 0)
    with pytest.raises(ValueError, match="candidate 2 of 2"):
        SynonymQuestion("a", ("b", "c"), 2)
    with pytest.raises(ValueError, match="none of the 1 questions can be answered: unknown words absent, gone"):
        SynonymTask([SynonymQuestion("absent", ("gone", "loan"), 0)])(model)
    with pytest.raises(TypeError, match="questions, item 0: must be"):
        SynonymTask([("a", "b")])


@pytest.mark.parametrize(
    ("pairs", "kind", "message"),
    [
        ([("bank", "river", "x")], TypeError, "the rating of pair 0 must be a number; got 'x'"),
        ([("bank", "river", 1), ("bank", "money", np.nan)], ValueError, "rating of pair 1 must be a finite number"),
        (("bank", "river", 1.0), TypeError, r"pair 0 must be \(word, word, rating\), in a list of such; got 'bank'"),
        ([("bank", 3, 1.0)], TypeError, "with words that are strings"),
        (5, TypeError, r"a path or a list of \(word, word, rating\); got 5"),
        ([("bank", "river", 1.0)], ValueError, "pairs: a correlation needs at least two rated pairs; got 1"),
    ],
)
def test_pairs_in_memory_are_checked(model, pairs, kind, message):
    with pytest.raises(kind, match=message):
        evaluate_word_similarity(model, pairs)
