"""Models that were trained apart: rotations that are known are found, senses get their partners or none."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

import muse
from muse import MUSE
from muse.change import align
from muse.datasets import make_ambiguous_corpus

pytest.importorskip("scipy")
CORPUS = make_ambiguous_corpus(5000, 300, seed=0, n_senses=2)


@pytest.fixture(scope="module")
def model() -> MUSE:
    return MUSE(CORPUS.sentences, vector_size=16, senses=2, seed=1, workers=1)


def turned(model: MUSE, order: bool = False) -> tuple[MUSE, np.ndarray]:
    """The model in a rotated space."""
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(16, 16)))[0].astype(np.float32)
    arrays = model.arrays
    vectors = np.ascontiguousarray(arrays.sense_vectors @ rotation)
    return MUSE.from_arrays(
        model.vocabulary, dataclasses.replace(arrays, sense_vectors=vectors), model.settings,
        forest=model.snapshot.forest,
    ), rotation  # fmt: skip


def test_a_rotation_is_found(model: MUSE) -> None:
    other, rotation = turned(model)
    alignment = align(model, other)
    assert np.abs(alignment.rotation - rotation).max() < 1e-4
    assert alignment.similarity("bank") == pytest.approx(1, abs=1e-5)
    matches = alignment.senses("bank")
    assert [match.first for match in matches] == [match.second for match in matches]
    assert sum(match.share for match in matches) == pytest.approx(1)
    assert all(row["stable"] == pytest.approx(1) for row in alignment.stability())


def test_senses_without_partner(model: MUSE) -> None:
    other, _ = turned(model)
    alignment = align(model, other)
    matches = alignment.senses("bank", least=1.0)
    firsts = [match.first for match in matches if match.first]
    assert firsts == [f"bank#{number}" for number in model.sense_numbers("bank")]
    one = MUSE(CORPUS.sentences, vector_size=16, senses={"bank": 1}, seed=1, workers=1)
    matches = align(model, one).senses("bank", least=-1.0)
    assert sorted(match.second is None for match in matches) == [False, True]
    matches = align(one, model).senses("bank", least=-1.0)
    assert sorted(match.first is None for match in matches) == [False, True]


def test_seeds_agree_on_uses(model: MUSE) -> None:
    other = MUSE(CORPUS.sentences, vector_size=16, senses=2, seed=2, workers=1)
    alignment = align(model, other, text=CORPUS.sentences)
    words = list(CORPUS.ambiguous_words)
    table = alignment.stability(words)
    assert len(table) == len(words)
    assert np.mean([row["stable"] for row in table]) > 0.7
    plain = align(model, other).stability(words)
    assert np.mean([row["similarity"] or 0 for row in plain]) > 0.2
    assert len(align(model, other).stability(most=3)) == 3


def test_other_dimensions(model: MUSE) -> None:
    small = MUSE(CORPUS.sentences, vector_size=8, senses=2, seed=1, workers=1)
    assert align(model, small).rotation.shape == (16, 8)
    assert np.mean([align(small, model).similarity(word) for word in CORPUS.ambiguous_words]) > 0.5


def test_what_cannot_be_aligned(model: MUSE) -> None:
    strange = MUSE([["un", "known"]] * 20, vector_size=16, min_count=1, workers=1)
    with pytest.raises(ValueError, match="fewer than two words"):
        align(model, strange)
    with pytest.raises(TypeError, match=r"model_b must be a muse\.MUSE"):
        align(model, "model")  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        align(model, model).senses("unheard")
    with pytest.raises(ValueError, match="anchors"):
        align(model, model, anchors=1)


def test_it_is_imported_when_asked_for() -> None:
    program = "import sys, muse; assert 'muse.change' not in sys.modules; assert muse.align is muse.change.align"
    subprocess.run([sys.executable, "-c", program], check=True)
    with pytest.raises(AttributeError, match="no attribute 'aline'"):
        muse.aline  # noqa: B018
