"""Word vectors that are the user's own, made empty, loaded or copied: they can grow and be changed.

Those of a model cannot: its senses would not follow. These functions are methods of `WordVectors`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from muse.base.checks import integer
from muse.base.numeric import unit_rows
from muse.data.arrays import Arrays, Floats
from muse.data.settings import Settings
from muse.data.snapshot import Snapshot
from muse.data.vocabulary import Vocabulary, check_words
from muse.errors import ModelFileError
from muse.files.tensor_file import DamagedFileError, ForeignFileError, TensorFile, write_tensors

__all__ = [
    "add_vector",
    "add_vectors",
    "init_sims",
    "read_words",
    "save",
    "set_vecattr",
    "snapshot_of_words",
    "sort_by_descending_frequency",
    "unit_normalize_all",
    "vectors_for_all",
]

logger = logging.getLogger("muse")

_FORMAT = "muse-words"


class OwnWords(Protocol):
    """What these functions ask of `WordVectors`."""

    _source: Any
    _means: Floats | None
    _attributes: dict[str, NDArray[Any]]

    @property
    def vectors(self) -> Floats: ...
    @property
    def index_to_key(self) -> Sequence[str]: ...
    @property
    def vector_size(self) -> int: ...
    def _counts(self) -> NDArray[np.int64]: ...
    def _now(self) -> Any: ...
    def __len__(self) -> int: ...


def snapshot_of_words(words: Sequence[str], vectors: Floats, counts: NDArray[np.int64]) -> Snapshot:
    """A snapshot of words that have one vector each, float32 (V, D), and nothing to select senses with."""
    rows = len(words)
    arrays = Arrays(
        context_vectors=np.zeros((rows, 1), np.float32), selection_vectors=np.zeros((rows, 1), np.float32),
        sense_vectors=vectors, collocation_vectors=np.zeros(vectors.shape, np.float32),
        sense_offset=np.arange(rows + 1), sense_counts=counts.copy(), word_counts=counts,
    )  # fmt: skip
    return Snapshot(Settings(vector_size=vectors.shape[1]), Vocabulary(list(words), counts), arrays)


def add_vector(self: OwnWords, key: str, vector: ArrayLike) -> int:
    """Add one `vector`, float (D,), under a new `key`, and give its row; see `add_vectors`."""
    add_vectors(self, [key], np.asarray(vector)[None])
    return int(self._now().index(key))


def add_vectors(
    self: OwnWords,
    keys: str | Iterable[str],
    weights: ArrayLike,
    extras: Mapping[str, ArrayLike] | None = None,
    replace: bool = False,
) -> None:
    """Add vectors to vectors that are your own: loaded, copied, or made empty.

    Parameters
    ----------
    keys : str, or iterable of N str
        The words.
    weights : array_like (N, D), or (D,) for one key
        Their vectors.
    extras : mapping, optional
        ``{"count": array_like (N,)}``, and other attributes by their names; without it, new words have the count 0.
    replace : bool
        Whether words that are there already get the vectors; else they keep theirs.

    Raises
    ------
    TypeError
        For vectors of a model, which stay with its senses: ``copy.copy(model.wv)`` are your own; for keys that are no
        strings.
    ValueError
        For vectors of another size or number, or that are not finite.

    Examples
    --------
    >>> from muse.vectors.model_vectors import WordVectors
    >>> vectors = WordVectors.empty(2)
    >>> vectors.add_vectors(["a", "b"], [[1, 0], [1, 1]])
    >>> vectors.most_similar("a", topn=1)[0][0], len(vectors)
    ('b', 2)
    """
    _check_own(self)
    listed = [keys] if isinstance(keys, str) else list(keys)
    check_words(listed, "the given keys")
    rows = np.array(weights, np.float32, ndmin=2)
    if rows.shape != (len(listed), self.vector_size):
        raise ValueError(
            f"{len(listed)} keys need as many vectors of {self.vector_size} numbers; got the shape {rows.shape}"
        )
    if not np.isfinite(rows).all():
        raise ValueError("vectors must hold finite numbers; these have NaN or infinity")
    others = {name: _column(name, values, len(listed)) for name, values in (extras or {}).items()}
    given = _whole(others.pop("count", np.zeros(len(listed), np.int64)))
    known = {word: row for row, word in enumerate(self.index_to_key)}
    new = [i for i, word in enumerate(listed) if word not in known]
    old = [i for i, word in enumerate(listed) if word in known]
    vectors = np.concatenate([self.vectors, rows[new]])
    counts = np.concatenate([self._counts(), given[new]])
    if replace:
        at = [known[listed[i]] for i in old]
        vectors[at] = rows[old]
        if extras and "count" in extras:
            counts[at] = given[old]
    elif old:
        logger.warning(
            "%d of the keys are there already, and keep their vectors; replace=True gives them these", len(old)
        )
    words = [*known, *(listed[i] for i in new)]
    attributes = {name: _longer(column, len(words)) for name, column in self._attributes.items()}
    for name, column in others.items():
        taken = [*new, *(old if replace else ())]
        rows_of = [len(known) + i for i in range(len(new))] + ([known[listed[i]] for i in old] if replace else [])
        attributes[name] = _with_values(attributes.get(name), len(words), rows_of, column[taken])
    self._source, self._attributes, self._means = snapshot_of_words(words, vectors, counts), attributes, None


def _check_own(self: OwnWords) -> None:
    """Raise a TypeError for vectors of a model."""
    if not isinstance(self._source, Snapshot):
        raise TypeError(
            "the vectors of a model cannot be changed, since its senses would not follow; copy.copy(model.wv) are "
            "your own, and the model itself grows with build_vocab(new_sentences, update=True)"
        )


def _column(name: str, values: ArrayLike, count: int) -> NDArray[Any]:
    """Values of an attribute, one for each key."""
    column = np.asarray(values)
    if column.shape != (count,):
        raise ValueError(f"extras[{name!r}] must hold one value for each of {count} keys; got the shape {column.shape}")
    return column


def _whole(counts: NDArray[Any]) -> NDArray[np.int64]:
    """Counts that a user gives, if they are whole numbers; else a ValueError."""
    whole = counts.dtype.kind in "iu" or (counts.dtype.kind == "f" and bool((counts == np.round(counts)).all()))
    if not whole or (len(counts) and counts.min() < 0):
        raise ValueError(f"counts must be whole numbers of at least 0; got {counts.tolist()!r:.80}")
    return counts.astype(np.int64)


def _longer(column: NDArray[Any], rows: int) -> NDArray[Any]:
    """The column with zeros (or None, or empty strings) for rows that it does not have yet."""
    empty = np.full(rows - len(column), None) if column.dtype == object else np.zeros(rows - len(column), column.dtype)
    return np.concatenate([column, empty])


def _with_values(column: NDArray[Any] | None, rows: int, at: Sequence[int], values: NDArray[Any]) -> NDArray[Any]:
    """The column, or a new one, with other values in some rows, of a type that holds all."""
    if column is None:
        column = _longer(np.empty(0, values.dtype), rows)
    mixed = (column.dtype.kind in "biufc") != (values.dtype.kind in "biufc")
    column = column.astype(object if mixed else np.result_type(column, values))
    column[list(at)] = values
    return column


def set_vecattr(self: OwnWords, key: str, attr: str, val: Any) -> None:
    """Keep a value with a word, such as its part of speech; ``get_vecattr(key, attr)`` gives it back.

    Parameters
    ----------
    key : str
        A known word, of vectors that are your own.
    attr : str
        The attribute: ``"count"``, or any other name. Words that were given none have 0, an empty string or None.
    val : int, float, str or another object
        The value; for ``"count"`` an integer.

    Raises
    ------
    TypeError
        For vectors of a model, see `add_vectors`; for a name that is no string, or a count that is no integer.
    UnknownWordError
        For an unknown word.

    Examples
    --------
    >>> from muse.vectors.model_vectors import WordVectors
    >>> vectors = WordVectors.empty(2)
    >>> vectors.add_vectors(["a", "b"], [[1, 0], [1, 1]])
    >>> vectors.set_vecattr("b", "pos", "noun")
    >>> vectors.get_vecattr("b", "pos")
    'noun'
    """
    _check_own(self)
    if not isinstance(attr, str):
        raise TypeError(f"the name of an attribute is a string; got {attr!r:.80}")
    now = self._now()
    row, words = now.index(key), list(self.index_to_key)
    if attr == "count":
        counts = self._counts().copy()
        counts[row] = integer(0, 2**62)("count", val)
        self._source = snapshot_of_words(words, self.vectors, counts)
    else:
        value = np.empty(1, object) if np.ndim(val) else np.asarray([val])
        if np.ndim(val):
            value[0] = val
        column = _with_values(self._attributes.get(attr), len(words), [row], value)
        self._attributes = {**self._attributes, attr: column}


def unit_normalize_all(self: OwnWords) -> None:
    """Bring all vectors to length one, in vectors that are your own; ``get_normed_vectors()`` gives a copy of others.

    Raises
    ------
    TypeError
        For vectors of a model, see `add_vectors`.
    """
    _check_own(self)
    rows = unit_rows(self.vectors).astype(np.float32)
    self._source, self._means = snapshot_of_words(list(self.index_to_key), rows, self._counts()), None


def init_sims(self: OwnWords, replace: bool = False) -> None:
    """Do nothing, as in gensim 4: lengths are taken when they are needed; with `replace`, `unit_normalize_all`."""
    if replace:
        unit_normalize_all(self)


def sort_by_descending_frequency(self: OwnWords) -> None:
    """Sort words by falling count, in vectors that are your own; words of a model are sorted from the start.

    Raises
    ------
    TypeError
        For vectors of a model, see `add_vectors`.
    """
    _check_own(self)
    counts, words = self._counts(), self.index_to_key
    order = np.argsort(-counts, kind="stable")
    self._attributes = {name: column[order] for name, column in self._attributes.items()}
    self._source = snapshot_of_words([words[row] for row in order.tolist()], self.vectors[order], counts[order])
    self._means = None


def vectors_for_all(
    self: OwnWords, keys: Iterable[str], allow_inference: bool = True, copy_vecattrs: bool = False
) -> Any:
    """Vectors of your own for those of `keys` that are known.

    Parameters
    ----------
    keys : iterable of str
        Each is taken once.
    allow_inference : bool
        As in gensim, and needless: nothing is known of other words.
    copy_vecattrs : bool
        Copy counts and other attributes too; else counts are 0.

    Returns
    -------
    WordVectors
        They can be changed.
    """
    now = self._now()
    rows = [now.index(key) for key in dict.fromkeys(keys) if key in now]
    counts = now._counts()[rows] if copy_vecattrs else np.zeros(len(rows), np.int64)
    snapshot = snapshot_of_words([now.index_to_key[row] for row in rows], now.vectors[rows], counts)
    made = type(self)(snapshot)  # type: ignore[call-arg]
    if copy_vecattrs:
        made._attributes = {name: column[rows] for name, column in now._attributes.items()}
    return made


def save(self: OwnWords, fname: str | PathLike[str], **needless: Any) -> None:
    """Write words, vectors and counts to a safetensors file that `WordVectors.load` reads; a model has its own `save`.

    Parameters
    ----------
    fname : path-like
        The file; one of that name is replaced only when the new one is complete.
    **needless
        What gensim takes (``sep_limit``, ...); ignored.

    Raises
    ------
    TypeError
        If an attribute of the words (`set_vecattr`) is no number and no string.
    """
    now = self._now()
    words = json.dumps(list(now.index_to_key))
    try:
        attributes = json.dumps({name: column.tolist() for name, column in now._attributes.items()})
    except TypeError as error:
        raise TypeError(f"attributes of words that are to be saved must be numbers or strings: {error}") from None
    tensors = {"vectors": np.ascontiguousarray(now.vectors), "counts": np.ascontiguousarray(now._counts())}
    metadata = {"format": _FORMAT, "version": "1", "words": words, "attributes": attributes}
    write_tensors(fname, tensors, metadata, checked=["words", "attributes"])


def read_words(path: str | PathLike[str]) -> tuple[Snapshot, dict[str, NDArray[Any]]]:
    """What `save` wrote, and the attributes of its words; a ModelFileError for anything else."""
    try:
        with TensorFile(path) as file:
            if file.metadata.get("format") != _FORMAT:
                raise ModelFileError(
                    f"{str(path)!r} holds no word vectors that `save` wrote; load_vectors reads others"
                )
            file.check()
            words, vectors, counts = file.metadata["words"], file.read("vectors"), file.read("counts")
            return _checked(words, vectors, counts), _attributes_of(file.metadata.get("attributes", "{}"), len(counts))
    except ModelFileError:
        raise
    except (ForeignFileError, DamagedFileError, KeyError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"{str(path)!r} is damaged, or is no file that `save` of word vectors wrote: {error}"
        ) from error


def _checked(words: str, vectors: Floats, counts: NDArray[np.int64]) -> Snapshot:
    """The snapshot of what a file holds; a TypeError or ValueError if its parts are of wrong kinds or do not fit."""
    listed = json.loads(words)
    if not isinstance(listed, list):
        raise TypeError("its words are no list")
    check_words(listed, "the file")
    if not np.isfinite(vectors).all():
        raise ValueError("its vectors hold NaN or infinity")
    snapshot = snapshot_of_words(listed, vectors, counts)
    if listed:
        snapshot.arrays.check()
    return snapshot


def _attributes_of(text: str, rows: int) -> dict[str, NDArray[Any]]:
    """The attributes of words that a file holds, one value for each word."""
    found = json.loads(text)
    if not isinstance(found, dict) or any(not isinstance(v, list) or len(v) != rows for v in found.values()):
        raise DamagedFileError("the attributes of words are not one for each word")
    attributes = {}
    for name, values in found.items():
        alike = any(all(isinstance(value, kinds) for value in values) for kinds in (str, (bool, int, float)))
        attributes[name] = np.empty(rows, object) if not alike else np.array(values)
        if not alike:
            for row, value in enumerate(values):  # lists among them would make it a matrix
                attributes[name][row] = value
    return attributes
