"""How to get each error of the table in docs/reliability.md; test_reliability_page.py compares the two."""

from __future__ import annotations

import pickle
import resource
import signal
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import muse.data.memory
import muse.training.run
from muse import MUSE, Settings, Split, load_vectors
from muse.corpus.encoding import encode_corpus
from muse.corpus.tokens import locate
from muse.evaluation import (
    EvaluationCallback,
    InductionTask,
    Occurrence,
    SenseKeyedVectors,
    evaluate_induction,
    read_table,
    read_toefl,
    read_word_pairs,
    score_key,
)
from toy import WORDS, toy_arrays, toy_model

SENTENCES = [["the", "head", "of", "the", "army"]] * 30
SMALL: dict[str, Any] = {"vector_size": 4, "min_count": 1, "workers": 1, "epochs": 2}


@contextmanager
def _available(size: int):
    before = muse.data.memory.available_memory
    muse.data.memory.available_memory = lambda: size
    try:
        yield
    finally:
        muse.data.memory.available_memory = before


def _untrained() -> MUSE:
    model = MUSE(**SMALL)
    model.build_vocab(SENTENCES)
    return model


def _too_large(folder: Path) -> None:
    model = _untrained()
    with _available(1000):
        model.train()


def _too_large_to_load(folder: Path) -> None:
    toy_model().save(folder / "m")
    with _available(1000):
        MUSE.load(folder / "m")


def _memory_while_reading(folder: Path) -> None:
    def sentences():
        yield ["a"]
        raise MemoryError

    encode_corpus(sentences())


def _memory_while_training(folder: Path) -> None:
    before = muse.training.run.grow

    def fail(*_):
        raise MemoryError

    muse.training.run.grow = fail
    try:
        MUSE(SENTENCES, senses=2, **SMALL)
    finally:
        muse.training.run.grow = before


def _fail(*_: object) -> None:
    raise MemoryError("std::bad_alloc")


def _memory_while_merging(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("muse.model.hygiene.merged_rows", _fail)
        toy_model().merge_senses()


def _memory_while_loading(folder: Path) -> None:
    (folder / "m").write_text("1 2 3 4\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("muse.formats.registry.open_reader", _fail)
        load_vectors(folder / "m")


def _diverging(folder: Path) -> None:
    MUSE(SENTENCES * 20, alpha=10, recipe=Split(initial_scale=100), senses=2, sample=0, **{**SMALL, "epochs": 30})


def _not_finite(folder: Path) -> None:
    model = toy_model()
    model.arrays.sense_vectors[0] = np.nan
    model.save(folder / "m")


def _changed_by_hand(folder: Path) -> None:
    model = toy_model()
    model.vocabulary.words[0] = model.vocabulary.words[1]  # type: ignore[index]
    model.save(folder / "m")


def _protected(folder: Path) -> None:
    (folder / "m").touch(0o400)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.access", lambda *_: False)  # as for those who are not root
        toy_model().save(folder / "m")


def _file_as_folder(folder: Path) -> None:
    (folder / "m").touch()
    toy_model().save(folder / "m" / "x" / "model")


def _file(folder: Path, change: Callable[[bytes], bytes]) -> None:
    toy_model().save(folder / "m")
    (folder / "m").write_bytes(change((folder / "m").read_bytes()))
    MUSE.load(folder / "m")


def _newer(folder: Path) -> None:
    _file(folder, lambda raw: raw.replace(b'"version":"1"', b'"version":"4"'))


def _resume_on(sentences: list[list[str]]) -> None:
    class Stop:
        def on_epoch_end(self, model):
            model.stop_training = True

    model = MUSE(SENTENCES, callbacks=[Stop()], **SMALL)
    model.train(sentences, resume=True)


def _changed_within(model: MUSE) -> None:
    def sentences():
        model.merge_senses()
        yield ["a"]

    model.build_vocab(sentences(), update=True)


def _latin(folder: Path) -> None:
    (folder / "text").write_bytes(b"ok\nna\xefve\n")
    encode_corpus(corpus_file=folder / "text")


def _gzip_of_another_name(folder: Path) -> None:
    (folder / "text").write_bytes(b"\x1f\x8b\x08\0\0\0\0\0\0\xff")
    encode_corpus(corpus_file=folder / "text")


def _cut_gzip(folder: Path) -> None:
    (folder / "text.gz").write_bytes(b"\x1f\x8b\x08\0\0\0\0\0\0\xff")
    encode_corpus(corpus_file=folder / "text.gz")


def _tagging_what_changes(folder: Path) -> None:
    (folder / "text").write_text("the head\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("muse.base.progress._Hidden.update", lambda *_: (folder / "text").write_text(""))
        toy_model().tag_corpus(folder / "text", folder / "out")


def _tagging_beside(folder: Path) -> None:
    (folder / "text").write_text("the head\n")
    (folder / "out.partial").write_text("precious")
    toy_model().tag_corpus(folder / "text", folder / "out")


def _reading(folder: Path, read: Callable[..., object], *texts: str) -> None:
    """Read files of these contents; the last is named `data`."""
    paths = [folder / f"file{number}" for number in range(len(texts) - 1)] + [folder / "data"]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    read(*paths)


def _table(*rows: str) -> str:
    header = "context_id\tword\tgold_sense_id\tpredict_sense_id\tpositions\tcontext"
    return "".join(f"{row}\n" for row in (header, *rows))


def _label(vectors: SenseKeyedVectors) -> None:
    InductionTask([Occurrence("bank", "1", "bank", "bank", ["the", "bank"], 1, {"a": 1.0})])(vectors)


def _no_room(folder: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        encode_corpus([["a", "b"] * 500_000], max_ram=1000, spill_dir=folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, old)


def _best_model_at(folder: Path) -> None:
    (folder / "best.safetensors").touch()
    EvaluationCallback(len, keep_best=folder / "best.safetensors")


CASES: dict[str, Callable[[Path], object]] = {
    "a string as corpus": lambda folder: MUSE("a text"),
    "a string as sentence": lambda folder: MUSE(["a text"]),
    "a token that is none": lambda folder: MUSE([["a", 7]]),
    "a lone surrogate": lambda folder: MUSE([["a", "\ud800"]]),
    "an empty corpus": lambda folder: MUSE([]),
    "only rare words": lambda folder: MUSE([["a"]]),
    "no corpus": lambda folder: MUSE().build_vocab(),
    "text that is not UTF-8": _latin,
    "a compressed file cut short": _cut_gzip,
    "compressed data under another name": _gzip_of_another_name,
    "no such text": lambda folder: MUSE(corpus_file=folder / "nothing"),
    "no room to spill": _no_room,
    "a text that changes while it is tagged": _tagging_what_changes,
    "a file of another in the way": _tagging_beside,
    "memory while reading": _memory_while_reading,
    "a setting of another name": lambda folder: MUSE(size=100),
    "a value out of range": lambda folder: MUSE(window=0),
    "a value of the wrong type": lambda folder: MUSE(alpha="fast"),
    "a table of counts that is none": lambda folder: MUSE().build_vocab_from_freq({"a": 1.5}),
    "no vocabulary": lambda folder: MUSE().train([["a"]]),
    "no training": lambda folder: MUSE().sense_vectors("a"),
    "a file as checkpoint_dir": lambda folder: MUSE(SENTENCES, checkpoint_dir=__file__),
    "a vocabulary already": lambda folder: _untrained().build_vocab(SENTENCES),
    "a change within a change": lambda folder: _changed_within(_untrained()),
    "pickling what is the core's": lambda folder: pickle.dumps(encode_corpus(SENTENCES)[1], 0),
    "a model too large": _too_large,
    "memory while training": _memory_while_training,
    "memory in another call": _memory_while_merging,
    "memory for a file of another tool": _memory_while_loading,
    "divergence": _diverging,
    "nothing to resume": lambda folder: _untrained().train(resume=True),
    "another text to resume on": lambda folder: _resume_on(SENTENCES[:7]),
    "another text of the same size": lambda folder: _resume_on([sentence[::-1] for sentence in SENTENCES]),
    "an unknown word": lambda folder: toy_model().sense_vectors("heed"),
    "an unknown sense": lambda folder: toy_model().sv["head#7"],
    "one key where several are meant": lambda folder: toy_model().wv.get_mean_vector("head"),
    "a tokenizer that gives no tokens": lambda folder: locate("the ", "head", "", str.lower),
    "a table's quote without its end": lambda folder: _reading(
        folder, read_table, _table('1\tbank\t1\t\t1-5\t"bank" is')
    ),
    "a table's occurrence with two senses": lambda folder: _reading(
        folder, read_table, _table(*(f"1\tbank\t{sense}\t\t0-4\tbank" for sense in "ab"))
    ),
    "a rating that is none": lambda folder: _reading(folder, read_word_pairs, "car bus 6\nking queen N/A\n"),
    "columns that are not clear": lambda folder: _reading(
        folder, read_word_pairs, "word1,word2,similarity,relatedness\nking,queen,8,9\n"
    ),
    "a file where the best model would be": _best_model_at,
    "a selector's number beside keys from 1": lambda folder: SenseKeyedVectors.from_word2vec_keys(
        ["bank#1", "bank#2"], [[1.0], [2.0]], lambda word, tokens, position: 1
    ).select_sense("bank", ["bank"]),
    "a candidate's letter again": lambda folder: _reading(
        folder, lambda a, q: read_toefl(q, a), "1 a\n", "1. king\na. queen\na. song\n"
    ),
    "evaluation data that is not there": lambda folder: read_word_pairs(folder / "nothing"),
    "contexts without their key": lambda folder: evaluate_induction(toy_model(), folder),
    "a key of other contexts": lambda folder: InductionTask(
        [Occurrence("bank", "1", "bank", "bank", ["bank"], 0)], {"head": {"7": {"a": 1.0}}}
    ),
    "a key without weights": lambda folder: score_key({"bank": {"1": "a"}}, {}),  # type: ignore[dict-item]
    "words that a model lacks": lambda folder: _label(SenseKeyedVectors.from_word2vec_keys(["head"], [[1.0]])),
    "senses without a selector": lambda folder: _label(
        SenseKeyedVectors.from_word2vec_keys(["bank#0", "bank#1"], [[1.0], [2.0]])
    ),
    "values that are not finite": _not_finite,
    "a model that could not be loaded": _changed_by_hand,
    "a file that is write-protected": _protected,
    "no such folder": lambda folder: toy_model().save(folder / "no" / "model"),
    "a file as folder": _file_as_folder,
    "a folder as file": lambda folder: toy_model().save(folder),
    "no such model": lambda folder: MUSE.load(folder / "nothing"),
    "a file of another kind": lambda folder: _file(folder, lambda raw: b"hello, I am a text"),
    "a file cut short": lambda folder: _file(folder, lambda raw: raw[:-9]),
    "a flipped bit": lambda folder: _file(folder, lambda raw: raw[:-1] + bytes([raw[-1] ^ 1])),
    "a newer file": _newer,
    "a file too large to load": _too_large_to_load,
    "parts that do not fit": lambda folder: MUSE.from_arrays(WORDS, toy_arrays(), Settings(vector_size=8)),
}
