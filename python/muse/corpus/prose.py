"""Plain prose as a corpus: files to sentences of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from muse.base.checks import flag
from muse.base.optional import needed
from muse.corpus.paragraphs import paragraphs
from muse.corpus.sentences import SentenceSplitter
from muse.corpus.tokenizer import tokenize
from muse.corpus.tokens import Tokenizer, tokens_of
from muse.corpus.tokens import tokenize as tokenize_wiki
from muse.data.text_form import TextForm
from muse.files.encodings import check_encoding, decoded
from muse.files.lines import STANDARD_INPUT, PathInput, read_chunks, shown
from muse.files.text_files import open_text, text_files

__all__ = ["Prose"]

_SENTENCES = ("parser", "senter", "sentencizer")  # parts of a pipeline of spaCy that set sentences


class Prose:
    """The sentences of text files as people write them, as lists of tokens; can be iterated any number of times.

    Files are streamed. Lines that were broken for the width of a page are joined again, with the words that were
    divided there; sentences are found by rules (`SentenceSplitter`) for the marks of some twenty scripts and the
    abbreviations of as many languages; words by `muse.corpus.tokenize`.

    Parameters
    ----------
    paths : path or sequence of paths
        Files, folders, patterns and ``"-"``, as in `muse.LineSentence`; compressed ones (.gz, .bz2, .xz, .zst), too.
    language : str, optional
        The language of the text, such as ``"de"``, whose abbreviations and ordinal numbers are known then. Without it
        those of all languages count, as far as they are no words of others.
    encoding : str, optional
        That of the files, such as ``"cp1252"``. UTF-8, if not given, and UTF-16 or UTF-32 where a byte order mark says
        so. ``"auto"`` reads each file that is not UTF-8 as Windows-1252, and names it in a warning.
    tokenizer : callable, optional
        ``tokenizer(sentence)`` gives its tokens, such as ``jieba.lcut``. `muse.corpus.tokenize`, if not given.
    lower : bool
        Whether that tokenizer, or the pipeline, gives small letters.
    nlp : pipeline of spaCy, or str, optional
        A pipeline, or the name of one to load, that finds words, and sentences too, if one of its parts does so. Tokens
        are its words without punctuation.
    abbreviations : iterable of str
        Behind whose full stop a sentence goes on, beside those that are known.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        For what is no path, encoding, tokenizer or pipeline, and for files that are not there.
    ValueError
        While iterating, where a file is not in its encoding (with file, byte and the option to give), compressed data
        is damaged, or standard input is read again.

    Warns
    -----
    UserWarning
        Names files that ``encoding="auto"`` takes for Windows-1252.

    Notes
    -----
    Rules of our own, since libraries for it that are light are slow or know few languages: on the same English text
    the rules split 11 times as many words a second as syntok (three languages), and 80 times as many as pysbd;
    docs/reading-text.md has the figures. Where rules do not do, give `nlp`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("Dr. Grey sat on the\\nriver bank. It wasn't wet!\\n")
    >>> list(Prose(folder))
    [['dr', 'grey', 'sat', 'on', 'the', 'river', 'bank'], ['it', "wasn't", 'wet']]
    """

    def __init__(
        self,
        paths: PathInput,
        *,
        language: str | None = None,
        encoding: str | None = None,
        tokenizer: Tokenizer | None = None,
        lower: bool = True,
        nlp: Any = None,
        abbreviations: Iterable[str] = (),
    ) -> None:
        self.encoding, self._lower = check_encoding(encoding), flag("lower", lower)
        if language is not None and not isinstance(language, str):
            raise TypeError(f"language must be the code of a language, such as 'de'; got {language!r:.80}")
        if isinstance(abbreviations, (str, bytes)):
            raise TypeError(f"abbreviations must be a list, such as ['approx.']; got {abbreviations!r:.80}")
        if nlp is not None and tokenizer is not None:
            raise ValueError("give either tokenizer or nlp, which finds words, too")
        self._nlp = needed("spacy", "Prose(nlp=...)", "spacy").load(nlp) if isinstance(nlp, str) else nlp
        if self._nlp is not None and not hasattr(self._nlp, "pipe"):
            raise TypeError(f"nlp must be a pipeline of spaCy, or the name of one; got {nlp!r:.80}")
        if tokenizer is not None and not callable(tokenizer):
            raise TypeError(f"tokenizer must be a function of a sentence, as str.split; got {tokenizer!r:.80}")
        self._tokenizer = tokenizer
        self._splitter = SentenceSplitter(language, abbreviations)
        self.paths = text_files(paths, "Prose")
        self._read = False

    @property
    def text_form(self) -> TextForm | None:
        """How the text is tokenised, for a model to remember; None where only its words can tell."""
        if self._nlp is not None or self._tokenizer not in (None, tokenize, tokenize_wiki):
            return None
        wiki = self._tokenizer is tokenize_wiki
        return TextForm("wiki" if wiki else "muse", lower=wiki or self._tokenizer is not None or self._lower)

    def __iter__(self) -> Iterator[list[str]]:
        if self._nlp is not None:
            yield from self._of_pipeline()
            return
        for sentence in self.sentences():
            if self._tokenizer is None:
                tokens = tokenize(sentence, lower=self._lower)
            else:
                tokens = tokens_of(self._tokenizer, sentence)
            if tokens:
                yield tokens

    def sentences(self) -> Iterator[str]:
        """The sentences as text."""
        for paragraph in self.paragraphs():
            yield from self._splitter.split(paragraph)

    def paragraphs(self) -> Iterator[str]:
        """The paragraphs as text, each in one line."""
        if self._read and STANDARD_INPUT in self.paths:
            raise ValueError("standard input can be read once, and was; write the text into a file")
        self._read = True
        for path in self.paths:
            with open_text(path) as file:
                yield from paragraphs(decoded(read_chunks(path, file), self.encoding, shown(path)))

    def _of_pipeline(self) -> Iterator[list[str]]:
        splits = set(_SENTENCES) & set(self._nlp.pipe_names)
        for document in self._nlp.pipe(self.paragraphs() if splits else self.sentences()):
            for sentence in document.sents if splits else (document,):
                words = [token for token in sentence if not (token.is_space or token.is_punct)]
                if words:
                    yield [token.lower_ if self._lower else token.text for token in words]

    def __repr__(self) -> str:
        return f"Prose({[shown(path) for path in self.paths]})"
