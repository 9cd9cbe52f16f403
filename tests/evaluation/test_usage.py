"""Models with vectors of contexts, temperatures and calibrated probabilities: what evaluations make of them."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from muse.evaluation import (
    InductionTask,
    Occurrence,
    PseudoWordTask,
    ScwsPair,
    ScwsTask,
    SenseKeyedVectors,
    WicPair,
    WicTask,
    evaluate_wic,
    score_key,
)
from muse.evaluation.protocol import SenseReader
from muse.evaluation.reliability import Answers, member_answers, reliability
from toy import by_cue

ANGLES = {"cash": 0.0, "money": 0.3, "boat": 1.2, "water": 1.5}
KEYS = ["bank#0", "bank#1", "shore#0", "shore#1"]
ROWS = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [0.8, -0.6]])


class UsageModel(SenseKeyedVectors):
    """Contexts are directions of the plane: that of the word which stands in them."""

    sense_temperature = 0.15

    def usage_vector(self, word, context, position=None):
        angle = next((ANGLES[token] for token in context if token in ANGLES), None)
        return np.zeros(2) if angle is None else 3 * np.array([np.cos(angle), np.sin(angle)])


def usage_model(kind=UsageModel):
    return kind.from_word2vec_keys(KEYS, ROWS, by_cue)


def wic(left, right, same):
    return WicPair("bank", ("bank", "bank"), ([left, "bank"], [right, "bank"]), (1, 1), same)


DEV = [wic("cash", "money", True), wic("cash", "cash", True), wic("cash", "boat", False), wic("money", "water", False)]
TEST = [wic("boat", "water", True), wic("money", "boat", False), wic("cash", "money", False)]


def test_wic_has_the_similarity_of_contexts_beside_the_senses():
    model = usage_model()
    result = WicTask(DEV, TEST)(model)
    cosines = [np.cos(0.3), np.cos(0.9), np.cos(0.3)]
    np.testing.assert_allclose([item["usage_similarity"] for item in result.items], cosines)
    assert [item["usage_answer"] for item in result.items] == [True, False, True]
    assert result["usage_accuracy"] == pytest.approx(2 / 3)
    assert np.cos(1.2) < result["usage_threshold"] < np.cos(0.3)
    assert result["usage_dev_accuracy"] == 1
    alone = WicTask(DEV, TEST, how="usage_similarity")(model)
    assert (alone.score, alone["threshold"]) == (result["usage_accuracy"], result["usage_threshold"])
    assert alone["sense_match"] == result["sense_match"]


def test_models_without_vectors_of_contexts_have_no_such_row():
    plain = usage_model(SenseKeyedVectors)
    silent = usage_model()
    silent.has_usage_vectors = False  # as a model whose class has the method, but not this one of it
    for model in (plain, silent):
        result = WicTask(DEV, TEST)(model)
        assert not [name for name in result if name.startswith("usage")]
        assert "usage_answer" not in result.items[0]
        with pytest.raises(ValueError, match="no vectors of contexts"):
            WicTask(DEV, TEST, how="usage_similarity")(model)
    names = set(WicTask(DEV, TEST)(usage_model())) - set(WicTask(DEV, TEST)(plain))
    assert names == {"usage_accuracy", "usage_accuracy_covered", "usage_threshold", "usage_dev_accuracy"}


def test_wic_with_a_threshold_that_is_given():
    result = WicTask(None, TEST, how="usage_similarity", threshold=0.99)(usage_model())
    assert [item["answer"] for item in result.items] == [False, False, False]
    assert (result["threshold"], result["dev_accuracy"], result.settings["threshold"]) == (0.99, None, 0.99)
    assert "usage_accuracy" not in result  # nothing to choose its threshold on
    known = WicTask(DEV, TEST, how="usage_similarity", threshold=0.99)(usage_model())
    assert known["dev_accuracy"] == pytest.approx(3 / 4)
    with pytest.raises(TypeError, match="threshold"):
        WicTask(DEV, TEST, threshold="high")
    with pytest.raises(TypeError, match="dev"):
        WicTask(None, TEST)


def test_wic_part_that_the_threshold_is_chosen_on(tmp_path):
    for part, lines, gold in (
        ("dev", ["cash bank\tmoney bank"], "F\n"),
        ("train", ["cash bank\tmoney bank", "cash bank\tboat bank"], "T\nF\n"),
        ("test", ["boat bank\twater bank"], "T\n"),
    ):
        (tmp_path / part).mkdir()
        (tmp_path / part / f"{part}.data.txt").write_text("".join(f"bank\tN\t1-1\t{line}\n" for line in lines))
        (tmp_path / part / f"{part}.gold.txt").write_text(gold)
    options = {"how": "usage_similarity"}
    assert evaluate_wic(usage_model(), tmp_path, **options).score == 0  # all is different, on one pair
    learned = evaluate_wic(usage_model(), tmp_path, fit="train", **options)
    assert (learned.score, learned["dev_accuracy"]) == (1, 1)
    assert learned.settings["data"] == ["train.data.txt", "test.data.txt"]
    with pytest.raises(ValueError, match="no threshold may be chosen on the test part"):
        evaluate_wic(usage_model(), tmp_path, fit="test")


CUES = [("cash", "water"), ("cash", "money"), ("boat", "money"), ("nothing", "cash"), ("water", "boat")]
RATINGS = [1.0, 9.0, 3.0, 4.0, 8.0]


def scws(left, right, rating, number, words=("bank", "shore")):
    contexts = ([left, words[0]], [right, words[1]])
    return ScwsPair(str(number), words, words, contexts, (1, 1), rating)


PAIRS = [scws(*cues, rating, i) for i, (cues, rating) in enumerate(zip(CUES, RATINGS, strict=True))]


def test_scws_adds_a_fifth_of_the_contexts():
    unknown = scws("cash", "cash", 5.0, 9, ("bank", "sand"))
    task = ScwsTask([*PAIRS, unknown], score="AvgSimC + contexts", resamples=50)
    result = task(usage_model())
    scored = result.items[:-1]
    average = np.array([item["AvgSimC"] for item in scored])
    angles = [[ANGLES.get(cue) for cue in cues] for cues in CUES]
    context = np.array([0.0 if None in pair else np.cos(pair[0] - pair[1]) for pair in angles])
    np.testing.assert_allclose([item["contexts"] for item in scored], context)
    both = (average - average.mean()) / average.std() + 0.2 * (context - context.mean()) / context.std()
    np.testing.assert_allclose([item["AvgSimC + contexts"] for item in scored], both)
    assert result.score == pytest.approx(spearmanr(both, RATINGS)[0])
    assert result["contexts"] == pytest.approx(spearmanr(context, RATINGS)[0])
    assert result.items[-1]["AvgSimC + contexts"] is None
    row = next(row for row in result.table if row["measure"] == "AvgSimC + contexts")
    assert (row["pairs"], result["skipped"]) == (5, 1)
    assert row["low"] < row["rho"] < row["high"]


def test_scws_without_vectors_of_contexts_is_as_it_was():
    plain = usage_model(SenseKeyedVectors)
    usual = ScwsTask(PAIRS, resamples=0)(plain)
    assert list(usual)[:5] == ["MaxSimC", "AvgSimC", "MaxSim", "AvgSim", "globalSim"]
    assert "contexts" not in usual
    more = ScwsTask(PAIRS, resamples=0)(usage_model())
    assert {name: more[name] for name in usual} == dict(usual)
    for score in ("contexts", "AvgSimC + contexts"):
        with pytest.raises(ValueError, match="needs a model with vectors of contexts"):
            ScwsTask(PAIRS, score=score)(plain)
    same = ScwsTask([scws("cash", "cash", r, r) for r in (1.0, 2.0, 3.0)], resamples=0)(usage_model())
    assert (same["AvgSimC + contexts"], same["contexts"]) == (0, 0)  # nothing varies, and nothing is NaN


def test_vectors_of_contexts_are_asked_for_at_once_and_checked():
    class Batch(UsageModel):
        answers = None

        def usage_vector_batch(self, words, contexts, positions):
            return self.answers or [self.usage_vector(*asked) for asked in zip(words, contexts, positions, strict=True)]

    asked = (["bank", "bank"], [["cash", "bank"], ["boat", "bank"]], [1, 1])
    batch, single = SenseReader(usage_model(Batch)), SenseReader(usage_model())
    np.testing.assert_allclose(batch.usage_vectors(*asked), single.usage_vectors(*asked))
    np.testing.assert_allclose(np.linalg.norm(single.usage_vectors(*asked), axis=1), 1)
    for answers, message in (
        ([np.ones(2)], "must be 2 of one shape"),
        ([np.ones(2), np.ones(3)], "must be 2 of one shape"),
        ([1.0, 2.0], "must be 2 of one shape"),
        ([np.ones(2), np.array([np.nan, 1])], "NaN or infinity in the vectors of contexts"),
    ):
        batch.model.answers = answers
        with pytest.raises(ValueError, match=message):
            batch.usage_vectors(*asked)


OCCURRENCES = [Occurrence("bank.n", str(i), "bank", "bank", [cue, "bank"], 1) for i, cue in enumerate(["cash", "x"])]
GOLD = {"bank.n": {"0": {"money": 1.0}, "1": {"river": 1.0}}}


def test_graded_answers_are_written_at_a_sharper_temperature():
    options = {"graded": True, "threshold": 1e-6}
    task = InductionTask(OCCURRENCES, GOLD, **options)
    assert task.label(usage_model())["bank.n"]["0"] == pytest.approx({"bank#0": (0.2 / 0.8) ** 3, "bank#1": 1.0})
    plain = {"bank#0": 0.2 / 0.8, "bank#1": 1.0}
    assert task.label(usage_model(SenseKeyedVectors))["bank.n"]["0"] == pytest.approx(plain)  # names no temperature
    as_given = InductionTask(OCCURRENCES, GOLD, temperature=None, **options)
    assert as_given.label(usage_model())["bank.n"]["0"] == pytest.approx(plain)
    assert task.settings["temperature"] == 0.05
    cold = InductionTask(OCCURRENCES, GOLD, temperature=1e-5, **options).label(usage_model())
    assert cold["bank.n"]["0"] == {"bank#1": 1.0}
    assert InductionTask(OCCURRENCES, GOLD).settings["temperature"] is None
    with pytest.raises(ValueError, match="temperature"):
        InductionTask(OCCURRENCES, GOLD, temperature=0)


def test_senses_may_have_numbers_of_their_own():
    """Senses that are nodes of a tree keep their numbers under every cut, so they need not be 0, 1, ..."""

    class Numbered(UsageModel):
        def sense_numbers(self, word):
            return [1, 6]

        def select_sense(self, word, context, position=None):
            return self.wrong or self.sense_numbers(word)[super().select_sense(word, context, position)]

        disambiguate_batch = wrong = None

    model = usage_model(Numbered)
    hard = InductionTask(OCCURRENCES, GOLD).label(model)
    assert hard["bank.n"] == {"0": {"bank#6": 1.0}, "1": {"bank#1": 1.0}}
    graded = InductionTask(OCCURRENCES, GOLD, graded=True).label(model)
    assert graded["bank.n"]["0"] == {"bank#6": 1.0}
    model.wrong = 5
    with pytest.raises(ValueError, match="select_sense chose sense 5 of 'bank', which has senses 1, 6"):
        InductionTask(OCCURRENCES, GOLD).label(model)


@pytest.mark.parametrize("graded", [False, True])
def test_induction_prints_one_sense_a_word_beside_the_model(graded):
    result = InductionTask(OCCURRENCES, GOLD, graded=graded)(usage_model())
    beside = {row["measure"]: row["one sense a word"] for row in result.table}
    one = score_key(GOLD, {"bank.n": {"0": {"s": 1.0}, "1": {"s": 1.0}}})
    for name in ("v_measure", "paired_f", "b_cubed", "ari", "fuzzy_nmi", "fuzzy_b_cubed", "senses_per_word"):
        assert beside[name] == one[name]
    assert (beside["v_measure"], beside["words"]) == (0, None)
    assert result["v_measure"] == 1
    assert str(result).splitlines()[1].split("  ")[-1] == "one sense a word"


def test_confidence_is_that_of_the_member():
    truth = np.array([0, 0, 0, 1])
    sure = np.array([[0.5, 0.3, 0.2], [0.6, 0.3, 0.1], [0.1, 0.3, 0.6], [0.0, 0.05, 0.95]])
    found = member_answers(sure, truth)  # senses 0 and 1 stand for the first member
    np.testing.assert_allclose(found.confidence, [0.8, 0.9, 0.6, 0.95])
    assert found.right.tolist() == [True, True, False, True]
    assert member_answers(np.full((4, 2), 0.5), truth) is None
    assert member_answers(np.ones((4, 1)), truth) is None


def test_reliability_curve_and_error():
    rows, error = reliability([
        Answers(np.array([0.9, 0.92, 0.7]), np.array([True, False, True])), Answers(np.array([1.0]), np.array([True]))
    ])  # fmt: skip
    assert [(row["from"], row["to"]) for row in rows] == [(0.7, 0.75), (0.9, 0.95), (0.95, 1)]
    assert [row["occurrences"] for row in rows] == [1, 2, 1]
    assert [row["accuracy"] for row in rows] == [1, 0.5, 1]
    assert rows[1]["confidence"] == pytest.approx(0.91)
    assert error == pytest.approx((0.3 + 2 * 0.41 + 0) / 4)


def calibrated(n=4000, seed=0):
    """A text whose cue says how often the member is the first, and a model that knows it."""
    rng = np.random.default_rng(seed)
    levels = rng.choice([0.05, 0.25, 0.6, 0.9], n)
    members = (rng.random(n) > levels).astype(int)
    lines = [[f"p{level}", "oak_law"] for level in levels]
    return lines, {"oak_law": [(i, 1, int(member)) for i, member in enumerate(members)]}


def test_pseudo_words_tell_whether_probabilities_are_true():
    lines, truth = calibrated()

    def model(power):
        def weights(word, tokens, position):
            first = float(tokens[0][1:]) if len(tokens) > 1 else 0.5
            return [first**power, (1 - first) ** power]

        return SenseKeyedVectors.from_word2vec_keys(["oak_law#0", "oak_law#1"], np.eye(2), weights)

    result, sharp = (PseudoWordTask(lines, truth)(model(power)) for power in (1, 3))
    assert result["calibration_error"] < 0.02
    assert sharp["calibration_error"] > 0.08
    assert result["calibration_words"] == 1
    ((title, rows),) = result.curves.items()
    assert sum(row["occurrences"] for row in rows) == len(lines)
    assert all(abs(row["confidence"] - row["accuracy"]) < 0.04 for row in rows)
    assert title in str(result)
    assert title in result._repr_html_()
    assert result.to_dict()["curves"][title] == rows
    without = PseudoWordTask(lines, truth, reliability=False)(model(1))
    assert "calibration_error" not in without
    assert without.curves == {}


def test_words_whose_senses_are_one_member_have_no_curve():
    lines, truth = calibrated(200)
    one = SenseKeyedVectors.from_word2vec_keys(["oak_law"], np.eye(1))
    result = PseudoWordTask(lines, truth)(one)
    assert (result["calibration_error"], result["calibration_words"], result.curves) == (None, 0, {})
