"""Spearman's correlation and its bootstrap intervals, against scipy's."""

import re
import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muse.evaluation import bootstrap_spearman, spearman
from muse.evaluation.stats import _resampled, correlate, require


def test_spearman_by_hand_with_ties_and_constants():
    assert spearman([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(1 - 6 * 2 / (4 * 15))
    assert spearman([1, 1, 2], [5, 6, 7]) == pytest.approx(np.corrcoef([1.5, 1.5, 3], [1, 2, 3])[0, 1])
    assert spearman([1, 1, 1], [1, 2, 3]) == 0
    for wrong, message in (([1], "at least 2"), ([1, 2, 3], "equally long"), ([1, np.nan], "NaN or infinity")):
        with pytest.raises(ValueError, match=message):
            spearman(wrong, [1, 2] if len(wrong) != 1 else [1])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=3, max_size=20))
def test_spearman_agrees_with_scipy(pairs):
    x, y = zip(*pairs, strict=True)
    if len(set(x)) > 1 and len(set(y)) > 1:
        assert spearman(x, y) == pytest.approx(require("scipy.stats").spearmanr(x, y).statistic)


def test_bootstrap_is_seeded_and_covers():
    generator = np.random.default_rng(0)
    x = generator.normal(size=200)
    y = x + generator.normal(size=200)
    low, high = bootstrap_spearman(x, y, seed=3)
    assert low < spearman(x, y) < high
    assert (low, high) == bootstrap_spearman(x, y, seed=3) != bootstrap_spearman(x, y, seed=4)
    wide = bootstrap_spearman(x, y, seed=3, confidence=0.99)
    assert wide[0] < low < high < wide[1]
    # Fisher's approximate standard error of a rank correlation.
    assert high - low == pytest.approx(2 * 1.96 * (1 - spearman(x, y) ** 2) * 1.03 / np.sqrt(200), rel=0.3)
    with pytest.raises(ValueError, match="confidence"):
        bootstrap_spearman(x, y, confidence=1.5)
    with pytest.raises(ValueError, match="resamples"):
        bootstrap_spearman(x, y, resamples=0)


def test_bootstrap_leaves_out_samples_that_rank_nothing():
    assert bootstrap_spearman([1, 2], [1, 2], resamples=20) == (1, 1)  # those of one pair twice
    with pytest.raises(ValueError, match="none of 20 samples ranks anything: one list of scores is constant"):
        bootstrap_spearman([1, 2], [3, 3], resamples=20)
    # All 256 samples of four pairs, and 20,000 drawn ones: the same correlations, about as often.
    stats = pytest.importorskip("scipy.stats")
    x, y = np.array([1.0, 2, 3, 3]), np.array([1.0, 3, 2, 4])
    chosen = [np.array(places) for places in product(range(4), repeat=4)]
    every = [stats.spearmanr(x[i], y[i]).statistic for i in chosen if len(set(x[i])) > 1 and len(set(y[i])) > 1]
    drawn = _resampled(x, y, 20_000, 0)
    assert len(drawn) / 20_000 == pytest.approx(len(every) / 256, abs=0.01)
    for value in set(np.round(every, 9)):
        assert np.mean(np.isclose(drawn, value)) == pytest.approx(np.mean(np.isclose(every, value)), abs=0.01)


@pytest.mark.filterwarnings("ignore")  # of scipy, about the constant samples
def test_bootstrap_is_that_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    generator = np.random.default_rng(1)
    x, y = generator.normal(size=9), np.array([0.0, 0, 0, 0, 0, 0, 1, 1, 2])  # 4 samples in 100 are constant
    found = stats.bootstrap(
        (x, y), lambda a, b: stats.spearmanr(a, b).statistic, paired=True, vectorized=False, n_resamples=3000,
        method="percentile", random_state=generator,
    )  # fmt: skip
    ranked = found.bootstrap_distribution[np.isfinite(found.bootstrap_distribution)]
    assert len(ranked) < 3000
    assert bootstrap_spearman(x, y, resamples=3000) == pytest.approx(np.quantile(ranked, [0.025, 0.975]), abs=0.05)


def test_intervals_of_few_pairs_are_noted():
    options = {"resamples": 1000, "confidence": 0.95, "seed": 0}
    notes: list[str] = []
    assert correlate("a", [1, 2], [2, 3], options, notes) == {"rho": 1.0, "low": None, "high": None, "pairs": 2}
    row = correlate("b", [1, 2, 3], [1, 3, 2], options, notes)
    assert row["low"] == -1
    assert row["high"] == 1
    assert correlate("c", [1, 1, 1], [1, 3, 2], options, notes)["low"] is None
    assert correlate("d", list(range(30)), list(range(30)), options, notes)["low"] == 1
    assert [note.partition(":")[0] for note in notes] == ["a", "b", "c"]
    assert notes[0] == "a: two pairs have no interval"
    assert re.fullmatch(
        r"b: 1\d\d of 1000 samples of the 3 pairs are constant and left out of the interval.*", notes[1]
    )


def test_bootstrap_ranks_each_sample_as_scipy_does():
    generator = np.random.default_rng(1)
    x, y = generator.integers(0, 9, size=(2, 30)).astype(float)  # with ties
    chosen = np.random.default_rng(5).integers(0, 30, size=(50, 30))
    expected = [require("scipy.stats").spearmanr(x[rows], y[rows]).statistic for rows in chosen]
    found = bootstrap_spearman(x, y, resamples=50, seed=5, confidence=0.9)
    assert found == pytest.approx(tuple(np.quantile(expected, [0.05, 0.95])))


def test_missing_scipy_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.metrics", None)
    with pytest.raises(ImportError, match=r"scikit-learn.*muse-senses\[eval\]"):
        require("sklearn.metrics")
