"""kill -9 at random moments."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import numpy as np

from muse import MUSE
from muse.training.checkpoints import CHECKPOINT_NAME

from .processes import Child, killed_at_the_end, require
from .scenario import (
    CORPUS,
    VARIANTS,
    bytes_of,
    digest,
    new_model,
    require_no_leftovers,
    train_or_resume,
    two_models,
    unbroken,
)


def training(rng: np.random.Generator, folder: Path) -> dict[str, int]:
    """A training is killed again and again, and started again each time, until it has come to its end."""
    variant = int(rng.integers(len(VARIANTS)))
    expected, seconds = unbroken(variant)
    kills, left, stood = 0, 0, (-1, -1)
    while True:
        child = Child(lambda: _train_and_save(folder, variant))
        with killed_at_the_end(child):
            most = 3 * seconds if kills < 5 else 120.0  # in the end it must get through
            _kill_after(child, float(rng.uniform(0, most)))
            if child.wait() == 0:
                break
        kills += 1
        require(child.said() == "", "the process ended by itself")
        stood = _check_checkpoint(folder / CHECKPOINT_NAME, stood)
        temporary = list(folder.glob(".*.tmp"))  # a kill between two names; the next checkpoint removes it
        require(len(temporary) <= 1, "temporary files pile up")
        left += len(temporary)
    require_no_leftovers(folder, CHECKPOINT_NAME, "final")
    require((folder / "final").read_bytes() == expected, "the resumed training ended with other bytes")
    seen = {"kill": kills, "training ended with the same bytes": 1, "temporary file, removed by the next save": left}
    return {what: count for what, count in seen.items() if count}


def _train_and_save(folder: Path, variant: int) -> None:
    train_or_resume(folder, variant).save(folder / "final")


def _kill_after(child: Child, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while child.running() and time.monotonic() < deadline:
        time.sleep(0.0005)
    if child.running():
        child.send(signal.SIGKILL)


def _check_checkpoint(path: Path, stood: tuple[int, int]) -> tuple[int, int]:
    """The last good checkpoint is whole, and never older than the one before."""
    if not path.exists():
        require(stood == (-1, -1), "the checkpoint is lost")
        return stood
    state = MUSE.load(path).training_state
    now = (int(state["stage"]), int(state["batch"]))
    require(now >= stood, f"the checkpoint went back from {stood} to {now}")
    return now


def saving(rng: np.random.Generator, folder: Path) -> str:
    """A process that saves one model over another, without end, is killed."""
    models, digests = two_models()
    path = folder / "model"
    models[0].save(path)

    def save_for_ever() -> None:
        number = 0
        while True:
            number = 1 - number
            models[number].save(path)

    child = Child(save_for_ever)
    with killed_at_the_end(child):
        _kill_after(child, float(rng.uniform(0, 0.15)))
        require(child.wait() == -signal.SIGKILL, "the process ended by itself")
    found = digests.get(digest(path.read_bytes()))
    require(found is not None, "the file is neither the old nor the new model")
    left = len(list(folder.iterdir())) - 1
    models[0].save(path)  # removes what a kill between two names left
    require_no_leftovers(folder, "model")
    return f"whole, {left} temporary files"


def reading(rng: np.random.Generator, folder: Path) -> str:
    """A process that reads a corpus and spills it to the disk is killed: nothing is left there."""

    def read() -> None:
        from muse.corpus.encoding import encode_corpus

        while True:
            encode_corpus(CORPUS.sentences, max_ram=3000, spill_dir=folder)

    child = Child(read)
    with killed_at_the_end(child):
        _kill_after(child, float(rng.uniform(0, 0.1)))
        require(child.wait() == -signal.SIGKILL, "the process ended by itself")
    require_no_leftovers(folder)
    return "nothing is left"


def interrupted(rng: np.random.Generator, folder: Path) -> str:
    """Ctrl-C at a random moment of training; the same process then resumes without a file."""
    variant = int(rng.integers(len(VARIANTS)))
    expected, seconds = unbroken(variant)
    said: list[float] = []

    def train() -> int:
        model = new_model(variant)
        model.build_vocab(CORPUS.sentences)
        resume = False
        (folder / "ready").touch()
        while True:
            try:
                model.train(resume=resume)
                return 0 if bytes_of(model) == expected else 1
            except KeyboardInterrupt:
                (folder / "stopped").write_text(str(time.monotonic()))
                resume = model.is_trained

    child = Child(train)
    with killed_at_the_end(child):
        while child.running() and not (folder / "ready").exists():
            time.sleep(0.001)
        time.sleep(float(rng.uniform(0, seconds)))
        sent = time.monotonic()
        if child.running():
            child.send(signal.SIGINT)
        code = child.wait()
    require(code == 0, f"the resumed training ended with {code}: {child.said()}")
    if not (folder / "stopped").exists():
        return "exact, the signal came too late"
    said.append(float((folder / "stopped").read_text()) - sent)
    require(said[0] < 10.0, f"stopped after {said[0]:.1f} s")
    return "exact, stopped within a second" if said[0] < 1.0 else "exact, stopped later, on a busy machine"
