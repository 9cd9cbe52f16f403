"""Trainings that take a twentieth of a second, and callbacks that stop or record them."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import muse.training.checkpoints
from muse import MUSE, Arrays, Callback
from muse.data.forest import Forest
from muse.datasets import make_ambiguous_corpus
from muse.training.trees import Grown
from resolved import arguments

CORPUS = make_ambiguous_corpus(600, 200, seed=0)  # 9,000 tokens: 0.05 s of training
RESOLVED = {
    "vector_size": 20, "workers": 1, "seed": 3, "min_count": 2, "batch_tokens": 1024, "senses": 2, "min_contexts": 5,
}  # fmt: skip
TINY = arguments(**RESOLVED)


def train(**options) -> MUSE:
    """Train with some settings, under the names of `resolved.arguments`, in place of `RESOLVED`."""
    return MUSE(CORPUS.sentences, **arguments(**{**RESOLVED, **options}))


def file_of(model: MUSE, folder: Path) -> bytes:
    model.save(folder / "model")
    return (folder / "model").read_bytes()


class Recorder(Callback):
    def __init__(self, name="", calls=None):
        self.name, self.calls = name, [] if calls is None else calls

    def on_train_begin(self, model):
        self.calls.append((self.name, "train begin", model.arrays.sense_vectors.shape[1]))

    def on_epoch_begin(self, model):
        self.calls.append((self.name, "epoch begin", len(model.history)))

    def on_epoch_end(self, model):
        self.calls.append((self.name, "epoch end", len(model.history)))

    def on_train_end(self, model):
        self.calls.append((self.name, "train end", int(model.arrays.sense_counts.sum())))


class StopAfter(Callback):
    def __init__(self, epoch):
        self.epoch = epoch

    def on_epoch_end(self, model):
        model.sense_vectors("bank", "money in the bank")  # the model can be used
        model.stop_training = model.history[-1]["epoch"] >= self.epoch


def cut_of(grown: Grown, words: Arrays, senses=None) -> Arrays:
    """The arrays of a cut of sense trees that were grown from `words`; the default one, if no other is named."""
    nodes = grown.trees.nodes_of(grown.trees.senses_of(senses))
    forest = Forest(grown.space, grown.trees, words.sense_vectors, *nodes)
    return forest.arrays(words.collocation_vectors, words.word_counts)


@contextlib.contextmanager
def kept_checkpoints(folder: Path, monkeypatch) -> Iterator[list[Path]]:
    """Copies of all checkpoints that trainings write meanwhile to ``folder / "folder"``, in order."""
    copies: list[Path] = []
    write = muse.training.checkpoints.Checkpoints.write

    def write_and_keep(self, save):
        write(self, save)
        copies.append(folder / f"copy {len(copies)}")
        shutil.copy(folder / "folder" / muse.training.checkpoints.CHECKPOINT_NAME, copies[-1])

    with monkeypatch.context() as patch:
        patch.setattr(muse.training.checkpoints.Checkpoints, "write", write_and_keep)
        yield copies
