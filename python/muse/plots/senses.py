"""Where the neighbours of a word's senses lie, in two dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse.base.figures import new_axes, place_labels, style_of
from muse.base.numeric import principal_components, unit_rows
from muse.base.optional import needed
from muse.base.text import one_line
from muse.data.snapshot import Snapshot
from muse.vectors.model_vectors import SenseVectors
from muse.vectors.sense_keys import split_sense_key

__all__ = ["SenseMap2D", "draw_senses", "map_of_senses"]

Floats = NDArray[np.float32]

_LEAST_FOR_UMAP = 4  # points
_LOOKED_AT = 10  # times as many neighbours are looked at as are shown


class SenseMap2D(NamedTuple):
    """Points for the senses of a word and their neighbours.

    Attributes
    ----------
    keys : list of str
        The K senses of the word, and then N neighbours.
    owners : list of int
        The place of the sense that each of them is, or is nearer to than to the others.
    points : float (K + N, 2)
        Where they lie.
    """

    keys: list[str]
    owners: list[int]
    points: NDArray[np.float64]


def map_of_senses(snapshot: Snapshot, word: str, topn: int, method: str, seed: int = 0) -> SenseMap2D:
    """The senses of a word, and neighbours that tell them apart, in two dimensions.

    Parameters
    ----------
    snapshot : Snapshot
        A trained model.
    word : str
    topn : int
        Neighbours of each sense, at most.
    method : {"pca", "umap"}
        The two directions in which they vary most, or UMAP, which is a library of its own.
    seed : int
        Of UMAP.
    """
    arrays, senses = snapshot.arrays, SenseVectors(snapshot)
    row = snapshot.vocabulary.index(word)
    own = unit_rows(arrays.sense_vectors[arrays.rows_of(row)], np.float32)
    near = senses.neighbours_of(word, topn * _LOOKED_AT, exclude_same_word=True)
    found, owners = _chosen(senses, own, [[key for key, _ in neighbours] for neighbours in near], topn)
    keys = [f"{word}#{number}" for number in arrays.numbers_of(row).tolist()]
    vectors = np.concatenate([own, *([_units_of(senses, found)] if found else [])])
    points = _umap(vectors, seed) if method == "umap" and len(vectors) >= _LEAST_FOR_UMAP else _principal(vectors)
    return SenseMap2D(keys + found, [*range(len(keys)), *owners], points)


def _units_of(senses: SenseVectors, keys: Sequence[str]) -> Floats:
    return unit_rows(np.stack([senses[key] for key in keys]), np.float32)


def _chosen(senses: SenseVectors, own: Floats, near: list[list[str]], topn: int) -> tuple[list[str], list[int]]:
    """Of what is near to each sense, (K, D), what is nearer to it than to the others, and of which sense each is.

    A word is there once. A single sense has its nearest neighbours.
    """
    listed = list(dict.fromkeys(key for keys in near for key in keys))
    if not listed:
        return [], []
    cosines = _units_of(senses, listed) @ own.T
    rank = {key: row for row, key in enumerate(listed)}
    found: dict[str, tuple[str, int]] = {}
    for sense, keys in enumerate(near):
        mine = np.array([rank[key] for key in keys], np.int64)
        others = np.delete(cosines[mine], sense, axis=1).max(axis=1, initial=-np.inf)
        apart = cosines[mine, sense] - others if len(near) > 1 else cosines[mine, sense]
        taken = 0
        for place in np.argsort(-apart, kind="stable").tolist():
            other = (split_sense_key(keys[place]) or (keys[place], 0))[0]
            if taken < topn and other not in found and (len(near) == 1 or apart[place] > 0):
                found[other] = keys[place], sense
                taken += 1
    return [key for key, _ in found.values()], [sense for _, sense in found.values()]


def _principal(vectors: Floats) -> NDArray[np.float64]:
    """The two principal components, float64 (N, 2); the larger entries of each axis are positive."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    axes = principal_components(centred)[0][:, :2]
    points = np.zeros((len(vectors), 2))
    points[:, : axes.shape[1]] = centred @ axes
    return points


def _umap(vectors: Floats, seed: int) -> NDArray[np.float64]:
    umap = needed("umap", "a map by UMAP; leave method out for principal components")
    fitted = umap.UMAP(n_neighbors=min(15, len(vectors) - 1), metric="cosine", random_state=seed)
    points: NDArray[np.float64] = np.asarray(fitted.fit_transform(vectors), np.float64)
    return points


def draw_senses(snapshot: Snapshot, word: str, found: SenseMap2D, ax: Any) -> Any:
    """Draw a map; see `MUSE.plot_senses`."""
    ax = new_axes(ax, "plot_senses", (8, 6))
    names, row = snapshot.shown_names(word), snapshot.vocabulary.index(word)
    shares = snapshot.arrays.prior(row).tolist()
    owners = np.array(found.owners)
    for place, (key, share) in enumerate(zip(found.keys, shares, strict=False)):
        colour, marker = style_of(place)
        name = names.get(int(key.rpartition("#")[2]))
        label = one_line(key, 40) + (f" {one_line(name, 40)}" if name else "") + f", {share:.0%}"
        mine = np.flatnonzero(owners == place)[1:]
        ax.scatter(*found.points[mine].T, s=28, color=colour, marker=marker, alpha=0.8, linewidths=0)
        ax.scatter(*found.points[place], s=130, color=colour, marker=marker, edgecolors="black", label=_plain(label))
    ax.margins(0.16, 0.1)
    texts = []
    for place, (key, owner) in enumerate(zip(found.keys, found.owners, strict=True)):
        sense = place < len(shares)
        named = names.get(int(key.rpartition("#")[2])) if sense else None
        shown = key if sense else (split_sense_key(key) or (key, 0))[0]
        texts.append(
            ax.annotate(
                one_line(shown, 40) + (f" {one_line(named, 40)}" if named else ""), found.points[place], xytext=(0, 0),
                textcoords="offset points", ha="center", va="center", fontsize=10 if sense else 8, parse_math=False,
                color=style_of(owner)[0], fontweight="bold" if sense else "normal", annotation_clip=False,
            )
        )  # fmt: skip
        texts[-1].may_go = not sense
    ax.set_title(f"{one_line(word, 40)}: what its senses are near to", parse_math=False)
    ax.set_xticks([])
    ax.set_yticks([])
    legend = ax.legend(fontsize=8, loc="best", framealpha=0.8)
    for text in legend.get_texts():
        text.set_parse_math(False)
    place_labels(ax, found.points, texts)
    return ax


def _plain(label: str) -> str:
    """A label that matplotlib's legend takes: it leaves out those that begin with a line below."""
    return f" {label}" if label.startswith("_") else label
