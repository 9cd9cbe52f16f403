"""Names of files that are no text: any bytes but a slash and a zero are legal, and Python holds them as surrogates."""

from __future__ import annotations

import gzip
import os
import sys
import threading

import pytest

from muse import MUSE, FormatWarning, LineSentence, load_vectors
from muse.cli.main import main
from muse.corpus.encoding import encode_corpus
from toy import toy_model

if sys.platform != "linux":
    pytest.skip("other systems refuse such names", allow_module_level=True)

TEXT = b"the bank of the river\nthe head of the army\n" * 10
BAD = b"ok\nna\xefve\n"
SMALL = {"vector_size": 4, "min_count": 1, "workers": 1, "epochs": 1}


@pytest.fixture
def name(tmp_path):
    """The start of a name in a folder, both with a byte that is no UTF-8."""
    folder = tmp_path / os.fsdecode(b"f\xfe")
    folder.mkdir()
    return str(folder / os.fsdecode(b"n\xff"))


def write(path: str, text: bytes) -> str:
    with open(path, "wb") as file:
        file.write(gzip.compress(text) if path.endswith(".gz") else text)
    return path


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz"])
def test_any_name_of_a_corpus_is_read(name, suffix):
    path = write(name + suffix, TEXT)
    words = MUSE(corpus_file=path, **SMALL).vocabulary.words
    assert words == MUSE(LineSentence(path), **SMALL).vocabulary.words
    assert words == MUSE(list(LineSentence(path)), **SMALL).vocabulary.words


def test_a_pipe_of_any_name_is_read(name):
    os.mkfifo(name)
    writer = threading.Thread(target=write, args=(name, TEXT))
    writer.start()
    assert "bank" in MUSE(corpus_file=name, **SMALL)
    writer.join()


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz"])
@pytest.mark.parametrize(
    "read",
    [
        lambda path: encode_corpus(corpus_file=path),
        lambda path: list(LineSentence(path)),
        lambda path: toy_model().tag_corpus(path, path + ".out"),
    ],
)
def test_errors_show_any_name(name, read, suffix):
    path = write(name + suffix, BAD)
    with pytest.raises(ValueError, match=rf"/f\\xfe/n\\xff{suffix}, line 2: invalid UTF-8 \(byte 0xef\)"):
        read(path)


def test_other_errors_show_any_name(name):
    write(name + ".txt", gzip.compress(TEXT))
    with pytest.raises(ValueError, match=r"n\\xff\.txt holds compressed data"):
        encode_corpus(corpus_file=name + ".txt")
    with open(name + ".gz", "wb") as file:
        file.write(gzip.compress(TEXT)[:-9])
    with pytest.raises(ValueError, match=r"n\\xff\.gz: the compressed data is damaged"):
        encode_corpus(corpus_file=name + ".gz")
    with pytest.raises(FileNotFoundError, match="no such file; check the path"):
        encode_corpus(corpus_file=name + ".none")


def test_texts_are_spilled_to_any_folder(name):
    encode_corpus([["a", "b"] * 5000], max_ram=1000, spill_dir=os.path.dirname(name))
    with pytest.raises(OSError, match="temporary file") as caught:
        encode_corpus([["a", "b"] * 5000], max_ram=1000, spill_dir=name)
    assert caught.value.filename.startswith(name)


def test_files_of_any_name_are_written(name):
    write(name + ".txt", b"the head of the army\n")
    model = MUSE(corpus_file=name + ".txt", checkpoint_dir=name + ".checkpoints", **SMALL)
    model.save(name)
    for mmap in (False, True):
        again = MUSE.load(name, mmap=mmap)
        assert list(again.vocabulary.words) == model.vocabulary.words
    for out in (name + ".out", name + ".out.gz"):
        assert again.tag_corpus(name + ".txt", out).tagged == 5
    with pytest.warns(FormatWarning):
        model.export(name + ".vec", "word2vec")
    assert "head" in load_vectors(name + ".vec").vocabulary
    assert os.listdir(name + ".checkpoints")


def test_the_command_line_takes_any_name(name, capfd, monkeypatch):
    """Also where it writes to a pipe, whose encoding has no such characters."""
    write(name + ".txt", TEXT)
    for output in ("", ".gz"):
        assert main(["train", name + ".txt", "--save", name + ".model", "--min-count", "1", "--vector-size", "4"]) == 0
        assert main(["tag", name + ".model", name + ".txt", name + ".out" + output]) == 0
    write(name + ".txt", BAD)
    assert main(["tag", name + ".model", name + ".txt", name + ".out"]) == 1
    told = capfd.readouterr()
    assert "n\\xff.model" in told.out
    assert "n\\xff.txt, line 2: invalid UTF-8" in told.err
