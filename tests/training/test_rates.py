"""Learning rates of one call of train, as gensim has them."""

from __future__ import annotations

import numpy as np
import pytest

from muse import MUSE
from small_runs import CORPUS, StopAfter, file_of, train

FEW = CORPUS.sentences[:60]


def moved(model: MUSE, **rates: float) -> tuple[float, float]:
    """How far training on a little text turns word vectors, and how far it moves Q."""
    words = list(model.vocabulary.words)
    before, selection = model.wv.get_normed_vectors(), model.arrays.selection_vectors.copy()
    model.train(FEW, epochs=2, **rates)
    after = model.wv.get_normed_vectors()
    assert list(model.vocabulary.words) == words
    return float(1 - (before * after).sum(axis=1).min()), float(
        np.abs(model.arrays.selection_vectors - selection).max()
    )


def test_a_second_training_can_be_gentler():
    full, gentle = moved(train()), moved(train(), start_alpha=0.0005)
    assert gentle[0] < 0.1 * full[0]
    assert gentle[1] < 0.1 * full[1]  # the rate of the selection module is as much lower
    assert moved(train(), start_alpha=0.025) == full


def test_history_records_them():
    model = train(epochs=3)
    assert model.history[0]["alpha"] == pytest.approx(0.025)
    assert model.history[-1]["end_alpha"] == pytest.approx(0.0001, rel=1e-3)
    model.train(FEW, epochs=2, start_alpha=0.01, end_alpha=0.002)
    rates = [(row["alpha"], row["end_alpha"]) for row in model.history[-2:]]
    np.testing.assert_allclose(rates, [(0.01, 0.006), (0.006, 0.002)], rtol=1e-5)
    model.train(FEW, epochs=1, start_alpha=0.00005)
    assert model.history[-1]["end_alpha"] == pytest.approx(0.00005)  # never above the first one
    assert model.settings.alpha == 0.025


def test_a_resumed_training_goes_on_with_them(tmp_path):
    rates = {"start_alpha": 0.01, "end_alpha": 0.005}
    whole, stopped = train(), train()
    whole.train(FEW, epochs=3, **rates)
    stopped.train(FEW, epochs=3, callbacks=[StopAfter(1)], **rates)
    stopped.save(tmp_path / "stopped")
    again = MUSE.load(tmp_path / "stopped", workers=1)
    with pytest.raises(ValueError, match="leave forget and the learning rates out"):
        again.train(FEW, resume=True, **rates)
    again.train(FEW, resume=True)
    assert file_of(again, tmp_path) == file_of(whole, tmp_path)


def test_bad_rates():
    model = train(epochs=1)
    with pytest.raises(ValueError, match=r"end_alpha \(0.02\) must not be above start_alpha \(0.01\)"):
        model.train(FEW, start_alpha=0.01, end_alpha=0.02)
    with pytest.raises(ValueError, match="start_alpha must be a number above 0"):
        model.train(FEW, start_alpha=0)
    with pytest.raises(TypeError, match="the learning rates of one call are start_alpha, as in gensim"):
        model.train(FEW, alpha=0.01)
