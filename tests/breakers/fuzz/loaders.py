"""Every loader with what may go wrong: the table that the fuzzers and tests/breakers/test_fuzz.py go through."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from muse import MUSE, Callback, DivergenceError, FormatWarning, LoadedVectors, ModelFileError, load_vectors
from muse.corpus.encoding import LineSentence, encode_corpus
from muse.datasets import make_ambiguous_corpus
from muse.evaluation import scws, wic
from muse.formats.registry import detect_format
from muse.readers import instances, key_tables, keys, questions, word_pairs

from .mutation import change_bytes, change_model

TRAINED_ON = make_ambiguous_corpus(300, 24, seed=0)  # the models in tests/data
SEEDS = Path(__file__).parent / "seeds"
Rng = np.random.Generator


class Loader(NamedTuple):
    """How to load a file and use what it holds, and the errors that are documented."""

    load: Callable[[Path], object]
    errors: tuple[type[Exception], ...] = (ValueError,)
    name: str = "input"  # of the file
    change: Callable[[bytes, list[bytes], Rng], bytes] = change_bytes
    seeds: str = ""  # the folder, if it is not named as the loader

    def seed_files(self, name: str) -> list[bytes]:
        return [path.read_bytes() for path in sorted((SEEDS / (self.seeds or name)).iterdir())]


def _use_model(path: Path, mmap: bool) -> None:
    model = MUSE.load(path, mmap=mmap, workers=1)
    words = [model.vocabulary.words[i] for i in range(min(3, len(model)))]
    try:
        model.disambiguate(words)
    except ValueError as error:
        if "a score of a sense is not a finite number" not in str(error):
            raise
    model.sv.most_similar((words[0], 0))
    model.wv.most_similar(words[0])
    try:
        model.save(path.with_name("again"))
    except ValueError as error:
        if "not finite" not in str(error):
            raise


class _StopAfterOneEpoch(Callback):
    """A checkpoint may ask for a million."""

    def on_epoch_end(self, model: MUSE) -> None:
        model.stop_training = True


def _resume(path: Path) -> None:
    model = MUSE.load(path, workers=1)
    model.train(TRAINED_ON.sentences, callbacks=[_StopAfterOneEpoch()], resume=True)
    model.arrays.check_finite()


def _read_corpus(path: Path) -> None:
    vocabulary, corpus = encode_corpus(corpus_file=path, min_count=1, workers=1)
    sentences = list(LineSentence(path))
    assert corpus.n_sentences == len(sentences)
    assert vocabulary.counts.sum() == sum(map(len, sentences))


def _two_files(read: Callable[[Path, Path], object]) -> Callable[[Path], object]:
    """For loaders of two files, whose contents the input holds before and after the first NUL."""

    def load(path: Path) -> object:
        first, _, second = path.read_bytes().partition(b"\0")
        path.write_bytes(first)
        path.with_name("second").write_bytes(second)
        return read(path, path.with_name("second"))

    return load


LOADERS: dict[str, Loader] = {
    "model": Loader(lambda path: _use_model(path, False), (ModelFileError,), change=change_model),
    "model-mmap": Loader(
        lambda path: _use_model(path, True), (ModelFileError, KeyError), change=change_model, seeds="model"
    ),
    "checkpoint": Loader(_resume, (ValueError, DivergenceError), change=change_model),
    "corpus": Loader(_read_corpus),
    "corpus-gz": Loader(_read_corpus, name="input.gz"),
    "corpus-bz2": Loader(_read_corpus, name="input.bz2"),
    "corpus-xz": Loader(_read_corpus, name="input.xz"),
    "corpus-zst": Loader(_read_corpus, (ValueError, ImportError), name="input.zst"),
    "scws": Loader(scws.read_scws),
    "word-pairs": Loader(word_pairs.read_word_pairs),
    "synonyms": Loader(questions.read_synonyms),
    "toefl": Loader(_two_files(questions.read_toefl)),
    "wic": Loader(_two_files(wic.read_wic)),
    "senseval-key": Loader(keys.read_key),
    "instances": Loader(instances.read_instances),
    "table": Loader(key_tables.read_table),
}


def _use_vectors(path: Path, format: str, **options: Any) -> LoadedVectors:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        vectors = load_vectors(path, format, **options)
    for word in list(vectors.vocabulary)[:3]:
        assert len(vectors.sense_vectors(word)) == len(vectors.sense_prior(word)) == vectors.n_senses(word)
        if vectors.has_selector:
            vectors.select_sense(word, list(vectors.vocabulary)[:5])
    return vectors


def _detect(path: Path) -> None:
    with contextlib.suppress(ModelFileError):
        detect_format(path)


def _vectors(format: str) -> Callable[[Path], object]:
    """For formats of one file."""

    def load(path: Path) -> object:
        _detect(path)
        return _use_vectors(path, format)

    return load


def _vectors_and(format: str, option: str) -> Callable[[Path], object]:
    """For formats with a second file, which an option names."""
    return _two_files(lambda first, second: _use_vectors(first, format, **{option: second}))


LOADERS |= {name: Loader(_vectors(name)) for name in ("word2vec", "glove", "mssg", "msword2vec", "adagram")}
LOADERS |= {
    "word2vec-counts": Loader(_vectors_and("word2vec", "counts")),
    "paper": Loader(_vectors_and("paper", "index")),
    "sensegram": Loader(_vectors_and("sensegram", "inventory")),
    "sensegram-words": Loader(_vectors_and("sensegram", "word_vectors")),
    "msword2vec-clusters": Loader(_vectors_and("msword2vec", "clusters")),
}
