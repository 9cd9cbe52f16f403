"""Paths and formats of the wrong kind: refused wherever one is taken, before anything is read or written."""

from __future__ import annotations

import pathlib

import pytest

import muse
from muse import MUSE, LineSentence, evaluation
from toy import toy_model

TAKERS = {
    "load": MUSE.load,
    "load_vectors": muse.load_vectors,
    "save": lambda path: toy_model().save(path),
    "export": lambda path: toy_model().export(path, "word2vec"),
    "tag_corpus, output": lambda path: toy_model().tag_corpus(__file__, path),
    # A list is sentences.
    "tag_corpus, input": lambda path: toy_model().tag_corpus(0 if isinstance(path, list) else path, "unused"),
    "corpus_file": lambda path: MUSE(corpus_file=[path]),
    "LineSentence": lambda path: LineSentence([path]),
    "checkpoint_dir": lambda path: MUSE(vector_size=4, checkpoint_dir=path).settings.checkpoint_dir.upper,
    "keep_best": lambda path: evaluation.EvaluationCallback(evaluation.WordSimilarityTask([]), keep_best=path),
    "read_scws": evaluation.read_scws,
    "read_key": evaluation.read_key,
}


@pytest.mark.parametrize("take", TAKERS.values(), ids=TAKERS)
@pytest.mark.parametrize("path", [0, 2**70, 1.5, b"bytes", ["a"]])
def test_what_is_no_path_is_refused(path, take, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TypeError, match=r"must be a path \(str or os\.PathLike\); got"):
        take(path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("take", TAKERS.values(), ids=TAKERS)
@pytest.mark.parametrize("path", ["", "a\0b", "a\ud800"])
def test_paths_that_no_system_has(path, take, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="must be a path; got"):
        take(path)
    assert not list(tmp_path.iterdir())


def test_paths_of_bytes_in_disguise():
    class Path:
        def __fspath__(self):
            return b"x"

    with pytest.raises(TypeError, match="must be a path of text, not of bytes"):
        MUSE.load(Path())


def test_no_files():
    with pytest.raises(ValueError, match="corpus_file is an empty list; name at least one file"):
        MUSE(corpus_file=[])


@pytest.mark.parametrize("name", [["word2vec"], {}, 7, "gz"])
def test_what_is_no_format_is_refused(name, tmp_path):
    for call in (lambda: muse.load_vectors(tmp_path / "x", name), lambda: toy_model().export(tmp_path / "x", name)):
        with pytest.raises(ValueError, match="format must be one of 'word2vec'"):
            call()


def test_options_that_a_format_does_not_have(tmp_path):
    path = tmp_path / "vectors"
    path.write_text("1 2\na#0 1 2\n")
    expected = "'foo' is no option to read the word2vec format; the options are binary, counts, mark, limit"
    with pytest.raises(TypeError, match=expected):
        muse.load_vectors(path, foo=1)
    with pytest.raises(TypeError, match="'limit' is no option to write the paper format; the options are index, repl"):
        toy_model().export(path, "paper", limit=3)
    with pytest.raises(TypeError, match="'binary' is no option to write the gensim format; there are no options"):
        toy_model().export(path, "gensim", binary=True)
    assert path.read_text() == "1 2\na#0 1 2\n"


@pytest.mark.parametrize(("limit", "kind"), [(-1, ValueError), ("x", TypeError), (True, TypeError), (1.5, TypeError)])
@pytest.mark.parametrize("name", ["word2vec", "glove", "adagram-text"])
def test_limits_that_are_none(name, limit, kind, tmp_path):
    path = pathlib.Path(tmp_path / "vectors")
    path.write_text("1 2\na#0 1 2\n")
    with pytest.raises(kind, match="limit must be"):
        muse.load_vectors(path, name, limit=limit)


def test_warnings_of_formats_are_at_the_users_line(tmp_path):
    twice = tmp_path / "twice.vec"
    twice.write_text("2 1\na#0 1\na#0 2\n")
    for call in (
        lambda: toy_model(words=tuple("abcdefghi")).export(tmp_path / "m.vec", "word2vec"),
        lambda: muse.load_vectors(twice),
    ):
        with pytest.warns(muse.FormatWarning) as caught:
            call()
        assert {warning.filename for warning in caught} == {__file__}
