"""Arrays of a model: their initial values, growth, padding and what is derived from them."""

from __future__ import annotations

import numpy as np
import pytest

from muse import MUSE, Engine, Paper, Settings, Split, Vocabulary
from muse.data.memory import estimate_memory
from muse.training.initial import grown_arrays, initial_arrays
from toy import WORDS, toy_arrays, toy_model


def test_estimate_memory_counts_the_copies_of_rows_that_threads_make():
    def copies(workers, group_size):
        settings = Settings.of(vector_size=100, workers=workers, recipe=Split(engine=Engine(group_size=group_size)))
        return estimate_memory(settings, 200_000, 200_000).get("row_copies")

    assert copies(2, 1) == 2 * 2 * 32 << 20
    assert copies(64, 1) == 1 << 30
    assert copies(1, 1) is copies(2, 16) is None


def test_estimate_memory_counts_padded_rows():
    model = MUSE(vector_size=17, senses=2, recipe=Paper(selection_size=16, collocation="word"))
    sizes = model.estimate_memory(vocab_size=1000)
    assert sizes["context_vectors"] == 1000 * 16 * 4
    assert sizes["sense_vectors"] == 2000 * 32 * 4
    assert sizes["total"] == sum(size for name, size in sizes.items() if name != "total")
    assert toy_model().estimate_memory()["sense_vectors"] == 13 * 16 * 4


def test_initial_arrays():
    settings = Settings(init="random", vector_size=48, selection_size=12, initial_scale=0.5, seed=3)
    senses, counts = np.full(2000, 2), np.arange(2000)
    arrays = initial_arrays(settings, senses, counts)
    arrays.check()
    assert not arrays.selection_vectors.any()
    assert not arrays.collocation_vectors.any()
    assert np.abs(arrays.context_vectors).max() <= np.sqrt(3 / 12)
    assert np.square(arrays.context_vectors).sum(axis=1).mean() == pytest.approx(1.0, abs=0.02)
    assert np.square(arrays.sense_vectors).sum(axis=1).mean() == pytest.approx(0.25, abs=0.01)
    again = initial_arrays(settings, senses, counts)
    assert (again.sense_vectors == arrays.sense_vectors).all()
    assert (initial_arrays(settings.replace(seed=4), senses, counts).sense_vectors != arrays.sense_vectors).any()
    # Pinned: a model must start from the same numbers on every machine and with every numpy.
    np.testing.assert_array_equal(arrays.context_vectors[0, :3], np.float32([0.434282, -0.42083853, -0.11717206]))
    word_level = initial_arrays(settings.replace(collocation="word"), senses, counts)
    assert word_level.collocation_vectors.shape == (2000, 48)
    factorized = initial_arrays(settings.replace(formulation="factorized"), senses, counts)
    assert factorized.forward_values.shape == factorized.backward_values.shape == (2000, 12)


def test_grown_arrays_keep_old_rows():
    settings = Settings(init="random", vector_size=7, selection_size=5, senses=2, collocation="sense")
    old = toy_arrays()
    vocabulary = Vocabulary([*WORDS, "novel", "newer"], np.append(old.word_counts, [4, 5]))
    grown = grown_arrays(old, vocabulary, settings)
    grown.check()
    assert grown.n_senses == old.n_senses + 4
    for name, array in old.as_dict().items():
        if name not in ("word_counts", "sense_counts"):
            np.testing.assert_array_equal(getattr(grown, name)[: len(array)], array)
    assert grown.sense_vectors[-1].any()
    assert (grown.word_counts[-2:] == [4, 5]).all()
    assert (np.add.reduceat(grown.sense_counts, grown.sense_offset[:-1]) == grown.word_counts).all()
    assert grown.sense_counts[-4:].tolist() == [2, 2, 3, 2]
    np.testing.assert_allclose(grown.priors()[: old.n_senses], old.priors(), atol=0.02)


def test_for_training_pads_and_copies_only_where_needed():
    given = toy_arrays()
    padded = given.for_training()
    for name, array in given.as_dict().items():
        np.testing.assert_array_equal(getattr(padded, name), array)
    assert padded.sense_vectors.strides == (64, 4)
    again = padded.for_training()
    assert again.sense_vectors is padded.sense_vectors
    # A slice of a wider array has the right strides, but rubbish where zeros must be.
    wide = np.ones((13, 16), np.float32)
    sliced = toy_arrays(sense_vectors=wide[:, :7]).for_training().sense_vectors
    assert sliced.base is not wide
    assert not np.lib.stride_tricks.as_strided(sliced, (12, 16))[:, 7:].any()


def test_word_vectors_in_blocks(monkeypatch):
    arrays = toy_arrays()
    whole = arrays.word_vectors()
    monkeypatch.setattr("muse.data.arrays._BLOCK_WORDS", 2)
    np.testing.assert_array_equal(arrays.word_vectors(), whole)
    for word in range(arrays.n_words):
        np.testing.assert_allclose(whole[word], arrays.word_vector(word), rtol=1e-5, atol=1e-6)
