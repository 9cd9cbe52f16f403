"""The word2vec text and binary formats: a header line ``rows columns``, then one key and its vector a row."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from muse.formats.replacing import replacing

__all__ = ["write_word2vec"]


def write_word2vec(
    path: str | PathLike[str],
    keys: Sequence[str],
    vectors: NDArray[np.float32],
    *,
    binary: bool = False,
    replace_spaces: str | None = None,
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

    Raises
    ------
    ValueError
        If a key is empty or has white space in it, or if replacing it gives a key that is there already.
    """
    writable = _writable_keys(keys, replace_spaces)
    row_format = " ".join(["%.9g"] * vectors.shape[1])
    with replacing(path) as file:
        file.write(f"{len(writable)} {vectors.shape[1]}\n".encode())
        for key, vector in zip(writable, vectors, strict=True):
            file.write(key.encode("utf-8") + b" ")
            file.write(vector.astype("<f4").tobytes() if binary else (row_format % tuple(vector)).encode())
            file.write(b"\n")


def _writable_keys(keys: Sequence[str], replace_spaces: str | None) -> list[str]:
    """The keys as they can be written."""
    if replace_spaces is not None and replace_spaces.split() != [replace_spaces]:
        raise ValueError(f"replace_spaces must be a string without white space, such as '_'; got {replace_spaces!r}")
    writable = list(keys)
    spaced = [row for row, key in enumerate(writable) if key.split() != [key]]
    for row in spaced:
        if not writable[row]:
            raise ValueError("the word2vec format cannot hold the empty string as a key; model.save keeps it")
        if replace_spaces is None:
            raise ValueError(
                f"the word2vec format cannot hold the key {writable[row]!r}, which has white space in it; give "
                "replace_spaces='_' (or another string) to replace it, or use model.save, which keeps every token"
            )
        writable[row] = replace_spaces.join(writable[row].split()) or replace_spaces
    if spaced and len(set(writable)) < len(writable):
        raise ValueError(
            f"with replace_spaces={replace_spaces!r} two keys become the same; give a string that occurs in no key"
        )
    return writable
