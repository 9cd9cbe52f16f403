"""A model remembers how its text was made into tokens, and reads plain strings in the same way."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muse import MUSE, LineSentence, ModelFileError
from muse.corpus import Column, tokenize
from muse.corpus.text_reader import TextReader
from muse.data.text_form import TextForm
from muse.datasets import make_ambiguous_corpus
from muse.selector.context import as_tokens
from toy import toy_model

SMALL = {"vector_size": 8, "epochs": 1, "workers": 1, "min_count": 1, "sample": 0}
PROSE = "He sat on the Bank, by the River."
CLEAN = "he sat on the bank by the river"


@pytest.fixture(scope="module")
def model():
    """Two kinds of uses of "bank", in small letters."""
    money, water = "money loan credit the".split(), "river water boat the".split()
    text = [["he", "sat", "on", "the", "bank", "by", *kind] for kind in (money, water)] * 100
    return MUSE(text, senses={"bank": 2}, seed=1, **SMALL)


QUESTIONS = {
    "sense_vectors": lambda model, text: model.sense_vectors("bank", text),
    "select_sense": lambda model, text: model.select_sense("bank", contexts=[text, "money"]),
    "sense_probabilities": lambda model, text: model.sense_probabilities("bank", text),
    "of several": lambda model, text: model.sense_probabilities("bank", contexts=["money", text]),
    "batch": lambda model, text: model.sense_probabilities_batch(["bank"], [text])[0],
    "at a level": lambda model, text: model.sense_probabilities("bank", text, level=1),
    "has_context": lambda model, text: model.has_context("bank", text),
    "similarity": lambda model, text: model.similarity("bank", "river", text),
    "predict_collocates": lambda model, text: [s for _, s in model.predict_collocates("bank", text)],
    "disambiguate": lambda model, text: [(t.key, t.probability) for t in model.disambiguate(text)],
    "disambiguate_batch": lambda model, text: np.concatenate(list(model.disambiguate_batch([text, text.split()]))[:1]),
    "disambiguate_blocks": lambda model, text: next(model.disambiguate_blocks([text])).probabilities,
    "sentence_vector": lambda model, text: model.sentence_vector(text),
    "sentence_vectors": lambda model, text: model.sentence_vector(sentences=[text]),
    "usage_vector": lambda model, text: model.usage_vector("bank", text),
    "usage_vector_batch": lambda model, text: model.usage_vector_batch(["bank"], [text]),
    "usage_similarity": lambda model, text: model.usage_similarity("bank", text, "money in the Bank"),
    "selector": lambda model, text: model.selector.probabilities("bank", [text], [None]),
    "copy": lambda model, text: pickle.loads(pickle.dumps(model)).sense_probabilities("bank", text),
    "selector, copied": lambda model, text: copy.deepcopy(model.selector).probabilities("bank", [text], [4]),
    "tokenize": lambda model, text: model.tokenize(text),
}  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_prose_is_asked_as_clean_text_is(question, model):
    one, two = (question(model, text) for text in (PROSE, CLEAN))
    assert repr(one) == repr(two) if isinstance(one, list) else np.array_equal(one, two)
    assert not np.allclose(model.sense_probabilities("bank", PROSE), model.sense_prior("bank"), atol=1e-5)


def test_lists_of_tokens_are_taken_as_they_are(model):
    assert as_tokens(["Bank,"], model.selector.reader.tokens) == ["Bank,"]
    assert not model.has_context("bank", ["The", "River", "bank"])
    assert model.has_context("bank", "The River bank")
    with pytest.raises(ValueError, match="'bank' is at 4"):
        model.sense_vectors("bank", PROSE, position=1)


# -- what is remembered ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("the bank of NUM rivers , .", TextForm(lower=True)),
        ("the bank Bank of", TextForm(lower=False)),
        ("THE BANK OF", TextForm(lower=False)),
        ("the_DT bank_NN of_IN ,_PUNCT", TextForm(lower=True, tags="_")),
        ("The|DET bank|NOUN US|PROPN", TextForm(lower=False, tags="|")),
        ("new_york the bank c# 3", TextForm(lower=True)),
        ("他 走 了", TextForm(lower=True)),
        ("", TextForm(lower=True)),
    ],
)
def test_what_words_say_of_their_text(words, expected):
    assert TextForm.measured(words.split()) == expected


def test_models_remember(tmp_path):
    rows = [{"text": "The Bank, by the river."}] * 3
    for corpus, expected in (
        (Column(rows, "text"), {"tokenizer": "muse", "lower": True}),
        (Column(rows, "text", tokenizer=str.split), {"tokenizer": "whitespace", "lower": False}),
        ([["the_DT", "bank_NN"]] * 3, {"tokenizer": "whitespace", "lower": True, "tags": "_"}),
    ):
        model = MUSE(corpus, **SMALL)
        model.save(tmp_path / "m")
        for found in (model, MUSE.load(tmp_path / "m"), MUSE.load(tmp_path / "m", mmap=True), copy.deepcopy(model)):
            assert found.snapshot.text_form.to_json() == expected
    model.build_vocab([["Bank"]], update=True)  # the first text counts
    model.prune_senses(min_count=0)
    assert model.snapshot.text_form.to_json() == expected
    counted = MUSE(min_count=1)
    counted.build_vocab_from_freq({"Bank": 3, "the": 4})
    assert counted.snapshot.text_form == TextForm(lower=False)
    assert counted.tokenize("the Bank,") == ["the", "Bank"]
    other = MUSE()
    other.reset_from(counted)
    assert other.snapshot.text_form == TextForm(lower=False)


def test_checkpoints_remember(tmp_path):
    MUSE(Column([{"text": "A bank."}] * 9, "text"), checkpoint_dir=tmp_path, **SMALL)
    assert MUSE.load(tmp_path / "checkpoint.safetensors").snapshot.text_form.tokenizer == "muse"


def test_nothing_remembered_is_white_space(tmp_path):
    model = toy_model()
    assert model.snapshot.text_form is None
    assert model.tokenize("The Head, the") == ["The", "Head,", "the"]
    model.save(tmp_path / "m")
    assert MUSE.load(tmp_path / "m").snapshot.text_form is None
    with pytest.raises(TypeError, match="tokenize takes a string"):
        model.tokenize(["head"])


@pytest.mark.parametrize(
    "stored", [7, [], {}, {"tokenizer": "x", "lower": True}, {"tokenizer": "muse", "lower": 1}, {"tokenizer": ["muse"]},
               {"tokenizer": "muse", "lower": True, "tags": "x"}, {"tokenizer": "muse", "lower": True, "tags": []}]
)  # fmt: skip
def test_files_that_remember_nonsense(stored, tmp_path, monkeypatch):
    model = MUSE([["a", "b"]] * 9, **SMALL)
    monkeypatch.setattr(TextForm, "to_json", lambda self: stored)
    with pytest.raises(ValueError, match=r"impossible form of text|its form of text is no object"):
        model.save(tmp_path / "m")
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"impossible form of text|is no object"):
        TextForm.from_json(stored)
    assert TextForm.from_json({"tokenizer": "muse", "lower": False, "newer": 1}) == TextForm("muse", lower=False)


def test_a_damaged_file_is_said_to_be(tmp_path):
    MUSE([["a", "b"]] * 9, **SMALL).save(tmp_path / "m")
    data = (tmp_path / "m").read_bytes()
    good = json.dumps(json.dumps({"tokenizer": "whitespace"}))[2:-2].encode()
    assert good in data
    (tmp_path / "m").write_bytes(data.replace(good, good.replace(b"whitespace", b"blackspace")))
    with pytest.raises(ModelFileError, match="is damaged"):
        MUSE.load(tmp_path / "m")


# -- what becomes of a string ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("known", "form", "text", "expected"),
    [
        ("the bank , river", TextForm(), "The Bank, (River)", "the bank , river"),
        ("the bank river don't", TextForm(), "the bank—RIVER don’t bank/river", "the bank river don't bank river"),
        ("do n't bank 's", TextForm(), "Don't Bank's", "do n't bank 's"),
        ("don t bank", TextForm(), "don't well-bank bank-t", "don t well-bank bank t"),
        ("the Bank bank", TextForm(lower=False), "The Bank, bank. River!", "The Bank bank River"),
        ("the_DT bank_NN", TextForm(tags="_"), "The_DT Bank_NN. bank", "the_DT bank_NN bank"),
        ("the_DT Bank_NP", TextForm(lower=False, tags="_"), "The_DT Bank_NP", "The_DT Bank_NP"),
        ("bank, the", TextForm(), "The Bank, bank; ... ?", "the bank, bank ... ?"),
        ("bank", TextForm("muse"), "The Bank's C++ (new_york)…", "the bank's c++ new_york"),
        ("Bank", TextForm("muse", lower=False), "The Bank's Ends", "The Bank's Ends"),
        ("bank s", TextForm("wiki"), "The Bank's", "the bank s"),
        ("bank", None, "The Bank's  bank,", "The Bank's bank,"),
        ("A-12 12 5", TextForm(lower=False), "A-12 B-12 12", "A-12 B-12 12"),
        ("他 走", TextForm(), "他 走。", "他 走"),
        ("बैठा वह।", TextForm(), "बैठा। वह। नहीं?", "बैठा वह। नहीं"),
        ("a", TextForm(), "\ufeffa \ufeff", "a"),
    ],
)
def test_tokens_of_a_string(known, form, text, expected):
    reader = TextReader(form, dict.fromkeys(known.split(), 0))
    for _ in range(2):
        assert reader.tokens(text) == expected.split()


def test_odd_words_take_no_longer():
    """A pattern that goes back and forth would take hours."""
    for piece in (".", "a.", "'", "-", "_A", "n't", "。", "a|", "—"):
        word = "A" + piece * 50_000 + "x."
        for form in (TextForm(), TextForm(tags="_"), TextForm("muse"), TextForm("wiki")):
            assert TextReader(form, {}).tokens(word)
    assert TextForm.measured(["a_B" * 50_000 + "c"] * 20).tags is None


@given(st.text(), st.sampled_from(["muse", "wiki", "whitespace"]), st.booleans())
def test_known_words_stay(text, tokenizer, lower):
    words = text.split()
    form = TextForm(tokenizer, lower=lower)
    reader = TextReader(form, dict.fromkeys((word.strip("\ufeff") for word in words), 0))
    assert reader.tokens(text) == [bare for word in words if (bare := word.lstrip("\ufeff"))] or "\ufeff" in text
    assert all(TextReader(form, {}).tokens(text))


def test_clean_text_of_a_corpus_stays_as_it_is(tmp_path):
    sentences = make_ambiguous_corpus(300, 200, seed=0).sentences
    (tmp_path / "a.txt").write_text("\n".join(map(" ".join, sentences)))
    model = MUSE(LineSentence(tmp_path / "a.txt"), **SMALL)
    assert [model.tokenize(" ".join(sentence)) for sentence in sentences] == sentences
    strings = list(model.disambiguate_batch(map(" ".join, sentences)))
    for one, two in zip(strings, model.disambiguate_batch(sentences), strict=True):
        np.testing.assert_array_equal(one, two)


# -- tagging -----------------------------------------------------------------------------------------------------------


def test_sentences_are_tagged(model, tmp_path):
    rows = [{"text": PROSE + " Money!"}, {"text": "Qx."}]
    for name in ("a.txt", "a.txt.gz"):
        report = model.tag_corpus(Column(rows, "text"), tmp_path / name, margin=0)
        keys = [token.key for token in model.disambiguate(tokenize(PROSE + " Money!"))]
        assert list(LineSentence(tmp_path / name)) == [keys, ["qx"]]
        assert report == (len(keys) + 1, len(keys))
    model.tag_corpus([PROSE], tmp_path / "b", margin=1)
    assert (tmp_path / "b").read_text().split()[4] in ("bank", "bank#0", "bank#1")
    assert model.tag_corpus([], tmp_path / "c") == (0, 0)
    with pytest.raises(ValueError, match="resume goes on with a file"):
        model.tag_corpus([PROSE], tmp_path / "d", resume=True)
    with open(tmp_path / "b") as file, pytest.raises(TypeError, match="input is an open file"):
        model.tag_corpus(file, tmp_path / "d")
    with pytest.raises(TypeError, match="tag_corpus takes an iterable of sentences, not a table with the columns 'a'"):
        model.tag_corpus({"a": [PROSE]}, tmp_path / "d")
    with pytest.raises(TypeError, match="a context must be a string or a list of tokens"):
        model.tag_corpus([[7]], tmp_path / "d")
    assert not (tmp_path / "d").exists()


def test_prose_in_a_file_to_tag_is_said(model, tmp_path):
    (tmp_path / "a").write_text(PROSE * 9)
    with pytest.warns(UserWarning, match="looks like prose"):
        model.tag_corpus(tmp_path / "a", tmp_path / "b")
