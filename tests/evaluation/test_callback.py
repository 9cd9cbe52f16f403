"""Evaluation during training: the curve, the best model, early stops, and what is refused before an hour is lost."""

import copy
import dataclasses
import gc
import itertools

import numpy as np
import pytest

from muse import MUSE, Paper, Split
from muse.datasets import make_ambiguous_corpus
from muse.evaluation import EvaluationCallback, EvaluationResult, WordSimilarityTask

SMALL = {"vector_size": 8, "workers": 1, "epochs": 3, "recipe": Split(min_contexts=5)}


@pytest.fixture(scope="module")
def sentences():
    return make_ambiguous_corpus(n_sentences=300, n_words=100, seed=0).sentences


@dataclasses.dataclass
class Arrays:
    sense_vectors: np.ndarray
    nothing: None = None


class Trained:
    """A model whose only array holds the epoch, and whose score is told in advance."""

    def __init__(self, scores):
        self.scores = scores
        self.arrays = Arrays(np.zeros((2, 2), dtype=np.float32))
        self.stop_training = False
        self.refreshed = 0
        self.epoch = 0

    def set_arrays(self, arrays):
        self.refreshed += 1

    def run(self, callback):
        callback.on_train_begin(self)
        for _ in self.scores:
            callback.on_epoch_begin(self)
            self.epoch += 1
            self.arrays.sense_vectors[:] = self.epoch
            callback.on_epoch_end(self)
            if self.stop_training:
                break
        callback.on_train_end(self)
        return self


def score(model):
    return model.scores[model.epoch - 1]


def test_callback_keeps_the_curve_and_the_best():
    callback = EvaluationCallback(score)
    model = Trained([0.1, 0.5, 0.3]).run(callback)
    assert [(row["epoch"], row["score"], row["best"]) for row in callback.history] == [
        (1, 0.1, True),
        (2, 0.5, True),
        (3, 0.3, False),
    ]
    assert (callback.best_score, callback.best_epoch, model.epoch) == (0.5, 2, 3)
    assert model.arrays.sense_vectors[0, 0] == 3
    callback.restore(model)
    assert model.arrays.sense_vectors[0, 0] == 2
    assert model.refreshed == 1
    assert "3 evaluations, best 0.5 at epoch 2" in str(callback)


def test_callback_restores_at_the_end_if_asked():
    model = Trained([0.1, 0.5, 0.3]).run(EvaluationCallback(score, restore_best=True))
    assert model.arrays.sense_vectors[0, 0] == 2


def test_callback_stops_when_nothing_improves():
    callback = EvaluationCallback(score, patience=2)
    model = Trained([0.1, 0.5, 0.5, 0.4, 0.9]).run(callback)
    assert model.stop_training
    assert model.epoch == 4
    strict = EvaluationCallback(score, patience=1, min_delta=0.1)
    assert Trained([0.1, 0.15, 0.9]).run(strict).epoch == 2
    model = Trained([0.1, 0.05, 0.2, 0.1, 0.3]).run(EvaluationCallback(score, patience=2))
    assert not model.stop_training


def test_callback_on_a_schedule_evaluates_the_last_epoch_too():
    callback = EvaluationCallback(score, every=2)
    Trained([0.1, 0.2, 0.3, 0.4, 0.5]).run(callback)
    assert [row["epoch"] for row in callback.history] == [2, 4, 5]
    callback = EvaluationCallback(score, every=2)
    Trained([0.1, 0.2]).run(callback)
    assert [row["epoch"] for row in callback.history] == [2]


def test_callback_takes_results_and_survives_nan(caplog):
    callback = EvaluationCallback(lambda model: EvaluationResult("t", "rho", {"rho": 0.25, "pairs": 7}))
    Trained([0]).run(callback)
    assert callback.history[0]["score"] == 0.25
    assert callback.history[0]["pairs"] == 7
    callback = EvaluationCallback(score)
    Trained([float("nan"), 0.1]).run(callback)
    assert [row["best"] for row in callback.history] == [False, True]
    assert "counts as no improvement" in caplog.text


def test_callback_keeps_no_model_that_has_no_senses_yet(sentences):
    """After the split arrays have other shapes: what was before could not be put back."""
    callback = EvaluationCallback(lambda model: -len(model.history), patience=2, restore_best=True)
    model = MUSE(
        sentences, **SMALL | {"epochs": 9, "recipe": Split(min_contexts=5, warmup_epochs=3)}, callbacks=[callback]
    )
    assert [row["best"] for row in callback.history] == [False, False, False, True, False, False]
    assert callback.best_epoch == 4
    assert (
        len(model.arrays.sense_vectors) == callback._best.arrays["sense_vectors"].shape[0] > len(model.vocabulary.words)
    )
    np.testing.assert_array_equal(model.arrays.sense_vectors, callback._best.arrays["sense_vectors"])


class Saving:
    def __init__(self):
        self.saved = []
        self.epoch = 0

    def save(self, path):
        self.saved.append(path)
        with open(path, "w") as stream:
            stream.write(str(self.epoch))

    def run(self, callback, epochs):
        for _ in range(epochs):
            self.epoch += 1
            callback.on_epoch_end(self)
        callback.on_train_end(self)


def test_callback_saves_the_best_model(tmp_path):
    path = tmp_path / "best.safetensors"
    callback = EvaluationCallback(lambda model: -abs(model.epoch - 2), keep_best=path)
    Saving().run(callback, 4)
    assert path.read_text() == "2"
    assert callback.best_path == path
    with pytest.raises(RuntimeError, match=r"the best model is in .*best\.safetensors"):
        callback.restore(Trained([]))
    in_memory = EvaluationCallback(lambda model: -abs(model.epoch - 2))
    Saving().run(in_memory, 3)
    assert in_memory.best_path is not None
    assert in_memory.best_path.read_text() == "2"
    nothing = EvaluationCallback(lambda model: 1.0, keep_best=False)
    model = Saving()
    model.run(nothing, 1)
    assert model.saved == []


def test_callback_refuses_what_cannot_work():
    for options, message in (
        ({"every": 0}, "every must be"),
        ({"patience": 0}, "patience must be"),
        ({"min_delta": -1}, "min_delta"),
        ({"restore_best": True, "keep_best": False}, "restore_best needs"),
    ):
        with pytest.raises(ValueError, match=message):
            EvaluationCallback(score, **options)
    for options in (
        {"every": 1.5}, {"every": "2"}, {"every": True}, {"patience": 1.5}, {"patience": True}, {"min_delta": "1"},
        {"keep_best": None}, {"keep_best": 0}, {"keep_best": 1}, {"keep_best": b"x"}, {"restore_best": 1},
    ):  # fmt: skip
        with pytest.raises(TypeError, match=f"{next(iter(options))} must be"):
            EvaluationCallback(score, **options)
    for wrong in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="min_delta must be"):
            EvaluationCallback(score, min_delta=wrong)
    with pytest.raises(TypeError, match="task must be callable"):
        EvaluationCallback(0.5)
    callback = EvaluationCallback(score)
    model = Trained([0.1]).run(callback)
    model.arrays.sense_vectors = np.zeros((3, 2), dtype=np.float32)
    with pytest.raises(ValueError, match=r"no longer has the shape \(2, 2\)"):
        callback.restore(model)


def rising():
    numbers = itertools.count()
    return lambda model: float(next(numbers))


def test_a_callback_begins_anew_with_another_model(sentences):
    """A loop over seeds must not get the vectors of the first seed."""
    options = SMALL | {"senses": 2, "recipe": Paper()}
    falling = rising()
    callback = EvaluationCallback(lambda model: -falling(model), restore_best=True)
    first = MUSE(sentences, seed=1, callbacks=[callback], **options)
    kept = first.sv.vectors.copy()
    second = MUSE(sentences, seed=2, callbacks=[callback], **options)
    assert not np.array_equal(second.sv.vectors, kept)
    assert [row["epoch"] for row in callback.history] == [1, 2, 3]
    assert (callback.best_epoch, callback.best_score) == (1, -3.0)
    MUSE(sentences, callbacks=[callback], **options | {"vector_size": 5})  # another shape


def test_a_callback_goes_on_with_a_resumed_training(sentences, tmp_path):
    def stop(model):
        model.stop_training = len(model.history) == 2

    stopper = type("Stopper", (), {"on_epoch_end": lambda self, model: stop(model)})()
    callback = EvaluationCallback(rising(), every=2)
    options = SMALL | {"epochs": 6, "senses": 2, "recipe": Paper()}
    model = MUSE(sentences, callbacks=[callback, stopper], **options)
    model.save(tmp_path / "m.safetensors")
    again = MUSE.load(tmp_path / "m.safetensors", workers=1)
    again.train(sentences, resume=True, callbacks=[callback])
    assert [row["epoch"] for row in callback.history] == [2, 4, 6]
    assert [row["epoch"] for row in again.history] == [1, 2, 3, 4, 5, 6]
    fresh = EvaluationCallback(rising(), every=2)
    third = MUSE.load(tmp_path / "m.safetensors", workers=1)
    third.train(sentences, resume=True, callbacks=[fresh])
    assert [row["epoch"] for row in fresh.history] == [4, 6]


@pytest.mark.parametrize("path", ["nodir/x.safetensors", "."])
def test_a_path_that_cannot_be_written_ends_training_before_it_begins(sentences, path):
    model = MUSE(**SMALL)
    model.build_vocab(sentences)
    with pytest.raises(ValueError, match="keep_best must be True, False, or the path of a file in a folder"):
        model.train(sentences, callbacks=[EvaluationCallback(rising(), keep_best=path)])
    assert model.history == []


def test_a_task_that_cannot_score_ends_training_before_it_begins(sentences):
    model = MUSE(**SMALL)
    model.build_vocab(sentences)
    task = WordSimilarityTask([("qqa", "qqb", 1), ("qqc", "qqd", 2)])
    with pytest.raises(ValueError, match="qqa"):
        model.train(sentences, callbacks=[EvaluationCallback(task)])
    assert model.history == []


@pytest.mark.parametrize("result", [None, [1.0], {"score": 1.0}, "1", True, type("R", (), {"score": lambda self: 1})()])
def test_a_task_that_gives_no_number_is_named(result):
    with pytest.raises(TypeError, match=r"task\(model\) must give a number, or a result whose score is one; got "):
        Trained([0.1]).run(EvaluationCallback(lambda model: result))


def test_copies_of_a_callback_keep_their_best():
    original = EvaluationCallback(lambda model: float(model.epoch))
    Saving().run(original, 1)
    twin = copy.deepcopy(original)
    Saving().run(twin, 2)
    assert twin.best_path != original.best_path
    path = twin.best_path
    del original
    gc.collect()
    assert path.read_text() == "2"


def test_restoring_into_a_mapped_model_says_how_to_load_it(sentences, tmp_path):
    callback = EvaluationCallback(rising())
    model = MUSE(sentences, callbacks=[callback], **SMALL)
    model.save(tmp_path / "m.safetensors")
    with pytest.raises(ValueError, match="is read-only; load the model without mmap=True"):
        callback.restore(MUSE.load(tmp_path / "m.safetensors", mmap=True))
