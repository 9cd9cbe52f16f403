"""Opening a dictionary, whatever it is given as."""

from __future__ import annotations

import os
from typing import Any

from muse.lexicon.lmf import LmfFile, WnDatabase
from muse.lexicon.princeton import PrincetonFiles, is_princeton
from muse.lexicon.synsets import Lexicon

__all__ = ["open_lexicon"]


def open_lexicon(lexicon: Any) -> Lexicon:
    """A dictionary that can be asked for the meanings of words.

    Parameters
    ----------
    lexicon : str, path-like, wn.Wordnet or Lexicon
        The folder of Princeton's database files; a WN-LMF file; the name of a lexicon in the database of ``wn``; a
        ``wn.Wordnet``; or anything with a ``name`` and a method ``synsets``, as `Lexicon` has them.

    Raises
    ------
    FileNotFoundError
        If a path is not there.
    ImportError
        If ``wn`` is needed and not installed.
    ModelFileError
        If a file is damaged or something else.
    TypeError, ValueError
        For anything else; or if ``wn`` has no such lexicon.
    """
    if isinstance(lexicon, (str, os.PathLike)):
        path = os.fspath(lexicon)
        if os.path.isdir(path):
            if not is_princeton(path):
                raise ValueError(
                    f"{path!r} is a folder without index.noun and data.noun, the files of WordNet's database"
                )
            return PrincetonFiles(path)
        if os.path.isfile(path):
            return LmfFile(path)
        if isinstance(lexicon, str) and os.sep not in path and not path.endswith((".xml", ".xml.gz", ".xml.xz")):
            return WnDatabase(path)
        raise FileNotFoundError(f"there is no file or folder {path!r}; check the path")
    if hasattr(lexicon, "lexicons") and hasattr(lexicon, "senses"):
        return WnDatabase(lexicon)
    if callable(getattr(lexicon, "synsets", None)) and isinstance(getattr(lexicon, "name", None), str):
        found: Lexicon = lexicon
        return found
    raise TypeError(
        "lexicon must be the name of a lexicon of wn, a WN-LMF file, a folder of WordNet's database, or a wn.Wordnet; "
        f"got {lexicon!r:.80}"
    )
