"""The best model outlives its process, and callbacks and models go to other processes."""

import copy
import gc
import json
import multiprocessing
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from muse import MUSE, Paper, Split
from muse.datasets import make_ambiguous_corpus
from muse.evaluation import EvaluationCallback, PseudoWordTask, ScwsTask, SynonymTask, evaluate_scws
from muse.evaluation.best import BestFile

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


def record(path):
    return json.loads(path.with_name(path.name + ".json").read_text())


def rows(callback):
    return [(row["epoch"], row["total"], row["score"], row["best"]) for row in callback.history]


SCRIPT = """
    import os, sys
    from muse import MUSE, Paper
    from muse.datasets import make_ambiguous_corpus
    from muse.evaluation import EvaluationCallback

    folder, mode = sys.argv[1:]
    sentences = make_ambiguous_corpus(n_sentences=300, n_words=100, seed=0).sentences

    def task(model):
        return {1: 0.2, 2: 0.9, 3: 0.25, 4: 0.3}[len(model.history)]

    class Kill:
        def on_epoch_end(self, model):
            if mode == "first" and len(model.history) == 3:
                os._exit(9)  # as a power cut would

    watch = EvaluationCallback(task, keep_best=f"{folder}/b.safetensors")
    options = dict(vector_size=8, workers=1, epochs=4, senses=2, recipe=Paper(), checkpoint_dir=folder)
    if mode == "resume":
        checkpoint = MUSE.load(f"{folder}/checkpoint.safetensors", workers=1, checkpoint_dir=folder)
        checkpoint.train(sentences, resume=True, callbacks=[watch])
    else:
        MUSE(sentences, callbacks=[watch, Kill()], **options)
    print([(row["epoch"], row["score"], row["best"]) for row in watch.history], watch.best_score, watch.best_epoch)
"""


def run(folder, mode):
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(folder), mode]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_the_best_model_survives_a_restart(tmp_path):
    path = tmp_path / "b.safetensors"
    assert run(tmp_path, "first").returncode == 9
    assert (epochs_in(path), record(path)["score"], record(path)["epoch"]) == (2, 0.9, 2)
    kept = path.read_bytes()
    resumed = run(tmp_path, "resume")
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stdout.strip() == "[(1, 0.2, True), (2, 0.9, True), (3, 0.25, False), (4, 0.3, False)] 0.9 2"
    assert path.read_bytes() == kept
    assert [row["epoch"] for row in record(path)["history"]] == [1, 2, 3, 4]
    assert not (tmp_path / "b.previous.safetensors").exists()
    anew = run(tmp_path, "again")
    assert anew.returncode == 0, anew.stderr
    assert epochs_in(path) == 2
    assert (tmp_path / "b.previous.safetensors").read_bytes() == kept  # the training of before


@pytest.mark.parametrize("moment", ["before the model", "before its record"])
def test_a_process_killed_while_it_saves_the_best_loses_neither_model_nor_score(corpus, tmp_path, monkeypatch, moment):
    path = tmp_path / "b.safetensors"
    model = MUSE(**SMALL | {"checkpoint_dir": tmp_path})
    model.build_vocab(corpus.sentences)
    save, write = MUSE.save, BestFile._write

    def killed(*given):
        raise SystemExit

    def dying_save(self, target):
        if str(target) == str(path) and len(self.history) == 3:
            killed() if moment == "before the model" else monkeypatch.setattr(BestFile, "_write", killed)
        save(self, target)

    monkeypatch.setattr(MUSE, "save", dying_save)
    scores = (0.2, 0.5, 0.9, 0.7)
    with pytest.raises(SystemExit):
        model.train(callbacks=[EvaluationCallback(Told(*scores), keep_best=path)])
    monkeypatch.setattr(MUSE, "save", save)
    monkeypatch.setattr(BestFile, "_write", write)
    again = MUSE.load(tmp_path / "checkpoint.safetensors", workers=1, checkpoint_dir=tmp_path)
    callback = EvaluationCallback(Told(*scores), keep_best=path)
    known = 0.5 if moment == "before the model" else 0.9
    callback._begin(again)
    assert (callback.best_score, epochs_in(path)) == (known, 2 if known == 0.5 else 3)
    later = MUSE.load(tmp_path / "checkpoint.safetensors", workers=1, checkpoint_dir=tmp_path)
    callback = EvaluationCallback(Told(*scores), keep_best=path)  # the checkpoint is of the third epoch
    later.train(corpus.sentences, resume=True, callbacks=[callback])
    assert rows(callback) == [(1, 1, 0.2, True), (2, 2, 0.5, True), (3, 3, 0.9, True), (4, 4, 0.7, False)]
    assert epochs_in(path) == 3
    assert not (tmp_path / "b.previous.safetensors").exists()


def test_a_new_training_sets_the_file_of_another_aside(corpus, tmp_path, caplog):
    path, previous = tmp_path / "b.safetensors", tmp_path / "b.previous.safetensors"
    for number, (best, kept) in enumerate([(0.5, None), (0.3, 0.5), (0.4, 0.5), (0.9, 0.5), (0.1, 0.9)], 1):
        MUSE(
            corpus.sentences, seed=number, callbacks=[EvaluationCallback(Told(0, best, 0, 0), keep_best=path)], **SMALL
        )
        assert record(path)["score"] == best
        assert (record(previous)["score"] if previous.exists() else None) == kept
        assert "is of another training" in caplog.text or number == 1
        caplog.clear()
    assert MUSE.load(previous).settings.seed == 4
    assert MUSE.load(path).settings.seed == 5


def test_one_callback_in_a_loop_over_seeds_loses_no_model(corpus, tmp_path):
    path, previous = tmp_path / "b.safetensors", tmp_path / "b.previous.safetensors"
    callback = EvaluationCallback(Told(0.1, 0.9, 0, 0), keep_best=path)
    for seed in (1, 2):
        MUSE(corpus.sentences, seed=seed, callbacks=[callback], **SMALL)
    assert [MUSE.load(file).settings.seed for file in (previous, path)] == [1, 2]
    assert [row["total"] for row in callback.history] == [1, 2, 3, 4]


@pytest.mark.parametrize("harm", ["other task", "other contents", "no record", "damaged record", "foreign record"])
def test_a_file_whose_score_is_not_known_is_set_aside(corpus, tmp_path, harm):
    """So also where a process was killed between the model and its record."""
    path = tmp_path / "b.safetensors"
    first = MUSE(corpus.sentences, callbacks=[EvaluationCallback(Told(0.1, 0.9, 0, 0), keep_best=path)], **SMALL)
    first.save(tmp_path / "m.safetensors")
    beside, old = path.with_name("b.safetensors.json"), path.read_bytes()
    task = Told(0.1, 0.2, 0.3, 0.4, 0.5)
    if harm == "other task":
        task = type("Other", (Told,), {})(*task.scores)
    elif harm == "other contents":
        first.save(path)
        assert path.read_bytes() != old
    elif harm == "no record":
        beside.unlink()
    else:
        beside.write_text('{"score": 1' if harm == "damaged record" else '{"score": 1, "history": [3]}')
    old = path.read_bytes()
    callback = EvaluationCallback(task, keep_best=path)
    again = MUSE.load(tmp_path / "m.safetensors", workers=1)
    again.train(corpus.sentences, epochs=1, callbacks=[callback])
    assert rows(callback) == [(1, 5, 0.5, True)]
    assert (tmp_path / "b.previous.safetensors").read_bytes() == old
    assert epochs_in(path) == 5


def test_a_model_that_is_trained_further_goes_on_with_its_best(corpus, tmp_path):
    path = tmp_path / "b.safetensors"
    model = MUSE(corpus.sentences, callbacks=[EvaluationCallback(Told(0.1, 0.9, 0, 0), keep_best=path)], **SMALL)
    model.save(tmp_path / "m.safetensors")
    again = MUSE.load(tmp_path / "m.safetensors", workers=1)
    callback = EvaluationCallback(Told(0.1, 0.9, 0, 0, 0.8, 0.95), keep_best=path)
    again.train(corpus.sentences, epochs=2, callbacks=[callback])
    assert rows(callback)[3:] == [(4, 4, 0, False), (1, 5, 0.8, False), (2, 6, 0.95, True)]
    assert (callback.best_score, callback.best_epoch, epochs_in(path)) == (0.95, 6, 6)


def test_a_link_stays_a_link(corpus, tmp_path):
    (tmp_path / "disk").mkdir()
    path = tmp_path / "b.safetensors"
    path.symlink_to(tmp_path / "disk" / "real.safetensors")
    for seed in (1, 2):
        callback = EvaluationCallback(Told(0.1, 0.9, 0, 0), keep_best=path)
        MUSE(corpus.sentences, seed=seed, callbacks=[callback], **SMALL)
    assert path.is_symlink()
    assert [MUSE.load(tmp_path / "disk" / f"real{mark}.safetensors").settings.seed for mark in (".previous", "")] == [
        1,
        2,
    ]


def test_a_record_that_cannot_be_written_costs_no_training(corpus, tmp_path, caplog):
    path = tmp_path / "b.safetensors"
    path.with_name("b.safetensors.json").mkdir()
    callback = EvaluationCallback(Told(0.1, float("nan"), 0.3, 0), keep_best=path)
    MUSE(corpus.sentences, callbacks=[callback], **SMALL)
    assert (epochs_in(path), callback.best_epoch) == (3, 3)
    assert "could not be recorded; another process will not know it" in caplog.text


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
    np.testing.assert_array_equal(model.arrays.sense_vectors, whole._best_arrays["sense_vectors"])


@pytest.mark.parametrize("kept", [True, "path"])
def test_a_vocabulary_that_has_grown_begins_anew(corpus, tmp_path, kept):
    path = tmp_path / "b.safetensors"
    callback = EvaluationCallback(
        Told(0.1, 0.9, 0.2, 0.3, 0.4, 0.5), keep_best=path if kept == "path" else True, restore_best=kept is True
    )
    model = MUSE(corpus.sentences, callbacks=[callback], **SMALL)
    new = [["newword", *sentence] for sentence in corpus.sentences[:50]]
    model.build_vocab(new, update=True)
    model.train(new, epochs=2)
    assert [row["total"] for row in callback.history] == [5, 6]
    assert (callback.best_score, callback.best_epoch) == (0.5, 6)
    if kept == "path":
        assert "newword" in MUSE.load(path)
        assert "newword" not in MUSE.load(tmp_path / "b.previous.safetensors")
    else:
        np.testing.assert_array_equal(model.arrays.sense_vectors, callback._best_arrays["sense_vectors"])


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
    np.testing.assert_array_equal(model.arrays.sense_vectors, kept._best_arrays["sense_vectors"])
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
