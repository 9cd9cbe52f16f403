"""Sense keys and tables: the files in which sense-induction data and answers travel.

A *key* says which senses an occurrence has: ``{word: {occurrence: {sense: weight}}}``.
"""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from muse.evaluation.text import Tokenizer, locate, read_lines, tokenize, tokens_of

__all__ = ["Key", "Occurrence", "read_instances", "read_key", "read_table", "write_key"]

Key = dict[str, dict[str, dict[str, float]]]


@dataclass(frozen=True)
class Occurrence:
    """An occurrence of a word in context, with its true and its induced senses where a file gives them.

    ``word`` is the entry under which occurrences are compared (``"add.v"``), ``lemma`` the word to look up (``"add"``),
    ``form`` the token in the text (``"adding"``), which is ``tokens[position]``; ``None`` for a target that is not one
    token.
    """

    word: str
    name: str
    lemma: str
    form: str | None
    tokens: list[str]
    position: int
    gold: dict[str, float] = field(default_factory=dict)
    system: dict[str, float] = field(default_factory=dict)


def _senses(fields: list[str], place: str) -> dict[str, float]:
    """``["a%1/4", "a%2/2"]`` as weights; all 1 unless each distinct sense has one, as in the official scorer."""
    weights: dict[str, float] = {}
    weighted = 0
    for entry in fields:
        sense, mark, number = entry.partition("/")
        if not sense:
            raise ValueError(f"{place}: a sense without a name in {entry!r}")
        weights[sense] = 1.0
        if mark:
            try:
                weights[sense] = float(number)
            except ValueError:
                raise ValueError(f"{place}: {number!r} in {entry!r} is no weight; write sense/weight") from None
            if not 0 < weights[sense] < float("inf"):
                raise ValueError(f"{place}: the weight in {entry!r} must be positive")
            weighted += 1
    if weighted != len(weights):
        return dict.fromkeys(weights, 1.0)
    return weights


def read_key(path: str | os.PathLike[str]) -> Key:
    """Read a Senseval key, as of SemEval-2007 task 2, SemEval-2010 task 14 and SemEval-2013 task 13.

    A line is ``word occurrence sense[/weight] [sense[/weight] ...]``, separated by spaces; what follows ``!!`` is a
    comment. Senses without weights weigh 1.

    Raises
    ------
    FileNotFoundError, ValueError
        For a missing or damaged file; the message names the file and the line.
    """
    key: Key = {}
    for number, line in read_lines(path):
        place = f"{os.fspath(path)}, line {number}"
        fields = line.split("!!")[0].split()
        if not fields:
            continue
        if len(fields) < 3:
            raise ValueError(f"{place}: expected 'word occurrence sense[/weight] ...', found {line!r}")
        word, name, *senses = fields
        answers = key.setdefault(word, {})
        if name in answers:
            raise ValueError(f"{place}: the occurrence {name} of {word} occurs twice")
        answers[name] = _senses(senses, place)
    if not key:
        raise ValueError(f"{os.fspath(path)} holds no occurrences")
    return key


def write_key(key: Mapping[str, Mapping[str, Mapping[str, float]]], path: str | os.PathLike[str]) -> None:
    """Write a key that the official scorers (and :func:`read_key`) read; weights are left out where all are 1."""
    lines: list[str] = []
    for word, answers in key.items():
        for name, senses in answers.items():
            if any(set(sense) & set("/ \t\n") for sense in (*senses, name, word)):
                raise ValueError(f"{word} {name}: names in a key must not contain spaces or '/': {list(senses)}")
            plain = all(weight == 1 for weight in senses.values())
            parts = [sense if plain else f"{sense}/{weight:.6g}" for sense, weight in senses.items()]
            lines.append(" ".join([word, name, *parts]))
    Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _occurrence(word: str, name: str, lemma: str, text: str, span: tuple[int, int], tokenizer: Tokenizer) -> Occurrence:
    start, end = span
    tokens, position, target = locate(text[:start], text[start:end], text[end:], tokenizer)
    single = tokens_of(tokenizer, lemma)
    known = single[0] if len(single) == 1 else lemma.lower()
    return Occurrence(word, name, known, target[0] if len(target) == 1 else None, tokens, position)


def read_instances(path: str | os.PathLike[str], tokenizer: Tokenizer = tokenize) -> list[Occurrence]:
    """Read test contexts of SemEval-2013 task 13 or SemEval-2010 task 14: an XML file, or a directory of them.

    In the former each ``<instance>`` says where its word stands. In the latter an element ``<access.n.1>`` holds the
    context with the word's sentence in ``<TargetSentence>``, and the word is not marked: it is the token of that
    sentence that is the lemma or a regular form of it, or else the one that begins most like it.

    Parameters
    ----------
    path : path
        A file, or a directory that is searched for ``*.xml`` with all that is below it.
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
    files = sorted(source.rglob("*.xml")) if source.is_dir() else [source]
    if not files or not files[0].is_file():
        raise FileNotFoundError(f"no XML contexts in {source}")
    found: list[Occurrence] = []
    for file in files:
        try:
            root = ElementTree.parse(file).getroot()
        except (ElementTree.ParseError, LookupError, ValueError) as error:  # LookupError: of an encoding
            raise ValueError(f"{file}: not well-formed XML ({error})") from None
        if root.find(".//TargetSentence") is not None:
            found += [_in_target_sentence(node, file, tokenizer) for node in root]
        else:
            found += [_at_offsets(node, file, tokenizer) for node in root.iter("instance")]
    if not found:
        raise ValueError(f"{source}: no <instance> elements, and none with a <TargetSentence>")
    return found


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
            f"{file}: instance {name or '?'} lacks a valid lemma, partOfSpeech, tokenStart or tokenEnd; "
            "expected the xml-format files of SemEval-2013 task 13"
        )
    return _occurrence(f"{lemma}.{part}", name, lemma, text, span, tokenizer)


def _in_target_sentence(node: ElementTree.Element, file: Path, tokenizer: Tokenizer) -> Occurrence:
    """An instance of SemEval-2010 task 14."""
    word, _, number = node.tag.rpartition(".")
    lemma, _, part = word.rpartition(".")
    sentences = node.findall("TargetSentence")
    if not (lemma and part and number) or len(sentences) != 1:
        raise ValueError(
            f"{file}: <{node.tag}> must be named lemma.part.number and hold one <TargetSentence>; "
            "expected the test data of SemEval-2010 task 14"
        )
    sentence = sentences[0]
    before, after = (tokens_of(tokenizer, text or "") for text in (node.text, sentence.tail))
    middle = tokens_of(tokenizer, "".join(sentence.itertext()))
    place = _most_like(lemma.lower(), middle)
    form = None if place is None else middle[place]
    return Occurrence(word, node.tag, lemma.lower(), form, [*before, *middle, *after], len(before) + (place or 0))


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


_COLUMNS = {
    "name": ("context_id",),
    "word": ("word", "target"),
    "gold": ("gold_sense_id", "gold_sense_ids"),
    "system": ("predict_sense_id", "predict_sense_ids"),
    "position": ("positions", "target_position"),
    "context": ("context",),
}


def _header(line: str, place: str) -> dict[str, int]:
    names = [name.strip() for name in line.split("\t")]
    columns = {what: names.index(name) for what, known in _COLUMNS.items() for name in known if name in names}
    lacking = [" or ".join(known) for what, known in _COLUMNS.items() if what not in columns and what != "system"]
    if lacking:
        raise ValueError(f"{place}: the header lacks the tab-separated column(s) {', '.join(lacking)}; it has {names}")
    if "target_pos" in names:
        columns["part"] = names.index("target_pos")
    return columns


def read_table(path: str | os.PathLike[str], tokenizer: Tokenizer = tokenize) -> list[Occurrence]:
    """Read a table of contexts with senses: the layout of RUSSE'18 WSI, and that of TWSI and its SemEval-2013 version.

    Tab-separated with a header. RUSSE: ``context_id word gold_sense_id predict_sense_id positions context``; TWSI:
    ``context_id target target_pos target_position gold_sense_ids predict_sense_ids ... context``. Positions are
    character offsets ``start-end`` or ``start,end``, of which the first occurrence counts; several senses are
    separated by commas.

    Raises
    ------
    FileNotFoundError, ValueError
        For a missing or damaged file; the message names the file and the line.
    """
    found: list[Occurrence] = []
    columns: dict[str, int] | None = None
    for number, line in read_lines(path):
        place = f"{os.fspath(path)}, line {number}"
        if not line.strip():
            continue
        if columns is None:
            columns = _header(line, place)
            continue
        fields = line.split("\t")
        if len(fields) <= max(columns.values()):
            raise ValueError(f"{place}: {len(fields)} fields, the header has more")
        text = fields[columns["context"]]
        offsets = [int(digits) for digits in re.findall(r"\d+", fields[columns["position"]])[:2]]
        if len(offsets) != 2 or not 0 <= offsets[0] < offsets[1] <= len(text):
            raise ValueError(f"{place}: no position start-end inside the context: {fields[columns['position']]!r}")
        lemma = fields[columns["word"]].strip()
        word = f"{lemma}.{fields[columns['part']].strip()}" if "part" in columns else lemma
        base = _occurrence(word, fields[columns["name"]].strip(), lemma, text, (offsets[0], offsets[1]), tokenizer)
        base.gold.update(_senses(_split(fields[columns["gold"]]), place))
        if "system" in columns:
            base.system.update(_senses(_split(fields[columns["system"]]), place))
        found.append(base)
    if not found:
        raise ValueError(f"{os.fspath(path)} holds no contexts")
    return found


def _split(field: str) -> list[str]:
    return [part.strip() for part in field.split(",") if part.strip()]
