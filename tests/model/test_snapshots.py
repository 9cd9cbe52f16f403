"""A question looks once at what its model is, and what is derived from that is kept with it."""

from __future__ import annotations

import copy
import dataclasses
import gc
import inspect
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

from muse import MUSE, SenseVectors, Settings, Split, WordVectors
from muse.data.snapshot import Published, Snapshot
from muse.model.queries import SenseQueries
from toy import toy_arrays, toy_model

PAIRS = [("head", "army", 1.0), ("head", "the", 2.0), ("army", "the", 3.0)]
ABOUT_WORDS: dict[str, tuple[Any, ...]] = {
    "has_context": ("head", "the army"), "n_senses": ("head",), "sense_prior": ("head",), "sense_counts": ("head",),
    "sense_vectors": ("head", "the head"), "select_sense": ("head", "the head"),
    "sense_probabilities": ("head", "the head"), "sense_probabilities_batch": (["head"], ["the head"]),
    "similarity": ("head", "army", "the head"), "predict_collocates": ("head", "the head"),
    "describe": ("head", 8), "disambiguate": ("the head",), "disambiguate_batch": (["the head"],),
    "disambiguate_blocks": (["the head"],), "sentence_vector": ("the head",), "sense_numbers": ("head",),
    "sense_tree": ("head",), "tokenize": ("The head",), "sense_names": ("head",), "sense_key": ("head#1",),
    "forms": ("head",), "concordance": ("head", [["the", "head"]]), "collocates": ("head", [["the", "head"]]),
    "collocate_difference": ("head", "army", [["the", "head"]]),
}  # fmt: skip
OF_VECTORS = ("__contains__", "__getitem__", "__len__", "__repr__")


def about_vectors(one: str, two: str, three: str) -> dict[str, tuple[Any, ...]]:
    """Arguments for each question to vectors with these keys."""
    return {
        "__contains__": (one,), "__getitem__": (one,), "__len__": (), "__repr__": (), "index": (one,),
        "get_vecattr": (one, "count"), "get_vector": (one,), "get_normed_vectors": (), "get_index": (one, 0),
        "has_index_for": (one,), "similarity": (one, two), "doesnt_match": ([one, two, three],),
        "distance": (one, two), "distances": (one, [two, three]), "closer_than": (one, two), "rank": (one, two),
        "relative_cosine_similarity": (one, two), "get_mean_vector": ([one, two],), "n_similarity": ([one], [two]),
        "rank_by_centrality": ([one, two],), "most_similar_to_given": (one, [two, three]),
        "similar_by_key": (one,), "similar_by_vector": (np.ones(7, np.float32),), "most_similar": (one, two),
        "most_similar_batch": ([one, two],), "most_similar_cosmul": (one, two), "evaluate_word_pairs": (PAIRS,),
        "word_vec": (one,), "norms": (), "next_index": (),
        "expandos": (), "vectors": (), "vector_size": (), "index_to_key": (), "key_to_index": (),
    }  # fmt: skip


ABOUT_SENSES = {**about_vectors("head#0", "army#0", "the#0"), "neighbours_of": ("head",)}
ABOUT_WORD_VECTORS = {
    **about_vectors("head", "army", "the"), "similar_by_word": ("head",), "words_closer_than": ("head", "army"),
    "vectors_for_all": (["head", "army"],), "wmdistance": (["head"], ["army"]),
}  # fmt: skip
OF_NO_SNAPSHOT = {"fill_norms", "cosine_similarities", "log_accuracy", "log_evaluate_word_pairs"}
OF_ONES_OWN = {"set_vecattr", "unit_normalize_all", "init_sims", "sort_by_descending_frequency"}
WRITING = {
    "save_word2vec_format",
    "to_gensim",
    "evaluate_word_analogies",
    "save",
    "load",
    "empty",
    "add_vector",
    "add_vectors",
}  # given a file below


class Turning(Published):
    """Is another model each time that it is looked up."""

    def __init__(self, snapshots: list[Snapshot]) -> None:
        self.snapshots, self.looked_up = snapshots, 0

    @property
    def snapshot(self) -> Snapshot:
        self.looked_up += 1
        return self.snapshots[self.looked_up % len(self.snapshots)]


@pytest.fixture
def turning() -> Turning:
    words = ("head", "army", "the", "bank", "e", "f", "g", "h", "i")
    return Turning([toy_model(words=words, seed=seed).snapshot for seed in (0, 5)])


def asked(thing: Any, name: str, arguments: tuple[Any, ...]) -> None:
    """Ask, and read the answer to its end."""
    found = getattr(thing, name)
    answer = found(*arguments) if callable(found) else found
    if inspect.isgenerator(answer):
        list(answer)


def public(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind) if not name.startswith("_") or name in OF_VECTORS}


@pytest.mark.parametrize("name", ABOUT_WORDS)
def test_a_question_to_a_model_looks_once(turning, name):
    model = SenseQueries(turning.snapshots[0])
    model._published = turning
    asked(model, name, ABOUT_WORDS[name])
    assert turning.looked_up == 1


@pytest.mark.parametrize(
    ("kind", "name"),
    [*((SenseVectors, name) for name in ABOUT_SENSES), *((WordVectors, n) for n in ABOUT_WORD_VECTORS)],
)
def test_a_question_to_vectors_looks_once(turning, kind, name):
    if name in ("evaluate_word_pairs", "wmdistance"):
        pytest.importorskip("scipy")
    asked(kind(turning), name, (ABOUT_SENSES if kind is SenseVectors else ABOUT_WORD_VECTORS)[name])
    assert turning.looked_up == 1


def test_what_writes_or_reads_files_looks_once(turning, tmp_path):
    (tmp_path / "analogies").write_text("head army the head\n")
    asked(WordVectors(turning), "evaluate_word_analogies", (tmp_path / "analogies",))
    asked(SenseVectors(turning), "save_word2vec_format", (tmp_path / "out",))
    assert turning.looked_up == 2


def test_all_questions_are_asked_here():
    parts = {"snapshot", "settings", "vocabulary", "arrays", "is_trained", "sv", "wv", "selector"}
    of_trees = {
        "usage_vector",
        "usage_vector_batch",
        "usage_similarity",
        "has_usage_vectors",
        "sense_temperature",
        "link_wordnet",
        "plot_senses",
        "plot_tree",
    }  # see test_sense_trees_of_models.py, and tests/plots
    assert public(SenseQueries) - {*parts, *of_trees, *OF_VECTORS} == ABOUT_WORDS.keys()
    assert public(SenseVectors) - WRITING - OF_NO_SNAPSHOT == ABOUT_SENSES.keys()
    assert public(WordVectors) - WRITING - OF_NO_SNAPSHOT - OF_ONES_OWN == ABOUT_WORD_VECTORS.keys()


def test_a_snapshot_stays_when_the_model_changes():
    model = toy_model({"min_count": 1})
    before = model.snapshot
    words, vectors = list(before.vocabulary), before.arrays.sense_vectors.copy()
    model.build_vocab([["novel"]], update=True)
    model.merge_senses(-1)
    assert list(before.vocabulary) == words
    np.testing.assert_array_equal(before.arrays.sense_vectors, vectors)
    assert SenseQueries(before).n_senses("head") > model.n_senses("head") == 1


def test_the_counts_of_a_snapshot_stay_when_training_goes_on():
    model = MUSE([["a", "b", "c"]] * 50, vector_size=4, min_count=1, epochs=1, workers=1, recipe=Split())
    before = model.snapshot
    counts = before.arrays.sense_counts.copy()
    model.train([["a"]] * 500, epochs=1)
    assert before.arrays.sense_vectors is model.arrays.sense_vectors  # in place
    model.build_vocab([["a"]] * 500, update=True)
    model.train(epochs=1)
    assert (model.arrays.sense_counts != counts).any()
    np.testing.assert_array_equal(before.arrays.sense_counts, counts)


def test_what_is_derived_is_kept_with_its_snapshot_and_nowhere_else():
    snapshot = toy_model().snapshot
    other = snapshot.replace()
    assert snapshot.once("number", lambda: 7) == snapshot.once("number", lambda: 8) == 7
    assert (snapshot.made("number"), other.made("number")) == (7, None)
    assert copy.deepcopy(snapshot).made("number") is None
    with pytest.raises(dataclasses.FrozenInstanceError):
        snapshot.numbers = None


def test_publishing_what_does_not_fit_is_refused_and_changes_nothing():
    model = toy_model()
    before = model.snapshot
    with pytest.raises(ValueError, match="the vocabulary has 9 words, and the arrays are for 2"):
        model.publish(before.replace(numbers=toy_arrays(senses=(1, 2))))
    assert model.snapshot is before
    assert Snapshot(Settings()).check() is None  # an empty model


def test_views_that_are_pickled_are_those_of_that_moment():
    model = toy_model({"trim_rule": lambda *_: 0})
    sent = pickle.loads(pickle.dumps(model.sv))
    near = model.sv.most_similar("head#0")
    model.set_arrays(toy_arrays(seed=5))
    assert sent.most_similar("head#0") == near != model.sv.most_similar("head#0")


def test_the_views_of_a_copy_follow_the_copy():
    model = toy_model()
    copies = [copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    near = model.sv.most_similar("head#0")
    model.set_arrays(toy_arrays(seed=5))
    for other in copies:
        assert other.sv.most_similar("head#0") == near
        other.set_arrays(toy_arrays(seed=5))
        assert other.sv.most_similar("head#0") == model.sv.most_similar("head#0")


def test_a_model_that_nobody_holds_is_gone_at_once():
    model = toy_model()
    model.sv.most_similar("head#0")
    model.select_sense("head", "the head")
    gone = weakref.ref(model)
    gc.disable()
    try:
        del model
        assert gone() is None  # no circle keeps its arrays until the next collection
    finally:
        gc.enable()


def test_the_class_tree_of_a_model_is_two_deep():
    assert MUSE.__mro__ == (MUSE, SenseQueries, object)
