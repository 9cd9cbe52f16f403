"""Searches of many queries together."""

from __future__ import annotations

import numpy as np
import pytest

from muse import _core


@pytest.mark.parametrize("workers", [1, 3])
def test_a_batch_finds_the_best_rows_wherever_they_are(workers):
    """Blocks without a score above the worst hit are skipped: rows that rise, ties, masks and what is no number."""
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(9001, 24)).astype(np.float32) * np.linspace(0.1, 3, 9001, dtype=np.float32)[:, None]
    matrix[8000:8200] = matrix[100]  # the same scores in many blocks
    matrix[5000, 3], matrix[5100, 2] = np.nan, np.inf
    queries = rng.normal(size=(70, 24)).astype(np.float32)
    queries[5] = matrix[100]
    scale, mask = rng.random(9001).astype(np.float32), (rng.random(9001) < 0.7).astype(np.uint8)
    mask[8195:] = 1
    rows, scores = _core.top_k(matrix, queries, 30, scale=scale, mask=mask, workers=workers)
    with np.errstate(invalid="ignore"):
        expected = (queries.astype(np.float64) @ matrix.T) * scale
    expected[:, mask == 0] = -np.inf
    expected[np.isnan(expected)] = -np.inf
    np.testing.assert_allclose(scores, -np.sort(-expected, axis=1)[:, :30], rtol=1e-4, atol=1e-4)
    assert (mask[rows] == 1).all()
    scale[:], scale[8000:8200], scale[100] = 0.01 * scale, 1.0, 1.0
    ties, _ = _core.top_k(matrix[:, :2].copy(), queries[:, :2].copy(), 150, scale=scale, workers=workers)
    assert any(found[:150] == [100, *range(8000, 8149)] for found in ties.tolist())
