"""Tables for viewers and data frames: the TensorBoard projector's pair of files, and Parquet."""

from __future__ import annotations

import resource
import signal

import numpy as np
import pytest

from muse import FormatWarning, ModelFileError, load_vectors
from muse.formats.registry import detect_format
from toy import toy_model

WORDS = ("head", "army", "the", "bank", "🎉", "naïve", "c#", "a_b", "x y")


@pytest.fixture(params=["projector", "parquet"])
def kind(request):
    if request.param == "parquet":
        pytest.importorskip("pyarrow")
    return request.param


def exported(path, kind, words=WORDS, **options):
    model = toy_model(words=words)
    with pytest.warns(FormatWarning, match="does not hold the selector"):
        model.export(path, kind, **options)
    return model


def test_they_come_back_the_same(kind, tmp_path):
    model = exported(tmp_path / "v", kind)
    assert detect_format(tmp_path / "v") == kind
    vectors = load_vectors(tmp_path / "v")
    assert list(vectors.vocabulary.words) == list(WORDS)
    for key in model.sv.index_to_key:
        np.testing.assert_array_equal(vectors.sv[key], model.sv[key])
    for word in WORDS:
        np.testing.assert_allclose(vectors.sense_prior(word), model.sense_prior(word), rtol=1e-6)


def test_the_projector_reads_a_row_a_sense(tmp_path):
    model = exported(tmp_path / "v", "projector", limit=2)
    vectors = (tmp_path / "v" / "vectors.tsv").read_text().splitlines()
    header, *rows = (tmp_path / "v" / "metadata.tsv").read_text().splitlines()
    senses = model.n_senses("head") + model.n_senses("army")
    assert header == "sense\tword\tshare\tcount"
    assert len(rows) == len(vectors) == senses
    assert rows[1].split("\t")[:2] == ["head#1", "head"]
    assert {line.count("\t") for line in vectors} == {model.vector_size - 1}


def test_the_projectors_own_form_has_no_header(tmp_path):
    (tmp_path / "vectors.tsv").write_text("1\t2\n3\t4\n")
    (tmp_path / "metadata.tsv").write_text("river\nbank\n")
    assert load_vectors(tmp_path).sense_vectors("bank").tolist() == [[3, 4]]


def test_tabs_cannot_be_held(tmp_path):
    words = ("head", "army", "the", "bank", "a\tb", "c\nd", "e", "f", "g")
    with pytest.raises(ValueError, match=r"cannot hold the word 'a\\tb', which has a tab"):
        toy_model(words=words).export(tmp_path / "v", "projector")
    assert list(tmp_path.iterdir()) == []
    exported(tmp_path / "v", "projector", words, replace_tabs="_")
    assert {"a_b", "c_d"} <= set(load_vectors(tmp_path / "v").vocabulary.words)


@pytest.mark.parametrize(
    ("vectors", "metadata", "message"),
    [
        ("1\t2\n", "a\nb\n", "metadata.tsv has 2 rows, and vectors.tsv 1"),
        ("1\t2\n3\n", "a\nb\n", "line 2"),
        ("1\t2\n", "k\tcount\na\tmany\n", "line 2: the count must be a whole number, found b'many'"),
        ("1\t2\n", "k\tcount\na\n", "line 2: expected 2 fields, found 1"),
        ("", "", "it is empty"),
        ("1\tx\n", "a\n", "is not a number"),
        ("1\tnan\n", "a\n", "is not a finite number"),
    ],
)
def test_damaged_folders_of_the_projector(vectors, metadata, message, tmp_path):
    (tmp_path / "vectors.tsv").write_text(vectors)
    (tmp_path / "metadata.tsv").write_text(metadata)
    with pytest.raises(ModelFileError, match=message):
        load_vectors(tmp_path)
    (tmp_path / "metadata.tsv").unlink()
    with pytest.raises((FileNotFoundError, ModelFileError)):
        load_vectors(tmp_path)


def test_a_full_disk_leaves_no_half_folder(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50, hard))
    try:
        with pytest.raises(OSError, match="too large") as caught:
            toy_model(words=WORDS).export(tmp_path / "v", "projector")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, old)
    assert str(caught.value.filename) == str(tmp_path / "v")
    assert list(tmp_path.iterdir()) == []


def test_parquet_is_a_table_for_others(tmp_path):
    library = pytest.importorskip("pyarrow.parquet")
    model = exported(tmp_path / "v", "parquet", compression="none")
    table = library.read_table(tmp_path / "v")
    assert table.column_names == ["sense", "word", "number", "share", "count", "vector"]
    row = table["sense"].to_pylist().index("head#1")
    assert table["number"][row].as_py() == 1
    np.testing.assert_array_equal(np.float32(table["vector"][row].as_py()), model.sv["head#1"])
    with pytest.raises(ValueError, match="compression must be 'zstd'"):
        model.export(tmp_path / "w", "parquet", compression="rar")


def test_parquet_of_others(tmp_path):
    arrow, library = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    library.write_table(arrow.table({"token": ["a", "b"], "e": [[1.0, 2.0], [3.0, 4.0]]}), tmp_path / "v")
    assert load_vectors(tmp_path / "v", column="token", vectors="e").sense_vectors("b").tolist() == [[3, 4]]
    with pytest.raises(ModelFileError, match="it has no column 'sense', but 'token', 'e'; name the columns with colum"):
        load_vectors(tmp_path / "v")
    bad = {"ragged": [[1.0], [3.0, 4.0, 5.0]], "missing": [None, [1.0]], "text": ["x", "y"], "empty": [[], []]}
    for vectors in bad.values():
        library.write_table(arrow.table({"sense": ["a", "b"], "vector": vectors}), tmp_path / "v")
        with pytest.raises(ModelFileError):
            load_vectors(tmp_path / "v")
    (tmp_path / "v").write_bytes((tmp_path / "v").read_bytes()[:-9])
    with pytest.raises(ModelFileError, match="load another copy"):
        load_vectors(tmp_path / "v")
