"""The best model of a training is kept and never lost, and callbacks and models go to other processes."""

import copy
import gc
import multiprocessing
import os
import pickle

import numpy as np
import pytest

from muse import MUSE, Paper, Split
from muse.datasets import make_ambiguous_corpus
from muse.evaluation import EvaluationCallback, PseudoWordTask, ScwsTask, SynonymTask, evaluate_scws

SMALL = {"vector_size": 8, "workers": 1, "epochs": 4, "senses": 2, "recipe": Paper()}


@pytest.fixture(scope="module")
def corpus():
    return make_ambiguous_corpus(n_sentences=300, n_words=100, seed=0)


class Told:
    """A task whose scores, by the model's epoch, are known in advance; one that pickle takes."""

    def __init__(self, *scores):
        self.scores = scores

    def __call__(self, model):
        return self.scores[len(model.history) - 1]


def epochs_in(path):
    return len(MUSE.load(path).history)


def rows(callback):
    return [(row["epoch"], row["total"], row["score"], row["best"]) for row in callback.history]


def test_a_file_of_another_training_is_refused(corpus, tmp_path):
    path = tmp_path / "b.safetensors"
    callback = EvaluationCallback(Told(0.1, 0.9, 0, 0), keep_best=path)
    MUSE(corpus.sentences, seed=1, callbacks=[callback], **SMALL)
    kept, history = path.read_bytes(), list(callback.history)
    with pytest.raises(FileExistsError, match=r"b\.safetensors, and it is not of this training; .* overwrite=True"):
        EvaluationCallback(Told(0.5), keep_best=path)
    with pytest.raises(FileExistsError, match="it is not of this training"):  # a loop over seeds
        MUSE(corpus.sentences, seed=2, callbacks=[callback], **SMALL)
    assert (path.read_bytes(), callback.history) == (kept, history)
    path.rename(tmp_path / "seed 1.safetensors")
    MUSE(corpus.sentences, seed=2, callbacks=[callback], **SMALL)
    assert (MUSE.load(path).settings.seed, [row["total"] for row in callback.history]) == (2, [1, 2, 3, 4])


def test_a_file_that_comes_to_be_before_training_begins_is_refused(corpus, tmp_path):
    path = tmp_path / "b.safetensors"
    callback, model = EvaluationCallback(Told(0.1), keep_best=path), MUSE(**SMALL)
    model.build_vocab(corpus.sentences)
    path.write_text("of somebody else")
    with pytest.raises(FileExistsError, match="it is not of this training"):
        model.train(callbacks=[callback])
    assert (path.read_text(), model.history) == ("of somebody else", [])


def test_overwrite_lets_each_training_replace_the_file(corpus, tmp_path):
    (tmp_path / "disk").mkdir()
    path, real = tmp_path / "b.safetensors", tmp_path / "disk" / "real.safetensors"
    real.write_text("an old one")
    path.symlink_to(real)
    callback = EvaluationCallback(Told(0.1, 0.9, 0, 0), keep_best=path, overwrite=True)
    for seed in (1, 2):
        MUSE(corpus.sentences, seed=seed, callbacks=[callback], **SMALL)
        assert (MUSE.load(path).settings.seed, epochs_in(path)) == (seed, 2)
    assert path.is_symlink()
    assert sorted(file.name for file in tmp_path.rglob("*.*")) == ["b.safetensors", "real.safetensors"]


def test_a_failed_write_leaves_the_best_model_of_before_and_a_training_that_goes_on(corpus, tmp_path, monkeypatch):
    path = tmp_path / "b.safetensors"
    callback = EvaluationCallback(Told(0.2, 0.5, 0.9, 0.7), keep_best=path)
    model, failing = MUSE(**SMALL), []
    model.build_vocab(corpus.sentences)
    replace = os.replace

    def full(source, target, *given, **options):
        if str(target) == str(path) and len(model.history) == 3 and not failing:
            failing.append(target)
            raise OSError(28, "No space left on device")
        return replace(source, target, *given, **options)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        model.train(callbacks=[callback])
    assert (epochs_in(path), callback.best_score, len(callback.history)) == (2, 0.5, 2)
    model.train(corpus.sentences, resume=True, callbacks=[callback])
    assert rows(callback) == [(1, 1, 0.2, True), (2, 2, 0.5, True), (3, 3, 0.9, True), (4, 4, 0.7, False)]
    assert epochs_in(path) == 3


def test_a_model_that_is_trained_further_goes_on_with_its_best(corpus, tmp_path):
    path = tmp_path / "b.safetensors"
    callback = EvaluationCallback(Told(0.1, 0.9, 0, 0, 0.8, 0.95), keep_best=path)
    model = MUSE(corpus.sentences, callbacks=[callback], **SMALL)
    assert epochs_in(path) == 2
    model.train(corpus.sentences, epochs=2)
    assert rows(callback)[3:] == [(4, 4, 0, False), (1, 5, 0.8, False), (2, 6, 0.95, True)]
    assert (callback.best_score, callback.best_epoch, epochs_in(path)) == (0.95, 6, 6)


# -- the same process --------------------------------------------------------------------------------------------------


def test_rows_of_epochs_that_are_trained_again_are_taken_back(corpus, tmp_path):
    class Stop:
        def on_epoch_end(self, model):
            if len(model.history) == 3:
                raise KeyboardInterrupt

    callback = EvaluationCallback(Told(0.2, 0.3, 0.9, 0.4))
    options = {**SMALL, "checkpoint_dir": tmp_path}
    with pytest.raises(KeyboardInterrupt):
        MUSE(corpus.sentences, callbacks=[Saved(tmp_path, 2), callback, Stop()], **options)
    again = MUSE.load(tmp_path / "at2.safetensors", workers=1)
    again.train(corpus.sentences, resume=True, callbacks=[callback])
    assert rows(callback) == [(1, 1, 0.2, True), (2, 2, 0.3, True), (3, 3, 0.9, True), (4, 4, 0.4, False)]
    assert (callback.best_score, callback.best_epoch) == (0.9, 3)


class Saved:
    """Saves the model after an epoch, as a checkpoint does."""

    def __init__(self, folder, epoch):
        self.path, self.epoch = folder / f"at{epoch}.safetensors", epoch

    def on_epoch_end(self, model):
        if len(model.history) == self.epoch:
            model.save(self.path)


def test_an_epoch_that_ended_before_its_evaluation_is_evaluated_when_training_goes_on(corpus):
    class Stop:
        def on_epoch_end(self, model):
            if len(model.history) == 2 and not watch.history[1:]:
                raise KeyboardInterrupt

    watch = EvaluationCallback(Told(0.1, 0.9, 0.2, 0.3))
    model = MUSE(**SMALL, callbacks=[Stop(), watch])
    model.build_vocab(corpus.sentences)
    with pytest.raises(KeyboardInterrupt):
        model.train()
    model.train(corpus.sentences, resume=True)
    assert rows(watch) == [(1, 1, 0.1, True), (2, 2, 0.9, True), (3, 3, 0.2, False), (4, 4, 0.3, False)]


def test_epochs_of_later_trainings_have_numbers_of_their_own(corpus):
    callback = EvaluationCallback(Told(*range(9)))
    model = MUSE(corpus.sentences, callbacks=[callback], **SMALL | {"epochs": 2})
    model.train(corpus.sentences, epochs=2)
    assert [(row["epoch"], row["total"]) for row in callback.history] == [(1, 1), (2, 2), (1, 3), (2, 4)]
    assert callback.best_epoch == 4
    halves = EvaluationCallback(Told(0, 1, 2), keep_best=False)
    model = MUSE(corpus.sentences, callbacks=[halves], vector_size=8, workers=1, epochs=1, recipe=Split(min_contexts=5))
    model.train(corpus.sentences)
    assert [(row["epoch"], row["total"]) for row in halves.history] == [(1, 1), (1, 1), (1, 2)]


def test_an_interrupted_training_is_left_as_it_is_to_be_resumed(corpus):
    """Restoring the best, or a row of half an epoch, would not be what a training that never stopped has."""

    class Stop:
        arrays = None

        def on_epoch_end(self, model):
            if len(model.history) == 3 and self.arrays is None:
                self.arrays = model.arrays.sense_vectors.copy()
                raise KeyboardInterrupt

    whole = EvaluationCallback(Told(0.9, 0.1, 0.2, 0.3), every=2)
    MUSE(corpus.sentences, callbacks=[whole], **SMALL)
    callback, stop = EvaluationCallback(Told(0.9, 0.1, 0.2, 0.3), every=2, restore_best=True), Stop()
    model = MUSE(**SMALL, callbacks=[callback, stop])
    model.build_vocab(corpus.sentences)
    with pytest.raises(KeyboardInterrupt):
        model.train()
    assert [row["epoch"] for row in callback.history] == [2]
    np.testing.assert_array_equal(model.arrays.sense_vectors, stop.arrays)
    model.train(corpus.sentences, resume=True)
    assert rows(callback) == rows(whole)
    np.testing.assert_array_equal(model.arrays.sense_vectors, whole._best.arrays["sense_vectors"])


def test_a_second_training_that_is_interrupted_at_once_is_not_restored(corpus):
    class Stop:
        def on_epoch_begin(self, model):
            if len(model.history) == 4:
                model.arrays.sense_vectors[:] = 1
                raise KeyboardInterrupt

    callback = EvaluationCallback(Told(0.9, 0.1, 0.2, 0.3), restore_best=True)
    model = MUSE(corpus.sentences, callbacks=[callback], **SMALL)
    with pytest.raises(KeyboardInterrupt):
        model.train(corpus.sentences, callbacks=[Stop()])
    assert (model.arrays.sense_vectors == 1).all()


def test_a_vocabulary_that_has_grown_begins_anew(corpus):
    callback = EvaluationCallback(Told(0.1, 0.9, 0.2, 0.3, 0.4, 0.5), restore_best=True)
    model = MUSE(corpus.sentences, callbacks=[callback], **SMALL)
    new = [["newword", *sentence] for sentence in corpus.sentences[:50]]
    model.build_vocab(new, update=True)
    model.train(new, epochs=2)
    assert [row["total"] for row in callback.history] == [5, 6]
    assert (callback.best_score, callback.best_epoch) == (0.5, 6)
    np.testing.assert_array_equal(model.arrays.sense_vectors, callback._best.arrays["sense_vectors"])


def test_the_curve_can_be_seen(corpus, capsys):
    MUSE(corpus.sentences, callbacks=[EvaluationCallback(Told(0.1, 0.9, 0, 0), verbose=True)], **SMALL)
    assert capsys.readouterr().out.splitlines() == [
        "epoch 1: score 0.1000 (best)", "epoch 2: score 0.9000 (best)", "epoch 3: score 0.0000", "epoch 4: score 0.0000"
    ]  # fmt: skip
    MUSE(corpus.sentences, callbacks=[EvaluationCallback(Told(0.1, 0.9, 0, 0))], **SMALL)
    assert capsys.readouterr().out == ""


def test_a_class_is_no_task():
    for task in (ScwsTask, SynonymTask):
        with pytest.raises(TypeError, match=rf"task is the class {task.__name__}; give an instance: {task.__name__}\("):
            EvaluationCallback(task)
    with pytest.raises(TypeError, match=r"task must take the model alone, and evaluate_scws\(model.*missing.*'path'"):
        EvaluationCallback(evaluate_scws)
    assert EvaluationCallback(lambda model, data=None: 1.0).task(None) == 1.0


# -- other processes ---------------------------------------------------------------------------------------------------


def train_in_a_worker(callback, sentences):
    """Goes to a worker, is trained there, and comes back with its model."""
    return callback, MUSE(sentences, callbacks=[callback], **SMALL)


def restore_in_a_worker(callback, model):
    before = model.arrays.sense_vectors.copy()
    callback.restore(model)
    return not np.array_equal(before, model.arrays.sense_vectors), repr(callback)


def test_callbacks_and_models_go_to_other_processes_and_come_back(corpus, tmp_path):
    task = PseudoWordTask.from_corpus(corpus)
    callbacks = [
        EvaluationCallback(task),
        EvaluationCallback(Told(0.9, 0.1, 0, 0), restore_best=True),
        EvaluationCallback(Told(0.9, 0.1, 0, 0), keep_best=tmp_path / "b.safetensors"),
        EvaluationCallback(Told(0.9, 0.1, 0, 0), keep_best=False),
    ]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.starmap(train_in_a_worker, [(callback, corpus.sentences) for callback in callbacks])
        assert all(len(callback.history) == 4 for callback, _ in found)
        assert pool.starmap(restore_in_a_worker, [found[1]]) == [
            (False, "<EvaluationCallback: 4 evaluations, best 0.9 at epoch 1>")
        ]
    kept, model = found[0]
    kept.restore(model)
    np.testing.assert_array_equal(model.arrays.sense_vectors, kept._best.arrays["sense_vectors"])
    assert model.settings.callbacks[0].history == kept.history
    assert found[2][0].best_path == tmp_path / "b.safetensors"
    model.train(corpus.sentences, epochs=1)  # the same training, though of another object
    assert [row["total"] for row in kept.history] == [1, 2, 3, 4, 5]


def test_the_temporary_file_of_a_best_model_goes_along(tmp_path):
    class Plain:
        epoch = 1

        def save(self, path):
            with open(path, "w") as stream:
                stream.write(str(self.epoch))

    callback = EvaluationCallback(len)
    callback.task = lambda model: 1.0
    callback.on_epoch_end(Plain())
    callback.task = len
    for twin in (pickle.loads(pickle.dumps(callback)), copy.deepcopy(callback)):
        assert twin.best_path != callback.best_path
        assert twin.best_path.read_text() == "1"
    path = callback.best_path
    del callback
    gc.collect()
    assert not path.exists()
    assert twin.best_path.read_text() == "1"


def test_tasks_go_to_other_processes(corpus):
    task = PseudoWordTask.from_corpus(corpus)
    model = MUSE(corpus.sentences, **SMALL)
    assert pickle.loads(pickle.dumps(task))(model).to_dict() == task(model).to_dict()
