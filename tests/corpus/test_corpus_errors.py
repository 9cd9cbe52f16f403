"""Input that is no corpus: each says where it is wrong and what to do."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from muse.corpus.encoding import RULE_DISCARD, LineSentence, encode_corpus
from toy import toy_model


class TestErrors:
    @pytest.mark.parametrize(
        ("sentences", "error", "message"),
        [
            ("the head of the army", TypeError, r"sentences is a str; pass an iterable of token lists"),
            (b"the head of the army", TypeError, r"sentences is a bytes"),
            (Path("corpus.txt"), TypeError, r"corpus_file="),
            (3, TypeError, r"sentences must be an iterable of token lists, not int"),
            ([["a"], ["b"], "a b c"], TypeError, r"sentence 3 is a string; pass a list of tokens, e\.g\. text\.split"),
            ([["a"], b"a b c"], TypeError, r"sentence 2 is a string"),
            ([["a"], 3], TypeError, r"sentence 2 is of type int; pass a list of tokens"),
            ([["a"], None], TypeError, r"sentence 2 is of type NoneType"),
            ([["a"], ["b", 3]], TypeError, r"token 2 of sentence 2 is of type int; tokens must be strings"),
            ([["a"], ["b", ["c"]]], TypeError, r"token 2 of sentence 2 is of type list"),
            ([["a"], ["b", b"c"]], TypeError, r"token 2 of sentence 2 is of type bytes"),
            ([["a", "\ud800"]], ValueError, r"token 2 of sentence 1 holds a lone surrogate"),
            ([], ValueError, r"the corpus is empty"),
            ([[], []], ValueError, r"the corpus is empty"),
            (iter([]), ValueError, r"was it already used up"),
            ([["a", "b", "a"]], ValueError, r"min_count=5 .* most frequent, 'a', occurs 2 times: pass min_count=1"),
        ],
    )  # fmt: skip
    def test_sentences(self, sentences, error, message):
        with pytest.raises(error, match=message):
            encode_corpus(sentences)

    def test_the_number_of_a_sentence_counts_over_blocks_and_empty_ones(self):
        with pytest.raises(TypeError, match="sentence 5003 is a string"):
            encode_corpus([["a"], []] * 2501 + ["a"])

    def test_one_of_two(self, write):
        with pytest.raises(ValueError, match=r"pass sentences .* or corpus_file"):
            encode_corpus()
        with pytest.raises(ValueError, match="not both"):
            encode_corpus([["a"]], write("a"))

    def test_open_files(self, write):
        with write("a").open() as file:
            with pytest.raises(TypeError, match="open file; pass its path as corpus_file"):
                encode_corpus(file)
            with pytest.raises(TypeError, match="needs the path of a file, not TextIOWrapper"):
                encode_corpus(corpus_file=file)

    @pytest.mark.parametrize("make", [LineSentence, lambda path: encode_corpus(corpus_file=path)])
    def test_paths(self, make, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"no such file.*missing\.txt"):
            make(tmp_path / "missing.txt")
        with pytest.raises(FileNotFoundError, match="there is no file in this folder"):
            make(tmp_path)
        with pytest.raises(TypeError, match="a path or a list of paths, not int"):
            make(3)

    @pytest.mark.parametrize("name", ["gzip", "bz2", "lzma", "zstandard"])
    def test_compressed_data_of_another_name(self, name, tmp_path):
        data = pytest.importorskip(name).compress(b"a b\n" * 9)
        ending = {"gzip": ".gz", "lzma": ".xz", "zstandard": ".zst"}.get(name, ".bz2")
        path = tmp_path / "corpus.txt"
        path.write_bytes(data)
        message = rf"corpus\.txt holds compressed data, .* so that it ends in \{ending}"
        with pytest.raises(ValueError, match=message):
            encode_corpus(corpus_file=path)
        with pytest.raises(ValueError, match=message):
            list(LineSentence(path))
        with pytest.raises(ValueError, match=message):
            toy_model().tag_corpus(path, tmp_path / "tagged")
        upper = path.rename(tmp_path / f"corpus{ending.upper()}")
        assert encode_corpus(corpus_file=upper, min_count=1)[1].n_tokens == 18
        assert sum(map(len, LineSentence(upper))) == 18
        assert toy_model().tag_corpus(upper, tmp_path / "tagged").tokens == 18

    def test_zip_archives_are_named(self, tmp_path):
        path = tmp_path / "corpus.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("corpus.txt", "a b\n")
        for read in (lambda: encode_corpus(corpus_file=path), lambda: list(LineSentence(path))):
            with pytest.raises(ValueError, match=r"corpus\.zip is a zip archive; unpack it"):
                read()

    def test_text_that_begins_like_compressed_data_is_text(self, write):
        assert encode_corpus(corpus_file=write("BZh9 a"), min_count=1)[0].words == ["BZh9", "a"]

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_file_without_permission(self, write):
        path = write("a")
        path.chmod(0)
        with pytest.raises(PermissionError, match=r"corpus\.txt"):
            encode_corpus(corpus_file=path)

    @pytest.mark.parametrize("content", ["", "\n\n", " \r\n\t\n", "\ufeff"])
    def test_empty_files(self, write, content):
        with pytest.raises(ValueError, match="the corpus is empty"):
            encode_corpus(corpus_file=write(content))

    def test_nothing_left(self):
        with pytest.raises(ValueError, match="max_final_vocab=1 leaves no word, since 2 words tie"):
            encode_corpus([["a", "b", "a", "b", "c"]], min_count=1, max_final_vocab=1)
        with pytest.raises(ValueError, match="trim_rule discards every word"):
            encode_corpus([["a"]], min_count=1, trim_rule=lambda *_: RULE_DISCARD)
