"""Trainings that end with sense trees: resumed anywhere, stopped early, gone on with, interrupted while trees grow."""

from __future__ import annotations

import logging
import signal

import numpy as np
import pytest

import muse.training.checkpoints
import muse.training.run
from muse import MUSE, Callback, Engine, Trees
from muse.base import progress
from muse.datasets import make_ambiguous_corpus
from small_runs import file_of, kept_checkpoints

CORPUS = make_ambiguous_corpus(1200, 200, seed=0)
SMALL = {"vector_size": 12, "workers": 1, "seed": 3, "min_count": 2}


def train(**options) -> MUSE:
    recipe = Trees(engine=Engine(batch_tokens=4096))
    return MUSE(CORPUS.sentences, **{**SMALL, "recipe": recipe, **options})


@pytest.mark.parametrize("options", [{"epochs": 3}, {"epochs": 1, "senses": "auto"}])
def test_killed_anywhere_and_resumed_is_never_stopped(options, tmp_path, monkeypatch):
    never_stopped = file_of(train(**options), tmp_path)
    with kept_checkpoints(tmp_path, monkeypatch) as copies:
        checkpointed = train(**options, checkpoint_dir=tmp_path / "folder", checkpoint_every=1)
    assert file_of(checkpointed, tmp_path) == never_stopped
    at_word_level = 0
    for copy in copies:
        model = MUSE.load(copy, workers=1)
        at_word_level += model.snapshot.forest is None
        model.train(CORPUS.sentences, resume=True)
        assert file_of(model, tmp_path) == never_stopped
        assert [row["stage"] for row in model.history] == ["words"] * options["epochs"] + ["trees"]
    assert at_word_level == len(copies) - 1  # the last but one is of all epochs, and lacks the trees alone
    before = MUSE.load(copies[-2], workers=1)
    assert len(before.history) == options["epochs"]
    assert before.arrays.n_senses == before.arrays.n_words


def test_killed_while_training_on_and_resumed_is_never_stopped(tmp_path, monkeypatch):
    started = file_of(train(epochs=2), tmp_path)
    new = CORPUS.sentences[:400]

    def go_on(**runtime) -> MUSE:
        (tmp_path / "start").write_bytes(started)
        model = MUSE.load(tmp_path / "start", workers=1, **runtime)
        model.recut(senses=3)
        model.train(new, epochs=2)
        return model

    never_stopped = file_of(go_on(), tmp_path)
    with kept_checkpoints(tmp_path, monkeypatch) as copies:
        go_on(checkpoint_dir=tmp_path / "folder", checkpoint_every=1)
    assert len(copies) > 3
    for copy in copies:
        model = MUSE.load(copy, workers=1)
        model.train(new, resume=True)
        assert file_of(model, tmp_path) == never_stopped


class StopAfter(Callback):
    def __init__(self, epoch: int) -> None:
        self.epoch, self.stages = epoch, []

    def on_epoch_end(self, model):
        self.stages.append(model.history[-1]["stage"])
        model.stop_training = model.history[-1]["epoch"] >= self.epoch


def test_a_training_that_a_callback_stops_has_senses(tmp_path):
    stop = StopAfter(2)
    model = train(epochs=4, callbacks=[stop])
    assert stop.stages == ["words", "words", "trees"]
    assert model.arrays.n_senses > model.arrays.n_words
    shorter = train(epochs=2, min_alpha="constant")
    assert [row["stage"] for row in shorter.history] == [row["stage"] for row in model.history]
    stop.epoch = 9
    model.train(CORPUS.sentences, resume=True)  # trees are grown anew from what comes
    assert [row["epoch"] for row in model.history if row["stage"] == "words"] == [1, 2, 3, 4]
    whole = train(epochs=4)
    np.testing.assert_array_equal(model.arrays.sense_vectors, whole.arrays.sense_vectors)
    np.testing.assert_array_equal(model.arrays.sense_counts, whole.arrays.sense_counts)


def test_stopped_before_it_begins_there_is_one_sense_and_a_warning(caplog):
    class AtOnce(Callback):
        def on_train_begin(self, model):
            model.stop_training = True

    model = train(epochs=2, callbacks=[AtOnce()])
    assert model.history == []
    assert model.arrays.n_senses == model.arrays.n_words
    assert "training was stopped before senses were made, so that each word has one; train(the same text" in caplog.text


def test_ctrl_c_while_trees_grow_leaves_words_and_can_be_resumed(tmp_path, monkeypatch):
    whole = file_of(train(epochs=2), tmp_path)
    grow = muse.training.run.grow

    def interrupted(*arguments):
        raise KeyboardInterrupt

    model = MUSE(**{**SMALL, "recipe": train(epochs=1).settings.recipe}, epochs=2)
    model.build_vocab(CORPUS.sentences)
    with monkeypatch.context() as patch:
        patch.setattr(muse.training.run, "grow", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.train()
    assert model.arrays.n_senses == model.arrays.n_words
    assert model.sense_probabilities("bank", "the bank").tolist() == [1.0]
    assert muse.training.run.grow is grow
    model.train(resume=True)
    assert file_of(model, tmp_path) == whole


def test_ctrl_c_reaches_the_core_while_trees_grow(monkeypatch):
    def tick(self, part, done, total):
        if part == "trees" and done:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(muse.training.growing.Parts, "tick", tick)
    model = MUSE(**SMALL)
    model.build_vocab(CORPUS.sentences)
    with pytest.raises(KeyboardInterrupt):
        model.train()
    assert [row["stage"] for row in model.history] == ["words"] * 5


def test_training_on_moves_words_and_keeps_trees(tmp_path):
    model = train(epochs=3)
    model.recut(senses=2)
    forest, before = model.snapshot.forest, model.arrays
    numbers, vectors = model.sense_numbers("bank"), before.sense_vectors.copy()
    words = forest.word_vectors.copy()
    model.train(CORPUS.sentences[:300], epochs=1)
    after = model.snapshot.forest
    assert after.trees is forest.trees
    assert after.space is forest.space
    np.testing.assert_array_equal(model.sense_numbers("bank"), numbers)  # the cut stays
    assert not np.array_equal(after.word_vectors, words)
    row = model.vocabulary["bank"]
    moved = model.sense_vectors("bank") - vectors[before.rows_of(row)]
    np.testing.assert_allclose(moved, np.tile(after.word_vectors[row] - words[row], (len(moved), 1)), atol=1e-5)
    assert [row["stage"] for row in model.history[-2:]] == ["words", "trees"]
    arrays = model.arrays
    np.testing.assert_array_equal(np.add.reduceat(arrays.sense_counts, arrays.sense_offset[:-1]), arrays.word_counts)


def test_new_words_have_one_sense_and_counts_add_up():
    model = train(epochs=2)
    before = model.sense_prior("bank")
    text = [["novelty", "money", "in", "the", "house"]] * 40
    model.build_vocab(text, update=True)
    assert model.n_senses("novelty") == 1
    assert model.usage_vector("novelty", "the house").shape == (24,)
    model.train(text, epochs=2)
    arrays = model.arrays
    assert model.sense_tree("novelty").root == 0
    np.testing.assert_array_equal(np.add.reduceat(arrays.sense_counts, arrays.sense_offset[:-1]), arrays.word_counts)
    assert int(arrays.word_counts[model.vocabulary["novelty"]]) == 40
    np.testing.assert_allclose(model.sense_prior("bank"), before, atol=0.15)  # not in the new text
    assert model.sv.most_similar("novelty#0")
    model.recut(senses=2)
    assert model.n_senses("novelty") == 1


def test_what_is_logged_and_shown(caplog, monkeypatch):
    bars: list[list] = []
    make = progress.progress_bar

    def made(*, total, desc, unit, show, initial=0):
        bars.append([desc, total, make(total=total, desc=desc, unit=unit, show=False, initial=initial)])
        return bars[-1][2]

    monkeypatch.setattr(muse.training.growing, "progress_bar", made)
    caplog.set_level(logging.INFO, "muse")
    model = train(epochs=1)
    assert [desc for desc, _, _ in bars] == ["encoder", "whitening", "trees", "vectors", "calibration", "cut"]
    assert all(bar.n == total for _, total, bar in bars)
    for part in ("encoder", "whitening", "trees", "vectors", "calibration"):
        assert f"sense trees, {part}: " in caplog.text
    row = model.history[-1]
    assert (row["stage"], row["epoch"], row["tokens"]) == ("trees", 1, 0)
    assert row["loss"] > 0
    assert row["ambiguous_words"] > 10
    assert 1 < row["senses_used"] <= 4


def test_shrinkage_and_other_settings_reach_the_trees():
    model = train(epochs=1, recipe=Trees(shrinkage=0.0, leaves=5, order_window=3, order_size=7, prior_weight=0.0))
    forest = model.snapshot.forest
    assert forest.trees.n_leaves.max() == 5
    assert forest.trees.shrinkage == 0.0
    assert forest.space.size == 12 + 7
    assert len(forest.space.position_weights) == 7
    row = model.vocabulary["bank"]
    vectors = model.arrays.sense_vectors[model.arrays.rows_of(row)]
    np.testing.assert_array_equal(vectors, np.tile(forest.word_vectors[row], (len(vectors), 1)))


def test_estimates_cover_trees():
    few = MUSE(vector_size=100).estimate_memory(10_000)
    assert few["trees"] > 4 * 10_000 * (100 + 2 * 100)  # words beside senses, and what the encoder learns
    assert "split" not in few
    model = train(epochs=1)
    assert "trees" in model.estimate_memory()
    assert "trees" not in MUSE(vector_size=100, senses=1).estimate_memory(10_000)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_second_training_that_breaks_off_keeps_the_senses(tmp_path, error, caplog):
    class Break(Callback):
        def on_epoch_end(self, model):
            raise error

    whole, model = train(epochs=2), train(epochs=2)
    whole.train(CORPUS.sentences[:200], epochs=2)
    shares = {word: model.sense_prior(word) for word in ("bank", "money")}
    vectors = model.arrays.sense_vectors.copy()
    with pytest.raises(error):
        model.train(CORPUS.sentences[:200], epochs=2, callbacks=[Break()])
    assert "each word has one" not in caplog.text
    for word, before in shares.items():
        np.testing.assert_array_equal(model.sense_prior(word), before)
    assert not np.array_equal(model.arrays.sense_vectors, vectors)  # around words that have moved
    assert len(model.sense_probabilities("bank", "the bank lends money")) == len(shares["bank"])
    model.save(tmp_path / "broken")
    again = MUSE.load(tmp_path / "broken", workers=1)
    np.testing.assert_array_equal(again.sense_prior("bank"), shares["bank"])
    for broken in (model, again):
        broken.train(CORPUS.sentences[:200], resume=True)
        np.testing.assert_array_equal(broken.arrays.sense_vectors, whole.arrays.sense_vectors)
        np.testing.assert_array_equal(broken.arrays.sense_counts, whole.arrays.sense_counts)
