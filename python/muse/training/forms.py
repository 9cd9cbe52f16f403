"""Words that share their senses: which they are, their uses in one pool, and the trees of the pools given to each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.base.numeric import unit_rows
from muse.corpus.forms import Forms, candidates

__all__ = ["of_each_form", "pooled_uses", "shared_senses"]

Integers = NDArray[np.int64]

_LEAST_COSINE = 0.4  # of a form and its lemma, where only the spelling says that they are such


def shared_senses(words: Sequence[str], vectors: NDArray[np.float32], forms: Forms | None) -> Integers | None:
    """The lemma of each word, int64 (V,): rows of words that share their senses; None where none do.

    Parameters
    ----------
    words : sequence of V str
    vectors : float32 (V, D)
        Of the words. What rules of spelling say counts only where the vectors agree: "wills" is no form of "will".
    forms : "en", mapping, callable or None
        See `muse.corpus.forms.candidates`.
    """
    if forms is None:
        return None
    pairs = candidates(words, forms)
    if isinstance(forms, str) and len(pairs):
        cosines = np.einsum("ij,ij->i", unit_rows(vectors[pairs[:, 0]]), unit_rows(vectors[pairs[:, 1]]))
        order = np.lexsort((-cosines, pairs[:, 0]))
        pairs, cosines = pairs[order], cosines[order]
        best = np.diff(pairs[:, 0], prepend=-1) != 0
        pairs = pairs[best & (cosines >= _LEAST_COSINE)]
    of = dict(pairs.tolist())
    lemmas = np.arange(len(words))
    for form in of:
        lemmas[form] = _end_of_chain(form, of)
    return lemmas if (lemmas != np.arange(len(words))).any() else None


def _end_of_chain(word: int, lemma_of: dict[int, int]) -> int:
    """The lemma of the lemma, and so on; of a circle, which a mapping may have, the first word."""
    seen: dict[int, None] = {}
    while word in lemma_of and word not in seen:
        seen[word] = None
        word = lemma_of[word]
    if word in seen:
        chain = list(seen)
        return min(chain[chain.index(word) :])
    return word


def pooled_uses(
    offsets: Integers, places: Integers, counts: Integers, lemma: Integers, most: int
) -> tuple[Integers, Integers]:
    """Uses of the words, those of forms as uses of their lemmas: in proportion to their counts, `most` at most.

    Parameters
    ----------
    offsets, places : int64 (V + 1,), (N,)
        Sampled uses: those of word i are ``places[offsets[i]:offsets[i + 1]]``, in the order of the text.
    counts : int64 (V,)
        How often the words occur.
    lemma : int64 (V,)
    most : int

    Returns
    -------
    offsets, places
        The same; forms have none of their own.
    """
    sizes = np.diff(offsets)
    total = np.bincount(lemma, counts, len(counts))[lemma]
    wanted = np.where(total > most, np.floor(most * counts / np.maximum(total, 1)), counts).astype(np.int64)
    taken = np.minimum(sizes, wanted)
    taken = np.where((lemma == np.arange(len(lemma))) & (np.bincount(lemma, minlength=len(lemma)) == 1), sizes, taken)
    word = np.repeat(np.arange(len(sizes)), taken)
    place = np.arange(len(word)) - np.repeat(np.cumsum(taken) - taken, taken)
    chosen = places[offsets[word] + place * sizes[word] // np.maximum(taken[word], 1)]
    owner = lemma[word]
    order = np.lexsort((chosen, owner))
    pooled: Integers = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=len(lemma)))))
    return pooled, chosen[order]


def of_each_form(found: Any, lemma: Integers) -> Any:
    """What `_core.grow_trees` found for lemmas, for each of their forms too."""
    leaves = np.diff(found["leaf_offset"])
    joins = np.maximum(leaves - 1, 0)

    def rows(sizes: Integers) -> Integers:
        starts = (np.cumsum(sizes) - sizes)[lemma]
        each = sizes[lemma]
        return np.repeat(starts - np.cumsum(each) + each, each) + np.arange(each.sum())

    of_leaves, of_joins = rows(leaves), rows(joins)
    spread = {name: found[name][of_leaves] for name in ("means", "counts", "topics")}
    spread |= {name: found[name][of_joins] for name in ("joins", "strengths")}
    return {"leaf_offset": np.concatenate(([0], np.cumsum(leaves[lemma]))), **spread}
