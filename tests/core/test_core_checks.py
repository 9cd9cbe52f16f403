"""What the extension refuses: arguments that would touch memory that is not theirs. Each once crashed or hung."""

import os
import time

import numpy as np
import pytest

import muse.training.whitening
from muse import MUSE, Split, _core
from muse.datasets import make_ambiguous_corpus
from toy import toy_model


def options(window=2, distance=()):
    made = _core.SelectionOptions()
    made.window, made.distance = window, list(distance)
    return made


def selection(**changed):
    words, senses = 4, 3
    given = {
        "context_vectors": np.ones((words, 8), np.float32),
        "selection_vectors": np.ones((words * senses, 8), np.float32),
        "sense_offset": np.arange(words + 1) * senses,
        "context_weights": np.empty(0, np.float32),
        "options": options(),
        "tokens": np.zeros(6, np.int32),
        "offsets": np.array([0, 6]),
        **changed,
    }
    return _core.select_senses(**given)


def test_selection_of_good_arguments():
    senses, probabilities = selection()
    assert senses.tolist() == [0] * 6
    assert probabilities == pytest.approx(1 / 3)


@pytest.mark.parametrize("window", [0, -1, -(2**31), 2**31 - 1])
def test_windows_out_of_range(window):
    with pytest.raises(ValueError, match="window must be at least 1"):
        selection(options=options(window))


def test_distance_weights_must_cover_the_window():
    with pytest.raises(ValueError, match="distance weights cover it"):
        selection(options=options(2**20, [1.0]))


@pytest.mark.parametrize("offsets", [[0, 10**7, 6, 9, 12], [0, 3, 0, 9, 12], [0, 3, 3, 9, 12], [0, 3, 6, 9, 13]])
def test_sense_offsets_must_rise(offsets):
    with pytest.raises(ValueError, match=r"at least one sense|do not fit together"):
        selection(sense_offset=np.array(offsets))


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan")])
def test_temperature_must_be_positive(temperature):
    with pytest.raises(ValueError, match="temperature must be above 0"):
        selection(temperature=temperature)


@pytest.mark.parametrize("changed", [{"restarts": 0}, {"iterations": -1}, {"min_contexts": 0}])
def test_the_split_needs_sensible_numbers(changed):
    corpus = _core.Corpus.from_arrays(np.zeros(100, np.int32), np.arange(0, 101, 10))
    split = _core.SplitOptions()
    for name, value in changed.items():
        setattr(split, name, value)
    offsets, places = _core.sample_occurrences(corpus, 1, 50, 1)
    with pytest.raises(ValueError, match="must be at least 1"):
        _core.split_senses(
            _core.aligned_zeros(1, 8), np.empty(0, np.float32), options(), corpus, offsets, places,
            np.array([3], np.int32), split, 1,
        )  # fmt: skip


def trainer(**changed):
    given = {
        "context_vectors": _core.aligned_zeros(2, 16),
        "selection_vectors": _core.aligned_zeros(2, 16),
        "sense_vectors": _core.aligned_zeros(2, 16),
        "collocation_vectors": _core.aligned_zeros(2, 16),
        "sense_offset": np.arange(3),
        "word_counts": np.array([5, 5]),
        "corpus": _core.Corpus.from_arrays(np.array([0, 1] * 5, np.int32), np.array([0, 10])),
        "options": _core.Options(),
        "sample": 0.0,
        "ns_exponent": 0.75,
        "context_weights": np.empty(0, np.float32),
        **changed,
    }
    return _core.Trainer(**given)


def test_training_needs_rows_of_its_own():
    assert trainer().num_batches == 1
    part_of_another = _core.aligned_zeros(2, 32)[:, 8:24]  # 32 bytes off, wherever the memory lies
    with pytest.raises(ValueError, match="aligned_zeros"):
        trainer(sense_vectors=part_of_another)


@pytest.mark.parametrize("name", ["negative", "group_size"])
def test_training_draws_a_bounded_number(name):
    made = _core.Options()
    setattr(made, name, 2**31 - 1)
    with pytest.raises(ValueError, match="out of range"):
        trainer(options=made)


def test_a_word_whose_contexts_are_all_alike_is_split_quickly():
    start = time.process_time()
    model = MUSE(
        [["a", "b", "c"]] * 1000,
        senses=100,
        recipe=Split(min_contexts=1),
        vector_size=16,
        min_count=1,
        epochs=2,
        workers=1,
    )
    assert model.n_senses("a") == 1
    assert time.process_time() - start < 60  # it took minutes: one number of senses was tried after another


def test_a_text_too_small_to_whiten_is_multiplied_by_nothing(monkeypatch):
    """With long vectors a product with the identity took minutes, in which nothing could be interrupted."""
    product, given = muse.training.whitening._product, []
    monkeypatch.setattr(
        muse.training.whitening, "_product", lambda rows, matrix: given.append(matrix) or product(rows, matrix)
    )
    sentences = make_ambiguous_corpus(60, 30, seed=0).sentences
    MUSE(sentences, vector_size=500, senses=2, min_count=2, recipe=Split(min_contexts=5), epochs=2, workers=1)
    assert given
    assert all(matrix is None for matrix in given)


def test_saving_never_replaces_what_is_not_a_file(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="not a regular file"):
        toy_model().save(pipe)
    assert pipe.is_fifo()


@pytest.mark.parametrize("word", [5, None])
def test_words_are_strings(word):
    with pytest.raises(KeyError) as raised:
        toy_model().sense_vectors(word)
    assert "words are strings" in str(raised.value)
