"""What a model with sense trees has beside its arrays: the trees, their space, and the vectors of words."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.data.arrays import Arrays, Floats
from muse.data.reduced import Held, Widening, given, held_by, rows_of, shape_of
from muse.data.sense_trees import Senses, SenseTrees
from muse.data.use_space import UseSpace

__all__ = ["Forest"]

_NUMBERS: dict[str, tuple[type, float, float]] = {  # of the space and of the trees: type, least and largest value
    "topic_window": (int, 1, 10_000),
    "distance_power": (float, 0, 10),
    "order_weight": (float, 0, 1e6),
    "prior_weight": (float, 0, 1e3),
    "temperature": (float, 1e-6, 1e6),
    "share_power": (float, 0, 10),
    "auto_strength": (float, 0, 1e3),
    "shrinkage": (float, 0, 1e3),
}
_BLOCK_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Forest(Widening):
    """The sense trees of a model, which never change, and what a cut of them needs to become a model's arrays.

    Parameters
    ----------
    space : UseSpace
        What contexts are made with.
    trees : SenseTrees
        Of all words.
    word_vectors : float32 (V, D)
        The vector of each word, from which those of its senses are made. Further training moves them.
    sense_offset : int64 (V + 1,)
        First row of each word's senses in the model's arrays.
    nodes : int64 (Z,)
        The number of the node that each of these senses is.
    lemmas : int64 (V,), optional
        The word whose senses each word shares, itself for most. Words that share senses have equal trees.

    Raises
    ------
    ValueError
        If the parts do not fit together.
    """

    space: UseSpace
    trees: SenseTrees
    word_vectors: Floats
    sense_offset: NDArray[np.int64]
    nodes: NDArray[np.int64]
    lemmas: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        if isinstance(matrix := self.__dict__["word_vectors"], Held):
            self._hold("word_vectors", matrix)
        words, dim = shape_of(self, "word_vectors")
        trees, topics = self.trees, shape_of(self.space, "topic_vectors")[0]
        if trees.n_words != words or topics != words:
            raise ValueError(
                f"there are vectors of {words} words, trees of {trees.n_words}, and topic vectors of {topics}"
            )
        if shape_of(trees, "leaf_shifts")[1] != dim:
            raise ValueError("the shifts of leaves must be as wide as word vectors")
        if shape_of(trees, "leaf_means")[1] != self.space.size:
            raise ValueError("the mean contexts of leaves must be as wide as contexts")
        self._check_type("sense_offset", words + 1)
        self._check_type("nodes", int(self.sense_offset[-1]))
        if self.sense_offset[0] != 0 or (np.diff(self.sense_offset) < 1).any():
            raise ValueError("the senses must be at least one a word")
        most = np.maximum(2 * trees.n_leaves - 1, 1)
        if (self.nodes < 0).any() or (self.nodes >= np.repeat(most, np.diff(self.sense_offset))).any():
            raise ValueError("the senses must be numbers of nodes of the trees")
        if self.lemmas is not None:
            self._check_type("lemmas", words)
            if words and (self.lemmas.min() < 0 or self.lemmas.max() >= words):
                raise ValueError(f"lemmas must be rows of words, from 0 to {words - 1}")
        if trees.overlap(self.sense_offset, self.nodes):
            raise ValueError("the senses of a word must be in rising order, and none of them part of another")

    def _check_type(self, name: str, length: int) -> None:
        array = getattr(self, name)
        if array.shape != (length,) or array.dtype != np.int64:
            raise ValueError(f"{name} of the senses must be int64 with shape {(length,)}")

    # -- cuts --------------------------------------------------------------------------------------------------------

    def recut(self, senses: Senses) -> Forest:
        """The same with another number of senses a word: what `SenseTrees.cut` takes."""
        return self.at(*self.trees.nodes_of(self.trees.senses_of(senses)))

    def at(self, sense_offset: NDArray[np.int64], nodes: NDArray[np.int64]) -> Forest:
        """The same with other nodes as senses."""
        return Forest(self.space, self.trees, given(self, "word_vectors"), sense_offset, nodes, self.lemmas)

    def arrays(self, collocation_vectors: Floats, word_counts: NDArray[np.int64]) -> Arrays:
        """The arrays of the cut, padded for training; the senses' counts are by the shares of their nodes."""
        vectors, selection = self.matrices()
        return Arrays(
            context_vectors=self.space.topic_vectors,
            selection_vectors=selection,
            sense_vectors=vectors,
            collocation_vectors=collocation_vectors,
            sense_offset=self.sense_offset,
            sense_counts=self.spread(word_counts),
            word_counts=word_counts,
            sense_numbers=self._numbers(),
        )

    def matrices(self) -> tuple[Floats, Floats]:
        """The sense vectors and the selection vectors of the cut, float32 (Z, D) and (Z, S), padded for training."""
        cut = self.trees.cut_at(self.sense_offset, self.nodes)
        word_of, words, shrinkage = self._word_of, rows_of(self, "word_vectors"), np.float32(self.trees.shrinkage)
        vectors = cut.shifts  # which nobody else has
        for first in range(0, len(word_of), _BLOCK_ROWS):
            rows = slice(first, first + _BLOCK_ROWS)
            vectors[rows] *= shrinkage
            vectors[rows] += words[word_of[rows]]
        return vectors, cut.centroids

    def spread(self, word_counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Counts of words over the senses of the cut, by the shares of nodes: whole numbers that add up, int64 (Z,)."""
        offset, word_of = self.sense_offset, self._word_of
        uses = np.maximum(self.trees.uses_at(offset, self.nodes), 1)
        ends = np.cumsum(uses)
        starts = np.concatenate(([0], ends))[offset[:-1]]
        share = (ends - starts[word_of]) / np.add.reduceat(uses, offset[:-1])[word_of]
        upto = np.floor(share * word_counts[word_of]).astype(np.int64)
        upto[offset[1:] - 1] = word_counts
        before = np.concatenate(([0], upto[:-1]))
        before[offset[:-1]] = 0
        counts: NDArray[np.int64] = upto - before
        return counts

    def words(self, arrays: Arrays) -> Arrays:
        """The arrays of words, padded for training: one sense each."""
        count = len(self.word_vectors)
        return Arrays(
            context_vectors=self.space.topic_vectors,
            selection_vectors=_core.aligned_zeros(count, self.space.topic_vectors.shape[1], used=False),
            sense_vectors=self.word_vectors,
            collocation_vectors=arrays.collocation_vectors,
            sense_offset=np.arange(count + 1, dtype=np.int64),
            sense_counts=arrays.word_counts.copy(),
            word_counts=arrays.word_counts,
        ).for_training()

    def rows_of(self, word: int) -> slice[int, int, None]:
        """Rows of the senses of a word."""
        return slice(int(self.sense_offset[word]), int(self.sense_offset[word + 1]))

    def nodes_of(self, word: int) -> NDArray[np.int64]:
        """Numbers of the nodes that are the senses of a word, int64 (K,)."""
        return self.nodes[self.rows_of(word)]

    def node_vectors(self, word: int) -> Floats:
        """Vectors of the nodes of a word's tree, float32 (nodes, D), by number; none for a word without a tree."""
        own = rows_of(self, "word_vectors")[word]
        vectors: Floats = own + np.float32(self.trees.shrinkage) * self.trees.node_shifts(word)
        return vectors

    def forms_of(self, word: int) -> NDArray[np.int64]:
        """The words that share their senses with a word, itself among them, int64 (n,)."""
        return np.array([word]) if self.lemmas is None else np.flatnonzero(self.lemmas == self.lemmas[word])

    def rows_in(self, other: Forest) -> NDArray[np.int64]:
        """The row, in another cut of the same trees, of the sense that each of these is or is part of; -1: of none."""
        return self.trees.rows_in((self.sense_offset, self.nodes), (other.sense_offset, other.nodes))

    def bias(self) -> Floats:
        """What the share of each sense adds to its scores, float32 (Z,)."""
        return self.space.bias(self.sense_offset, self.trees.uses_at(self.sense_offset, self.nodes))

    @property
    def _word_of(self) -> NDArray[np.int64]:
        """The word of each sense, int64 (Z,)."""
        return np.repeat(np.arange(self.trees.n_words), np.diff(self.sense_offset))

    def _numbers(self) -> NDArray[np.int64] | None:
        """Numbers of the senses; None where they are 0, 1, ... in every word."""
        counted = np.arange(len(self.nodes)) - self.sense_offset[:-1][self._word_of]
        return None if np.array_equal(counted, self.nodes) else self.nodes

    # -- checks, growth, storage -------------------------------------------------------------------------------------

    def is_cut(self, arrays: Arrays) -> bool:
        """Whether `arrays`, which fit, are those of a cut, not those of words in training."""
        return arrays.context_size == self.space.size

    def check_fits(self, arrays: Arrays) -> None:
        """Raise a ValueError if `arrays` are neither those of a cut nor those of words."""
        if shape_of(self, "word_vectors") != (arrays.n_words, arrays.vector_size):
            raise ValueError("the sense trees are for other words or vectors than the arrays")
        if not self.is_cut(arrays):
            if arrays.n_senses != arrays.n_words or arrays.context_size != arrays.selection_size:
                raise ValueError(f"selection_vectors must be as wide as the contexts of the trees, {self.space.size}")
            return
        same = np.array_equal(arrays.sense_offset, self.sense_offset)
        if not same or not np.array_equal(arrays.all_numbers(), self.nodes):
            raise ValueError("the arrays have other senses than the cut of the sense trees")

    def check_finite(self) -> None:
        """Raise a ValueError that names the first array with a value that is not a finite number."""
        held = {**held_by(self), **held_by(self.space), **held_by(self.trees)}
        for name, matrix in held.items():
            if not matrix.is_finite():
                raise ValueError(f"{name} holds values that are not finite numbers")
        for name, array in self.tensors(without=set(held)).items():
            if array.dtype != np.float32:
                continue
            for first in range(0, len(array), _BLOCK_ROWS):
                if not np.isfinite(array[first : first + _BLOCK_ROWS]).all():
                    raise ValueError(f"{name} holds values that are not finite numbers")

    def grown(self, new_vectors: Floats, topic_vectors: Floats) -> Forest:
        """The forest for more words, with the vectors of the new ones: these have no tree, and count in no context."""
        added = len(new_vectors)
        word_vectors = _longer(self.word_vectors, added)
        word_vectors[len(self.word_vectors) :] = new_vectors
        space, trees = self.space, self.trees

        def longer(matrix: Any) -> Any:
            return None if matrix is None or not len(matrix) else _longer(matrix, added)

        space = dataclasses.replace(
            space, topic_vectors=topic_vectors, order_vectors=longer(space.order_vectors),
            topic_weights=space.topic_weights if not len(space.topic_weights) else longer(space.topic_weights),
        )  # fmt: skip
        trees = dataclasses.replace(
            trees,
            leaf_offset=np.concatenate((trees.leaf_offset, np.full(added, trees.leaf_offset[-1]))),
            default_senses=np.concatenate((trees.default_senses, np.ones(added, np.int64))),
        )
        offset = np.concatenate((self.sense_offset, self.sense_offset[-1] + 1 + np.arange(added)))
        nodes = np.concatenate((self.nodes, np.zeros(added, np.int64)))
        lemmas = None if self.lemmas is None else np.concatenate(
            (self.lemmas, len(self.lemmas) + np.arange(added))
        )  # fmt: skip
        return Forest(space, trees, word_vectors, offset, nodes, lemmas)

    def tensors(self, without: Container[str] = ()) -> dict[str, NDArray[Any]]:
        """The arrays by name, as a model file keeps them, but for the topic vectors, which are P, and some others."""
        owners: dict[str, Any] = dict.fromkeys(SPACE_TENSORS, self.space) | dict.fromkeys(TREE_TENSORS, self.trees)
        named = {name: getattr(owner, name) for name, owner in owners.items() if name not in without}
        if "word_vectors" not in without:
            named["word_vectors"] = self.word_vectors
        named |= {"node_offset": self.sense_offset, "nodes": self.nodes, "lemmas": self.lemmas}
        return {name: array for name, array in named.items() if array is not None}

    def numbers(self) -> dict[str, float]:
        """What is no array, as a model file keeps it."""
        owners = {name: self.space if hasattr(self.space, name) else self.trees for name in _NUMBERS}
        return {name: kind(getattr(owners[name], name)) for name, (kind, _, _) in _NUMBERS.items()}

    @classmethod
    def of_tensors(cls, topic_vectors: Floats, tensors: Mapping[str, NDArray[Any]], numbers: Any) -> Forest:
        """What `tensors` and `numbers` describe, with the topic vectors, which are P.

        Raises
        ------
        ValueError
            If they are damaged.
        """
        if not isinstance(numbers, dict) or set(numbers) != set(_NUMBERS):
            raise ValueError("the numbers of its sense trees are not there, or not all of them")
        for name, (kind, least, most) in _NUMBERS.items():
            value = numbers[name]
            if type(value) not in (int, kind) or not least <= value <= most:
                raise ValueError(f"{name} of its sense trees cannot be {value!r}")
        for name in (*SPACE_TENSORS, "word_vectors"):
            array = tensors.get(name)
            if array is not None and (array.dtype != np.float32 or array.ndim != (1 if name in _FLAT else 2)):
                raise ValueError(f"{name} must be float32 with {1 if name in _FLAT else 2} dimensions")
        order = [name in tensors for name in _ORDER_TENSORS]
        if any(order) and not all(order):
            raise ValueError(f"it must hold all of {', '.join(_ORDER_TENSORS)}, or none")

        def parts(kind: type, names: tuple[str, ...]) -> dict[str, Any]:
            return {f.name: {**tensors, **numbers}[f.name] for f in dataclasses.fields(kind)
                    if f.name in (*(n for n in names if n in tensors), *numbers)}  # fmt: skip

        space = UseSpace(topic_vectors, **parts(UseSpace, SPACE_TENSORS))
        _check_space(space)
        return cls(space, SenseTrees(**parts(SenseTrees, TREE_TENSORS)), tensors["word_vectors"],
                   tensors["node_offset"], tensors["nodes"], tensors.get("lemmas"))  # fmt: skip


TENSORS = ("word_vectors", "node_offset", "nodes", "lemmas")  # beside those of the trees and of the space
TREE_TENSORS = tuple(f.name for f in dataclasses.fields(SenseTrees) if f.name not in _NUMBERS)
SPACE_TENSORS = tuple(f.name for f in dataclasses.fields(UseSpace) if f.name not in (*_NUMBERS, "topic_vectors"))
_ORDER_TENSORS = ("order_vectors", "position_weights", "order_mean", "order_transform")
OPTIONAL_TENSORS = (*_ORDER_TENSORS, "lemmas")
_FLAT = ("topic_weights", "order_mean")


def _check_space(space: UseSpace) -> None:
    """Raise a ValueError where the core would refuse the arrays, without looking at their values."""
    words = shape_of(space, "topic_vectors")[0]
    if space.topic_weights.shape not in ((0,), (words,)):
        raise ValueError("topic_weights must hold one number a word")
    if space.position_weights is None:
        return
    assert space.order_mean is not None
    assert space.order_transform is not None
    rows, size = shape_of(space, "order_vectors")
    places = len(space.position_weights)
    if (
        rows != words or space.position_weights.shape[1] != size or places < 3 or places % 2 == 0
        or space.order_mean.shape != (size,) or len(space.order_transform) != size
    ):  # fmt: skip
        raise ValueError("the arrays of the order of contexts do not fit together")


def _longer(array: NDArray[Any], added: int) -> NDArray[Any]:
    """The array with rows of zeros behind it."""
    if array.ndim == 1:
        return np.concatenate((array, np.zeros(added, array.dtype)))
    longer: NDArray[Any] = _core.aligned_zeros(len(array) + added, array.shape[1])
    longer[: len(array)] = array
    return longer
