"""Which pairs of words become pseudo-words: development draws to choose settings by, confirmation draws to report."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import evaluation_words
from benchmarks.senses.texts import TOKENS, Text, plain_vectors
from muse.evaluation import draw_pairs

__all__ = ["SETS", "Draw", "DrawRules", "make_draw", "set_of"]

SETS = {"dev": (1, 2, 3), "confirm": (11, 12, 13)}  # seeds of the draws; never choose by the second
_COUNTS = (300, 3000)  # of a word at TOKENS tokens; they grow with the text
_LEAST = 20  # occurrences, in however small a text
_LIKE = 1.25  # a control word occurs as often as a pseudo-word, up to this factor


def set_of(number: int) -> str:
    """``"dev"``, ``"confirm"``, or ``"other"``."""
    return next((name for name, numbers in SETS.items() if number in numbers), "other")


@dataclass(frozen=True)
class DrawRules:
    """How pairs are drawn."""

    pairs: int = 80
    counts: tuple[int, int] | None = None  # None: 300 to 3000 for 8M tokens, in proportion
    max_cosine: float = 0.2  # of the two words in a plain word model; 1: no limit
    bands: int = 1  # of frequency, with as many pairs each; 1 draws all words alike, so that most are rarer ones
    uneven: bool = False  # pairs of a rare word and of one 2.5 to 15 times as frequent, as senses mostly are
    spare: bool = False  # the words of SCWS and word similarity, for the full number of their pairs

    def band(self, tokens: int) -> tuple[int, int]:
        if self.counts is not None:
            return self.counts
        low = max(_LEAST, round(_COUNTS[0] * tokens / TOKENS))
        return low, low * _COUNTS[1] // _COUNTS[0]


@dataclass(frozen=True)
class Draw:
    """Pairs to merge, and words to leave alone that are as frequent as the merged ones."""

    text: str
    tokens: int
    number: int
    pairs: list[tuple[str, str]]
    controls: list[str]
    counts: tuple[int, int]
    max_cosine: float
    too_similar: int  # pairs passed over for it
    uneven: bool
    spare: bool

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps([self.pairs, self.controls]).encode()).hexdigest()[:12]

    @property
    def set(self) -> str:
        return set_of(self.number) + (", uneven" if self.uneven else "")

    def to_json(self) -> dict[str, Any]:
        return {"record": "draw", "set": self.set, "digest": self.digest, **asdict(self)}


def make_draw(text: Text, number: int, rules: DrawRules, cache: Path) -> Draw:
    """Draw pairs by frequency band, unrelated ones if `rules` say so, and their control words."""
    counts, (low, high) = text.by_word(), rules.band(len(text.tokens))
    filtered = rules.max_cosine < 1
    drawn = _drawn(counts, number, rules, low, high)
    passes = [True] * len(drawn)
    if filtered:
        ids, vectors = plain_vectors(text, low, cache)
        first, second = (vectors[[ids[pair[side]] for pair in drawn]] for side in (0, 1))
        passes = (np.einsum("ij,ij->i", first, second) <= rules.max_cosine).tolist()
    pairs: list[tuple[str, str]] = []
    seen = 0
    for band in range(rules.bands):  # of each the first that pass are taken
        size, share = (n * (band + 1) // rules.bands - n * band // rules.bands for n in (len(drawn), rules.pairs))
        here = range(seen, seen + size)
        kept = [drawn[i] for i in here if passes[i]][:share]
        if len(kept) < share:
            raise ValueError(f"too few pairs with a cosine of at most {rules.max_cosine:g}: raise --max-cosine")
        pairs += kept
        seen += size
    return Draw(
        text=text.name, tokens=len(text.tokens), number=number, pairs=pairs,
        controls=list(_controls(counts, pairs, number)), counts=(low, high), max_cosine=rules.max_cosine,
        too_similar=len(passes) - sum(passes), uneven=rules.uneven, spare=rules.spare,
    )  # fmt: skip


def _drawn(counts: dict[str, int], number: int, rules: DrawRules, low: int, high: int) -> list[tuple[str, str]]:
    """Pairs, more than are needed where some will be passed over."""
    filtered, exclude = rules.max_cosine < 1, evaluation_words() if rules.spare else ()

    def pairs(count: int, least: int, most: int) -> list[tuple[str, str]]:
        limits = {"min_count": least, "max_count": most, "bands": rules.bands}
        return draw_pairs(counts, count, **limits, seed=number, exclude=exclude)

    if not rules.uneven:
        return pairs(rules.pairs * (2 if filtered else 1), low, high)
    half = -(-rules.pairs * (3 if filtered else 2) // 4)  # each pair of equals gives two words
    rare, frequent = (
        [word for pair in pairs(half, least * low, most * low) for word in pair] for least, most in ((1, 2), (5, 15))
    )
    return list(zip(rare, frequent, strict=True))


def _controls(counts: dict[str, int], pairs: list[tuple[str, str]], seed: int) -> Iterator[str]:
    taken = {word for pair in pairs for word in pair}
    pool = sorted(word for word in counts if len(word) >= 3 and word.isalpha() and word not in taken)
    numbers = np.array([counts[word] for word in pool])
    order = np.random.default_rng(seed).permutation(len(pool))
    free = np.ones(len(pool), dtype=bool)
    for first, second in pairs:
        wanted = counts[first] + counts[second]
        fits = order[(free & (numbers <= wanted * _LIKE) & (numbers * _LIKE >= wanted))[order]]
        if len(fits):
            free[fits[0]] = False
            yield pool[fits[0]]
