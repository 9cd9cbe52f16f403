"""Text in, vocabulary and encoded corpus out: every way in gives the same, and wrong input says what to do."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter, deque

import numpy as np
import pytest

from muse.corpus.encoding import RULE_DEFAULT, RULE_DISCARD, RULE_KEEP, LineSentence, Vocabulary, encode_corpus

SENTENCES = [
    ["the", "head", "of", "the", "army"],
    ["she", "shook", "her", "head"],
    ["naïve", "日本語", "👩‍👩‍👧", "e\u0301", "the"],
    ["the"],
    ["head", "head", "of"],
]


def text_of(sentences, newline="\n"):
    return newline.join(" ".join(sentence) for sentence in sentences)


def decoded(vocabulary, corpus):
    bounds = zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True)
    return [[vocabulary.words[i] for i in corpus.tokens[begin:end]] for begin, end in bounds]


def everything(result):
    """All that encode_corpus returned, in a form that can be compared."""
    vocabulary, corpus = result
    return (
        list(vocabulary.words), vocabulary.counts.tolist(), vocabulary.raw_words, vocabulary.effective_min_count,
        corpus.tokens.tolist(), corpus.offsets.tolist(), corpus.raw_tokens, corpus.raw_sentences,
    )  # fmt: skip


class TestResult:
    def test_nothing_is_lost(self):
        vocabulary, corpus = encode_corpus(SENTENCES, min_count=1)
        assert decoded(vocabulary, corpus) == SENTENCES
        assert vocabulary.words[:3] == ["the", "head", "of"]
        assert vocabulary.counts[:3].tolist() == [4, 4, 2]
        assert (corpus.raw_tokens, corpus.raw_sentences) == (18, 5)
        assert corpus.tokens.dtype == np.int32
        assert corpus.offsets.dtype == np.int64
        assert not corpus.spilled

    def test_the_arrays_are_read_only_and_outlive_the_corpus(self):
        _, corpus = encode_corpus(SENTENCES, min_count=1)
        tokens, expected = corpus.tokens, corpus.tokens.tolist()
        with pytest.raises(ValueError, match="read-only"):
            tokens[0] = 1
        del corpus
        assert tokens.tolist() == expected

    def test_a_generator_is_read_once_and_may_reuse_its_list(self):
        starts = []

        def sentences():
            starts.append(1)
            reused = []
            for sentence in SENTENCES * 1500:
                reused[:] = sentence
                yield reused

        assert everything(encode_corpus(sentences())) == everything(encode_corpus(SENTENCES * 1500))
        assert starts == [1]

    def test_sentences_of_any_iterable(self):
        expected = everything(encode_corpus(SENTENCES, min_count=1))
        for make in (tuple, iter, np.array, deque, lambda sentence: (word for word in sentence)):
            assert everything(encode_corpus([make(s) for s in SENTENCES], min_count=1)) == expected

    def test_sentences_are_never_truncated(self):
        sentence = [str(i % 1000) for i in range(100_000)]
        vocabulary, corpus = encode_corpus([sentence], min_count=1)
        assert corpus.offsets.tolist() == [0, 100_000]
        assert decoded(vocabulary, corpus) == [sentence]

    def test_odd_tokens_are_words(self):
        odd = ["", " ", "a b", "line\nbreak", "nul\0", "\u00a0", "😀", "x" * 10_000]
        vocabulary, corpus = encode_corpus([odd, [], odd], min_count=2)
        assert decoded(vocabulary, corpus) == [odd, odd]
        assert corpus.raw_sentences == 2

    def test_dropped_words_leave_no_empty_sentences(self):
        vocabulary, corpus = encode_corpus([["a", "x"], ["y"], ["a"], ["z", "a", "b", "b", "b"]], min_count=3)
        assert decoded(vocabulary, corpus) == [["a"], ["a"], ["a", "b", "b", "b"]]
        assert corpus.raw_sentences == 4
        assert vocabulary.raw_words == 9

    def test_vocabulary_order(self):
        sentences = [["c", "b", "a", "b", "a", "d", "d", "d"]]
        assert encode_corpus(sentences, min_count=1)[0].words == ["d", "b", "a", "c"]
        assert encode_corpus(sentences, min_count=1, sorted_vocab=False)[0].words == ["c", "b", "a", "d"]


class TestFiles:
    @pytest.mark.parametrize("newline", ["\n", "\r\n", "\n\n \t\n"])
    @pytest.mark.parametrize("end", ["", "\n"])
    @pytest.mark.parametrize("start", ["", "\ufeff", "\n", "\ufeff\ufeff", "\ufeff\n\ufeff"])
    def test_a_file_is_the_same_as_its_sentences(self, write, newline, end, start):
        path = write(start + text_of(SENTENCES, newline) + end)
        expected = everything(encode_corpus(SENTENCES, min_count=1))
        for workers in (1, 2, 3, 4):
            assert everything(encode_corpus(corpus_file=path, min_count=1, workers=workers)) == expected
        assert list(LineSentence(path)) == SENTENCES
        assert everything(encode_corpus(LineSentence(path), min_count=1)) == expected
        assert everything(encode_corpus(iter(LineSentence(str(path))), min_count=1)) == expected

    @pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
    def test_compressed_files(self, write, suffix):
        if suffix == ".zst":
            compress = pytest.importorskip("zstandard").compress
        else:
            compress = {".gz": gzip, ".bz2": bz2, ".xz": lzma}[suffix].compress
        sentences = SENTENCES * 40_000  # more than one chunk
        half = len(sentences) // 2
        content = compress(text_of(sentences[:half]).encode() + b"\n") + compress(text_of(sentences[half:]).encode())
        path = write(content, "corpus.txt" + suffix)
        assert everything(encode_corpus(corpus_file=path)) == everything(encode_corpus(sentences))
        assert sum(map(len, LineSentence(path))) == sum(map(len, sentences))
        path.write_bytes(content[: len(content) * 3 // 4])
        with pytest.raises(ValueError, match=r"corpus\.txt.*damaged or cut off"):
            encode_corpus(corpus_file=path)
        path.write_bytes(b"this is not compressed")
        with pytest.raises(ValueError, match=r"corpus\.txt.*damaged or cut off"):
            list(LineSentence(path))

    def test_zst_without_its_package(self, write, monkeypatch):
        monkeypatch.setitem(sys.modules, "zstandard", None)
        with pytest.raises(ImportError, match=r"muse-senses\[zstd\]"):
            encode_corpus(corpus_file=write(b"", "corpus.zst"))

    def test_several_files_in_their_order(self, write):
        paths = [write(text_of(SENTENCES), "a.txt"), write(gzip.compress(b"a b\nc"), "b.gz"), write("\ufeffd", "c.txt")]
        expected = everything(encode_corpus([*SENTENCES, ["a", "b"], ["c"], ["d"]], min_count=1))
        assert everything(encode_corpus(corpus_file=paths, min_count=1)) == expected
        assert everything(encode_corpus(LineSentence(paths), min_count=1)) == expected
        assert everything(encode_corpus(iter(LineSentence(paths)), min_count=1)) == expected

    def test_one_giant_line(self, write):
        words = [str(i * i % 997) for i in range(2_000_000)]  # two blocks, two chunks of LineSentence and more
        path = write(" ".join(words))
        vocabulary, corpus = encode_corpus(corpus_file=path, workers=3)
        assert corpus.offsets.tolist() == [0, 2_000_000]
        assert everything((vocabulary, corpus)) == everything(encode_corpus([words]))
        assert list(LineSentence(path)) == [words]

    def test_a_pipe(self, tmp_path):
        path = tmp_path / "pipe"
        os.mkfifo(path)
        writer = threading.Thread(target=path.write_text, args=(text_of(SENTENCES),))
        writer.start()
        result = encode_corpus(corpus_file=path, min_count=1)
        writer.join()
        assert everything(result) == everything(encode_corpus(SENTENCES, min_count=1))

    @pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80"])
    @pytest.mark.parametrize("name", ["corpus.txt", "corpus.gz"])
    def test_invalid_utf8_names_file_and_line(self, write, bad, name):
        content = b"one\r\n\ntwo\nthree " + bad + b"x\nfour " + bad
        path = write(gzip.compress(content) if name.endswith("gz") else content, name)
        message = re.escape(f"{path}, line 4: invalid UTF-8 (byte 0x{bad[0]:02x}); convert")
        for read in (lambda: encode_corpus(corpus_file=path), lambda: list(LineSentence(path))):
            with pytest.raises(ValueError, match=message):
                read()

    @pytest.mark.parametrize("name", ["corpus.txt", "corpus.gz"])
    @pytest.mark.parametrize("text", ["a\n“the” bank’s\n", "na\u00efve\n", "caf\u00e9 \u20ac 5\n"])
    def test_files_of_windows_are_taken_for_cp1252(self, write, name, text):
        """Of which Latin-1 is a part; its own letters at 0x80 to 0x9f would become control characters."""
        content = text.encode("cp1252")
        path = write(gzip.compress(content) if name.endswith("gz") else content, name)
        for read in (lambda: encode_corpus(corpus_file=path), lambda: list(LineSentence(path))):
            with pytest.raises(ValueError, match="for example with `iconv -f cp1252 -t utf-8`") as refused:
                read()
            encoding = re.search(r"iconv -f (\S+)", str(refused.value))[1]
            assert content.decode(encoding) == text

    @pytest.mark.parametrize("name", ["corpus.txt", "corpus.gz"])
    def test_utf16_is_taken_for_what_it_is(self, write, name):
        content = "the head\nof the army\n".encode("utf-16")
        path = write(gzip.compress(content) if name.endswith("gz") else content, name)
        for read in (lambda: encode_corpus(corpus_file=path), lambda: list(LineSentence(path))):
            with pytest.raises(ValueError, match="for example with `iconv -f utf-16 -t utf-8`"):
                read()

    def test_a_path_that_is_not_ascii(self, write):
        assert len(encode_corpus(corpus_file=write("a", "日本 é.txt"), min_count=1)[0]) == 1

    def test_progress_bar(self, write, capsys):
        encode_corpus(corpus_file=write("a b\n" * 10), min_count=1, progress=True)
        encode_corpus(SENTENCES, min_count=1, progress=True)
        shown = capsys.readouterr().err
        assert "40.0/40.0" in shown
        assert "5.00/5.00" in shown


class TestSpill:
    def test_same_result_and_no_file_to_see(self, tmp_path):
        sentences = SENTENCES * 2000
        expected = everything(encode_corpus(sentences, min_count=3))
        vocabulary, corpus = encode_corpus(iter(sentences), min_count=3, max_ram=10_000, spill_dir=tmp_path)
        assert corpus.spilled
        assert list(tmp_path.iterdir()) == []
        assert everything((vocabulary, corpus)) == expected

    def test_an_error_in_the_iterator_passes_unchanged(self, tmp_path):
        class TheirError(Exception):
            pass

        def sentences():
            yield from SENTENCES * 10
            raise TheirError("theirs")

        with pytest.raises(TheirError, match=r"^theirs$"):
            encode_corpus(sentences(), max_ram=1, spill_dir=tmp_path)
        assert list(tmp_path.iterdir()) == []

    def test_killed_at_any_moment_it_leaves_nothing(self, tmp_path):
        code = f"""
import os, signal
from muse.corpus.encoding import encode_corpus
def sentences():
    for _ in range(300_000):
        yield ["a", "b"]
    print(len(os.listdir({str(tmp_path)!r})), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
encode_corpus(sentences(), max_ram=1000, spill_dir={str(tmp_path)!r})
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (-signal.SIGKILL, "0\n"), done.stderr
        assert list(tmp_path.iterdir()) == []

    def test_no_room_for_the_file(self, tmp_path):
        """A limit on the size of files stands in for a full disk: write() fails in the same way."""
        code = f"""
import resource
from muse.corpus.encoding import encode_corpus
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 21, 1 << 21))
try:
    encode_corpus((["a"] * 1000 for _ in range(2000)), max_ram=1000, spill_dir={str(tmp_path)!r})
except OSError as error:
    print(error.filename, error)
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.stdout.startswith(f"{tmp_path} [Errno 27] cannot spill the corpus (free some space, or"), done
        assert list(tmp_path.iterdir()) == []

    def test_the_directory_must_exist(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"set spill_dir.*missing"):
            encode_corpus(SENTENCES, max_ram=1, spill_dir=tmp_path / "missing")


def pruned_scan(sentences, max_vocab_size, keeps):
    """The words, and the sentences without forgotten occurrences, by a plain reading of the rule."""
    ids, counts, stream, threshold = {}, {}, [], 1
    for sentence in sentences:
        for word in sentence:
            if word not in ids:
                ids[word], counts[word] = object(), 0
            counts[word] += 1
        stream.append([(word, ids[word]) for word in sentence])
        if len(ids) > max_vocab_size:
            for word in [word for word in ids if not keeps(word, counts[word], threshold)]:
                del ids[word], counts[word]
            threshold += 1
    return counts, [[word for word, key in sentence if ids.get(word) is key] for sentence in stream]


@pytest.fixture(scope="module")
def sentences():
    random = np.random.default_rng(1)
    return [[f"w{i}" for i in random.zipf(1.5, random.integers(1, 20)) if i < 10**6] for _ in range(3000)]


class TestPruning:
    @pytest.mark.parametrize("min_count", [1, 2, 7])
    def test_min_count(self, sentences, min_count):
        counts = Counter(word for sentence in sentences for word in sentence)
        vocabulary, corpus = encode_corpus(sentences, min_count=min_count)
        expected = [(word, n) for word, n in counts.most_common() if n >= min_count]  # ties by first occurrence
        assert list(zip(vocabulary.words, vocabulary.counts.tolist(), strict=True)) == expected
        kept = [[word for word in sentence if counts[word] >= min_count] for sentence in sentences]
        assert decoded(vocabulary, corpus) == [sentence for sentence in kept if sentence]

    @pytest.mark.parametrize("limit", [1, 2, 5, 50, 500, 10**6])
    def test_max_final_vocab(self, sentences, limit):
        counts = Counter(word for sentence in sentences for word in sentence)
        ranked = counts.most_common()
        threshold = max(2, ranked[limit][1] + 1 if limit < len(ranked) else 1)
        vocabulary, _ = encode_corpus(sentences, min_count=2, max_final_vocab=limit)
        assert vocabulary.effective_min_count == threshold
        assert len(vocabulary) <= limit
        assert vocabulary.words == [word for word, n in ranked if n >= threshold]

    @pytest.mark.parametrize("limit", [1, 5, 40, 300])
    @pytest.mark.parametrize("rule", [None, lambda word, count, least: RULE_KEEP if word == "w7" else RULE_DEFAULT])
    def test_max_vocab_size(self, sentences, limit, rule, write):
        def keeps(word, count, least):
            return count >= least or (rule is not None and word == "w7")

        counts, kept = pruned_scan(sentences, limit, keeps)
        options = {"max_vocab_size": limit, "trim_rule": rule, "min_count": 1}
        vocabulary, corpus = encode_corpus(sentences, **options)
        assert dict(zip(vocabulary.words, vocabulary.counts.tolist(), strict=True)) == counts
        assert decoded(vocabulary, corpus) == [sentence for sentence in kept if sentence]
        assert vocabulary.raw_words == sum(map(len, sentences))
        path = write(text_of(sentences))
        assert everything(encode_corpus(corpus_file=path, **options)) == everything((vocabulary, corpus))

    def test_trim_rule(self):
        sentences = [["keep", "drop", "drop", "drop", "by", "by", "count"]]
        seen = []

        def rule(word, count, min_count):
            seen.append((word, count, min_count))
            return {"keep": RULE_KEEP, "drop": RULE_DISCARD}.get(word, RULE_DEFAULT)

        vocabulary, _ = encode_corpus(sentences, min_count=2, trim_rule=rule)
        assert vocabulary.words == ["by", "keep"]
        assert seen == [("keep", 1, 2), ("drop", 3, 2), ("by", 2, 2), ("count", 1, 2)]

    def test_errors_in_the_trim_rule(self, write):
        path = write(text_of(SENTENCES))
        with pytest.raises(ZeroDivisionError):
            encode_corpus(corpus_file=path, max_vocab_size=2, trim_rule=lambda *_: 1 // 0)
        with pytest.raises(ValueError, match="returned 'keep'; it must return"):
            encode_corpus(corpus_file=path, trim_rule=lambda *_: "keep")


class TestKnownVocabulary:
    def test_fixed(self):
        sentences = [["head", "unknown"], ["unknown"], ["of", "head"]]
        vocabulary, corpus = encode_corpus(sentences, vocab=["of", "head", "absent"])
        assert vocabulary.words == ["of", "head", "absent"]
        assert vocabulary.counts.tolist() == [1, 2, 0]
        assert corpus.tokens.tolist() == [1, 0, 1]
        assert corpus.offsets.tolist() == [0, 1, 3]
        assert (corpus.raw_tokens, corpus.raw_sentences) == (5, 3)

    def test_extended(self):
        known = Vocabulary(["of", "head"], [10, 20], raw_words=40)
        sentences = [["new", "head", "rare", "newer", "newer", "new", "newer"]]
        vocabulary, corpus = encode_corpus(sentences, vocab=known, extend=True, min_count=2)
        assert vocabulary.words == ["of", "head", "newer", "new"]
        assert vocabulary.counts.tolist() == [10, 21, 3, 2]
        assert vocabulary.raw_words == 47
        assert corpus.tokens.tolist() == [3, 1, 2, 2, 3, 2]
        assert known.counts.tolist() == [10, 20]

    def test_nothing_known(self):
        with pytest.raises(ValueError, match="none of the 18 tokens of the corpus is in the vocabulary of 1 words"):
            encode_corpus(SENTENCES, vocab=["x"])

    def test_a_word_twice(self):
        with pytest.raises(ValueError, match="'a' twice"):
            encode_corpus(SENTENCES, vocab=["a", "b", "a"])
