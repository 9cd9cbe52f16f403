"""Keys, tables and sense induction on files made here, and on the published ones where they are."""

from dataclasses import replace

import numpy as np
import pytest

from muse.evaluation import (
    InductionTask,
    SenseKeyedVectors,
    evaluate_induction,
    make_key,
    read_instances,
    read_key,
    read_table,
    score_key,
    write_key,
)
from published import RUSSE, TWSI
from toy import cue_model


@pytest.fixture
def model():
    return cue_model()


KEY = "bank.n bank.n.1 bank%1/4 bank%2/2\nbank.n bank.n.2 bank%2 !! sure\nrun.v run.v.1 run%1/4 run%1/2\n"


def test_key_weights_are_read_as_the_official_scorer_reads_them(tmp_path):
    path = tmp_path / "k.key"
    path.write_text(KEY)
    key = read_key(path)
    assert key["bank.n"] == {"bank.n.1": {"bank%1": 4.0, "bank%2": 2.0}, "bank.n.2": {"bank%2": 1.0}}
    assert key["run.v"] == {"run.v.1": {"run%1": 1.0}}  # a sense named twice has no weight of its own
    write_key(key, tmp_path / "again.key")
    assert read_key(tmp_path / "again.key") == key
    with pytest.raises(ValueError, match="must not contain spaces"):
        write_key({"a": {"b c": {"d": 1.0}}}, path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bank.n bank.n.1\n", "line 1: expected 'word occurrence sense"),
        ("b 1 s\nb 1 t\n", "line 2: the occurrence '1' of 'b' occurs twice"),
        ("b 1 s/x\n", "line 1: 'x' in 's/x' is no weight"),
        ("b 1 s/0\n", "must be positive"),
        ("b 1 /3\n", "a sense without a name"),
        ("\n", "holds no occurrences"),
    ],
)
def test_damaged_keys(tmp_path, text, message):
    path = tmp_path / "k.key"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_key(path)


def test_scores_are_averaged_as_the_tasks_do():
    gold = {
        "a": {str(i): {"xy"[i % 2]: 1.0} for i in range(6)},
        "b": {str(i): {"x" if i < 2 else "y": 1.0} for i in range(4)},
    }
    system = {"a": gold["a"], "b": {str(i): {"one": 1.0} for i in range(4)}, "other": {"1": {"z": 1.0}}}
    result = score_key(gold, system)
    assert result["v_measure"] == pytest.approx((6 * 1 + 4 * 0) / 10)  # by occurrences, as SemEval-2010
    assert result["fuzzy_nmi"] == pytest.approx((1 + 0) / 2)  # by words, as SemEval-2013
    # Of b, all pairs within gold senses agree, and 2 x 1 + 2 x 1 of the 12 pairs within the one sense.
    precision, recall = (1 + 4 / 12) / 2, 1.0
    assert result["fuzzy_b_cubed"] == pytest.approx(2 * precision * recall / (precision + recall))
    assert (result["words"], result["occurrences"], result["answered"], result["senses_per_word"]) == (2, 10, 10, 1.5)
    assert score_key(gold, system, score="ari").score == pytest.approx(0.6)
    with pytest.raises(ValueError, match="score must be one of v_measure"):
        score_key(gold, system, score="V")


def test_unanswered_occurrences_are_counted_and_form_one_cluster():
    gold = {"a": {str(i): {"xy"[i % 2]: 1.0} for i in range(4)}, "b": {"1": {"x": 1.0}}}
    system = {"a": {"0": {"s": 1.0}, "2": {"s": 1.0}}}
    result = score_key(gold, system)
    assert result.items[0]["v_measure"] == pytest.approx(1)
    assert result.items[0]["senses_system"] == 1
    assert result["answered"] == 2
    assert result.notes == ["3 of 5 occurrences have no answer", "words without any answer: b"]
    with pytest.raises(ValueError, match="answers no occurrence"):
        score_key(gold, {"c": {"1": {"x": 1.0}}})


def test_tied_senses_form_a_sense_of_their_own():
    gold = {"a": {"1": {"x": 1.0, "y": 1.0}, "2": {"y": 1.0, "x": 1.0}, "3": {"x": 1.0, "y": 0.5}}}
    assert score_key(gold, gold).items[0]["senses_gold"] == 2


def test_published_baselines_of_semeval_2013(eval_data):
    """Figures of Jurgens and Klapaftis 2013, table 3: fuzzy NMI .0 and B-cubed .623; .071 and .0."""
    gold = read_key(eval_data / "semeval2013_task13" / "keys" / "gold" / "all.key")
    one = score_key(gold, {w: {i: {"one": 1.0} for i in a} for w, a in gold.items()})
    assert (round(one["fuzzy_nmi"], 3), round(one["fuzzy_b_cubed"], 3)) == (0.0, 0.623)
    each = score_key(gold, {w: {i: {i: 1.0} for i in a} for w, a in gold.items()})
    assert (round(each["fuzzy_nmi"], 3), round(each["fuzzy_b_cubed"], 3)) == (0.071, 0.0)
    assert score_key(gold, gold)["fuzzy_nmi"] == pytest.approx(1)


def instance(number, token, start, text):
    place = f'tokenStart="{start}" tokenEnd="{start + len(token)}"'
    return f'<instance id="bank.n.{number}" lemma="bank" partOfSpeech="n" token="{token}" {place}>{text}</instance>\n'


XML = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<instances lemma="bank" partOfSpeech="n">\n'
    + instance(1, "banks", 7, "Cash &amp; banks, it's ok")
    + instance(2, "bank", 4, "The bank of a river")
    + instance(3, "Bank", 0, "Bank")
    + "</instances>\n"
)


@pytest.fixture
def release(tmp_path):
    contexts, gold = tmp_path / "contexts" / "xml-format", tmp_path / "keys" / "gold"
    contexts.mkdir(parents=True)
    gold.mkdir(parents=True)
    (contexts / "bank.n.xml").write_text(XML)
    (gold / "all.key").write_text("bank.n bank.n.1 b%1/4\nbank.n bank.n.2 b%2/4\n")
    return tmp_path


def test_instances_are_tokenised_around_the_target(release):
    first, second, third = read_instances(release / "contexts" / "xml-format")
    assert (first.tokens, first.position, first.form) == (["cash", "banks", "it", "s", "ok"], 1, "banks")
    assert (first.word, first.name, first.lemma) == ("bank.n", "bank.n.1", "bank")
    assert (second.tokens[second.position], third.position) == ("bank", 0)


def test_semeval_2013_from_release_to_score(model, release):
    task = InductionTask.from_semeval2013(release)
    assert len(task.occurrences) == 2  # the key dropped the third
    assert task.label(model) == {"bank.n": {"bank.n.1": {"bank#1": 1.0}, "bank.n.2": {"bank#0": 1.0}}}
    assert evaluate_induction(model, release).score == pytest.approx(1)
    forms = InductionTask.from_semeval2013(release, target="form")
    assert forms.label(model)["bank.n"]["bank.n.1"] == {"banks#1": 1.0}
    graded = InductionTask.from_semeval2013(release, graded=True, threshold=0.2)
    assert graded.label(model)["bank.n"]["bank.n.1"] == {"bank#0": pytest.approx(0.25), "bank#1": 1.0}
    assert graded.label(model)["bank.n"]["bank.n.2"] == {"bank#0": 1.0}


def test_unknown_words_stay_unanswered(release):
    other = SenseKeyedVectors.from_word2vec_keys(["else"], [[1.0]])
    with pytest.raises(ValueError, match=r"can answer none of the 2 occurrences \(not in the vocabulary: bank\)"):
        InductionTask.from_semeval2013(release)(other)
    two = SenseKeyedVectors.from_word2vec_keys(["bank#0", "bank#1"], np.eye(2))
    with pytest.raises(ValueError, match="sense induction needs a model that selects senses by context"):
        InductionTask.from_semeval2013(release, graded=True)(two)


@pytest.mark.parametrize("key", [None, "all", "all.key", "keys/gold/all.key"])
def test_gold_keys_are_found_by_name_and_by_path(model, release, key, monkeypatch):
    monkeypatch.chdir(release)
    assert evaluate_induction(model, release, *([] if key is None else [key])).score == pytest.approx(1)
    with pytest.raises(FileNotFoundError, match=r"no gold key 'some': .* has all\. Give one of these, or a path"):
        evaluate_induction(model, release, "some")
    with pytest.raises(ValueError, match=r"the contexts in .* need their gold key: pass key="):
        evaluate_induction(model, release / "contexts")


def test_contexts_and_key_must_belong_together(model, release):
    contexts = read_instances(release / "contexts")
    for occurrences, gold, kind, message in (
        (contexts, {"zz": {"1": {"s": 1}}}, ValueError, "none of the 3 contexts is in .* begin with bank.n.1, .* zz 1"),
        ([], {"zz": {"1": {"s": 1}}}, ValueError, "no occurrences to label"),
        ("x.xml", None, TypeError, "occurrences must be a list"),
        ([*contexts, "x"], None, TypeError, "occurrences, item 3: must be of type Occurrence, .* got 'x'"),
        ([*contexts, replace(contexts[0], tokens=["bank"])], None, ValueError, "3, bank.n.1, was given .* another con"),
        (contexts, {"bank.n": []}, TypeError, "the gold key must be a path, or"),
    ):
        with pytest.raises(kind, match=message):
            InductionTask(occurrences, gold)(model)
    gold = {"bank.n": {"bank.n.1": {"s": 1.0}, "bank.n.2": {"t": 1.0}, "bank.n.9": {"t": 1.0}}}
    assert InductionTask([*contexts, contexts[0]], gold)(model).notes == [
        "occurrences that repeat an earlier one, left out: 1",
        "occurrences that are not in the gold key, left out: 1 (bank.n.3)",
        "occurrences of the gold key without a context, unanswered: 1 (bank.n.9)",
        "1 of 3 occurrences have no answer",
    ]


@pytest.mark.parametrize(
    ("key", "kind", "message"),
    [
        ({"a": {"1": "s"}}, TypeError, r"'a' '1': senses must be \{sense: weight\}, .*; got 's'"),
        ({"a": {"1": {0: 1.0}}}, TypeError, "the label of a sense must be a string; got 0"),
        ({"a": {"1": {"s": "1"}}}, TypeError, "the weight of 's' must be a number; got '1'"),
        ({"a": {"1": {"s": -1}}}, ValueError, "the weight of 's' must be a positive number; got -1"),
        ({"a": {}}, ValueError, "has no occurrences of 'a'"),
        ({"a": {"1": {}}}, ValueError, "'a' '1' has no senses"),
        ({}, ValueError, "key is empty"),
        (5, TypeError, r"key must be a path, or \{word: .*; got 5"),
    ],
)
def test_keys_in_memory_are_checked(key, kind, message, tmp_path):
    good = {"a": {"1": {"s": 1.0}}}
    for use in (lambda: score_key(key, good), lambda: write_key(key, tmp_path / "k")):
        with pytest.raises(kind, match=message):
            use()
    with pytest.raises(kind, match=message if kind is TypeError or key.get("a", {}).get("1") else "answers no occurr"):
        score_key(good, key)
    for names in (("", "1", "s"), ("a", "1", ""), ("a", "1", "s!!"), ("a", "1\xa0", "s")):
        with pytest.raises(ValueError, match="must not contain spaces, '/' or '!!', nor be empty"):
            write_key({names[0]: {names[1]: {names[2]: 1.0}}}, tmp_path / "k")
    assert not (tmp_path / "k").exists()


def test_keys_are_scored_from_files(tmp_path):
    (tmp_path / "k").write_text("a 1 s/4 t\na 2 s/4 u/2\n")
    assert read_key(tmp_path / "k") == {"a": {"1": {"s": 1.0, "t": 1.0}, "2": {"s": 4.0, "u": 2.0}}}  # 4 is dropped
    assert score_key(tmp_path / "k", str(tmp_path / "k")).score == 1


def test_damaged_instances(tmp_path):
    path = tmp_path / "x.xml"
    for text, message in (
        ("<instances>", "not well-formed XML"),
        ("<instances/>", "no <instance> elements"),
        (XML.replace('tokenStart="0"', 'tokenStart="x"'), "instance 'bank.n.3' lacks a valid"),
        (XML.replace('tokenEnd="4"', 'tokenEnd="40"'), "instance 'bank.n.3' lacks a valid"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            read_instances(path)
    with pytest.raises(FileNotFoundError, match="no XML contexts"):
        read_instances(tmp_path / "absent")


def instance_2010(number, text):
    return f"<bank.n.{number}>{text}</bank.n.{number}>\n"


XML_2010 = (
    '<?xml version="1.0"?>\n<bank.n>\n'
    + instance_2010(1, "Money first. <TargetSentence>Bankrupt BANKS fail &amp; merge.</TargetSentence> So be it.")
    + instance_2010(2, "<TargetSentence>The bank of a river</TargetSentence>")
    + instance_2010(3, "bank <TargetSentence>Nothing here</TargetSentence>")
    + "</bank.n>\n"
)


def test_semeval_2010_contexts_are_read_around_their_target_sentence(tmp_path, model):
    folder = tmp_path / "test_data" / "nouns"
    folder.mkdir(parents=True)
    (folder / "bank.n.xml").write_text(XML_2010)
    first, second, third = read_instances(tmp_path / "test_data")
    assert first.tokens == ["money", "first", "bankrupt", "banks", "fail", "merge", "so", "be", "it"]
    assert (first.word, first.name, first.lemma) == ("bank.n", "bank.n.1", "bank")
    assert (first.form, first.tokens[first.position]) == ("banks", "banks")
    assert (second.form, second.position) == ("bank", 1)
    assert third.form is None  # the word outside of the target sentence is not the one that was tagged
    key = tmp_path / "all.key"
    key.write_text("bank.n bank.n.1 b%1\nbank.n bank.n.2 b%2\nbank.n bank.n.3 b%2\n")
    result = evaluate_induction(model, tmp_path / "test_data", key)
    assert (result["occurrences"], result["answered"]) == (3, 2)


@pytest.mark.parametrize(
    ("lemma", "sentence", "form"),
    [
        ("lay", "the layer laying laid", "laying"),
        ("lay", "he laid it down", "laid"),
        ("deny", "denial was denied", "denied"),
        ("swim", "swimwear for swimming", "swimming"),
        ("swim", "they swam there", "swam"),
        ("accommodate", "accommodation accommodating them", "accommodating"),
        ("bring", "they brought it", "brought"),
        ("use", "usually a house", None),
        ("root", "roots and rooted rot", "roots"),
    ],
)
def test_inflected_forms_of_a_target_are_found(lemma, sentence, form, tmp_path):
    path = tmp_path / "x.xml"
    path.write_text(f"<w><{lemma}.v.1><TargetSentence>{sentence}</TargetSentence></{lemma}.v.1></w>")
    assert read_instances(path)[0].form == form


def test_damaged_target_sentences(tmp_path):
    path = tmp_path / "x.xml"
    for text in (XML_2010.replace("bank.n.3", "bank"), XML_2010.replace("bank <Target", "<TargetSentence/> <Target")):
        path.write_text(text)
        with pytest.raises(ValueError, match="hold one <TargetSentence>"):
            read_instances(path)


def test_tables_of_russe_and_twsi(tmp_path, model):
    path = tmp_path / "t.csv"
    path.write_text(RUSSE)
    first, second = read_table(path)
    assert (first.word, first.gold, first.system) == ("bank", {"1": 1.0}, {"2": 1.0})
    assert (first.tokens, first.position, second.tokens[second.position]) == (["cash", "bank", "x"], 1, "bank")
    assert evaluate_induction(model, path).score == pytest.approx(1)
    path.write_text(TWSI)
    only = read_table(path)[0]
    assert (only.word, only.lemma, only.form) == ("bank.n", "bank", "banks")
    assert only.gold == {"b@1": 4.0, "b@2": 2.0}


@pytest.mark.parametrize(
    ("row", "form"),
    [
        ('1\tbank\t1\t\t8-12\t"a ""red"" bank lends"', "bank"),
        ('1\tbank\t1\t\t5-9\t"red\n\nbank"', "bank"),
        ('1\tbank\t1\t\t4-8,0-3\tthe "bank', '"bank'),
        ("1\tbank\t1\t\t\tits lenders", None),
    ],
)
def test_rows_of_russe_are_csv_and_may_have_no_position(tmp_path, row, form, model):
    path = tmp_path / "t.csv"
    path.write_text(RUSSE + row.replace("1\t", "9\t", 1) + "\n10\tbank\t2\t\t0-4\tbank\n")
    found = read_table(path, lambda text: [text.strip()] if text.strip() else [])
    assert [item.name for item in found] == ["1", "2", "9", "10"]
    assert found[2].form == form
    notes = evaluate_induction(model, path).notes
    said = "occurrences without a target that is one token, unanswered: 1 (bank 9)"
    assert (said in notes) == (form is None)


def test_senses_of_russe_are_taken_whole_and_predictions_make_a_key(tmp_path, model):
    path = tmp_path / "t.csv"
    lines = ["1\tbank\tbank/1\t1\t0-4\tbank", "2\tbank\tN/A\tx/2\t0-4\tbank of", "3\tbank\t\t1,5\t0-4\tbank it"]
    path.write_text(RUSSE.split("\n")[0] + "\n" + "\n".join([*lines, lines[0]]))
    rows = read_table(path)
    assert make_key(rows) == {"bank": {"1": {"bank/1": 1.0}, "2": {"N/A": 1.0}}}
    assert make_key(rows, "system") == {"bank": {"1": {"1": 1.0}, "2": {"x/2": 1.0}, "3": {"1,5": 1.0}}}
    assert score_key(make_key(rows), make_key(rows, "system")).score == 1
    assert evaluate_induction(model, path).notes == [
        "occurrences that repeat an earlier one, left out: 1",
        "occurrences without a true sense, left out: 1 (bank 3)",
    ]
    key = tmp_path / "k"
    key.write_text("bank 3 b\n")
    assert evaluate_induction(model, path, key)["occurrences"] == 1
    with pytest.raises(ValueError, match="'1' of 'bank' is given twice, with other senses"):
        make_key([*rows, replace(rows[0], gold={"x": 1.0})])
    with pytest.raises(ValueError, match="which must be 'gold' or 'system'"):
        make_key(rows, "true")


def test_induction_options_are_checked(release):
    occurrences = read_instances(release / "contexts" / "xml-format")
    for options, message in (
        ({"target": "x"}, "target must be"),
        ({"score": "x"}, "score must be one of"),
        ({"threshold": 0}, "threshold must be a number above 0"),
        ({}, "no true senses"),
    ):
        with pytest.raises(ValueError, match=message):
            InductionTask(occurrences, **options)


def test_semeval_2013_as_published(eval_data):
    """A model that always selects the one sense of its words scores what the baseline of one sense scores."""
    task = InductionTask.from_semeval2013(eval_data / "semeval2013_task13", score="fuzzy_b_cubed")
    assert len(task.occurrences) == 4664
    lemmas = sorted({item.lemma for item in task.occurrences})
    result = task(SenseKeyedVectors.from_word2vec_keys(lemmas, np.ones((len(lemmas), 2))))
    assert round(result.score, 3) == 0.623
    assert result["answered"] == 4664
    table = read_table(eval_data / "semeval2013_task13" / "data" / "Dataset-SemEval-2013-13.csv")
    assert len(table) == 4664
