"""Keyed vectors: neighbours, comparisons, analogies."""

from muse.vectors.keyed import KeyedVectors
from muse.vectors.model_vectors import SenseVectors, WordVectors

__all__ = ["KeyedVectors", "SenseVectors", "WordVectors"]
