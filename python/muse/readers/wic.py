"""Word in Context (WiC): pairs of sentences in which a word means the same, or not.

M. T. Pilehvar and J. Camacho-Collados (2019), *WiC: the word-in-context dataset for evaluating context-sensitive
meaning representations*, NAACL.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muse.corpus.tokens import Tokenizer, check_context, tokenize, tokens_of, word_of
from muse.errors import quote
from muse.readers.lines import read_lines

__all__ = ["WicPair", "read_wic"]

_INDEX = re.compile("[0-9]{1,9}")


@dataclass(frozen=True)
class WicPair:
    """A word in two contexts.

    ``lemma`` is the word to look up, spelt as the model's words are; ``forms`` are the tokens in the text, ``None``
    where a target is not one token; ``contexts`` are lists of tokens, and ``positions`` the places of the forms.

    Raises
    ------
    TypeError, ValueError
        If a context is no list of tokens, or a known form's position is not in it.
    """

    lemma: str
    forms: tuple[str | None, str | None]
    contexts: tuple[list[str], list[str]]
    positions: tuple[int, int]
    same: bool

    def __post_init__(self) -> None:
        for form, tokens, position in zip(self.forms, self.contexts, self.positions, strict=True):
            check_context(tokens, position, form, f"the WiC pair of {self.lemma!r:.80}")

    @property
    def places(self) -> tuple[str, frozenset[tuple[Any, ...]]]:
        """What is compared, in either order."""
        return self.lemma, frozenset(
            (tuple(tokens), at) for tokens, at in zip(self.contexts, self.positions, strict=True)
        )


def _context(text: str, index: int, place: str, tokenizer: Tokenizer) -> tuple[list[str], int, str | None]:
    pieces = text.split(" ")
    if not 0 <= index < len(pieces):
        raise ValueError(f"{place}: the target is word {index} of a sentence of {len(pieces)}: {quote(text)}")
    head = [token for piece in pieces[:index] for token in tokens_of(tokenizer, piece)]
    target = tokens_of(tokenizer, pieces[index])
    tail = [token for piece in pieces[index + 1 :] for token in tokens_of(tokenizer, piece)]
    return [*head, *target, *tail], len(head), target[0] if len(target) == 1 else None


def _lines(path: str | os.PathLike[str]) -> list[tuple[int, str]]:
    """The lines of a file without blank ones at its end; others count, since data and answers go line by line."""
    lines = list(read_lines(path))
    while lines and not lines[-1][1].strip():
        lines.pop()
    return lines


def read_wic(
    data: str | os.PathLike[str], gold: str | os.PathLike[str] | None = None, tokenizer: Tokenizer = tokenize
) -> list[WicPair]:
    """Read one part of WiC.

    Parameters
    ----------
    data : path
        A ``*.data.txt`` file: ``word <tab> part of speech <tab> index-index <tab> sentence <tab> sentence`` a line.
    gold : path, optional
        The ``*.gold.txt`` beside it, ``T`` or ``F`` a line; by default the file of that name in the same directory.
        Blank lines may stand at the end of both.
    tokenizer : callable
        How the sentences and the word are tokenised, which settles whether they keep their capitals.

    Raises
    ------
    FileNotFoundError, ValueError
        For missing or damaged files; the message names the file and the line.
    """
    if gold is None:
        path = Path(data)
        gold = path.with_name(path.name.replace(".data.", ".gold."))
        if gold == path:
            raise ValueError(f"{path} is not named *.data.txt: pass the answers as gold=")
    answers: list[bool] = []
    for number, line in _lines(gold):
        if line.strip() not in ("T", "F"):
            raise ValueError(f"{os.fspath(gold)}, line {number}: expected T or F, found {quote(line)}")
        answers.append(line.strip() == "T")
    pairs: list[WicPair] = []
    for number, line in _lines(data):
        place = f"{os.fspath(data)}, line {number}"
        fields = line.split("\t")
        indices = fields[2].split("-") if len(fields) == 5 else []
        if len(indices) != 2 or not all(_INDEX.fullmatch(index) for index in indices):
            raise ValueError(f"{place}: expected word, part of speech, index-index and two sentences between tabs")
        if len(pairs) == len(answers):
            raise ValueError(f"{os.fspath(gold)} has only {len(answers)} answers: is it the key of {os.fspath(data)}?")
        first = _context(fields[3], int(indices[0]), place, tokenizer)
        second = _context(fields[4], int(indices[1]), place, tokenizer)
        places = (first[1], second[1])
        lemma = word_of(tokenizer, fields[0])
        pairs.append(WicPair(lemma, (first[2], second[2]), (first[0], second[0]), places, answers[len(pairs)]))
    if len(pairs) != len(answers) or not pairs:
        raise ValueError(f"{os.fspath(gold)} has {len(answers)} answers for {len(pairs)} lines of {os.fspath(data)}")
    return pairs
