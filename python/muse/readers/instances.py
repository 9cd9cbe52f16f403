"""Test contexts of SemEval-2010 task 14 and SemEval-2013 task 13, which are XML."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ElementTree
from itertools import takewhile
from pathlib import Path

from muse.corpus.tokens import Tokenizer, tokenize, tokens_of, word_of
from muse.errors import quote
from muse.files.lines import is_compressed
from muse.readers.keys import Occurrence, occurrence_at
from muse.readers.lines import read_pieces

__all__ = ["is_xml", "read_instances"]


def read_instances(path: str | os.PathLike[str], tokenizer: Tokenizer = tokenize) -> list[Occurrence]:
    """Read test contexts of SemEval-2013 task 13 or SemEval-2010 task 14: an XML file, or a directory of them.

    In the former each ``<instance>`` says where its word stands. In the latter an element ``<access.n.1>`` holds the
    context with the word's sentence in ``<TargetSentence>``, and the word is not marked: it is the token of that
    sentence that is the lemma or a regular form of it, or else the one that begins most like it.

    Parameters
    ----------
    path : path
        A file, or a directory that is searched for ``*.xml`` with all that is below it; compressed ones
        (``*.xml.gz``) too.
    tokenizer : callable
        How the contexts are tokenised.

    Returns
    -------
    list of Occurrence
        ``form`` is ``None`` where the word was not found.

    Raises
    ------
    FileNotFoundError, ValueError
        For missing or damaged files; the message names the file and the instance.
    """
    source = Path(path)
    files = sorted(filter(is_xml, source.rglob("*"))) if source.is_dir() else [source]
    if not files or not files[0].is_file():
        raise FileNotFoundError(f"no XML contexts in {source}")
    found: list[Occurrence] = []
    for file in files:
        content = b"".join(read_pieces(file))
        try:
            root = ElementTree.fromstring(content)
        except (ElementTree.ParseError, LookupError, ValueError) as error:  # LookupError: of an encoding
            raise ValueError(f"{file}: not well-formed XML ({error})") from None
        if root.find(".//TargetSentence") is not None:
            found += [_in_target_sentence(node, file, tokenizer) for node in root]
        else:
            found += [_at_offsets(node, file, tokenizer) for node in root.iter("instance")]
    if not found:
        raise ValueError(f"{source}: no <instance> elements, and none with a <TargetSentence>")
    return found


def is_xml(path: Path) -> bool:
    """Whether the name of a file says that it is XML, compressed or not."""
    return (path.with_suffix("") if is_compressed(path) else path).suffix.lower() == ".xml"


def _at_offsets(node: ElementTree.Element, file: Path, tokenizer: Tokenizer) -> Occurrence:
    """An instance of SemEval-2013 task 13."""
    name, lemma, part = node.get("id"), node.get("lemma"), node.get("partOfSpeech")
    text = "".join(node.itertext())
    try:
        span = int(node.get("tokenStart", "")), int(node.get("tokenEnd", ""))
    except ValueError:
        span = (0, 0)
    if not (name and lemma and part and 0 <= span[0] < span[1] <= len(text)):
        raise ValueError(
            f"{file}: instance {quote(name or '?')} lacks a valid lemma, partOfSpeech, tokenStart or tokenEnd; "
            "expected the xml-format files of SemEval-2013 task 13"
        )
    return occurrence_at(f"{lemma}.{part}", name, lemma, text, span, tokenizer)


def _in_target_sentence(node: ElementTree.Element, file: Path, tokenizer: Tokenizer) -> Occurrence:
    """An instance of SemEval-2010 task 14."""
    word, _, number = node.tag.rpartition(".")
    lemma, _, part = word.rpartition(".")
    sentences = node.findall("TargetSentence")
    if not (lemma and part and number) or len(sentences) != 1:
        raise ValueError(
            f"{file}: the element {quote(node.tag)} must be named lemma.part.number and hold one <TargetSentence>; "
            "expected the test data of SemEval-2010 task 14"
        )
    sentence = sentences[0]
    before, after = (tokens_of(tokenizer, text or "") for text in (node.text, sentence.tail))
    middle = tokens_of(tokenizer, "".join(sentence.itertext()))
    place = _most_like(lemma.lower(), [token.lower() for token in middle])
    form = None if place is None else middle[place]
    return Occurrence(
        word, node.tag, word_of(tokenizer, lemma), form, [*before, *middle, *after], len(before) + (place or 0)
    )


def _inflected(lemma: str) -> re.Pattern[str]:
    """The regular inflected forms of an English noun or verb."""
    word, stem, last = re.escape(lemma), re.escape(lemma[:-1]), re.escape(lemma[-1:])
    forms = [f"{word}(s|es|d|ed|ing)?", f"{word}{last}(ed|ing)"]
    forms += {"e": [f"{stem}ing"], "y": [f"{stem}i(es|ed)"]}.get(lemma[-1:], [])
    return re.compile("|".join(forms))


def _most_like(lemma: str, tokens: list[str]) -> int | None:
    """The place of the lemma or a regular form of it; else of the token that begins most like it (swim, swam)."""
    regular = _inflected(lemma)
    best: tuple[bool, int, int, int] | None = None
    for place, token in enumerate(tokens):
        alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(lemma, token, strict=False)))
        fits = regular.fullmatch(token) is not None
        if fits or (alike >= max(2, len(lemma) - 3) and len(token) <= len(lemma) + 2):  # bring, brought
            found = (fits, alike, -len(token), -place)
            best = found if best is None else max(best, found)
    return None if best is None else -best[3]
