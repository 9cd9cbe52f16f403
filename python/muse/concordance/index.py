"""An index of a corpus: its text as numbers, and where each word stands, in one file that is mapped into memory."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from muse.base.checks import path_like
from muse.concordance.sources import Source, changed_sources
from muse.data.vocabulary import Vocabulary
from muse.errors import IndexFileError, UnknownWordError, warn_at_caller
from muse.files.packed_words import PackedWords
from muse.files.tensor_file import DamagedFileError, ForeignFileError, TensorFile

__all__ = ["FORMAT", "SUFFIX", "VERSION", "CorpusIndex"]

FORMAT, VERSION, SUFFIX = "muse-index", "1", ".muse-index"
_TENSORS = {
    "tokens": "int32", "sentence_offset": "int32 int64", "places": "int32 int64", "place_offset": "int64",
    "vocabulary": "uint8", "vocabulary_offset": "int64",
}  # fmt: skip
_CHECKED_WHEN_OPENED = ("vocabulary", "vocabulary_offset", "place_offset")  # small, and all else hangs on them
_NOT_LOOKED_UP, _UNKNOWN = -2, -1

Integers = NDArray[np.int64]


class CorpusIndex:
    """A corpus in which the uses of a word are found at once. Made by `index_corpus`, opened by `CorpusIndex.open`.

    Attributes
    ----------
    path : str or None
        The file that it is in; None for one in memory.
    words : sequence of V str
        The words of the corpus, by falling count.
    sources : tuple of Source
        The files that it was made from; none for a corpus that was no file.
    form : str
        How these were read, see `form_of`.
    tokens : int32 (T,)
        The number of each word of the text.

    Examples
    --------
    >>> from muse.concordance import index_corpus
    >>> index = index_corpus([["the", "bank", "of", "the", "river"], ["a", "bank"]])
    >>> index.count("bank"), index.places("bank").tolist(), index.sentence(1)
    (2, [1, 6], ['a', 'bank'])
    """

    def __init__(
        self,
        tensors: Mapping[str, NDArray[Any]],
        sources: Sequence[Source] = (),
        path: str | None = None,
        form: str = "",
    ) -> None:
        self.path, self.sources, self.form = path, tuple(sources), form
        self.tokens, self._sentences = tensors["tokens"], tensors["sentence_offset"]
        self._places, self._place_offset = tensors["places"], tensors["place_offset"]
        self._letters, self._letter_offset = tensors["vocabulary"], tensors["vocabulary_offset"]
        self.words: Sequence[str] = PackedWords(self._letters, self._letter_offset, path or "")
        self._rows: dict[str, int] = {}
        self._known: WeakKeyDictionary[Vocabulary, NDArray[np.int32]] = WeakKeyDictionary()

    @classmethod
    def open(cls, path: str | PathLike[str]) -> CorpusIndex:
        """Open the index in a file, which is mapped into memory and may be read by any number of processes.

        Parameters
        ----------
        path : path-like
            A file that `index_corpus` made. It may be replaced or removed meanwhile, but not changed in place.

        Returns
        -------
        CorpusIndex

        Raises
        ------
        FileNotFoundError, IsADirectoryError
            If there is no such file.
        IndexFileError
            A ValueError: the file is no index, is damaged, or comes from a newer version.

        Warns
        -----
        UserWarning
            If a file of the corpus has changed since it was indexed.

        Examples
        --------
        >>> index = CorpusIndex.open("wiki.txt.muse-index")  # doctest: +SKIP
        """
        index = cls.open_unchecked(path)
        if changed := index.changed():
            warn_at_caller(
                f"{changed[0]} has changed since {index.path} was made of it, which has the text of then; "
                "index_corpus makes it anew",
                UserWarning,
            )
        return index

    @classmethod
    def open_unchecked(cls, path: str | PathLike[str]) -> CorpusIndex:
        """The same, without a look at the files of the corpus."""
        name = path_like("the index", path)
        if os.path.isdir(name):
            raise IsADirectoryError(f"{name!r} is a folder, not an index of a corpus")
        if not os.path.exists(name):
            raise FileNotFoundError(f"there is no file {name!r}; muse.concordance.index_corpus makes an index")
        try:
            with TensorFile(name) as file:
                sources, form = _described(file)
                file.check()
                if file.names != set(_TENSORS) or "checksums" not in file.metadata:
                    raise DamagedFileError("it lacks a part, or has one too many")
                tensors = {key: file.view(key, checked=key in _CHECKED_WHEN_OPENED) for key in _TENSORS}
            _check(tensors)
        except ForeignFileError as error:
            raise IndexFileError(
                f"{name!r} is no index of a corpus, or was cut short ({error}); delete it, and index_corpus makes it "
                "anew, or give another path"
            ) from error
        except DamagedFileError as error:
            raise _damaged(name, error) from error
        return cls(tensors, sources, name, form)

    # -- the corpus --------------------------------------------------------------------------------------------------

    @property
    def n_tokens(self) -> int:
        """Tokens of the corpus."""
        return len(self.tokens)

    @property
    def n_sentences(self) -> int:
        """Sentences of the corpus."""
        return len(self._sentences) - 1

    @property
    def counts(self) -> Integers:
        """How often each word of `words` occurs, int64 (V,)."""
        return np.diff(self._place_offset)

    @property
    def nbytes(self) -> int:
        """Bytes of all that it holds."""
        arrays = (self.tokens, self._sentences, self._places, self._place_offset, self._letters, self._letter_offset)
        return sum(array.nbytes for array in arrays)

    def changed(self) -> list[Path]:
        """The files of the corpus that are not what they were when it was indexed; those that are gone do not count."""
        return changed_sources(self.sources, self.folder)

    @property
    def folder(self) -> Path:
        """The folder that paths of the `sources` begin in."""
        return Path(os.path.realpath(self.path)).parent if self.path is not None else Path.cwd()

    def verify(self) -> None:
        """Compare all that the file holds with its checksums, and its parts with each other.

        `open` looks at the small parts alone, so that an index of any size opens at once, and what a question reads is
        looked at as it is read.

        Raises
        ------
        IndexFileError
            If the file is damaged.
        """
        if self.path is not None:
            try:
                with TensorFile(self.path) as file:
                    file.check()
                    for name in file.names:
                        file.view(name, checked=True)
            except (ForeignFileError, DamagedFileError) as error:
                raise _damaged(self.path, error) from error
        if self.n_tokens and not 0 <= int(self.tokens.min()) <= int(self.tokens.max()) < len(self.words):
            raise self._damage("it has tokens of no word")
        if (np.diff(self._sentences) < 0).any():
            raise self._damage("its sentences overlap")

    def row(self, word: str) -> int:
        """The number of a word, -1 if the corpus does not hold it."""
        if word not in self._rows:
            self._rows[word] = self._find(word)
        return self._rows[word]

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.row(word) >= 0

    def count(self, word: str) -> int:
        """How often a word occurs."""
        row = self.row(word)
        return 0 if row < 0 else int(self._place_offset[row + 1] - self._place_offset[row])

    def places(self, word: str) -> Integers:
        """Where a word stands, as numbers of tokens of the corpus in rising order, int64 (N,).

        Raises
        ------
        IndexFileError
            If the file is damaged.
        """
        row = self.row(word)
        if row < 0:
            return np.empty(0, np.int64)
        found = self._places[self._place_offset[row] : self._place_offset[row + 1]].astype(np.int64)
        rises = bool((np.diff(found) > 0).all()) and (not len(found) or 0 <= int(found[0]) <= found[-1] < self.n_tokens)
        if not rises or (self.tokens[found] != row).any():
            raise self._damage(f"the word {word!r:.80} does not stand where it should")
        return found

    def sentences_of(self, places: Integers) -> tuple[Integers, Integers, Integers]:
        """The number of the sentence that each of some places is in, where that begins, and where it ends."""
        numbers = np.searchsorted(self._sentences, places, side="right") - 1
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < self.n_sentences:
            raise self._damage("its sentences overlap")
        first = self._sentences[numbers].astype(np.int64)
        last = self._sentences[numbers + 1].astype(np.int64)
        if not ((first <= places) & (places < last)).all() or (len(last) and last.max() > self.n_tokens):
            raise self._damage("its sentences overlap")
        return numbers.astype(np.int64), first, last

    def sentence(self, number: int) -> list[str]:
        """The tokens of a sentence; the first one has number 0.

        Raises
        ------
        IndexError
            If there is no such sentence.
        """
        if not 0 <= number < self.n_sentences:
            raise IndexError(f"the corpus has the sentences 0 to {self.n_sentences - 1}; there is no number {number}")
        first, last = int(self._sentences[number]), int(self._sentences[number + 1])
        if not 0 <= first <= last <= self.n_tokens:
            raise self._damage("its sentences overlap")
        return [self.words[row] for row in self.read(np.arange(first, last)).tolist()]

    def read(self, places: Integers) -> NDArray[np.int32]:
        """The numbers of the words at some places, int32 (N,)."""
        if len(places) and not 0 <= places.min() <= places.max() < self.n_tokens:
            raise self._damage("its sentences overlap")
        found: NDArray[np.int32] = self.tokens[places]
        if len(found) and not 0 <= found.min() <= found.max() < len(self.words):
            raise self._damage("it has tokens of no word")
        return found

    def ids_in(self, vocabulary: Vocabulary, rows: NDArray[np.int32]) -> NDArray[np.int32]:
        """The ids in a vocabulary of words of the corpus, given by their numbers, int32 (N,); -1 for unknown ones.

        Each word is looked up once, and what was found is kept as long as the vocabulary is.
        """
        known = self._known.get(vocabulary)
        if known is None:
            known = self._known.setdefault(vocabulary, np.full(len(self.words), _NOT_LOOKED_UP, np.int32))
        asked = np.zeros(len(known), np.bool_)
        asked[rows] = True
        for row in np.flatnonzero(asked & (known == _NOT_LOOKED_UP)).tolist():
            known[row] = vocabulary.ids.get(self.words[row], _UNKNOWN)
        return known[rows]

    def unknown_word(self, word: str) -> UnknownWordError:
        """The error for a word that the corpus does not hold."""
        return UnknownWordError(word, self.words)

    def __repr__(self) -> str:
        where = "in memory" if self.path is None else repr(self.path)
        return f"<CorpusIndex: {self.n_tokens} tokens in {self.n_sentences} sentences, {where}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.path is None:
            raise TypeError(
                "an index in memory cannot be pickled or copied; give index_corpus a path, for one in a file"
            )
        return CorpusIndex.open_unchecked, (self.path,)

    def _find(self, word: str) -> int:
        """By its letters: no table of all words, which would take as long to make as all of a small question."""
        letters = word.encode("utf-8", "surrogatepass")
        rows = np.flatnonzero(np.diff(self._letter_offset) == len(letters))
        starts = self._letter_offset[rows]
        for i, letter in enumerate(letters):
            same = self._letters[starts + i] == letter
            rows, starts = rows[same], starts[same]
        return int(rows[0]) if len(rows) else -1

    def _damage(self, what: str) -> IndexFileError:
        return _damaged(self.path or "the index", what)


def _described(file: TensorFile) -> tuple[list[Source], str]:
    """The files that an index was made of, and how they were read, by its metadata."""
    if file.metadata.get("format") != FORMAT:
        raise ForeignFileError("it is a file of another kind")
    version = file.metadata.get("version", "")
    if version != VERSION:
        raise DamagedFileError(f"it has version {version[:20]} of the format, and this muse reads version {VERSION}")
    try:
        described = json.loads(file.metadata.get("index", ""))
        return [Source.from_json(given) for given in described["sources"]], str(described["form"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DamagedFileError(f"its metadata cannot be read ({error})") from error


def _check(tensors: Mapping[str, NDArray[Any]]) -> None:
    """Raise a DamagedFileError if the parts do not fit together; large ones are looked at as they are read."""
    for name, types in _TENSORS.items():
        if tensors[name].ndim != 1 or tensors[name].dtype.name not in types.split():
            raise DamagedFileError(f"its {name} are of another type")
    parts = {"place_offset": "places", "vocabulary_offset": "vocabulary", "sentence_offset": "tokens"}
    for name, part in parts.items():
        offset, size = tensors[name], len(tensors[part])
        if not len(offset) or offset[0] != 0 or offset[-1] != size:
            raise DamagedFileError(f"its {name} and {part} do not fit together")
        if name in _CHECKED_WHEN_OPENED and (np.diff(offset) < 0).any():
            raise DamagedFileError(f"its {name} does not rise")
    letters, starts = tensors["vocabulary"], tensors["vocabulary_offset"][:-1]
    try:
        bytes(letters).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DamagedFileError(f"its words are no UTF-8 ({error})") from error
    if (letters[starts[starts < len(letters)]] & 0xC0 == 0x80).any():  # in the middle of a letter
        raise DamagedFileError("its vocabulary_offset and vocabulary do not fit together")
    if len(tensors["place_offset"]) != len(tensors["vocabulary_offset"]):
        raise DamagedFileError("it has other words than places of words")
    if len(tensors["places"]) != len(tensors["tokens"]):
        raise DamagedFileError("it has other tokens than places of words")


def _damaged(name: str, what: object) -> IndexFileError:
    return IndexFileError(f"{name!r} is damaged: {what}; delete it, and index_corpus makes it anew from the corpus")
