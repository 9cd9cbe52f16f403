"""What a model writes: its file, files of other tools, tagged texts. These are methods of `MUSE`."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any

import numpy as np

from muse.files import model_file
from muse.model.guard import Model, uses
from muse.selector.context import Context
from muse.selector.tag_file import TagReport
from muse.selector.tagging import tag_text

__all__ = ["export", "save", "tag_corpus"]


@uses
def save(self: Model, path: str | PathLike[str], *, dtype: str = "float32", **needless: Any) -> None:
    """Write the model to one file; one of that name is replaced only when the new one is complete.

    Times and speeds in `history` are left out, so that equal models give equal files.

    Parameters
    ----------
    path : path-like
        The file.
    dtype : {"float32", "float16", "int8"}
        What the numbers of vectors are kept as. With float16 and with int8, which has a scale for each row, a file has
        half or a quarter of the size, less with sense trees, and its vectors are rounded: docs/file-format.md says what
        that costs. Such a file loads like any other and its numbers are float32 from then on; a training that it was
        saved in the middle of cannot be resumed from it.
    **needless
        ``separately``, ``sep_limit``, ``ignore`` and ``pickle_protocol``, which gensim takes; ignored.

    Raises
    ------
    TypeError
        For any other argument.
    ValueError
        For another `dtype`, or numbers that it cannot hold.

    Examples
    --------
    >>> model.save("wiki.safetensors")  # doctest: +SKIP
    """
    for name in needless:
        if name not in ("separately", "sep_limit", "ignore", "pickle_protocol"):
            raise TypeError(f"{name!r} is not an argument of save; help(muse.MUSE.save) lists what it takes")
    model_file.write(path, self.snapshot, self.history, _dtype(dtype))


def _dtype(dtype: Any) -> str:
    try:
        name = str(np.dtype(dtype).name)
    except TypeError:
        name = repr(dtype)
    if dtype is None or name not in model_file.DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(map(repr, model_file.DTYPES))}; got {dtype!r:.80}")
    return name


@uses
def export(self: Model, path: str | PathLike[str], format: str, **options: Any) -> None:
    """Write the sense vectors in the format of another tool.

    Parameters
    ----------
    path : path-like
        The file, or for some formats the folder.
    format : str
        ``"word2vec"``, ``"gensim"``, ``"sensegram"``, ...: a key of `muse.formats.registry.FORMATS`;
        docs/formats.md says what each holds.
    **options
        Those of the format, such as ``binary=True``, ``replace_spaces="_"`` or, for a file of the names of senses,
        ``names="senses.names.tsv"``.

    Raises
    ------
    ValueError
        For an unknown format, or a word that it cannot hold.

    Warns
    -----
    FormatWarning
        Names what the format does not hold.

    Examples
    --------
    >>> import tempfile, pathlib, warnings
    >>> from muse import MUSE
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "senses.vec"
    >>> model = MUSE([["head", "army"], ["head", "tail"]], min_count=1, vector_size=4, epochs=1)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # the file holds no selector
    ...     model.export(path, "word2vec")
    >>> path.read_text().split()[:2]
    ['3', '4']
    """
    from muse.formats.registry import write_sense_table
    from muse.formats.table import SenseTable

    snapshot = self.snapshot
    table = SenseTable.of_model(snapshot.vocabulary, snapshot.arrays, snapshot.names_by_row())
    write_sense_table(path, table, format, **options)


@uses
def tag_corpus(
    self: Model,
    input: str | PathLike[str] | Iterable[Context],
    output: str | PathLike[str],
    *,
    margin: float = 0.0,
    resume: bool = False,
    progress: bool | None = None,
    names: bool = False,
) -> TagReport:
    """Write a text with the sense of each word behind it: ``head`` becomes ``head#2``.

    All else stays as it is: unknown words, white space, and lines, each of which is a sentence. The work is done in
    C++ on all threads; a file of any size is streamed.

    Parameters
    ----------
    input : path-like or iterable of sentences
        UTF-8 text, one sentence a line, plain or compressed (.gz, .bz2, .xz, .zst), whose words stand between white
        space. Or sentences, as lists of tokens or strings, such as `muse.corpus.Prose` and `muse.corpus.Column` read
        them: they are written one a line, a space between tokens.
    output : path-like
        Where it goes, compressed if the name says so. The file appears when it is complete.
    margin : float
        Leave words bare whose sense is less than this more probable than the next best one.
    resume : bool
        Go on where an earlier call with the same arguments was stopped or killed; a file ``output.partial`` holds
        what it had done. Of files only.
    progress : bool, optional
        Show a progress bar; the model's setting, if not given.
    names : bool
        Write the names of senses in place of their numbers, ``bank:river`` for ``bank#1``, where they have one; white
        space in a name becomes ``_``.

    Returns
    -------
    TagReport
        ``tokens`` and ``tagged``, how many there are of each.

    Raises
    ------
    FileNotFoundError, OSError
        If a file cannot be read or written, or `input` changes meanwhile; `BlockingIOError` while another process
        tags to the same output; `FileExistsError` if ``output.partial`` or ``output.partial.json``, which are
        written meanwhile, are there and no earlier call left them.
    ValueError
        If the text is not valid UTF-8 (with the line), `input` is also `output` or a file beside it that is written
        meanwhile (``output.partial``, ``output.partial.json``), or the text, the model, the margin or those files
        have changed since the call that is to be resumed.

    Notes
    -----
    A line of more than 64 MB is cut at a space, and contexts do not reach over the cut.

    Examples
    --------
    >>> model.tag_corpus("text.txt", "tagged.txt.gz")  # doctest: +SKIP
    TagReport(tokens=8000064, tagged=7761204)
    """
    return tag_text(self.snapshot, input, output, margin=margin, resume=resume, progress=progress, names=names)
