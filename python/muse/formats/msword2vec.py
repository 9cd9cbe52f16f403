"""Text of MSWord2Vec: words with a global vector and sense vectors, and a second file of context clusters.

The first line is ``words dimension``. Then for each word a line ``word senses`` and its global vector, and a line for
the vector of each sense. The file of clusters is the same without global vectors.
"""

from __future__ import annotations

from os import PathLike

import numpy as np

from muse.errors import warn_of_format
from muse.files.replacing import replacing
from muse.files.word2vec_rows import writable_keys
from muse.formats.reading import MAX_SIZE, Floats, GrowingMatrix, Reader, damaged, open_reader
from muse.formats.selectors import CenterSelector
from muse.formats.table import SenseTable
from muse.formats.word2vec import read_header

__all__ = ["read_msword2vec", "write_msword2vec"]

_LONGEST_LINE = 1 << 26
_SENSES = 1 << 16  # of one word


def read_msword2vec(
    path: str | PathLike[str], *, clusters: str | PathLike[str] | None = None, window: int = 5
) -> SenseTable:
    """Read vectors of MSWord2Vec.

    Parameters
    ----------
    path : path-like
        The file of vectors.
    clusters : path-like, optional
        The file of context clusters; with it the senses can be selected by context, as the tool does.
    window : int
        Words on each side that make the context.

    Warns
    -----
    FormatWarning
        Where words have no sense, as the tool leaves words that it met without a context; they are left out.
    """
    words, senses, context, vectors = _read(path, has_globals=True)
    if (senses == 0).any():
        lost = int((senses == 0).sum())
        warn_of_format(f"{path}: {lost} words have no sense and are left out")
    kept = np.flatnonzero(senses > 0)
    offset = np.concatenate(([0], np.cumsum(senses[kept]))).astype(np.int64)
    table = SenseTable([words[i] for i in kept.tolist()], vectors, offset)
    table.parts["globals"] = context[kept]
    if clusters is not None:
        their_words, their_senses, _, centers = _read(clusters, has_globals=False)
        if their_words != words or (their_senses != senses).any() or centers.shape != vectors.shape:
            raise damaged(
                repr(str(clusters)), f"it has other words or senses than {path}", "give the clusters of this file"
            )
        table.parts["clusters"] = centers
        table.selector = CenterSelector(table, window, table.parts["globals"], centers)
    return table


def _read(path: str | PathLike[str], has_globals: bool) -> tuple[list[str], np.ndarray, Floats, Floats]:
    """Words, the number of senses of each, global vectors (V, D), and the vectors of senses or clusters (Z, D)."""
    words: list[str] = []
    senses: list[int] = []
    with open_reader(path) as reader:
        n_words, size = read_header(reader, (2,), "words dimension")
        if not 1 <= size <= MAX_SIZE:
            raise damaged(f"{reader.name}, line 1", f"vectors of {size} numbers")
        context, vectors = GrowingMatrix(size), GrowingMatrix(size)
        for _ in range(n_words):
            word, count, numbers = _word_line(reader, size if has_globals else 0)
            words.append(word)
            senses.append(count)
            if has_globals:
                context.add(numbers[None])
            if count:
                vectors.add(reader.take_rows(count, size))
        if len(set(words)) < len(words):
            raise damaged(reader.name, "a word occurs twice")
    return words, np.asarray(senses, np.int64), context.finish(), vectors.finish()


def _word_line(reader: Reader, size: int) -> tuple[str, int, Floats]:
    place = reader.place
    line = reader.take_line(_LONGEST_LINE)
    if not line and not reader.peek(1):
        raise damaged(place, "the file ends where a word is expected")
    fields = line.split()
    try:
        word, count = fields[0].decode("utf-8"), int(fields[1])
        with np.errstate(over="ignore"):
            numbers = np.array([float(field) for field in fields[2:]], np.float32)
    except (ValueError, IndexError):
        raise damaged(place, f"expected 'word senses' and a vector, found {line[:60]!r}") from None
    if not 0 <= count < _SENSES or len(numbers) != size:
        raise damaged(place, f"{count} senses and {len(numbers)} numbers, where {size} numbers are expected")
    if not np.isfinite(numbers).all():
        raise damaged(place, f"a number of {word[:60]!r} is not finite")
    return word, count, numbers


def write_msword2vec(
    path: str | PathLike[str],
    table: SenseTable,
    *,
    clusters: str | PathLike[str] | None = None,
    replace_spaces: str | None = None,
) -> None:
    """Write vectors as MSWord2Vec does, and context clusters if the table has them and `clusters` names a file.

    The global vector of a word is its word-level vector, unless the table was read from a file of MSWord2Vec.
    """
    words = writable_keys(table.words, replace_spaces, "MSWord2Vec")
    global_vectors = table.parts.get("globals", None)
    global_vectors = table.mean_vectors() if global_vectors is None else global_vectors
    _write(path, words, table, global_vectors, table.sense_vectors)
    if clusters is not None:
        if table.parts.get("clusters") is None:
            raise ValueError("these vectors have no context clusters; leave out clusters=")
        _write(clusters, words, table, None, table.parts["clusters"])


def _write(
    path: str | PathLike[str], words: list[str], table: SenseTable, global_vectors: Floats | None, vectors: Floats
) -> None:
    numbers = " ".join(["%.9g"] * table.vector_size)
    with replacing(path) as file:
        file.write(f"{table.n_words} {table.vector_size}\n".encode())
        for i, word in enumerate(words):
            rows = table.rows_of(i)
            start = "" if global_vectors is None else " " + numbers % tuple(global_vectors[i].tolist())
            file.write(f"{word} {len(rows)}{start}\n".encode())
            for row in rows:
                file.write((numbers % tuple(vectors[row].tolist()) + "\n").encode())
