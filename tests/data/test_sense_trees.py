"""The container of sense trees: what it checks, cuts, numbers, and prints."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_trees as twin
from muse.data.sense_trees import SenseTrees


def make_trees(leaves: list[int], default: int = 3, seed: int = 0, size: int = 5) -> tuple[SenseTrees, list]:
    """Random trees of words with the given numbers of leaves, and the joins of each word."""
    rng = np.random.default_rng(seed)
    total = sum(leaves)
    means = rng.normal(size=(total, size)).astype(np.float32)
    counts = rng.integers(1, 100, total)
    offset = np.concatenate(([0], np.cumsum(leaves))).astype(np.int64)
    made = [
        twin.joins(twin.unit(means[a:b].astype(np.float64)), counts[a:b].tolist(), 0.3)
        for a, b in itertools.pairwise(offset)
    ]
    flat = [join for word in made for join in word]
    trees = SenseTrees(
        offset, means, rng.normal(size=(total, 4)).astype(np.float32), counts,
        np.array([[a, b] for a, b, _ in flat], np.int32).reshape(-1, 2), np.array([s for _, _, s in flat], np.float32),
        np.clip(np.full(len(leaves), default), 1, np.maximum(leaves, 1)),
    )  # fmt: skip
    return trees, made


LEAVES = st.lists(st.sampled_from([0, 2, 3, 5, 8, 12]), min_size=1, max_size=8)


@settings(max_examples=40, deadline=None)
@given(LEAVES, st.integers(1, 13), st.integers(1, 6), st.integers(0, 100))
def test_a_cut_is_that_of_the_twin(leaves, senses, default, seed):
    trees, made = make_trees(leaves, default, seed)
    cut = trees.cut(senses)
    assert np.diff(cut.sense_offset).tolist() == [min(max(n, 1), senses) for n in leaves]
    for word, n in enumerate(leaves):
        rows = slice(cut.sense_offset[word], cut.sense_offset[word + 1])
        assert (np.diff(cut.nodes[rows]) > 0).all()
        if not n:
            assert cut.nodes[rows].tolist() == [0]
            assert not cut.counts[rows].any()
            continue
        start = trees.leaf_offset[word]
        parts = [sorted(start + leaf for leaf in part) for part in twin.cut(n, made[word], senses)]
        expected = {int(trees.leaf_counts[part].sum()): part for part in parts}
        assert sorted(cut.counts[rows]) == sorted(trees.leaf_counts[part].sum() for part in parts)
        if len(parts) < 2 or len(expected) < len(parts):
            continue
        for row in range(rows.start, rows.stop):
            part = expected[int(cut.counts[row])]
            weights = trees.leaf_counts[part].astype(float)
            np.testing.assert_allclose(cut.centroids[row], twin.unit(weights @ trees.leaf_means[part]), atol=1e-5)
            np.testing.assert_allclose(cut.shifts[row], weights @ trees.leaf_shifts[part] / weights.sum(), atol=1e-5)


@settings(max_examples=25, deadline=None)
@given(LEAVES, st.integers(1, 6), st.integers(0, 100))
def test_a_number_names_the_same_node_under_every_cut(leaves, default, seed):
    trees, _ = make_trees(leaves, default, seed)
    named: dict[tuple[int, int], int] = {}
    for senses in range(1, 13):
        cut = trees.cut(senses)
        for word in range(len(leaves)):
            for row in range(cut.sense_offset[word], cut.sense_offset[word + 1]):
                key = (word, int(cut.nodes[row]))
                assert named.setdefault(key, int(cut.counts[row])) == cut.counts[row]
    for word, n in enumerate(leaves):
        assert sorted(node for w, node in named if w == word) == list(range(max(1, 2 * n - 1)))
    cut = trees.cut()
    for word, n in enumerate(leaves):
        rows = slice(cut.sense_offset[word], cut.sense_offset[word + 1])
        assert cut.nodes[rows].tolist() == list(range(min(default, max(n, 1))))
        assert (np.diff(cut.counts[rows]) <= 0).all()  # by falling share


def test_a_cut_by_strength_joins_up_to_the_first_that_is_wider():
    trees, made = make_trees([6, 0, 4])
    for strength in (0.0, 0.3, 0.6, 0.9, 5.0):
        expected = []
        for word in made:
            joined = 0
            while joined < len(word) and np.float32(word[joined][2]) <= strength:
                joined += 1
            expected.append(len(word) + 1 - joined)
        assert np.diff(trees.cut(strength=strength).sense_offset).tolist() == expected


@pytest.mark.parametrize("strength", [0.0, 0.4, 0.7, 5.0])
def test_auto_undoes_wide_joins_from_the_root_down(strength):
    trees, made = make_trees([6, 0, 4, 2, 12], seed=3)
    trees = dataclasses.replace(trees, auto_strength=strength)
    expected = []
    for word, joins in enumerate(made):
        counts = trees.leaf_counts[trees.leaf_offset[word] : trees.leaf_offset[word + 1]].tolist()
        total, wide = sum(counts), []
        for a, b, width in joins:
            smaller = min(counts[a], counts[b])
            counts.append(counts[a] + counts[b])
            wide.append(width * (2 * smaller / total) ** (0.15 - 0.3) > strength)
        wide = [*wide[::-1], False]
        expected.append(min(1 + wide.index(False), 3))
    assert trees.senses_of("auto").tolist() == expected
    assert np.diff(trees.cut("auto").sense_offset).tolist() == expected
    assert max(expected) == {0.0: 3, 5.0: 1}.get(strength, max(expected))


def test_what_a_file_keeps_makes_the_same_trees():
    trees, _ = make_trees([4, 0, 3])
    trees = dataclasses.replace(trees, auto_strength=0.6, shrinkage=0.4, share_power=0.2)
    kept = trees.as_dict()
    assert all(isinstance(array, np.ndarray) for array in kept.values())
    again = SenseTrees(**kept)
    assert (again.auto_strength, again.shrinkage, again.share_power) == (0.6, 0.4, 0.2)
    np.testing.assert_array_equal(again.cut(2).centroids, trees.cut(2).centroids)
    with pytest.raises(ValueError, match="finite"):
        dataclasses.replace(trees, auto_strength=float("nan"))


def test_words_may_get_numbers_of_their_own():
    trees, _ = make_trees([6, 0, 4])
    assert trees.senses_of({0: 5, 1: 2}).tolist() == [5, 1, 3]
    for wrong in ({3: 1}, {-1: 1}, {0: 0}):
        with pytest.raises(ValueError, match="words run from 0 to 2"):
            trees.cut(wrong)
    with pytest.raises(ValueError, match="at least one sense"):
        trees.cut(0)
    with pytest.raises(ValueError, match="not both"):
        trees.cut(2, strength=0.5)
    with pytest.raises(ValueError, match="'auto'"):
        trees.cut("many")


@settings(max_examples=40, deadline=None)
@given(LEAVES, st.integers(2, 13), st.integers(1, 6), st.integers(0, 100))
def test_the_coarsest_nodes_of_trees_are_cut_as_those_of_all(leaves, most, default, seed):
    trees, _ = make_trees(leaves, default, seed)
    kept = np.full(len(leaves), most)
    if leaves[0]:
        kept[0] = 2
    small = trees.coarsest(kept)
    assert small.n_leaves.tolist() == [min(n, k) for n, k in zip(leaves, kept.tolist(), strict=True)]
    for senses in range(1, most + 1):
        wanted = np.minimum(np.full(len(leaves), senses), np.where(trees.n_leaves > 0, kept, 1))
        ours, all_of = small.cut(wanted), trees.cut(wanted)
        assert np.array_equal(ours.sense_offset, all_of.sense_offset)
        # their numbers may differ where a sense is coarser than the default, and so their order
        order, other = (
            np.lexsort((c.centroids[:, 0], np.repeat(np.arange(len(wanted)), np.diff(c.sense_offset))))
            for c in (ours, all_of)
        )
        assert np.array_equal(ours.counts[order], all_of.counts[other])
        np.testing.assert_allclose(ours.centroids[order], all_of.centroids[other], atol=1e-5)
        np.testing.assert_allclose(ours.shifts[order], all_of.shifts[other], atol=1e-5)
    assert all(
        np.array_equal(a, b)
        for a, b in zip(small.coarsest(kept).as_dict().values(), small.as_dict().values(), strict=True)
    )
    with pytest.raises(ValueError, match="at least two leaves"):
        make_trees([3])[0].coarsest(np.array([1]))


def test_a_tree_prints_as_text():
    trees, _ = make_trees([4], default=2)
    tree = trees.tree(0, "bank")
    lines = str(tree).splitlines()
    assert lines[0].startswith(f"bank#{tree.root}  100% joined at ")
    assert len(lines) == len(tree.nodes) == 7
    assert sum("*" in line for line in lines) == 2 == len(tree.senses)
    assert "river, water" in tree.text({0: "river, water"})
    assert tree.nodes[tree.root].share == 1
    for node in tree.nodes:
        assert node.count == sum(tree.nodes[part].count for part in node.parts) or not node.parts


def test_nodes_of_a_word_have_the_centroids_and_shifts_that_cuts_give_them():
    trees, _ = make_trees([5, 0, 7], seed=3)
    for word, n in ((0, 5), (2, 7)):
        centroids, shifts = trees.node_centroids(word), trees.node_shifts(word)
        assert len(centroids) == len(shifts) == 2 * n - 1
        for senses in range(2, n + 1):
            cut = trees.cut(senses)
            rows = slice(cut.sense_offset[word], cut.sense_offset[word + 1])
            np.testing.assert_allclose(centroids[cut.nodes[rows]], cut.centroids[rows], atol=1e-5)
            np.testing.assert_allclose(shifts[cut.nodes[rows]], cut.shifts[rows], atol=1e-5)


def test_trees_do_not_change():
    trees, _ = make_trees([4])
    with pytest.raises(ValueError, match="read-only"):
        trees.leaf_counts[0] = 7
    with pytest.raises(AttributeError):
        trees.leaf_counts = trees.leaf_counts


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("leaf_offset", np.array([0, 1, 4]), "at least two a word"),
        ("leaf_counts", np.array([3, 3, 0, 1]), "leaf_counts must be from 1 to"),
        ("leaf_counts", np.ones(5, np.int64), "shape"),
        ("leaf_means", np.zeros((4, 3)), "float32"),
        ("joins", np.array([[0, 1], [0, 2], [3, 5]], np.int32), "joins"),
        ("joins", np.array([[0, 1], [2, 6], [3, 5]], np.int32), "joins"),
        ("joins", np.array([[0, 5], [1, 2], [3, 4]], np.int32), "joins"),
        ("strengths", np.array([0.1, np.nan, 0.2], np.float32), "finite"),
        ("default_senses", np.array([5]), "default_senses"),
    ],
)
def test_arrays_that_are_no_trees_are_refused(name, array, message):
    trees, _ = make_trees([4])
    with pytest.raises(ValueError, match=message):
        SenseTrees(**{**trees.as_dict(), name: array})


def test_a_tree_as_deep_as_it_has_leaves_is_drawn():
    """Each join takes the next leaf: deeper than Python's calls go."""
    leaves = 1000
    joins = np.array([[0, 1], *([leaves + i, i + 2] for i in range(leaves - 2))], np.int32)
    ones = np.ones((leaves, 1), np.float32)
    trees = SenseTrees(
        np.array([0, leaves]), ones, ones, np.ones(leaves, np.int64), joins, np.ones(leaves - 1, np.float32),
        np.array([4]),
    )  # fmt: skip
    lines = str(trees.tree(0, "word")).splitlines()
    assert len(lines) == 2 * leaves - 1
    assert {line.split("word#")[1].split()[0].rstrip("*") for line in lines} == set(map(str, range(2 * leaves - 1)))
