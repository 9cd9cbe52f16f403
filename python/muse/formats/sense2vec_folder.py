"""sense2vec (Trask et al., 2015; Explosion's library): keys ``word|TAG``, in the folder that the library writes.

It is read and written through the library sense2vec. A sense of sense2vec is a tag such as a part of speech, so its tag
is the label of a sense here; senses of others get their number as tag.
"""

from __future__ import annotations

import os
from os import PathLike

import numpy as np

from muse.base.optional import needed
from muse.files.folders import new_folder
from muse.files.word2vec_rows import writable_keys
from muse.formats.reading import damaged
from muse.formats.table import SenseTable, group_keys

__all__ = ["read_sense2vec", "write_sense2vec"]


def read_sense2vec(path: str | PathLike[str]) -> SenseTable:
    """Read a folder of sense2vec vectors; the tags become labels, the frequencies counts of senses.

    Raises
    ------
    ImportError
        If sense2vec is not installed.
    ModelFileError
        If the library cannot read the folder.
    """
    library = needed("sense2vec", "reading sense2vec folders")
    if not os.path.isdir(path):
        raise FileNotFoundError(f"there is no folder {os.fspath(path)!r}")
    try:
        stored = library.Sense2Vec().from_disk(os.fspath(path))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise damaged(repr(os.fspath(path)), f"sense2vec cannot read it ({error})") from error
    by_row = sorted(stored.vectors.key2row.items(), key=lambda item: item[1])
    keys = [stored.strings[key] for key, _ in by_row]
    vectors = np.array(stored.vectors.data[[row for _, row in by_row]], np.float32, order="C")
    counts = [int(stored.freqs.get(key) or 0) for key, _ in by_row]
    return group_keys(keys, vectors, mark="|", digits=False, counts=counts, source=repr(os.fspath(path)))


def write_sense2vec(path: str | PathLike[str], table: SenseTable, *, replace_spaces: str | None = "_") -> None:
    """Write a folder of sense2vec vectors, with keys ``word|TAG``; white space in words becomes ``_``, as there.

    Raises
    ------
    FileExistsError
        If there is something of that name.
    """
    library = needed("sense2vec", "writing sense2vec folders")
    words = writable_keys(table.words, replace_spaces, "sense2vec")
    owners = np.repeat(np.arange(table.n_words), table.senses).tolist()
    numbers = (np.arange(table.n_senses) - np.repeat(table.sense_offset[:-1], table.senses)).tolist()
    labels = list(map(str, numbers)) if table.labels is None else list(table.labels)
    stored = library.Sense2Vec(shape=(table.n_senses, table.vector_size), senses=sorted(set(labels)))
    counts = table.counts_of_senses().tolist()
    for row, (word, label) in enumerate(zip(owners, labels, strict=True)):
        key = stored.make_key(words[word], label)
        stored.add(key, np.ascontiguousarray(table.sense_vectors[row]), counts[row])
    with new_folder(path) as folder:
        stored.to_disk(folder)
