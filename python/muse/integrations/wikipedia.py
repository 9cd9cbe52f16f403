"""A dump of Wikipedia, or of any MediaWiki, as a corpus: ``enwiki-latest-pages-articles.xml.bz2``.

The XML is read by mwxml and the wikitext by mwparserfromhell, page by page, so that memory does not grow with the dump.
"""

from __future__ import annotations

import bz2
import collections
import concurrent.futures
import functools
import gzip
import itertools
import lzma
import multiprocessing
import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from typing import IO, Any

from muse.base.optional import needed
from muse.corpus.tokens import tokenize
from muse.data.text_form import TextForm
from muse.files.lines import as_paths, compression

__all__ = ["WikipediaSentences", "is_dump", "plain_text"]

_OPENERS: dict[str, Callable[..., Any]] = {".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open}
_DAMAGED = (ElementTree.ParseError, EOFError, lzma.LZMAError, AssertionError)  # the last: mwxml's, of other XML
_FILES, _CATEGORIES = 6, 14  # numbers of namespaces, in every MediaWiki
_LEFT_OUT = {
    "ref", "references", "table", "gallery", "math", "chem", "timeline", "score", "syntaxhighlight", "source", "pre",
    "code", "style", "templatestyles", "imagemap", "hiero", "graph", "mapframe", "section",
}  # fmt: skip
_BLOCKS = {"li", "dd", "dt", "br", "p", "div", "blockquote", "hr", "poem"}  # begin a new line
_PAGES_AT_ONCE = 16  # that a process gets


def is_dump(path: str | PathLike[str]) -> bool:
    """Whether the name of a file says that it is an XML dump, compressed or not."""
    name = os.fspath(path).lower()
    return any(name.endswith(f".xml{ending}") for ending in ("", *_OPENERS))


class WikipediaSentences:
    """The paragraphs of the articles of a dump, as lists of tokens; can be iterated any number of times.

    Templates, tables, references, formulas, images, headings and comments are left out; of a link its text stays.

    Parameters
    ----------
    path : path-like
        The dump, an XML file, also compressed (.bz2, .gz, .xz); its name decides.
    tokenizer : callable
        ``tokenizer(paragraph)`` gives tokens. By default lower-case runs of letters and digits, the rule by which the
        usual training texts from Wikipedia are made. It must be picklable for several workers.
    namespaces : iterable of int
        Kinds of pages; 0 are articles. Redirects are never read.
    min_tokens : int
        Shorter paragraphs are left out, such as items of a list of names.
    workers : int
        Processes that turn wikitext into tokens, which takes by far the most time.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    ImportError
        If mwxml or mwparserfromhell is not installed: ``pip install 'muse-senses[wikipedia]'``.
    ValueError
        While iterating, where the dump is damaged or cut off, or is no dump.

    Examples
    --------
    >>> from muse import MUSE
    >>> dump = WikipediaSentences("simplewiki-latest-pages-articles.xml.bz2", workers=4)  # doctest: +SKIP
    >>> model = MUSE(dump)  # doctest: +SKIP
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        tokenizer: Callable[[str], list[str]] = tokenize,
        namespaces: Iterable[int] = (0,),
        min_tokens: int = 1,
        workers: int = 1,
    ) -> None:
        (self.path,) = as_paths(path, "WikipediaSentences")
        for module in ("mwxml", "mwparserfromhell"):
            needed(module, "a Wikipedia dump")
        if workers < 1:
            raise ValueError(f"workers must be at least 1; got {workers}")
        self._tokenizer = tokenizer
        self._namespaces = frozenset(namespaces)
        self._min_tokens = min_tokens
        self._workers = workers

    def __iter__(self) -> Iterator[list[str]]:
        with _OPENERS.get(compression(self.path), open)(self.path, "rb") as file:
            try:
                site, texts = self._texts(file)
                read = functools.partial(_paragraphs, tokenizer=self._tokenizer, left_out=_prefixes(site))
                for paragraphs in self._spread(read, texts):
                    yield from (tokens for tokens in paragraphs if len(tokens) >= max(1, self._min_tokens))
            except (*_DAMAGED, needed("mwxml", "a Wikipedia dump").errors.MalformedXML) as error:
                raise ValueError(
                    f"{self.path}: the dump is damaged, cut off, or no dump of MediaWiki ({error})"
                ) from error
            except OSError as error:
                if error.errno is not None:
                    raise
                raise ValueError(f"{self.path}: the compressed data is damaged ({error})") from error

    @property
    def text_form(self) -> TextForm | None:
        """How text is made into tokens, for a model to remember; None where only its words can tell."""
        return TextForm("wiki", lower=True) if self._tokenizer is tokenize else None

    def __repr__(self) -> str:
        return f"WikipediaSentences({str(self.path)!r})"

    def _texts(self, file: IO[bytes]) -> tuple[Any, Iterator[str]]:
        """What the dump says of its site, and the last revision of each page."""
        dump = needed("mwxml", "a Wikipedia dump").Dump.from_file(file)
        pages = (page for page in dump.pages if page.namespace in self._namespaces and page.redirect is None)
        texts = (_last(page) for page in pages)
        return dump.site_info, (text for text in texts if text)

    def _spread(self, read: Callable[[str], list[list[str]]], texts: Iterator[str]) -> Iterator[list[list[str]]]:
        """`read` of each text, in order, in several processes, few texts ahead of what is asked for."""
        if self._workers == 1:
            yield from map(read, texts)
            return
        context = multiprocessing.get_context("spawn")  # safe beside the threads of training
        with concurrent.futures.ProcessPoolExecutor(self._workers, mp_context=context) as pool:
            ahead: collections.deque[concurrent.futures.Future[list[list[list[str]]]]] = collections.deque()
            while batch := list(itertools.islice(texts, _PAGES_AT_ONCE)):
                ahead.append(pool.submit(_read_all, read, batch))
                if len(ahead) > 4 * self._workers:
                    yield from ahead.popleft().result()
            while ahead:
                yield from ahead.popleft().result()


def _read_all(read: Callable[[str], list[list[str]]], texts: list[str]) -> list[list[list[str]]]:
    return [read(text) for text in texts]


def _last(page: Any) -> str | None:
    """The text of the last revision of a page, if it is wikitext."""
    last = None
    for revision in page:
        last = revision
    return last.text if last is not None and last.model in (None, "wikitext") else None


def _prefixes(site: Any) -> frozenset[str]:
    """How the titles of files and categories start, in lower case."""
    own = {space.name.lower() for space in site.namespaces or () if space.id in (_FILES, _CATEGORIES) and space.name}
    return frozenset({"file", "image", "category"} | own)


def _paragraphs(text: str, *, tokenizer: Callable[[str], list[str]], left_out: frozenset[str]) -> list[list[str]]:
    return [tokens for line in plain_text(text, left_out).splitlines() if (tokens := tokenizer(line))]


def plain_text(wikitext: str, left_out: Iterable[str] = ("file", "image", "category")) -> str:
    """The running text of wikitext, a paragraph a line.

    Parameters
    ----------
    wikitext : str
        The source of a page.
    left_out : iterable of str
        Lower-case names of namespaces, links to whose pages are left out with their text.

    Examples
    --------
    >>> plain_text("A '''bank''' holds [[money|cash]].{{cite}}<ref>no</ref>")  # doctest: +SKIP
    'A bank holds cash.'
    """
    parser = needed("mwparserfromhell", "a Wikipedia dump")
    return "".join(_pieces(parser.parse(wikitext), parser.nodes, frozenset(left_out)))


def _pieces(code: Any, nodes: Any, left_out: frozenset[str]) -> Iterator[str]:
    for node in code.nodes:
        if isinstance(node, nodes.Text):
            yield str(node.value)
        elif isinstance(node, nodes.Wikilink):
            prefix, colon, _ = str(node.title).partition(":")
            if not (colon and prefix.strip().lower() in left_out):
                yield from _pieces(node.text or node.title, nodes, left_out)
        elif isinstance(node, nodes.ExternalLink):
            if node.title is not None:
                yield from _pieces(node.title, nodes, left_out)
        elif isinstance(node, nodes.HTMLEntity):
            yield str(node.normalize())
        elif isinstance(node, nodes.Heading):
            yield "\n"
        elif isinstance(node, nodes.Tag):
            name = str(node.tag).strip().lower()
            if name in _BLOCKS:
                yield "\n"
            if name not in _LEFT_OUT and node.contents is not None:
                yield from _pieces(node.contents, nodes, left_out)
