"""spaCy: sense vectors, and word-level vectors, in the vocabulary of a pipeline.

The folder is one that ``spacy.load`` opens; the vector of a word is its word-level one, and ``nlp.vocab["head#0"]`` has
that of a sense. `muse.integrations.spacy` selects senses in spaCy's documents.
"""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from muse.base.optional import needed
from muse.files.folders import new_folder
from muse.formats.reading import damaged
from muse.formats.table import SenseTable, group_keys

__all__ = ["read_spacy", "to_spacy", "write_spacy"]


def to_spacy(table: SenseTable, lang: str = "xx", *, words: bool = True) -> Any:
    """A blank spaCy pipeline whose vocabulary has the vectors, under keys ``word#k`` and, with `words`, ``word``.

    Parameters
    ----------
    table : SenseTable
        The senses.
    lang : str
        spaCy's code of the language; ``"xx"`` is any.
    words : bool
        Whether words have their word-level vectors, too.
    """
    spacy = needed("spacy", "spaCy vectors")
    keys, matrix = table.keys(), table.sense_vectors
    if words:
        keys, matrix = [*keys, *table.words], np.concatenate((matrix, table.mean_vectors()))
    known: dict[str, int] = {}
    for row, key in enumerate(keys):
        known.setdefault(key, row)
    nlp = spacy.blank(lang)
    vectors = needed("spacy.vectors", "spaCy vectors").Vectors(
        data=np.ascontiguousarray(matrix), strings=nlp.vocab.strings, name="muse_senses"
    )
    for key, row in known.items():
        if key:  # spaCy takes the empty string for no key
            vectors.add(nlp.vocab.strings.add(key), row=row)
    nlp.vocab.vectors = vectors
    return nlp


def write_spacy(path: str | PathLike[str], table: SenseTable, *, lang: str = "xx", words: bool = True) -> None:
    """Write `to_spacy` as a folder for ``spacy.load``; a FileExistsError if there is something of that name."""
    nlp = to_spacy(table, lang, words=words)
    with new_folder(path) as folder:
        nlp.to_disk(folder)


def read_spacy(path: str | PathLike[str], *, mark: str = "#") -> SenseTable:
    """Read the vectors in the folder of a spaCy pipeline, or of its vocabulary.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    ModelFileError
        If spaCy cannot read it.
    """
    vocab_type = needed("spacy.vocab", "reading spaCy vectors").Vocab
    folder = Path(path)
    folder = folder / "vocab" if (folder / "vocab").is_dir() else folder
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {os.fspath(path)!r}")
    try:
        vocab = vocab_type().from_disk(folder)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise damaged(repr(os.fspath(path)), f"spaCy cannot read it ({error})") from error
    if not len(vocab.vectors.key2row):
        raise damaged(repr(os.fspath(path)), "it holds no vectors")
    by_row = sorted(vocab.vectors.key2row.items(), key=lambda item: item[1])
    matrix = np.array(vocab.vectors.data[[row for _, row in by_row]], np.float32, order="C")
    return group_keys([vocab.strings[key] for key, _ in by_row], matrix, mark=mark, source=repr(os.fspath(path)))
