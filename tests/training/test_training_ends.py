"""How a training ends: stopped before it begins, resumed when nothing is left, called as gensim's scripts do."""

from __future__ import annotations

import logging

import pytest

from muse import MUSE, Callback, Split
from muse.base import progress
from muse.datasets import make_ambiguous_corpus

CORPUS = make_ambiguous_corpus(n_sentences=600, n_words=120, seed=1)
SMALL = {"vector_size": 12, "senses": 2, "min_count": 1, "workers": 1, "epochs": 2}


class StopAtOnce(Callback):
    def on_train_begin(self, model):
        model.stop_training = True


def test_a_callback_stops_training_before_it_begins(caplog):
    caplog.set_level(logging.INFO, "muse")
    model = MUSE(CORPUS.sentences, callbacks=[StopAtOnce()], **SMALL)
    assert model.history == []
    assert "a callback stopped training after epoch 0 of 2" in caplog.text
    model.settings.callbacks[0].on_train_begin = lambda model: None
    model.train(CORPUS.sentences, resume=True)
    assert [row["stage"] for row in model.history] == ["words", "words", "trees"]
    assert model.stop_training is False


@pytest.mark.parametrize("corpus", [(), (CORPUS.sentences,)])
def test_a_finished_training_says_that_nothing_is_left_to_resume(corpus, caplog):
    model = MUSE(CORPUS.sentences, **SMALL)
    caplog.set_level(logging.INFO, "muse")
    model.train(*corpus, resume=True)
    assert "nothing is left to resume: all 2 epochs are done; train without resume=True adds more" in caplog.text
    assert len(model.history) == 3


def test_what_gensims_scripts_give_train_is_ignored(caplog):
    caplog.set_level(logging.DEBUG, "muse")
    model = MUSE(**SMALL)
    model.build_vocab(CORPUS.sentences)
    assert model.corpus_total_words == sum(map(len, CORPUS.sentences))
    model.train(total_examples=model.corpus_count, total_words=model.corpus_total_words, compute_loss=True)
    assert "train does not need total_words, and ignores it" in caplog.text
    assert len(model.history) == 3


def test_the_progress_bar_says_when_words_are_split(monkeypatch):
    said = []
    monkeypatch.setattr(progress._Hidden, "set_postfix_str", lambda self, s="": said.append(s))
    MUSE(CORPUS.sentences, **SMALL, recipe=Split())
    assert said == ["splitting", ""]


def test_a_context_of_the_word_alone_says_nothing():
    corpus = make_ambiguous_corpus(2000, 300, seed=0)
    model = MUSE(corpus.sentences, senses=2, vector_size=16, epochs=2, workers=1)
    word = next(word for word in corpus.ambiguous_words if model.n_senses(word) == 2)
    assert model.sense_probabilities(word, [word]) == pytest.approx(model.sense_prior(word))
    assert model.sense_probabilities(word, [word, "unheard-of"]) == pytest.approx(model.sense_prior(word))


class StopAfterOne(Callback):
    def __init__(self, how):
        self.how = how

    def on_epoch_end(self, model):
        if self.how == "Ctrl-C":
            raise KeyboardInterrupt
        model.stop_training = True


def test_a_training_stopped_among_words_says_that_there_are_no_senses(caplog):
    model = MUSE(CORPUS.sentences, callbacks=[StopAfterOne("callback")], recipe=Split(), **{**SMALL, "epochs": 5})
    assert model.arrays.n_senses == len(model)
    (said,) = warned(caplog)
    assert "stopped before senses were made, so that each word has one" in said
    model.settings.callbacks[0].on_epoch_end = lambda model: None
    model.train(CORPUS.sentences, resume=True, senses_now=True)
    assert [row["stage"] for row in model.history] == ["words", "senses", "senses"]  # two epochs of words left out
    assert model.arrays.n_senses > len(model)


def test_ctrl_c_in_the_constructor_leaves_the_model_in_the_exception(caplog):
    with pytest.raises(KeyboardInterrupt) as caught:
        MUSE(CORPUS.sentences, callbacks=[StopAfterOne("Ctrl-C")], recipe=Split(), **{**SMALL, "epochs": 5})
    model = caught.value.model
    assert ["before senses were made" in text for text in warned(caplog)] == [True, False]
    assert "the attribute `model` of the KeyboardInterrupt" in warned(caplog)[1]
    model.settings.callbacks[0].on_epoch_end = lambda model: None
    model.train(resume=True)  # it has its text still
    assert model.arrays.n_senses > len(model)
    assert len(model.history) == 5


def test_with_one_epoch_too(caplog):
    class AtOnce(Callback):
        def on_epoch_end(self, model):
            model.stop_training = len(model.history) == 1

    model = MUSE(CORPUS.sentences, callbacks=[AtOnce()], recipe=Split(), **{**SMALL, "epochs": 1})
    assert "before senses were made" in warned(caplog)[0]
    model.train(CORPUS.sentences, resume=True, senses_now=True)
    assert [row["stage"] for row in model.history] == ["words", "senses"]


def test_senses_now_is_for_what_was_stopped():
    model = MUSE(CORPUS.sentences, recipe=Split(), **SMALL)
    with pytest.raises(ValueError, match="give it with resume=True"):
        model.train(CORPUS.sentences, senses_now=True)
    model.train(CORPUS.sentences, resume=True, senses_now=True)  # nothing is left
    assert len(model.history) == 2


TOY = [["the", "bank", "of", "the", "river"], ["the", "bank", "lends", "money"]] * 30


def warned(caplog):
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


def test_a_toy_is_told_once_that_nothing_was_trained(caplog):
    model = MUSE(TOY, vector_size=20, workers=1)
    assert {row["pairs"] for row in model.history} == {0}
    (said,) = warned(caplog)
    assert "no pair of words at all was trained on 270 tokens" in said
    assert said.endswith("give sample=0, or more text")
    assert model.history[-1]["context_norm"] > 100  # which is the scale of whitening, not growth


def test_what_it_says_helps(caplog):
    model = MUSE(TOY, vector_size=20, workers=1, sample=0)
    assert model.history[0]["pairs"] > 100
    assert warned(caplog) == []


def test_lines_of_one_word_have_no_pairs(caplog):
    MUSE([["bank"], ["river"]] * 30, vector_size=8, workers=1, sample=0)
    (said,) = warned(caplog)
    assert "nearly all sentences have one known word" in said


def test_a_second_training_on_a_few_sentences_does_not_warn_of_collapse(caplog):
    model = MUSE(CORPUS.sentences, **SMALL)
    caplog.clear()
    model.train(CORPUS.sentences[:30], epochs=1)
    assert not [text for text in warned(caplog) if "one sense takes" in text or "grown to length" in text]
