"""Threads that change one model at once, and ask it meanwhile."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from muse import MUSE

from .processes import Failure, require
from .scenario import CORPUS, OPTIONS

_REFUSED = " cannot be called while "
_CALLS = 12  # of each thread


@functools.cache
def _trained() -> MUSE:
    return MUSE(CORPUS.sentences, **{**OPTIONS, "epochs": 1, "vector_size": 8})


def _text(rng: np.random.Generator, word: str) -> Iterator[list[str]]:
    """Sentences that are read slowly enough for another thread to come between."""
    for number in range(40):
        yield ["bank", f"{word}_{number % 5}", str(rng.choice(CORPUS.sentences[0]))]


class _Changer:
    """A thread that changes the model in random ways, and remembers which of its changes were made."""

    def __init__(self, model: MUSE, name: str, seed: list[int], folder: Path) -> None:
        self.model, self.name, self.folder = model, name, folder
        self.rng = np.random.default_rng(seed)
        self.added: list[str] = []
        self.epochs = self.refused = 0
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        kinds: list[Callable[[str], Any]] = [
            self._words,
            self._table,
            self._merge,
            self._prune,
            self._train,
            self._save,
        ]
        try:
            for number in range(_CALLS):
                try:
                    kinds[int(self.rng.integers(len(kinds)))](f"{self.name}{number}")
                except RuntimeError as error:
                    require(_REFUSED in str(error), f"another error: {error!r}")
                    self.refused += 1
        except BaseException as error:
            self.error = error

    def _words(self, word: str) -> None:
        self.model.build_vocab(_text(self.rng, word), update=True)
        self.added += [f"{word}_{number}" for number in range(5)]

    def _table(self, word: str) -> None:
        self.model.build_vocab_from_freq({f"{word}_{number}": 9 for number in range(200)}, update=True)
        self.added += [f"{word}_{number}" for number in range(200)]

    def _merge(self, word: str) -> None:
        self.model.merge_senses(float(self.rng.uniform(0.5, 1)))

    def _prune(self, word: str) -> None:
        self.model.prune_senses(0.1)

    def _train(self, word: str) -> None:
        self.model.train(_text(self.rng, word), epochs=2)
        self.epochs += 2

    def _save(self, word: str) -> None:
        path = self.folder / self.name
        self.model.save(path)
        MUSE.load(path)


def _ask(model: MUSE) -> None:
    """Questions whose answers are the same, or as many, in each state of the model; none is refused."""
    questions: list[Callable[[], bool]] = [
        lambda: bool(np.isclose(model.sense_probabilities("bank", ["money", "the"]).sum(), 1, atol=1e-4)),
        lambda: model.sense_vectors("bank").shape[1] == 8,
        lambda: len(model.sv.most_similar("bank#0", topn=5)) == 5,
        lambda: len(model.wv.most_similar("bank", topn=5)) == 5,
        lambda: len(model.disambiguate("the bank")) == 2,
        lambda: len(model.predict_collocates("bank", topn=3)) == 3,
    ]
    for question in questions:
        require(question(), "an answer that is none")


def changed_by_threads(rng: np.random.Generator, folder: Path) -> str:
    """Three threads change one model in random ways while a fourth asks it: no change is lost, none is half made."""
    base = _trained()
    base.save(folder / "base")
    model = MUSE.load(folder / "base", workers=1)
    seeds = rng.integers(2**32, size=3).tolist()
    changers = [_Changer(model, name, [seed], folder) for name, seed in zip("abc", seeds, strict=True)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(float(rng.choice([1e-6, 1e-5, 1e-4, 5e-3])))
    try:
        for changer in changers:
            changer.thread.start()
        while any(changer.thread.is_alive() for changer in changers):
            _ask(model)
    finally:
        for changer in changers:
            changer.thread.join()
        sys.setswitchinterval(interval)
    for changer in changers:
        if changer.error is not None:
            raise Failure(f"thread {changer.name}: {changer.error!r}") from changer.error
        lost = [word for word in changer.added if word not in model]
        require(not lost, f"words are lost: {lost[:5]}")
    epochs = sum(changer.epochs for changer in changers)
    require(len(model.history) == len(base.history) + epochs, "an epoch was trained twice, or is lost")
    _ask(model)
    model.train([["bank", "money"]] * 20, epochs=1)
    model.save(folder / "end")
    require(len(MUSE.load(folder / "end")) == len(model), "the file holds other words")
    return "no change lost, none half made"
