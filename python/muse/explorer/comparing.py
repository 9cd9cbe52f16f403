"""Which senses of a word in one model are which in another, whose vectors mean something else."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.base.numeric import unit_rows
from muse.explorer.models import ExploredModel
from muse.explorer.words import node_vectors
from muse.vectors.sense_keys import parse_sense_key

__all__ = ["compare_words"]

_NEAR = 40  # neighbours of each node that are anchors
_FREQUENT = 2000  # words that are anchors, too

Numbers = NDArray[np.float64]


def compare_words(one: ExploredModel, other: ExploredModel, word: str) -> dict[str, Any]:
    """How alike the nodes of a word's tree are in two models.

    Vectors of two models cannot be compared, but how near they are to words that both models know, the anchors, can be:
    those that are near the word in either model, and frequent ones. From these cosines that of the word as a whole is
    taken off, so that they tell what is special of a node; two nodes are as alike as theirs correlate. The word as a
    whole has nothing special: it is compared with nodes by the cosines themselves.

    Parameters
    ----------
    one, other : ExploredModel
        The models.
    word : str
        Known to both.

    Returns
    -------
    dict
        ``anchors``: how many words; ``alike``: for each node of the one, by number, and each of the
        other, from -1 to 1.

    Raises
    ------
    UnknownWordError
        A KeyError that names the nearest spellings.
    """
    anchors = [known for known in {**_near(one, word), **_near(other, word)} if known != word]
    frequent = [known for known in one.model.vocabulary.words[: 2 * _FREQUENT] if known != word]
    both = [known for known in dict.fromkeys([*anchors, *frequent]) if known in one.model and known in other.model]
    both = both[: len(anchors) + _FREQUENT]
    if not both:
        shape = [len(node_vectors(explored.model, word)) for explored in (one, other)]
        return {"word": word, "anchors": 0, "alike": np.zeros(shape).tolist()}
    (plain, special, top), (plain2, special2, top2) = (_cosines(explored, word, both) for explored in (one, other))
    alike = _correlations(special, special2)
    whole = _correlations(plain, plain2)
    alike[top], alike[:, top2] = whole[top], whole[:, top2]
    return {"word": word, "anchors": len(both), "alike": np.round(alike, 2).tolist()}


def _near(explored: ExploredModel, word: str) -> dict[str, None]:
    """The words that are near nodes of a word's tree."""
    nodes = explored.model.sense_tree(word, topn=_NEAR).nodes
    return dict.fromkeys(parse_sense_key(key)[0] for node in nodes for key, _ in node.neighbours)


def _cosines(explored: ExploredModel, word: str, anchors: list[str]) -> tuple[Numbers, Numbers, NDArray[np.bool_]]:
    """Cosines of nodes and anchors, (N, M); those less the word's as a whole; and which node is the word as a whole."""
    tree = explored.model.sense_tree(word, topn=0)
    vectors = unit_rows(node_vectors(explored.model, word)).astype(np.float64)
    cosines: Numbers = vectors @ unit_rows(explored.model.wv[anchors]).T
    if tree.root is not None:
        whole = cosines[tree.root]
    else:
        shares = np.array([node.share for node in tree.nodes])
        whole = shares @ cosines / max(float(shares.sum()), 1e-12)
    top = np.arange(len(vectors)) == (-1 if tree.root is None else tree.root)
    return cosines, cosines - whole, top


def _correlations(one: Numbers, other: Numbers) -> Numbers:
    """Of each row of one with each of the other, (N, N2); 0 where a row says nothing."""
    rows = [numbers - numbers.mean(axis=1, keepdims=True) for numbers in (one, other)]
    lengths = [np.linalg.norm(numbers, axis=1, keepdims=True) for numbers in rows]
    units = [
        np.divide(numbers, length, out=np.zeros_like(numbers), where=length > 1e-9)
        for numbers, length in zip(rows, lengths, strict=True)
    ]
    alike: Numbers = np.nan_to_num(units[0] @ units[1].T)
    return alike
