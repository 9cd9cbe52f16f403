"""What sense trees measure on the text itself."""

from __future__ import annotations

import numpy as np
import pytest

import reference_trees as twin
from muse import _core
from muse.data.arrays import Arrays
from muse.training.tree_calibration import (
    agreeing_part,
    matching_temperature,
    measure_auto_strength,
    node_offsets,
)
from muse.training.trees import Grown, TreeSettings, grow_trees
from small_runs import cut_of


@pytest.mark.parametrize("temperature", [0.05, 0.15, 0.4])
def test_the_temperature_is_that_which_made_the_truth(temperature):
    rng = np.random.default_rng(0)
    margins = [rng.normal(0, 0.3, 4000).astype(np.float32) for _ in range(30)]
    truth = [rng.random(4000) < 1 / (1 + np.exp(-margin / temperature)) for margin in margins]
    assert matching_temperature(margins, truth) == pytest.approx(temperature, rel=0.05)
    swapped = [~second if i % 2 else second for i, second in enumerate(truth)]  # senses have no names
    assert matching_temperature(margins, swapped) == pytest.approx(temperature, rel=0.05)


def test_without_pools_there_is_no_temperature():
    assert matching_temperature([], []) is None


@pytest.mark.parametrize("noise", [0.5, 1.0, 2.0])
def test_the_shrinkage_is_the_part_of_a_half_that_is_no_chance(noise):
    rng = np.random.default_rng(1)
    signal = rng.normal(size=(3000, 10))
    ones, others = (signal + noise * rng.normal(size=signal.shape) for _ in range(2))
    assert agreeing_part(ones, others) == pytest.approx(1 / (1 + noise**2), rel=0.05)


def test_the_shrinkage_lies_between_a_tenth_and_one():
    ones = np.ones((3, 2))
    assert agreeing_part(ones, 5 * ones) == 1.0
    assert agreeing_part(ones, -ones) == pytest.approx(0.1)
    assert agreeing_part(0 * ones, ones) is None


def test_offsets_of_nodes_are_those_of_means_and_small_nodes_have_none():
    rng = np.random.default_rng(2)
    first, second = rng.normal(size=(2, 40, 6)).astype(np.float32)
    chosen = np.array([0] * 20 + [1] * 18 + [2] * 2)
    found = node_offsets(first, second, chosen)
    assert len(found) == 2
    for sense, (one, other) in enumerate(found):
        np.testing.assert_allclose(one, first[chosen == sense].mean(axis=0) - first.mean(axis=0), atol=1e-6)
        np.testing.assert_allclose(other, second[chosen == sense].mean(axis=0) - second.mean(axis=0), atol=1e-6)


class Text:
    """90 words with 210 uses each; of the words near one `purity` are of 8 own ones, or 4 of each of two kinds."""

    def __init__(self, purity: float = 1.0, *, kinds: bool = False, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        own, words, uses = 90, 90 + 90 * 8, 210
        centre = rng.permutation(np.repeat(np.arange(own), uses))
        kind = rng.integers(0, 2, len(centre))
        near = (
            own
            + 8 * centre[:, None]
            + (
                4 * kind[:, None] + rng.integers(0, 4, (len(centre), 6))
                if kinds
                else rng.integers(0, 8, (len(centre), 6))
            )
        )
        near = np.where(rng.random(near.shape) < purity, near, rng.integers(own, words, near.shape))
        tokens = np.concatenate((near[:, :3], centre[:, None], near[:, 3:]), axis=1).ravel().astype(np.int32)
        self.corpus = _core.Corpus.from_arrays(tokens, np.arange(0, len(tokens) + 1, 7))
        counts = np.bincount(tokens, minlength=words)
        vectors = _core.aligned_zeros(words, 24)
        vectors[:] = rng.normal(size=(words, 24))
        self.arrays = Arrays(
            context_vectors=np.zeros((words, 24), np.float32),
            selection_vectors=np.zeros((words, 24), np.float32),
            sense_vectors=vectors,
            collocation_vectors=vectors.copy(),
            sense_offset=np.arange(words + 1),
            sense_counts=counts,
            word_counts=counts,
        )

    def grow(self, **settings) -> Grown:
        return grow_trees(self.arrays, self.corpus, TreeSettings(topic_window=8, sample=0.01, **settings))


@pytest.fixture(scope="module")
def pure() -> Text:
    return Text()


@pytest.fixture(scope="module")
def grown(pure) -> Grown:
    return pure.grow()


def test_clear_contexts_make_sure_answers(grown):
    assert 0 < grown.space.temperature < Text(0.3).grow().space.temperature < 1


def test_senses_that_both_halves_of_contexts_tell_are_trusted(grown):
    two = Text(kinds=True).grow()
    assert two.trees.shrinkage > 0.45
    assert grown.trees.shrinkage < 0.3


def test_a_seed_gives_one_result(pure, grown):
    again = pure.grow()
    for name in ("auto_strength", "shrinkage"):
        assert getattr(again.trees, name) == getattr(grown.trees, name)
    assert again.space.temperature == grown.space.temperature
    np.testing.assert_array_equal(cut_of(again, pure.arrays).sense_vectors, cut_of(grown, pure.arrays).sense_vectors)


def test_what_settings_say_is_not_measured(pure):
    grown = pure.grow(temperature=0.3, shrinkage=0.7, auto_strength=0.2)
    assert (grown.space.temperature, grown.trees.shrinkage, grown.trees.auto_strength) == (0.3, 0.7, 0.2)
    arrays = cut_of(grown, pure.arrays)
    rows = arrays.rows_of(0)
    shifts = grown.trees.cut().shifts[rows]
    np.testing.assert_allclose(arrays.sense_vectors[rows], pure.arrays.sense_vectors[0] + 0.7 * shifts, atol=1e-5)


def test_the_strength_is_a_quantile_of_the_roots(pure, grown):
    trees, counts = grown.trees, pure.arrays.word_counts
    roots = []
    for word in np.flatnonzero((counts >= 200) & (counts <= 6000) & (trees.n_leaves > 0)):
        centroids, tree = trees.node_centroids(word), trees.tree(int(word))
        one, other = tree.nodes[tree.root].parts
        smaller = min(tree.nodes[one].share, tree.nodes[other].share)
        roots.append(tree.nodes[tree.root].strength * (2 * smaller) ** (0.15 - 0.3))
        assert 0 < tree.nodes[tree.root].strength < (1 - centroids[one] @ centroids[other]) * (2 * smaller) ** 0.3 + 0.1
    assert len(roots) >= 90
    assert trees.auto_strength == pytest.approx(np.quantile(roots, 0.65), abs=1e-6)
    assert measure_auto_strength(trees, np.minimum(counts, 150)) is None
    split = trees.senses_of("auto")[(counts >= 200) & (counts <= 6000)] > 1
    assert 0.25 < split.mean() < 0.45


def test_small_texts_take_what_others_had():
    text = Text()
    small = _core.Corpus.from_arrays(text.corpus.tokens[:7000].copy(), text.corpus.offsets[:1001].copy())
    grown = grow_trees(text.arrays, small, TreeSettings(topic_window=8, sample=0.01))
    assert (grown.space.temperature, grown.trees.shrinkage, grown.trees.auto_strength) == (0.15, 0.6, 0.5)


def test_halves_of_contexts_take_every_other_word(pure, grown):
    from muse.training.tree_calibration import _half

    place = 7 * 11 + 3
    sentence = pure.corpus.tokens[7 * 11 : 7 * 12].tolist()
    space = twin.Space(
        grown.space.topic_vectors.astype(np.float64), grown.space.topic_weights.astype(np.float64), 8, 0.5
    )
    for parity in (0, 1):
        kept = [i for i in range(7) if i == 3 or abs(i - 3) % 2 == parity]
        total = sum(space.weights[sentence[i]] * abs(i - 3) ** -0.5 for i in kept if i != 3)
        mean = sum(space.weights[sentence[i]] * abs(i - 3) ** -0.5 * space.topic[sentence[i]] for i in kept if i != 3)
        found = _half(grown.space, parity).raw(pure.corpus, np.array([place]))[0][0]
        np.testing.assert_allclose(found, mean / total, atol=1e-5)
