"""Rows at unit length over all of float32 and float64, softmax and checksums."""

import zlib

import numpy as np
import pytest

from muse.base.numeric import checksum, softmax, unit_rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e-45, 1e-38, 1e-20, 1e-12, 1.0, 1e18, 1e19, 8e37])
def test_rows_of_every_size_get_length_one(dtype, size):
    vector = np.array([3 * size, -4 * size, 0, size * 1e-30], np.float32)
    expected = vector.astype(np.float64) / vector.max()
    expected /= np.linalg.norm(expected)
    found = unit_rows([vector, np.zeros(4), vector[::-1]], dtype)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, [expected, np.zeros(4), expected[::-1]], rtol=1e-6, atol=1e-7)


def test_float64_rows_beyond_the_range_of_squares_get_length_one():
    np.testing.assert_allclose(unit_rows([[5e-324, 0], [1e-200, 1e-200], [1e300, 0]]), [[1, 0], [0.5**0.5] * 2, [1, 0]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_are_not_finite_become_zeros_and_leave_the_others(dtype):
    found = unit_rows(np.array([[np.nan, 1], [np.inf, 1], [-np.inf, 1e-45], [3, 4]], np.float32), dtype)
    np.testing.assert_allclose(found, [[0, 0], [0, 0], [0, 0], [0.6, 0.8]], rtol=1e-6)


@pytest.mark.parametrize("shape", [(3,), (0, 3), (3, 0), (2, 3, 4)])
def test_any_shape_is_taken_and_the_input_is_left_alone(shape):
    rows = np.full(shape, 1e-45, np.float32)
    found = unit_rows(rows)
    assert found.shape == shape
    np.testing.assert_allclose(found, np.full(shape, max(shape[-1], 1) ** -0.5))
    assert (rows == np.float32(1e-45)).all()


def test_softmax_keeps_precision_and_stands_any_scores():
    scores = np.array([[1, 2, 3], [-3e38, 0, 3e38]], np.float32)
    shares = softmax(scores, 2.0)
    assert shares.dtype == np.float32
    powers = np.exp(np.array([0.5, 1.0, 1.5]))
    np.testing.assert_allclose(shares, [powers / powers.sum(), [0, 0, 1]], rtol=1e-6)
    assert softmax(scores.astype(np.float64)[0]).sum() == pytest.approx(1, abs=1e-15)
    assert softmax(np.zeros((2, 0), np.float32)).shape == (2, 0)


def test_checksums_of_pieces_are_those_of_the_whole():
    whole = bytes(range(256)) * 3
    assert checksum([whole]) == zlib.crc32(whole)
    assert checksum([whole[9:]], checksum([whole[:4], memoryview(whole)[4:9]])) == checksum([whole])
    assert checksum([]) == 0
