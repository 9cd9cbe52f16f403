"""Files that earlier versions saved must load for ever: ``tests/data`` gains files, none is ever made anew.

``model-0.1.0`` and ``checkpoint-0.1.0`` were saved before files had checksums, those with ``-checksums`` after.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from muse import MUSE
from muse.datasets import make_ambiguous_corpus

DATA = Path(__file__).parents[1] / "data"
EXPECTED = json.loads((DATA / "expected.json").read_text(encoding="utf-8"))
MODELS = sorted(DATA.glob("model-*.safetensors"))
CHECKPOINTS = sorted(DATA.glob("checkpoint-*.safetensors"))


def test_there_are_files_of_each_kind():
    assert len(MODELS) >= 2
    assert len(CHECKPOINTS) >= 2


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_models_load_and_say_what_they_said(path, mmap, tmp_path):
    model = MUSE.load(path, mmap=mmap)
    assert list(model.vocabulary.words) == EXPECTED["words"]
    np.testing.assert_array_equal(model.arrays.sense_offset, EXPECTED["sense_offset"])
    np.testing.assert_array_equal(model.arrays.word_counts, EXPECTED["word_counts"])
    np.testing.assert_allclose(model.sv["bank#0"], EXPECTED["bank#0"], atol=1e-6)
    for name, array in model.arrays.as_dict().items():
        assert float(array.astype(np.float64).sum()) == pytest.approx(EXPECTED["sums"][name], abs=1e-3)
    probabilities = model.sense_probabilities("bank", EXPECTED["context"])
    np.testing.assert_allclose(probabilities, EXPECTED["probabilities"], atol=1e-4)
    assert model.settings.window == EXPECTED["window"]
    assert [row["loss"] for row in model.history] == pytest.approx(EXPECTED["losses"], abs=1e-4)
    model.save(tmp_path / "again")
    assert list(MUSE.load(tmp_path / "again").vocabulary.words) == EXPECTED["words"]


@pytest.mark.parametrize("path", CHECKPOINTS, ids=lambda path: path.stem)
def test_checkpoints_are_resumed(path):
    """In the middle of the second epoch of three, after the split."""
    model = MUSE.load(path, workers=1)
    assert (model.training_state["stage"], model.training_state["batch"]) == (1, 4)
    model.train(make_ambiguous_corpus(300, 24, seed=0).sentences, resume=True)
    assert [row["epoch"] for row in model.history] == [1, 2, 3]
    assert [row["tokens"] for row in model.history] == [4641] * 3
    model.arrays.check_finite()
    assert model.sense_probabilities("bank", EXPECTED["context"]).sum() == pytest.approx(1)


def test_a_trained_model_can_be_trained_further():
    model = MUSE.load(MODELS[0], workers=1)
    model.train(make_ambiguous_corpus(300, 24, seed=0).sentences, epochs=1)
    assert len(model.history) == 4
