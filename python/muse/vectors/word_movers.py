"""Word mover's distance (Kusner et al. 2015): what it takes to move the words of one text to those of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from muse.base.numeric import unit_rows
from muse.base.optional import needed
from muse.data.arrays import Floats
from muse.vectors.keyed import as_list

__all__ = ["wmdistance"]


class Words(Protocol):
    """What is asked of word vectors."""

    @property
    def vectors(self) -> Floats: ...
    def index(self, key: str) -> int: ...
    def _now(self) -> Self: ...
    def __contains__(self, key: object) -> bool: ...


def wmdistance(self: Words, document1: Sequence[str], document2: Sequence[str], norm: bool = True) -> float:
    """Word mover's distance of two texts: the least mean distance that words of one travel to become the other.

    Parameters
    ----------
    document1, document2 : sequence of str
        Tokens; unknown ones are left out.
    norm : bool
        Between vectors at length one; else of the length that they have.

    Returns
    -------
    float
        The distance, from 0; infinity where no token of a text is known.

    Raises
    ------
    TypeError
        For a text that is a string, or no list of tokens.
    ImportError
        If scipy is not installed.

    Examples
    --------
    >>> from muse.vectors.model_vectors import WordVectors
    >>> vectors = WordVectors.empty(2)
    >>> vectors.add_vectors(["rain", "drizzle", "sun"], [[1, 0], [1, 0.1], [-1, 0]])
    >>> vectors.wmdistance(["rain"], ["drizzle"]) < vectors.wmdistance(["rain"], ["sun"])
    True
    """
    now = self._now()
    rows, shares = zip(*(_shares(now, text) for text in (document1, document2)), strict=True)
    if not all(map(len, rows)):
        return float("inf")
    vectors = [now.vectors[found].astype(np.float64) for found in rows]
    first, second = (unit_rows(part) if norm else part for part in vectors)
    costs = np.linalg.norm(first[:, None, :] - second[None, :, :], axis=2)
    return _transport(costs, *shares)


def _shares(now: Words, text: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The rows of the known words of a text, and the share of each in it."""
    known = [now.index(token) for token in as_list("wmdistance", text) if token in now]
    rows, counts = np.unique(np.array(known, np.int64), return_counts=True)
    return rows, counts / max(len(known), 1)


def _transport(costs: NDArray[np.float64], supply: NDArray[np.float64], demand: NDArray[np.float64]) -> float:
    """The least cost of moving the `supply` of M places to the `demand` of N, at `costs`, float64 (M, N)."""
    optimize, sparse = (needed(f"scipy.{part}", "wmdistance") for part in ("optimize", "sparse"))
    sources, targets = costs.shape
    leaves = sparse.kron(sparse.eye(sources), np.ones((1, targets)))
    arrives = sparse.kron(np.ones((1, sources)), sparse.eye(targets))
    solved = optimize.linprog(
        costs.ravel(), A_eq=sparse.vstack([leaves, arrives]).tocsr(), b_eq=np.concatenate([supply, demand]),
        method="highs",
    )  # fmt: skip
    return max(float(solved.fun), 0.0)
