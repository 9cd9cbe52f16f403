"""Senses of running text: batches in arrays, tagged files that can be resumed, sentence vectors."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import threading
from collections.abc import Sequence

import numpy as np
import pytest

import muse.selector.tag_file
from muse import MUSE, _core
from muse.corpus.encoding import LineSentence
from toy import WORDS, toy_model

RNG = np.random.default_rng(5)
LINES = [
    " ".join(RNG.choice(["head", "army", "the", "bank", "c#", "xyzzy", "🎉"], size=n)) for n in RNG.integers(0, 30, 400)
]
TEXT = "\n".join(LINES) + "\n"


def by_hand(model: MUSE, text: str, margin: float = 0.0) -> str:
    """What tag_corpus should write, from disambiguate_batch; words are separated by single spaces."""
    lines = text.split("\n")
    rows = model.disambiguate_batch([line.split(" ") if line else [] for line in lines], margin=margin)
    tagged = []
    for line, (senses, unsure) in zip(lines, rows, strict=True):
        keys = [
            token if sense < 0 or doubt else f"{token}#{sense}"
            for token, sense, doubt in zip(line.split(" "), senses.tolist(), unsure.tolist(), strict=False)
        ]
        tagged.append(" ".join(keys))
    return "\n".join(tagged)


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


# -- batches -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [1.0, 0.3])
def test_margins_are_the_lead_over_the_next_best_sense(temperature):
    model = toy_model({"temperature": temperature})
    tokens = "the head xyzzy bank army head".split()
    [(senses, probabilities, unsure)] = model.disambiguate_batch([tokens], probabilities=True, margin=0.4)
    [block] = model.disambiguate_blocks([tokens])
    for at, token in enumerate(tokens):
        if token not in model:
            assert (senses[at], probabilities[at], unsure[at], block.margins[at]) == (-1, 0, False, 0)
            continue
        expected = np.sort(model.sense_probabilities(token, tokens, at))[::-1]
        margin = expected[0] - (expected[1] if len(expected) > 1 else 0)
        assert block.margins[at] == pytest.approx(margin, abs=1e-5)
        assert unsure[at] == (margin < 0.4)
        assert probabilities[at] == pytest.approx(expected[0], abs=1e-5)
    assert not unsure[0]  # one sense: nothing to be unsure of
    assert block.margins[0] == 1


def test_blocks_are_the_batch_in_arrays(monkeypatch):
    monkeypatch.setattr("muse.selector.selection._BLOCK_TOKENS", 50)
    model = toy_model()
    sentences = [line.split() for line in LINES]
    rows = list(model.disambiguate_batch(sentences))
    blocks = list(model.disambiguate_blocks(iter(sentences)))
    assert len(blocks) > 20
    assert sum(len(block.offsets) - 1 for block in blocks) == len(sentences)
    np.testing.assert_array_equal(np.concatenate([block.senses for block in blocks]), np.concatenate(rows))
    first = blocks[0]
    assert [first.senses.dtype, first.probabilities.dtype, first.margins.dtype, first.offsets.dtype] == [
        np.int32, np.float32, np.float32, np.int64
    ]  # fmt: skip
    assert first.offsets[-1] == len(first.senses)


def test_a_sentence_may_be_a_string_a_list_a_tuple_or_an_iterator():
    model = toy_model()
    forms = ["the head\u00a0army", ["the", "head", "army"], ("the", "head", "army"), iter(["the", "head", "army"])]
    rows = [row.tolist() for row in model.disambiguate_batch(forms)]
    assert rows[0] == rows[1] == rows[2] == rows[3]


@pytest.mark.parametrize("bad", [3, ["the", 3], [b"the"], None])
def test_what_is_no_sentence_is_a_type_error(bad):
    with pytest.raises(TypeError, match="a context must be a string or a list of tokens"):
        list(toy_model().disambiguate_batch([["the"], bad]))


def test_a_lone_surrogate_is_an_unknown_word():
    assert [row.tolist() for row in toy_model().disambiguate_batch([["the", "\ud800"]])] == [[0, -1]]


def test_a_word_that_is_no_text_is_never_met():
    model = toy_model()  # whose vocabulary cannot hold such a word
    assert [row.tolist() for row in model.disambiguate_batch([["the", "\ud800", "army"]])] == [[0, -1, 0]]


def test_a_pipe_can_be_tagged(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=("the army\n",))
    writer.start()
    toy_model().tag_corpus(tmp_path / "pipe", tmp_path / "out")
    writer.join()
    assert (tmp_path / "out").read_text() == "the#0 army#0\n"


def test_bad_margins():
    with pytest.raises(ValueError, match="margin must be a number from 0 to 1"):
        toy_model().disambiguate_batch([], margin=2)


def test_the_core_refuses_parts_that_do_not_fit():
    model = toy_model()
    arrays, options = model.arrays, _core.SelectionOptions()
    parts = (arrays.context_vectors, arrays.selection_vectors, arrays.sense_offset)
    none = np.empty(0, np.float32)
    with pytest.raises(ValueError, match="a word for each row"):
        _core.Tagger(["a"], *parts, none, options)
    with pytest.raises(ValueError, match="a word stands twice"):
        _core.Tagger(["a"] * 9, *parts, none, options)
    with pytest.raises(ValueError, match="temperature must be above 0"):
        _core.Tagger(list(WORDS), *parts, none, options, 0.0)
    with pytest.raises(ValueError, match="context_weights must hold one number a word"):
        _core.Tagger(list(WORDS), *parts, np.ones(3, np.float32), options)


class MadeWords(Sequence):
    """Words that nobody else holds."""

    def __len__(self):
        return len(WORDS)

    def __getitem__(self, i):
        return "".join(list(WORDS)[i])[:1] + list(WORDS)[i][1:]


def test_words_may_be_made_as_they_are_asked_for():
    arrays = toy_model().arrays
    parts = (arrays.context_vectors, arrays.selection_vectors, arrays.sense_offset, np.empty(0, np.float32))
    made, held = (_core.Tagger(words, *parts, _core.SelectionOptions()) for words in (MadeWords(), list(WORDS)))
    for ours, theirs in zip(made.select([list(WORDS)]), held.select([list(WORDS)]), strict=True):
        np.testing.assert_array_equal(ours, theirs)


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 3])
def test_tag_corpus_writes_what_disambiguate_says(workers, text, tmp_path):
    model = toy_model({"workers": workers})
    report = model.tag_corpus(text, tmp_path / "tagged.txt")
    assert (tmp_path / "tagged.txt").read_text(encoding="utf-8") == by_hand(model, TEXT)
    assert report.tokens == len(TEXT.split())
    assert report.tagged == sum(token in model for token in TEXT.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tagged.txt", "text.txt"]


def test_unsure_words_stay_bare(text, tmp_path):
    model = toy_model()
    report = model.tag_corpus(text, tmp_path / "sure.txt", margin=0.5)
    assert (tmp_path / "sure.txt").read_text(encoding="utf-8") == by_hand(model, TEXT, 0.5)
    assert report.tagged < sum(token in model for token in TEXT.split())


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"\n",
        b"\n\n  \n",
        b"xyzzy",
        b"army",
        b"army\r\nthe\t\tarmy  \r\n",
        b"\xef\xbb\xbfarmy the\n",
        b"a\x00b army\n",
    ],
)
def test_all_else_stays_as_it_is(source, tmp_path):
    (tmp_path / "in").write_bytes(source)
    toy_model().tag_corpus(tmp_path / "in", tmp_path / "out")
    expected = source.removeprefix(b"\xef\xbb\xbf").replace(b"army", b"army#0").replace(b"the", b"the#0")
    assert (tmp_path / "out").read_bytes() == expected


@pytest.mark.parametrize(("suffix", "opener"), [(".gz", gzip.open), (".bz2", bz2.open), (".xz", lzma.open)])
def test_compressed_text_in_and_out(suffix, opener, text, tmp_path, monkeypatch):
    monkeypatch.setattr("muse.selector.tag_file._PIECE", 500)  # many pieces, each compressed by itself
    model = toy_model()
    with opener(tmp_path / f"text{suffix}", "wb") as file:
        file.write(TEXT.encode())
    model.tag_corpus(tmp_path / f"text{suffix}", tmp_path / f"tagged{suffix}")
    with opener(tmp_path / f"tagged{suffix}", "rt", encoding="utf-8") as file:
        assert file.read() == by_hand(model, TEXT)
    assert len(list(LineSentence(tmp_path / f"tagged{suffix}"))) == sum(map(bool, LINES))


def test_pieces_and_long_lines(tmp_path, monkeypatch):
    monkeypatch.setattr("muse.selector.tag_file._PIECE", 100)
    monkeypatch.setattr("muse.selector.tag_file._LONGEST_LINE", 1000)
    monkeypatch.setattr("muse.files.lines._CHUNK", 64)
    line = "army the " * 3000
    (tmp_path / "in").write_text(line + "\n" + TEXT, encoding="utf-8")
    model = toy_model()
    model.tag_corpus(tmp_path / "in", tmp_path / "out")
    tagged = (tmp_path / "out").read_text(encoding="utf-8")
    assert tagged.startswith("army#0 the#0 " * 3000 + "\n")
    assert tagged.partition("\n")[2] == by_hand(model, TEXT)


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
@pytest.mark.parametrize("stopped_after", [1, 2, 7])
def test_a_stopped_run_goes_on_where_it_was(stopped_after, suffix, tmp_path, monkeypatch):
    monkeypatch.setattr("muse.selector.tag_file._PIECE", 400)
    monkeypatch.setattr("muse.files.lines._CHUNK", 256)
    opener = {"": open, ".gz": gzip.open, ".xz": lzma.open}[suffix]
    with opener(tmp_path / f"in{suffix}", "wb") as file:
        file.write(TEXT.encode())
    model, out = toy_model(), tmp_path / f"out{suffix}"
    model.tag_corpus(tmp_path / f"in{suffix}", tmp_path / f"whole{suffix}")
    pieces = muse.selector.tag_file._pieces

    def stopped(chunks):
        for number, piece in enumerate(pieces(chunks)):
            if number == stopped_after:
                raise KeyboardInterrupt
            yield piece

    with monkeypatch.context() as patch:
        patch.setattr("muse.selector.tag_file._pieces", stopped)
        with pytest.raises(KeyboardInterrupt):
            model.tag_corpus(tmp_path / f"in{suffix}", out)
    assert not out.exists()
    with open(f"{out}.partial", "ab") as file:
        file.write(b"what a kill left half written")
    report = model.tag_corpus(tmp_path / f"in{suffix}", out, resume=True)
    assert out.read_bytes() == (tmp_path / f"whole{suffix}").read_bytes()
    assert report.tokens == len(TEXT.split())
    assert {path.name for path in tmp_path.iterdir()} == {f"{name}{suffix}" for name in ("in", "out", "whole")}


def test_a_resumed_run_must_be_the_same(text, tmp_path, monkeypatch):
    monkeypatch.setattr("muse.selector.tag_file._PIECE", 400)
    model, out = toy_model(), tmp_path / "out"

    def stop(*_):
        raise KeyboardInterrupt

    def interrupted():
        with monkeypatch.context() as patch:
            patch.setattr("muse.base.progress._Hidden.update", stop)
            with pytest.raises(KeyboardInterrupt):
                model.tag_corpus(text, out)

    interrupted()
    with pytest.raises(ValueError, match="is from another model, margin or input"):
        model.tag_corpus(text, out, resume=True, margin=0.1)
    with pytest.raises(ValueError, match="is from another model, margin or input"):
        toy_model(seed=1).tag_corpus(text, out, resume=True)
    notes = tmp_path / "out.partial.json"
    assert json.loads(notes.read_text())["read"] > 0
    (tmp_path / "out.partial").write_bytes(b"")
    with pytest.raises(ValueError, match="is missing or too short"):
        model.tag_corpus(text, out, resume=True)
    notes.write_text("[1]")
    with pytest.raises(ValueError, match="is damaged; delete it"):
        model.tag_corpus(text, out, resume=True)
    with pytest.raises(FileExistsError, match="is no file that tag_corpus left"):
        model.tag_corpus(text, out)
    notes.unlink()
    model.tag_corpus(text, out)  # anew
    assert out.read_text(encoding="utf-8") == by_hand(model, TEXT)
    model.tag_corpus(text, out, resume=True)  # nothing to resume: from the start
    assert out.read_text(encoding="utf-8") == by_hand(model, TEXT)


def test_bad_text_names_the_line_and_loses_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr("muse.selector.tag_file._PIECE", 100)
    monkeypatch.setattr("muse.files.lines._CHUNK", 64)
    (tmp_path / "in").write_bytes(b"the army\n" * 60 + b"the \xff army\n")
    (tmp_path / "out").write_text("precious")
    with pytest.raises(ValueError, match=r"in, line 61: invalid UTF-8 \(byte 0xff\)"):
        toy_model().tag_corpus(tmp_path / "in", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "precious"
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out"}


def test_bad_names(text, tmp_path):
    model = toy_model()
    with pytest.raises(FileNotFoundError):
        model.tag_corpus(tmp_path / "nowhere", tmp_path / "out")
    with pytest.raises(FileNotFoundError, match="the folder does not exist"):
        model.tag_corpus(text, tmp_path / "nowhere" / "out")
    with pytest.raises(IsADirectoryError):
        model.tag_corpus(text, tmp_path)
    (tmp_path / "link").symlink_to(text)
    for same in (text, tmp_path / "link"):
        with pytest.raises(ValueError, match="input and output are the same file"):
            model.tag_corpus(text, same)
    assert text.read_text(encoding="utf-8") == TEXT


# -- sentences as vectors ----------------------------------------------------------------------------------------------


def test_sentence_vectors():
    model = toy_model()
    tokens = "the head xyzzy army".split()
    keys = [t.key for t in model.disambiguate(tokens) if t.sense is not None]
    units = np.stack([model.sv[key] / np.linalg.norm(model.sv[key]) for key in keys])
    np.testing.assert_allclose(model.sentence_vector(tokens), units.mean(axis=0), rtol=1e-5)
    shares = (
        np.array([model.vocabulary.counts[model.vocabulary[w]] for w in ("the", "head", "army")])
        / model.vocabulary.counts.sum()
    )
    weights = 1e-3 / (1e-3 + shares)
    np.testing.assert_allclose(model.sentence_vector(tokens, weights="sif"), weights @ units / weights.sum(), rtol=1e-5)
    both = model.sentence_vector(sentences=["the head xyzzy army", "plugh"])
    assert both.shape == (2, 7)
    assert both.dtype == np.float32
    assert not both[1].any()
    np.testing.assert_array_equal(both[0], model.sentence_vector(tokens))
    for given in ({}, {"sentence": tokens, "sentences": [tokens]}):
        with pytest.raises(ValueError, match="give either sentence, which is one, or sentences"):
            model.sentence_vector(**given)
    with pytest.raises(ValueError, match="weights must be None or 'sif'"):
        model.sentence_vector(tokens, weights="idf")
