"""AdaGram (Bartunov et al. 2016) as a peer: adagram.cpp beside this file, compiled when it is first needed."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.senses.texts import Encoded, Merged
from muse import Settings, _core
from muse.data.vocabulary import Vocabulary
from muse.evaluation import SenseKeyedVectors

__all__ = ["AdaGram", "AdaGramModel", "chosen_senses", "train_adagram"]

_SOURCE = Path(__file__).with_suffix(".cpp")
# A peer is given every help: it is compiled for this very machine, unlike the package.
# -ffast-math without what it links in: code that makes the whole process flush denormal numbers to zero.
_FAST = ("-fno-math-errno", "-ffinite-math-only", "-fno-signed-zeros", "-fno-trapping-math", "-fassociative-math",
         "-freciprocal-math")  # fmt: skip
_FLAGS = ("-std=c++20", "-O3", *_FAST, "-march=native", "-shared", "-fPIC", "-pthread")
_ALPHA = 0.1  # the authors' concentration
_LEAST = 1e-3  # expected share from which on a sense counts, as in the authors' tools


class _Text(ctypes.Structure):
    _fields_ = [("tokens", ctypes.c_void_p), ("offsets", ctypes.c_void_p), ("sentences", ctypes.c_int64)]


class _Model(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int32) for name in ("words", "dim", "senses", "window")),
        ("alpha", ctypes.c_double),
        *((name, ctypes.c_void_p) for name in ("counts", "inputs", "outputs", "uses")),
    ]


class _Schedule(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_double) for name in ("rate", "last_rate", "sample")),
        ("epochs", ctypes.c_int32), ("threads", ctypes.c_int32), ("seed", ctypes.c_uint64),
    ]  # fmt: skip


def _library(folder: Path) -> ctypes.CDLL:
    """The compiled peer, from the cache if it has been compiled before."""
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        raise OSError("AdaGram needs a C++ compiler: install one, or name it in CXX")
    key = hashlib.sha256(_SOURCE.read_bytes() + " ".join((compiler, *_FLAGS)).encode()).hexdigest()[:12]
    built = folder / f"adagram-{key}.so"
    if not built.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = built.with_suffix(f".{os.getpid()}")
        subprocess.run([compiler, *_FLAGS, "-o", str(part), str(_SOURCE)], check=True)
        part.replace(built)
    library = ctypes.CDLL(str(built))
    library.adagram_tree.restype = ctypes.c_void_p
    library.adagram_free.argtypes = [ctypes.c_void_p]
    return library


def _text(tokens: NDArray[np.int32], offsets: NDArray[np.int64]) -> _Text:
    return _Text(tokens.ctypes.data, offsets.ctypes.data, len(offsets) - 1)


class AdaGram:
    """A model in training.

    Parameters
    ----------
    vocabulary : Vocabulary
        Words and counts.
    settings : Settings
        ``senses`` is the largest number of senses a word; dimension, window, learning rates, subsampling, epochs, seed
        and threads are what they are for every model.
    alpha : float
        Concentration of the Dirichlet process: the larger, the more senses.
    folder : Path
        For the compiled code.
    """

    def __init__(self, vocabulary: Vocabulary, settings: Settings, alpha: float, folder: Path) -> None:
        if not isinstance(settings.senses, int):
            raise ValueError("AdaGram needs a largest number of senses: give senses=")
        self.vocabulary, self.settings = vocabulary, settings
        words, senses, dim = len(vocabulary.words), settings.senses, settings.vector_size
        rng = np.random.default_rng(settings.seed)
        self.counts = np.ascontiguousarray(vocabulary.counts, dtype=np.int64)
        self.vectors = ((rng.random((words, senses, dim), dtype=np.float32) - 0.5) / dim).astype(np.float32)
        self.nodes = np.zeros((max(words - 1, 1), dim), np.float32)
        self.uses = np.zeros((words, senses), np.float32)
        self.uses[:, 0] = self.counts
        self._library = _library(folder)
        self._model = _Model(
            words, dim, senses, settings.window, alpha, self.counts.ctypes.data, self.vectors.ctypes.data,
            self.nodes.ctypes.data, self.uses.ctypes.data,
        )  # fmt: skip
        self._tree = ctypes.c_void_p(self._library.adagram_tree(ctypes.byref(self._model)))
        weakref.finalize(self, self._library.adagram_free, self._tree)

    def train(self, corpus: _core.Corpus) -> None:
        settings = self.settings
        schedule = _Schedule(
            settings.alpha, settings.min_alpha, settings.sample, settings.epochs, settings.workers or 1, settings.seed
        )
        tokens, offsets = np.ascontiguousarray(corpus.tokens), np.ascontiguousarray(corpus.offsets, dtype=np.int64)
        self._library.adagram_train(
            ctypes.byref(self._model), self._tree, ctypes.byref(_text(tokens, offsets)), ctypes.byref(schedule)
        )

    def shares(self) -> NDArray[np.float64]:
        """Expected share of every sense, (words, senses)."""
        found = np.empty(self.uses.shape)
        self._library.adagram_shares(ctypes.byref(self._model), ctypes.c_void_p(found.ctypes.data))
        return found

    def posterior(
        self, tokens: NDArray[np.int32], offsets: NDArray[np.int64], places: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Probabilities of the senses at places of a text, (places, senses)."""
        tokens, offsets = np.ascontiguousarray(tokens, np.int32), np.ascontiguousarray(offsets, np.int64)
        places = np.ascontiguousarray(places, np.int64)
        found = np.empty((len(places), self.uses.shape[1]))
        self._library.adagram_disambiguate(
            ctypes.byref(self._model), self._tree, ctypes.byref(_text(tokens, offsets)),
            ctypes.c_void_p(places.ctypes.data), ctypes.c_int64(len(places)), ctypes.c_double(_LEAST),
            ctypes.c_void_p(found.ctypes.data),
        )  # fmt: skip
        return found


class AdaGramModel(SenseKeyedVectors):
    """A trained AdaGram as a model to evaluate: senses of a share of 1e-3 or more, chosen by their posterior."""

    def __init__(self, trained: AdaGram) -> None:
        self._trained = trained
        shares = trained.shares()
        self._kept = [np.flatnonzero(row >= _LEAST) for row in shares]
        words = trained.vocabulary.words
        super().__init__(
            {word: trained.vectors[i][self._kept[i]] for i, word in enumerate(words)},
            priors={word: shares[i][self._kept[i]] for i, word in enumerate(words)},
            selector=lambda word, tokens, place: self.sense_probabilities_batch([word], [tokens], [place])[0],
        )

    def sense_prior(self, word: str) -> NDArray[np.float64]:
        return self.sense_probabilities(word)

    def sense_probabilities_batch(
        self, words: Sequence[str], contexts: Sequence[Sequence[str]], positions: Sequence[int]
    ) -> list[NDArray[np.float64]]:
        """Posterior of each word's senses; words that the model does not know are left out of the contexts."""
        ids = self._trained.vocabulary.ids
        stream: list[int] = []
        offsets, places = [0], []
        for word, context, position in zip(words, contexts, positions, strict=True):
            known = [(at, ids[token]) for at, token in enumerate(context) if token in ids and at != position]
            before = sum(at < position for at, _ in known)
            places.append(len(stream) + before)
            stream += [i for _, i in known[:before]] + [ids[word]] + [i for _, i in known[before:]]
            offsets.append(len(stream))
        found = self._trained.posterior(np.array(stream, np.int32), np.array(offsets), np.array(places))
        return [row[self._kept[ids[word]]] for word, row in zip(words, found, strict=True)]

    def disambiguate_batch(self, sentences: Iterable[Sequence[str]]) -> Iterator[NDArray[np.int64]]:
        """The most probable sense of each token, -1 for unknown words."""
        for sentence in sentences:
            known = [at for at, token in enumerate(sentence) if token in self]
            words = [sentence[at] for at in known]
            chosen = np.full(len(sentence), -1, np.int64)
            if words:
                found = self.sense_probabilities_batch(words, [sentence] * len(words), known)
                chosen[known] = [int(row.argmax()) for row in found]
            yield chosen


def train_adagram(
    merged: Merged, settings: Settings, counts: Mapping[str, int], folder: Path, alpha: float = _ALPHA
) -> tuple[AdaGram, Encoded, float]:
    """AdaGram on a text, with the seconds that training took."""
    known = {word: count for word, count in counts.items() if count >= settings.min_count}
    ordered = sorted(known, key=lambda word: (-known[word], word))
    vocabulary = Vocabulary(ordered, np.array([known[word] for word in ordered], np.int64))
    encoded = merged.encode(vocabulary)
    model = AdaGram(vocabulary, settings, alpha, folder)
    start = time.perf_counter()
    model.train(encoded.corpus)
    return model, encoded, time.perf_counter() - start


def chosen_senses(model: AdaGram, encoded: Encoded) -> NDArray[np.int64]:
    """The most probable sense at each place that is scored."""
    corpus = encoded.corpus
    found: Any = model.posterior(corpus.tokens, corpus.offsets, encoded.places).argmax(axis=1)
    return np.asarray(found)
