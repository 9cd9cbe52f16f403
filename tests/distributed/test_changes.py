"""What workers changed of a matrix, how it travels, and how it is put together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muse import _core
from muse.distributed.changes import Changes, agreement, factors, mean_cosines, merge, pack, unpack


def padded(values):
    matrix = _core.aligned_zeros(*values.shape)
    matrix[:] = values
    return matrix


def random_changes(seed, rows=30, dim=5, common=0.0):
    rng = np.random.default_rng(seed)
    which = np.flatnonzero(rng.random(rows) < 0.7)
    sums = (rng.normal(size=(len(which), dim)) + common).astype(np.float32)
    return Changes(which, sums, np.einsum("ij,ij->i", sums, sums), np.ones(len(which), np.int32))


def dense(changes, rows=30, dim=5):
    out = np.zeros((rows, dim))
    out[changes.rows] = changes.sums
    return out


def test_changes_are_taken_and_given_back():
    rng = np.random.default_rng(1)
    base, work = (padded(np.zeros((40, 7), np.float32)) for _ in range(2))
    base[:] = work[:] = rng.normal(size=base.shape)
    changed = np.array([0, 3, 4, 39])
    work[changed] += rng.normal(size=(4, 7)).astype(np.float32)
    wanted = work[changed] - base[changed]
    rows, sums, squares = _core.take_changes(work, base)
    assert rows.tolist() == changed.tolist()
    np.testing.assert_array_equal(sums, wanted)
    np.testing.assert_allclose(squares, (wanted**2).sum(axis=1), rtol=1e-6)
    np.testing.assert_array_equal(work, base)
    before = base.copy()
    _core.apply_changes(work, base, rows, sums)
    before[changed] += wanted
    np.testing.assert_array_equal(base, before)
    np.testing.assert_array_equal(work, base)
    assert [len(part) for part in _core.take_changes(work, base)] == [0, 0, 0]


def test_a_nan_is_a_change():
    base, work = (padded(np.zeros((3, 4), np.float32)) for _ in range(2))
    work[1, 2] = np.nan
    assert _core.take_changes(work, base)[0].tolist() == [1]


@pytest.mark.parametrize(
    ("rows", "shape"), [([1, 0], (2, 4)), ([0, 0], (2, 4)), ([-1], (1, 4)), ([3], (1, 4)), ([0], (1, 5)), ([0], (2, 4))]
)
def test_wrong_changes_are_refused(rows, shape):
    base, work = (padded(np.zeros((3, 4), np.float32)) for _ in range(2))
    with pytest.raises(ValueError, match=r"rows|row of numbers|as long"):
        _core.apply_changes(work, base, np.array(rows), np.ones(shape, np.float32))


def test_merged_changes_are_sums():
    one, other = random_changes(1), random_changes(2)
    merged = merge(one, other)
    np.testing.assert_allclose(dense(merged), dense(one) + dense(other), rtol=1e-6)
    counts = np.zeros(30, int)
    counts[one.rows] += 1
    counts[other.rows] += 1
    assert merged.workers.tolist() == counts[counts > 0].tolist()
    assert merged.squares.sum() == pytest.approx(one.squares.sum() + other.squares.sum(), rel=1e-6)
    nothing = Changes(
        np.zeros(0, np.int64), np.zeros((0, 5), np.float32), np.zeros(0, np.float32), np.zeros(0, np.int32)
    )
    for both in (merge(one, nothing), merge(nothing, one)):
        np.testing.assert_array_equal(dense(both), dense(one))


def test_agreement_is_what_adasum_makes_of_equal_cosines():
    """n vectors of length 1 with the same cosine between all pairs, put together by Adasum's tree."""
    for cosine in (0.0, 0.2, 0.7, 1.0):
        for n in (2, 4, 8, 16):
            gram = np.full((n, n), cosine) + (1 - cosine) * np.eye(n)
            values, axes = np.linalg.eigh(gram)
            rows = (axes * np.sqrt(np.maximum(values, 0))).astype(np.float32)
            deltas = [Changes(np.array([0]), row[None].copy(), np.float32([1.0]), np.int32([1])) for row in rows]
            total = merge_all(deltas, "agreement")
            np.testing.assert_allclose(mean_cosines(total), [cosine], atol=1e-5)
            found = total.sums * factors(total, n)[:, None]
            np.testing.assert_allclose(found, merge_all(deltas, "adasum").sums, atol=1e-5)


def merge_all(deltas, rule):
    while len(deltas) > 1:
        deltas = [merge(*deltas[i : i + 2], rule) for i in range(0, len(deltas), 2)]
    return deltas[0]


@given(st.floats(0, 1), st.integers(1, 200))
def test_agreement_lies_between_mean_and_sum(cosine, workers):
    factor, more = agreement(np.array([cosine, cosine]), np.array([workers, workers + 1]))
    assert 1 / workers - 1e-6 <= factor <= 1
    assert more <= factor + 1e-6


def test_other_rules():
    changes = merge(random_changes(1), random_changes(2))
    assert factors(changes, 4, "average").tolist() == [0.25] * len(changes.rows)
    assert factors(changes, 4, "sum").tolist() == [1.0] * len(changes.rows)
    np.testing.assert_allclose(factors(changes, 4, "changed"), 1 / changes.workers)


@pytest.mark.parametrize(("wire", "exact"), [("int16", 2.0**-16), ("float16", 2.0**-11)])
def test_short_numbers_travel_in_units_of_their_row(wire, exact):
    changes = random_changes(3)
    changes.sums[:] *= np.float32(10.0) ** np.arange(-9, len(changes.rows) - 9, dtype=np.float32)[:, None] / 1e6
    changes.sums[2] = 0
    found = unpack(pack(changes, wire))
    largest = np.abs(changes.sums).max(axis=1, keepdims=True)
    assert (np.abs(found.sums - changes.sums) <= largest * exact * 1.01).all()
    assert found.rows.tolist() == changes.rows.tolist()
    wide = random_changes(3, dim=100)
    assert pack(wide, wire).nbytes < 0.6 * pack(wide, "float32").nbytes
    np.testing.assert_array_equal(unpack(pack(changes, "float32")).sums, changes.sums)
    with pytest.raises(ValueError, match="wire must be"):
        pack(changes, "int4")


@pytest.mark.parametrize("wire", ["int16", "float32"])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_does_not_become_a_number(wire, value):
    changes = random_changes(4)
    changes.sums[1, 2] = value
    found = unpack(pack(changes, wire))
    assert not np.isfinite(found.sums[1]).all()
    assert np.isfinite(found.sums[[0, 2]]).all()


def test_packed_rows_of_the_wrong_shape():
    with pytest.raises(ValueError, match="a unit for each row"):
        _core.unpack_rows(np.zeros((2, 3), np.int16), np.zeros(3, np.float32))
    packed, units = _core.pack_rows(np.zeros((0, 4), np.float32))
    assert packed.shape == (0, 4)
    assert len(units) == 0
