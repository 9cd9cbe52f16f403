"""Vectors with keys: what sense vectors and word vectors have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Never, Self, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from muse import _core
from muse.base import cuda
from muse.base.checks import integer, number
from muse.base.numeric import as_cosines, unit_rows
from muse.data.arrays import Arrays, Floats
from muse.data.memory import shortage_said
from muse.data.snapshot import Published, Snapshot
from muse.data.vocabulary import Vocabulary
from muse.errors import NotTrainedError
from muse.files.word2vec_rows import check_no_empty_word, write_word2vec
from muse.vectors import old_names
from muse.vectors.gensim_copy import HEIRS, to_gensim
from muse.vectors.read_only import read_only

if TYPE_CHECKING:
    from gensim.models import KeyedVectors as GensimKeyedVectors

__all__ = ["Key", "KeyedVectors", "Neighbours", "as_list", "check_topn", "restricted", "unit", "units"]

Neighbours: TypeAlias = list[tuple[str, float]]
Key = TypeVar("Key", bound="str | tuple[str, int]")
T = TypeVar("T")

_BLOCK_ROWS = 1 << 16
_SHORT, _LONG = 1e-30, 1e30  # lengths of vectors between which float32 makes cosines without loss
_WEIGHT = number(-1e9, 1e9)


class KeyedVectors(ABC, Generic[Key]):
    """Vectors with keys, and the queries on them. A vector of zeros has similarity 0 with everything.

    Parameters
    ----------
    source : Snapshot or Published
        The words and numbers that the vectors are of; those of a model follow what it publishes. Each question that
        looks at them more than once begins with `_now`, and is answered from what that gives.
    """

    # Methods that stand with what they need.
    norms = property(old_names.norms)
    fill_norms = old_names.fill_norms
    cosine_similarities = staticmethod(old_names.cosine_similarities)
    log_accuracy = staticmethod(old_names.log_accuracy)
    log_evaluate_word_pairs = staticmethod(old_names.log_evaluate_word_pairs)

    def __init__(self, source: Snapshot | Published) -> None:
        self._source = source

    def _now(self) -> Self:
        """These vectors as they are now; whatever is published later does not change them."""
        if isinstance(self._source, Snapshot):
            return self
        fixed = object.__new__(type(self))
        fixed.__dict__.update(self.__dict__, _source=self._source.snapshot)
        return fixed

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: the vectors as they are now, without the user's functions in the settings."""
        snapshot = self._snapshot
        plain = snapshot.replace(settings=snapshot.settings.replace(callbacks=(), trim_rule=None))
        return {**self.__dict__, "_source": plain}

    @property
    def _snapshot(self) -> Snapshot:
        return self._source if isinstance(self._source, Snapshot) else self._source.snapshot

    @property
    def _vocabulary(self) -> Vocabulary:
        return self._snapshot.vocabulary

    @property
    def _arrays(self) -> Arrays:
        numbers = self._snapshot.numbers
        if numbers is None:
            raise NotTrainedError("the model has words but no vectors yet; call train")
        return numbers

    def _once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` derives from these vectors, kept with their snapshot."""
        return self._snapshot.once(f"{name} of {type(self).__name__}", make)

    # -- what the two kinds tell about themselves --------------------------------------------------------------------

    @property
    @abstractmethod
    def vectors(self) -> Floats:
        """All vectors, float32 (N, D)."""

    @property
    @abstractmethod
    def index_to_key(self) -> Sequence[str]:
        """The key of each row, as strings."""

    @abstractmethod
    def index(self, key: Key) -> int:
        """The row of a key."""

    @abstractmethod
    def _is_key(self, item: object) -> bool:
        """Whether an item of a query is a key, not a vector or a pair of key and weight."""

    @abstractmethod
    def _rows_of_words(self, n_words: int) -> int:
        """How many rows belong to the first `n_words` words."""

    @abstractmethod
    def _counts(self) -> NDArray[np.int64]:
        """How often each key was seen, int64 (N,)."""

    def _names(self) -> dict[int, str]:
        """Names that people gave to rows; none here."""
        return {}

    # -- single vectors ----------------------------------------------------------------------------------------------

    @property
    def vector_size(self) -> int:
        """D, the dimension of the vectors."""
        return self._arrays.vector_size

    @property
    def key_to_index(self) -> Mapping[str, int]:
        """The row of each key; of senses, made at the first use."""
        now = self._now()
        return MappingProxyType(
            now._once("key_to_index", lambda: {key: row for row, key in enumerate(now.index_to_key)})
        )

    def get_vecattr(self, key: Key, attr: str) -> int:
        """How often `key` was seen, for ``attr="count"``; any other `attr` of gensim's is a ValueError."""
        if attr != "count":
            raise ValueError(f"vectors have no attribute {attr!r:.80} here, only 'count'")
        now = self._now()
        return int(now._counts()[now.index(key)])

    def get_vector(self, key: Key, norm: bool = False) -> Floats:
        """A copy of the vector of `key`, float32 (D,); at length one with `norm`."""
        given = self[key]
        if not norm:
            return given
        return units(given) if isinstance(key, list) else unit(given)

    def word_vec(self, word: Key, use_norm: bool = False) -> Floats:
        """`get_vector` of a `word`, under the name that gensim had before; at length one with `use_norm`."""
        return self.get_vector(word, norm=use_norm)

    def get_normed_vectors(self) -> Floats:
        """A copy of all vectors at length one, float32 (N, D); vectors of zeros stay zeros."""
        vectors, scales = self._now()._searched()
        with shortage_said("a copy of all vectors was made"):
            normed: Floats = vectors * scales[:, None]
        return normed

    def get_index(self, key: Key, default: int | None = None) -> int:
        """The row of `key`, or `default` for an unknown one; without a default that is a KeyError."""
        now = self._now()
        return now.index(key) if default is None or key in now else default

    def has_index_for(self, key: object) -> bool:
        """Whether a key is known."""
        return key in self

    def __len__(self) -> int:
        return len(self.index_to_key)

    def __iter__(self) -> Iterator[str]:
        return iter(self.index_to_key)

    def __getattr__(self, name: str) -> Never:
        """Only called where there is no such attribute: an AttributeError, with the heir of a name of gensim's."""
        hint = f"; {HEIRS[name]}" if name in HEIRS else ""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}", name=name, obj=self)

    @property
    def next_index(self) -> int:
        """The row that a new key would get: how many there are."""
        return len(self)

    @property
    def expandos(self) -> Mapping[str, NDArray[np.int64]]:
        """The counts under gensim's name: ``expandos["count"]``, read-only, in the order of `index_to_key`."""
        return MappingProxyType({"count": read_only(self._now()._counts())})

    def __repr__(self) -> str:
        now = self._now()
        if not now._snapshot.is_trained:
            return f"<{type(self).__name__}: not trained yet>"
        return f"<{type(self).__name__}: {len(now):,} keys, dimension {now.vector_size}>"

    def __contains__(self, key: object) -> bool:
        try:
            self.index(key)  # type: ignore[arg-type]
        except (KeyError, TypeError):
            return False
        return True

    @overload
    def __getitem__(self, key: Key) -> Floats: ...
    @overload
    def __getitem__(self, key: list[Key]) -> Floats: ...
    def __getitem__(self, key: Key | list[Key]) -> Floats:
        """A copy of the vector of a key, float32 (D,), or of the vectors of a list of keys, float32 (N, D)."""
        now = self._now()
        if isinstance(key, list):
            return np.stack([now[item] for item in key]) if key else np.empty((0, now.vector_size), np.float32)
        return now._row(now.index(key)).copy()

    def _row(self, row: int) -> Floats:
        vector: Floats = self.vectors[row]
        return vector

    # -- queries -----------------------------------------------------------------------------------------------------

    def _query(self, positive: Any, negative: Any) -> tuple[Floats, set[int]]:
        """The direction that positive and negative items point in, and the rows of those that are keys."""
        total, rows = np.zeros(self.vector_size, np.float32), set()
        items = [(item, 1.0) for item in self._as_items(positive)] + [(item, -1.0) for item in self._as_items(negative)]
        if not items:
            raise ValueError("most_similar needs at least one key or vector in positive or negative")
        for item, sign in items:
            if not self._is_key(item) and isinstance(item, tuple) and len(item) == 2:
                item, sign = item[0], sign * _WEIGHT(f"the weight of {item[0]!r:.60}", item[1])
            if self._is_key(item):
                row = self.index(item)
                rows.add(row)
                vector = self._row(row)
            else:
                vector = self._as_vector(item)
            total += np.float32(sign) * unit(vector)
        return total, rows

    def _as_items(self, given: Any) -> list[Any]:
        if given is None:
            return []
        if self._is_key(given) or (isinstance(given, np.ndarray) and given.ndim == 1):
            return [given]
        return as_list("most_similar", given)

    def _as_vector(self, item: ArrayLike) -> Floats:
        vector = np.asarray(item)
        if vector.dtype.kind not in "fiu" or vector.shape != (self.vector_size,):
            raise TypeError(f"most_similar takes keys and vectors of {self.vector_size} numbers; got {item!r:.200}")
        with np.errstate(over="ignore"):  # becomes infinite
            floats: Floats = vector.astype(np.float32)
        if not np.isfinite(floats).all():
            raise ValueError("a given vector must hold finite numbers (of float32); this one has NaN or infinity")
        return floats

    def _nearest(
        self,
        queries: Floats,
        topn: int,
        *,
        excluded: Sequence[set[int]],
        restrict_vocab: int | None = None,
        keep: NDArray[np.bool_] | None = None,
    ) -> list[Neighbours]:
        """The keys with the largest cosines, for each of M queries, float32 (M, D), without its excluded rows."""
        topn = check_topn(topn, least=0)
        if topn == 0:
            return [[] for _ in queries]
        end = self._end(restrict_vocab)
        wanted = min(topn + max(map(len, excluded)), max(end, 1))
        mask = None if keep is None else keep[:end].view(np.uint8)
        rows, scores = self._top_k(units(queries), wanted, end, mask)
        scores = as_cosines(scores)
        answers = []
        for found, cosines, out in zip(rows.tolist(), scores.tolist(), excluded, strict=True):
            kept = [pair for pair in zip(found, cosines, strict=True) if pair[0] >= 0 and pair[0] not in out][:topn]
            keys = self._keys_at([row for row, _ in kept])
            answers.append([(key, cosine) for key, (_, cosine) in zip(keys, kept, strict=True)])
        return answers

    def _keys_at(self, rows: list[int]) -> list[str]:
        """The keys of some rows."""
        keys = self.index_to_key
        return [keys[row] for row in rows]

    def _top_k(self, queries: Floats, wanted: int, end: int, mask: NDArray[np.uint8] | None) -> Any:
        """Rows before `end` with the largest cosines, and these, (M, wanted) each, from wherever the vectors are."""
        search = self._once("device copy", self._on_device)
        if search is None or wanted > search.most_hits:
            search = self._once("search", self._in_memory)
        with shortage_said("neighbours were searched for"):
            return search.top_k(queries, wanted, end=end, mask=mask)

    def _in_memory(self) -> _core.Search:
        """The core's search, with a quarter as much memory beside the vectors."""
        vectors, scales = self._searched()
        with shortage_said("neighbours were searched for"):
            return _core.Search(vectors, scale=scales, workers=self._snapshot.settings.workers or 0)

    def _on_device(self) -> Any:
        """The backend's search, with the vectors on the device; None: the core searches."""
        vectors, scales = self._searched()
        return cuda.make_on(
            self._snapshot.settings.device, "searching", lambda backend: backend.Search(vectors, scale=scales)
        )

    def _end(self, restrict_vocab: int | None) -> int:
        """The row behind the last one that takes part."""
        if restrict_vocab is None:
            return len(self)
        return self._rows_of_words(restricted(restrict_vocab, self._arrays.n_words))

    def _similarities(self, query: Floats, restrict_vocab: int | None) -> Floats:
        end = self._end(restrict_vocab)
        vectors, scales = self._searched()
        with np.errstate(invalid="ignore"), shortage_said("similarities were taken"):
            cosines: Floats = (vectors[:end] @ unit(query)) * scales[:end]
        return as_cosines(cosines)

    def _searched(self) -> tuple[Floats, Floats]:
        """The vectors, and one over the length of each, see `_with_scales`."""
        return self._once("lengths", lambda: _with_scales(self.vectors))

    # -- other tools -------------------------------------------------------------------------------------------------

    def save_word2vec_format(
        self,
        fname: str | PathLike[str],
        fvocab: str | PathLike[str] | None = None,
        binary: bool = False,
        *,
        write_header: bool = True,
        prefix: str = "",
        replace_spaces: str | None = None,
    ) -> None:
        """Write keys and vectors as word2vec does.

        Parameters
        ----------
        fname : path-like
            The file; one of that name is replaced only when the new one is complete.
        fvocab : path-like, optional
            Where the counts go, as lines ``key count``.
        binary : bool
            Numbers as bytes instead of text.
        write_header : bool
            Whether the first line says how many rows and columns follow.
        prefix : str
            What is written before each key.
        replace_spaces : str, optional
            What takes the place of white space in keys.

        Raises
        ------
        ValueError
            If a key has white space in it, which the format cannot hold, and `replace_spaces` is not given; or if a
            word is the empty string.
        """
        now = self._now()
        check_no_empty_word(now._vocabulary.words)
        keys = [prefix + key for key in now.index_to_key] if prefix else now.index_to_key
        write_word2vec(
            fname, keys, now.vectors, binary=binary, replace_spaces=replace_spaces, header=write_header,
            counts=now._counts(), counts_path=fvocab,
        )  # fmt: skip

    def to_gensim(self) -> GensimKeyedVectors:
        """A copy of these vectors as gensim ``KeyedVectors``, with counts.

        Raises
        ------
        ImportError
            If gensim is not installed.
        """
        now = self._now()
        return to_gensim(now.index_to_key, now.vectors, now._counts(), now._names())


def _with_scales(vectors: Floats) -> tuple[Floats, Floats]:
    """Vectors, and one over the length of each, 0 for vectors of zeros: cosines without a copy of the vectors.

    Only where a length is so small or large that float32 does not hold its inverse, or products with the vector, they
    are a copy, in which such vectors have length one.
    """
    squares = np.empty(len(vectors), np.float64)
    with np.errstate(invalid="ignore"):
        for first in range(0, len(vectors), _BLOCK_ROWS):
            block = vectors[first : first + _BLOCK_ROWS].astype(np.float64)
            squares[first : first + _BLOCK_ROWS] = np.einsum("ij,ij->i", block, block)
        norms = np.sqrt(squares)
    extreme = np.flatnonzero((norms > 0) & ((norms < _SHORT) | (norms > _LONG)))
    if len(extreme):
        vectors = vectors.copy()
        vectors[extreme] = units(vectors[extreme])
        norms[extreme] = 1.0
    scales = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return vectors, scales.astype(np.float32)


def as_list(name: str, keys: Any) -> list[Any]:
    """What the method `name` is given several of; a single string, which would pass for its letters, is a TypeError."""
    if isinstance(keys, (str, bytes)) or not isinstance(keys, Iterable):
        raise TypeError(f"{name} takes a list of keys or vectors; got {keys!r:.80}")
    return list(keys)


def check_topn(topn: Any, least: int = 1) -> int:
    """How many neighbours are wanted, as an int; 0, as in gensim, for none, where that is the `least`."""
    if isinstance(topn, (bool, np.bool_)) or not isinstance(topn, (int, np.integer)) or topn < least:
        raise ValueError(f"topn must be an integer of at least 1; got {topn!r:.80}")
    return int(topn)


def restricted(restrict_vocab: int | None, n_words: int) -> int:
    """How many of the first words take part in a search; None: all."""
    return n_words if restrict_vocab is None else min(integer(1)("restrict_vocab", restrict_vocab), n_words)


def unit(vector: Floats) -> Floats:
    """The vector at length 1, or zeros for zeros and for what is not finite."""
    return unit_rows(vector).astype(np.float32)


def units(vectors: Floats) -> Floats:
    """`unit` of each row."""
    return unit_rows(vectors).astype(np.float32)
