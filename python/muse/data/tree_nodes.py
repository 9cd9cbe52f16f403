"""The nodes of sense trees: the arrays that hold them, where each node is in these, and its number."""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from muse.data.reduced import Held, Widening, shape_of

__all__ = ["Cut", "TreeNodes"]

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

_TYPES = {
    "leaf_offset": (np.int64, 1),
    "leaf_means": (np.float32, 2),
    "leaf_shifts": (np.float32, 2),
    "leaf_counts": (np.int64, 1),
    "joins": (np.int32, 2),
    "strengths": (np.float32, 1),
    "default_senses": (np.int64, 1),
}

_MOST_USES = 2**31 - 1  # of a leaf


class Cut(NamedTuple):
    """The nodes that are the senses of V words, Z in all; those of word i are rows ``sense_offset[i:i + 2]``.

    Attributes
    ----------
    sense_offset : int64 (V + 1,)
    nodes : int64 (Z,)
        Number of the node within its word, rising; 0 for a word without a tree.
    counts : int64 (Z,)
        Sampled uses of each node, 0 for a word without a tree.
    centroids : float32 (Z, S)
        Mean context of each node at unit length; zeros for a word with one sense.
    shifts : float32 (Z, D)
        What each node adds to the vector of its word before shrinkage.
    """

    sense_offset: Integers
    nodes: Integers
    counts: Integers
    centroids: Floats
    shifts: Floats


@dataclass(frozen=True, eq=False)
class TreeNodes(Widening):
    """What `muse.data.sense_trees.SenseTrees` is made of, which says what its parts are."""

    leaf_offset: Integers
    leaf_means: Floats
    leaf_shifts: Floats
    leaf_counts: Integers
    joins: NDArray[np.int32]
    strengths: Floats
    default_senses: Integers
    share_power: float = 0.3
    auto_strength: float = 0.5
    shrinkage: float = 0.5

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            array = self.__dict__[field.name]
            if isinstance(array, Held) and field.name in ("leaf_means", "leaf_shifts"):
                self._hold(field.name, array)
                continue
            if field.name not in _TYPES:
                object.__setattr__(self, field.name, float(array))
                continue
            dtype, ndim = _TYPES[field.name]
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != ndim:
                raise ValueError(f"{field.name} must be a numpy array of {np.dtype(dtype).name} with {ndim} dimensions")
            view = array.view()
            view.flags.writeable = False
            object.__setattr__(self, field.name, view)
        self._check()

    def _check(self) -> None:
        offset, leaves = self.leaf_offset, np.diff(self.leaf_offset)
        if len(offset) < 1 or offset[0] != 0 or (leaves < 0).any() or (leaves == 1).any():
            raise ValueError("leaf_offset must rise from 0, by no leaves or by at least two a word")
        total = int(offset[-1])
        joins = total - int((leaves > 0).sum())
        shapes = {
            "leaf_means": (total, shape_of(self, "leaf_means")[1]),
            "leaf_shifts": (total, shape_of(self, "leaf_shifts")[1]),
            "leaf_counts": (total,),
            "joins": (joins, 2),
            "strengths": (joins,),
            "default_senses": (len(offset) - 1,),
        }
        for name, shape in shapes.items():
            if shape_of(self, name) != shape:
                raise ValueError(f"{name} must have shape {shape} for {total} leaves; it has {shape_of(self, name)}")
        if (self.leaf_counts < 1).any() or (self.leaf_counts > _MOST_USES).any():  # or sums of them are wrong
            raise ValueError(f"leaf_counts must be from 1 to {_MOST_USES}")
        if (self.default_senses < 1).any() or (self.default_senses > np.maximum(leaves, 1)).any():
            raise ValueError("default_senses must lie between 1 and the number of leaves")
        place = self._join_place
        used = np.sort((self.joins + self._node_offset[self._join_word, None]).ravel())
        inner = np.ones(int(self._node_offset[-1]), bool)
        inner[self._node_offset[1:][leaves > 0] - 1] = False  # roots are part of nothing
        if (self.joins < 0).any() or (self.joins >= (leaves[self._join_word] + place)[:, None]).any() or not (
            len(used) == inner.sum() and np.array_equal(used, np.flatnonzero(inner))
        ):  # fmt: skip
            raise ValueError("joins must take each leaf and each earlier join of their word once")
        if not np.isfinite(self.strengths).all():
            raise ValueError("strengths must be finite numbers")
        if not np.isfinite([self.share_power, self.auto_strength, self.shrinkage]).all():
            raise ValueError("share_power, auto_strength and shrinkage must be finite numbers")

    # -- sizes -------------------------------------------------------------------------------------------------------

    @property
    def n_words(self) -> int:
        """V"""
        return len(self.leaf_offset) - 1

    @property
    def n_leaves(self) -> Integers:
        """Leaves of each word, int64 (V,); 0 for a word without a tree."""
        return np.diff(self.leaf_offset)

    # -- places of nodes ---------------------------------------------------------------------------------------------

    @cached_property
    def _node_offset(self) -> Integers:
        """(V + 1,) first node of each word: leaves and then joins, as they are numbered in `joins`."""
        return np.concatenate(([0], np.cumsum(2 * self.n_leaves - (self.n_leaves > 0))))

    @cached_property
    def _join_word(self) -> Integers:
        """(J,)"""
        return np.repeat(np.arange(self.n_words), np.maximum(self.n_leaves - 1, 0))

    @cached_property
    def _join_place(self) -> Integers:
        """(J,) which join of its word it is, 0, 1, ..."""
        per_word = np.maximum(self.n_leaves - 1, 0)
        places: Integers = np.arange(len(self.joins)) - np.repeat(np.cumsum(per_word) - per_word, per_word)
        return places

    @cached_property
    def _node_word(self) -> Integers:
        """(N,)"""
        return np.repeat(np.arange(self.n_words), np.diff(self._node_offset))

    @cached_property
    def _join_node(self) -> Integers:
        """(J,) the node that each join makes."""
        nodes: Integers = self._node_offset[self._join_word] + self.n_leaves[self._join_word] + self._join_place
        return nodes

    @cached_property
    def _parts(self) -> Integers:
        """(J, 2) the nodes that each join joins."""
        parts: Integers = self.joins + self._node_offset[self._join_word, None]
        return parts

    @cached_property
    def _leaf_node(self) -> Integers:
        """(L,) the node that each leaf is."""
        words = np.repeat(np.arange(self.n_words), self.n_leaves)
        return np.arange(int(self.leaf_offset[-1])) - self.leaf_offset[words] + self._node_offset[words]

    def _by_place(self) -> list[Integers]:
        """The joins that are the first of their words, the second, and so on."""
        order = np.argsort(self._join_place, kind="stable")
        bounds = np.searchsorted(self._join_place[order], np.arange(int(self._join_place.max(initial=-1)) + 2))
        return [order[a:b] for a, b in itertools.pairwise(bounds)]

    @cached_property
    def _counts(self) -> Integers:
        """(N,) sampled uses of each node."""
        counts = np.zeros(int(self._node_offset[-1]), np.int64)
        counts[self._leaf_node] = self.leaf_counts
        for some in self._by_place():
            counts[self._join_node[some]] = counts[self._parts[some]].sum(axis=1)
        return counts

    @cached_property
    def _life(self) -> tuple[Integers, Integers]:
        """(N,) the least number of senses with which each node is a sense, and that from which on it is none."""
        splits = self.n_leaves[self._join_word] - self._join_place  # with so many senses the join is undone
        begins = np.ones(int(self._node_offset[-1]), np.int64)
        begins[self._parts] = splits[:, None]
        ends = np.full(len(begins), np.iinfo(np.int64).max)
        ends[self._join_node] = splits
        return begins, ends

    @cached_property
    def numbers(self) -> Integers:
        """int64 (N,): the number of each node, leaves and then joins of each word.

        Those that are senses by default come first, by falling share; then the finer ones, as they appear with more
        senses; then the coarser ones, as they appear with fewer.
        """
        begins, ends = self._life
        default = self.default_senses[self._node_word]
        kind = np.where(begins > default, 1, np.where(ends <= default, 2, 0))
        when = np.where(kind == 1, begins, np.where(kind == 2, -ends, 0))
        order = np.lexsort((np.arange(len(begins)), -self._counts, when, kind, self._node_word))
        numbers = np.empty(len(order), np.int64)
        numbers[order] = np.arange(len(order)) - self._node_offset[self._node_word]
        return numbers

    # -- smaller trees -----------------------------------------------------------------------------------------------

    def coarsest(self, most: Integers) -> Self:
        """Trees whose leaves are the coarsest nodes of these: of word i, those that ``most[i]`` senses are cut to.

        Parameters
        ----------
        most : int64 (V,)
            Leaves of each word, at least two.

        Raises
        ------
        ValueError
            If a tree would have fewer than two leaves.
        """
        kept = np.minimum(self.n_leaves, most)
        if ((kept < 2) & (self.n_leaves > 0)).any():
            raise ValueError("a tree has at least two leaves")
        begins, ends = self._life
        alive = (begins <= kept[self._node_word]) & (kept[self._node_word] < ends)
        rows = np.full(len(alive), -1)
        rows[alive] = np.arange(int(alive.sum()))
        offset = np.concatenate(([0], np.cumsum(kept)))
        undone = (self.n_leaves - kept)[self._join_word]  # the first joins of a word, whose nodes are leaves now
        stay = self._join_place >= undone
        numbered = rows - offset[self._node_word]
        numbered[self._join_node[stay]] = (kept[self._join_word] + self._join_place - undone)[stay]
        for some in reversed(self._by_place()):
            above = rows[self._join_node[some], None]
            rows[self._parts[some]] = np.where(above >= 0, above, rows[self._parts[some]])
        order = np.argsort(rows[self._leaf_node], kind="stable")
        starts = np.flatnonzero(np.diff(rows[self._leaf_node][order], prepend=-1))
        counts = self.leaf_counts[order].astype(np.float32)[:, None]

        def averaged(matrix: Floats) -> Floats:
            if not len(starts):
                return matrix
            sums: Floats = np.add.reduceat(matrix[order] * counts, starts)
            sums /= np.add.reduceat(counts, starts)
            return sums

        return dataclasses.replace(
            self,
            leaf_offset=offset,
            leaf_means=averaged(self.leaf_means),
            leaf_shifts=averaged(self.leaf_shifts),
            leaf_counts=np.add.reduceat(self.leaf_counts[order], starts) if len(starts) else self.leaf_counts,
            joins=numbered[self._parts[stay]].astype(np.int32),
            strengths=self.strengths[stay],
            default_senses=np.minimum(self.default_senses, np.maximum(kept, 1)),
        )
