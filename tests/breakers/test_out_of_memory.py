"""Memory that runs out halfway: a MemoryError that says in what, how much is left, and what to do."""

from __future__ import annotations

import dataclasses
import pathlib

import pytest

from muse import MUSE, InsufficientMemoryError, load_vectors
from muse.formats.registry import FORMATS
from toy import toy_model

FREE = r"\([\d,.]+ [MG]B are free now\); "
LESS = "ask for less at once, free memory, or raise the limit of this process"


def fails(*_, **__):
    raise MemoryError("std::bad_alloc")


@pytest.mark.parametrize(
    ("place", "call", "what"),
    [
        ("muse.model.hygiene.merged_rows", lambda model, path: model.merge_senses(), "merge_senses was at work"),
        ("muse.model.hygiene.pruned_rows", lambda model, path: model.prune_senses(), "prune_senses was at work"),
        ("muse.model.words.grown_arrays", lambda model, path: model.build_vocab_from_freq({"x": 9}, update=True),
         "build_vocab_from_freq was at work"),
        ("muse.selector.tag_file._tag", lambda model, path: model.tag_corpus(path, str(path) + ".out"),
         "tag_corpus was at work"),
        ("muse.selector.tag_file.fingerprint", lambda model, path: model.tag_corpus(path, str(path) + ".out"),
         "tag_corpus was at work"),
        ("muse._core.Search", lambda model, path: model.wv.most_similar("head"), "neighbours were searched for"),
        ("muse._core.Search", lambda model, path: model.describe("head"), "neighbours were searched for"),
        ("muse._core.Selector", lambda model, path: model.sense_vectors("head", "the head"),
         "senses were scored"),
        ("muse._core.top_k", lambda model, path: model.predict_collocates("head"), "collocates were searched for"),
        ("muse.data.arrays.Arrays.word_vectors", lambda model, path: model.wv.vectors,
         "making the word vectors of a model"),
        ("muse._core.Tagger", lambda model, path: model.disambiguate("the head"), "senses were selected"),
        ("muse._core.Tagger", lambda model, path: list(model.disambiguate_batch(["the head"])), "senses were selected"),
        ("muse.files.model_file.write", lambda model, path: model.save(path), "save was at work"),
    ],
)  # fmt: skip
def test_calls_of_a_model_say_so(place, call, what, tmp_path, monkeypatch):
    path = tmp_path / "text"
    path.write_text("the head\n")
    model = toy_model()
    with monkeypatch.context() as patch:
        patch.setattr(place, fails)
        with pytest.raises(InsufficientMemoryError, match=f"^memory ran out while {what} {FREE}{LESS}"):
            call(model, path)
    call(model, path)  # it can be used as before


def test_what_numpy_says_is_kept(monkeypatch):
    said = "Unable to allocate 7.00 GiB for an array"

    def too_large(*_):
        raise MemoryError(said)

    monkeypatch.setattr("muse.model.hygiene.merged_rows", too_large)
    with pytest.raises(InsufficientMemoryError, match=f"merge_senses was at work: {said} {FREE}"):
        toy_model().merge_senses()


def test_a_model_says_how_it_can_be_loaded_in_spite_of_that(tmp_path, monkeypatch):
    toy_model().save(tmp_path / "m")
    monkeypatch.setattr("muse.files.tensor_file.TensorFile.read", fails)
    with pytest.raises(InsufficientMemoryError, match=f"while the model was loaded {FREE}load it with mmap=True"):
        MUSE.load(tmp_path / "m")
    assert MUSE.load(tmp_path / "m", mmap=True).n_senses("head")


@pytest.mark.parametrize("name", FORMATS)
def test_vector_files_advise_what_their_format_has(name, tmp_path, monkeypatch):
    path = pathlib.Path(tmp_path / "vectors")
    path.write_text("1 2\na#0 1 2\n")
    read = FORMATS[name].read

    def failing(path, *, limit=None):
        fails()

    def failing_whole(path):
        fails()

    has_limit = "limit" in (read.__kwdefaults__ or {})
    chosen = dataclasses.replace(FORMATS[name], read=failing if has_limit else failing_whole)
    monkeypatch.setitem(FORMATS, name, chosen)
    advice = "read a part of it with limit=" if has_limit else "free memory, or raise the limit of this process"
    with pytest.raises(InsufficientMemoryError, match=f"^memory ran out while '.*vectors' was read {FREE}{advice}"):
        load_vectors(path, name)
    assert has_limit == (name in ("word2vec", "glove", "adagram-text"))


def test_the_format_is_looked_for_with_the_same_words(tmp_path, monkeypatch):
    (tmp_path / "vectors").write_text("1 2\na#0 1 2\n")
    monkeypatch.setattr("muse.formats.registry.detect_format", fails)
    with pytest.raises(InsufficientMemoryError, match=f"was read {FREE}free memory"):
        load_vectors(tmp_path / "vectors")
