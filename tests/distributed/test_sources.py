"""Texts in shards: nothing is lost between them, whatever store and form they are in."""

from __future__ import annotations

import bz2
import gzip

import cases
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muse import _core
from muse.corpus.encoding import encode_corpus
from muse.distributed import counting
from muse.distributed.gathering import Sampling, gather, uses_within
from muse.distributed.sources import BagShard, TextShard, find_shards

pytest.importorskip("fsspec", reason="fsspec is not installed: pip install 'muse-senses[dask]'")


def words_of(shards):
    encoder = _core.Encoder()
    for shard in shards:
        shard.feed(encoder)
    words, _ = encoder.vocabulary()
    corpus = encoder.finish(np.arange(len(words), dtype=np.int32))
    return [[words[i] for i in corpus.tokens[a:b]] for a, b in zip(corpus.offsets, corpus.offsets[1:], strict=False)]


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["a", "bb", "ccc dd", "", "é ü", " "]), max_size=12), st.integers(1, 8), st.booleans())
def test_each_line_is_in_one_shard(tmp_path_factory, given_lines, count, ends):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    text = "\n".join(given_lines) + ("\n" if ends else "")
    path.write_text(text)
    size = len(text.encode())
    shards = [TextShard(str(path), size * i // count, size * (i + 1) // count) for i in range(count)]
    assert words_of(shards) == [line.split() for line in text.split("\n") if line.split()]


def test_lines_longer_than_what_is_read_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("muse.distributed.sources._CHUNK", 7)
    lines = ["one two three four five", "six", "seven eight nine ten eleven twelve"]
    path = tmp_path / "text.txt"
    path.write_text("\n".join(lines))
    size = path.stat().st_size
    for count in (1, 2, 3, 10, size):
        shards = [TextShard(str(path), size * i // count, size * (i + 1) // count) for i in range(count)]
        assert words_of(shards) == [line.split() for line in lines]


def test_files_patterns_and_compression(tmp_path):
    lines = cases.lines(60)
    (tmp_path / "a.txt").write_text("\n".join(lines[:20]))
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress("\n".join(lines[20:40]).encode()))
    (tmp_path / "c.txt.bz2").write_bytes(bz2.compress("\n".join(lines[40:]).encode()))
    shards = find_shards(tmp_path / "*.txt*", size=100)
    assert len(shards) > 4
    assert words_of(shards) == [line.split() for line in lines]
    assert words_of(find_shards([tmp_path / "c.txt.bz2", str(tmp_path / "a.txt")])) == [
        line.split() for line in lines[40:] + lines[:20]
    ]


def test_a_store_of_fsspec():
    import fsspec

    with fsspec.open("memory://muse/text.txt", "wb") as file:
        file.write(b"one two\nthree\n")
    assert words_of(find_shards("memory://muse/*.txt", size=4)) == [["one", "two"], ["three"]]


def test_tables(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    texts = ["one two", None, "three", "", "four five"]
    table = pyarrow.table({"text": texts, "tokens": [(text or "").split() for text in texts]})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=2)
    wanted = [["one", "two"], ["three"], ["four", "five"]]
    shards = find_shards(tmp_path / "t.parquet", size=1)
    assert len(shards) == 3
    assert words_of(shards) == words_of(find_shards(tmp_path / "t.parquet", column="tokens")) == wanted
    with pytest.raises(ValueError, match=r"no column 'txt'; give column= one of 'text', 'tokens'"):
        find_shards(tmp_path / "t.parquet", column="txt")


def test_bags():
    bag = pytest.importorskip("dask.bag").from_sequence(["one two", "three", ["four", "five"]], npartitions=2)
    shards = find_shards(bag)
    assert [type(shard) for shard in shards] == [BagShard, BagShard]
    assert words_of(shards) == [["one", "two"], ["three"], ["four", "five"]]


def test_names_in_capitals_or_with_brackets_and_folders(tmp_path):
    (tmp_path / "A.TXT.GZ").write_bytes(gzip.compress(b"one two"))
    (tmp_path / "b[1].txt").write_text("three")
    assert words_of(find_shards([tmp_path / "A.TXT.GZ", tmp_path / "b[1].txt"])) == [["one", "two"], ["three"]]
    (tmp_path / "folder").mkdir()
    for folder in (tmp_path / "folder", tmp_path / "f*"):
        with pytest.raises(ValueError, match=r"is a folder.*/\*"):
            find_shards(folder)


def test_tables_in_folders_and_of_numbers(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    (tmp_path / "t.parquet").mkdir()
    (tmp_path / "t.parquet" / "_SUCCESS").touch()
    for number, text in enumerate(["one two", "three"]):
        table = pyarrow.table({"text": [text], "number": [number], "ids": [[number]]})
        parquet.write_table(table, tmp_path / "t.parquet" / f"part-{number}.PQ")
    assert words_of(find_shards(tmp_path / "t.parquet")) == [["one", "two"], ["three"]]
    for column in ("number", "ids"):
        with pytest.raises(TypeError, match=f"column '{column}' .* holds"):
            find_shards(tmp_path / "t.parquet", column=column)
    (tmp_path / "u.parquet").write_bytes(b"PAR1 no table")
    with pytest.raises(ValueError, match=r"u\.parquet"):
        find_shards(tmp_path / "u.parquet")


def test_errors_name_the_file_and_what_is_asked_of_it(tmp_path):
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"one two " * 999)[:-20])
    (tmp_path / "no.gz").write_bytes(b"one two")
    for name, error in (("cut.gz", ValueError), ("no.gz", OSError)):
        with pytest.raises(error, match=name):
            words_of(find_shards(tmp_path / name))
    with pytest.raises(TypeError, match="storage_options"):
        find_shards(tmp_path / "no.gz", options="anon")
    with pytest.raises(TypeError, match="column"):
        find_shards(tmp_path / "no.gz", column=3)


@pytest.mark.parametrize("sources", [3, b"text", {"a": 1}, [3], None])
def test_what_is_no_source(sources):
    with pytest.raises(TypeError, match="source"):
        find_shards(sources)


def test_missing_and_empty_sources(tmp_path):
    (tmp_path / "empty.txt").touch()
    for missing in (tmp_path / "none.txt", tmp_path / "*.none", [tmp_path / "empty.txt", tmp_path / "none.txt"]):
        with pytest.raises(FileNotFoundError, match="none"):
            find_shards(missing)
    with pytest.raises(ValueError, match="empty"):
        find_shards(tmp_path / "empty.txt")


def test_counts_of_shards_are_those_of_the_text(tmp_path):
    path = cases.write_text(tmp_path)
    tables = [counting.count_shard(shard, 10**6) for shard in find_shards(path, size=1500)]
    assert len(tables) > 5
    table = tables[0]
    for other in tables[1:]:
        table = counting.join_tables(table, other, 10**6)
    vocabulary, corpus = encode_corpus(corpus_file=path, min_count=1, sorted_vocab=False)
    assert table.words == vocabulary.words
    assert table.counts.tolist() == vocabulary.counts.tolist()
    assert table.raw_tokens == corpus.n_tokens
    kept = counting.kept(table, 5)
    assert min(kept.counts) >= 5
    few = counting.join_tables(tables[0], tables[1], 10)
    assert len(few.words) <= 10
    assert few.raw_tokens == tables[0].raw_tokens + tables[1].raw_tokens
    assert max(table.counts) in counting.kept(table, 10**9).counts


def test_what_is_gathered_does_not_depend_on_where_the_text_is_cut(tmp_path):
    _, (corpus,), _ = cases.prepared(tmp_path)
    counts = np.bincount(corpus.tokens)
    sampling = Sampling(20, 2, 5)
    whole = gather(corpus, 0, counts, sampling)
    cut = corpus.n_sentences // 3
    parts, first = [], 0
    for a, b in ((0, cut), (cut, corpus.n_sentences)):
        offsets = corpus.offsets[a : b + 1]
        part = _core.Corpus.from_arrays(corpus.tokens[offsets[0] : offsets[-1]], offsets - offsets[0])
        parts.append(gather(part, first, counts, sampling))
        first += part.n_tokens
    np.testing.assert_array_equal(np.concatenate([part.tokens for part in parts]), whole.tokens)
    assert sum(len(part.offsets) - 1 for part in parts) == len(whole.offsets) - 1
    assert 0 < len(whole.tokens) < corpus.n_tokens
    assert whole.offsets[-1] == len(whole.tokens)
    found = np.bincount(whole.tokens, minlength=len(counts))
    rare = counts <= 20
    assert (found[rare] == counts[rare]).all()
    assert (found[~rare] >= 5).all()
    everything = gather(corpus, 0, counts, Sampling(float("inf"), 2, 5))
    np.testing.assert_array_equal(everything.tokens, corpus.tokens)


def test_passages_are_parts_of_sentences(tmp_path):
    corpus = _core.Corpus.from_arrays(np.arange(30, dtype=np.int32), np.array([0, 10, 10, 30]))
    counts = np.ones(30, np.int64)
    counts[[4, 25]] = 1
    counts[np.setdiff1d(np.arange(30), [4, 25])] = 10**12
    passages = gather(corpus, 0, counts, Sampling(1, 2, 0))
    assert passages.tokens.tolist() == [2, 3, 4, 5, 6, 23, 24, 25, 26, 27]
    assert passages.offsets.tolist() == [0, 5, 10]


def test_how_many_uses_can_be_gathered():
    counts = np.array([10**6] * 3 + [50] * 100)
    assert uses_within(counts, 1500, 100.0, 10**9) == float("inf")
    found = uses_within(counts, 1500, 100.0, 600_000)
    assert np.minimum(counts, found).sum() * 100 <= 600_000 < np.minimum(counts, found + 1).sum() * 100
    assert uses_within(counts, 1500, 100.0, 1) == 1


def test_mapped_corpora():
    tokens, offsets = np.arange(5, dtype=np.int32), np.array([0, 2, 5])
    corpus = _core.map_corpus(tokens, offsets)
    del tokens, offsets
    assert corpus.tokens.tolist() == [0, 1, 2, 3, 4]
    assert corpus.n_sentences == 2
    for wrong in ([0, 6], [0, 3, 2, 5], [1, 5], []):
        with pytest.raises(ValueError, match="sentences of a corpus"):
            _core.map_corpus(np.arange(5, dtype=np.int32), np.array(wrong, np.int64))
    with pytest.raises(ValueError, match="sentences of a corpus"):
        _core.map_corpus(np.array([0, -1], np.int32), np.array([0, 2]))
