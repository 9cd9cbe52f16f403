"""Counts of senses belong to all text seen: whatever becomes of a training, they add up to those of their words."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muse import MUSE, Callback
from muse.data.counts import apportioned, with_text
from small_runs import CORPUS, file_of, train

AMBIGUOUS = next(iter(CORPUS.ambiguous_words))
OTHER = [[word for word in sentence if word != AMBIGUOUS] for sentence in CORPUS.sentences[:40]]
KINDS = pytest.mark.parametrize("options", [{}, {"init": "random"}], ids=["split", "random"])


def assert_adds_up(model: MUSE) -> None:
    arrays = model.arrays
    np.testing.assert_array_equal(np.add.reduceat(arrays.sense_counts, arrays.sense_offset[:-1]), arrays.word_counts)
    np.testing.assert_array_equal(arrays.word_counts, model.vocabulary.counts)


class Stop(Callback):
    """Ends a training after some epochs: by a callback, by an error, or by Ctrl-C."""

    def __init__(self, epochs: int, how: str) -> None:
        self.epochs, self.how = epochs, how

    def on_epoch_end(self, model: MUSE) -> None:
        self.epochs -= 1
        if self.epochs == 0:
            if self.how == "callback":
                model.stop_training = True
            elif self.how == "error":
                raise OSError("of a callback")
            else:
                raise KeyboardInterrupt


class Watch(Callback):
    def on_epoch_begin(self, model: MUSE) -> None:
        assert_adds_up(model)

    on_epoch_end = on_train_begin = on_train_end = on_epoch_begin


@KINDS
def test_they_add_up_at_all_times(options):
    model = train(epochs=4, callbacks=[Watch()], **options)
    assert_adds_up(model)
    model.build_vocab(OTHER, update=True)
    assert_adds_up(model)
    model.train(epochs=1)
    assert_adds_up(model)
    model.train([[AMBIGUOUS, "unheard"]] * 5, epochs=1)
    assert_adds_up(model)
    model.prune_senses(min_prior=0.2)
    assert_adds_up(model)
    model.merge_senses(0.0)
    assert_adds_up(model)


@KINDS
@pytest.mark.parametrize("how", ["callback", "error", "Ctrl-C"])
@pytest.mark.parametrize("epochs", [1, 3])
def test_a_second_training_that_is_stopped_forgets_nothing(options, how, epochs):
    model = train(epochs=4, **options)
    shares = {word: model.sense_prior(word) for word in model.vocabulary.words if model.n_senses(word) > 1}
    with contextlib.suppress(OSError, KeyboardInterrupt):
        model.train(OTHER, epochs=4, callbacks=[Stop(epochs, how)])
    assert_adds_up(model)
    np.testing.assert_array_equal(model.sense_prior(AMBIGUOUS), shares[AMBIGUOUS])  # not in the text
    seen = {word for sentence in OTHER for word in sentence}
    for word, before in shares.items():
        count = model.vocabulary.counts[model.vocabulary[word]]
        part = sum(sentence.count(word) for sentence in OTHER) / count
        assert abs(model.sense_prior(word) - before).max() <= (part + 1 / count if word in seen else 0)


@KINDS
def test_words_that_new_text_lacks_keep_their_shares_and_vectors(options):
    model = train(**options)
    before = model.sense_prior(AMBIGUOUS), model.wv[AMBIGUOUS]
    model.build_vocab(OTHER, update=True)
    model.train()
    for old, new in zip(before, (model.sense_prior(AMBIGUOUS), model.wv[AMBIGUOUS]), strict=True):
        assert np.abs(new - old).max() < (1e-6 if old.sum() < 1.1 and len(old) < 5 else 0.2)
    kept = model.arrays.n_senses
    used = int((model.arrays.sense_counts > 0).sum())
    model.prune_senses(min_prior=0.0, min_count=1)
    assert model.arrays.n_senses >= used
    assert model.arrays.n_senses <= kept


def test_the_same_text_again_is_counted_once():
    once = train(init="random")
    counts = once.arrays.sense_counts.copy()
    once.train(CORPUS.sentences, epochs=1)
    again = once.arrays.sense_counts
    assert_adds_up(once)
    selector = once.selector
    expected = np.zeros(len(again), np.int64)
    for sentence in CORPUS.sentences:
        ids = np.array([once.vocabulary.get(word) for word in sentence], np.int32)
        ids = ids[ids >= 0]
        senses = selector.choose(ids, np.array([0, len(ids)]))
        np.add.at(expected, once.arrays.sense_offset[ids] + senses, 1)
    assert (again != counts).any()
    np.testing.assert_array_equal(again, expected)


def test_old_text_may_fade():
    shares = {}
    for forget in (0.0, 0.5, 1.0):
        model = train()
        several = [w for w in model.vocabulary.words if model.n_senses(w) > 1]
        word = max(several, key=lambda w: model.sense_counts(w).min())
        context = next(s for s in CORPUS.sentences if word in s and model.select_sense(word, s) == 1)
        before = model.sense_prior(word)[1]
        model.train([context] * (model.sense_counts(word).sum() // 4), epochs=1, start_alpha=1e-9, forget=forget)
        shares[forget] = model.sense_prior(word)[1]
    assert before < shares[0.0] < shares[0.5] < shares[1.0] == 1.0
    with pytest.raises(ValueError, match="forget must be a number from 0 to 1"):
        model.train(CORPUS.sentences, forget=2)


@KINDS
@pytest.mark.parametrize("grown", [False, True])
def test_checkpoints_in_mid_epoch(options, grown, tmp_path):
    """Their counts add up too, and a second training that goes on from them ends as one that was never stopped."""

    class Keep(Callback):
        def on_epoch_begin(self, model):
            if len(model.history) == 7:
                (tmp_path / "checkpoint.safetensors").replace(tmp_path / "kept")

    model = train(epochs=4, **options)
    model.save(tmp_path / "first")
    model = MUSE.load(tmp_path / "first", workers=1, checkpoint_dir=tmp_path, checkpoint_every=3000, callbacks=[Keep()])
    text = [*CORPUS.sentences[100:400], ["novel", AMBIGUOUS]] * 2
    if grown:
        model.build_vocab(text, update=True)
        model.train()
    else:
        model.train(text, forget=0.25)
    stopped = MUSE.load(tmp_path / "kept", workers=1)
    assert stopped.training_state["batch"] > 0
    assert_adds_up(stopped)
    stopped.train(text, resume=True)
    assert file_of(stopped, tmp_path) == file_of(model, tmp_path)


@given(
    st.lists(st.lists(st.integers(0, 10**6), min_size=1, max_size=5), min_size=1, max_size=6),
    st.lists(st.integers(0, 10**12), min_size=6, max_size=6),
)
def test_shares_of_whole_numbers(words, totals):
    offset = np.concatenate(([0], np.cumsum([len(word) for word in words]))).astype(np.int64)
    weights, wanted = np.array([share for word in words for share in word]), np.array(totals[: len(words)])
    counts = apportioned(weights, wanted, offset)
    assert (np.add.reduceat(counts, offset[:-1]) == wanted).all()
    assert (counts >= 0).all()
    for i, word in enumerate(words):
        shares = np.array(word if sum(word) else [1] * len(word))
        exact = wanted[i] * shares / shares.sum()
        assert np.abs(counts[offset[i] : offset[i + 1]] - exact).max() <= 1 + 1e-9 * wanted[i]


def test_numbers_beyond_those_that_floats_hold():
    counts = apportioned(np.array([1, 3, 7]), np.array([2**61 + 1]), np.array([0, 3]))
    assert counts.sum() == 2**61 + 1
    assert (counts > 0).all()


def test_words_that_were_never_counted():
    counts = with_text(*map(np.array, ([0, 0], [3, 1], [4], [0], [0, 2])))
    assert counts.tolist() == [3, 1]
