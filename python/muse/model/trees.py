"""Sense trees of a model: showing one, cutting them anew, and vectors of single uses. These are methods of `MUSE`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.base.checks import integer
from muse.base.numeric import unit_rows
from muse.data.arrays import Floats
from muse.data.forest import Forest
from muse.data.snapshot import Publisher, Snapshot
from muse.data.vocabulary import Vocabulary
from muse.data.word_tree import TreeNode, WordTree
from muse.errors import UnknownSenseError, quote
from muse.model import answers
from muse.model.guard import Model, changes
from muse.selector.context import Context
from muse.selector.selection import UseSelector, uses_of
from muse.vectors.model_vectors import SenseVectors
from muse.vectors.sense_keys import SenseKey, each_word_once, parse_sense_key

__all__ = [
    "Recut", "forest_of", "forms", "has_usage_vectors", "recut", "sense_temperature", "sense_tree", "usage_similarity",
    "usage_vector", "usage_vector_batch",
]  # fmt: skip

Senses = int | Mapping[str, int] | str | None
_FURTHER = 4  # times as many neighbours are looked at, since several may be senses of one word
_CONTEXTS_WEIGHT = 0.2  # of the contexts' cosine beside that of the senses: what study gave (docs/senses.md)


def forest_of(snapshot: Snapshot, what: str) -> Forest:
    """The trees of a model; a ValueError that says what to do where there are none."""
    _ = snapshot.arrays  # or it is not trained
    if snapshot.forest is None:
        raise ValueError(
            f"{what} needs sense trees, and this model has none: train it with the recipe Trees, the default, and "
            "more than one sense a word"
        )
    return snapshot.forest


# -- one tree ----------------------------------------------------------------------------------------------------------


def sense_tree(self: Publisher, word: str, topn: int = 6) -> WordTree:
    """The sense tree of a word: from its finest senses to the word as a whole, and which nodes are its senses now.

    It prints as text; `WordTree.plot` draws it with matplotlib, `WordTree.to_dict` is for other programs.

    Parameters
    ----------
    word : str
        A known word.
    topn : int
        How many neighbours of each node: the nearest senses of other words, one of each; 0 for none.

    Returns
    -------
    WordTree
        Of one node for a word that is too rare for a tree. In a model of another recipe, which has no trees, the
        senses side by side.

    Raises
    ------
    UnknownWordError
        A KeyError that names the nearest spellings.

    Examples
    --------
    >>> print(model.sense_tree("bank"))  # doctest: +SKIP
    """
    snapshot, topn = self.snapshot, integer(0)("topn", topn)
    row = snapshot.vocabulary.index(word)
    arrays, forest = snapshot.arrays, snapshot.forest
    count, senses = int(arrays.word_counts[row]), tuple(arrays.numbers_of(row).tolist())
    if forest is None or not forest.trees.n_leaves[row]:
        vectors = arrays.sense_vectors[arrays.rows_of(row)]
        shares, near = arrays.prior(row).tolist(), _neighbours(snapshot, word, vectors, topn)
        nodes = tuple(
            TreeNode(number, share, neighbours=found) for number, share, found in zip(senses, shares, near, strict=True)
        )
        return WordTree(word, count, nodes, 0 if len(nodes) == 1 else None, senses)
    tree = forest.trees.tree(row, word)
    vectors = forest.word_vectors[row] + np.float32(forest.trees.shrinkage) * forest.trees.node_shifts(row)
    near = _neighbours(snapshot, word, vectors, topn)
    nodes = tuple(
        TreeNode(node.number, node.share, node.strength, node.parts, near[node.number]) for node in tree.nodes
    )
    return WordTree(word, count, nodes, tree.root, senses)


def _neighbours(snapshot: Snapshot, word: str, vectors: Floats, topn: int) -> list[tuple[tuple[str, float], ...]]:
    """The senses of other words that are nearest to each of some vectors."""
    if not topn:
        return [()] * len(vectors)
    row = snapshot.vocabulary.index(word)
    rows = snapshot.arrays.rows_of(row)
    own = {f"{word}#{number}" for number in snapshot.arrays.numbers_of(row).tolist()}
    found = SenseVectors(snapshot).most_similar_batch(list(vectors), _FURTHER * topn + rows.stop - rows.start)
    return [each_word_once((pair for pair in near if pair[0] not in own), topn) for near in found]


def forms(self: Publisher, word: str) -> list[str]:
    """The words that share their senses and the numbers of these with a word, the word itself among them.

    Parameters
    ----------
    word : str
        A known word.

    Returns
    -------
    list of str
        Most frequent first. The word alone, unless the model was trained with ``recipe=Trees(forms=...)``.

    Raises
    ------
    UnknownWordError
        A KeyError that names the nearest spellings.

    Examples
    --------
    >>> model.forms("banks")  # doctest: +SKIP
    ['bank', 'banks']
    """
    snapshot = self.snapshot
    row = snapshot.vocabulary.index(word)
    rows = [row] if snapshot.forest is None else snapshot.forest.forms_of(row)
    counts = snapshot.vocabulary.counts
    return [snapshot.vocabulary.words[int(i)] for i in sorted(rows, key=lambda i: -counts[i])]


# -- cutting -----------------------------------------------------------------------------------------------------------


class Recut(Mapping[SenseKey, "tuple[tuple[str, int], ...]"]):
    """What became of each sense: ``senses["bank#3"]`` is a tuple of the senses that its uses are of now.

    One that stays has itself there; one that was joined with others, what they made; one that was split, its parts.

    Parameters
    ----------
    vocabulary : Vocabulary
        The words.
    before, after : Forest
        With the cut of then, and with that of now.
    """

    def __init__(self, vocabulary: Vocabulary, before: Forest, after: Forest) -> None:
        self._vocabulary, self._before, self._after = vocabulary, before, after

    def __getitem__(self, key: SenseKey) -> tuple[tuple[str, int], ...]:
        word, number = parse_sense_key(key)
        row = self._vocabulary.index(word)
        old = self._before.nodes_of(row)
        if number not in old:
            raise UnknownSenseError(f"{quote(word)} had no sense {number}, but {', '.join(map(str, old.tolist()))}")
        return tuple((word, new) for new in self._parts(row, number))

    def _parts(self, row: int, number: int) -> list[int]:
        new = self._after.nodes_of(row)
        if number in new:
            return [number]
        leaves = self._before.trees.leaves_of(row)
        return [int(node) for node in new if (leaves[node] & leaves[number]).any()]

    def __iter__(self) -> Iterator[tuple[str, int]]:
        for row, word in enumerate(self._vocabulary.words):
            for number in self._before.nodes_of(row).tolist():
                yield word, number

    def __len__(self) -> int:
        return len(self._before.nodes)

    def changed(self) -> dict[tuple[str, int], tuple[tuple[str, int], ...]]:
        """The senses that were joined or split."""
        found: dict[tuple[str, int], tuple[tuple[str, int], ...]] = {}
        for row, word in enumerate(self._vocabulary.words):
            old, new = self._before.nodes_of(row), self._after.nodes_of(row)
            if not np.array_equal(old, new):
                for number in np.setdiff1d(old, new).tolist():
                    found[word, number] = tuple((word, part) for part in self._parts(row, number))
        return found

    def __repr__(self) -> str:
        return f"<Recut: {len(self)} senses became {len(self._after.nodes)}>"


@changes
def recut(self: Model, senses: Senses = None) -> Recut:
    """Cut the sense trees anew: other numbers of senses, at once and without the text.

    A sense keeps its number as long as it is one: ``"bank#3"`` is the same node under every cut, with the same vector.

    Parameters
    ----------
    senses : int, mapping of str to int, or "auto", optional
        How many senses each word gets, at most as many as it has finest senses; or so many for some words, and the
        default for others; or as many as the text gives evidence of. Without it, the default: what training made.

    Returns
    -------
    Recut
        What became of each sense.

    Raises
    ------
    UnknownWordError, TypeError, ValueError
        For a word that is not known, or what is no number of senses; or if the model has no trees.
    RuntimeError
        In a callback, and while another call changes the model.

    Notes
    -----
    The counts of the new senses are those of their words by the shares of the nodes; training on counts them anew.

    Examples
    --------
    >>> from muse import MUSE
    >>> from muse.datasets import make_ambiguous_corpus
    >>> model = MUSE(make_ambiguous_corpus(2000, 300, seed=0).sentences, vector_size=16, workers=1)
    >>> _ = model.recut(senses=2)
    >>> model.n_senses("bank")
    2
    >>> model.sense_numbers("bank", level=1) in model.sense_numbers("bank")
    False
    """
    snapshot = self.snapshot
    before = forest_of(snapshot, "recut")
    after = before.recut(_wanted(snapshot, senses))
    self.publish(with_cut(snapshot, after))
    return Recut(snapshot.vocabulary, before, after)


def with_cut(snapshot: Snapshot, forest: Forest) -> Snapshot:
    """The snapshot with the arrays of another cut. Senses that stay keep their counts, as far as these add up."""
    arrays = snapshot.arrays
    numbers = forest.arrays(arrays.collocation_vectors, arrays.word_counts)
    same = dataclasses.replace(numbers, sense_counts=_kept_counts(snapshot, forest, numbers.sense_counts))
    return snapshot.replace(numbers=same, forest=forest)


def _kept_counts(snapshot: Snapshot, forest: Forest, fresh: NDArray[np.int64]) -> NDArray[np.int64]:
    """Counts of the senses of a cut: for words whose senses are the same ones, those that they have."""
    before = snapshot.forest
    assert before is not None
    counts, old = fresh.copy(), snapshot.arrays
    if not before.is_cut(old):
        return counts
    many = np.flatnonzero(np.diff(before.sense_offset) == np.diff(forest.sense_offset))
    for row in many.tolist():
        ours, theirs = before.rows_of(row), forest.rows_of(row)
        if np.array_equal(before.nodes[ours], forest.nodes[theirs]):
            counts[theirs] = old.sense_counts[ours]
    return counts


def _wanted(snapshot: Snapshot, senses: Any) -> Any:
    """`senses` by rows of words, checked."""
    if senses is None:
        return None
    if isinstance(senses, str):
        if senses != "auto":
            raise ValueError(f"senses must be a number, a mapping of words to numbers, or 'auto'; got {senses!r:.40}")
        return senses
    if isinstance(senses, Mapping):
        rows = {snapshot.vocabulary.index(word): integer(1)(f"senses[{word!r}]", n) for word, n in senses.items()}
        forest = forest_of(snapshot, "recut")
        return {int(form): n for row, n in rows.items() for form in forest.forms_of(row)} | rows
    return integer(1)("senses", senses)


# -- uses --------------------------------------------------------------------------------------------------------------


def _uses(snapshot: Snapshot, what: str) -> UseSelector:
    return uses_of(snapshot, forest_of(snapshot, what))


@property  # type: ignore[misc]  # bound by the class of questions
def has_usage_vectors(self: Publisher) -> bool:
    """Whether the model has `usage_vector`: it was trained with sense trees."""
    return self.snapshot.forest is not None


@property  # type: ignore[misc]
def sense_temperature(self: Publisher) -> float | None:
    """The temperature of `sense_probabilities`, which was measured on the text; None in a model without sense trees."""
    forest = self.snapshot.forest
    return None if forest is None else float(forest.space.temperature)


def usage_vector(
    self: Publisher,
    word: str,
    context: Context | None = None,
    position: int | None = None,
    *,
    contexts: Iterable[Context] | None = None,
    positions: Iterable[int | None] | None = None,
) -> Floats:
    """The vector of a use of a word: its context in the space that sense trees are grown in.

    Cosines of such vectors say how alike uses are, see `usage_similarity`; they can be clustered, or searched.

    Parameters
    ----------
    word, context, position, contexts, positions
        As in `sense_vectors`.

    Returns
    -------
    float32 (S,)
        Of length one; zeros where no word of the context is known but the word itself.
    float32 (N, S)
        With N `contexts`.

    Raises
    ------
    UnknownWordError
        A KeyError that names the nearest spellings.
    ValueError
        If the model has no trees, or a position is not one of the word.

    Examples
    --------
    >>> model.usage_vector("bank", "money in the bank").shape  # doctest: +SKIP
    (400,)
    """
    snapshot = self.snapshot
    selector = _uses(snapshot, "usage_vector")
    _ = snapshot.vocabulary.index(word)
    about = answers.asked(snapshot, context, position, contexts, positions)
    if about is None:
        raise TypeError("usage_vector needs a context, or several as contexts=")
    vectors, _ = selector.contexts(word, about.contexts, about.positions)
    return vectors[0] if about.single else vectors


def usage_vector_batch(
    self: Publisher,
    words: Sequence[str],
    contexts: Sequence[Context],
    positions: Sequence[int | None] | None = None,
) -> Floats:
    """`usage_vector` of N words, each in a context of its own: much faster than N calls.

    Parameters
    ----------
    words, contexts, positions
        As in `sense_probabilities_batch`.

    Returns
    -------
    float32 (N, S)

    Raises
    ------
    TypeError, ValueError
        As `sense_probabilities_batch`; or if the model has no trees.

    Examples
    --------
    >>> model.usage_vector_batch(["bank", "rock"], ["money in the bank", "rock and roll"]).shape  # doctest: +SKIP
    (2, 400)
    """
    snapshot = self.snapshot
    selector = _uses(snapshot, "usage_vector_batch")
    if any(isinstance(given, str) or not hasattr(given, "__len__") for given in (words, contexts)):
        raise TypeError("usage_vector_batch takes a list of words and a list of as many contexts")
    if len(words) != len(contexts):
        raise ValueError(f"there must be as many contexts as words; got {len(contexts)} for {len(words)}")
    about = answers.asked(snapshot, contexts=contexts, positions=positions)
    assert about is not None  # contexts were given
    return selector.contexts(list(words), about.contexts, about.positions)[0]


def usage_similarity(
    self: Publisher,
    word: str,
    context1: Context,
    context2: Context,
    *,
    word2: str | None = None,
    position1: int | None = None,
    position2: int | None = None,
) -> float:
    """How alike two uses are in meaning: of a word in two contexts, or of two words in a context each.

    Parameters
    ----------
    word : str
        A known word.
    context1, context2 : str or list of str
        What it is used in, as in `sense_vectors`.
    word2 : str, optional
        The word that is used in `context2`, where it is another one.
    position1, position2 : int, optional
        Which occurrence is meant, as an index of the context's tokens.

    Returns
    -------
    float
        From -1 to 1. Of one word, the cosine of the two `usage_vector`. Of two, AvgSimC (`similarity`) and that cosine
        together, as (AvgSimC + 0.2 cosine) / 1.2: the words' own meanings count for more than what they are used in.

    Raises
    ------
    UnknownWordError
        A KeyError that names the nearest spellings.
    ValueError
        If the model has no trees, or a position is not one of the word.

    Examples
    --------
    >>> model.usage_similarity("bank", "money in the bank", "the bank of the river")  # doctest: +SKIP
    0.12
    """
    snapshot = self.snapshot
    other = word if word2 is None else word2
    selector = _uses(snapshot, "usage_similarity")
    for name in (word, other):
        _ = snapshot.vocabulary.index(name)
    about = answers.asked(snapshot, contexts=[context1, context2], positions=[position1, position2])
    assert about is not None  # contexts were given
    vectors, _ = selector.contexts([word, other], about.contexts, about.positions)
    cosine = float(np.clip(vectors[0].astype(np.float64) @ vectors[1].astype(np.float64), -1.0, 1.0))
    if other == word:
        return cosine
    shares = answers.probabilities_batch(snapshot, [word, other], about.contexts, about.positions)
    one, two = (unit_rows(answers.sense_vectors(snapshot, name)) for name in (word, other))
    average = float(shares[0] @ (one @ two.T) @ shares[1])
    return float(np.clip((average + _CONTEXTS_WEIGHT * cosine) / (1 + _CONTEXTS_WEIGHT), -1.0, 1.0))
