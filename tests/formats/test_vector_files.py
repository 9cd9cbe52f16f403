"""Text and binary vector files: round trips, odd words, damaged and hostile files, other tools' habits."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import time
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muse import FormatWarning, ModelFileError, load_vectors
from muse.files.word2vec_rows import write_word2vec
from muse.formats import reading
from muse.formats.registry import FORMATS, detect_format, read_sense_table, write_sense_table
from muse.formats.table import SenseTable, group_keys
from muse.formats.word2vec import read_word2vec
from toy import toy_model

FUNCTION_FIXTURE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda word: word.split() == [word])
odd_words = st.one_of(
    words,
    st.sampled_from(
        ["c#", "a#1", "##", "12", "1.5", "nan", "-", "_", "a_1", "|", "x|NOUN", "é" * 3000, "\x00", "\x7f"]
    ),
)
floats = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def tables(draw):
    """Small tables of senses with any words and any numbers."""
    names = draw(st.lists(odd_words, unique=True, max_size=6))
    senses = draw(st.lists(st.integers(1, 3), min_size=len(names), max_size=len(names)))
    size = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(floats, min_size=size, max_size=size), min_size=sum(senses), max_size=sum(senses)))
    offset = np.concatenate(([0], np.cumsum(senses))).astype(np.int64)
    return SenseTable(names, np.array(rows, np.float32).reshape(-1, size), offset)


def plain(table):
    """The vectors by key, for comparisons that order does not matter to."""
    return dict(zip(table.keys(), table.sense_vectors.tolist(), strict=True))


def check_equal(first, second):
    assert sorted(first.keys()) == sorted(second.keys())
    for key, vector in plain(first).items():
        np.testing.assert_array_equal(plain(second)[key], vector)


# -- round trips -------------------------------------------------------------------------------------------------------


@FUNCTION_FIXTURE
@given(table=tables(), binary=st.booleans())
def test_any_words_and_numbers_come_back(tmp_path, table, binary):
    path = tmp_path / "v"
    write_word2vec(path, table.keys(), table.sense_vectors, binary=binary)
    check_equal(read_word2vec(path, binary=binary), table)
    if not binary:
        text = path.read_bytes()
        path.write_bytes(text.replace(b"\n", b"\r\n").rstrip(b"\r\n"))  # as of Windows, and without the last line end
        check_equal(read_word2vec(path, binary=False), table)


@FUNCTION_FIXTURE
@given(table=tables().filter(lambda table: table.n_words > 0), binary=st.booleans())
def test_text_and_binary_are_told_apart(tmp_path, table, binary):
    write_word2vec(tmp_path / "v", table.keys(), table.sense_vectors, binary=binary)
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "muse.formats.word2vec.read_vectors", lambda *a, **k: found.update(k) or reading.read_vectors(*a, **k)
        )
        try:
            check_equal(read_word2vec(tmp_path / "v"), table)
        except ModelFileError:  # a few numbers can look like text in binary; then nothing wrong is given back
            assert binary
    assert found["binary"] in (binary, False)


def test_a_binary_file_of_real_size_is_known(tmp_path):
    rng = np.random.default_rng(0)
    keys = [f"word{i // 2}#{i % 2}" for i in range(500)]
    vectors = rng.normal(size=(500, 20)).astype(np.float32)
    for binary in (True, False):
        write_word2vec(tmp_path / "v", keys, vectors, binary=binary)
        table = read_word2vec(tmp_path / "v")
        assert table.keys() == keys
        np.testing.assert_array_equal(table.sense_vectors, vectors)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("piece", [7, 64, 1 << 20])
def test_rows_may_begin_in_one_piece_and_end_in_another(tmp_path, monkeypatch, binary, piece):
    monkeypatch.setattr(reading, "_PIECE", piece)
    monkeypatch.setattr("muse.files.lines._CHUNK", piece)
    rng = np.random.default_rng(1)
    keys = [f"w{i}#0" for i in range(100)]
    vectors = rng.normal(size=(100, 5)).astype(np.float32)
    write_word2vec(tmp_path / "v", keys, vectors, binary=binary)
    for name, packed in (("v", False), ("v.gz", True)):
        if packed:
            (tmp_path / name).write_bytes(gzip.compress((tmp_path / "v").read_bytes()))
        table = read_word2vec(tmp_path / name, binary=binary)
        np.testing.assert_array_equal(table.sense_vectors, vectors)
        assert table.keys() == keys


# -- keys --------------------------------------------------------------------------------------------------------------


def grouped(*keys):
    return group_keys(list(keys), np.arange(len(keys), dtype=np.float32)[:, None])


def test_keys_are_split_at_the_last_mark():
    table = grouped("c##0", "a#1#0", "a#1#1", "x")
    assert table.words == ["c#", "a#1", "x"]
    assert table.senses.tolist() == [1, 2, 1]


def test_senses_are_numbered_from_zero_whatever_the_file_says():
    table = grouped("a#7", "b#1", "a#2", "b#2")
    assert table.keys() == ["a#0", "a#1", "b#0", "b#1"]
    assert table.sense_vectors.ravel().tolist() == [2, 0, 1, 3]


def test_a_plain_key_is_a_word_or_its_word_level_vector():
    table = grouped("plain", "a#0", "a", "a#1", "#1", "c#")
    assert table.words == ["plain", "a", "#1", "c#"]
    assert table.senses.tolist() == [1, 2, 1, 1]
    assert table.sense_vectors.ravel().tolist() == [0, 1, 3, 4, 5]
    assert table.word_vectors.ravel().tolist() == [0, 2, 4, 5]


def test_keys_that_occur_twice_are_said():
    with pytest.warns(FormatWarning, match="2 keys occur twice, such as 'a#0'; the first of each counts"):
        table = grouped("a#0", "b", "a#0", "b", "a#1")
    assert table.keys() == ["a#0", "a#1", "b#0"]
    assert table.sense_vectors.ravel().tolist() == [0, 4, 1]


def test_counts_travel_with_keys(tmp_path):
    model = toy_model(words=("head", "army", "the", "bank", "e", "f", "c#", "g", "h"))
    with pytest.warns(FormatWarning):
        model.export(tmp_path / "v", "word2vec", counts=tmp_path / "counts", binary=True)
    vectors = load_vectors(tmp_path / "v", counts=tmp_path / "counts")
    assert vectors.sense_prior("head").tolist() == model.sense_prior("head").tolist()
    assert vectors.sv.get_vecattr("bank#1", "count") == model.sv.get_vecattr("bank#1", "count")
    (tmp_path / "counts").write_text("a#0 3\nb#0 many\n")
    with pytest.raises(ModelFileError, match="line 2: expected 'key count'"):
        load_vectors(tmp_path / "v", counts=tmp_path / "counts")


# -- damaged and hostile files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "expected the header 'rows columns', found ''"),
        (b"a b\n", "expected the header 'rows columns', found 'a b'"),
        (b"1\n", "expected the header"),
        (b"-1 3\n", "expected the header"),
        (b"1 0\na\n", "vectors of 0 numbers"),
        (b"1 99999999\na 1\n", "vectors of 99999999 numbers"),
        (
            b"1152921504606846976 300\na 1 2\n",
            "claims 1152921504606846976 rows of 300 numbers, and the file is too small",
        ),
        (b"99999999999999999999999 1\na 1\n", "expected the header"),
        (b"3 2\na 1 2\nb 3 4\n", "the file is too small|ends after 2 of 3 rows"),
        (b"2 2\na 1 2\nb 3\n", "line 3: 1 numbers after the key 'b', where 2 are expected"),
        (b"2 2\na 1 2 9\nb 3\n", "line 2: 3 numbers after the key 'a', where 2 are expected"),
        (b"2 2\na 1 2\nb 3 x\n", "line 3: 'x' is not a number"),
        (b"2 2\na 1 2\n\xff 3 4\n", r"the key b'\\xff' is not utf-8; give encoding="),
        (b"9" * 70000, "does not end within 65536 bytes"),
    ],
)
def test_damaged_text(tmp_path, content, what):
    path = tmp_path / "v.vec"
    path.write_bytes(content)
    started = time.process_time()
    with pytest.raises(ModelFileError, match=what) as caught:
        read_word2vec(path, binary=False)
    assert "v.vec" in str(caught.value)
    assert time.process_time() - started < 1.0


def test_a_small_compressed_file_that_claims_to_be_huge(tmp_path):
    for name, compress in (("v.gz", gzip.compress), ("v.bz2", bz2.compress)):
        (tmp_path / name).write_bytes(compress(b"1152921504606846976 300\n" + b"a" + b" 1" * 300 + b"\n"))
        started = time.process_time()
        with pytest.raises(ModelFileError, match="ends after 1 of 1152921504606846976 rows"):
            read_word2vec(tmp_path / name)
        assert time.process_time() - started < 1.0
    (tmp_path / "w.gz").write_bytes(gzip.compress(b"1 1\na 1\n")[:-9])
    with pytest.raises(ModelFileError, match="the compressed data is damaged or cut off"):
        read_word2vec(tmp_path / "w.gz")


def test_damaged_binary(tmp_path):
    path = tmp_path / "v.bin"
    row = b"a " + np.ones(3, "<f4").tobytes()
    path.write_bytes(b"2 3\n" + row + b"x" * 13)
    with pytest.raises(ModelFileError, match="ends after 1 of 2 rows"):
        read_word2vec(path, binary=True)
    path.write_bytes(b"2 3\n" + row + b"x" * (1 << 21))
    with pytest.raises(ModelFileError, match="row 2: no space ends its key, 'xxxx"):
        read_word2vec(path, binary=True)
    path.write_bytes(b"1 3\n" + row + b"b 1 2 3")
    with pytest.warns(FormatWarning, match="goes on behind the 1 rows that its header names"):
        assert read_word2vec(path, binary=True).words == ["a"]


@FUNCTION_FIXTURE
@given(
    data=st.data(), name=st.sampled_from(["word2vec", "glove", "mssg", "msword2vec", "adagram", "paper", "sensegram"])
)
def test_no_cut_or_changed_byte_gives_more_than_an_error(tmp_path, data, name):
    path, table = tmp_path / "v", small_table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        write_sense_table(path, table, name)
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
        with contextlib.suppress(ModelFileError):
            read_sense_table(path, name)


def small_table():
    model = toy_model(words=("head", "army", "the", "bank", "naïve", "f", "c#", "g", "h"))
    return SenseTable.of_model(model.vocabulary, model.arrays)


@FUNCTION_FIXTURE
@given(content=st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(tmp_path, content):
    (tmp_path / "v").write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        with contextlib.suppress(ModelFileError):
            load_vectors(tmp_path / "v")


# -- which format ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["word2vec", "glove", "paper", "sensegram", "mssg", "msword2vec", "adagram", "adagram-text", "numpy", "projector",
     "parquet", "sqlite"],
)  # fmt: skip
def test_formats_are_recognised(tmp_path, name):
    if name == "parquet":
        pytest.importorskip("pyarrow")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        write_sense_table(tmp_path / "v", small_table(), name)
    assert detect_format(tmp_path / "v") == name
    check_equal(load_vectors(tmp_path / "v").table, small_table())


def test_what_is_none_of_the_formats(tmp_path):
    path = tmp_path / "v"
    path.write_bytes(b"\x80\x04pickle")
    with pytest.raises(ModelFileError, match="is a pickle, which is not opened unasked; give format='gensim' if you"):
        load_vectors(path)
    toy_model().save(path)
    with pytest.raises(ModelFileError, match=r"a safetensors file; if it is a model of ours, open it with MUSE\.load"):
        load_vectors(path)
    path.write_text("hello, world\n")
    with pytest.raises(ModelFileError, match="looks like none of the known formats; name it with format="):
        load_vectors(path)
    with pytest.raises(ModelFileError, match="is a folder, but of none of the formats that are"):
        load_vectors(tmp_path)
    with pytest.raises(FileNotFoundError, match="no such file"):
        load_vectors(tmp_path / "none")
    with pytest.raises(ValueError, match=r"format must be one of 'word2vec', .*; got 'w2v'"):
        load_vectors(path, "w2v")
    with pytest.raises(ValueError, match="format must be one of"):
        toy_model().export(path, "w2v")


# -- what is lost ------------------------------------------------------------------------------------------------------


def test_what_a_format_cannot_hold_is_named(tmp_path):
    model = toy_model(words=("head", "army", "the", "bank", "e", "f", "c#", "g", "h"))
    with pytest.warns(
        FormatWarning,
        match=r"the word2vec format does not hold the selector \(context and selection "
        r"vectors\), collocation vectors, shares of senses, counts of words; model.save keeps",
    ):
        model.export(tmp_path / "v", "word2vec")
    with pytest.warns(FormatWarning) as caught:
        model.export(tmp_path / "v", "sensegram")
    assert "shares" not in str(caught[0].message)
    vectors = load_vectors(tmp_path / "v", "word2vec")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vectors.export(tmp_path / "w", "word2vec")  # nothing more to lose


@pytest.mark.parametrize("name", ["word2vec", "glove", "paper", "sensegram", "mssg", "msword2vec", "adagram"])
def test_white_space_in_words_is_refused_or_replaced(tmp_path, name):
    path = tmp_path / "v"
    model = toy_model(words=("head", "army", "the", "bank", "🎉", "new york", "c#", "line\nbreak", "x"))
    with pytest.raises(ValueError, match=r"format cannot hold the key 'new york.*', which has white space in it"):
        model.export(path, name)
    assert not path.exists()
    with pytest.warns(FormatWarning):
        model.export(path, name, replace_spaces="_")
    assert load_vectors(path, name).sv["new_york", 1].tolist() == model.sv["new york", 1].tolist()


# -- loaded vectors as a model -----------------------------------------------------------------------------------------


def test_loaded_vectors_answer_like_a_model(tmp_path):
    model = toy_model(words=("head", "army", "the", "bank", "e", "f", "c#", "g", "h"))
    with pytest.warns(FormatWarning):
        model.export(tmp_path / "v", "sensegram")
    vectors = load_vectors(tmp_path / "v")
    assert len(vectors) == 9
    assert "head" in vectors
    assert "heed" not in vectors
    assert vectors.n_senses("head") == 3
    assert vectors.vector_size == model.vector_size
    np.testing.assert_array_equal(vectors.sense_vectors("bank"), model.sense_vectors("bank"))
    np.testing.assert_allclose(vectors.sense_prior("head"), model.sense_prior("head"), atol=1e-6)
    np.testing.assert_allclose(vectors.sense_probabilities("head"), model.sense_prior("head"), atol=1e-6)
    np.testing.assert_allclose(vectors.wv["head"], model.wv["head"], rtol=1e-4)
    assert [key for key, _ in vectors.sv.most_similar("head#1")] == [key for key, _ in model.sv.most_similar("head#1")]
    assert not vectors.has_selector
    with pytest.raises(ValueError, match="cannot choose a sense by context"):
        vectors.select_sense("head", ["the", "head"])
    assert vectors.select_sense("army", ["the", "army"]) == 0
    with pytest.raises(KeyError, match="the nearest known spellings are 'head'"):
        vectors.sense_vectors("heed")
    with pytest.raises(ValueError, match="read-only"):
        vectors.sense_vectors("head")[:] = 0
    assert repr(vectors) == "<LoadedVectors: 9 words, 13 senses, vector_size=7>"


def test_loaded_vectors_are_evaluated(tmp_path):
    pytest.importorskip("scipy")
    from muse.evaluation import SenseModel, WordPair, WordSimilarityTask

    with pytest.warns(FormatWarning):
        toy_model(words=("head", "army", "the", "bank", "e", "f", "c#", "g", "h")).export(tmp_path / "v", "word2vec")
    vectors = load_vectors(tmp_path / "v")
    assert isinstance(vectors, SenseModel)
    pairs = [WordPair("head", "army", 3.0), WordPair("head", "bank", 1.0), WordPair("the", "army", 2.0)]
    assert len(WordSimilarityTask(pairs)(vectors).to_dict()) > 0


def test_plain_word_vectors_are_the_case_of_one_sense(tmp_path):
    (tmp_path / "glove.txt").write_text("the 1 2\nof 3 4\n, 5 6")
    vectors = load_vectors(tmp_path / "glove.txt")
    assert list(vectors.sv.index_to_key) == ["the#0", "of#0", ",#0"]
    assert vectors.has_selector
    assert load_vectors(tmp_path / "glove.txt", limit=2).vocabulary.words == ["the", "of"]


def test_every_format_documents_itself():
    for name, found in FORMATS.items():
        assert found.name == name
        assert found.read.__doc__
        assert found.write.__doc__


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_the_empty_word_is_not_exported(tmp_path, name):
    model = toy_model(words=("head", "army", "the", "bank", "e", "f", "c", "g", ""))
    options = {"binary": True} if name == "word2vec" else {}
    with pytest.raises(ValueError, match=f"the {name} format cannot hold the empty string, which is word 8 of the voc"):
        model.export(tmp_path / "v", name, **options)
    for view in (model.sv, model.wv):
        with pytest.raises(ValueError, match="cannot hold the empty string"):
            view.save_word2vec_format(tmp_path / "v")
    assert list(tmp_path.iterdir()) == []


def test_words_of_white_space_alone_stay_words(tmp_path):
    words = ("head", "army", "the", "bank", "e", "f", " c", "g", "\t")
    model = toy_model(words=words)
    with pytest.warns(FormatWarning):
        model.export(tmp_path / "v", "word2vec", replace_spaces="_")
    assert list(load_vectors(tmp_path / "v").vocabulary) == [*words[:6], "_c", "g", "_"]
    with pytest.raises(TypeError, match="replace_spaces must be a string without white space, such as '_'; got 5"):
        model.export(tmp_path / "v", "word2vec", replace_spaces=5)


def test_which_text_is_adagrams(tmp_path):
    path = tmp_path / "v"
    path.write_text("bank_1 1 2\nbank_2 3 4\nthe_1 5 6\n")
    assert detect_format(path) == "adagram-text"
    assert load_vectors(path, mark="_").sense_vectors("bank").shape == (2, 2)
    assert list(load_vectors(path, "glove").vocabulary) == ["bank_1", "bank_2", "the_1"]
    path.write_text("bank_1 1 2\nbank_2 3 4\nthe 5 6\n")
    assert detect_format(path) == "glove"
