"""Indexes of corpora: what they find, when they are made anew, and what becomes of damaged and foreign files."""

from __future__ import annotations

import errno
import functools
import gzip
import json
import os
import pickle
import re
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

import muse.concordance.indexing
from muse import IndexFileError, LineSentence
from muse.concordance import CorpusIndex, index_corpus
from muse.concordance.index import SUFFIX
from muse.corpus import Prose
from muse.files.tensor_file import write_tensors
from toy import toy_model

RNG = np.random.default_rng(3)
WORDS = ["bank", "river", "the", "é", "日本", "a", "ab", "b", "money"]
SENTENCES = [RNG.choice(WORDS, size=n).tolist() for n in RNG.integers(1, 12, 60)]
TOY_SENTENCES = [["head", "é", "the", "bank"], ["bank", "head", "head", "日本"], ["army", "bank"]]
TEXT = "\n".join(" ".join(sentence) for sentence in SENTENCES) + "\n"


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def by_hand(word):
    """Sentence and token of each use."""
    return [(s, t) for s, sentence in enumerate(SENTENCES) for t, token in enumerate(sentence) if token == word]


def check(index):
    assert index.n_tokens == sum(map(len, SENTENCES))
    assert index.n_sentences == len(SENTENCES)
    assert [index.sentence(number) for number in range(len(SENTENCES))] == SENTENCES
    for word in WORDS:
        sentences, first, _ = index.sentences_of(index.places(word))
        assert list(zip(sentences.tolist(), (index.places(word) - first).tolist(), strict=True)) == by_hand(word)
        assert index.count(word) == len(by_hand(word))
    assert "bank" in index
    for unknown in ("ban", "banks", "", "\ud800", 7):
        assert unknown not in index
    assert len(index.places("ban")) == 0
    index.verify()


# -- what it finds -----------------------------------------------------------------------------------------------------


def test_sentences_in_memory():
    index = index_corpus(SENTENCES)
    assert index.path is None
    assert index.nbytes > 0
    check(index)
    check(index_corpus(sentence for sentence in SENTENCES))
    with pytest.raises(TypeError, match="give index_corpus a path"):
        pickle.dumps(index)
    with pytest.raises(IndexError, match="there is no number 60"):
        index.sentence(60)


def test_a_file_is_indexed_once(text):
    index = index_corpus(text)
    assert index.path == str(text) + SUFFIX
    check(index)
    made = os.stat(index.path)
    for corpus in (text, str(text), [text], LineSentence(text)):
        check(index_corpus(corpus))
    assert os.stat(index.path) == made
    assert os.stat(index_corpus(text, rebuild=True).path).st_ino != made.st_ino
    check(CorpusIndex.open(index.path))
    check(pickle.loads(pickle.dumps(index)))


def test_all_ways_to_make_one_give_the_same(tmp_path, text):
    parts = [tmp_path / "one.txt", tmp_path / "two.txt.gz"]
    parts[0].write_text("\n\n".join(" ".join(s) for s in SENTENCES[:7]), encoding="utf-8")
    parts[1].write_bytes(gzip.compress("\r\n".join(" ".join(s) for s in SENTENCES[7:]).encode()))
    check(index_corpus(parts))
    assert len(index_corpus(parts).sources) == 2
    named = index_corpus(SENTENCES, tmp_path / "index")
    check(named)
    assert named.sources == ()
    files = [tmp_path / f"{n}" for n in (0, 1, 2)]
    index_corpus(text, files[0], max_ram=0, workers=1)
    index_corpus(text, files[1], max_ram=64, workers=2)  # to temporary files, a few words at a time
    index_corpus(text, files[2], progress=True)
    assert len({file.read_bytes() for file in files}) == 1
    assert {file.name for file in tmp_path.iterdir()} >= {"0", "1", "2"}
    assert not [file for file in tmp_path.iterdir() if file.name.startswith(".")]


def test_order_of_several_files_counts(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("a b")
    two.write_text("b c")
    assert index_corpus([one, two]).sentence(0) == ["a", "b"]
    assert index_corpus([two, one]).sentence(0) == ["b", "c"]
    assert index_corpus([one, two], tmp_path / "both").sentence(0) == ["a", "b"]
    assert index_corpus([two, one], tmp_path / "both").sentence(0) == ["b", "c"]  # of other files: made anew


class Reader:
    """A reader of files, as others may be."""

    def __init__(self, paths, lower):
        self.paths, self._lower, self._read = paths, lower, False

    def __iter__(self):
        self._read = True
        for path in self.paths:
            for line in path.read_text().splitlines():
                yield (line.lower() if self._lower else line).split()


def test_other_readers_of_files(tmp_path):
    path = tmp_path / "text"
    path.write_text("The Bank\nthe river\n")
    index = index_corpus(Reader([path], lower=True))
    made = os.stat(index.path)
    assert index.counts.tolist() == [2, 1, 1]
    assert os.stat(index_corpus(Reader([path], lower=True)).path) == made
    assert "Bank" in index_corpus(Reader([path], lower=False))  # read otherwise: made anew
    assert "bank" in index_corpus(Reader([path], lower=True))
    path.write_text("a tree")
    assert "tree" in index_corpus(Reader([path], lower=True))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_a_pipe_is_indexed_in_memory(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(TEXT,), kwargs={"encoding": "utf-8"})
    writer.start()
    index = index_corpus(pipe)
    writer.join()
    assert index.path is None
    check(index)


# -- corpora that change -----------------------------------------------------------------------------------------------


def test_a_changed_corpus_is_indexed_anew(text):
    index = index_corpus(text)
    with text.open("a") as file:
        file.write("new words\n")
    assert index.changed() == [text]
    with pytest.warns(UserWarning, match=r"text\.txt has changed since .*muse-index was made of it"):
        CorpusIndex.open(index.path)
    again = index_corpus(text)
    assert "new" in again
    assert "new" not in index  # who has it open keeps it
    check(index)


def test_a_change_that_keeps_size_and_time_is_seen(text):
    index_corpus(text)
    stat = text.stat()
    text.write_text(TEXT.replace("money", "bacon", 1), encoding="utf-8")
    os.utime(text, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert "bacon" in index_corpus(text)


def test_a_change_within_a_large_file_is_seen_by_its_time(tmp_path):
    path = tmp_path / "large.txt"
    content = bytearray(b"word " * 400_000)  # 2 MB, of which pieces are hashed
    path.write_bytes(content)
    index = index_corpus(path)
    made = os.stat(index.path)
    os.utime(path, ns=(1, 1))
    assert os.stat(index_corpus(path).path) == made  # another time, the same text
    content[100_000:100_005] = b"work "
    path.write_bytes(content)
    assert index.changed() == [path]
    assert "work" in index_corpus(path)


def test_corpus_and_index_can_be_moved_and_parted(tmp_path, text):
    index_corpus(text)
    new = tmp_path / "new"
    new.mkdir()
    for file in (text, text.with_name(text.name + SUFFIX)):
        shutil.move(file, new)
    index = index_corpus(new / "text.txt")
    made = os.stat(index.path)
    assert index.changed() == []
    assert os.stat(index_corpus(new / "text.txt").path) == made
    (new / "text.txt").unlink()
    check(CorpusIndex.open(index.path))


def test_a_corpus_that_changes_meanwhile(text, monkeypatch):
    encode = muse.concordance.indexing.encode_corpus

    def encode_slowly(*args, **options):
        found = encode(*args, **options)
        text.write_text(TEXT + "more\n", encoding="utf-8")
        return found

    monkeypatch.setattr(muse.concordance.indexing, "encode_corpus", encode_slowly)
    with pytest.raises(OSError, match="changed while it was indexed"):
        index_corpus(text)
    assert list(text.parent.iterdir()) == [text]


# -- files that are none -----------------------------------------------------------------------------------------------


def test_damage_anywhere_is_found(tmp_path, text):
    whole = Path(index_corpus(text).path).read_bytes()
    path = tmp_path / "damaged"
    for at in range(0, len(whole), 23):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        with pytest.raises(IndexFileError, match=r"is damaged|is no index") as told:
            CorpusIndex.open_unchecked(path).verify()
        assert "delete it, and index_corpus makes it anew" in str(told.value)
    for size in (0, 7, 200, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(IndexFileError, match="is no index of a corpus, or was cut short"):
            CorpusIndex.open(path)


def parts_of(index):
    return {
        "tokens": index.tokens, "sentence_offset": index._sentences, "places": index._places,
        "place_offset": index._place_offset, "vocabulary": index._letters, "vocabulary_offset": index._letter_offset,
    }  # fmt: skip


@pytest.mark.parametrize("part", ["tokens", "places", "sentence_offset"])
def test_damage_is_found_where_it_is_read(text, part):
    """Parts that are as large as the text are not looked at when the file is opened."""
    index = index_corpus(text)
    tensors = parts_of(index)
    for value in (-5, 3, 10**9):
        tensors[part] = np.full_like(tensors[part], value)
        damaged = CorpusIndex(tensors, path="x")

        def ask(damaged=damaged):
            places = damaged.places("bank")
            damaged.sentences_of(places)
            damaged.sentence(2)
            damaged.read(places)

        with pytest.raises(IndexFileError, match="'x' is damaged"):
            ask()


def test_forged_indexes_are_refused_or_answer(tmp_path):
    """Whatever the parts of a file with right checksums are, no question reads beyond them."""
    index, path, rng = index_corpus(TOY_SENTENCES, tmp_path / "index"), tmp_path / "forged", np.random.default_rng(0)
    model, refused = toy_model(), 0
    metadata = {"format": "muse-index", "version": "1", "index": json.dumps({"sources": [], "form": ""})}
    for _ in range(60):
        tensors = {name: part.copy() for name, part in parts_of(index).items()}
        part = tensors[rng.choice(list(tensors))]
        at = rng.integers(0, len(part), rng.integers(1, 4))
        part[at] = rng.choice(np.array([0, 1, 3, 200, -1, 2**31 - 1, -(2**31)]), len(at)).astype(part.dtype)
        write_tensors(path, tensors, metadata, checked=["index"])
        try:
            forged = CorpusIndex.open(path)
            for word in ("head", "bank"):
                lines = model.concordance(word, forged, window=None, sort="left")
                lines.to_csv(), lines.to_vertical(), model.collocates(word, forged)
            forged.verify()
        except IndexFileError:
            refused += 1
    assert refused > 20


def test_no_other_file_is_replaced(tmp_path, text):
    with pytest.raises(ValueError, match="the index would replace the corpus"):
        index_corpus(text, text, rebuild=True)
    other = tmp_path / "notes.txt"
    other.write_text("dear diary")
    for corpus in (text, SENTENCES):
        with pytest.raises(IndexFileError, match="is no index of a corpus"):
            index_corpus(corpus, other)
    assert other.read_text() == "dear diary"
    with pytest.raises(IsADirectoryError):
        index_corpus(text, tmp_path)
    with pytest.raises(FileNotFoundError, match="the folder does not exist"):
        index_corpus(text, tmp_path / "nowhere" / "index")


def test_a_model_is_no_index(saved):
    assert issubclass(IndexFileError, ValueError)
    with pytest.raises(IndexFileError, match="a file of another kind"):
        CorpusIndex.open(saved)
    with pytest.raises(FileNotFoundError, match="index_corpus makes an index"):
        CorpusIndex.open(saved.with_name("nothing"))
    with pytest.raises(IsADirectoryError, match="is a folder"):
        CorpusIndex.open(saved.parent)


def test_an_index_of_a_newer_version(tmp_path, text):
    path = tmp_path / "newer"
    path.write_bytes(Path(index_corpus(text).path).read_bytes().replace(b'"version":"1"', b'"version":"2"'))
    with pytest.raises(IndexFileError, match="it has version 2 of the format, and this muse reads version 1"):
        CorpusIndex.open(path)


def test_a_folder_that_may_not_be_written(text, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *args, **named: False)
    with pytest.raises(PermissionError, match="cannot be written beside the corpus; give it a path"):
        index_corpus(text)
    with pytest.raises(PermissionError, match="nothing may be written in this folder"):
        index_corpus(text, text.with_name("index"))


def test_a_failed_writer_leaves_what_was_there(text, monkeypatch):
    check(index_corpus(text))

    def fail(*args, **options):
        raise MemoryError

    monkeypatch.setattr(muse.concordance.indexing, "write_tensors", fail)
    with pytest.raises(MemoryError):
        index_corpus(text, rebuild=True)
    check(CorpusIndex.open(str(text) + SUFFIX))
    assert len(list(text.parent.iterdir())) == 2


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the system cannot reserve room")
def test_a_full_disk_is_said_before_the_room_is_used(text, monkeypatch):
    def fail(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", fail)
    with pytest.raises(OSError, match="No space left") as told:
        index_corpus(text, max_ram=64)
    assert told.value.filename == str(text.parent)
    assert list(text.parent.iterdir()) == [text]


@pytest.mark.parametrize(
    ("corpus", "error", "message"),
    [
        (7, TypeError, "the corpus must be a path, a list of paths"),
        (b"text", TypeError, "got bytes"),
        ([], ValueError, "the corpus is empty"),
        ([[]], ValueError, "the corpus is empty"),
        (["no such file"], FileNotFoundError, "no such file"),
        ([{"text": "a"}], TypeError, "is a row"),
        ([[1]], TypeError, "tokens must be strings"),
        ([["a\ud800"]], ValueError, "lone surrogate"),
    ],
)
def test_corpora_that_are_none(corpus, error, message):
    with pytest.raises(error, match=message):
        index_corpus(corpus)


def test_options_that_are_none(text):
    for options in ({"rebuild": 1}, {"workers": 0}, {"max_ram": -1}, {"path": b"x"}):
        with pytest.raises((TypeError, ValueError)):
            index_corpus(text, **options)
    (text.parent / "latin").write_bytes("é".encode("latin-1"))
    with pytest.raises(ValueError, match="invalid UTF-8"):
        index_corpus(text.parent / "latin")
    assert not [file for file in text.parent.iterdir() if file.suffix == SUFFIX]


def test_readers_that_differ_in_a_function_without_a_name_have_indexes_of_their_own(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("A,river-bank,and,the,bank\n")

    def cut(sentence, mark):
        return sentence.split(mark)

    def by(mark):
        return lambda sentence: sentence.split(mark)

    tokenizers = [
        re.compile(r"\w+").findall, re.compile(r"\S+").findall, functools.partial(cut, mark="-"),
        functools.partial(cut, mark=","), lambda sentence: sentence.split("v"), lambda sentence: sentence.split("b"),
        by("n"), by("k"),
    ]  # fmt: skip
    for tokenizer in tokenizers:
        index = index_corpus(Prose(text, tokenizer=tokenizer))
        assert [index.sentence(0)] == list(Prose(text, tokenizer=tokenizer))
    made = Path(index.path).stat().st_mtime_ns
    assert Path(index_corpus(Prose(text, tokenizer=by("k"))).path).stat().st_mtime_ns == made


def test_a_damaged_sentence_is_not_as_long_as_it_says(tmp_path, text):
    index = index_corpus(text)
    index._sentences = np.array([0, 1 << 60, index.n_tokens], np.int64)
    with pytest.raises(IndexFileError, match="its sentences overlap"):
        index.sentence(0)
