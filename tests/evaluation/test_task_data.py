"""What users give to evaluation tasks: items and options checked at once, repeats noted, spellings."""

import numpy as np
import pytest

from muse.evaluation import (
    InductionTask,
    Occurrence,
    PseudoWordTask,
    ScwsPair,
    ScwsTask,
    SenseKeyedVectors,
    SynonymQuestion,
    SynonymTask,
    WicPair,
    WicTask,
    WordSimilarityTask,
    bootstrap_spearman,
    evaluate_induction,
    read_instances,
    read_scws,
    read_wic,
    tokenize,
)
from toy import cue_model

PAIR = WicPair("bank", ("bank", "bank"), (["a", "bank"], ["bank"]), (1, 0), True)
SCWS = ScwsPair("1", ("bank", "river"), ("bank", "river"), (["a", "bank"], ["river"]), (1, 0), 5.0)
OTHER = ScwsPair("2", ("river", "bank"), ("river", "bank"), (["river"], ["my", "bank"]), (0, 1), 3.0)
ASKED = SynonymQuestion("bank", ("river", "banks"), 1)


def test_tasks_take_generators():
    model = cue_model()
    assert ScwsTask(pair for pair in (SCWS, OTHER))(model)["pairs"] == 2
    assert WicTask(iter([PAIR]), iter([PAIR]))(model)["pairs"] == 1
    assert SynonymTask(iter([ASKED]))(model)["questions"] == 1
    places = {"bank": [[0, 0, 0], [1, 1, 1]]}
    task = PseudoWordTask(iter([["bank"], ["cash", "bank"]]), places)
    assert (task(model)["occurrences"], task.counts["bank"]) == (2, 2)
    item = Occurrence("bank", "1", "bank", "bank", ["bank"], 0, {"a": 1.0})
    assert InductionTask(iter([item]))(model)["occurrences"] == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ScwsTask([SCWS, ("a", "b", 1)]), r"pairs, item 1: must be of type ScwsPair.* got \('a', 'b', 1\)"),
        (lambda: ScwsTask(5), "pairs must be a list of ScwsPair, as read_scws makes it; got 5"),
        (lambda: WicTask([1], [PAIR]), "dev, item 0: must be of type WicPair, as read_wic makes it; got 1"),
        (lambda: WicTask([PAIR], [PAIR, "x"]), "test, item 1: must be of type WicPair"),
        (lambda: SynonymTask([("a", "b")]), "questions, item 0: must be of type SynonymQuestion"),
        (lambda: InductionTask([1]), "occurrences, item 0: must be of type Occurrence"),
        (lambda: SynonymQuestion("king", "queen", 0), "candidates must be a tuple of words.* got 'queen'"),
        (lambda: SynonymQuestion("king", ("queen", 3), 0), "must be strings"),
        (lambda: SynonymQuestion("king", ("queen", "war"), "queen"), "index of a candidate, as 0; got 'queen'"),
        (lambda: SynonymQuestion("king", ("queen", "war"), True), "index of a candidate, as 0; got True"),
        (
            lambda: ScwsPair("1", ("a", "b"), ("a", "b"), ("the a", ["b"]), (4, 0), 1.0),
            "a context must be a list",
        ),
        (lambda: WicPair("a", ("a", "a"), (["a"], ["a"]), (0, "0"), True), "a position must be the index of a token"),
        (lambda: PseudoWordTask(["a b"], {"a": [[0, 0, 0]]}), "sentence 0 must be a list of tokens.* got 'a b'"),
        (lambda: PseudoWordTask(5, {"a": [[0, 0, 0]]}), "sentences must be a list of token lists; got 5"),
        (lambda: PseudoWordTask([["a"]], [[0, 0, 0]]), "the truth must be {word: its occurrences}"),
        (lambda: PseudoWordTask([["a"]], {"a": [[0, 0, 0]]}, seed="x"), "seed must be an integer"),
        (
            lambda: PseudoWordTask([["a"]], {"a": [[0, 0, 0]]}, max_occurrences=2.5),
            "max_occurrences must be an int",
        ),
        (lambda: WordSimilarityTask([("a", "b", 1)], lowercase="no"), "lowercase must be True or False"),
        (lambda: SynonymTask([ASKED], lowercase=None), "lowercase must be True or False"),
        (lambda: InductionTask([], threshold="x"), "threshold must be a number above 0 and at most 1; got 'x'"),
        (lambda: InductionTask([], graded="no"), "graded must be True or False"),
    ],
)
def test_items_of_the_wrong_kind_are_refused_at_once(make, message):
    with pytest.raises(TypeError, match=message):
        make()


def test_what_is_compared_is_one_of_three():
    for which in (5, None, ["wv", 5]):
        with pytest.raises(ValueError, match="which must be one or more of wv, max, avg, got"):
            WordSimilarityTask([], which=which)


def test_a_position_lies_in_its_context():
    with pytest.raises(ValueError, match="the WiC pair of 'a': position 1 is not in its context of 1 tokens"):
        WicPair("a", ("a", "a"), (["a"], ["a"]), (0, 1), True)
    assert WicPair("a", ("a", None), (["a"], []), (0, 0), True).forms[1] is None


def test_a_tokenizer_is_a_function(tmp_path):
    (tmp_path / "dev.data.txt").write_text("bank\tN\t0-0\tbank\tbank\n")
    (tmp_path / "dev.gold.txt").write_text("T\n")
    with pytest.raises(TypeError, match=r"a tokenizer must be a function of a text, as str\.split; got 'split'"):
        read_wic(tmp_path / "dev.data.txt", tokenizer="split")


@pytest.mark.parametrize("make", [lambda **o: ScwsTask([SCWS], **o), lambda **o: WordSimilarityTask([], **o)])
@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"resamples": -3}, ValueError, "resamples must be at least 0; got -3"),
        ({"resamples": 1.5}, TypeError, "resamples must be an integer"),
        ({"confidence": 95}, ValueError, "confidence must be a number above 0 and at most 1; got 95"),
        ({"confidence": 1}, ValueError, "confidence must be less than 1"),
        ({"confidence": 95, "resamples": 0}, ValueError, "confidence must be a number"),
        ({"confidence": "x"}, TypeError, "confidence must be a number"),
        ({"seed": "x"}, TypeError, "seed must be an integer"),
        ({"seed": -1}, ValueError, "seed must be at least 0"),
    ],
)
def test_options_of_the_bootstrap_are_checked_at_once(make, options, kind, message):
    with pytest.raises(kind, match=message):
        make(**options)
    with pytest.raises(kind, match=message):
        bootstrap_spearman([1, 2, 3], [1, 2, 3], **options)


def test_pairs_given_again_are_noted_in_either_order():
    model = cue_model()
    given = [("bank", "river", 9.0), ("River", "Bank", 2.0), ("bank", "banks", 4.0), ("banks", "bank", 4.0)]
    result = WordSimilarityTask([*given, ("river", "banks", 1.0)], resamples=0)(model)
    said = "pairs: pairs given more than once, which count each time: 2 (bank river (9.0 and 2.0), bank banks)"
    assert result.notes[0] == said
    assert len(result.items) == 5
    assert "more than once" not in str(WordSimilarityTask([*given[:1], given[2]])(model))


def test_questions_given_again_are_noted():
    model = cue_model()
    again = SynonymQuestion("Bank", ("banks", "river"), 1)
    assert SynonymTask([ASKED, again, SynonymQuestion("bank", ("river", "bank"), 0)])(model).notes == [
        "questions given more than once, which count each time: 1 (bank (banks and river))"
    ]


def test_wic_pairs_given_again_are_noted():
    model = cue_model()
    turned = WicPair("bank", ("bank", "bank"), (["bank"], ["a", "bank"]), (0, 1), False)
    other = WicPair("bank", ("bank", "bank"), (["cash", "bank"], ["bank"]), (1, 0), False)
    notes = WicTask([PAIR, turned], [other, other, turned])(model).notes
    assert "dev pairs given more than once, which count each time: 1 (bank (same and different))" in notes
    assert "test pairs given more than once, which count each time: 1 (bank)" in notes
    assert "test pairs on which the threshold was chosen, as dev pairs: 1 (bank)" in notes


def test_scws_pairs_given_again(tmp_path):
    model = cue_model()
    turned = ScwsPair("7", ("river", "bank"), ("river", "bank"), (["river"], ["a", "bank"]), (0, 1), 1.0)
    notes = ScwsTask([SCWS, OTHER, turned], resamples=0)(model).notes
    assert (
        notes[0]
        == "pairs with the same contexts given more than once, which count each time: 1 (pair 1 and 7 (5.0 and 1.0))"
    )
    line = "\t".join(["1", "a", "n", "b", "n", "<b>a</b>", "<b>b</b>", "5", *["5"] * 10]) + "\n"
    (tmp_path / "ratings.txt").write_text(line + "\n" + line)
    with pytest.raises(ValueError, match=r"ratings\.txt, line 3: pair '1' stands in line 1 already"):
        read_scws(tmp_path / "ratings.txt")


def test_wic_says_where_one_answer_is_given_to_all():
    flat = SenseKeyedVectors.from_word2vec_keys(["bank"], [[1.0, 0.0]])
    different = WicPair("bank", ("bank", "bank"), (["bank"], ["bank"]), (0, 0), False)
    result = WicTask([different], [different, PAIR])(flat)
    assert result["threshold"] == 2
    said = (
        "all 2 known test pairs are answered 'different' (similarities 1.000 to 1.000, threshold 2.000): the accuracy"
    )
    assert result.notes[0] == f"{said} is that of one answer"
    assert WicTask([PAIR, different], [PAIR])(flat).notes[0].startswith("all 1 known test pairs are answered 'same'")


# --- capitals ---

CASED = ["Bank", "Fluss", "Geld"]


@pytest.fixture
def cased():
    keys = [f"{word}#{k}" for word in CASED for k in (0, 1)]
    return SenseKeyedVectors.from_word2vec_keys(keys, np.eye(6), lambda word, tokens, place: int("Geld" in tokens))


def test_wic_and_induction_take_the_spelling_of_the_tokenizer(tmp_path, cased):
    (tmp_path / "dev.data.txt").write_text("Bank\tN\t0-1\tBank am Fluss\tGeld Bank\n")
    (tmp_path / "dev.gold.txt").write_text("F\n")
    pairs = read_wic(tmp_path / "dev.data.txt", tokenizer=str.split)
    assert pairs[0].lemma == "Bank"
    assert WicTask(pairs, pairs)(cased)["covered"] == 1
    assert read_wic(tmp_path / "dev.data.txt")[0].lemma == "bank"
    with pytest.raises(ValueError, match=r"development pairs is in the vocabulary: bank. Does the tokeniser"):
        WicTask(tmp_path / "dev.data.txt", tmp_path / "dev.data.txt")(cased)
    xml = "<c><Bank.n.1>Am Fluss <TargetSentence>die Bank</TargetSentence></Bank.n.1></c>"
    (tmp_path / "c.xml").write_text(xml)
    (tmp_path / "gold.key").write_text("Bank.n Bank.n.1 a\n")
    (found,) = read_instances(tmp_path / "c.xml", str.split)
    assert (found.lemma, found.form) == ("Bank", "Bank")
    result = evaluate_induction(cased, tmp_path / "c.xml", tmp_path / "gold.key", tokenizer=str.split)
    assert result["answered"] == 1
    assert read_instances(tmp_path / "c.xml", tokenize)[0].lemma == "bank"


def test_the_other_value_of_lowercase_is_named_where_it_helps(cased):
    pairs = [("Bank", "Fluss", 1.0), ("Bank", "Geld", 2.0), ("Geld", "Fluss", 3.0)]
    with pytest.raises(ValueError, match=r"only 0 of 3 pairs .* lowercase=False finds 3 of 3: .* capitals"):
        WordSimilarityTask(pairs)(cased)
    question = SynonymQuestion("Bank", ("Fluss", "Geld"), 0)
    with pytest.raises(ValueError, match=r"none of the 1 questions .* lowercase=False finds 1 of 1"):
        SynonymTask([question])(cased)
    assert WordSimilarityTask(pairs, lowercase=False, resamples=0)(cased).notes[0].startswith("pairs wv: all scores")
    lower = cue_model()
    shouted = [("BANK", "RIVER", 1.0), ("bank", "river", 2.0), ("bank", "banks", 2.0)]
    notes = WordSimilarityTask(shouted, lowercase=False, resamples=0)(lower).notes
    assert notes[1] == "pairs: lowercase=True finds 3 of 3: the model's words are in lower case"
    asked = [ASKED, SynonymQuestion("BANK", ("river", "banks"), 0)]
    assert SynonymTask(asked, lowercase=False)(lower).notes[-1].startswith("lowercase=True finds 2 of 2")


def test_vectors_that_are_not_finite_are_named():
    model = SenseKeyedVectors.from_word2vec_keys(["a#0", "a#1", "b"], [[1.0, 0.0], [np.nan, 0.0], [0.0, 1.0]])
    pairs = [("a", "b", 1.0), ("b", "b", 2.0)]
    with pytest.raises(ValueError, match="NaN or infinity in the sense vectors of 'a': has"):
        WordSimilarityTask(pairs, which="max")(model)
    with pytest.raises(ValueError, match="NaN or infinity in the vector of 'a': has"):
        WordSimilarityTask(pairs)(model)


# --- keys that do not count from 0 ---


@pytest.mark.parametrize(("keys", "own"), [(["a#1", "a#2"], [1, 2]), (["a#0", "a#3"], [0, 3])])
def test_a_number_is_refused_where_keys_do_not_count_from_0(keys, own):
    def model(answer):
        return SenseKeyedVectors.from_word2vec_keys([*keys, "b#0", "b#1"], np.eye(4), lambda *_: answer)

    for answer in (*own, 0):
        with pytest.raises(
            ValueError, match=rf"answered {answer}, but the keys of 'a' are {keys[0]}, {keys[1]}: a number"
        ):
            model(answer).select_sense("a", ["a"], 0)
    assert [model(key).select_sense("a", ["a"], 0) for key in keys] == [0, 1]
    assert model([0.2, 0.8]).select_sense("a", ["a"], 0) == 1
    assert [model(answer).select_sense("b", ["b"], 0) for answer in (1, "b#1", np.str_("b#0"))] == [1, 1, 0]
    with pytest.raises(ValueError, match="the selector answered 'b#2'; the keys of 'b' are b#0, b#1"):
        model("b#2").select_sense("b", ["b"], 0)
