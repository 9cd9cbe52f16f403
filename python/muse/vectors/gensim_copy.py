"""Vectors as gensim's own ``KeyedVectors``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from muse.base.optional import needed

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

__all__ = ["HEIRS", "to_gensim"]

HEIRS = {
    "vocab": "it is key_to_index, and get_vecattr(key, 'count') for counts, since gensim 4",
    "index2word": "it is index_to_key since gensim 4",
    "index2entity": "it is index_to_key since gensim 4",
    "syn0": "it is vectors since gensim 4",
    "syn0norm": "it is get_normed_vectors() since gensim 4",
    "vectors_norm": "it is get_normed_vectors() since gensim 4",
    "init_sims": "it is not needed: lengths are taken when they are; get_normed_vectors() gives unit vectors",
    "unit_normalize_all": "it would change the model; get_normed_vectors() gives a copy",
    "wmdistance": "word vectors have it: model.wv.wmdistance",
    "set_vecattr": "word vectors that are your own have it",
    "accuracy": "it is evaluate_word_analogies since gensim 4",
    "wv": "these are the word vectors",
    "vectors_lockf": "vectors of one word cannot be locked",
    "resize_vectors": "add_vectors makes the room that it needs",
    "intersect_word2vec_format": "muse.KeyedVectors has it; the selector of a model could not follow",
    "allocate_vecattrs": "set_vecattr makes the room that it needs",
    "similarity_unseen_docs": "gensim 4 has it no more; n_similarity compares lists of words",
    "load_word2vec_format": "it is muse.KeyedVectors.load_word2vec_format, or muse.load_vectors(path).wv",
}
"""What to use in place of names that gensim had or has."""


def to_gensim(
    keys: Sequence[str],
    vectors: NDArray[np.float32],
    counts: NDArray[np.int64],
    names: Mapping[int, str] | None = None,
) -> KeyedVectors:
    """A copy of vectors, float32 (N, D), as gensim ``KeyedVectors``, with the count of each key, int64 (N,).

    Where some senses have `names`, by row, the attribute ``name`` of their keys holds them.

    Raises
    ------
    ImportError
        If gensim is not installed.
    """
    keyed = needed("gensim.models", "to_gensim").KeyedVectors(int(vectors.shape[1]))
    keyed.add_vectors(list(keys), np.ascontiguousarray(vectors))
    keyed.allocate_vecattrs(["count"], [np.int64])
    keyed.expandos["count"][:] = counts
    if names:
        keyed.allocate_vecattrs(["name"], [object])
        keyed.expandos["name"][:] = None
        for row, name in names.items():
            keyed.expandos["name"][row] = name
    return keyed
