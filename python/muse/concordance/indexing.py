"""Making the index of a corpus, once, and finding it again."""

from __future__ import annotations

import errno
import json
import logging
import mmap
import os
import tempfile
import zlib
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.base.checks import flag, integer, optional, path_like
from muse.base.progress import Bar, progress_bar
from muse.concordance.index import FORMAT, SUFFIX, VERSION, CorpusIndex
from muse.concordance.sources import Source, form_of, same_files
from muse.corpus.encoding import LineSentence, encode_corpus
from muse.data.memory import available_memory
from muse.errors import IndexFileError
from muse.files.lines import PathInput
from muse.files.packed_words import packed_words
from muse.files.replacing import check_target, name_beside, naming
from muse.files.tensor_file import write_tensors

__all__ = ["as_index", "index_beside", "index_corpus"]

logger = logging.getLogger("muse.concordance")

_PIECE_TOKENS = 1 << 24  # between two looks at Ctrl-C
_LARGEST_SMALL = 2**31 - 1

Corpus = PathInput | Iterable[Iterable[str]]


def index_corpus(
    corpus: Corpus,
    path: str | PathLike[str] | None = None,
    *,
    rebuild: bool = False,
    max_ram: int | None = None,
    workers: int | None = None,
    progress: bool = False,
) -> CorpusIndex:
    """The index of a corpus: of files it is made once, kept beside them, and made anew when they have changed.

    Parameters
    ----------
    corpus : path-like, list of paths, `LineSentence`, or iterable of lists of str
        Files of text, one sentence a line, words between white space, compressed or not; or sentences as lists of
        words, which are read once. Of a reader that has its files in the attribute ``paths``, as `LineSentence` has,
        changes are seen, too.
    path : path-like, optional
        The file for the index. By default ``FILE.muse-index`` beside the (first) file; sentences that come from no file
        are indexed in memory.
    rebuild : bool
        Make it anew, whatever is there.
    max_ram : int, optional
        Bytes of text and index to hold in memory meanwhile; more goes to temporary files. By default half of what is
        free; 0: no limit.
    workers : int, optional
        Threads that read the text. By default one for each available core; the index does not depend on it.
    progress : bool
        Show progress bars.

    Returns
    -------
    CorpusIndex
        About 8.5 bytes a token, in a file that takes its name when it is complete.

    Raises
    ------
    TypeError
        For a corpus that is none of these.
    ValueError
        If the corpus is empty or no UTF-8, or `path` is one of its files; `IndexFileError` if there is a file at `path`
        that is no index, or is damaged.
    OSError
        If a file cannot be read or written, or the corpus changes meanwhile; a `PermissionError` where nothing may be
        written beside the corpus says to give a `path`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> text = pathlib.Path(tempfile.mkdtemp()) / "text.txt"
    >>> _ = text.write_text("the bank of the river\\na bank\\n")
    >>> index_corpus(text).n_tokens, [file.name for file in sorted(text.parent.iterdir())]
    (7, ['text.txt', 'text.txt.muse-index'])
    """
    rebuild, max_ram = flag("rebuild", rebuild), optional(integer(0))("max_ram", max_ram)
    text = _text_of(corpus)
    if path is None and not text.files:
        return CorpusIndex(_encoded(text, None, max_ram, workers, progress))
    target = Path(path_like("path", path)) if path is not None else _beside(text.files)
    for file in text.files:
        if target.exists() and os.path.samefile(file, target):
            raise ValueError(f"the index would replace the corpus, {str(file)!r}; give it another path")
    if target.exists() and not rebuild:
        index = CorpusIndex.open_unchecked(target)  # or it is no index, and would be lost
        if text.files and _is_of(index, text):
            return index
    _write(text, target, max_ram, workers, progress, is_chosen=path is not None)
    return CorpusIndex.open_unchecked(target)


def as_index(corpus: Any) -> CorpusIndex:
    """An index as it is, that in a file ``*.muse-index``, or that of a corpus."""
    if isinstance(corpus, CorpusIndex):
        return corpus
    if isinstance(corpus, (str, PathLike)) and path_like("the corpus", corpus).endswith(SUFFIX):
        return CorpusIndex.open(corpus)
    return index_corpus(corpus)


def index_beside(corpus: Any) -> CorpusIndex | None:
    """The index that lies beside the files of a corpus and is of them as they are now, if there is one, undamaged."""
    text = _text_of(corpus)
    target = _beside(text.files) if text.files else None
    if target is None or not target.is_file():
        return None
    try:
        index = CorpusIndex.open_unchecked(target)
    except IndexFileError as error:
        logger.warning("%s", error)
        return None
    return index if _is_of(index, text) else None


class _Text(NamedTuple):
    """A corpus that is to be indexed: its sentences, the files that it reads, if they are files, and how it does so."""

    sentences: Any
    files: list[Path]
    form: str


def _text_of(corpus: Any) -> _Text:
    """What a user gives; a reader such as `LineSentence` has its files in `paths`."""
    if isinstance(corpus, (str, PathLike)) or (
        isinstance(corpus, (list, tuple)) and corpus and all(isinstance(item, (str, PathLike)) for item in corpus)
    ):
        corpus = LineSentence(corpus)
    if isinstance(corpus, bytes) or not (isinstance(corpus, Iterable) or hasattr(corpus, "__getitem__")):
        raise TypeError(
            "the corpus must be a path, a list of paths, an index, or an iterable of lists of str; "
            f"got {type(corpus).__name__}"
        )
    paths = getattr(corpus, "paths", None)
    if not isinstance(paths, list) or not all(isinstance(path, Path) and path.is_file() for path in paths):
        return _Text(corpus, [], "")  # a pipe cannot be looked at twice
    return _Text(corpus, paths, form_of(corpus))


def _is_of(index: CorpusIndex, text: _Text) -> bool:
    """Whether an index is of this text, and of its files as they are now."""
    if not same_files(index.sources, index.folder, text.files) or index.form != text.form:
        logger.info("%s is of other files, or they were read otherwise; making it anew", index.path)
        return False
    changed = index.changed()
    if changed:
        logger.info("%s has changed since it was indexed; indexing it anew", changed[0])
    return not changed


def _beside(files: list[Path]) -> Path:
    """The name of an index beside its corpus; one of several files is named after the first, and tells all of them."""
    if len(files) == 1:
        return name_beside(files[0], SUFFIX)
    names = "\0".join(os.path.relpath(file, files[0].parent) for file in files)
    return name_beside(files[0], f".and-{len(files) - 1}-{zlib.crc32(os.fsencode(names)):08x}{SUFFIX}")


def _write(
    text: _Text, target: Path, max_ram: int | None, workers: int | None, progress: bool, *, is_chosen: bool
) -> None:
    try:
        folder = check_target(target).parent
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, "nothing may be written in this folder", str(folder))
    except PermissionError as error:
        if is_chosen:
            raise
        advice = "the index cannot be written beside the corpus; give it a path: index_corpus(corpus, path)"
        raise PermissionError(error.errno, advice, str(target)) from error
    before = list(map(_signature, text.files))
    tensors = _encoded(text, folder, max_ram, workers, progress)
    sources = [Source.of(file, folder) for file in text.files]
    for file, source, then in zip(text.files, sources, before, strict=True):
        if (source.size, source.modified) != then or _signature(file) != then:
            raise OSError(errno.EIO, "changed while it was indexed; index it again when it is complete", str(file))
    described = json.dumps({"sources": [source.to_json() for source in sources], "form": text.form})
    metadata = {"format": FORMAT, "version": VERSION, "index": described}
    write_tensors(target, tensors, metadata, checked=["index"])


def _signature(file: Path) -> tuple[int, int]:
    stat = file.stat()
    return stat.st_size, stat.st_mtime_ns


def _encoded(
    text: _Text, folder: Path | None, max_ram: int | None, workers: int | None, progress: bool
) -> dict[str, NDArray[Any]]:
    """The parts of an index."""
    vocabulary, encoded = encode_corpus(
        text.sentences, min_count=1, max_ram=_room(max_ram), spill_dir=folder, workers=workers, progress=progress
    )
    offset = np.zeros(len(vocabulary) + 1, np.int64)
    np.cumsum(vocabulary.counts, out=offset[1:])
    narrow = np.int32 if encoded.n_tokens <= _LARGEST_SMALL else np.int64
    with progress_bar(total=None, desc="indexing", unit=" tokens", show=progress) as bar:
        places = _places(encoded.tokens, offset, narrow, _room(max_ram), folder, bar)
    letters, letter_offset = packed_words(vocabulary.words)
    return {
        "tokens": encoded.tokens, "sentence_offset": encoded.offsets.astype(narrow), "places": places,
        "place_offset": offset, "vocabulary": letters, "vocabulary_offset": letter_offset,
    }  # fmt: skip


def _room(max_ram: int | None) -> int:
    """Bytes of the text that may be held in memory, and of the index as many; 0: any number."""
    if max_ram == 0:
        return 0
    free = available_memory() if max_ram is None else max_ram
    return 0 if free is None else max(1, free // (4 if max_ram is None else 2))


def _places(
    tokens: NDArray[np.int32],
    offset: NDArray[np.int64],
    narrow: type[np.int32] | type[np.int64],
    room: int,
    folder: Path | None,
    bar: Bar,
) -> NDArray[Any]:
    """Where each word stands, one word after another.

    Beyond the room in memory they are made for some words at a time, in a temporary file: what is written at any time
    stays in memory, and each time the text is read once, from its start to its end.
    """
    size = len(tokens) * np.dtype(narrow).itemsize
    places: NDArray[Any] = np.empty(len(tokens), narrow) if not 0 < room < size else _spilled(size, narrow, folder)
    at_once = len(tokens) if not room else max(1, room // np.dtype(narrow).itemsize)
    first, n_words = 0, len(offset) - 1
    while first < n_words:
        last = int(np.searchsorted(offset, offset[first] + at_once, side="right")) - 1
        last = min(max(last, first + 1), n_words)  # a word that fills more than the room is made alone
        filled, ends = offset[first:last].copy(), offset[first + 1 : last + 1]
        for base in range(0, len(tokens), _PIECE_TOKENS):
            piece = tokens[base : base + _PIECE_TOKENS]
            _core.add_postings(piece, base, first, filled, ends, places)
            bar.update(len(piece))
        first = last
    return places


def _spilled(size: int, narrow: type[np.int32] | type[np.int64], folder: Path | None) -> NDArray[Any]:
    """An array in a temporary file without a name, all of whose room on the disk is there."""
    with tempfile.TemporaryFile(dir=folder) as file:
        with naming(folder or tempfile.gettempdir()):
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)  # or a full disk would end the process
            else:
                for start in range(0, size, 1 << 24):
                    file.write(bytes(min(1 << 24, size - start)))
                file.flush()
        return np.frombuffer(mmap.mmap(file.fileno(), size), narrow)
