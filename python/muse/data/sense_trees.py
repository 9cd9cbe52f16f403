"""Sense trees: the uses of each word in fine clusters, which are joined two by two; a cut chooses a word's senses."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cut", "SenseNode", "SenseTree", "SenseTrees"]

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
_BLOCK_WORDS = 4096

AUTO_POWER = 0.15  # of the share of the smaller part, for senses="auto"
AUTO_MOST = 3  # senses of a word

Senses = int | Mapping[int, int] | str | NDArray[np.int64] | None
"""How many senses words get; see `SenseTrees.cut`."""


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


@dataclass(frozen=True)
class SenseNode:
    """A leaf of a word's tree, or what a join makes.

    Attributes
    ----------
    number : int
        Names the node under every cut: ``"bank#3"`` is node 3.
    count : int
        Sampled uses.
    share : float
        Of the word's sampled uses.
    strength : float
        How far apart the two parts are that are joined here; 0 for a leaf.
    parts : tuple of int
        Numbers of the two parts; none for a leaf.
    """

    number: int
    count: int
    share: float
    strength: float
    parts: tuple[int, ...]


@dataclass(frozen=True)
class SenseTree:
    """The tree of one word. ``print(tree)`` draws it.

    Attributes
    ----------
    word : str
    nodes : tuple of SenseNode
        By number.
    root : int
        Number of the node that all others are part of.
    senses : tuple of int
        Numbers of the nodes that are the word's senses by default.
    """

    word: str
    nodes: tuple[SenseNode, ...]
    root: int
    senses: tuple[int, ...]

    def text(self, labels: Mapping[int, str] | None = None) -> str:
        """The tree as text, one node a line, widest joins first; default senses bear a star.

        Parameters
        ----------
        labels : mapping of int to str, optional
            What is written behind a node, by its number: its neighbours, say.
        """
        lines: list[str] = []

        def draw(number: int, lead: str, below: str) -> None:
            node = self.nodes[number]
            star = "*" if number in self.senses else " "
            joined = f" joined at {node.strength:.2f}" if node.parts else ""
            label = f"  {labels[number]}" if labels and number in labels else ""
            lines.append(f"{lead}{self.word}#{number}{star} {node.share:.0%}{joined}{label}")
            for part in node.parts[:-1]:
                draw(part, below + "├─ ", below + "│  ")
            for part in node.parts[-1:]:
                draw(part, below + "└─ ", below + "   ")

        draw(self.root, "", "")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()


@dataclass(frozen=True, eq=False)
class SenseTrees:
    """The sense trees of V words with L leaves and J joins in all; immutable.

    A word has no leaves, and one sense, or at least two; a word with n leaves has n - 1 joins, in the order in which
    they were made. The parts of a join are numbered within their word: leaves 0 to n - 1, then joins n, n + 1, ...
    These are places in the arrays; what users see are the numbers of nodes, see `numbers`.

    Parameters
    ----------
    leaf_offset : int64 (V + 1,)
        Leaves of word i are rows ``leaf_offset[i]`` to ``leaf_offset[i + 1]``.
    leaf_means : float32 (L, S)
        Mean context of the uses of each leaf.
    leaf_shifts : float32 (L, D)
        What each leaf adds to the vector of its word before shrinkage.
    leaf_counts : int64 (L,)
        Sampled uses of each leaf.
    joins : int32 (J, 2)
        The two parts of each join.
    strengths : float32 (J,)
        How far apart the two were.
    default_senses : int64 (V,)
        How many senses each word has by default.
    share_power : float
        Of joins: they are as wide as one minus the cosine of the two parts, times twice the share of the smaller part
        in the word's uses to that power.
    auto_strength : float
        How wide a join must be that ``senses="auto"`` undoes, measured with a power of 0.15.
    shrinkage : float
        Part of its shift that a node adds to the vector of its word.

    Raises
    ------
    ValueError
        If an array's type, shape or content is wrong; the message names it.

    Examples
    --------
    >>> trees.cut(3).nodes  # doctest: +SKIP
    >>> print(trees.tree(model.vocabulary["bank"], "bank"))  # doctest: +SKIP
    """

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
            array = getattr(self, field.name)
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
            "leaf_means": (total, self.leaf_means.shape[1]),
            "leaf_shifts": (total, self.leaf_shifts.shape[1]),
            "leaf_counts": (total,),
            "joins": (joins, 2),
            "strengths": (joins,),
            "default_senses": (len(offset) - 1,),
        }
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise ValueError(
                    f"{name} must have shape {shape} for {total} leaves; it has {getattr(self, name).shape}"
                )
        if (self.leaf_counts < 1).any():
            raise ValueError("leaf_counts must be at least 1")
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

    # -- cuts --------------------------------------------------------------------------------------------------------

    @cached_property
    def auto_strengths(self) -> Floats:
        """How wide each join is for ``senses="auto"``, float32 (J,): small parts count for more than in `strengths`."""
        return self.widths(AUTO_POWER)

    def widths(self, power: float) -> Floats:
        """How wide each join is with another power of the share, float32 (J,); 0: one minus the cosine of its parts."""
        smaller = self._counts[self._parts].min(axis=1, initial=np.iinfo(np.int64).max)
        total = self._counts[self._node_offset[self._join_word + 1] - 1]
        widths: Floats = (self.strengths * (2 * smaller / total) ** (power - self.share_power)).astype(np.float32)
        return widths

    def _auto(self) -> Integers:
        """One more sense for each wide join from the root down, up to the first that is not."""
        from_root = self.n_leaves[self._join_word] - 2 - self._join_place
        narrow = self.auto_strengths <= self.auto_strength
        first = np.where(self.n_leaves > 0, self.n_leaves - 1, 0)
        np.minimum.at(first, self._join_word[narrow], from_root[narrow])
        wanted: Integers = np.minimum(first + 1, AUTO_MOST)
        return wanted

    def senses_of(self, senses: Senses = None, *, strength: float | None = None) -> Integers:
        """How many senses each word gets, int64 (V,); see `cut`."""
        wanted = self.default_senses.copy()
        if strength is not None:
            if senses is not None:
                raise ValueError("give senses or strength, not both")
            stays = self.strengths > strength
            first = np.where(stays, self._join_place, self.n_leaves[self._join_word] - 1)
            undone = np.full(self.n_words, np.iinfo(np.int64).max)
            np.minimum.at(undone, self._join_word, first)
            wanted = np.where(self.n_leaves > 0, self.n_leaves - np.minimum(undone, self.n_leaves), 1)
        elif isinstance(senses, str):
            if senses != "auto":
                raise ValueError(f"senses={senses!r}: the only word that says how many is 'auto'")
            wanted = self._auto()
        elif isinstance(senses, np.ndarray):
            if senses.shape != wanted.shape or (senses < 1).any():
                raise ValueError(f"senses must be {self.n_words} numbers of at least 1, one for each word")
            wanted = senses
        elif isinstance(senses, Mapping):
            for word, number in senses.items():
                if not 0 <= word < self.n_words or number < 1:
                    raise ValueError(f"senses={{{word}: {number}}}: words run from 0 to {self.n_words - 1}, and each "
                                     "has at least one sense")  # fmt: skip
                wanted[word] = number
        elif senses is not None:
            if senses < 1:
                raise ValueError(f"senses={senses}: a word has at least one sense")
            wanted[:] = senses
        return np.clip(wanted, 1, np.maximum(self.n_leaves, 1))

    def cut(self, senses: Senses = None, *, strength: float | None = None) -> Cut:
        """Choose the nodes that are senses.

        Parameters
        ----------
        senses : int, mapping of int to int, int64 (V,), or "auto", optional
            How many senses a word gets, at most as many as it has leaves; or so many for each word (by its row), and
            the default for others; or so many for every word; "auto": one, and one more for each join from the root
            down that is wider than `auto_strength`, three at most. Default: the default of each word.
        strength : float, optional
            Instead: joins stay, in their order, up to the first one that is wider than that.

        Returns
        -------
        Cut
        """
        return self._cut(self.senses_of(senses, strength=strength))

    def nodes_of(self, senses: Integers) -> tuple[Integers, Integers]:
        """The senses of a cut with so many a word: first row of each word's, int64 (V + 1,), and numbers of nodes."""
        begins, ends = self._life
        per_node = senses[self._node_word]
        chosen = np.flatnonzero((begins <= per_node) & (per_node < ends))
        return self._rows(chosen)

    def _rows(self, chosen: Integers) -> tuple[Integers, Integers]:
        """First row of each word's senses and numbers, of nodes; a word without a tree has one sense, number 0."""
        chosen = chosen[np.lexsort((self.numbers[chosen], self._node_word[chosen]))]
        words = self._node_word[chosen]
        senses = np.bincount(words, minlength=self.n_words)
        offset: Integers = np.concatenate(([0], np.cumsum(np.maximum(senses, 1))))
        numbers = np.zeros(int(offset[-1]), np.int64)
        numbers[offset[words] + np.arange(len(chosen)) - np.searchsorted(words, words)] = self.numbers[chosen]
        return offset, numbers

    def nodes_at(self, offset: Integers, numbers: Integers) -> Integers:
        """The node (its place) that each sense is, int64 (Z,); -1 for the sense of a word without a tree."""
        words = np.repeat(np.arange(self.n_words), np.diff(offset))
        nodes = np.full(len(words), -1)
        has_tree = self.n_leaves[words] > 0
        nodes[has_tree] = self._by_number[self._node_offset[words[has_tree]] + numbers[has_tree]]
        return nodes

    def uses_at(self, offset: Integers, numbers: Integers) -> Integers:
        """Sampled uses of each sense, int64 (Z,); 0 for a word without a tree."""
        nodes = self.nodes_at(offset, numbers)
        uses = np.zeros(len(nodes), np.int64)
        uses[nodes >= 0] = self._counts[nodes[nodes >= 0]]
        return uses

    @cached_property
    def _by_number(self) -> Integers:
        """(N,) the node (its place) of each number, word by word."""
        places = np.empty(len(self.numbers), np.int64)
        places[self._node_offset[self._node_word] + self.numbers] = np.arange(len(places))
        return places

    def joined(self, offset: Integers, numbers: Integers, joins: NDArray[np.bool_]) -> tuple[Integers, Integers]:
        """Senses after some `joins`, bool (J,), are made of which both parts are senses; the first joins come first."""
        alive = self._alive(offset, numbers)
        for some in self._by_place():
            parts = self._parts[some]
            made = joins[some] & alive[parts].all(axis=1)
            alive[parts[made]] = False
            alive[self._join_node[some[made]]] = True
        return self._rows(np.flatnonzero(alive))

    def _alive(self, offset: Integers, numbers: Integers) -> NDArray[np.bool_]:
        nodes = self.nodes_at(offset, numbers)
        alive = np.zeros(len(self.numbers), bool)
        alive[nodes[nodes >= 0]] = True
        return alive

    def dissolved(self, offset: Integers, numbers: Integers, small: NDArray[np.bool_]) -> tuple[Integers, Integers]:
        """Senses without those that are `small`, bool (Z,): joined with the other part of their join, or dropped.

        They are dropped where that other part is no sense itself.
        """
        alive, nodes = self._alive(offset, numbers), self.nodes_at(offset, numbers)
        weak = np.zeros(len(alive), bool)
        weak[nodes[small & (nodes >= 0)]] = True
        for some in self._by_place():
            parts = self._parts[some]
            joined = alive[parts].all(axis=1) & weak[parts].any(axis=1)
            alive[parts[joined]] = False
            alive[self._join_node[some[joined]]] = True
            weak[self._join_node[some[joined]]] = weak[parts[joined]].all(axis=1)
        left = alive & ~weak
        none = np.bincount(self._node_word[left], minlength=self.n_words) == 0
        return self._rows(np.flatnonzero(left | (alive & none[self._node_word])))

    def rows_in(self, senses: tuple[Integers, Integers], others: tuple[Integers, Integers]) -> Integers:
        """For each of some senses (offset, numbers), the row of that of `others` that it is or is part of; -1: none."""
        nodes, rows = self.nodes_at(*senses), self._rows_of_nodes(*others)
        words = np.repeat(np.arange(self.n_words), np.diff(senses[0]))
        found: Integers = np.where(nodes >= 0, rows[nodes] if len(rows) else -1, others[0][words])
        return found

    def _rows_of_nodes(self, sense_offset: Integers, numbers: Integers) -> Integers:
        """(N,) the row of the sense that each node is or is part of; -1 for a node that is part of none."""
        nodes = self.nodes_at(sense_offset, numbers)
        rows = np.full(len(self.numbers), -1)
        rows[nodes[nodes >= 0]] = np.flatnonzero(nodes >= 0)
        for some in reversed(self._by_place()):
            above = rows[self._join_node[some]]
            below = self._parts[some]
            rows[below] = np.where(above[:, None] >= 0, above[:, None], rows[below])
        return rows

    def _cut(self, wanted: Integers) -> Cut:
        return self.cut_at(*self.nodes_of(wanted))

    def cut_at(self, sense_offset: Integers, numbers: Integers) -> Cut:
        """The cut whose senses are these nodes, given by number; those of a word are no part of each other."""
        leaf_rows, wanted = self._rows_of_nodes(sense_offset, numbers)[self._leaf_node], np.diff(sense_offset)
        return Cut(
            sense_offset, numbers, self.uses_at(sense_offset, numbers),
            self._averages(self.leaf_means, leaf_rows, wanted, sense_offset, unit=True),
            self._averages(self.leaf_shifts, leaf_rows, wanted, sense_offset, unit=False),
        )  # fmt: skip

    def _averages(
        self, matrix: Floats, leaf_rows: Integers, wanted: Integers, sense_offset: Integers, *, unit: bool
    ) -> Floats:
        """Rows of leaves averaged over those of a sense by their uses; words with one sense keep zeros."""
        out = np.zeros((int(sense_offset[-1]), matrix.shape[1]), np.float32)
        for first in range(0, self.n_words, _BLOCK_WORDS):
            last = min(first + _BLOCK_WORDS, self.n_words)
            leaves = np.arange(self.leaf_offset[first], self.leaf_offset[last])
            leaves = leaves[(np.repeat(wanted[first:last], self.n_leaves[first:last]) > 1) & (leaf_rows[leaves] >= 0)]
            if not len(leaves):
                continue
            leaves = leaves[np.argsort(leaf_rows[leaves], kind="stable")]
            rows, starts = np.unique(leaf_rows[leaves], return_index=True)
            weights = self.leaf_counts[leaves].astype(np.float32)
            sums = np.add.reduceat(matrix[leaves] * weights[:, None], starts, axis=0)
            sums /= np.add.reduceat(weights, starts)[:, None]
            if unit:
                lengths = np.linalg.norm(sums, axis=1, keepdims=True)
                sums = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)
            out[rows] = sums
        return out

    # -- one word ----------------------------------------------------------------------------------------------------

    def tree(self, word: int, name: str = "") -> SenseTree:
        """The tree of one word.

        Parameters
        ----------
        word : int
            Its row.
        name : str, optional
            What it is called when the tree is printed.

        Raises
        ------
        ValueError
            If the word has no tree.
        """
        if not self.n_leaves[word]:
            raise ValueError(f"{name or word!r} has no sense tree: it occurs too seldom, and has one sense")
        nodes = range(int(self._node_offset[word]), int(self._node_offset[word + 1]))
        total = float(self._counts[nodes[-1]])
        first_join = int(np.searchsorted(self._join_word, word))
        begins, ends = self._life
        default = self.default_senses[word]
        made: dict[int, SenseNode] = {}
        for place, node in enumerate(nodes):
            join = place - int(self.n_leaves[word])
            parts: Any = () if join < 0 else self._parts[first_join + join]
            parts = sorted(parts, key=lambda part: -self._counts[part])
            made[int(self.numbers[node])] = SenseNode(
                int(self.numbers[node]), int(self._counts[node]), float(self._counts[node] / total),
                0.0 if join < 0 else float(self.strengths[first_join + join]),
                tuple(int(self.numbers[part]) for part in parts),
            )  # fmt: skip
        senses = [int(self.numbers[node]) for node in nodes if begins[node] <= default < ends[node]]
        ordered = tuple(made[number] for number in sorted(made))
        return SenseTree(name or str(word), ordered, int(self.numbers[nodes[-1]]), tuple(sorted(senses)))

    def leaves_of(self, word: int) -> NDArray[np.bool_]:
        """Which leaves each node of a word is made of, bool (nodes, leaves), by the number of the node."""
        first, last = int(self._node_offset[word]), int(self._node_offset[word + 1])
        leaves = int(self.n_leaves[word])
        made = np.zeros((last - first, leaves), bool)
        made[:leaves] = np.eye(leaves, dtype=bool)
        for node, parts in zip(range(leaves, last - first), self._joins_of(word), strict=True):
            made[node] = made[parts[0]] | made[parts[1]]
        ordered = np.empty_like(made)
        ordered[self.numbers[first:last]] = made
        return ordered

    def _joins_of(self, word: int) -> NDArray[np.int32]:
        first = int(np.searchsorted(self._join_word, word))
        return self.joins[first : first + max(0, int(self.n_leaves[word]) - 1)]

    def numbers_at(self, word: int, senses: int) -> Integers:
        """Numbers of the nodes that are the senses of a word where it has so many, or as many as it has leaves."""
        if not self.n_leaves[word]:
            return np.zeros(1, np.int64)
        begins, ends = self._life
        rows = slice(int(self._node_offset[word]), int(self._node_offset[word + 1]))
        wanted = min(senses, int(self.n_leaves[word]))
        return np.sort(self.numbers[rows][(begins[rows] <= wanted) & (wanted < ends[rows])])

    def node_uses(self, word: int) -> Integers:
        """Sampled uses of each node of a word, int64 (nodes,), by number; a word without a tree has one node."""
        if not self.n_leaves[word]:
            return np.ones(1, np.int64)
        rows = slice(int(self.leaf_offset[word]), int(self.leaf_offset[word + 1]))
        uses: Integers = self.leaves_of(word) @ self.leaf_counts[rows]
        return uses

    def node_shifts(self, word: int) -> Floats:
        """What each node of a word adds to its vector before shrinkage, float32 (nodes, D), by number."""
        return self._node_averages(word, self.leaf_shifts)

    def node_centroids(self, word: int) -> Floats:
        """Mean context of each node of a word at unit length, float32 (nodes, S), by number."""
        means = self._node_averages(word, self.leaf_means)
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        unit: Floats = np.divide(means, lengths, out=np.zeros_like(means), where=lengths > 0)
        return unit

    def _node_averages(self, word: int, matrix: Floats) -> Floats:
        rows = slice(int(self.leaf_offset[word]), int(self.leaf_offset[word + 1]))
        weights = self.leaves_of(word) * self.leaf_counts[rows]
        averages: Floats = ((weights @ matrix[rows]) / weights.sum(axis=1, keepdims=True)).astype(np.float32)
        return averages

    def as_dict(self) -> dict[str, NDArray[Any]]:
        """The arrays by name, as a model file keeps them, and numbers as arrays without dimensions."""
        return {field.name: np.asarray(getattr(self, field.name)) for field in dataclasses.fields(self)}
