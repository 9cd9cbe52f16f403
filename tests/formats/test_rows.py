"""Rows of numbers in vector files: as other tools write them, in any order, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muse import ModelFileError, _core, load_vectors
from muse.files.word2vec_rows import write_word2vec
from muse.formats.registry import FORMATS, write_sense_table
from muse.formats.table import SenseTable
from muse.formats.word2vec import read_word2vec


def test_rows_in_any_order_are_put_in_place(tmp_path):
    rng = np.random.default_rng(2)
    keys = [f"w{i}#{k}" for i in range(50) for k in range(4)]
    vectors = np.arange(200, dtype=np.float32)[:, None] + np.zeros(3, np.float32)
    order = rng.permutation(200)
    write_word2vec(tmp_path / "v", [keys[i] for i in order], vectors[order])
    table = read_word2vec(tmp_path / "v")
    found = dict(zip(table.keys(), table.sense_vectors.tolist(), strict=True))
    assert found == dict(zip(keys, vectors.tolist(), strict=True))


@given(order=st.permutations(range(9)))
def test_permuted_rows(order):
    for matrix in (np.arange(18, dtype=np.float32).reshape(9, 2), _core.aligned_zeros(9, 2)):
        matrix[:] = np.arange(18).reshape(9, 2)
        before = matrix.copy()
        _core.permute_rows(matrix, np.array(order))
        np.testing.assert_array_equal(matrix, before[list(order)])


def test_permute_rows_checks_its_order():
    for order in ([0, 0], [0, 2], [-1, 0], [0], [0, 1, 2]):
        with pytest.raises(ValueError, match="order must hold"):
            _core.permute_rows(np.zeros((2, 2), np.float32), np.array(order))


# -- numbers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [("+1.5", 1.5), ("1E-4", 1e-4), ("1e-60", 0.0), ("1e-40", 1e-40), (".5", 0.5), ("5.", 5.0), ("007", 7.0)],
)
def test_numbers_as_other_tools_write_them(text, value):
    matrix = np.empty((1, 1), np.float32)
    _core.read_rows(f"a {text}\n".encode(), matrix, 0)
    np.testing.assert_array_equal(matrix[0, 0], np.float32(value))


@pytest.mark.parametrize("text", ["abc", "1.5x", "0x10", "1,5", "--1", "+-1", "++1", "1e", "١", "+"])
def test_what_is_no_number(text):
    with pytest.raises(ValueError, match=r"line 3: '.*' is not a number"):
        _core.read_rows(f"a 1\nb 2\nc {text}\n".encode(), np.empty((3, 1), np.float32), 0)


NOT_FINITE = ["NaN", "-nan", "Infinity", "-inf", "1e39", "-1e60", "1e999"]


@pytest.mark.parametrize("text", NOT_FINITE)
def test_numbers_that_are_not_finite_are_refused_with_their_line(tmp_path, text):
    (tmp_path / "v").write_text(f"2 2\na 1 2\nb 1 {text}\n")
    with pytest.raises(ModelFileError, match=rf"line 3: '{text}' is not a finite number"):
        load_vectors(tmp_path / "v")
    (tmp_path / "v").write_text(f"a 1 2\n\nb 1 {text}\n")
    with pytest.raises(ModelFileError, match=rf"line 3: '{text}' is not a finite number"):
        load_vectors(tmp_path / "v", "glove")
    (tmp_path / "v").write_text(f"1 2 1 1\na 1\n1 2\n3 {text}\n")
    with pytest.raises(ModelFileError, match=rf"line 4: '{text}' is not a finite number"):
        load_vectors(tmp_path / "v", "mssg")
    (tmp_path / "v").write_text(f"1 2\na 1 5 {text}\n1 2\n")
    with pytest.raises(ModelFileError, match="line 2: a number of 'a' is not finite"):
        load_vectors(tmp_path / "v", "msword2vec")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_binary_rows_that_are_not_finite_are_refused(tmp_path, value):
    rows = np.array([[1, 2, 3], [3, value, 4]], "<f4")
    (tmp_path / "v").write_bytes(b"2 3\na " + rows[0].tobytes() + b"\nb " + rows[1].tobytes() + b"\n")
    with pytest.raises(ModelFileError, match="row 2: the vector of 'b' holds NaN or infinity"):
        load_vectors(tmp_path / "v", binary=True)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_vectors_that_are_not_finite_are_not_exported(tmp_path, name):
    table = SenseTable(["a", "b"], np.array([[1, 2], [3, 4], [5, np.nan]], np.float32), np.array([0, 2, 3]))
    with pytest.raises(ValueError, match="the vector of 'b#0' holds NaN or infinity"):
        write_sense_table(tmp_path / "v", table, name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("workers", [1, 3])
def test_separators(workers):
    matrix = np.empty((3, 2), np.float32)
    text = b"\n  \na 1  2 \r\nb\t3\t4\t\n\n 5 6"
    keys, rows, used, lines = _core.read_rows(text, matrix, 0, workers=workers)
    assert (keys, rows, used, lines) == ([b"a", b"b", b""], 3, len(text), 5)
    np.testing.assert_array_equal(matrix, [[1, 2], [3, 4], [5, 6]])


def test_read_rows_checks_its_arguments():
    with pytest.raises(ValueError, match="start must be"):
        _core.read_rows(b"", np.empty((1, 1), np.float32), 2)
    with pytest.raises(ValueError, match="contiguous bytes"):
        _core.read_rows(memoryview(b"abcd")[::2], np.empty((1, 1), np.float32), 0)
    read_only = np.empty((1, 1), np.float32)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        _core.read_rows(b"a 1", read_only, 0)
