"""muse._core.Encoder and muse._core.Corpus, without the choices that muse.corpus.encoding makes."""

from __future__ import annotations

import signal
import sys
import tempfile
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muse import _core
from muse.corpus.encoding import LineSentence
from muse.files.lines import split_words

words_of_any_letters = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5).filter(
    lambda word: split_words(word) == [word]
)
ODD_LETTERS = "ab1\0\u00e4\u0084\u00a1\u200b\u2060\u3001\u4e00\U0001f600\ufeff"
ODD_SPACES = " \t\n\r\v\f\x1c\x1d\x1e\x1f\x85\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000"


@settings(max_examples=150, deadline=None)
@given(
    sentences=st.lists(st.lists(words_of_any_letters, max_size=6), min_size=1, max_size=8),
    chunk=st.integers(1, 50),
    separator=st.sampled_from([" ", "\t", " \r ", "\v\f", "\u3000", "\x85 \u2028"]),
    max_ram=st.sampled_from([0, 1]),
)
def test_any_text_is_the_same_from_file_chunks_and_lists(sentences, chunk, separator, max_ram):
    data = "\n".join(separator.join(sentence) for sentence in sentences).encode()
    encoders = {name: _core.Encoder(max_ram=max_ram) for name in ("lists", "chunks", "file")}
    encoders["lists"].add_sentences(sentences)
    for i in range(0, len(data), chunk):
        encoders["chunks"].add_text(data[i : i + chunk])
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        encoders["file"].add_file(file.name, 2)
        lines = list(LineSentence(file.name))
    assert lines == [sentence for sentence in sentences if sentence]
    results = []
    for encoder in encoders.values():
        words, counts = encoder.vocabulary()
        assert dict(zip(words, counts.tolist(), strict=True)) == Counter(word for s in sentences for word in s)
        corpus = encoder.finish(np.arange(len(words), dtype=np.int32))
        results.append((words, corpus.tokens.tolist(), corpus.offsets.tolist(), corpus.raw_tokens))
    assert results[0] == results[1] == results[2]


@settings(max_examples=300, deadline=None)
@given(text=st.text(ODD_LETTERS + ODD_SPACES, max_size=40), chunk=st.integers(1, 9), pad=st.integers(0, 9))
def test_odd_text_has_the_same_words_everywhere(text, chunk, pad):
    text = "x" * pad + text  # the core looks at eight bytes at a time
    expected = [words for line in text.split("\n") if (words := split_words(line))]
    encoders = [_core.Encoder(), _core.Encoder(), _core.Encoder()]
    data = text.encode()
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        assert list(LineSentence(file.name)) == expected
        encoders[0].add_file(file.name, 2)
    for i in range(0, len(data), chunk):
        encoders[1].add_text(data[i : i + chunk])
    encoders[1].end_text()
    encoders[2].add_sentences(expected)
    for encoder in encoders:
        words, _ = encoder.vocabulary()
        corpus = encoder.finish(np.arange(len(words), dtype=np.int32))
        assert [[words[i] for i in corpus.tokens[a:b]] for a, b in pairwise(corpus.offsets.tolist())] == expected


def test_every_white_space_of_python_and_no_other_character():
    letters = [chr(code) for code in range(1, sys.maxunicode + 1) if not 0xD800 <= code < 0xE000 and code != 0xFEFF]
    encoder = _core.Encoder()
    encoder.add_text("".join(f"a{letter}b\n" for letter in letters).encode())
    encoder.end_text()
    spaces = [letter for letter in letters if letter.isspace()]
    assert len(spaces) == 29
    assert encoder.raw_tokens == len(letters) + len(spaces)
    words = set(encoder.vocabulary()[0])
    assert words == {"a", "b"} | {f"a{letter}b" for letter in letters if not letter.isspace()}


def test_progress_is_reported_and_stops(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("a b\n" * 10)
    seen = []
    assert _core.Encoder().add_file(path, 1, seen.append) is True
    assert seen[-1] == 40

    def interrupt(_):
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        _core.Encoder().add_file(path, 1, interrupt)


def test_corpus_from_arrays():
    corpus = _core.Corpus.from_arrays(np.array([3, 1, 2]), np.array([0, 2, 3], np.int32))
    assert corpus.tokens.tolist() == [3, 1, 2]
    assert (corpus.n_tokens, corpus.n_sentences) == (3, 2)


@pytest.mark.parametrize(
    ("tokens", "offsets", "error"),
    [
        ([1, 2], [0, 1], ValueError),
        ([1, 2], [0, 2, 1, 2], ValueError),
        ([1, 2], [], TypeError),
        ([1, -2], [0, 2], ValueError),
        ([1, 2**31], [0, 2], ValueError),
        ([1.5, 2.0], [0, 2], TypeError),
        ([[1, 2]], [0, 2], TypeError),
    ],
)
def test_arrays_that_are_no_corpus(tokens, offsets, error):
    with pytest.raises(error):
        _core.Corpus.from_arrays(np.array(tokens), np.array(offsets))


def test_an_encoder_ends_with_finish():
    encoder = _core.Encoder()
    assert encoder.add_sentences(iter([["a", "b"], [], ["a"]])) == 3
    with pytest.raises(ValueError, match="the mapping has 3 entries, but there are 2 words"):
        encoder.finish(np.zeros(3, np.int32))
    encoder.finish(np.zeros(2, np.int32))
    with pytest.raises(RuntimeError, match="make a new one"):
        encoder.add_sentences([["a"]])
