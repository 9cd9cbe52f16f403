"""Text of MSSG and NP-MSSG (Neelakantan et al., 2014): words with a global vector, sense vectors and context centres.

The first line is ``words dimension senses maxout``. Then for each word a line ``word senses`` (some versions add the
count of each sense), its global vector, and for each sense its vector and, unless maxout is 1, its context centre.
"""

from __future__ import annotations

from os import PathLike
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from muse.files.replacing import replacing
from muse.files.word2vec_rows import writable_keys
from muse.formats.reading import MAX_SIZE, GrowingMatrix, Reader, damaged, open_reader
from muse.formats.selectors import CenterSelector
from muse.formats.table import SenseTable
from muse.formats.word2vec import read_header

__all__ = ["read_mssg", "write_mssg"]

_LONGEST_LINE = 1 << 22


def read_mssg(
    path: str | PathLike[str], *, window: int = 5, encoding: str = "utf-8", errors: str = "strict"
) -> SenseTable:
    """Read vectors of MSSG, with its selection of senses: by context centres, or without them by the sense vectors.

    Parameters
    ----------
    path : path-like
        The file, often ``.gz``.
    window : int
        Words on each side that make the context.
    encoding, errors : str
        How words are decoded; MSSG's scripts use ISO-8859-15.
    """
    with open_reader(path) as reader:
        header = read_header(reader, (2, 3, 4), "words dimension senses maxout")
        n_words, size = header[:2]
        has_centers = len(header) < 4 or header[3] != 1  # what was released has them, and no sign of it
        if not 1 <= size <= MAX_SIZE:
            raise damaged(f"{reader.name}, line 1", f"vectors of {size} numbers")
        words: list[str] = []
        counts: list[list[int]] = []
        senses: list[int] = []
        word_vectors, vectors, centers = GrowingMatrix(size), GrowingMatrix(size), GrowingMatrix(size)
        for _ in range(n_words):
            word, count, uses = _word_line(reader, encoding, errors)
            rows = reader.take_rows(1 + count * (1 + has_centers), size)
            word_vectors.add(rows[:1])
            vectors.add(rows[1 :: 1 + has_centers])
            if has_centers:
                centers.add(rows[2::2])
            words.append(word)
            senses.append(count)
            counts.append(uses)
        if len(set(words)) < len(words):
            raise damaged(reader.name, "a word occurs twice")
    offset = np.concatenate(([0], np.cumsum(senses))).astype(np.int64)
    table = SenseTable(words, vectors.finish(), offset, word_vectors=word_vectors.finish())
    if all(len(uses) == count for uses, count in zip(counts, senses, strict=True)) and words:
        table.sense_counts = np.array([use for uses in counts for use in uses], np.int64)
    assert table.word_vectors is not None
    table.parts["centers"] = centers.finish() if has_centers else None
    table.selector = CenterSelector(table, window, table.word_vectors, table.parts["centers"])
    return table


def _word_line(reader: Reader, encoding: str, errors: str) -> tuple[str, int, list[int]]:
    """A word, how many senses it has, and how often each was used where that is said."""
    place = reader.place
    line = reader.take_line(_LONGEST_LINE)
    if not line and not reader.peek(1):
        raise damaged(place, "the file ends where a word is expected")
    fields = line.rstrip().split(b" ")
    try:
        numbers = [int(field) for field in fields[1:]]
        word = fields[0].decode(encoding, errors)
    except UnicodeDecodeError:
        raise damaged(place, f"the word {fields[0][:60]!r} is not {encoding}", "give encoding='iso-8859-15'") from None
    except ValueError:
        numbers = []
    if (
        not numbers
        or numbers[0] < 1
        or min(numbers) < 0
        or max(numbers) >= 2**62
        or len(numbers) not in (1, 1 + numbers[0])
    ):
        raise damaged(place, f"expected 'word senses', found {line[:60]!r}")
    return word, numbers[0], numbers[1:]


def write_mssg(
    path: str | PathLike[str], table: SenseTable, *, encoding: str = "utf-8", replace_spaces: str | None = None
) -> None:
    """Write words, word-level vectors, sense vectors and counts as MSSG does, and context centres if there are any."""
    words = writable_keys(table.words, replace_spaces, "MSSG")
    centers = table.parts.get("centers")
    most = int(table.senses.max(initial=0))
    row_format = " ".join(["%.9g"] * table.vector_size) + "\n"
    word_vectors, counts = table.mean_vectors(), table.sense_counts
    with replacing(path) as file:
        file.write(f"{table.n_words} {table.vector_size} {most} {int(centers is None)}\n".encode())
        for i, word in enumerate(words):
            rows = table.rows_of(i)
            uses = "" if counts is None else "".join(f" {count}" for count in counts[rows.start : rows.stop].tolist())
            file.write(f"{word} {len(rows)}{uses}\n".encode(encoding))
            _write_row(file, row_format, word_vectors[i])
            for row in rows:
                _write_row(file, row_format, table.sense_vectors[row])
                if centers is not None:
                    _write_row(file, row_format, centers[row])


def _write_row(file: BinaryIO, row_format: str, row: NDArray[np.float32]) -> None:
    file.write((row_format % tuple(row.tolist())).encode())
