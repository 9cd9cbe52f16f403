"""Merging duplicate senses and dropping unused ones: every part of a model follows, and it goes on working."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muse import MUSE, Callback, NotTrainedError, UnknownSenseError, UnknownWordError
from muse.model.hygiene import merged_rows, new_offset, pruned_rows, regrouped
from small_runs import CORPUS, StopAfter, file_of, train
from toy import toy_arrays

BOTH = pytest.mark.parametrize("collocation", ["word", "sense"])
HYGIENE = pytest.mark.parametrize("clean", [lambda m: m.merge_senses(0.3), lambda m: m.prune_senses(0.45)])


def with_duplicates(collocation: str = "sense") -> MUSE:
    """Words of 3, 1, 2 and 4 senses; head#0 and head#2, bank#1 and bank#3 are the same but for noise."""
    arrays = toy_arrays(senses=(3, 1, 2, 4), vector_size=20, seed=3)
    arrays.sense_vectors[2] = arrays.sense_vectors[0] + 0.01
    arrays.sense_vectors[9] = 2 * arrays.sense_vectors[7]
    arrays.sense_counts[:] = [30, 20, 10, 7, 5, 5, 1, 4, 0, 12]
    if collocation == "word":
        arrays.collocation_vectors = arrays.collocation_vectors[:4].copy()
    return MUSE.from_arrays(["head", "army", "cell", "bank"], arrays)


# -- merging -----------------------------------------------------------------------------------------------------------


@BOTH
def test_merging_joins_what_is_alike_and_leaves_the_rest(collocation):
    old, model = with_duplicates(collocation).arrays, with_duplicates(collocation)
    view = model.sv
    senses = model.merge_senses(0.9)
    assert senses.changed() == {("head", 2): ("head", 0), ("bank", 3): ("bank", 1)}
    new = model.arrays
    new.check()
    assert new.sense_offset.tolist() == [0, 2, 3, 5, 8]
    assert new.sense_counts.tolist() == [40, 20, 7, 5, 5, 1, 16, 0]
    np.testing.assert_allclose(new.sense_vectors[0], (30 * old.sense_vectors[0] + 10 * old.sense_vectors[2]) / 40,
                               rtol=1e-5)  # fmt: skip
    untouched = {1: 1, 2: 3, 3: 4, 4: 5, 5: 6, 7: 8}
    for after, before in untouched.items():
        np.testing.assert_array_equal(new.sense_vectors[after], old.sense_vectors[before])
        np.testing.assert_array_equal(new.selection_vectors[after], old.selection_vectors[before])
    np.testing.assert_array_equal(new.context_vectors, old.context_vectors)
    if collocation == "word":
        np.testing.assert_array_equal(new.collocation_vectors, old.collocation_vectors)
    else:
        np.testing.assert_allclose(
            new.collocation_vectors[6],
            (4 * old.collocation_vectors[7] + 12 * old.collocation_vectors[9]) / 16,
            rtol=1e-5,
        )
    assert len(view) == 8  # a view that was taken before follows
    np.testing.assert_array_equal(view["cell#1"], old.sense_vectors[5])
    np.testing.assert_allclose(model.sense_prior("head"), [2 / 3, 1 / 3], rtol=1e-6)
    np.testing.assert_allclose(model.wv["head"], model.sense_prior("head") @ model.sense_vectors("head"), rtol=1e-5)


def test_a_merged_row_of_the_selector_keeps_the_length_of_its_sources():
    old, model = with_duplicates().arrays, with_duplicates()
    model.merge_senses(0.9)
    lengths = np.linalg.norm(old.selection_vectors[[0, 2]], axis=1)
    merged = model.arrays.selection_vectors[0]
    assert np.linalg.norm(merged) == pytest.approx((30 * lengths[0] + 10 * lengths[1]) / 40, rel=1e-5)
    mean = 30 * old.selection_vectors[0] + 10 * old.selection_vectors[2]
    np.testing.assert_allclose(merged / np.linalg.norm(merged), mean / np.linalg.norm(mean), rtol=1e-4, atol=1e-6)


def test_the_ends_of_the_threshold():
    model = with_duplicates()
    before = model.arrays
    assert model.merge_senses(1.0).changed() == {("bank", 3): ("bank", 1)}  # the same direction: a cosine of 1
    assert model.merge_senses(1.0).changed() == {}
    assert before is not model.arrays
    assert model.merge_senses(-1).rows.tolist() == [0, 0, 0, 1, 2, 2, 3, 3, 3]
    assert [model.n_senses(word) for word in model.vocabulary] == [1, 1, 1, 1]
    assert model.disambiguate("the bank of cell head")[1].key == "bank#0"


@pytest.mark.parametrize(("cosine", "senses_left"), [(0.89, 2), (0.91, 1)])
def test_the_usual_threshold(cosine, senses_left):
    vectors = np.array([[1, 0], [cosine, np.sqrt(1 - cosine**2)], [0, 1], [0, 1]], np.float32)
    model = MUSE.from_arrays(["a", "b"], toy_arrays(senses=(2, 2), vector_size=2, sense_vectors=vectors))
    model.merge_senses()
    assert (model.n_senses("a"), model.n_senses("b")) == (senses_left, 1)


def test_nothing_to_do_leaves_the_arrays_alone():
    model = with_duplicates()
    model.prune_senses(0)
    before = model.arrays
    model.merge_senses(-1)
    one = model.arrays
    assert one is not before
    model.merge_senses(-1)
    model.prune_senses(1.0)
    assert model.arrays is one


def test_the_closest_pair_goes_first():
    """Merging in the order of the rows would join 0 and 1, whose mean is then far from 2."""
    arrays = toy_arrays(senses=(3,), vector_size=2)
    angles = np.deg2rad([0, 20, 30])
    arrays.sense_vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    arrays.sense_counts[:] = 1
    assert merged_rows(arrays, np.cos(np.deg2rad(21))).tolist() == [0, 1, 1]
    assert merged_rows(arrays, np.cos(np.deg2rad(26))).tolist() == [0, 0, 0]  # 0 against the mean, at 25 degrees


def test_senses_of_zeros_are_like_nothing():
    arrays = toy_arrays(senses=(2,))
    arrays.sense_vectors[:] = 0
    assert merged_rows(arrays, 0.5).tolist() == [0, 1]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=12), st.integers(0, 10_000), st.floats(-1, 1))
def test_any_merge_is_a_partition_within_words(senses, seed, threshold):
    arrays = toy_arrays(senses=tuple(senses), vector_size=3, seed=seed)
    rows = merged_rows(arrays, threshold)
    words = np.repeat(np.arange(len(senses)), senses)
    offset = new_offset(arrays.sense_offset, rows)
    assert set(rows) == set(range(offset[-1]))
    assert (np.searchsorted(offset, rows, side="right") - 1 == words).all()  # no sense changes its word
    new = regrouped(arrays, rows)
    new.check()
    assert new.sense_counts.sum() == arrays.sense_counts.sum()
    np.testing.assert_allclose(new.word_vectors(), arrays.word_vectors(), rtol=1e-3, atol=1e-4)


# -- pruning -----------------------------------------------------------------------------------------------------------


@BOTH
def test_pruning_drops_rare_senses(collocation):
    old, model = with_duplicates(collocation).arrays, with_duplicates(collocation)
    senses = model.prune_senses(min_prior=0.2, min_count=5)
    assert senses.changed() == {
        ("head", 2): None, ("bank", 0): None, ("bank", 1): None, ("bank", 2): None, ("bank", 3): ("bank", 0)
    }  # fmt: skip
    assert senses["head#2"] is None
    assert senses["bank#3"] == ("bank", 0)
    assert model.arrays.sense_counts.tolist() == [36, 24, 7, 5, 5, 17]  # shares as they were, of all uses
    np.testing.assert_array_equal(model.sense_vectors("bank"), old.sense_vectors[[9]])
    np.testing.assert_array_equal(model.arrays.selection_vectors, old.selection_vectors[senses.rows >= 0])
    model.arrays.check_fits(model.settings)


def test_the_most_used_sense_always_stays():
    model = with_duplicates()
    model.prune_senses(min_prior=1.0, min_count=1000)
    assert model.arrays.sense_counts.tolist() == [60, 7, 10, 17]
    unused = toy_arrays(senses=(3, 2), sense_counts=np.zeros(5, np.int64))
    assert pruned_rows(unused, 1.0, 1).tolist() == [0, -1, -1, 1, -1]


# -- the map -----------------------------------------------------------------------------------------------------------


def test_the_map_is_a_mapping_over_all_senses():
    model = with_duplicates()
    senses = model.merge_senses(0.9)
    assert len(senses) == 10
    assert list(senses)[:4] == [("head", 0), ("head", 1), ("head", 2), ("army", 0)]
    assert senses["head", 2] == senses["head#2"] == ("head", 0)
    assert dict(senses)["army", 0] == ("army", 0)
    assert repr(senses) == "<SenseMap: 10 senses became 8>"
    with pytest.raises(UnknownSenseError, match="'head' had 3 senses, and none 3"):
        senses["head#3"]
    with pytest.raises(UnknownWordError):
        senses["heed", 0]
    assert ("heed", 0) not in senses


# -- a model that was cleaned is a model like any other ----------------------------------------------------------------


@HYGIENE
@BOTH
def test_it_trains_on_saves_and_loads(collocation, clean, tmp_path):
    model = train(senses=3, init="random", collocation=collocation)
    n_words, before = len(model), model.arrays.n_senses
    clean(model)
    assert n_words <= model.arrays.n_senses < before
    model.save(tmp_path / "cleaned")
    again = MUSE.load(tmp_path / "cleaned", workers=1)
    for name, array in model.arrays.as_dict().items():
        np.testing.assert_array_equal(array, getattr(again.arrays, name))
    context = "the money in the bank".split()
    np.testing.assert_array_equal(
        again.sense_probabilities("bank", context), model.sense_probabilities("bank", context)
    )
    senses = model.arrays.n_senses
    model.train(CORPUS.sentences)
    again.train(CORPUS.sentences)
    assert file_of(model, tmp_path) == file_of(again, tmp_path)
    assert model.arrays.n_senses == senses  # it is not split again
    assert model.arrays.sense_counts.sum() == model.vocabulary.counts.sum()
    assert len(model.sv) == senses


@HYGIENE
def test_an_interrupted_training_is_resumed_with_the_senses_that_are_left(clean, tmp_path):
    model = train(epochs=4, callbacks=[StopAfter(3)])
    clean(model)
    model.save(tmp_path / "cleaned")
    again = MUSE.load(tmp_path / "cleaned", workers=1)
    senses = again.arrays.n_senses
    for each in (model, again):
        each.train(CORPUS.sentences, resume=True)
    assert len(again.history) == 4
    assert again.arrays.n_senses == senses
    assert file_of(model, tmp_path) == file_of(again, tmp_path)


@HYGIENE
def test_words_can_join_afterwards(clean, tmp_path):
    model = train()
    clean(model)
    kept = model.sense_vectors("bank")
    model.build_vocab([["novelty", "bank"]] * 5, update=True)
    np.testing.assert_array_equal(model.sense_vectors("bank"), kept)
    model.train(CORPUS.sentences)
    assert model.n_senses("novelty") == 1


@HYGIENE
def test_a_mapped_model_is_copied_and_its_file_stays(clean, tmp_path):
    train(senses=3, init="random").save(tmp_path / "model")
    bytes_before = (tmp_path / "model").read_bytes()
    mapped, loaded = MUSE.load(tmp_path / "model", mmap=True), MUSE.load(tmp_path / "model")
    assert dict(clean(mapped)) == dict(clean(loaded))
    for name, array in mapped.arrays.as_dict().items():
        np.testing.assert_array_equal(array, getattr(loaded.arrays, name))
    assert (tmp_path / "model").read_bytes() == bytes_before


def test_the_factorized_formulation_keeps_its_values(tmp_path):
    model = train(senses=3, init="random", formulation="factorized", selection_update="paper")
    values = model.arrays.forward_values.copy()
    model.merge_senses(-1)
    np.testing.assert_array_equal(model.arrays.forward_values, values)
    model.train(CORPUS.sentences)


def test_words_with_one_sense_are_left_alone():
    model = train(senses=1)
    before = model.arrays
    assert model.merge_senses(-1).changed() == {}
    assert model.prune_senses(1.0).changed() == {}
    assert model.arrays is before


def test_merging_cleans_a_split_that_made_too_many(tmp_path):
    """Three senses for words that have one: merging leaves fewer, and the selector still tells true senses apart."""
    model = train(senses=3, epochs=8, min_contexts=2)
    senses = model.merge_senses(0.5)
    assert len(set(senses.values())) == model.arrays.n_senses < len(senses)
    tagged = list(model.disambiguate_batch(CORPUS.sentences))
    chosen = np.concatenate(tagged)
    assert chosen.max() <= 2


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_bad_arguments():
    model = with_duplicates()
    with pytest.raises(ValueError, match="threshold must be a number from -1 to 1; got 2"):
        model.merge_senses(2)
    with pytest.raises(TypeError, match="threshold must be a number"):
        model.merge_senses("0.9")
    with pytest.raises(ValueError, match="min_prior must be a number from 0 to 1"):
        model.prune_senses(min_prior=-0.1)
    with pytest.raises(TypeError, match="min_count must be an integer"):
        model.prune_senses(min_count=0.5)
    with pytest.raises(NotTrainedError):
        MUSE().merge_senses()


@pytest.mark.parametrize("call", ["merge_senses", "prune_senses", "build_vocab", "build_vocab_from_freq"])
def test_training_does_not_lose_its_senses_in_a_callback(call):
    class Meddler(Callback):
        def on_epoch_end(self, model):
            getattr(model, call)(*([{"novelty": 9}] if call == "build_vocab_from_freq" else []))

    model = MUSE(epochs=2, min_count=1, vector_size=8, workers=1)
    model.build_vocab(CORPUS.sentences)
    with pytest.raises(RuntimeError, match=f"{call} cannot be called while the model is in training"):
        model.train(callbacks=[Meddler()])
    model.merge_senses()
