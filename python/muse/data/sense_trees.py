"""Sense trees: the uses of each word in fine clusters, which are joined two by two; a cut chooses a word's senses."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.data.reduced import rows_of
from muse.data.tree_nodes import Cut, TreeNodes

__all__ = ["Cut", "SenseNode", "SenseTree", "SenseTrees"]

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

_BLOCK_WORDS = 4096

AUTO_POWER = 0.15  # of the share of the smaller part, for senses="auto"
AUTO_MOST = 3  # senses of a word
_MOST_SENSES = 2**31 - 1  # that are asked for: more leaves than any word has

Senses = int | Mapping[int, int] | str | NDArray[np.int64] | None
"""How many senses words get; see `SenseTrees.cut`."""


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
        waiting = [(self.root, "", "")]  # number, and what stands before its line and before those of its parts
        while waiting:
            number, lead, below = waiting.pop()
            node = self.nodes[number]
            star = "*" if number in self.senses else " "
            joined = f" joined at {node.strength:.2f}" if node.parts else ""
            label = f"  {labels[number]}" if labels and number in labels else ""
            lines.append(f"{lead}{self.word}#{number}{star} {node.share:.0%}{joined}{label}")
            waiting += [(part, below + "└─ ", below + "   ") for part in node.parts[-1:]]
            waiting += [(part, below + "├─ ", below + "│  ") for part in reversed(node.parts[:-1])]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()


@dataclass(frozen=True, eq=False)
class SenseTrees(TreeNodes):
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
                wanted[word] = min(number, _MOST_SENSES)
        elif senses is not None:
            if senses < 1:
                raise ValueError(f"senses={senses}: a word has at least one sense")
            wanted[:] = min(senses, _MOST_SENSES)
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
        return self.cut_at(*self.nodes_of(self.senses_of(senses, strength=strength)))

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

    def overlap(self, offset: Integers, numbers: Integers) -> bool:
        """Whether some of these senses are no cut: of a word, one is part of another, or its numbers do not rise."""
        words = np.repeat(np.arange(self.n_words), np.diff(offset))
        if ((np.diff(numbers) <= 0) & (np.diff(words) == 0)).any():
            return True
        alive = self._alive(offset, numbers)
        holds = alive.copy()  # or one of its parts is
        for some in self._by_place():
            below = holds[self._parts[some]].any(axis=1)
            if (below & alive[self._join_node[some]]).any():
                return True
            holds[self._join_node[some]] |= below
        return False

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

    def cut_at(self, sense_offset: Integers, numbers: Integers) -> Cut:
        """The cut whose senses are these nodes, given by number; those of a word are no part of each other."""
        leaf_rows, wanted = self._rows_of_nodes(sense_offset, numbers)[self._leaf_node], np.diff(sense_offset)
        return Cut(
            sense_offset, numbers, self.uses_at(sense_offset, numbers),
            self._averages(rows_of(self, "leaf_means"), leaf_rows, wanted, sense_offset, unit=True),
            self._averages(rows_of(self, "leaf_shifts"), leaf_rows, wanted, sense_offset, unit=False),
        )  # fmt: skip

    def _averages(
        self, matrix: Any, leaf_rows: Integers, wanted: Integers, sense_offset: Integers, *, unit: bool
    ) -> Floats:
        """Rows of leaves averaged over those of a sense by their uses; words with one sense keep zeros."""
        if 0 in matrix.shape:
            return np.zeros((int(sense_offset[-1]), matrix.shape[1]), np.float32)
        out: Floats = _core.aligned_zeros(int(sense_offset[-1]), matrix.shape[1])
        for first in range(0, self.n_words, _BLOCK_WORDS):  # the rows of some may still have to be made
            last = min(first + _BLOCK_WORDS, self.n_words)
            leaves = slice(int(self.leaf_offset[first]), int(self.leaf_offset[last]))
            several = np.repeat(wanted[first:last] > 1, self.n_leaves[first:last])
            groups = np.where(several, leaf_rows[leaves], -1)
            if (groups >= 0).any():
                _core.average_rows(matrix[leaves], groups, self.leaf_counts[leaves], out, unit)
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
        return self._node_averages(word, rows_of(self, "leaf_shifts"))

    def node_centroids(self, word: int) -> Floats:
        """Mean context of each node of a word at unit length, float32 (nodes, S), by number."""
        means = self._node_averages(word, rows_of(self, "leaf_means"))
        return _unit(means)

    def _node_averages(self, word: int, matrix: Any) -> Floats:
        rows = slice(int(self.leaf_offset[word]), int(self.leaf_offset[word + 1]))
        weights = self.leaves_of(word) * self.leaf_counts[rows]
        averages: Floats = ((weights @ matrix[rows]) / weights.sum(axis=1, keepdims=True)).astype(np.float32)
        return averages

    def as_dict(self) -> dict[str, NDArray[Any]]:
        """The arrays by name, as a model file keeps them, and numbers as arrays without dimensions."""
        return {field.name: np.asarray(getattr(self, field.name)) for field in dataclasses.fields(self)}


def _unit(rows: NDArray[Any]) -> NDArray[Any]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: NDArray[Any] = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return unit
