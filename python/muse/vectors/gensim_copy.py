"""Vectors as gensim's own ``KeyedVectors``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from muse.base.optional import needed

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

__all__ = ["to_gensim"]


def to_gensim(keys: Sequence[str], vectors: NDArray[np.float32], counts: NDArray[np.int64]) -> KeyedVectors:
    """A copy of vectors, float32 (N, D), as gensim ``KeyedVectors``, with the count of each key, int64 (N,).

    Raises
    ------
    ImportError
        If gensim is not installed.
    """
    keyed = needed("gensim.models", "to_gensim").KeyedVectors(int(vectors.shape[1]))
    keyed.add_vectors(list(keys), np.ascontiguousarray(vectors))
    keyed.allocate_vecattrs(["count"], [np.int64])
    keyed.expandos["count"][:] = counts
    return keyed
