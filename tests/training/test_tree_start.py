"""Senses that start from sense trees and are trained on: `Split(start="trees")` and `Paper(start="trees")`."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

import muse.training.growing
import muse.training.run
import muse.training.tree_start
from muse import MUSE, Callback, Engine, Paper, Settings, Split
from muse.base.numeric import unit_rows
from muse.base.progress import progress_bar
from muse.datasets import make_ambiguous_corpus
from muse.evaluation.clustering import v_measure
from muse.training.schedule import schedule
from muse.training.trees import grow_trees
from small_runs import file_of, kept_checkpoints

CORPUS = make_ambiguous_corpus(1200, 200, seed=0)
START = muse.training.tree_start.arrays_from_trees
ENGINE = Engine(batch_tokens=4096)
SMALL = {"vector_size": 12, "workers": 1, "seed": 3, "min_count": 2, "epochs": 3}


def train(recipe=None, **options) -> MUSE:
    return MUSE(CORPUS.sentences, **{**SMALL, "recipe": recipe or Split(start="trees", engine=ENGINE), **options})


class Starts(Callback):
    """Keeps the arrays with which the first epoch of senses begins."""

    def __init__(self) -> None:
        self.words = self.arrays = None

    def on_epoch_begin(self, model):
        arrays = model.snapshot.arrays
        if arrays.n_senses == arrays.n_words:
            return
        if self.arrays is None:
            self.arrays = {name: np.copy(value) for name, value in arrays.as_dict().items()}

    def on_epoch_end(self, model):
        if model.history[-1]["stage"] == "words":
            self.words = np.copy(model.arrays.sense_vectors)


# -- how it starts -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def started():
    """What grows, and the arrays that the first epoch of senses begins with."""
    grown, starts = [], Starts()

    def grow(*arguments):
        grown.append(grow_trees(*arguments))
        return grown[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(muse.training.tree_start, "grow_trees", grow)
        train(senses=3, callbacks=[starts])
    return grown[0], starts


def test_senses_are_those_of_the_cut_and_lie_where_it_says(started):
    grown, starts = started
    trees = dataclasses.replace(grown.trees, default_senses=grown.trees.senses_of(3))
    cut = trees.cut()
    assert (
        np.diff(cut.counts)[np.diff(np.repeat(np.arange(trees.n_words), np.diff(cut.sense_offset))) == 0] <= 0
    ).all()
    np.testing.assert_array_equal(starts.arrays["sense_offset"], cut.sense_offset)
    assert len(cut.counts) > len(starts.words)
    words = np.repeat(starts.words, np.diff(cut.sense_offset), axis=0)
    expected = words + np.float32(grown.trees.shrinkage) * cut.shifts
    np.testing.assert_allclose(starts.arrays["sense_vectors"], expected, rtol=1e-6, atol=1e-7)
    assert np.abs(starts.arrays["sense_vectors"] - words).max() > 0.01


def test_what_the_selector_starts_from_tells_the_senses_of_the_cut_apart(started):
    _, starts = started
    offset, selection = starts.arrays["sense_offset"], starts.arrays["selection_vectors"][:, :-1]
    several = np.repeat(np.diff(offset) > 1, np.diff(offset))
    np.testing.assert_allclose(np.linalg.norm(selection[several], axis=1), 1, rtol=1e-5)
    assert not selection[~several].any()
    shares = starts.arrays["selection_vectors"][several, -1]
    assert (shares < 0).all()  # logarithms
    between = [
        unit_rows(selection[first:last]) @ unit_rows(selection[first:last]).T
        for first, last in pairwise(offset)
        if last - first > 1
    ]
    assert max(float(cosines[np.triu_indices(len(cosines), 1)].max()) for cosines in between) < 0.999


def test_every_part_is_shown_and_epochs_end_as_often_as_there_are(monkeypatch):
    bars, ends = [], []

    def made(*, total, desc, unit, show, initial=0):
        bars.append((desc, total, progress_bar(total=total, desc=desc, unit=unit, show=False, initial=initial)))
        return bars[-1][2]

    class Counts(Callback):
        def on_epoch_end(self, model):
            ends.append(model.history[-1]["stage"])

    monkeypatch.setattr(muse.training.growing, "progress_bar", made)
    train(callbacks=[Counts()])
    parts = ["encoder", "whitening", "trees", "vectors", "calibration", "cut", "selector", "senses"]
    assert [desc for desc, _, _ in bars] == parts
    assert all(bar.n == total > 0 for _, total, bar in bars)
    assert sorted(set(ends)) == ["senses", "words"]
    assert len(ends) == len(schedule(Settings.of(**SMALL, recipe=Split(start="trees", engine=ENGINE)), 3, warm=True))


def test_threads_give_the_same(monkeypatch):
    monkeypatch.setattr(muse.training.tree_start, "grow_trees", lambda *given: grow_trees(*given[:3], 1))
    monkeypatch.setattr(muse.training.tree_start, "_BLOCK_USES", 300)
    found = []
    for workers in (1, 4):
        monkeypatch.setattr(muse.training.run, "arrays_from_trees", lambda *given, n=workers: START(*given[:-1], n))
        starts = Starts()
        train(callbacks=[starts])
        found.append(starts.arrays)
    for name, array in found[0].items():
        np.testing.assert_array_equal(array, found[1][name])


def test_a_sense_without_uses_starts_at_the_nearest(monkeypatch, started):
    monkeypatch.setattr(muse.training.tree_start, "_GIVEN", 5)  # too few for all senses
    starts = Starts()
    train(senses=6, callbacks=[starts])
    offset, selection = starts.arrays["sense_offset"], starts.arrays["selection_vectors"][:, :-1]
    several = np.repeat(np.diff(offset) > 1, np.diff(offset))
    np.testing.assert_allclose(np.linalg.norm(selection[several], axis=1), 1, rtol=1e-5)
    assert np.isfinite(starts.arrays["selection_vectors"]).all()


def test_it_finds_what_words_mean():
    corpus = make_ambiguous_corpus(3000, 300, seed=1)
    model = MUSE(corpus.sentences, vector_size=24, senses=2, workers=1, seed=1, recipe=Split(start="trees"))
    selected = list(model.disambiguate_batch(corpus.sentences))
    scores = []
    for places in corpus.occurrences().values():
        truth = [sense for _, _, sense in places]
        scores.append(v_measure(truth, [int(selected[sentence][position]) for sentence, position, _ in places])[2])
    assert np.mean(scores) > 0.5  # random senses get 0, as does one sense


@pytest.mark.parametrize("senses", ["auto", {"nothing": 2}, 1])
def test_numbers_of_senses(senses):
    model = train(senses=senses)
    several = model.arrays.n_senses > len(model)
    assert several == (senses == "auto")


def test_a_text_without_trees_has_one_sense_a_word():
    model = MUSE([["a", "b", "c"]] * 9, vector_size=4, min_count=1, epochs=2, workers=1, senses=3, sample=0,
                 recipe=Split(start="trees"))  # fmt: skip
    assert model.arrays.n_senses == len(model) == 3
    assert np.isfinite(model.arrays.sense_vectors).all()


# -- the schedule ------------------------------------------------------------------------------------------------------


def stages(epochs, recipe):
    settings = Settings.of(recipe=recipe)
    return [stage.words for stage in schedule(settings, epochs, warm=True)]


def test_words_may_have_all_epochs_but_one():
    assert stages(5, Split(start="trees", warmup_epochs=4)) == [True] * 4 + [False]
    assert stages(5, Split(start="trees", warmup_epochs=99)) == [True] * 4 + [False]
    assert stages(5, Split(warmup_epochs=4)) == [True] * 3 + [False] * 2
    assert stages(5, Paper(start="trees")) == [True] * 3 + [False] * 2
    assert stages(2, Split(start="trees")) == [True, False]
    assert stages(1, Split(start="trees")) == [True, False]  # halves


RECIPES = [
    Split(start="trees", engine=ENGINE),
    Split(start="trees", selection_update="paper", formulation="two_sided", engine=ENGINE),
    Paper(start="trees", engine=ENGINE),
]


@pytest.mark.parametrize("recipe", RECIPES, ids=["split", "two_sided", "paper"])
def test_killed_anywhere_and_resumed_is_never_stopped(recipe, tmp_path, monkeypatch):
    never_stopped = file_of(train(recipe, epochs=2, senses=2), tmp_path)
    with kept_checkpoints(tmp_path, monkeypatch) as copies:
        checkpointed = train(recipe, epochs=2, senses=2, checkpoint_dir=tmp_path / "folder", checkpoint_every=1)
    assert file_of(checkpointed, tmp_path) == never_stopped
    assert [row["stage"] for row in checkpointed.history] == ["words", "senses"]
    split = 0
    for copy in copies:
        model = MUSE.load(copy, workers=1)
        split += model.arrays.n_senses > len(model)
        model.train(CORPUS.sentences, resume=True)
        assert file_of(model, tmp_path) == never_stopped
    assert 0 < split < len(copies)


# -- the model that is made --------------------------------------------------------------------------------------------


def test_the_model_is_one_of_trained_senses(tmp_path):
    model = train(senses=3)
    assert model.snapshot.forest is None
    with pytest.raises(ValueError, match="needs sense trees"):
        model.recut(senses=2)
    model.save(tmp_path / "model")
    loaded = MUSE.load(tmp_path / "model")
    assert loaded.settings.recipe == Split(start="trees", engine=ENGINE)
    np.testing.assert_array_equal(loaded.arrays.sense_vectors, model.arrays.sense_vectors)
    loaded.train(CORPUS.sentences[:50], epochs=1)  # goes on with the senses that there are
    assert loaded.arrays.n_senses == model.arrays.n_senses
    loaded.build_vocab([["unheard-of", "word"]] * 3, update=True)
    loaded.train([["unheard-of", "word", "unheard-of"]] * 20, epochs=1)
    assert loaded.n_senses("unheard-of") == 1


def test_settings_of_before_are_stored_as_before():
    assert "start" not in Settings.of(recipe=Split()).to_json()
    assert Settings.of(recipe=Split(start="trees")).to_json()["start"] == "trees"
    assert Settings.of(recipe=Paper(start="trees")).whitening == Settings.of(recipe=Split()).whitening
    assert Settings.of(recipe=Paper(start="trees"), senses="auto").senses == "auto"


def test_memory_is_that_of_both():
    asked = {"vector_size": 100, "senses": 3}
    both = MUSE(recipe=Split(start="trees"), **asked).estimate_memory(10_000)
    trees, split = MUSE(**asked).estimate_memory(10_000), MUSE(recipe=Split(), **asked).estimate_memory(10_000)
    assert both["trees"] > trees["trees"]
    assert both["split"] == split["split"]
    assert both["sense_vectors"] == trees["sense_vectors"] < split["sense_vectors"]  # rare words have no trees
    assert both["selection_vectors"] < trees["selection_vectors"]  # which see the order, too
