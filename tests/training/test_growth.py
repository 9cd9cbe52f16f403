"""Vocabularies that grow, and the rules by which words stay: old rows keep their values, training goes on."""

from __future__ import annotations

import numpy as np
import pytest

from muse import MUSE, InsufficientMemoryError, NotTrainedError, Paper
from muse.corpus.encoding import RULE_DEFAULT, RULE_DISCARD, RULE_KEEP
from small_runs import CORPUS, StopAfter, file_of, train

NEW = [["novelty", "bank", "money", "gizmo"]] * 6


@pytest.mark.parametrize(
    "options",
    [{}, {"init": "random", "senses": 3}, {"init": "random", "collocation": "sense", "formulation": "factorized"}],
    ids=["split", "random", "factorized"],
)
def test_old_rows_keep_their_values_and_new_ones_learn(options, tmp_path):
    model = train(**options)
    before = {name: array.copy() for name, array in model.arrays.as_dict().items()}
    model.build_vocab(NEW, update=True)
    after = model.arrays.as_dict()
    for name, array in before.items():
        if name not in ("word_counts", "sense_counts"):
            np.testing.assert_array_equal(after[name][: len(array)], array)
    assert (np.add.reduceat(after["sense_counts"], after["sense_offset"][:-1]) == after["word_counts"]).all()
    assert model.arrays.n_words == len(before["word_counts"]) + 2
    assert model.vocabulary.counts[model.vocabulary["bank"]] == before["word_counts"][model.vocabulary["bank"]] + 6
    model.save(tmp_path / "grown")
    again = MUSE.load(tmp_path / "grown", workers=1)
    start = model.sense_vectors("novelty")
    model.train()
    assert not np.array_equal(model.sense_vectors("novelty"), start)
    again.train(NEW)
    assert file_of(again, tmp_path) == file_of(model, tmp_path)
    assert model.disambiguate("novelty bank")[0].sense == 0 or options


@pytest.mark.parametrize("epochs", [1, 3])  # in the warm start, and after the split
def test_an_interrupted_training_can_be_resumed_after_growth(epochs, tmp_path):
    model = train(epochs=4, callbacks=[StopAfter(epochs)])
    state = dict(model.training_state)
    vector = model.sense_vectors("bank")
    model.build_vocab(NEW, update=True)
    np.testing.assert_array_equal(model.sense_vectors("bank"), vector)
    assert {**model.training_state, "corpus": None} == {**state, "corpus": None}
    model.save(tmp_path / "grown")
    one, other = (MUSE.load(tmp_path / "grown", workers=1) for _ in range(2))
    for each in (one, other):
        each.train(CORPUS.sentences, resume=True)
        assert [row["epoch"] for row in each.history] == [1, 2, 3, 4]
    assert file_of(one, tmp_path) == file_of(other, tmp_path)


def test_growth_by_counts_alone():
    model = train()
    before = model.sense_vectors("bank")
    model.build_vocab_from_freq({"novelty": 7, "bank": 2, "rare": 1}, update=True)
    assert "novelty" in model
    assert "rare" not in model  # min_count=2
    np.testing.assert_array_equal(model.sense_vectors("bank"), before)
    model.train(NEW)


def test_growing_a_mapped_model(tmp_path):
    train().save(tmp_path / "model")
    content = (tmp_path / "model").read_bytes()
    model = MUSE.load(tmp_path / "model", mmap=True, workers=1)
    model.build_vocab(NEW, update=True)
    model.train()
    assert (tmp_path / "model").read_bytes() == content


def test_words_are_known_before_training_as_in_gensim():
    model = MUSE(min_count=1, vector_size=4)
    model.build_vocab([["a", "rose", "is", "a", "rose"]])
    assert len(model.wv) == 3
    assert "rose" in model.wv
    assert model.wv.key_to_index == {"a": 0, "rose": 1, "is": 2}
    assert model.wv.get_vecattr("rose", "count") == 2
    with pytest.raises(NotTrainedError, match="words but no vectors yet; call train"):
        model.wv["rose"]
    model.build_vocab([["thorn"]], update=True)
    assert "thorn" in model.wv
    view = model.wv
    model.train([["a", "rose"]] * 20)
    assert view["rose"].shape == (4,)


def test_gensims_names_of_arguments():
    model = MUSE(min_count=1, vector_size=4, workers=1)
    text = [["a", "rose", "is", "a", "rose"]] * 5
    model.build_vocab(corpus_iterable=text, progress_per=1000, keep_raw_vocab=False)
    model.train(corpus_iterable=text, total_examples=model.corpus_count, epochs=1)
    with pytest.raises(TypeError, match="'window' is not an argument of build_vocab; settings are given to MUSE"):
        MUSE().build_vocab(text, window=5)
    with pytest.raises(ValueError, match="corpus_iterable is another name of sentences; give one of them"):
        model.train(text, corpus_iterable=text)


def rule(word, count, min_count):
    return {"keep": RULE_KEEP, "drop": RULE_DISCARD}.get(word, RULE_DEFAULT)


TEXT = [["keep", "drop", "drop", "drop", "often", "often", "seldom"]]


def test_trim_rule_as_a_setting_or_an_argument():
    by_setting, by_argument = MUSE(min_count=2, trim_rule=rule), MUSE(min_count=2)
    by_setting.build_vocab(TEXT)
    by_argument.build_vocab(TEXT, trim_rule=rule)
    assert list(by_setting.vocabulary) == list(by_argument.vocabulary) == ["often", "keep"]
    counts = {"keep": 1, "drop": 3, "often": 2, "seldom": 1}
    for given in ({"trim_rule": rule}, {}):
        model = MUSE(min_count=2, trim_rule=rule)
        model.build_vocab_from_freq(counts, **given)
        assert list(model.vocabulary) == ["often", "keep"]


def test_max_final_vocab_raises_min_count():
    model = MUSE(min_count=1, max_final_vocab=2)
    model.build_vocab(TEXT)
    assert list(model.vocabulary) == ["drop", "often"]
    assert model.vocabulary.effective_min_count == 2
    model.build_vocab([["more", "more", "less"]], update=True)
    assert list(model.vocabulary) == ["drop", "often", "more", "less"]  # the limit is on each set of new words


def test_counts_come_from_a_table():
    model = MUSE(min_count=2, vector_size=4, workers=1)
    model.build_vocab_from_freq({"a": 5, "b": np.int64(3), "c": 1}, corpus_count=4)
    assert (model.corpus_count, model.corpus_total_words) == (4, 9)
    model.train([["a", "b", "c"]] * 5)
    assert model.sense_vectors("a").shape[1] == 4


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        ({}, ValueError, "word_freq is empty"),
        ({"a": 1.5}, TypeError, "must be an integer; got 1.5"),
        ({"a": True}, TypeError, "must be an integer; got True"),
        ({3: 4}, TypeError, "must be strings; got 3"),
        ({"a": -1}, ValueError, "must not be negative"),
        ({"a": 1}, ValueError, "no word occurs min_count=5 times"),
    ],
)
def test_bad_tables(table, error, message):
    with pytest.raises(error, match=message):
        MUSE().build_vocab_from_freq(table)


def test_senses_of_single_words_go_with_the_split():
    """A dict says how many senses each word may get; the split makes them where there are uses enough."""
    model = train(senses={"bank": 2, "money": 1, "rock": 3})
    assert 1 <= model.n_senses("bank") <= 2
    assert model.n_senses("money") == 1
    assert model.n_senses("rock") <= 3
    others = [model.n_senses(word) for word in model.vocabulary if word not in ("bank", "rock")]
    assert set(others) == {1}
    random = train(senses={"bank": 2, "rock": 3}, init="random")
    assert (random.n_senses("bank"), random.n_senses("rock"), random.n_senses("money")) == (2, 3, 1)


def test_memory_is_estimated_before_it_is_taken(monkeypatch):
    model = MUSE(vector_size=100, senses=3, recipe=Paper(), min_count=1)
    estimate = model.estimate_memory(1000)
    assert estimate["sense_vectors"] == 3000 * 112 * 4  # rows are padded to 16 floats
    assert estimate["total"] == sum(size for name, size in estimate.items() if name != "total")
    model.build_vocab([["a", "b"]])
    assert model.estimate_memory()["sense_vectors"] == 2 * 3 * 112 * 4
    model.train([["a", "b"]])
    assert model.estimate_memory()["sense_vectors"] == model.arrays.sense_vectors.strides[0] * model.arrays.n_senses
    monkeypatch.setattr("muse.data.memory.available_memory", lambda: (32 << 20) + 100)  # enough to read
    with pytest.raises(InsufficientMemoryError, match=r"training needs about .* for 4 words"):
        model.build_vocab([["c", "d"]], update=True)
    assert len(model) == 2  # as it was


def test_an_update_that_fails_leaves_no_other_text(monkeypatch):
    model = MUSE(vector_size=8, min_count=1, recipe=Paper(), workers=1)
    model.build_vocab([["a", "b"]] * 5)
    model.train()
    monkeypatch.setattr("muse.data.memory.available_memory", lambda: (32 << 20) + 100)
    with pytest.raises(InsufficientMemoryError):
        model.build_vocab([["c", "d"]] * 5, update=True)
    with pytest.raises(ValueError, match="there is no text to train on"):
        model.train()
