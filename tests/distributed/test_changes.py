"""What workers changed of a matrix, how it travels, and how it is put together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muse import _core
from muse.distributed.changes import Rooms, agreement, apply, check_wire, merge, take


def padded(values):
    matrix = _core.aligned_zeros(*values.shape)
    matrix[:] = values
    return matrix


def changes_of(rows, values, wire="float32"):
    """What a worker that moved these rows by these values sends."""
    values = np.asarray(values, np.float32)
    base, work = (padded(np.zeros((int(max(rows, default=0)) + 1, values.shape[1]), np.float32)) for _ in range(2))
    work[rows] = values
    return take(work, base, wire)


def random_changes(seed, rows=30, dim=5, wire="float32"):
    rng = np.random.default_rng(seed)
    which = np.flatnonzero(rng.random(rows) < 0.7)
    return changes_of(which, rng.normal(size=(len(which), dim)), wire)


def dense(changes, rows=30, dim=5):
    out = np.zeros((rows, dim))
    out[changes.rows] = changes.numbers()
    return out


def test_changes_are_taken_and_given_back():
    rng = np.random.default_rng(1)
    base, work = (padded(np.zeros((40, 7), np.float32)) for _ in range(2))
    base[:] = work[:] = rng.normal(size=base.shape)
    changed = np.array([0, 3, 4, 39])
    work[changed] += rng.normal(size=(4, 7)).astype(np.float32)
    wanted = work[changed] - base[changed]
    found = take(work, base, "float32")
    assert found.rows.tolist() == changed.tolist()
    np.testing.assert_array_equal(found.sums, wanted)
    np.testing.assert_allclose(found.squares, (wanted**2).sum(axis=1), rtol=1e-6)
    assert found.workers.tolist() == [1, 1, 1, 1]
    np.testing.assert_array_equal(work, base)
    before = base.copy()
    apply(base, [work], [found], 1)
    before[changed] += wanted
    np.testing.assert_array_equal(base, before)
    np.testing.assert_array_equal(work, base)
    assert [len(part) for part in take(work, base, "int16")] == [0] * 5


@pytest.mark.parametrize("wire", ["int16", "float32"])
def test_changes_lie_in_a_room_until_nobody_holds_them(wire):
    base, work = (padded(np.zeros((6, 4), np.float32)) for _ in range(2))
    rooms = Rooms(24, wire)

    def taken(value):
        work[1:3] = value
        room = rooms.free()
        found = take(work, base, wire, room)
        assert room is None or np.shares_memory(found.sums, room)
        return found

    held = [taken(value) for value in (1, 2, 3, 4)]
    assert rooms.free() is None
    assert [float(one.numbers()[0, 0]) for one in held] == pytest.approx([1, 2, 3, 4])
    view = held.pop(0).sums[1:]
    assert rooms.free() is None
    del view
    assert rooms.free() is not None
    assert [float(one.numbers()[0, 0]) for one in [taken(5), *held]] == pytest.approx([5, 2, 3, 4])
    work[:] = 1
    small = take(work, base, wire, np.empty(23, wire))
    assert small.sums.shape == (6, 4)


def test_a_nan_is_a_change():
    base, work = (padded(np.zeros((3, 4), np.float32)) for _ in range(2))
    work[1, 2] = np.nan
    assert take(work, base, "int16").rows.tolist() == [1]


@pytest.mark.parametrize(
    ("rows", "shape"), [([1, 0], (2, 4)), ([0, 0], (2, 4)), ([-1], (1, 4)), ([3], (1, 4)), ([0], (1, 5)), ([0], (2, 4))]
)
def test_wrong_changes_are_refused(rows, shape):
    base, work = (padded(np.zeros((3, 4), np.float32)) for _ in range(2))
    ones = np.ones(len(rows), np.float32)
    changes = (np.array(rows, np.int32), np.ones(shape, np.float32), ones, ones, ones.astype(np.int32))
    with pytest.raises(ValueError, match=r"rows|row of numbers|as long"):
        _core.apply_changes(base, [work], changes, None, 1, "sum")
    assert not base.any()


def test_followers_of_another_type_and_impossible_counts_are_refused():
    base, work = (padded(np.zeros((3, 4), np.float32)) for _ in range(2))
    changes = changes_of([1], np.ones((1, 4)))
    for wrong in (work.astype(np.float64), [[0.0] * 4] * 3, None):
        with pytest.raises(TypeError, match="float32"):
            _core.apply_changes(base, [wrong], changes, None, 1, "sum")
    for count in (0, -5, 2**31 - 1):
        with pytest.raises(ValueError, match="workers must be"):
            merge(changes, changes._replace(workers=np.array([count], np.int32)))
    assert not base.any()


def test_changes_of_two_lengths_are_refused():
    with pytest.raises(ValueError, match="same length"):
        merge(random_changes(1, dim=5), random_changes(2, dim=6))
    one = random_changes(1)
    with pytest.raises(ValueError, match="a unit"):
        merge(one, one._replace(units=one.units[1:]))
    with pytest.raises(ValueError, match="rule must be"):
        merge(one, one, "median")


@pytest.mark.parametrize("wire", ["int16", "float32"])
def test_merged_changes_are_sums(wire):
    one, other = random_changes(1, wire=wire), random_changes(2, wire=wire)
    merged = merge(one, other)
    assert merged.sums.dtype == wire
    np.testing.assert_allclose(dense(merged), dense(one) + dense(other), atol=1e-3 if wire == "int16" else 1e-6)
    counts = np.zeros(30, int)
    counts[one.rows] += 1
    counts[other.rows] += 1
    assert merged.workers.tolist() == counts[counts > 0].tolist()
    assert merged.squares.sum() == pytest.approx(one.squares.sum() + other.squares.sum(), rel=1e-6)
    nothing = changes_of(np.zeros(0, int), np.zeros((0, 5)), wire)
    for both in (merge(one, nothing), merge(nothing, one)):
        np.testing.assert_allclose(dense(both), dense(one), atol=1e-4)


def moved(groups, parts, rule, rows=30, dim=5):
    base, work = (padded(np.zeros((rows, dim), np.float32)) for _ in range(2))
    apply(base, [work], groups, parts, rule)
    np.testing.assert_array_equal(base, work)
    return np.array(base)


def test_two_groups_move_what_their_sum_does():
    one, other = random_changes(1), random_changes(2)
    for rule in ("agreement", "sum", "changed", "average", "adasum"):
        np.testing.assert_allclose(moved([one, other], 2, rule), moved([merge(one, other, rule)], 2, rule), atol=1e-6)


def test_agreement_is_what_adasum_makes_of_equal_cosines():
    """n vectors of length 1 with the same cosine between all pairs, put together by Adasum's tree."""
    for cosine in (0.0, 0.2, 0.7, 1.0):
        for n in (2, 4, 8, 16):
            gram = np.full((n, n), cosine) + (1 - cosine) * np.eye(n)
            values, axes = np.linalg.eigh(gram)
            rows = (axes * np.sqrt(np.maximum(values, 0))).astype(np.float32)
            deltas = [changes_of([0], row[None]) for row in rows]
            total = merge_all(deltas, "agreement")
            found = moved([total], n, "agreement", 1, n)
            np.testing.assert_allclose(found, merge_all(deltas, "adasum").numbers(), atol=1e-5)


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
    one, other = random_changes(1), random_changes(2)
    total, workers = dense(one) + dense(other), np.isin(range(30), one.rows) * 1 + np.isin(range(30), other.rows)
    for rule, factor in (("sum", 1), ("average", 1 / 4), ("changed", 1 / np.maximum(workers, 1)[:, None])):
        np.testing.assert_allclose(moved([one, other], 4, rule), total * factor, atol=1e-6)


def test_short_numbers_travel_in_units_of_their_row():
    values = np.random.default_rng(3).normal(size=(20, 5)).astype(np.float32)
    values *= np.float32(10.0) ** np.arange(-9, 11, dtype=np.float32)[:, None] / 1e6
    values[2] = -0.0
    found = changes_of(np.arange(20), values, "int16")
    largest = np.abs(values).max(axis=1, keepdims=True)
    assert (np.abs(found.numbers() - values) <= largest * 2.0**-16 * 1.01).all()
    assert found.rows.tolist() == list(range(20))
    wide = np.ones((20, 100), np.float32)
    assert changes_of(np.arange(20), wide, "int16").nbytes < 0.6 * changes_of(np.arange(20), wide).nbytes
    with pytest.raises(ValueError, match="wire must be"):
        check_wire("int4")


@pytest.mark.parametrize("wire", ["int16", "float32"])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_does_not_become_a_number(wire, value):
    values = np.ones((3, 40), np.float32)
    values[1, 20] = value
    found = changes_of(np.arange(3), values, wire)
    base = moved([found, found], 2, "agreement", 3, 40)
    assert not np.isfinite(base[1]).all()
    assert np.isfinite(base[[0, 2]]).all()
