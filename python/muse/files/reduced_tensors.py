"""Tensors of a model file of half the size: which are reduced, and what stands in for those that are not in it.

In a file of `dtype` "float16" or "int8" the tensors of `REDUCIBLE` have that type; beside each ``name`` of int8 stands
``name_scale``, float32, one for each row. Whole numbers have four bytes where these do. The vectors of senses that
are nodes of trees, ``sense_vectors`` and ``selection_vectors``, are left out where the trees give them.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.data.arrays import MATRICES, Arrays
from muse.data.forest import Forest
from muse.data.reduced import Held, Reduced, held_by, reduced_rows
from muse.data.snapshot import Snapshot
from muse.files.tensor_file import DamagedFileError

__all__ = ["OF_TREES", "REDUCIBLE", "expect_senses_of_trees", "held", "make_senses_of_trees", "reduced", "widened"]

Tensors = Mapping[str, Any]

REDUCIBLE = (*MATRICES, "leaf_means", "leaf_shifts", "word_vectors", "order_vectors")
OF_TREES = ("sense_vectors", "selection_vectors")
_SCALE = "_scale"


def reduced(tensors: Tensors, snapshot: Snapshot, dtype: str) -> dict[str, Any]:
    """The tensors of a model as a file of a `dtype` has them.

    Raises
    ------
    ValueError
        If a matrix holds what that type cannot.
    """
    left_out = OF_TREES if _trees_give_senses(snapshot) else ()
    made: dict[str, Any] = {}
    for name, tensor in tensors.items():
        if name not in REDUCIBLE:
            fits = tensor.dtype == np.int64 and np.abs(tensor).max(initial=0) <= np.iinfo(np.int32).max
            made[name] = tensor.astype(np.int32) if fits else tensor
        elif name not in left_out:
            try:
                made[name], scales = reduced_rows(tensor, dtype)
            except ValueError as error:
                raise ValueError(f"the model is not saved: {name} {error}") from error
            if scales is not None:
                made[name + _SCALE] = scales
    return made


def _trees_give_senses(snapshot: Snapshot) -> bool:
    """Whether the vectors of the senses are those of the cut of the trees, and not changed by hand."""
    forest, arrays = snapshot.forest, snapshot.arrays
    if forest is None or not forest.is_cut(arrays):
        return False
    pairs = zip((arrays.sense_vectors, arrays.selection_vectors), forest.matrices(), strict=True)
    # Near, since another numpy may round otherwise.
    return all(np.allclose(ours, theirs, rtol=1e-4, atol=1e-6) for ours, theirs in pairs)


def held(tensors: Tensors) -> dict[str, Any]:
    """The tensors of such a file, with those of fewer bytes as `Held`; a DamagedFileError if they cannot be that."""
    scales = {name + _SCALE: name for name, tensor in tensors.items() if _is_reduced(name, tensor)}
    made: dict[str, Any] = {}
    for name, tensor in tensors.items():
        if not _is_reduced(name, tensor):
            if name not in scales:
                made[name] = tensor.astype(np.int64) if tensor.dtype == np.int32 and name != "joins" else tensor
            continue
        try:
            made[name] = Reduced(tensor, tensors.get(name + _SCALE))
        except ValueError as error:
            raise DamagedFileError(f"{name} {error}") from error
    return made


def widened(tensors: dict[str, Any]) -> dict[str, Any]:
    """The tensors of such a file, all of float32 and writable; what they were is let go one by one."""
    made = held(tensors)
    tensors.clear()
    for name, tensor in made.items():
        if isinstance(tensor, Reduced):
            if not tensor.is_finite():
                raise DamagedFileError(f"{name} holds values that are not finite numbers")
            made[name] = tensor.widened()
    return made


def _is_reduced(name: str, tensor: NDArray[Any]) -> bool:
    return name in REDUCIBLE and tensor.dtype in (np.float16, np.int8)


def expect_senses_of_trees(tensors: Tensors) -> dict[str, Any]:
    """The tensors with those of `OF_TREES`, which `make_senses_of_trees` makes, where the trees are to give them."""
    givers = ("word_vectors", "leaf_means", "sense_counts")
    if any(name in tensors for name in OF_TREES) or any(name not in tensors for name in givers):
        return dict(tensors)
    words, means, counts = (tensors[name] for name in givers)
    if (words.ndim, means.ndim, counts.ndim) != (2, 2, 1):
        return dict(tensors)
    shapes = ((len(counts), words.shape[1]), (len(counts), means.shape[1]))
    return {**tensors, **{name: Held(shape, _not_yet) for name, shape in zip(OF_TREES, shapes, strict=True)}}


def _not_yet() -> Any:
    raise DamagedFileError("it lacks the trees that its senses are made of")


def make_senses_of_trees(arrays: Arrays, forest: Forest, *, now: bool) -> None:
    """Let the trees give what `expect_senses_of_trees` has promised: `now`, or when it is first read."""
    promised = held_by(arrays)
    if not all(name in promised and promised[name].make is _not_yet for name in OF_TREES):
        return
    both = functools.cache(forest.matrices)
    if now:
        arrays.sense_vectors, arrays.selection_vectors = both()
        return
    for place, name in enumerate(OF_TREES):
        setattr(arrays, name, Held(promised[name].shape, functools.partial(_one_of, both, place)))


def _one_of(both: Any, place: int) -> Any:
    return both()[place]
