"""Products of rows in the core against numpy's: scatters, transforms, centred rows, averages, axes, moments of uses."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from muse import _core
from muse.base.numeric import unit_rows
from muse.data.use_space import UseSpace


def rows_of(count: int, dim: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, dim)).astype(np.float32)


@pytest.mark.parametrize(("count", "dim"), [(1, 1), (7, 3), (300, 16), (1000, 70), (130, 129)])
def test_a_scatter_is_the_product_of_rows_with_themselves(count, dim):
    rows = rows_of(count, dim)
    exact = rows.astype(np.float64).T @ rows.astype(np.float64)
    one = _core.scatter(rows)
    np.testing.assert_allclose(one, exact, atol=1e-5 * count)
    np.testing.assert_array_equal(one, one.T)
    np.testing.assert_array_equal(one, _core.scatter(rows, workers=3))
    spread = _core.aligned_zeros(2 * count, dim)
    spread[::2] = rows
    np.testing.assert_array_equal(one, _core.scatter(spread[::2]))


@pytest.mark.parametrize(("count", "dim", "wide"), [(1, 1, 1), (700, 33, 20), (5, 300, 300), (130, 20, 70)])
def test_rows_are_transformed(count, dim, wide):
    rows, transform, mean = rows_of(count, dim), rows_of(dim, wide, 1), rows_of(1, dim, 2)[0]
    for given in (None, mean):
        out = np.full((count, wide), np.nan, np.float32)
        _core.transform_rows(rows, transform, out, given, workers=2)
        exact = (rows.astype(np.float64) - (0 if given is None else given)) @ transform
        np.testing.assert_allclose(out, exact, atol=1e-5 * dim)


def test_rows_are_transformed_where_they_lie():
    rows = _core.aligned_zeros(600, 20)
    rows[:] = rows_of(600, 20)
    transform = rows_of(20, 20, 1)
    exact = rows @ transform
    _core.transform_rows(rows, transform, rows, workers=3)
    np.testing.assert_allclose(rows, exact, atol=1e-4)


@pytest.mark.parametrize(
    ("transform", "out", "mean", "message"),
    [
        ((3, 4), (5, 4), 4, "fit together"),
        ((4, 4), (5, 3), 4, "fit together"),
        ((4, 4), (4, 4), 4, "fit together"),
        ((4, 4), (5, 4), 3, "fit together"),
    ],
)
def test_what_does_not_fit_is_refused(transform, out, mean, message):
    with pytest.raises(ValueError, match=message):
        _core.transform_rows(*(np.zeros(shape, np.float32) for shape in ((5, 4), transform, out, mean)))


def test_results_may_not_overlap_their_rows():
    block = np.zeros((6, 4), np.float32)
    with pytest.raises(ValueError, match="lie elsewhere"):
        _core.transform_rows(block[:5], np.eye(4, dtype=np.float32), block[1:])
    with pytest.raises(ValueError, match="lie elsewhere"):
        _core.centre_rows(block[:5], np.ones(5, np.int64), block[1:])


def test_rows_are_centred_at_unit_length():
    rows = rows_of(900, 21)
    rows[3] = 0
    rows[4], rows[5] = 1e-30, 1e30
    rows[6, 2] = np.inf
    rows[7, 2] = np.nan
    counts = np.random.default_rng(1).integers(0, 50, 900)
    units = unit_rows(rows, np.float32)
    exact = units - counts.astype(np.float64) @ units / counts.sum()
    out = np.zeros_like(rows)
    _core.centre_rows(rows, counts, out)
    np.testing.assert_allclose(out, exact, atol=1e-6)
    again = rows.copy()
    _core.centre_rows(again, counts, again, workers=4)
    np.testing.assert_array_equal(again, out)


def test_centred_rows_without_counts():
    rows, out = rows_of(3, 4), np.zeros((3, 4), np.float32)
    _core.centre_rows(rows, np.zeros(3, np.int64), out)
    np.testing.assert_allclose(out, unit_rows(rows), atol=1e-6)


@pytest.mark.parametrize("unit", [False, True])
def test_rows_are_averaged_by_group(unit):
    rows, groups = rows_of(40, 9), np.random.default_rng(1).integers(-1, 5, 40)
    groups[groups == 2] = -1
    weights = np.random.default_rng(2).integers(1, 9, 40)
    out = np.zeros((8, 9), np.float32)
    _core.average_rows(rows, groups, weights, out, unit)
    for g in range(8):
        own = groups == g
        mean = np.average(rows[own], axis=0, weights=weights[own]) if own.any() else np.zeros(9)
        np.testing.assert_allclose(out[g], unit_rows(mean) if unit else mean, atol=1e-6)


def test_groups_and_weights_that_do_not_fit_are_refused():
    rows, out = rows_of(4, 3), np.zeros((2, 3), np.float32)
    ones = np.ones(4, np.int64)
    for groups, weights, message in (
        (ones * 2, ones, "outside"), (ones * -2, ones, "outside"), (ones, ones * 0, "at least 1"),
        (ones[:3], ones, "fit together"), (ones, ones[:3], "fit together"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            _core.average_rows(rows, groups, weights, out, False)
    _core.average_rows(rows, ones * -1, ones, out, True)
    assert not out.any()


@pytest.mark.parametrize("n", [1, 2, 3, 17, 64, 101])
@pytest.mark.parametrize("kind", ["full", "half rank", "indefinite", "graded", "equal", "zeros"])
def test_axes_of_a_symmetric_matrix(n, kind):
    x = rows_of(n // 2 + 1 if kind == "half rank" else n + 3, n).astype(np.float64)
    matrix = {
        "full": x.T @ x, "half rank": x.T @ x, "indefinite": x[:n, :n] + x[:n, :n].T if kind == "indefinite" else 0,
        "graded": (x.T @ x) * np.outer(*[np.logspace(0, -9, n)] * 2), "equal": np.eye(n), "zeros": np.zeros((n, n)),
    }[kind]  # fmt: skip
    values, axes = _core.symmetric_eigen(matrix)
    size = max(np.abs(values).max(), 1e-300)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix), atol=1e-12 * size)
    np.testing.assert_allclose(axes.T @ axes, np.eye(n), atol=1e-12)
    np.testing.assert_allclose(matrix @ axes, axes * values, atol=1e-12 * size)


def test_axes_of_nothing_and_of_no_numbers():
    assert _core.symmetric_eigen(np.zeros((0, 0)))[0].shape == (0,)
    values, _ = _core.symmetric_eigen(np.full((5, 5), np.nan))
    assert np.isnan(values).all()
    with pytest.raises(ValueError, match="square"):
        _core.symmetric_eigen(np.zeros((2, 3)))


@pytest.mark.parametrize("order", [False, True])
def test_moments_of_uses_are_those_of_raw_contexts(order):
    rng = np.random.default_rng(3)
    tokens = rng.integers(0, 40, 3000).astype(np.int32)
    corpus = _core.Corpus.from_arrays(tokens, np.arange(0, 3001, 15))
    positions = rows_of(5, 7, 1)
    positions[2] = 0
    space = UseSpace(
        rows_of(40, 10), rng.random(40).astype(np.float32), rows_of(40, 7, 2), positions, np.zeros(7, np.float32),
        np.eye(7, dtype=np.float32), 6, 0.5, 0.75,
    ) if order else UseSpace(rows_of(40, 10), rng.random(40).astype(np.float32), topic_window=6)  # fmt: skip
    sizes = rng.integers(1, 400, 12)
    offsets, places = np.concatenate(([0], np.cumsum(sizes))), rng.integers(0, 3000, sizes.sum())
    found = _core.use_moments(space.core, corpus, offsets, places)
    again = _core.use_moments(space.core, corpus, offsets, places, workers=3)
    raw = space.core.raw(corpus, places)
    assert found[2].shape == (7 if order else 0,)
    for mean, covariance, block in zip(found[::2], found[1::2], raw, strict=True):
        words = [block[a:b].astype(np.float64) for a, b in itertools.pairwise(offsets)]
        np.testing.assert_allclose(mean, np.mean([w.mean(axis=0) for w in words], axis=0), atol=1e-5)
        around = np.concatenate([w - w.mean(axis=0) for w in words])
        np.testing.assert_allclose(covariance, around.T @ around / (len(places) - 12), atol=1e-4)
    for one, other in zip(found, again, strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="offsets"):
        _core.use_moments(space.core, corpus, offsets[:-1], places)
    with pytest.raises(ValueError, match="outside the corpus"):
        _core.use_moments(space.core, corpus, np.array([0, 1]), np.array([3000]))
