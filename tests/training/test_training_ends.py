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
