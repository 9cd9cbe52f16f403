"""What a result says of the run that made it, and what a task says of a model that it cannot use."""

import functools
import re

import numpy as np
import pytest

from muse import MUSE, load_vectors
from muse.evaluation import (
    InductionTask,
    PseudoWordTask,
    ScwsPair,
    ScwsTask,
    SenseKeyedVectors,
    SynonymQuestion,
    SynonymTask,
    WicPair,
    WicTask,
    draw_pairs,
    evaluate_induction,
    evaluate_pseudo_words,
    read_instances,
    score_key,
    tokenize,
)
from muse.evaluation.provenance import tokenizer_name
from toy import cue_model

KEY = {"bank.n": {"1": {"a": 1.0}, "2": {"b": 1.0}}}
TEXT = "bank\tN\t0-0\tbank cash\tbank river\nbank\tN\t0-0\tbank river\tbank river\n"


def write_wic(folder, part):
    (folder / f"{part}.gold.txt").write_text("F\nT\n")
    path = folder / f"{part}.data.txt"
    path.write_text(TEXT)
    return path


def test_wic_names_its_files_and_tokenizer(tmp_path):
    dev, test = write_wic(tmp_path, "dev"), write_wic(tmp_path, "test")
    settings = WicTask(dev, str(test))(cue_model()).settings
    assert settings["data"] == ["dev.data.txt", "test.data.txt"]
    assert settings["tokenizer"] == "muse.evaluation.tokenize"
    assert WicTask(dev, test, tokenizer=str.split).settings["tokenizer"] == "str.split"
    pairs = WicTask(dev, test).dev
    given = WicTask(pairs, pairs).settings
    assert (given["data"], given["tokenizer"]) == (["2 pairs", "2 pairs"], None)


def test_synonyms_name_their_files(tmp_path):
    question = SynonymQuestion("a", ("b", "c"), 0)
    assert SynonymTask([question] * 3).settings["data"] == "3 questions"
    (tmp_path / "esl.csv").write_text("bank,river,banks\n")
    assert SynonymTask(tmp_path / "esl.csv")(cue_model()).settings["data"] == "esl.csv"
    (tmp_path / "t.qst").write_text("1. bank\na. river\nb. banks\n")
    (tmp_path / "t.ans").write_text("1 a\n")
    for files in ((tmp_path / "t.qst", tmp_path / "t.ans"), [str(tmp_path / "t.qst"), str(tmp_path / "t.ans")]):
        assert SynonymTask(files).settings["data"] == ["t.qst", "t.ans"]


XML = """<?xml version="1.0"?><instances lemma="bank" partOfSpeech="n">
<instance id="1" lemma="bank" partOfSpeech="n" token="bank" tokenStart="4" tokenEnd="8">the bank</instance>
<instance id="2" lemma="bank" partOfSpeech="n" token="bank" tokenStart="3" tokenEnd="7">my bank</instance>
</instances>"""


def release(folder):
    """A release of SemEval-2013, as far as it is read."""
    for name in ("keys/gold", "contexts/xml-format"):
        (folder / name).mkdir(parents=True)
    (folder / "keys" / "gold" / "all.key").write_text("bank.n 1 x\nbank.n 2 y\n")
    (folder / "contexts" / "xml-format" / "bank.n.xml").write_text(XML)
    return folder


def test_induction_names_its_data_key_and_tokenizer(tmp_path):
    root = release(tmp_path / "semeval2013")
    result = evaluate_induction(cue_model(), root)
    names = {name: result.settings[name] for name in ("data", "key", "tokenizer")}
    assert names == {"data": "semeval2013", "key": "all.key", "tokenizer": "muse.evaluation.tokenize"}
    contexts = root / "contexts" / "xml-format" / "bank.n.xml"
    task = InductionTask.from_files(contexts, root / "keys" / "gold" / "all.key", tokenizer=str.split)
    assert (task.settings["data"], task.settings["tokenizer"]) == ("bank.n.xml", "str.split")
    direct = InductionTask(read_instances(contexts), {"bank.n": {"1": {"x": 1.0}}})
    assert (direct.settings["data"], direct.settings["key"], direct.settings["tokenizer"]) == (
        "2 occurrences", "given", None
    )  # fmt: skip
    (tmp_path / "sys.key").write_text("bank.n 1 x\n")
    scored = score_key(root / "keys" / "gold" / "all.key", tmp_path / "sys.key").settings
    assert (scored["gold"], scored["system"]) == ("all.key", "sys.key")
    assert score_key(KEY, KEY).settings["gold"] == "given"


def test_scws_and_pseudo_words_say_what_they_are_of(tmp_path):
    pair = ScwsPair("1", ("bank", "bank"), ("bank", "bank"), (["bank"], ["cash", "bank"]), (0, 1), 1.0)
    assert ScwsTask([pair] * 2).settings["tokenizer"] is None
    line = "\t".join(["1", "bank", "n", "bank", "n", "<b>bank</b>", "cash <b>bank</b>", "1.0", *["1.0"] * 10])
    (tmp_path / "ratings.txt").write_text(line)
    settings = ScwsTask(tmp_path / "ratings.txt", tokenizer=str.split).settings
    assert (settings["data"], settings["tokenizer"]) == ("ratings.txt", "str.split")
    task = PseudoWordTask([["a_b", "x"], ["a_b"]], {"a_b": [[0, 0, 0], [1, 0, 1]]})
    assert task.settings["data"] == "2 sentences, 3 tokens"


class Spelled:
    def __call__(self, text):
        return list(text)

    def cut(self, text):
        return list(text)


def test_names_of_tokenizers():
    assert tokenizer_name(tokenize) == "muse.evaluation.tokenize"
    assert tokenizer_name(str.split) == "str.split"
    assert tokenizer_name(re.compile("[a-z]+").findall) == "re.compile('[a-z]+').findall"
    assert tokenizer_name(Spelled()) == f"{__name__}.Spelled"
    assert tokenizer_name(Spelled().cut) == f"{__name__}.Spelled.cut"
    assert tokenizer_name(lambda text: [text]).endswith("<lambda>")
    assert "partial" in tokenizer_name(functools.partial(str.split, sep=" "))


def test_senses_of_a_word_without_any_answer_are_not_none():
    """A model with one sense a word has one, whatever words it lacks."""
    gold = {"bank.n": {"1": {"a": 1.0}, "2": {"b": 1.0}}, "bog.n": {"1": {"a": 1.0}}}
    result = score_key(gold, {"bank.n": {"1": {"s": 1.0}, "2": {"s": 1.0}}})
    assert result["senses_per_word"] == 1
    assert (result["words"], result["answered"]) == (2, 2)
    assert score_key(gold, {"bank.n": {"1": {"s": 1.0}, "2": {"t": 1.0}}, "bog.n": {"1": {"s": 1}}})[
        "senses_per_word"
    ] == pytest.approx(1.5)


def two_senses():
    return SenseKeyedVectors({"bank": np.eye(2)})


PAIR = WicPair("bank", ("bank", "bank"), (["bank"], ["cash", "bank"]), (0, 1), True)
SCWS = ScwsPair("1", ("bank", "bank"), ("bank", "bank"), (["bank"], ["cash", "bank"]), (0, 1), 1.0)


@pytest.mark.parametrize(
    ("what", "task"),
    [
        ("MaxSimC", ScwsTask([SCWS, SCWS])),
        ("WiC", WicTask([PAIR], [PAIR])),
        ("the pseudo-word test", PseudoWordTask([["bank"], ["bank"]], {"bank": [[0, 0, 0], [1, 0, 1]]})),
    ],
)
def test_vectors_without_a_selector_are_told_what_has_one(what, task, tmp_path):
    (tmp_path / "v.txt").write_text("2 2\nbank#0 1 0\nbank#1 0 1\n")
    for vectors in (two_senses(), load_vectors(tmp_path / "v.txt")):
        with pytest.raises(ValueError, match=r"SenseKeyedVectors\(\{word: vectors\.sense_vectors") as caught:
            task(vectors)
        assert str(caught.value).startswith(f"{what} needs a model that selects senses by context")
        assert ("MaxSim'" in str(caught.value)) == (what == "MaxSimC")  # which the others do not have
    with_one = SenseKeyedVectors({word: vectors.sense_vectors(word) for word in ["bank"]}, selector=lambda *_: 1)
    assert task(with_one).score is not None


def test_a_class_and_a_dict_are_no_model():
    with pytest.raises(TypeError, match=r"evaluation needs a model; got the class MUSE\. Give a trained one"):
        WicTask([PAIR], [PAIR])(MUSE)
    with pytest.raises(TypeError, match=r"SenseKeyedVectors\(\{word: matrix of its senses, \(K, D\)\}\); got dict"):
        WicTask([PAIR], [PAIR])({"bank": np.eye(2)})
    with pytest.raises(TypeError, match="got the class SenseKeyedVectors"):
        evaluate_pseudo_words(SenseKeyedVectors, _Corpus())


class _Corpus:
    sentences = (["bank"], ["bank"])

    def occurrences(self):
        return {"bank": [[0, 0, 0], [1, 0, 1]]}


@pytest.mark.parametrize("exclude", ["the", b"the", 3, None])
def test_words_to_leave_out_are_no_string(exclude):
    with pytest.raises(TypeError, match=r"exclude must be a collection of words, as in \['the'\]; got"):
        draw_pairs({"red": 10, "sun": 11}, 1, min_count=10, max_count=11, bands=1, exclude=exclude)


@pytest.mark.parametrize("options", [{"max_occurrences": "5"}, {"max_occurrences": 2.5}, {"seed": "x"}])
def test_options_of_pseudo_words_are_checked(options):
    with pytest.raises(TypeError, match=f"{next(iter(options))} must be an integer"):
        PseudoWordTask([["a_b"], ["a_b"]], {"a_b": [[0, 0, 0], [1, 0, 1]]}, **options)
