"""Other threads, other processes, and the user's own code that fails."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from muse import MUSE, Callback
from muse.callbacks import HOOKS

from .processes import Child, Failure, killed_at_the_end, require
from .scenario import CORPUS, VARIANTS, bytes_of, digest, new_model, require_no_leftovers, two_models, unbroken


class Broken(Callback):
    """Fails at a given call of a given hook."""

    def __init__(self, hook: str, call: int) -> None:
        self.left = call
        setattr(self, hook, self._fail)

    def _fail(self, model: MUSE) -> None:
        self.left -= 1
        if self.left == 0:
            raise ZeroDivisionError("in a callback")


def broken_callback(rng: np.random.Generator, folder: Path) -> str:
    """An exception in a random hook; the training is then resumed."""
    variant = int(rng.integers(len(VARIANTS)))
    expected, _ = unbroken(variant)
    hook = str(rng.choice(HOOKS))
    model = new_model(variant)
    model.build_vocab(CORPUS.sentences)
    try:
        model.train(callbacks=[Broken(hook, int(rng.integers(1, 3)))])
    except ZeroDivisionError:
        require(model.is_trained, "the model is lost")
        model.sv.most_similar("bank#0")
        if hook != "on_train_end":  # then it is complete
            model.train(resume=True)
    require(bytes_of(model) == expected, "the resumed training ended with other bytes")
    return "the exception came through, resumed exactly"


def broken_iterator(rng: np.random.Generator, folder: Path) -> str:
    """An exception in the user's generator, or something in it that is no sentence; then a good corpus."""
    expected, _ = unbroken()
    at = int(rng.integers(len(CORPUS.sentences)))
    wrong: list[Any] = ["a string", None, 7, ["a", 7], ["a", None], ["\ud800"], ZeroDivisionError("mine"), b"bytes"]
    item = wrong[int(rng.integers(len(wrong)))]

    def sentences() -> Iterator[Any]:
        for number, sentence in enumerate(CORPUS.sentences):
            if number == at:
                if isinstance(item, Exception):
                    raise item
                yield item
            yield sentence

    model = new_model()
    try:
        model.build_vocab(sentences())
    except (TypeError, ValueError) as error:
        require(f"sentence {at + 1} " in str(error) + " ", f"the message does not say where: {error}")
    except ZeroDivisionError:
        require(item is wrong[6], "an exception of no origin")
    else:
        raise Failure(f"{item!r} passed for a sentence")
    model.build_vocab(CORPUS.sentences)
    model.train()
    require(bytes_of(model) == expected, "the training ended with other bytes")
    return "said where, then trained as ever"


def two_trainings(rng: np.random.Generator, folder: Path) -> str:
    """Two trainings at once in one process, while the first thread asks a third model."""
    variants = [int(variant) for variant in rng.integers(len(VARIANTS), size=2)]
    expected = [unbroken(variant)[0] for variant in variants]
    results: list[bytes | BaseException] = [b"", b""]

    def train(number: int) -> None:
        try:
            model = new_model(variants[number])
            model.build_vocab(CORPUS.sentences)
            model.train()
            results[number] = bytes_of(model)
        except BaseException as error:
            results[number] = error

    asked = two_models()[0][0]
    near = asked.sv.most_similar("w7#1")
    threads = [threading.Thread(target=train, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        require(asked.sv.most_similar("w7#1") == near, "a query gave another answer")
    require(results == expected, "a training ended with other bytes")
    return "both exact"


def forks_while_training(rng: np.random.Generator, folder: Path) -> str:
    """While a thread trains, processes are forked that train and ask on their own."""
    expected, seconds = unbroken()
    result: list[bytes] = []

    def train() -> None:
        model = new_model()
        model.build_vocab(CORPUS.sentences)
        model.train()
        result.append(bytes_of(model))

    def child_work() -> int:
        two_models()[0][1].sv.most_similar("w7#1")
        model = new_model(workers=2, epochs=1)
        model.build_vocab(CORPUS.sentences[:100])
        model.train()
        model.arrays.check_finite()
        return 0

    two_models()
    thread = threading.Thread(target=train)
    thread.start()
    thread.join(float(rng.uniform(0, seconds)))
    child = Child(child_work)
    with killed_at_the_end(child):
        code = child.wait()
        thread.join()
    require(code == 0, f"the forked process ended with {code}: {child.said()}")
    require(result == [expected], "the training ended with other bytes")
    return "both went well"


LEFT_BEHIND = """
import sys, threading, time
from muse import MUSE

lines = [["the", "bank", "of", "river", str(i % 50)] for i in range(3000)]
model = MUSE(lines, min_count=1, vector_size=20, epochs=1, workers=1)

def train(): MUSE(lines, min_count=1, vector_size=20, epochs=10**6, workers=2)
def read():
    while True: MUSE(min_count=1).build_vocab(lines)
def ask():
    while True: model.disambiguate("the bank"); model.wv.most_similar("bank")

for name in sys.argv[2:]: threading.Thread(target=globals()[name], daemon=True).start()
time.sleep(float(sys.argv[1]))
"""


def left_behind(rng: np.random.Generator, folder: Path) -> str:
    """The main thread ends while daemon threads train, read and ask: a quiet end."""
    names = rng.choice(["train", "read", "ask"], size=int(rng.integers(1, 4)))
    ended = subprocess.run(
        [sys.executable, "-c", LEFT_BEHIND, f"{rng.uniform(0, 0.3):.3f}", *names],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    require(ended.returncode == 0, f"the process ended with {ended.returncode}: {ended.stderr}")
    return "a quiet end"


def many_readers(rng: np.random.Generator, folder: Path) -> str:
    """Four processes load one file, mapped or not, while a fifth saves two models over it in turn."""
    models, digests = two_models()
    path = folder / "model"
    models[0].save(path)
    vectors = [model.arrays.sense_vectors for model in models]

    def save() -> None:
        number = 0
        while True:
            number = 1 - number
            models[number].save(path)

    def load(mmap: bool, times: int) -> int:
        for _ in range(times):
            model = MUSE.load(path, mmap=mmap)
            mine = model.arrays.sense_vectors
            if not any(np.array_equal(mine, other) for other in vectors):
                return 1
            model.select_sense("w7", ["w8", "w9"])
        return 0

    writer = Child(save)
    readers = [Child(lambda mmap=bool(i % 2): load(mmap, 6)) for i in range(4)]
    with killed_at_the_end(writer, *readers):
        codes = [reader.wait() for reader in readers]
        require(writer.running(), f"the writer ended: {writer.said() if not writer.running() else ''}")
    require(codes == [0] * 4, f"readers ended with {codes}: {[reader.said() for reader in readers]}")
    require(digest(path.read_bytes()) in digests, "the file is neither model")
    models[0].save(path)
    require_no_leftovers(folder, "model")
    return "24 loads, each a whole model"
