"""Settings as attributes of a model, which gensim's scripts read and set: setting one works or is an error."""

from __future__ import annotations

import copy
import pickle

import pytest

import muse
from muse import MUSE, Callback, Settings
from muse.data.settings import constructor_settings
from small_runs import CORPUS, file_of, train
from toy import toy_model

RUNTIME = {"workers": 2, "progress": True, "device": "auto", "max_ram": 1 << 20, "checkpoint_every": 1000,
           "device_storage": "bfloat16", "checkpoint_dir": "folder",
           "trim_rule": lambda word, count, least: 0}  # fmt: skip


@pytest.mark.parametrize("name", [*(sorted(set(Settings.homes()) - {"alpha", "min_alpha"})), "iter", "size"])
def test_every_setting_can_be_set_or_says_what_to_do(name):
    model = toy_model()
    before = model.settings
    if name in RUNTIME:
        setattr(model, name, RUNTIME[name])
        assert getattr(model.settings, name) == RUNTIME[name]
        assert model.settings.to_json() == before.to_json()  # nothing else
        return
    with pytest.raises(AttributeError, match=rf"^{name} .* give (it to|train\()"):
        setattr(model, name, 3)
    assert model.settings is before
    assert name not in vars(model)


def test_rates_of_trainings_to_come_can_be_set(tmp_path, caplog):
    model = train(epochs=1)
    assert model.min_alpha_yet_reached == min(row["end_alpha"] for row in model.history) < model.alpha
    with caplog.at_level("INFO"):
        for _ in range(3):  # the loop of many a script for gensim
            model.alpha -= 0.008
            model.min_alpha = model.alpha
            model.train(CORPUS.sentences, epochs=1)
    assert "Effective 'alpha' higher than previous training cycles" in caplog.text
    rates = [(row["alpha"], row["end_alpha"]) for row in model.history if row["stage"] != "trees"][-3:]
    assert rates == [(pytest.approx(rate, abs=1e-6),) * 2 for rate in (0.017, 0.009, 0.001)]
    model.alpha = 0.0005
    assert model.min_alpha == 0.0005  # not above it
    model.save(tmp_path / "model")
    again = MUSE.load(tmp_path / "model")
    assert (again.alpha, again.min_alpha) == (0.0005, 0.0005)
    model.min_alpha = "constant"
    assert model.min_alpha is None
    for name, value, error in (("alpha", 0, ValueError), ("alpha", "much", TypeError), ("min_alpha", 1.0, ValueError)):
        with pytest.raises(error, match="alpha"):
            setattr(model, name, value)
    assert model.alpha == 0.0005


def test_the_rate_of_the_selector_keeps_its_proportion():
    model = MUSE(recipe=muse.Split(), alpha=0.02)
    before = model.settings.selection_alpha
    model.alpha = 0.01
    assert model.settings.selection_alpha == before / 2


@pytest.mark.parametrize("name", [n for n in constructor_settings() if n in dir(MUSE)])
def test_settings_can_be_read(name):
    model = toy_model()
    assert getattr(model, name) == getattr(model.settings, name)


def test_what_gensim_lets_read_is_there():
    model = MUSE(window=3, alpha=0.05, workers=2, seed=9, sample=0, min_count=2)
    assert (model.window, model.alpha, model.workers, model.seed, model.sample, model.min_count) == (
        3,
        0.05,
        2,
        9,
        0,
        2,
    )
    names = (
        "epochs ns_exponent max_vocab_size max_final_vocab sorted_vocab shrink_windows vector_size negative min_alpha"
    )
    assert set(names.split()) <= set(dir(model))


def test_what_says_how_to_run_takes_effect(tmp_path):
    model = train(epochs=1)
    model.workers = 3
    assert model.selector.workers == 3
    model.workers = 1
    model.checkpoint_dir = tmp_path / "folder"
    model.train(CORPUS.sentences, epochs=1)
    assert (tmp_path / "folder" / "checkpoint.safetensors").exists()
    with pytest.raises(TypeError, match="workers must be an integer"):
        model.workers = "many"
    assert model.workers == 1


def test_not_in_the_middle_of_a_training():
    class Set(Callback):
        def on_epoch_end(self, model):
            model.workers = 2

    with pytest.raises(RuntimeError, match="cannot be called while the model is in training"):
        train(callbacks=[Set()])


def test_attributes_of_the_users_own_stay(tmp_path):
    model = toy_model()
    model.losses, model.stop_training = [1.0], True
    again = pickle.loads(pickle.dumps(copy.copy(model)))
    assert again.losses == [1.0]
    assert file_of(model, tmp_path)
    with pytest.raises(AttributeError):
        model.wv = None
