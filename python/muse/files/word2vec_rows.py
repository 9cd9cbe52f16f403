"""Writing keys and vectors as the word2vec tool does, which most others read: text or binary, a key and its row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from muse.files.replacing import replacing

__all__ = ["check_no_empty_word", "writable_keys", "write_word2vec"]

_WHITE_SPACE = re.compile(r"\s+")


def write_word2vec(
    path: str | PathLike[str],
    keys: Sequence[str],
    vectors: NDArray[np.float32],
    *,
    binary: bool = False,
    replace_spaces: str | None = None,
    header: bool = True,
    counts: NDArray[np.int64] | None = None,
    counts_path: str | PathLike[str] | None = None,
) -> None:
    """Write keyed vectors in the format of the word2vec tool, which gensim and most others read.

    Parameters
    ----------
    path : path-like
        The file to write.
    keys : sequence of str, N
        The keys.
    vectors : float32 (N, D)
        Their vectors. Text holds nine digits, so both forms give back the same numbers.
    binary : bool
        Little-endian float32 in place of decimal numbers.
    replace_spaces : str, optional
        The formats cannot hold white space in a key. This string takes its place; without it such keys are an error.
    header : bool
        Whether the first line says how many rows and columns follow; GloVe's files have none.
    counts : int64 (N,), optional
        How often each key was used.
    counts_path : path-like, optional
        Where these go, as lines ``key count``.

    Raises
    ------
    ValueError
        If a key is empty or has white space in it, or if replacing it gives a key that is there already.
    """
    writable = writable_keys(keys, replace_spaces)
    row_format = " ".join(["%.9g"] * vectors.shape[1])
    with replacing(path) as file:
        if header:
            file.write(f"{len(writable)} {vectors.shape[1]}\n".encode())
        for key, vector in zip(writable, vectors, strict=True):
            file.write(key.encode("utf-8") + b" ")
            file.write(vector.astype("<f4").tobytes() if binary else (row_format % tuple(vector.tolist())).encode())
            file.write(b"\n")
    if counts is not None and counts_path is not None:
        with replacing(counts_path) as file:
            for key, count in zip(writable, counts.tolist(), strict=True):
                file.write(f"{key} {count}\n".encode())


def check_no_empty_word(words: Sequence[str], what: str = "word2vec") -> None:
    """Raise a ValueError if one of the words is empty: the key ``#0`` of its sense would be read as another word."""
    if "" in words:
        raise ValueError(
            f"the {what} format cannot hold the empty string, which is word {list(words).index('')} of the vocabulary; "
            "leave it out of the corpus, or use model.save, which keeps every token"
        )


def writable_keys(keys: Sequence[str], replace_spaces: str | None, what: str = "word2vec") -> list[str]:
    """The keys, or words, as a text format can hold them; a ValueError says which one it cannot."""
    if replace_spaces is not None and not isinstance(replace_spaces, str):
        raise TypeError(f"replace_spaces must be a string without white space, such as '_'; got {replace_spaces!r:.80}")
    if replace_spaces is not None and replace_spaces.split() != [replace_spaces]:
        raise ValueError(
            f"replace_spaces must be a string without white space, such as '_'; got {replace_spaces!r:.80}"
        )
    writable = list(keys)
    spaced = [row for row, key in enumerate(writable) if key.split() != [key]]
    for row in spaced:
        if not writable[row]:
            raise ValueError(f"the {what} format cannot hold the empty string as a key; model.save keeps it")
        if replace_spaces is None:
            raise ValueError(
                f"the {what} format cannot hold the key {writable[row]!r}, which has white space in it; give "
                "replace_spaces='_' (or another string) to replace it, or use model.save, which keeps every token"
            )
        writable[row] = _WHITE_SPACE.sub(lambda _: replace_spaces, writable[row])
    if spaced and len(set(writable)) < len(writable):
        raise ValueError(
            f"with replace_spaces={replace_spaces!r} two keys become the same; give a string that occurs in no key"
        )
    return writable
