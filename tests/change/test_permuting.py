"""The permutation: calibrated whatever the frequencies, wary of documents that are full of a word."""

from __future__ import annotations

import math

import numpy as np
import pytest

from muse.change.permuting import _tail as tail_of
from muse.change.permuting import adjusted, jensen_shannon, permutation_verdict


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
