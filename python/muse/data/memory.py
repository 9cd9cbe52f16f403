"""How much memory a model needs, and whether it is there: said before training, not by the system halfway."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse.base.limits import memory_limit, usable_cores
from muse.data.settings import Settings
from muse.data.vocabulary import Vocabulary
from muse.errors import InsufficientMemoryError

__all__ = [
    "available_memory",
    "check_memory",
    "check_memory_for_algebra",
    "check_memory_to_load",
    "check_memory_to_read",
    "estimate_memory",
    "expected_senses",
    "out_of_memory",
    "readable_size",
    "short_of_memory",
    "shortage_said",
    "usual_senses",
    "with_figure",
]

_WORD_BYTES = 300  # a short str, its entries in a dict and a list, its counts; and what counting leaves in the heap
_TREE_BYTES = 400  # a word: numbers of its nodes, senses and uses, and what the heap keeps of growing
_LEAF_BYTES = 32  # its count, and its part of the joins
_GATHERED = 1.15
_FALL = 1.5  # of counts with the rank, so that trees get as many leaves and uses as those of 8 to 60 million tokens
_ROW_PAD = 16
_SQUARES, _SPLIT_ROWS = 6, 16_000  # float64 matrices (D, D), and rows of D, that the split takes
_CONTEXT_BYTES = 128 << 20  # of these uses at a time, at most
_COPIES_BYTES, _ALL_COPIES_BYTES = 32 << 20, 512 << 20  # of rows, with negatives that are not shared
_PROCESS_BYTES, _THREAD_BYTES = 40 << 20, 8 << 20  # the interpreter with numpy, and what the heap does not give back
_RESERVE = 32 << 20  # for threads: with less than that the C library itself may abort the process
_LESS = "ask for less at once, free memory, or raise the limit of this process (ulimit -v)"
_ALGEBRA_BYTES = 128 << 20  # a buffer of OpenBLAS


def estimate_memory(
    settings: Settings, n_words: int, n_senses: int, counts: NDArray[np.int64] | None = None
) -> dict[str, int]:
    """Bytes that a model takes in training, by array, and in total.

    Parameters
    ----------
    settings : Settings
        Those of the model.
    n_words, n_senses : int
        How many it has.
    counts : int64 (V,), optional
        Of its words; as words of a language are distributed (Zipf), if not given.
    """
    selection, dim = _padded(settings.selection_dim), _padded(settings.vector_size)
    several = n_senses > n_words
    trees = settings.init == "trees" and several
    order = min(settings.order_size, settings.vector_size)
    rows = {
        "context_vectors": n_words * selection,
        "selection_vectors": n_senses * (_padded(settings.vector_size + order) if trees else selection),
        "sense_vectors": n_senses * dim,
        "collocation_vectors": (n_words if settings.collocation == "word" else n_senses) * dim,
    }
    if settings.formulation == "factorized":
        rows |= {"forward_values": n_words * selection, "backward_values": n_words * selection}
    sizes = {name: 4 * floats for name, floats in rows.items()}
    sizes["counts"] = 8 * (2 * n_words + 1 + n_senses)
    sizes["vocabulary"] = _WORD_BYTES * n_words
    threads = settings.workers or usable_cores()
    sizes["process"] = _PROCESS_BYTES + threads * _THREAD_BYTES
    if settings.group_size == 1 and threads > 1:  # twice, of each thread; see src/cpp/train/row_copies.cpp
        of_each = min(sizes["collocation_vectors"], _COPIES_BYTES, _ALL_COPIES_BYTES // threads)
        sizes["row_copies"] = 2 * threads * of_each
    if settings.from_words and settings.init != "trees" and several:
        # The words' U beside the senses'; the covariance of contexts, its eigenvectors and their work space; blocks.
        size = settings.vector_size
        sizes["split"] = 4 * n_words * dim + 8 * (_SQUARES * size**2 + _SPLIT_ROWS * size)
    if settings.grows_trees and several:
        grown = _grown(settings, n_words, counts)
        sizes |= _of_trees(settings, grown) if trees else _of_trees_for_a_split(settings, grown, n_senses)
        if trees:
            at_end = sum(sizes.values()) - sizes.pop("row_copies", 0)
            sizes["growing"] = max(0, _while_growing(settings, grown, sizes) - at_end)
    return sizes | {"total": sum(sizes.values())}


class _Grown(NamedTuple):
    """What trees are grown from and become: words, leaves, sampled uses, and those of words that get a tree."""

    words: int
    leaves: int
    places: int
    in_trees: int


def _grown(settings: Settings, n_words: int, counts: NDArray[np.int64] | None) -> _Grown:
    uses = np.minimum(_usual_counts(settings) if counts is None else counts, settings.uses)
    each = n_words / max(len(uses), 1)  # words for which one stands, where counts are usual ones
    in_trees = uses[uses >= settings.least_uses]
    leaves = np.clip(in_trees // settings.uses_a_leaf, 2, settings.leaves)
    return _Grown(n_words, *(round(each * float(some.sum())) for some in (leaves, uses, in_trees)))


def _of_trees(settings: Settings, grown: _Grown) -> dict[str, int]:
    """What a model with trees has beside its arrays: the words' U, the order of contexts, leaves with their shifts."""
    size, order = settings.vector_size, min(settings.order_size, settings.vector_size)
    floats = grown.words * (_padded(size) + _padded(order)) + grown.leaves * (2 * size + order)
    return {"trees": 4 * floats + _LEAF_BYTES * grown.leaves + _TREE_BYTES * grown.words}


def _while_growing(settings: Settings, grown: _Grown, sizes: Mapping[str, int]) -> int:
    """The most that is taken before the senses' matrices are made: by the encoder, or by the trees."""
    size, order = settings.vector_size, min(settings.order_size, settings.vector_size)
    words = (8 * _padded(size) + 24) * grown.words + sizes["vocabulary"] + sizes["process"]
    encoder = 2 * 4 * _padded(order) * grown.words
    of_leaves = 4 * (2 * size + order) + _LEAF_BYTES  # a little more than once, while they are laid side by side
    leaves = round(_GATHERED * of_leaves * grown.leaves) + _TREE_BYTES * grown.words
    squares = 8 * _SQUARES * (size + order) ** 2
    blocks = min(_CONTEXT_BYTES, 2 * _padded(size + order) * grown.in_trees)
    space = 4 * (_padded(size) + _padded(order)) * grown.words
    trees = space + 8 * (grown.places + grown.words) + leaves + max(squares, blocks)
    return words + max(encoder, trees)


def _of_trees_for_a_split(settings: Settings, grown: _Grown, n_senses: int) -> dict[str, int]:
    """The same where the trees go when the senses have started from them, and are counted beside the senses."""
    size, order = settings.vector_size, min(settings.order_size, settings.vector_size)
    squares = 8 * (_SQUARES * (size + order) ** 2 + _SPLIT_ROWS * (size + order))
    floats = grown.words * (2 * _padded(size) + 2 * _padded(order)) + grown.leaves * (2 * size + order)
    floats += n_senses * (2 * size + order)  # what the trees say of each sense, beside U and Q
    blocks = min(_CONTEXT_BYTES, 2 * _padded(size + order) * grown.in_trees)
    return {"trees": 4 * floats + squares, "uses": 8 * grown.places + blocks}


def _usual_counts(settings: Settings) -> NDArray[np.int64]:
    """Counts of a thousand words, as those of a language are distributed, of which the last has min_count uses."""
    ranks = np.arange(0.5, 1000) / 1000
    counts: NDArray[np.int64] = (max(settings.min_count, 1) * ranks**-_FALL).astype(np.int64)
    return counts


def expected_senses(settings: Settings, vocabulary: Vocabulary) -> int:
    """How many senses a model of these words gets, at most: rare words have no more than their uses allow."""
    senses = settings.senses_of(vocabulary.words)
    if settings.grows_trees:
        senses = np.minimum(senses, _most_senses(settings, vocabulary.counts))
    return int(senses.sum())


def usual_senses(settings: Settings, n_words: int) -> int:
    """How many senses a model of so many words may get; with trees, as words of a language are distributed (Zipf)."""
    most = int(settings.senses_of([""])[0])
    if not settings.grows_trees:
        return n_words * most
    return int(n_words * np.minimum(most, _most_senses(settings, _usual_counts(settings))).mean())


def _most_senses(settings: Settings, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """As many as a tree of so many uses has leaves, at least one."""
    leaves = np.where(counts < settings.least_uses, 1, np.minimum(counts // settings.uses_a_leaf, settings.leaves))
    most: NDArray[np.int64] = np.maximum(leaves, 1)
    return most


def _padded(dim: int) -> int:
    return -(-dim // _ROW_PAD) * _ROW_PAD


def available_memory() -> int | None:
    """Bytes that this process can still get without swapping; None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        available = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        if "SC_AVPHYS_PAGES" not in os.sysconf_names:
            return None
        available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(limit for limit in (available, memory_limit(), _left_of_limit()) if limit is not None)


def _left_of_limit() -> int | None:
    """What `ulimit -v` leaves this process; None where there is no such limit."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, OSError, ValueError):
        return None
    return None if limit == resource.RLIM_INFINITY else max(0, limit - pages * resource.getpagesize())


def check_memory_for_algebra() -> None:
    """Raise an InsufficientMemoryError where numpy's linear algebra would end the process for want of memory.

    OpenBLAS reserves address space for each of its threads, and exits where a limit does not allow that.
    """
    left, needed = _left_of_limit(), _ALGEBRA_BYTES * (2 + (os.cpu_count() or 1))
    if left is not None and left < needed:
        raise InsufficientMemoryError(
            f"the limit of this process (ulimit -v) leaves {readable_size(left)} of address space, and numpy's linear "
            f"algebra may take {readable_size(needed)}; raise the limit, or train with recipe=Paper()"
        )


def check_memory(settings: Settings, counts: NDArray[np.int64], n_senses: int) -> None:
    """Raise an InsufficientMemoryError, a MemoryError, if a model of words of these counts does not fit into memory."""
    n_words = len(counts)
    needed, available = estimate_memory(settings, n_words, n_senses, counts)["total"], available_memory()
    if available is not None and needed + _RESERVE > available:
        raise InsufficientMemoryError(
            f"training needs about {readable_size(needed)} for {n_words:,} words with {n_senses:,} senses, and "
            f"{readable_size(available)} are free; lower vector_size ({settings.vector_size}) or senses, or keep "
            f"fewer words with a higher min_count ({settings.min_count}) or max_final_vocab"
        )


def check_memory_to_read() -> None:
    """Raise an InsufficientMemoryError if there is not enough memory to begin to read a text."""
    available = available_memory()
    if available is not None and available < _RESERVE:
        raise out_of_memory("beginning to read the corpus", f"that takes {readable_size(_RESERVE)} at least")


def check_memory_to_load(size: int) -> None:
    """Raise an InsufficientMemoryError if a file of `size` bytes cannot be read into memory."""
    available = available_memory()
    if available is not None and size > available:
        raise InsufficientMemoryError(
            f"the model takes {readable_size(size)}, and {readable_size(available)} are free; load it with mmap=True, "
            "which reads only what is asked for"
        )


def out_of_memory(doing: str, advice: str) -> InsufficientMemoryError:
    """The error for memory that ran out halfway, in spite of the checks before: `doing` says in what, with figures."""
    available = available_memory()
    free = "" if available is None else f" ({readable_size(available)} are free now)"
    return InsufficientMemoryError(f"memory ran out while {doing}{free}; {advice}")


def short_of_memory(settings: Settings, counts: NDArray[np.int64], n_senses: int) -> InsufficientMemoryError:
    """The error for memory that ran out in training a model of words of these counts."""
    needed = readable_size(estimate_memory(settings, len(counts), n_senses, counts)["total"])
    return out_of_memory(
        f"training a model that takes about {needed} with {settings.workers or usable_cores()} workers",
        f"lower vector_size ({settings.vector_size}), batch_tokens ({settings.batch_tokens}) or workers",
    )


def with_figure(error: MemoryError, what: str, advice: str = _LESS) -> InsufficientMemoryError:
    """The same as an error that says what ran out of memory, and how much is left; one that does so stays."""
    if isinstance(error, InsufficientMemoryError):
        return error
    said = str(error)
    return out_of_memory(what + (f": {said}" if said and said != "std::bad_alloc" else ""), advice)


@contextlib.contextmanager
def shortage_said(doing: str, advice: str = _LESS) -> Iterator[None]:
    """A block in which a MemoryError becomes one that says in what memory ran out, see `with_figure`."""
    try:
        yield
    except MemoryError as error:
        raise with_figure(error, doing, advice) from error


def readable_size(size: int) -> str:
    """Such as "1.5 GB"."""
    return f"{size / 1e9:,.1f} GB" if size >= 10**8 else f"{size / 1e6:,.2f} MB"
