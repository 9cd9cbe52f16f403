"""The binary model of AdaGram.jl (Bartunov et al., 2016).

Three lines: ``words dimension prototypes``, ``alpha d``, and the longest code of the tree over words. Then five arrays,
little-endian, one word after another: frequencies (int64), codes (int8), paths (int32), expected counts of senses
(float32) and output vectors of the tree (float32). Then each word on a line, the number of its senses on the next,
and for each sense its number from 1, a line end, its float32 vector, a line end. Older versions write only ``d`` on the
second line, and an alpha behind each word.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from muse.files.replacing import replacing
from muse.files.word2vec_rows import writable_keys
from muse.formats.reading import MAX_SIZE, Floats, GrowingMatrix, Reader, damaged, open_reader
from muse.formats.selectors import AdaGramSelector
from muse.formats.table import SenseTable
from muse.formats.word2vec import read_header

__all__ = ["read_adagram", "write_adagram"]

_LONGEST_LINE = 1 << 21
_PROTOTYPES = 1 << 16
_ALPHA = 0.1  # AdaGram's default, for models of others


@dataclass
class Tree:
    """What an AdaGram model has beside its senses.

    Attributes
    ----------
    alpha : float64 (V,) or float
        Of the Dirichlet process.
    discount : float
        d of the Pitman-Yor process.
    code, path : int8, int32 (V, L)
        Of each word in the tree, see `AdaGramSelector`.
    counts : float32 (V, T)
        Expected counts of all prototypes.
    nodes : float32 (V, D)
        Output vectors.
    numbers : int64 (Z,)
        The number of each sense among the prototypes of its word, from 1.
    """

    alpha: NDArray[np.float64]
    discount: float
    code: NDArray[np.int8]
    path: NDArray[np.int32]
    counts: NDArray[np.float32]
    nodes: Floats
    numbers: NDArray[np.int64]
    has_alpha_of_words: bool = False


def read_adagram(path: str | PathLike[str], *, window: int = 5) -> SenseTable:
    """Read a model that AdaGram.jl saved, with priors and its selection of senses.

    Senses keep their order and are numbered anew from 0: prototypes that AdaGram did not save leave no gap.

    Parameters
    ----------
    path : path-like
        The file.
    window : int
        Words on each side that count when a sense is selected; what training used, 5 unless it was told otherwise.
    """
    with open_reader(path) as reader:
        n_words, size, prototypes = read_header(reader, (3,), "words dimension prototypes")
        alpha, discount = _process(reader)
        (depth,) = read_header(reader, (1,), "length of codes")
        if not (1 <= size <= MAX_SIZE and 1 <= prototypes <= _PROTOTYPES and depth <= MAX_SIZE):
            raise damaged(f"{reader.name}, line 1", f"{size} dimensions, {prototypes} prototypes, codes of {depth}")
        left = reader.left()
        needed = n_words * (8 + 5 * depth + 4 * prototypes + 4 * size + 3)
        if left is not None and needed > left:
            raise damaged(reader.name, f"its header claims {n_words} words, and the file is too small for that")
        frequencies = reader.take_array("<i8", (n_words,))
        code = reader.take_array("i1", (n_words, depth))
        path_ = reader.take_array("<i4", (n_words, depth))
        counts = reader.take_array("<f4", (n_words, prototypes))
        nodes = reader.take_array("<f4", (n_words, size))
        if (frequencies < 0).any() or ((code >= 0) & ((path_ < 1) | (path_ > n_words))).any() or (code > 1).any():
            raise damaged(reader.name, "its frequencies or tree are out of range")
        words, alphas, offset, numbers, vectors = _read_senses(reader, n_words, size, prototypes, alpha is None)
    tree = Tree(
        np.asarray(alphas if alpha is None else [alpha], np.float64), discount, code, path_, counts, nodes, numbers,
        alpha is None,
    )  # fmt: skip
    word_of = np.repeat(np.arange(n_words), np.diff(offset))
    priors = expected_priors(tree)[word_of, numbers - 1]
    table = SenseTable(words, vectors, offset, priors=priors, word_counts=frequencies.astype(np.int64))
    table.parts["adagram"] = tree
    table.selector = AdaGramSelector(table, window, nodes, path_, code)
    return table


def _process(reader: Reader) -> tuple[float | None, float]:
    """Alpha, None where each word has its own, and d."""
    place = reader.place
    fields = reader.take_line().split()
    try:
        numbers = [float(field) for field in fields]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2) or not all(map(math.isfinite, numbers)):
        raise damaged(place, "expected 'alpha d'")
    return (numbers[0], numbers[1]) if len(numbers) == 2 else (None, numbers[0])


def _read_senses(
    reader: Reader, n_words: int, size: int, prototypes: int, has_alphas: bool
) -> tuple[list[str], list[float], NDArray[np.int64], NDArray[np.int64], Floats]:
    """Words, their alphas, the offsets of their senses, the numbers of these and their vectors."""
    words: list[str] = []
    alphas: list[float] = []
    numbers: list[int] = []
    offset = [0]
    vectors = GrowingMatrix(size)
    for _ in range(n_words):
        place = f"{reader.name}, byte {reader.position}"
        try:
            words.append(reader.take_line(_LONGEST_LINE).strip().decode("utf-8"))
            if has_alphas:
                alphas.append(float(reader.take_line()))
            count = int(reader.take_line())
        except ValueError:
            raise damaged(place, "expected a word and the number of its senses") from None
        if not 1 <= count <= prototypes:
            raise damaged(place, f"{count} senses of {words[-1][:60]!r}, where 1 to {prototypes} are possible")
        for _ in range(count):
            line = reader.take_line()
            before = numbers[-1] if len(numbers) > offset[-1] else 0
            if not line.isdigit() or len(line) > 9 or not before < int(line) <= prototypes:
                raise damaged(place, f"{line[:20]!r} is not the number of a sense of {words[-1][:60]!r}")
            numbers.append(int(line))
            vectors.add(reader.take_array("<f4", (1, size)))
            if reader.take_line(1) != b"":
                raise damaged(place, "a vector is not followed by a line end")
        offset.append(len(numbers))
    if len(set(words)) < len(words):
        raise damaged(reader.name, "a word occurs twice")
    return words, alphas, np.asarray(offset, np.int64), np.asarray(numbers, np.int64), vectors.finish()


def expected_priors(tree: Tree) -> NDArray[np.float64]:
    """Expected shares of all prototypes under stick breaking, float64 (V, T)."""
    counts = tree.counts.astype(np.float64)
    priors = np.empty_like(counts)
    left, rest = np.ones(len(counts)), counts.sum(axis=1)
    last = counts.shape[1] - 1
    for k in range(last):
        rest = np.maximum(rest - counts[:, k], 0.0)
        taken = 1.0 + counts[:, k] - tree.discount
        priors[:, k] = left * taken / (taken + tree.alpha + (k + 1) * tree.discount + rest)
        left = np.maximum(left - priors[:, k], 0.0)
    priors[:, last] = left
    return priors


def write_adagram(path: str | PathLike[str], table: SenseTable, *, replace_spaces: str | None = None) -> None:
    """Write a model that AdaGram.jl loads.

    Sense vectors, word counts and the counts of senses are those of the table. The tree over words, by which AdaGram
    selects senses in context, is written if the table was read from a file of AdaGram; otherwise it is empty, and
    AdaGram's ``disambiguate`` gives the priors.
    """
    words = writable_keys(table.words, replace_spaces, "AdaGram")
    tree = table.parts.get("adagram") or _empty_tree(table)
    with replacing(path) as file:
        file.write(f"{table.n_words} {table.vector_size} {tree.counts.shape[1]}\n".encode())
        process = f"{tree.discount!r}" if tree.has_alpha_of_words else f"{float(tree.alpha[0])!r} {tree.discount!r}"
        file.write(f"{process}\n{tree.code.shape[1]}\n".encode())
        parts = ((table.counts_of_words(), "<i8"), (tree.code, "i1"), (tree.path, "<i4"), (tree.counts, "<f4"))
        for array, dtype in (*parts, (tree.nodes, "<f4")):
            file.write(np.ascontiguousarray(array, dtype).data)
        for i, word in enumerate(words):
            rows = table.rows_of(i)
            alpha = f"{float(tree.alpha[i])!r}\n" if tree.has_alpha_of_words else ""
            file.write(f"{word}\n{alpha}{len(rows)}\n".encode())
            for row in rows:
                file.write(f"{tree.numbers[row]}\n".encode())
                file.write(table.sense_vectors[row].astype("<f4").tobytes() + b"\n")


def _empty_tree(table: SenseTable) -> Tree:
    """A tree in which no word has a code, so that contexts say nothing."""
    prototypes = int(table.senses.max(initial=1))
    numbers = np.arange(table.n_senses) - np.repeat(table.sense_offset[:-1], table.senses) + 1
    counts = np.zeros((table.n_words, prototypes), np.float32)
    counts[np.repeat(np.arange(table.n_words), table.senses), numbers - 1] = table.counts_of_senses()
    return Tree(
        alpha=np.array([_ALPHA]), discount=0.0, code=np.full((table.n_words, 1), -1, np.int8),
        path=np.zeros((table.n_words, 1), np.int32), counts=counts,
        nodes=np.zeros((table.n_words, table.vector_size), np.float32), numbers=numbers,
    )  # fmt: skip
