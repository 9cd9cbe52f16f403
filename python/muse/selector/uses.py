"""Uses of words in a text: of which sense, how sure that is, and what stands around them."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from muse.base.tables import refuse_row
from muse.data.snapshot import Snapshot
from muse.files.line_sentence import LineSentence
from muse.selector.selection import selector_of

__all__ = ["Example", "Uses", "find_uses", "sentences_holding"]

_SENTENCES = 20_000  # with one of the words: enough to choose from
_WORDS_AROUND = 8  # shown on each side of an example
_EVIDENCE_WINDOW = 5  # whose words tell senses apart
_SURE = 0.3  # margin of a use that counts as evidence
_LEAST_EVIDENCE = 3  # uses near which a word must stand


class Example(NamedTuple):
    """A use of a word.

    Attributes
    ----------
    before, word, after : str
        What stands before it, the word, and what stands after it.
    margin : float
        By which its sense is more probable than the next best one.
    """

    before: str
    word: str
    after: str
    margin: float

    def __str__(self) -> str:
        return " ".join(part for part in (self.before, self.word, self.after) if part)


class Uses:
    """What a text says of one word.

    Attributes
    ----------
    counts : list of int
        How many uses each sense has in the text.
    """

    def __init__(self, word: str, n_senses: int) -> None:
        self.word = word
        self.counts = [0] * n_senses
        self._examples: list[dict[str, Example]] = [{} for _ in range(n_senses)]
        self._near: list[Counter[str]] = [Counter() for _ in range(n_senses)]

    def add(self, tokens: Sequence[str], position: int, sense: int, margin: float) -> None:
        """Take note of a use."""
        self.counts[sense] += 1
        before = " ".join(tokens[max(0, position - _WORDS_AROUND) : position])
        example = Example(before, self.word, " ".join(tokens[position + 1 : position + 1 + _WORDS_AROUND]), margin)
        self._examples[sense].setdefault(str(example), example)
        if margin >= _SURE:
            near = tokens[max(0, position - _EVIDENCE_WINDOW) : position + 1 + _EVIDENCE_WINDOW]
            self._near[sense].update(set(near) - {self.word})

    def examples(self, sense: int, count: int) -> tuple[Example, ...]:
        """The uses of a sense of which the selector is surest; no two are the same."""
        found = sorted(self._examples[sense].values(), key=lambda example: -example.margin)
        return tuple(found[:count])

    def evidence(self, sense: int, count: int) -> list[str]:
        """Words that stand near this sense and not near the others, the most telling first.

        By the z-score of the log-odds ratio, with the word's uses as a whole as prior (Monroe, Colaresi & Quinn 2008).
        """
        here = self._near[sense]
        total = sum(self._near, Counter[str]())
        size_here, size = sum(here.values()), sum(total.values())
        scored = []
        for word, near in here.items():
            if near < _LEAST_EVIDENCE:
                continue
            prior = total[word]
            elsewhere, size_elsewhere = prior - near, size - size_here
            odds = math.log((near + prior) / (size_here + size - near - prior + 1))
            odds -= math.log((elsewhere + prior) / (size_elsewhere + size - elsewhere - prior + 1))
            scored.append((odds / math.sqrt(1 / (near + prior) + 1 / (elsewhere + prior)), word))
        return [word for score, word in sorted(scored, key=lambda pair: (-pair[0], pair[1]))[:count] if score > 0]


def find_uses(snapshot: Snapshot, words: Iterable[str], corpus: Any) -> dict[str, Uses]:
    """The uses of known words in a text, up to some ten thousand sentences.

    Parameters
    ----------
    snapshot : Snapshot
        A trained model, whose selector tells the senses.
    words : iterable of str
        Known words.
    corpus : path-like, list of paths, or iterable of lists of str
        The text.

    Returns
    -------
    dict of str to Uses
        For each of the words.

    Raises
    ------
    FileNotFoundError, ValueError
        For a file that is not there, or is no text.
    """
    arrays, index = snapshot.arrays, snapshot.vocabulary.index
    numbers = {word: arrays.numbers_of(index(word)).tolist() for word in words}
    places = {word: {number: place for place, number in enumerate(mine)} for word, mine in numbers.items()}
    uses = {word: Uses(word, len(mine)) for word, mine in numbers.items()}
    holding = list(islice(sentences_holding(corpus, uses.keys()), _SENTENCES))
    start = 0
    for block in selector_of(snapshot).blocks(holding):
        for sentence in range(len(block.offsets) - 1):
            tokens, first = holding[start + sentence], int(block.offsets[sentence])
            for position, token in enumerate(tokens):
                if token in uses:
                    at = first + position
                    uses[token].add(tokens, position, places[token][int(block.senses[at])], float(block.margins[at]))
        start += len(block.offsets) - 1
    return uses


def sentences_holding(corpus: Any, words: Iterable[str]) -> Iterator[list[str]]:
    """The sentences of a text (a path, list of paths, or iterable of lists of str) that hold one of some words."""
    wanted = set(words)
    if isinstance(corpus, (str, os.PathLike)) or (isinstance(corpus, list) and _are_paths(corpus)):
        corpus = LineSentence(corpus)
    if type(corpus) is LineSentence:
        yield from corpus.holding(wanted)
        return
    what = "the corpus must be a path, a list of paths, or an iterable of lists of str"
    if not isinstance(corpus, Iterable):
        raise TypeError(f"{what}; got {corpus!r:.80}")
    for sentence in corpus:
        if isinstance(sentence, (str, bytes)) or not isinstance(sentence, Iterable):
            raise TypeError(f"{what}; one of its sentences is {sentence!r:.80}")
        refuse_row("a sentence of the corpus", sentence)
        tokens = list(sentence)
        if not all(isinstance(token, str) for token in tokens):
            raise TypeError(f"{what}; one of its sentences is {tokens!r:.80}")
        if not wanted.isdisjoint(tokens):
            yield tokens


def _are_paths(items: Sequence[Any]) -> bool:
    return len(items) > 0 and all(isinstance(item, (str, os.PathLike)) for item in items)
