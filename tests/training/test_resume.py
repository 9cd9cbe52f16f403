"""Training that stops and goes on: checkpoints, Ctrl-C, kills, and runs that end with the same bytes all the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import muse.training.checkpoints
import muse.training.run
from muse import MUSE, Callback, InsufficientMemoryError, _core
from small_runs import CORPUS, TINY, Recorder, StopAfter, file_of, kept_checkpoints, train

SCHEDULES = [
    {"epochs": 4},
    {"epochs": 1},
    {"epochs": 2, "init": "random", "strategy": "boltzmann", "formulation": "factorized"},
    {"epochs": 2, "strategy": "policy", "formulation": "two_sided"},
]


@pytest.mark.parametrize("options", SCHEDULES)
def test_killed_at_any_batch_and_resumed_is_never_stopped(options, tmp_path, monkeypatch):
    never_stopped = file_of(train(**options), tmp_path)
    with kept_checkpoints(tmp_path, monkeypatch) as copies:
        checkpointed = train(**options, checkpoint_dir=tmp_path / "folder", checkpoint_every=1)
    assert file_of(checkpointed, tmp_path) == never_stopped
    assert len(copies) == 9 * options["epochs"]  # after each batch
    for copy in copies:
        model = MUSE.load(copy, workers=1)
        model.train(CORPUS.sentences, resume=True)
        assert file_of(model, tmp_path) == never_stopped
        assert [row["epoch"] for row in model.history] == [row["epoch"] for row in checkpointed.history]


class InterruptedTrainer(_core.Trainer):
    """Runs one batch at a time, and is interrupted by Ctrl-C in the last of `left`."""

    left = 0

    def run(self, epoch, first, last, workers, tick=None):
        stats = super().run(epoch, first, min(first + 1, last), workers, tick)
        InterruptedTrainer.left -= 1
        if InterruptedTrainer.left == 0:
            stats["error"] = KeyboardInterrupt()
        return stats


@pytest.mark.parametrize("batches", [1, 9, 14, 18, 19, 30, 36])
def test_ctrl_c_leaves_a_usable_model_that_can_be_resumed(batches, tmp_path, monkeypatch):
    recorder = Recorder()
    model = MUSE(epochs=4, **TINY)
    model.build_vocab(CORPUS.sentences)
    with monkeypatch.context() as patch:
        patch.setattr(_core, "Trainer", InterruptedTrainer)
        patch.setattr(InterruptedTrainer, "left", batches)
        with pytest.raises(KeyboardInterrupt):
            model.train(callbacks=[recorder])
    assert recorder.calls[-1][1] == "train end"
    assert len(model.history) == (batches - 1) // 9
    assert model.sense_probabilities("bank", "money in the bank").sum() == pytest.approx(1)
    saved = file_of(model, tmp_path)
    assert MUSE.load(tmp_path / "model").training_state == model.training_state
    model.train(resume=True)  # the corpus is still there
    never_stopped = file_of(train(epochs=4), tmp_path)
    assert file_of(model, tmp_path) == never_stopped != saved


@pytest.mark.parametrize("note", range(2, 12))
def test_ctrl_c_never_falls_between_numbers_and_the_note_of_where_they_stand(note, tmp_path, monkeypatch):
    publish, notes = muse.training.run.TrainingRun._publish, 0

    def interrupted(self, *given):
        nonlocal notes
        notes += 1
        if notes == note:
            os.kill(os.getpid(), signal.SIGINT)
        publish(self, *given)

    model = MUSE(epochs=4, **TINY)
    model.build_vocab(CORPUS.sentences)
    with monkeypatch.context() as patch:
        patch.setattr(muse.training.run.TrainingRun, "_publish", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.train()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    model.train(resume=True)
    assert file_of(model, tmp_path) == file_of(train(epochs=4), tmp_path)


def test_an_error_of_a_thread_leaves_a_model_that_is_not_resumed(monkeypatch):
    class Failing(_core.Trainer):
        def run(self, *arguments):
            super().run(*arguments)
            raise MemoryError("std::bad_alloc")

    model = MUSE(epochs=4, **TINY)
    model.build_vocab(CORPUS.sentences)
    with monkeypatch.context() as patch:
        patch.setattr(_core, "Trainer", Failing)
        with pytest.raises(InsufficientMemoryError, match=r"memory ran out while training a model that .* MB"):
            model.train()
    assert model.sense_probabilities("bank", "money in the bank").sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="there is no training to resume"):
        model.train(resume=True)


def test_training_anew_after_an_interrupted_warm_start_still_makes_senses(tmp_path, monkeypatch):
    model = MUSE(epochs=4, **TINY)
    model.build_vocab(CORPUS.sentences)
    with monkeypatch.context() as patch:
        patch.setattr(_core, "Trainer", InterruptedTrainer)
        patch.setattr(InterruptedTrainer, "left", 5)
        with pytest.raises(KeyboardInterrupt):
            model.train()
    model.train()
    assert [row["stage"] for row in model.history] == ["words", "words", "senses", "senses"]
    assert model.arrays.n_senses > len(model)


def test_what_cannot_be_resumed():
    model = MUSE(epochs=4, **TINY)
    model.build_vocab(CORPUS.sentences)
    with pytest.raises(ValueError, match="there is no training to resume: load a checkpoint, or call train without"):
        model.train(resume=True)
    model.train(callbacks=[StopAfter(2)])
    with pytest.raises(ValueError, match="the model was in training for 4 epochs; leave epochs out to resume that"):
        model.train(CORPUS.sentences, epochs=5, resume=True)
    with pytest.raises(ValueError, match=r"was in training on [\d,]+ tokens in 600 .* tokens in 300 sentences, .* the"):
        model.train(CORPUS.sentences[:300], resume=True)
    with pytest.raises(ValueError, match="in training on another text, of as many tokens and sentences as this"):
        model.train(CORPUS.sentences[::-1], resume=True)
    moved = [[*CORPUS.sentences[0], *CORPUS.sentences[1][:1]], CORPUS.sentences[1][1:], *CORPUS.sentences[2:]]
    with pytest.raises(ValueError, match="in training on another text"):
        model.train(moved, resume=True)
    assert len(model.history) == 2
    model.train(CORPUS.sentences, epochs=4, resume=True)
    model.train(CORPUS.sentences, resume=True)  # nothing is left to do
    assert len(model.history) == 4


def test_a_state_of_before_digests_is_resumed_as_before(tmp_path):
    model = train(epochs=2, callbacks=[StopAfter(1)])
    del model.training_state["digest"]
    model.save(tmp_path / "before")
    model = MUSE.load(tmp_path / "before", workers=1)
    model.train(CORPUS.sentences, resume=True)
    assert file_of(model, tmp_path) == file_of(train(epochs=2), tmp_path)


def test_a_vocabulary_that_forgets_cannot_be_resumed_on_a_text_read_again():
    model = train(max_vocab_size=60)
    with pytest.raises(ValueError, match="only the process that built the vocabulary can resume"):
        model.train(CORPUS.sentences, resume=True)


def test_a_checkpoint_after_each_epoch_is_a_model(tmp_path):
    loaded = []

    class Load(Callback):
        def on_epoch_begin(self, model):
            path = tmp_path / "new folder" / "checkpoint.safetensors"
            loaded.append(len(MUSE.load(path).history) if path.exists() else 0)

    model = train(epochs=3, checkpoint_dir=tmp_path / "new folder", callbacks=[Load()])
    assert loaded == [0, 1, 2]
    last = MUSE.load(tmp_path / "new folder" / "checkpoint.safetensors")
    np.testing.assert_array_equal(last.arrays.sense_counts, model.arrays.sense_counts)


def test_a_training_that_begins_anew_keeps_the_checkpoint_of_another(tmp_path, caplog):
    checkpoint, previous = tmp_path / "checkpoint.safetensors", tmp_path / "checkpoint.previous.safetensors"
    train(epochs=4, checkpoint_dir=tmp_path, callbacks=[StopAfter(3)])
    assert not previous.exists()
    assert not caplog.text
    left = checkpoint.read_bytes()
    model = train(epochs=4, checkpoint_dir=tmp_path, callbacks=[StopAfter(2)])
    assert previous.read_bytes() == left
    assert len(MUSE.load(checkpoint).history) == 2
    assert caplog.text.count("is of another training, and is now checkpoint.previous.safetensors") == 1
    model.train(CORPUS.sentences, resume=True, callbacks=[StopAfter(4)])
    assert previous.read_bytes() == left
    assert len(MUSE.load(checkpoint).history) == 4
    train(epochs=1, checkpoint_dir=tmp_path)
    assert len(MUSE.load(previous).history) == 4  # the one before goes


def test_checkpoints_by_the_clock(tmp_path, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(muse.training.checkpoints.time, "monotonic", lambda: clock[0])
    settings = MUSE(checkpoint_dir=tmp_path, checkpoint_every="60s").settings
    checkpoints = muse.training.checkpoints.Checkpoints(settings)
    assert checkpoints.batches(1000) == 1000
    clock[0] += 59
    assert not checkpoints.is_due(epoch_ends=True)
    clock[0] += 1
    assert checkpoints.is_due()
    checkpoints.write(train(epochs=1).save)
    assert not checkpoints.is_due()
    assert not muse.training.checkpoints.Checkpoints(MUSE(checkpoint_every="60s").settings).is_due(epoch_ends=True)


def test_a_full_disk_costs_the_checkpoint_and_not_the_training(tmp_path, monkeypatch, caplog):
    def full(self, path):
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(MUSE, "save", full)
        model = train(epochs=2, checkpoint_dir=tmp_path)
    assert len(model.history) == 2
    assert "the checkpoint could not be written, and training goes on without it: [Errno 28]" in caplog.text


def test_a_folder_that_takes_no_checkpoint_is_refused_before_the_corpus_is_read(tmp_path, monkeypatch):
    def unread():
        pytest.fail("the corpus was read")
        yield

    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="checkpoint_dir is a file; give the name of a folder"):
        MUSE(unread(), checkpoint_dir=tmp_path / "file")
    (tmp_path / "folder").mkdir(0o500)
    if os.access(tmp_path / "folder", os.W_OK):  # root may write everywhere
        monkeypatch.setattr(muse.training.checkpoints.os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="make the folder writable, or give another") as caught:
        MUSE(unread(), checkpoint_dir=tmp_path / "folder")
    assert caught.value.filename == str(tmp_path / "folder")


SCRIPT = """
import sys, time
from muse import MUSE, Callback

class Say(Callback):
    def on_epoch_begin(self, model):
        if len(model.history) == int(sys.argv[2]):
            print("training", flush=True)

model = MUSE(vector_size=128, sample=0, epochs=2000, callbacks=[Say()], workers=2, senses=2)
model.build_vocab(corpus_file=sys.argv[1])
try:
    model.train()
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
print(model.select_sense("bank", "money in the bank"), model.training_state["stage"], model.training_state["batch"])
"""


@pytest.mark.parametrize("epoch", [0, 20])
def test_sigint_stops_within_a_second(epoch, tmp_path):
    text = tmp_path / "text"
    line = "".join(" ".join(sentence) + "\n" for sentence in CORPUS.sentences)
    text.write_text(line * (2 if epoch else 200), encoding="utf-8")  # epochs of 0.1 s, or of many seconds
    environment = {**os.environ, "PYTHONPATH": str(Path(muse.__file__).parent.parent)}
    command = [sys.executable, "-c", SCRIPT, str(text), str(epoch)]

    def interrupt() -> tuple[float, bool]:
        """Seconds until it had stopped, and whether it had done any batch."""
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            assert process.stdout.readline() == "training\n"
            time.sleep(0.2)
            sent = time.monotonic()
            process.send_signal(signal.SIGINT)
            stopped, answer = process.stdout.read().splitlines()
            assert process.wait(timeout=60) == 0
        sense, stage, batch = map(int, answer.split())
        assert sense in (0, 1)
        return float(stopped) - sent, (stage, batch) != (0, 0)

    tries = []
    while len(tries) < 5:  # a busy machine may give the process no time just then
        tries.append(interrupt())
        if tries[-1][0] < 1 and tries[-1][1]:
            return
    raise AssertionError(tries)


# -- devices -----------------------------------------------------------------------------------------------------------


def stopped(tmp_path: Path, workers: int | None) -> Path:
    model = train(epochs=4, workers=workers, callbacks=[StopAfter(2)])
    model.save(tmp_path / "stopped")
    return tmp_path / "stopped"


def test_a_resumed_training_has_its_own_number_of_workers(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(muse.training.run, "usable_cores", lambda: 4)
    whole = file_of(train(epochs=4), tmp_path)
    model = MUSE.load(stopped(tmp_path, 1))
    assert model.settings.workers is None
    model.train(CORPUS.sentences, resume=True)
    assert file_of(model, tmp_path) == whole
    assert model.settings.workers is None  # of the model; that of the training was its own
    assert not [record for record in caplog.records if "workers" in record.message and record.levelname == "WARNING"]


def test_another_number_of_workers_is_a_warning(tmp_path, caplog):
    model = MUSE.load(stopped(tmp_path, 1), workers=2)
    model.train(CORPUS.sentences, resume=True)
    assert "the training began with workers=1, and is resumed with workers=2" in caplog.text


def test_all_cores_are_all_cores_of_the_machine_that_resumes(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(muse.training.run, "usable_cores", lambda: 3)
    path = stopped(tmp_path, None)
    assert "workers" not in MUSE.load(path).training_state
    MUSE.load(path, workers=2).train(CORPUS.sentences, resume=True)
    assert "the training began with" not in caplog.text
    monkeypatch.setattr(muse.training.run, "usable_cores", lambda: 1)
    assert MUSE.load(stopped(tmp_path, None)).training_state["workers"] == 1  # which is exact
