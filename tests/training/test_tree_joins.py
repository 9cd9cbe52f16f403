"""How clusters are joined two by two, checked against the twin."""

from __future__ import annotations

import numpy as np
import pytest

import reference_trees as twin
from muse import _core


def test_clusters_at_the_same_place_are_joined_first_and_at_no_distance():
    centroids = np.eye(4, 9, dtype=np.float32)[[0, 1, 2, 1]]
    centroids[2] = 0  # a cluster of contexts in which nothing stands
    parts, strengths = _core.join_all(centroids, np.array([5, 2, 7, 3]), 0.3)
    assert parts.tolist()[0] == [1, 3]
    assert strengths[0] == pytest.approx(0, abs=1e-6)
    assert np.isfinite(strengths).all()
    assert (strengths >= 0).all()


@pytest.mark.parametrize("leaves", [2, 5, 12, 60])
@pytest.mark.parametrize("power", [0.0, 0.3])
def test_joins_are_those_of_the_twin(leaves, power):
    rng = np.random.default_rng(leaves)
    centroids = twin.unit(rng.normal(size=(leaves, 9))).astype(np.float32)
    counts = rng.integers(1, 200, leaves)
    parts, strengths = _core.join_all(centroids, counts, power)
    expected = twin.joins(centroids, counts.tolist(), power)
    assert parts.tolist() == [[a, b] for a, b, _ in expected]
    np.testing.assert_allclose(strengths, [strength for _, _, strength in expected], rtol=1e-5)
