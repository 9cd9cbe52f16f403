"""The permutation: calibrated whatever the frequencies, wary of documents that are full of a word."""

from __future__ import annotations

import math

import numpy as np
import pytest

from muse.change.measures import _part_of_uses as part_of_uses
from muse.change.permuting import _tail as tail_of
from muse.change.permuting import adjusted, jensen_shannon, part_of_counts, permutation_verdict


def groups(rng: np.random.Generator, sizes: np.ndarray, shares: tuple[float, ...], burst: float = 0.0) -> np.ndarray:
    """Counts of senses of groups; with `burst`, all uses of a group are of one sense so often."""
    rows = rng.multinomial(sizes, shares)
    one = rng.random(len(sizes)) < burst
    which = rng.choice(len(shares), size=len(sizes), p=shares)
    rows[one] = np.eye(len(shares), dtype=int)[which[one]] * sizes[one, None]
    return rows.astype(np.float64)


def verdict(rng: np.random.Generator, a: np.ndarray, b: np.ndarray, permutations: int = 400):
    return permutation_verdict(a, b, (a.sum(axis=1), b.sum(axis=1)), jensen_shannon, permutations, rng)


@pytest.mark.parametrize(
    ("first", "second", "burst"),
    [((1, 100), (1, 100), 0), ((1, 20), (8, 120), 0), ((5, 60), (5, 60), 0.8), ((1, 30), (1, 60), 0)],
)
def test_p_is_even_where_nothing_changed(first: tuple[int, int], second: tuple[int, int], burst: float) -> None:
    rng = np.random.default_rng(5)
    p = []
    for _ in range(300):
        sides = [groups(rng, np.full(n, size), (0.5, 0.3, 0.15, 0.05), burst) for size, n in (first, second)]
        p.append(verdict(rng, *sides, permutations=200).p)
    assert np.mean(np.array(p) <= 0.05) <= 0.09
    assert 0.35 < np.median(p) < 0.65


@pytest.mark.parametrize(
    ("few", "blocks"), [(1, (10, 60)), (5, (10, 60)), (20, (10, 60)), (1, (100, 8)), (5, (100, 8)), (20, (100, 8))]
)
def test_a_slice_with_fewer_uses_than_a_block(few: int, blocks: tuple[int, int]) -> None:
    """A slice of a few uses, all in one block or each in its own, beside one whose blocks hold many."""
    rng = np.random.default_rng(few)
    for sizes in (np.full(1, few), np.full(few, 1)):
        p = []
        for _ in range(200):
            a, b = (groups(rng, some, (0.6, 0.3, 0.1)) for some in (sizes, np.full(blocks[1], blocks[0])))
            p.append(verdict(rng, a, b, 200).p)
        assert np.mean(np.array(p) <= 0.05) <= 0.085


def test_p_is_at_least_one_over_the_arrangements() -> None:
    rng = np.random.default_rng(0)
    one, many = np.array([[0.0, 1.0]]), np.tile([[40.0, 0.0]], (128, 1))
    assert verdict(rng, one, many, 1000).p >= 1 / 129
    assert verdict(rng, np.array([[0.0, 50.0]]), np.array([[50.0, 0.0]])).p >= 0.4


def test_parts_of_groups_are_whole_uses() -> None:
    rng = np.random.default_rng(0)
    counts = np.array([[5.0, 3.0, 0.0], [0.0, 2.0, 9.0]])
    which, some = np.repeat([0, 1], 2000), np.full(4000, 4)
    found = part_of_counts(counts)(which, some, rng)
    assert (found == np.round(found)).all()
    assert (found.sum(axis=1) == 4).all()
    assert (found <= counts[which]).all()
    assert found[:2000].mean(axis=0) == pytest.approx(4 * counts[0] / 8, abs=0.1)
    vectors = np.eye(7, dtype=np.float32)
    drawn = part_of_uses(vectors, np.array([3.0, 4.0]))(np.array([0, 1, 1]), np.array([2, 3, 4]), rng)
    assert drawn[:, 0].tolist() == [2, 3, 4]
    assert drawn[0, 1:4].sum() == 2
    assert drawn[1, 4:].sum() == 3
    assert drawn[2, 1:].tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert set(np.unique(drawn[:, 1:])) == {0, 1}


def test_change_is_found_and_its_tail_is_small() -> None:
    rng = np.random.default_rng(0)
    a, b = groups(rng, np.full(100, 3), (0.8, 0.2)), groups(rng, np.full(100, 3), (0.4, 0.6))
    found = verdict(rng, a, b, 1000)
    assert found.p < 1e-6
    assert found.value > 10 * found.expected > 0


def test_one_document_makes_no_change() -> None:
    rng = np.random.default_rng(0)
    a = groups(rng, np.full(60, 1), (0.9, 0.1))
    b = np.concatenate((groups(rng, np.full(60, 1), (0.9, 0.1)), [[0.0, 60.0]]))
    assert verdict(rng, a, b).p > 0.1


def test_jensen_shannon() -> None:
    same = np.array([[3.0, 1.0]])
    assert jensen_shannon(same, 5 * same)[0] == pytest.approx(0, abs=1e-12)
    assert jensen_shannon(np.array([[1.0, 0.0]]), np.array([[0.0, 2.0]]))[0] == pytest.approx(1)
    half = jensen_shannon(np.array([[1.0, 0.0]]), np.array([[1.0, 1.0]]))[0]
    assert half == pytest.approx(-0.75 * math.log2(0.75) - 0.25 * math.log2(0.25) - 0.5)


def test_the_tail_is_that_of_a_gamma_distribution() -> None:
    special = pytest.importorskip("scipy.special")
    values = np.random.default_rng(0).gamma(1.5, 2.0, 200_000)
    for level in (5.0, 10.0, 20.0):
        assert math.log(tail_of(values, level)) == pytest.approx(math.log(special.gammaincc(1.5, level / 2)), rel=0.05)
    assert tail_of(np.full(100, 0.2), 0.3) == pytest.approx(1 / 101)


def test_false_discoveries() -> None:
    stats = pytest.importorskip("scipy.stats")
    p = np.random.default_rng(0).random(50) ** 3
    assert adjusted(p) == pytest.approx(stats.false_discovery_control(p))
