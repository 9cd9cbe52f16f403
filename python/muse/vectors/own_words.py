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

from muse.data.arrays import Arrays, Floats
from muse.data.settings import Settings
from muse.data.snapshot import Snapshot
from muse.data.vocabulary import Vocabulary, check_words
from muse.errors import ModelFileError
from muse.files.tensor_file import DamagedFileError, ForeignFileError, TensorFile, write_tensors

__all__ = ["add_vector", "add_vectors", "read_words", "save", "snapshot_of_words", "vectors_for_all"]

logger = logging.getLogger("muse")

_FORMAT = "muse-words"


class OwnWords(Protocol):
    """What these functions ask of `WordVectors`."""

    _source: Any
    _means: Floats | None

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
        ``{"count": array_like (N,)}``; without it, new words have the count 0.
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
    if not isinstance(self._source, Snapshot):
        raise TypeError(
            "the vectors of a model cannot be changed, since its senses would not follow; copy.copy(model.wv) are "
            "your own, and the model itself grows with build_vocab(new_sentences, update=True)"
        )
    listed = [keys] if isinstance(keys, str) else list(keys)
    check_words(listed, "the given keys")
    rows = np.array(weights, np.float32, ndmin=2)
    if rows.shape != (len(listed), self.vector_size):
        raise ValueError(
            f"{len(listed)} keys need as many vectors of {self.vector_size} numbers; got the shape {rows.shape}"
        )
    if not np.isfinite(rows).all():
        raise ValueError("vectors must hold finite numbers; these have NaN or infinity")
    given = np.asarray((extras or {}).get("count", np.zeros(len(listed))), np.int64)
    known = {word: row for row, word in enumerate(self.index_to_key)}
    new = [i for i, word in enumerate(listed) if word not in known]
    old = [i for i, word in enumerate(listed) if word in known]
    vectors = np.concatenate([self.vectors, rows[new]])
    counts = np.concatenate([self._counts(), given[new]])
    if replace:
        at = [known[listed[i]] for i in old]
        vectors[at] = rows[old]
        if extras:
            counts[at] = given[old]
    elif old:
        logger.warning(
            "%d of the keys are there already, and keep their vectors; replace=True gives them these", len(old)
        )
    words = [*known, *(listed[i] for i in new)]
    self._source = snapshot_of_words(words, vectors, counts)
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
        Copy the counts too; else they are 0.

    Returns
    -------
    WordVectors
        They can be changed.
    """
    now = self._now()
    rows = [now.index(key) for key in dict.fromkeys(keys) if key in now]
    counts = now._counts()[rows] if copy_vecattrs else np.zeros(len(rows), np.int64)
    snapshot = snapshot_of_words([now.index_to_key[row] for row in rows], now.vectors[rows], counts)
    return type(self)(snapshot)  # type: ignore[call-arg]


def save(self: OwnWords, fname: str | PathLike[str], **needless: Any) -> None:
    """Write words, vectors and counts to a safetensors file that `WordVectors.load` reads; a model has its own `save`.

    Parameters
    ----------
    fname : path-like
        The file; one of that name is replaced only when the new one is complete.
    **needless
        What gensim takes (``sep_limit``, ...); ignored.
    """
    now = self._now()
    words = json.dumps(list(now.index_to_key))
    tensors = {"vectors": np.ascontiguousarray(now.vectors), "counts": np.ascontiguousarray(now._counts())}
    write_tensors(fname, tensors, {"format": _FORMAT, "version": "1", "words": words}, checked=["words"])


def read_words(path: str | PathLike[str]) -> Snapshot:
    """What `save` wrote; a ModelFileError for anything else."""
    try:
        with TensorFile(path) as file:
            if file.metadata.get("format") != _FORMAT:
                raise ModelFileError(
                    f"{str(path)!r} holds no word vectors that `save` wrote; load_vectors reads others"
                )
            file.check()
            words, vectors, counts = json.loads(file.metadata["words"]), file.read("vectors"), file.read("counts")
            return snapshot_of_words(words, vectors, counts)
    except (ForeignFileError, DamagedFileError, KeyError) as error:
        raise ModelFileError(
            f"{str(path)!r} is damaged, or is no file that `save` of word vectors wrote: {error}"
        ) from error
