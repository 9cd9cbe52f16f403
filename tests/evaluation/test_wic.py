"""Word in Context on files made here, and on the published ones where they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muse.evaluation import SenseKeyedVectors, WicPair, WicTask, evaluate_wic, read_wic
from muse.evaluation.wic import best_threshold
from toy import cue_model


@pytest.fixture
def model():
    return cue_model()


WIC = "bank\tN\t1-0\tThe banks , cash .\tBanks of a river\nbank\tN\t0-2\tbank river\tcash at banks\n"


def write_wic(folder, data=WIC, gold="F\nF\n"):
    folder.mkdir(exist_ok=True)
    (folder / f"{folder.name}.data.txt").write_text(data)
    (folder / f"{folder.name}.gold.txt").write_text(gold)
    return folder / f"{folder.name}.data.txt"


def test_wic_is_read_with_its_gold(tmp_path):
    first, second = read_wic(write_wic(tmp_path / "dev"))
    assert read_wic(write_wic(tmp_path / "dev", WIC + "\n", "F\nF\n\n \n")) == [first, second]
    assert (first.contexts[0], first.positions, first.forms) == (["the", "banks", "cash"], (1, 0), ("banks", "banks"))
    assert not first.same
    assert second.forms == ("bank", "banks")


@pytest.mark.parametrize(
    ("data", "gold", "message"),
    [
        (WIC, "F\nX\n", r"dev\.gold\.txt, line 2: expected T or F"),
        (WIC, "F\n", "has only 1 answers"),
        (WIC, "F\nF\nT\n", "has 3 answers for 2 lines"),
        (WIC.replace("1-0", "9-0"), "F\nF\n", r"dev\.data\.txt, line 1: the target is word 9"),
        (WIC.replace("1-0", "one"), "F\nF\n", "line 1: expected word"),
        (WIC, "F\n\nF\n", r"dev\.gold\.txt, line 2: expected T or F, found ''"),
        ("\n" + WIC, "F\nF\n", r"dev\.data\.txt, line 1: expected word"),
        (WIC.replace("1-0", "²-0"), "F\nF\n", "line 1: expected word"),
        (WIC.replace("1-0", "1" * 5000 + "-0"), "F\nF\n", "line 1: expected word"),
    ],
)
def test_damaged_wic(tmp_path, data, gold, message):
    with pytest.raises(ValueError, match=message):
        read_wic(write_wic(tmp_path / "dev", data, gold))


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=12))
def test_threshold_is_the_best_of_all(pairs):
    scores, same = [s / 5 for s, _ in pairs], [t for _, t in pairs]
    threshold, accuracy = best_threshold(scores, same)
    assert accuracy == pytest.approx(np.mean([(s >= threshold) == t for s, t in zip(scores, same, strict=True)]))
    rivals = [np.mean([(s >= cut) == t for s, t in zip(scores, same, strict=True)]) for cut in (-1, *scores, 9)]
    assert accuracy == pytest.approx(max(rivals))


def pair(left, right, same, lemma="bank"):
    contexts = (left.split(), right.split())
    return WicPair(lemma, (lemma, lemma), contexts, (contexts[0].index(lemma), contexts[1].index(lemma)), same)


DEV = [pair("cash bank", "cash bank", True), pair("bank x", "cash bank", False), pair("bank x", "bank y", True)]
TEST = [pair("cash bank", "my bank", False), pair("a bank", "b bank", False), pair("bog", "bog", True, lemma="bog")]


@pytest.mark.parametrize("how", ["expected_cosine", "same_sense", "max_sim_c"])
def test_wic_threshold_comes_from_the_development_part(model, how):
    result = WicTask(DEV, TEST, how=how)(model)
    assert result["dev_accuracy"] == 1
    assert [item["answer"] for item in result.items] == [False, True, False]
    assert result.score == pytest.approx(1 / 3)
    assert result["accuracy_covered"] == pytest.approx(1 / 2)
    assert result["sense_match"] == pytest.approx(1 / 3)
    assert result["majority"] == pytest.approx(2 / 3)
    assert result["covered"] == 2
    assert "1 test and 0 dev pairs have an unknown word" in result.notes[0]


def test_wic_scores_are_their_formulas(model):
    p, q = np.array([0.2, 0.8]), np.array([1, 0.1]) / 1.1
    assert WicTask(DEV, TEST, how="same_sense")(model).items[0]["similarity"] == pytest.approx(p @ q)
    assert WicTask(DEV, TEST)(model).items[0]["similarity"] == pytest.approx(p @ np.eye(2) @ q)
    assert WicTask(DEV, TEST, how="max_sim_c")(model).items[0]["similarity"] == 0


def test_wic_looks_up_lemmas_or_forms(tmp_path, model):
    path = write_wic(tmp_path / "test")
    lemma = WicTask(DEV, path)(model)
    assert [item["senses_match"] for item in lemma.items] == [False, False]
    forms = WicTask(DEV, path, target="form", how="same_sense")(model)
    assert [item["similarity"] for item in forms.items] == [pytest.approx((0.2 + 0.08) / 1.1), 0.0]


def test_wic_needs_known_words_and_a_selector(model):
    with pytest.raises(ValueError, match=r"none of the words of the 1 development pairs .*: bog"):
        WicTask(TEST[2:], TEST)(model)
    plain = SenseKeyedVectors.from_word2vec_keys(["bank#0", "bank#1"], np.eye(2))
    with pytest.raises(ValueError, match="no selector"):
        WicTask(DEV, TEST)(plain)
    for options, message in (({"how": "x"}, "how must be"), ({"target": "x"}, "target must be")):
        with pytest.raises(ValueError, match=message):
            WicTask(DEV, TEST, **options)
    with pytest.raises(ValueError, match="pairs in both"):
        WicTask([], TEST)


def test_wic_as_published(eval_data):
    test = read_wic(eval_data / "wic" / "test" / "test.data.txt")
    assert (len(test), sum(p.same for p in test), sum(None in p.forms for p in test)) == (1400, 700, 0)
    lemmas = sorted({p.lemma for p in test})
    result = evaluate_wic(SenseKeyedVectors.from_word2vec_keys(lemmas, np.ones((len(lemmas), 2))), eval_data / "wic")
    assert result.score == 0.5  # one sense a word is always the same
    assert result["majority"] == 0.5
