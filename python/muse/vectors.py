"""Nearest neighbours of senses, `SenseVectors` (``model.sv``), and of words, `WordVectors` (``model.wv``)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from muse import _core
from muse.arrays import Arrays, Floats
from muse.errors import UnknownSenseError
from muse.formats.gensim_vectors import to_gensim
from muse.formats.word2vec import write_word2vec
from muse.vocabulary import Vocabulary

if TYPE_CHECKING:
    from gensim.models import KeyedVectors as GensimKeyedVectors

__all__ = ["SenseKey", "SenseVectors", "WordVectors", "parse_sense_key"]

SenseKey: TypeAlias = str | tuple[str, int]
Neighbours: TypeAlias = list[tuple[str, float]]
Key = TypeVar("Key", bound="str | tuple[str, int]")

_BLOCK_ROWS = 1 << 16


def parse_sense_key(key: SenseKey) -> tuple[str, int]:
    """The word and the number of a sense key, ``"head#0"`` or ``("head", 0)``; a string is split at its last ``#``."""
    if isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], str):
        word, number = key[0], key[1]
        if isinstance(number, (int, np.integer)) and not isinstance(number, bool):
            return word, int(number)
    elif isinstance(key, str):
        word, mark, digits = key.rpartition("#")
        if mark and digits.isdecimal() and digits.isascii():
            return word, int(digits)
        raise UnknownSenseError(
            f"{key!r} is not a sense key; write the word and the number of its sense, {key + '#0'!r} or ({key!r}, 0)"
        )
    raise TypeError(f"a sense key is a string such as 'head#0' or a pair such as ('head', 0); got {key!r}")


class KeyedVectors(ABC, Generic[Key]):
    """Vectors with keys, and the queries on them. A vector of zeros has similarity 0 with everything."""

    def __init__(self, vocabulary: Vocabulary, arrays: Arrays) -> None:
        self._vocabulary = vocabulary
        self._arrays = arrays
        self._inverse_norms: Floats | None = None
        self._key_to_index: dict[str, int] | None = None

    def refresh(self, vocabulary: Vocabulary, arrays: Arrays) -> None:
        """Take over new values after training, and forget what was derived from the old ones."""
        self._vocabulary, self._arrays, self._inverse_norms, self._key_to_index = vocabulary, arrays, None, None

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

    # -- single vectors ----------------------------------------------------------------------------------------------

    @property
    def vector_size(self) -> int:
        """D, the dimension of the vectors."""
        return self._arrays.vector_size

    @property
    def key_to_index(self) -> Mapping[str, int]:
        """The row of each key; of senses, made at the first use."""
        if self._key_to_index is None:
            self._key_to_index = {key: row for row, key in enumerate(self.index_to_key)}
        return MappingProxyType(self._key_to_index)

    def get_vecattr(self, key: Key, attr: str) -> int:
        """How often a key was seen, for ``attr="count"``; gensim's name, and its only attribute here."""
        if attr != "count":
            raise ValueError(f"vectors have no attribute {attr!r} here, only 'count'")
        return int(self._counts()[self.index(key)])

    def __len__(self) -> int:
        return len(self.index_to_key)

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
        if isinstance(key, list):
            return np.stack([self[item] for item in key]) if key else np.empty((0, self.vector_size), np.float32)
        return self._row(self.index(key)).copy()

    def _row(self, row: int) -> Floats:
        vector: Floats = self.vectors[row]
        return vector

    # -- queries -----------------------------------------------------------------------------------------------------

    def similarity(self, first: Key, second: Key) -> float:
        """Cosine of two keys; 0 where one has a vector of zeros."""
        return float(np.clip(_unit(self[first]) @ _unit(self[second]), -1.0, 1.0))

    def doesnt_match(self, keys: Iterable[Key]) -> Key:
        """The key that is least similar to the mean of all."""
        listed = list(keys)
        if not listed:
            raise ValueError("doesnt_match needs at least one key")
        units = np.stack([_unit(self[key]) for key in listed])
        return listed[int(np.argmin(units @ _unit(units.mean(axis=0))))]

    def _query(self, positive: Any, negative: Any) -> tuple[Floats, set[int]]:
        """The direction that positive and negative items point in, and the rows of those that are keys."""
        total, rows = np.zeros(self.vector_size, np.float32), set()
        items = [(item, 1.0) for item in self._as_items(positive)] + [(item, -1.0) for item in self._as_items(negative)]
        if not items:
            raise ValueError("most_similar needs at least one key or vector in positive or negative")
        for item, sign in items:
            if not self._is_key(item) and isinstance(item, tuple) and len(item) == 2:
                item, sign = item[0], sign * float(item[1])
            if self._is_key(item):
                row = self.index(item)
                rows.add(row)
                vector = self._row(row)
            else:
                vector = self._as_vector(item)
            total += np.float32(sign) * _unit(vector)
        return total, rows

    def _as_items(self, given: Any) -> list[Any]:
        if given is None:
            return []
        if self._is_key(given) or (isinstance(given, np.ndarray) and given.ndim == 1):
            return [given]
        return list(given)

    def _as_vector(self, item: ArrayLike) -> Floats:
        vector = np.asarray(item)
        if vector.dtype.kind not in "fiu" or vector.shape != (self.vector_size,):
            raise TypeError(f"most_similar takes keys and vectors of {self.vector_size} numbers; got {item!r}")
        return vector.astype(np.float32)

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
        if isinstance(topn, bool) or not isinstance(topn, (int, np.integer)) or topn < 1:
            raise ValueError(f"topn must be an integer of at least 1, or None for all similarities; got {topn!r}")
        end = self._end(restrict_vocab)
        wanted = min(int(topn) + max(map(len, excluded)), max(end, 1))
        mask = None if keep is None else keep[:end].view(np.uint8)
        queries = np.stack([_unit(query) for query in queries])
        rows, scores = _core.top_k(self.vectors[:end], queries, wanted, scale=self._scales()[:end], mask=mask)
        keys = self.index_to_key
        return [
            [(keys[row], float(score)) for row, score in zip(*found, strict=True) if row >= 0 and row not in out][:topn]
            for *found, out in zip(rows.tolist(), scores.tolist(), excluded, strict=True)
        ]

    def _end(self, restrict_vocab: int | None) -> int:
        """The row behind the last one that takes part."""
        if restrict_vocab is None:
            return len(self)
        if restrict_vocab < 1:
            raise ValueError(f"restrict_vocab must be at least 1; got {restrict_vocab}")
        return self._rows_of_words(min(restrict_vocab, self._arrays.n_words))

    def _similarities(self, query: Floats, restrict_vocab: int | None) -> Floats:
        end = self._end(restrict_vocab)
        with np.errstate(invalid="ignore"):
            cosines: Floats = (self.vectors[:end] @ _unit(query)) * self._scales()[:end]
        return cosines

    def _scales(self) -> Floats:
        """One over the length of each vector, 0 for vectors of zeros: makes cosines without a copy of the vectors."""
        if self._inverse_norms is None:
            vectors = self.vectors
            squares = np.empty(len(vectors), np.float64)
            with np.errstate(invalid="ignore"):
                for first in range(0, len(vectors), _BLOCK_ROWS):
                    block = vectors[first : first + _BLOCK_ROWS].astype(np.float64)
                    squares[first : first + _BLOCK_ROWS] = np.einsum("ij,ij->i", block, block)
                norms = np.sqrt(squares)
            scales = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
            self._inverse_norms = scales.astype(np.float32)
        return self._inverse_norms

    # -- other tools -------------------------------------------------------------------------------------------------

    def save_word2vec_format(
        self, path: str | PathLike[str], *, binary: bool = False, replace_spaces: str | None = None
    ) -> None:
        """Write keys and vectors as word2vec does, text or binary; see `muse.formats.word2vec.write_word2vec`.

        Raises
        ------
        ValueError
            If a key has white space in it, which the format cannot hold, and `replace_spaces` is not given.
        """
        write_word2vec(path, self.index_to_key, self.vectors, binary=binary, replace_spaces=replace_spaces)

    def to_gensim(self) -> GensimKeyedVectors:
        """A copy of these vectors as gensim ``KeyedVectors``, with counts.

        Raises
        ------
        ImportError
            If gensim is not installed.
        """
        return to_gensim(self.index_to_key, self.vectors, self._counts())


class SenseVectors(KeyedVectors[SenseKey]):
    """Sense vectors under the keys ``"head#0"`` or ``("head", 0)``: what ``model.sv`` is.

    Examples
    --------
    >>> model.sv.most_similar("head#1", exclude_same_word=True, min_prior=0.1)  # doctest: +SKIP
    [('neck#0', 0.71), ('shoulder#0', 0.68), ...]
    """

    @property
    def vectors(self) -> Floats:
        """All sense vectors, float32 (Z, D)."""
        return self._arrays.sense_vectors

    @property
    def index_to_key(self) -> Sequence[str]:
        """The key of each sense, ``word#k``."""
        return _SenseKeys(self._vocabulary, self._arrays)

    def index(self, key: SenseKey) -> int:
        """The row of a sense.

        Raises
        ------
        UnknownWordError, UnknownSenseError
            Both are KeyErrors.
        """
        word, number = parse_sense_key(key)
        rows = self._arrays.rows_of(self._vocabulary.index(word))
        if not 0 <= number < rows.stop - rows.start:
            count = rows.stop - rows.start
            has = f"senses 0 to {count - 1}" if count > 1 else "one sense, number 0"
            raise UnknownSenseError(f"there is no sense {number} of {word!r}, which has {has}")
        return rows.start + number

    def most_similar(
        self,
        positive: Any = None,
        negative: Any = None,
        topn: int | None = 10,
        *,
        exclude_same_word: bool = False,
        min_prior: float = 0.0,
        restrict_vocab: int | None = None,
    ) -> Any:
        """The senses that are most similar to some and least to others, by cosine.

        Parameters
        ----------
        positive, negative : sense key, vector, or list of these and of (key or vector, weight) pairs
            The query; its own senses are never in the answer.
        topn : int or None
            How many. None gives the similarity of every sense instead, float32 (Z,).
        exclude_same_word : bool
            Leave out the other senses of the words of the query, too.
        min_prior : float
            Leave out senses that have a smaller share in the uses of their word.
        restrict_vocab : int, optional
            Search the senses of the first, most frequent words only.

        Returns
        -------
        list of (str, float)
            Keys ``word#k`` and cosines, best first.
        """
        query, rows = self._query(positive, negative)
        if topn is None:
            return self._similarities(query, restrict_vocab)
        return self._neighbours(query[None], topn, [rows], exclude_same_word, min_prior, restrict_vocab)[0]

    def neighbours_of(
        self, word: str, topn: int = 10, *, exclude_same_word: bool = False, min_prior: float = 0.0
    ) -> list[Neighbours]:
        """`most_similar` for each sense of a word, in one search."""
        rows = self._arrays.rows_of(self._vocabulary.index(word))
        excluded = [{row} for row in range(rows.start, rows.stop)]
        return self._neighbours(self.vectors[rows], topn, excluded, exclude_same_word, min_prior, None)

    def _neighbours(
        self,
        queries: Floats,
        topn: int,
        rows: Sequence[set[int]],
        exclude_same_word: bool,
        min_prior: float,
        restrict_vocab: int | None,
    ) -> list[Neighbours]:
        if exclude_same_word:
            rows = [{other for row in own for other in self._siblings(row)} for own in rows]
        keep = self._arrays.priors() >= min_prior if min_prior > 0 else None
        return self._nearest(queries, topn, excluded=rows, restrict_vocab=restrict_vocab, keep=keep)

    def _siblings(self, row: int) -> range:
        rows = self._arrays.rows_of(self._arrays.word_of(row))
        return range(rows.start, rows.stop)

    def _is_key(self, item: object) -> bool:
        pair = isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)
        return isinstance(item, str) or (pair and isinstance(item[1], (int, np.integer)))  # type: ignore[index]

    def _rows_of_words(self, n_words: int) -> int:
        return int(self._arrays.sense_offset[n_words])

    def _counts(self) -> NDArray[np.int64]:
        return self._arrays.sense_counts


class WordVectors(KeyedVectors[str]):
    """One vector a word, the mean of its senses weighted by their priors: what ``model.wv`` is."""

    def __init__(self, vocabulary: Vocabulary, arrays: Arrays, means: Floats | None = None) -> None:
        super().__init__(vocabulary, arrays)
        self._means = means

    def refresh(self, vocabulary: Vocabulary, arrays: Arrays) -> None:
        """Take over new values after training, and forget what was derived from the old ones."""
        super().refresh(vocabulary, arrays)
        self._means = None

    @property
    def vectors(self) -> Floats:
        """All word vectors, float32 (V, D); computed when they are first needed."""
        if self._means is None:
            self._means = self._arrays.word_vectors()
        return self._means

    @property
    def index_to_key(self) -> Sequence[str]:
        """The words."""
        return self._vocabulary.words

    @property
    def key_to_index(self) -> Mapping[str, int]:
        """The row of each word."""
        return MappingProxyType(self._vocabulary.ids)

    def index(self, key: str) -> int:
        """The row of a word.

        Raises
        ------
        UnknownWordError
            A KeyError that names the nearest spellings.
        """
        if not isinstance(key, str):
            raise TypeError(f"a key of word vectors is a word; got {key!r}")
        return self._vocabulary.index(key)

    def most_similar(
        self,
        positive: Any = None,
        negative: Any = None,
        topn: int | None = 10,
        *,
        restrict_vocab: int | None = None,
    ) -> Any:
        """The words that are most similar to some and least to others, by cosine.

        Parameters
        ----------
        positive, negative : word, vector, or list of these and of (word or vector, weight) pairs
            The query; its own words are never in the answer.
        topn : int or None
            How many. None gives the similarity of every word instead, float32 (V,).
        restrict_vocab : int, optional
            Search the first, most frequent words only.

        Returns
        -------
        list of (str, float)
            Words and cosines, best first.
        """
        query, rows = self._query(positive, negative)
        if topn is None:
            return self._similarities(query, restrict_vocab)
        return self._nearest(query[None], topn, excluded=[rows], restrict_vocab=restrict_vocab)[0]

    def _row(self, row: int) -> Floats:
        return self._arrays.word_vector(row) if self._means is None else self._means[row]

    def _is_key(self, item: object) -> bool:
        return isinstance(item, str)

    def _rows_of_words(self, n_words: int) -> int:
        return n_words

    def _counts(self) -> NDArray[np.int64]:
        return self._arrays.word_counts


class _SenseKeys(Sequence[str]):
    """The keys of all senses, made when they are asked for: millions of strings that are seldom all needed."""

    def __init__(self, vocabulary: Vocabulary, arrays: Arrays) -> None:
        self._words = vocabulary.words
        self._arrays = arrays

    def __len__(self) -> int:
        return self._arrays.n_senses

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"row {index} of {len(self)} senses")
        row = index % len(self)
        word = self._arrays.word_of(row)
        return f"{self._words[word]}#{row - int(self._arrays.sense_offset[word])}"

    def __iter__(self) -> Any:
        for word, senses in zip(self._words, np.diff(self._arrays.sense_offset).tolist(), strict=True):
            for number in range(senses):
                yield f"{word}#{number}"


def _unit(vector: Floats) -> Floats:
    """The vector at length 1, or zeros for zeros and for what is not finite."""
    with np.errstate(invalid="ignore"):
        length = float(np.linalg.norm(vector.astype(np.float64)))
    if not 0.0 < length < np.inf:
        return np.zeros(len(vector), np.float32)
    scaled: Floats = (vector / length).astype(np.float32)
    return scaled
