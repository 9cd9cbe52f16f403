"""Nearest neighbours of senses, `SenseVectors` (``model.sv``), and of words, `WordVectors` (``model.wv``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from types import MappingProxyType
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from muse.base import checks
from muse.base.numeric import as_cosines
from muse.data.arrays import Arrays, Floats
from muse.data.snapshot import Published, Snapshot
from muse.errors import UnknownRowError, UnknownSenseError, quote
from muse.readers.analogies import read_analogies
from muse.vectors import own_words, word_movers
from muse.vectors.analogies import answer_analogies
from muse.vectors.comparisons import Comparisons
from muse.vectors.keyed import Neighbours, check_topn, units
from muse.vectors.neighbour_index import NO_KEY, NeighbourIndex, asked_index, made_index
from muse.vectors.read_only import read_only, shown
from muse.vectors.sense_keys import SenseKey, SenseKeys, parse_sense_key

__all__ = ["SenseVectors", "WordVectors", "sense_row"]

_MEANS = "word vectors"  # made only when more than a few are asked for


def sense_row(arrays: Arrays, name: str, word: int, number: int) -> int:
    """The row of the sense with a number of a word; an UnknownSenseError that says which numbers there are."""
    row = arrays.row_of(word, number)
    if row >= 0:
        return row
    numbers = arrays.numbers_of(word).tolist()
    if len(numbers) == 1:
        has = f"one sense, number {numbers[0]}"
    elif numbers == list(range(len(numbers))):
        has = f"senses 0 to {len(numbers) - 1}"
    else:
        has = f"senses {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"
    raise UnknownSenseError(f"there is no sense {number} of {quote(name)}, which has {has}")


class SenseVectors(Comparisons[SenseKey]):
    """Sense vectors under the keys ``"head#0"`` or ``("head", 0)``: what ``model.sv`` is.

    A sense that was given a name is found under ``"head:chief"``, too; answers are keys.

    Examples
    --------
    >>> model.sv.most_similar("head#1", exclude_same_word=True, min_prior=0.1)  # doctest: +SKIP
    [('neck#0', 0.71), ('shoulder#0', 0.68), ...]
    """

    @property
    def vectors(self) -> Floats:
        """All sense vectors, float32 (Z, D), read-only; ``model.arrays.sense_vectors`` can be written to."""
        return read_only(self._arrays.sense_vectors)

    @property
    def index_to_key(self) -> SenseKeys:
        """The key of each sense, ``word#k``."""
        now = self._now()
        return SenseKeys(now._vocabulary.words, now._arrays.sense_offset, now._arrays.sense_numbers)

    def _keys_at(self, rows: list[int]) -> list[str]:
        return self.index_to_key.some(rows)

    def __len__(self) -> int:
        return self._arrays.n_senses

    @overload
    def index(self, key: SenseKey) -> int: ...
    @overload
    def index(self, **options: Any) -> NeighbourIndex: ...
    def index(self, key: Any = NO_KEY, **options: Any) -> int | NeighbourIndex:
        """The row of a sense; without a key, an index of near neighbours, for ``most_similar(..., indexer=index)``.

        Parameters
        ----------
        key : sense key, optional
            The sense.
        **options
            Of an index: ``connectivity=16``, the links of each vector; ``build_expansion=128`` and ``expansion=64``,
            how many candidates are kept while it is made, and in a search: more miss less and take longer;
            ``dtype="float32"``, or ``"float16"`` and ``"int8"`` for a smaller one; ``workers=``, threads. With more
            than one it is not the same each time.

        Returns
        -------
        int or NeighbourIndex

        Raises
        ------
        UnknownWordError, UnknownSenseError
            Both are KeyErrors.
        ImportError
            If usearch is not installed, which makes the index.
        """
        now = self._now()
        if key is NO_KEY:
            return made_index(now, options)
        word, number = parse_sense_key(key, now._snapshot.known_names)
        return sense_row(now._arrays, word, now._vocabulary.index(word), number)

    def most_similar(
        self,
        positive: Any = None,
        negative: Any = None,
        topn: int | None = 10,
        *,
        exclude_same_word: bool = False,
        min_prior: float = 0.0,
        restrict_vocab: int | None = None,
        indexer: Any = None,
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
        indexer : optional
            What `index` has made, or another index with gensim's ``most_similar(vector, topn)``, is asked in place of
            an exact search; `topn` must be a number.

        Returns
        -------
        list of (str, float)
            Keys ``word#k`` and cosines, best first.
        """
        now = self._now()
        query, rows = now._query(positive, negative)
        if topn is None:
            return now._similarities(query, restrict_vocab)
        if indexer is not None:
            excluded, keep = now._left_out([rows], exclude_same_word, min_prior)
            return asked_index(indexer, now, query, excluded[0], topn, keep, restrict_vocab)
        return now._neighbours(query[None], topn, [rows], exclude_same_word, min_prior, restrict_vocab)[0]

    def neighbours_of(
        self, word: str, topn: int = 10, *, exclude_same_word: bool = False, min_prior: float = 0.0
    ) -> list[Neighbours]:
        """`most_similar` for each sense of a `word`, in one search.

        The options `topn`, `exclude_same_word` and `min_prior` are those of `most_similar`.
        """
        now = self._now()
        rows = now._rows_of(word)
        excluded = [{row} for row in range(rows.start, rows.stop)]
        return now._neighbours(now.vectors[rows], topn, excluded, exclude_same_word, min_prior, None)

    def _neighbours(
        self,
        queries: Floats,
        topn: int,
        rows: Sequence[set[int]],
        exclude_same_word: bool,
        min_prior: float,
        restrict_vocab: int | None,
    ) -> list[Neighbours]:
        excluded, keep = self._left_out(rows, exclude_same_word, min_prior)
        return self._nearest(queries, topn, excluded=excluded, restrict_vocab=restrict_vocab, keep=keep)

    def _left_out(
        self, rows: Sequence[set[int]], exclude_same_word: bool, min_prior: float
    ) -> tuple[Sequence[set[int]], NDArray[np.bool_] | None]:
        """The rows that are not in the answers to queries of these rows, and which rows may be, bool (Z,)."""
        if exclude_same_word:
            rows = [{other for row in own for other in self._siblings(row)} for own in rows]
        min_prior = checks.number(0, 1)("min_prior", min_prior)
        return rows, self._arrays.priors() >= min_prior if min_prior > 0 else None

    def _word_similarity(self, first: str, second: str) -> float:
        one, other = (units(self.vectors[self._rows_of(word)]) for word in (first, second))
        return float(as_cosines(one @ other.T).max())

    def _rows_of(self, word: str) -> slice[int, int, None]:
        return self._arrays.rows_of(self._vocabulary.index(word))

    def _siblings(self, row: int) -> range:
        rows = self._arrays.rows_of(self._arrays.word_of(row))
        return range(rows.start, rows.stop)

    def _is_key(self, item: object) -> bool:
        pair = isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)
        if not pair or not isinstance(item[1], (int, np.integer)):  # type: ignore[index]
            return isinstance(item, str)
        name = item[0]  # type: ignore[index]
        return name in self._vocabulary or name not in self  # else the key of a sense, with a weight

    def _rows_of_words(self, n_words: int) -> int:
        return int(self._arrays.sense_offset[n_words])

    def _counts(self) -> NDArray[np.int64]:
        return self._arrays.sense_counts

    def _names(self) -> dict[int, str]:
        return self._snapshot.names_by_row()


class WordVectors(Comparisons[str]):
    """One vector a word, the mean of its senses weighted by their priors: what ``model.wv`` is.

    Examples
    --------
    >>> model.wv.most_similar(positive=["paris", "italy"], negative=["france"], topn=1)  # doctest: +SKIP
    [('rome', 0.75)]
    """

    add_vector = own_words.add_vector
    add_vectors = own_words.add_vectors
    vectors_for_all = own_words.vectors_for_all
    save = own_words.save
    set_vecattr = own_words.set_vecattr
    unit_normalize_all = own_words.unit_normalize_all
    init_sims = own_words.init_sims
    sort_by_descending_frequency = own_words.sort_by_descending_frequency
    wmdistance = word_movers.wmdistance

    def __init__(
        self,
        source: Snapshot | Published,
        means: Floats | None = None,
        first: Callable[[Snapshot], Arrays] | None = None,
    ) -> None:
        super().__init__(source)
        self._means = means  # a tool's own
        self._attributes: dict[str, NDArray[Any]] = {}  # of words, beside the count, in vectors of one's own
        self._first = first  # the numbers that training begins with, to be looked at before

    @classmethod
    def empty(cls, vector_size: int) -> WordVectors:
        """Vectors of your own, as yet none, for `add_vectors`; each has `vector_size` numbers."""
        size = checks.integer(1)("vector_size", vector_size)
        return cls(own_words.snapshot_of_words([], np.empty((0, size), np.float32), np.empty(0, np.int64)))

    @classmethod
    def load(cls, fname: str | PathLike[str], mmap: str | None = None) -> WordVectors:
        """Read from `fname` what `save` wrote; they are your own. `mmap` is gensim's, and not needed."""
        snapshot, attributes = own_words.read_words(fname)
        made = cls(snapshot)
        made._attributes = attributes
        return made

    def get_vecattr(self, key: str, attr: str) -> Any:
        """How often `key` was seen, for ``attr="count"``, or another attribute that `set_vecattr` gave it.

        An attribute that no word has is a ValueError.
        """
        now = self._now()
        if not isinstance(attr, str) or attr not in now._attributes:
            return Comparisons.get_vecattr(now, key, attr)
        value = now._attributes[attr][now.index(key)]
        return value.item() if isinstance(value, np.generic) else value

    @property
    def expandos(self) -> Mapping[str, NDArray[Any]]:
        """The counts, and other attributes of words, by their names: ``expandos["count"]``, read-only."""
        now = self._now()
        others = {name: read_only(column) for name, column in now._attributes.items()}
        return MappingProxyType({"count": read_only(now._counts()), **others})

    def __setitem__(self, key: str | Sequence[str], vector: ArrayLike) -> None:
        """Give a word, or several, other vectors; `add_vectors` says of which vectors this can be done."""
        self.add_vectors(key, vector, replace=True)

    def __contains__(self, key: object) -> bool:
        return key in self._vocabulary

    @property
    def vectors(self) -> Floats:
        """All word vectors, float32 (V, D), read-only; computed when they are first needed."""
        if self._means is not None:
            return read_only(self._means)
        now = self._now()
        if now._snapshot.numbers is None and self._first is not None:
            return read_only(self._first(now._snapshot).word_vectors())
        return now._snapshot.once(_MEANS, lambda: read_only(now._arrays.word_vectors()))

    @property
    def index_to_key(self) -> Sequence[str]:
        """The words, read-only."""
        now = self._now()
        return now._once("words", lambda: shown(now._vocabulary.words))

    @property
    def key_to_index(self) -> Mapping[str, int]:
        """The row of each word."""
        return MappingProxyType(self._vocabulary.ids)

    @overload
    def index(self, key: str | int) -> int: ...
    @overload
    def index(self, **options: Any) -> NeighbourIndex: ...
    def index(self, key: Any = NO_KEY, **options: Any) -> int | NeighbourIndex:
        """The row of a word, or a row itself; without a `key`, an index of near neighbours.

        Its `options` are those of `SenseVectors.index`.

        Raises
        ------
        UnknownWordError
            A KeyError that names the nearest spellings.
        """
        if key is NO_KEY:
            return made_index(self._now(), options)
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):  # as gensim has it
            if not 0 <= key < len(self._vocabulary):
                raise UnknownRowError(f"there is no row {key}; there are {len(self._vocabulary)} words")
            return int(key)
        if not isinstance(key, str):
            raise TypeError(f"a key of word vectors is a word; got {key!r:.80}")
        return self._vocabulary.index(key)

    def most_similar(
        self,
        positive: Any = None,
        negative: Any = None,
        topn: int | None = 10,
        *,
        clip_start: int = 0,
        clip_end: int | None = None,
        restrict_vocab: int | None = None,
        indexer: Any = None,
    ) -> Any:
        """The words that are most similar to some and least to others, by cosine.

        Parameters
        ----------
        positive, negative : word, vector, or list of these and of (word or vector, weight) pairs
            The query; its own words are never in the answer.
        topn : int or None
            How many. None gives the similarity of every word instead, float32 (V,).
        clip_start, clip_end : int
            Search the rows from one to before the other only.
        restrict_vocab : int, optional
            Search the first, most frequent words only.
        indexer : optional
            What `index` has made, or an index of gensim's, whose ``most_similar(vector, topn)`` is asked in place of
            an exact search.

        Returns
        -------
        list of (str, float)
            Words and cosines, best first.
        """
        now = self._now()
        query, rows = now._query(positive, negative)
        if indexer is not None and topn is not None:
            return asked_index(indexer, now, query, rows, topn, None, restrict_vocab)
        if restrict_vocab is None and (clip_start or clip_end is not None):
            return now._clipped(query, rows, topn, slice(clip_start, clip_end))
        if topn is None:
            return now._similarities(query, restrict_vocab)
        return now._nearest(query[None], topn, excluded=[rows], restrict_vocab=restrict_vocab)[0]

    def _clipped(self, query: Floats, rows: set[int], topn: int | None, part: slice[int, Any, None]) -> Any:
        cosines = self._similarities(query, None)[part]
        if topn is None:
            return cosines
        keys, best = self.index_to_key, np.argsort(-cosines, kind="stable")
        chosen = [row for row in best.tolist() if row + part.start not in rows][: check_topn(topn, least=0)]
        return [(keys[row + part.start], float(cosines[row])) for row in chosen]

    def similar_by_word(self, word: str, topn: int | None = 10, **options: Any) -> Any:
        """`most_similar` of one `word`; `topn` and other `options` as there."""
        return self.similar_by_key(word, topn, **options)

    def words_closer_than(self, word: str, other: str) -> list[str]:
        """All words that are closer to `word` than `other` is."""
        return self.closer_than(word, other)

    def evaluate_word_analogies(
        self,
        analogies: str | PathLike[str],
        *,
        restrict_vocab: int | None = 300_000,
        case_insensitive: bool = True,
        dummy4unknown: bool = False,
        similarity_function: str = "most_similar",
    ) -> tuple[float, list[dict[str, Any]]]:
        """Accuracy in analogies a : b = c : ?, in gensim's form.

        Parameters
        ----------
        analogies : path-like
            A file such as ``questions-words.txt``: four words a line, and lines ``: name`` that begin a section.
        restrict_vocab : int, optional
            Search the first, most frequent words only, and skip questions with others.
        case_insensitive : bool
            Let case aside; the most frequent spelling counts.
        dummy4unknown : bool
            Count questions with an unknown word as wrong, instead of skipping them.
        similarity_function : {"most_similar", "most_similar_cosmul"}
            By sums of cosines or by products of them.

        Returns
        -------
        score : float
            Share of right answers.
        sections : list of dict
            ``section``, ``correct`` and ``incorrect``, lists of (a, b, c, expected); the last one is the total.

        Raises
        ------
        FileNotFoundError, ValueError
            For a missing file or a line that is none of these, with its number.
        """
        now = self._now()
        spelling = now._spellings(restrict_vocab, case_insensitive)
        return answer_analogies(
            now,
            read_analogies(analogies),
            spelling,
            restrict_vocab=restrict_vocab,
            dummy4unknown=dummy4unknown,
            similarity_function=similarity_function,
        )

    def _word_similarity(self, first: str, second: str) -> float:
        return self.similarity(first, second)

    def _row(self, row: int) -> Floats:
        means = self._snapshot.made(_MEANS) if self._means is None else self._means
        return self._arrays.word_vector(row) if means is None else means[row]

    def _is_key(self, item: object) -> bool:
        return isinstance(item, str)

    def _rows_of_words(self, n_words: int) -> int:
        return n_words

    def _counts(self) -> NDArray[np.int64]:
        return self._vocabulary.counts
