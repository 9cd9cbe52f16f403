"""What the page shows of a word, in the types of JSON: its sense tree, all cuts of it, neighbours and their map, uses.

All cuts are told at once, so that the page can cut anew without asking; places of neighbours on the map stay where they
are whatever the cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.base.numeric import principal_components, unit_rows
from muse.data.arrays import Floats
from muse.data.word_tree import WordTree
from muse.explorer.models import ExploredModel
from muse.explorer.uses import Use
from muse.model.cards import label_words
from muse.model.muse import MUSE
from muse.vectors.sense_keys import SenseKey, parse_sense_key

__all__ = ["colours", "cuts_of", "names_of", "node_vectors", "projected", "sense_axes", "uses_view", "word_view"]

_SOUGHT = 40  # neighbours of a node
_MOST_LEVELS = 24
_USES = 6  # of each sense that are shown
_AROUND = 12  # words on each side of a use

View = dict[str, Any]


def word_view(explored: ExploredModel, word: str) -> View:
    """All that the cards and the map of a word need.

    Parameters
    ----------
    explored : ExploredModel
        The model.
    word : str
        A known word.

    Returns
    -------
    dict
        ``nodes`` of the tree by number, each with share, strength, parts, name, neighbours and a colour (0, 1, ...: of
        the nodes of a cut no two have the same, and the larger part of a node has its colour). ``cuts``: for each
        number of senses the numbers of nodes; ``own``: those that are the model's senses. ``labels``: words that tell
        the nodes of a cut apart, by number, for each of ``cuts`` and, last, for ``own``. ``points`` of the map, word,
        number of its sense, x, y; ``near``: the cosine of each with each node. ``explained``: how much of the variance
        between the senses each of the map's axes shows.

    Raises
    ------
    UnknownWordError
        A KeyError that names the nearest spellings.
    """
    model = explored.model
    tree = model.sense_tree(word, topn=_SOUGHT)
    vectors = unit_rows(node_vectors(model, word)).astype(np.float32)
    cuts = cuts_of(model, tree)
    keys: list[SenseKey] = sorted({key for node in tree.nodes for key, _ in node.neighbours})
    places = {key: place for place, key in enumerate(keys)}
    found = unit_rows(model.sv[keys]).astype(np.float32) if keys else np.zeros((0, vectors.shape[1]), np.float32)
    cosines = found @ vectors.T
    finest = list(tree.leaves)
    axes, explained = sense_axes(vectors[finest], np.array([tree.nodes[leaf].share for leaf in finest]), found)
    at_nodes, at_points = projected(vectors, axes), projected(found, axes)
    colour, names = colours(cuts, tree), names_of(model, word)
    labels = [_labels(tree, places, cosines, cut) for cut in [*cuts, list(tree.senses)]]
    nodes = [
        {
            "number": node.number, "share": _rounded(node.share), "strength": _rounded(node.strength),
            "parts": list(node.parts), "name": names.get(node.number), "colour": colour[node.number],
            "x": _rounded(at_nodes[node.number, 0]), "y": _rounded(at_nodes[node.number, 1]),
            "neighbours": [[places[key], _rounded(cosine)] for key, cosine in node.neighbours],
        }
        for node in tree.nodes
    ]  # fmt: skip
    return {
        "word": tree.word, "count": tree.count, "rank": model.vocabulary.index(word) + 1, "root": tree.root,
        "own": list(tree.senses), "cuts": cuts, "labels": labels, "nodes": nodes,
        "points": [
            [*parse_sense_key(key), _rounded(x), _rounded(y)]
            for key, (x, y) in zip(keys, at_points.tolist(), strict=True)
        ],
        "near": [[_rounded(cosine) for cosine in near] for near in cosines.tolist()],
        "explained": [_rounded(share) for share in explained],
    }  # fmt: skip


def _rounded(number: float) -> float:
    return round(float(number), 3) if np.isfinite(number) else 0.0  # JSON has no other numbers


def node_vectors(model: MUSE, word: str) -> Floats:
    """Vectors of the nodes of a word's tree, float32 (nodes, D); of its senses, where it has no tree."""
    snapshot, row = model.snapshot, model.vocabulary.index(word)
    if snapshot.forest is not None and snapshot.forest.trees.n_leaves[row]:
        return snapshot.forest.node_vectors(row)
    return snapshot.arrays.sense_vectors[snapshot.arrays.rows_of(row)]


def cuts_of(model: MUSE, tree: WordTree) -> list[list[int]]:
    """For each number of senses, from one on, the numbers of the nodes; without a tree, the model's own."""
    if tree.root is None or len(tree.nodes) == 1:
        return [list(tree.senses)]
    levels = min(_MOST_LEVELS, len(tree.leaves))
    return [model.sense_numbers(tree.word, level=level).tolist() for level in range(1, levels + 1)]


def colours(cuts: Sequence[Sequence[int]], tree: WordTree) -> list[int]:
    """A number for the colour of each node: of a cut's nodes no two are alike, and they change little between cuts."""
    found: dict[int, int] = {}
    taken = 0
    waiting = [number for cut in cuts for number in sorted(cut, key=lambda number: -tree.nodes[number].share)]
    for number in [*waiting, *(node.number for node in tree.nodes)]:
        if number in found:
            continue
        found[number], taken = taken, taken + 1
        largest = tree.nodes[number]
        while largest.parts:  # the larger part, the first one, goes on in this colour
            found[largest.parts[0]] = found[number]
            largest = tree.nodes[largest.parts[0]]
    return [found[node.number] for node in tree.nodes]


def names_of(model: MUSE, word: str) -> Mapping[int, str]:
    """The names of nodes of a word's tree, by their numbers."""
    return dict(model.snapshot.shown_names(word, parts=False))


def _labels(tree: WordTree, places: Mapping[SenseKey, int], cosines: Floats, cut: Sequence[int]) -> dict[int, str]:
    """A few words for each node of a cut that tell it from the others."""
    labels = {}
    for place, number in enumerate(cut):
        near = list(tree.nodes[number].neighbours)
        rows = [places[key] for key, _ in near]
        labels[number] = label_words(tree.word, (), near, cosines[np.ix_(rows, cut)], place)
    return labels


def sense_axes(senses: Floats, shares: NDArray[Any], words: Floats) -> tuple[NDArray[np.float64], list[float]]:
    """The two directions in which the senses of a word differ most, float64 (D, 2), and their shares of that variance.

    They are the principal components of the senses' vectors (K, D), each of the weight of its share. Where the senses
    have fewer than two, those of the `words` (M, D) near them follow.
    """
    weights = np.asarray(shares, np.float64)[:, None] / max(float(np.sum(shares)), 1e-12)
    apart = (senses - (weights * senses).sum(axis=0)) * np.sqrt(weights)
    axes, sizes = principal_components(apart)
    total = float((apart**2).sum())
    explained = [float(size) ** 2 / total for size in sizes[:2]]
    if axes.shape[1] < 2 and len(words):
        centred = words - words.mean(axis=0, dtype=np.float64)
        more, _ = principal_components(centred - centred @ axes @ axes.T)
        axes = np.concatenate((axes, more), axis=1)
    missing = np.zeros((senses.shape[1], max(0, 2 - axes.shape[1])))
    return np.concatenate((axes, missing), axis=1)[:, :2], [*explained, 0.0, 0.0][:2]


def projected(vectors: Floats, axes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where vectors (N, D) are along two axes, (N, 2), seen from their mean."""
    return (vectors - vectors.mean(axis=0, dtype=np.float64)) @ axes if len(vectors) else np.zeros((0, 2))


# -- uses --------------------------------------------------------------------------------------------------------------


def uses_view(explored: ExploredModel, word: str, uses: Sequence[Use]) -> View:
    """The uses of a word of which the selector is surest, for each cut and each of its senses.

    Parameters
    ----------
    explored : ExploredModel
        The model.
    word : str
        A known word.
    uses : sequence of Use
        Of this word.

    Returns
    -------
    dict
        ``read``: how many there were. ``texts``: what stands before, the word, what stands after. ``cuts``: for each
        cut, as in `word_view`, and then the model's own, for each of its nodes a list of (place in ``texts``,
        probability).
    """
    model = explored.model
    tree = model.sense_tree(word, topn=0)
    by_text = {
        (" ".join(tokens[max(0, at - _AROUND) : at]), " ".join(tokens[at + 1 : at + 1 + _AROUND])): (tokens, at)
        for tokens, at in uses
    }
    texts, contexts = list(by_text), [list(tokens) for tokens, _ in by_text.values()]
    positions = [at for _, at in by_text.values()]
    places: dict[int, int] = {}
    found: list[dict[int, list[tuple[int, float]]]] = []
    cuts = cuts_of(model, tree)
    for place, cut in enumerate([*cuts, list(tree.senses)]):
        level = place + 1 if place < len(cuts) and tree.root is not None and len(tree.nodes) > 1 else None
        of_each: dict[int, list[tuple[int, float]]] = {number: [] for number in cut}
        if contexts:
            shares = model.sense_probabilities(word, contexts=contexts, positions=positions, level=level)
            best = shares.argmax(axis=1)
            for column, number in enumerate(cut):
                mine = np.flatnonzero(best == column)
                surest = mine[np.argsort(-shares[mine, column], kind="stable")].tolist()
                of_each[number] = [
                    (places.setdefault(use, len(places)), _rounded(shares[use, column]))
                    for use in _one_of_each_sentence(surest, contexts)
                ]
        found.append(of_each)
    return {
        "read": len(uses),
        "texts": [[texts[use][0], word, texts[use][1]] for use in places],
        "cuts": found,
    }


def _one_of_each_sentence(uses: Iterable[int], contexts: Sequence[Sequence[str]]) -> list[int]:
    """The first few uses; of a sentence that holds the word twice, one."""
    found: dict[tuple[str, ...], int] = {}
    for use in uses:
        found.setdefault(tuple(contexts[use]), use)
        if len(found) == _USES:
            break
    return list(found.values())
