"""What cannot be written says which file that was, and leaves the file that was there."""

from __future__ import annotations

import contextlib
import errno
import resource
import signal
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from muse import FormatWarning
from muse.files.replacing import replacing
from muse.formats.registry import FORMATS
from toy import WORDS, toy_model

THROUGH_OTHERS = {"gensim", "sense2vec", "spacy"}  # which write their own files, as they do
FOLDERS = {"numpy", "projector"}  # which are never replaced
TEXT = tuple(f"w{i}" for i in range(len(WORDS)))  # words that any format can hold
WRITERS: dict[str, Callable[[Path], None]] = {
    "save": lambda path: toy_model().save(path),
    "save_word2vec_format": lambda path: toy_model(words=TEXT).sv.save_word2vec_format(path, binary=True),
    **{
        name: lambda path, name=name: toy_model(words=TEXT).export(path, name)
        for name in FORMATS
        if name not in THROUGH_OTHERS | FOLDERS
    },
}


@contextlib.contextmanager
def small_files(size: int):
    """No file of this process can grow beyond `size` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, old)


@pytest.mark.parametrize("name", WRITERS)
def test_errors_of_writing_name_the_file(name, tmp_path):
    path = tmp_path / "vectors"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        WRITERS[name](path)
        before = {file: file.read_bytes() for file in tmp_path.iterdir()}
        with small_files(20), pytest.raises(OSError, match="too large") as caught:
            WRITERS[name](path)
    assert Path(caught.value.filename) in before
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", sorted(FOLDERS))
def test_folders_are_whole_or_not_there(name, tmp_path):
    with small_files(20), warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        with pytest.raises(OSError, match="too large") as caught:
            toy_model(words=TEXT).export(tmp_path / "vectors", name)
    assert caught.value.filename == str(tmp_path / "vectors")
    assert list(tmp_path.iterdir()) == []


def test_errors_never_name_the_temporary_file(tmp_path, monkeypatch):
    def fail(old, new):
        raise OSError(errno.EXDEV, "Invalid cross-device link", str(old), None, str(new))

    monkeypatch.setattr("muse.files.replacing.os.replace", fail)
    with (
        pytest.raises(OSError, match=r"^\[Errno 18\] Invalid cross-device link: '[^']*/m'$"),
        replacing(tmp_path / "m"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []
