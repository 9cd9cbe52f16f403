"""An index of vectors that finds near neighbours without looking at all: a graph (HNSW), through usearch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from muse.base.checks import integer, path_like
from muse.base.limits import usable_cores
from muse.base.numeric import as_cosines, unit_rows
from muse.base.optional import needed
from muse.errors import ModelFileError
from muse.files.packed_words import PackedWords, packed_words
from muse.files.tensor_file import DamagedFileError, ForeignFileError, TensorFile, write_tensors
from muse.vectors.keyed import check_topn

__all__ = ["NO_KEY", "NeighbourIndex", "asked_index", "made_index"]

Floats = NDArray[np.float32]

_FORMAT, _VERSION = "muse-index", "1"
_TENSORS = {"graph", "keys", "keys_offset"}
_BLOCK_ROWS = 1 << 14
_KINDS = {"float32": "f32", "float16": "f16", "int8": "i8"}
NO_KEY: Any = object()  # where none is given; None is a wrong one
_OPTIONS = ("connectivity", "expansion", "build_expansion", "dtype", "workers")
_LARGEST = 1 << 20


class NeighbourIndex:
    """Near neighbours by a graph: what ``model.sv.index()`` and ``model.wv.index()`` give.

    ``most_similar(..., indexer=index)`` asks it in place of an exact search, and so does gensim, whose indexes have the
    same methods. What it misses, and how fast it is, is measured in docs/neighbours.md.

    Parameters
    ----------
    graph : usearch.index.Index
        Its keys are rows.
    keys : sequence of str
        The key of each row.

    Examples
    --------
    >>> index = model.sv.index()  # doctest: +SKIP
    >>> model.sv.most_similar("bank#0", indexer=index)  # doctest: +SKIP
    >>> index.save("senses.index")  # doctest: +SKIP
    >>> index = NeighbourIndex.load("senses.index", mmap=True)  # doctest: +SKIP
    """

    def __init__(self, graph: Any, keys: Sequence[str]) -> None:
        self._graph, self._keys = graph, keys
        self._memory: NDArray[np.uint8] | None = None

    @classmethod
    def of(
        cls,
        vectors: Floats,
        keys: Sequence[str],
        *,
        connectivity: int = 16,
        expansion: int = 64,
        build_expansion: int = 128,
        dtype: str = "float32",
        workers: int | None = None,
    ) -> NeighbourIndex:
        """Make one of `vectors`, float32 (N, D), and their `keys`; the options are those of `SenseVectors.index`."""
        if dtype not in _KINDS:
            raise ValueError(f"dtype must be one of {', '.join(map(repr, _KINDS))}; got {dtype!r:.80}")
        count = integer(1, _LARGEST)
        graph = _usearch("an index of neighbours").Index(
            ndim=vectors.shape[1], metric="cos", dtype=_KINDS[dtype],
            connectivity=integer(2, 1024)("connectivity", connectivity),
            expansion_add=count("build_expansion", build_expansion), expansion_search=count("expansion", expansion),
        )  # fmt: skip
        threads = usable_cores() if workers is None else integer(1, 4096)("workers", workers)
        for first in range(0, len(vectors), _BLOCK_ROWS):
            block = unit_rows(vectors[first : first + _BLOCK_ROWS]).astype(np.float32)
            rows = np.flatnonzero(np.isfinite(block).all(axis=1) & block.any(axis=1))  # zeros are near to nothing
            if len(rows):
                graph.add((first + rows).astype(np.uint64), np.ascontiguousarray(block[rows]), threads=threads)
        return cls(graph, keys)

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def vector_size(self) -> int:
        """D, of the vectors."""
        return int(self._graph.ndim)

    @property
    def expansion(self) -> int:
        """How many candidates a search keeps: more miss less and take longer. It can be set at any time."""
        return int(self._graph.expansion_search)

    @expansion.setter
    def expansion(self, count: int) -> None:
        self._graph.expansion_search = integer(1, _LARGEST)("expansion", count)

    def __repr__(self) -> str:
        return f"<NeighbourIndex: {len(self):,} keys, dimension {self.vector_size}, expansion {self.expansion}>"

    def rows(self, vector: Floats, count: int) -> NDArray[np.int64]:
        """The rows of up to `count` vectors that are near to one, float32 (D,); int64, nearest first."""
        if not np.any(vector):
            return np.arange(min(count, len(self)))  # all are equally far from nothing
        found: NDArray[np.int64] = self._graph.search(vector, count, threads=1).keys.astype(np.int64)
        return found

    def most_similar(self, vector: Floats, num_neighbors: int = 10) -> list[tuple[str, float]]:
        """The keys that are near to a vector, float32 (D,), and their cosines, as the index has them; nearest first."""
        query = np.asarray(vector, np.float32)
        if query.shape != (self.vector_size,) or not np.isfinite(query).all():
            raise ValueError(f"the vector must hold {self.vector_size} finite numbers; it has the shape {query.shape}")
        wanted = min(integer(1)("num_neighbors", num_neighbors), max(len(self), 1))
        found = self._graph.search(query, wanted, threads=1)
        cosines = np.clip(1 - np.asarray(found.distances, np.float64), -1, 1).tolist()
        return [(self._keys[int(row)], cosine) for row, cosine in zip(found.keys.tolist(), cosines, strict=True)]

    def check_fits(self, count: int, size: int) -> None:
        """Raise a ValueError if it is not of so many vectors of this size."""
        if (len(self), self.vector_size) != (count, size):
            raise ValueError(
                f"the index is of {len(self):,} vectors of {self.vector_size} numbers, and these are {count:,} of "
                f"{size}: it was made before they changed, or of others; make it anew with index()"
            )

    # -- files -------------------------------------------------------------------------------------------------------

    def save(self, fname: str | PathLike[str]) -> None:
        """Write it to the file `fname`; one of that name is replaced only when the new one is complete."""
        words, offsets = packed_words(self._keys)
        graph = np.frombuffer(self._graph.save(), np.uint8)
        described = json.dumps({"expansion": self.expansion, "build_expansion": self._graph.expansion_add})
        metadata = {"format": _FORMAT, "version": _VERSION, "index": described}
        write_tensors(fname, {"graph": graph, "keys": words, "keys_offset": offsets}, metadata, checked=["index"])

    @classmethod
    def load(cls, fname: str | PathLike[str], *, mmap: bool = False) -> NeighbourIndex:
        """Read what `save` wrote to `fname`; with `mmap` its pages are shared between processes.

        The graph is read by usearch, whose code trusts it: load only files that you trust.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ModelFileError
            If it is something else, or damaged.
        """
        name, library = path_like("the index", fname), _usearch("an index of neighbours")
        try:
            with TensorFile(fname) as file:
                if file.metadata.get("format") != _FORMAT or file.metadata.get("version") != _VERSION:
                    raise ModelFileError(f"{name!r} is no index that this version of muse wrote; make it anew")
                file.check()
                if file.names != _TENSORS:
                    raise DamagedFileError(f"it holds {sorted(file.names)}")
                words, offsets = file.read("keys"), file.read("keys_offset")
                graph = file.view("graph") if mmap else file.read("graph")
                keys, settings = _checked_keys(words, offsets, name), json.loads(file.metadata["index"])
                index = cls._of_parts(library, graph, keys, settings, mmap)
        except ModelFileError:
            raise
        except (ForeignFileError, DamagedFileError, ValueError, KeyError, TypeError) as error:
            raise ModelFileError(f"{name!r} is no index, or it is damaged ({error}); make it anew") from error
        return index

    @classmethod
    def _of_parts(
        cls, library: Any, graph: NDArray[np.uint8], keys: Sequence[str], settings: Any, mmap: bool
    ) -> NeighbourIndex:
        restored = library.Index.restore(graph.data, view=mmap)
        if restored is None or len(restored) > len(keys):
            raise DamagedFileError("its graph is of another number of keys")
        restored.expansion_add = integer(1, _LARGEST)("build_expansion", settings["build_expansion"])
        index = cls(restored, keys)
        index.expansion = settings["expansion"]
        index._memory = graph  # which usearch looks into, and does not keep
        return index


def _checked_keys(words: NDArray[Any], offsets: NDArray[Any], name: str) -> PackedWords:
    if offsets.ndim != 1 or not len(offsets):
        raise DamagedFileError("the offsets of its keys are inconsistent")
    return PackedWords.checked(words, offsets, len(offsets) - 1, name)


class Indexed(Protocol):
    """What is asked of the vectors that an index is made of, or asked for; see `muse.vectors.keyed`."""

    @property
    def vectors(self) -> Floats: ...
    @property
    def index_to_key(self) -> Sequence[str]: ...
    @property
    def vector_size(self) -> int: ...
    def index(self, key: Any) -> Any: ...
    def _end(self, restrict_vocab: int | None) -> int: ...
    def _searched(self) -> tuple[Floats, Floats]: ...
    def __len__(self) -> int: ...


def made_index(vectors: Indexed, options: Mapping[str, Any]) -> NeighbourIndex:
    """An index of all vectors; see `NeighbourIndex.of`."""
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(f"{name!r} is no option of an index; the options are {', '.join(_OPTIONS)}")
    return NeighbourIndex.of(vectors.vectors, vectors.index_to_key, **options)


def asked_index(
    indexer: Any, vectors: Indexed, query: Floats, excluded: set[int], topn: int, keep: Any, restrict_vocab: int | None
) -> list[tuple[str, float]]:
    """The keys near to a `query`, float32 (D,), and their cosines, as an index finds them.

    Rows that are `excluded`, or not to `keep`, bool (N,), are left out: the index is asked for more until there are
    enough. Cosines are exact where the index is one of ours.
    """
    topn, unit = check_topn(topn, least=0), unit_rows(query).astype(np.float32)
    if topn == 0:
        return []
    end, wanted = vectors._end(restrict_vocab), topn + len(excluded)
    while True:
        found = _found(indexer, vectors, unit, min(wanted, len(vectors)))
        good = [
            (row, cosine) for row, cosine in found if row not in excluded and row < end and (keep is None or keep[row])
        ]
        if len(good) >= topn or wanted >= len(vectors) or (keep is None and restrict_vocab is None):
            keys = vectors.index_to_key
            return [(keys[row], cosine) for row, cosine in good[:topn]]
        wanted *= 4


def _found(indexer: Any, vectors: Indexed, query: Floats, count: int) -> list[tuple[int, float]]:
    """Rows and cosines, best first."""
    if not isinstance(indexer, NeighbourIndex):
        return [(vectors.index(key), cosine) for key, cosine in indexer.most_similar(query, count)]
    indexer.check_fits(len(vectors), vectors.vector_size)
    rows = indexer.rows(query, count)
    matrix, scales = vectors._searched()
    cosines = as_cosines((matrix[rows] @ query) * scales[rows])
    order = np.argsort(-cosines, kind="stable")
    return list(zip(rows[order].tolist(), cosines[order].tolist(), strict=True))


def _usearch(what: str) -> Any:
    return needed("usearch.index", what, "ann")
