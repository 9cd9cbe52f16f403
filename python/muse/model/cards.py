"""What ``model.describe(word)`` shows: one card for each sense of a word. `describe` is a method of `MUSE`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.base.checks import integer
from muse.base.html import html_rows, html_text
from muse.base.text import one_line
from muse.data.memory import shortage_said
from muse.data.snapshot import Publisher, Snapshot
from muse.selector.uses import Example, find_uses
from muse.vectors.keyed import restricted
from muse.vectors.model_vectors import SenseVectors
from muse.vectors.sense_keys import SenseKeys, each_word_once, split_sense_key

__all__ = ["SenseCard", "WordCard", "collocates", "describe", "label_words", "names_of_keys", "with_name"]

Scored = tuple[tuple[str, float], ...]

_LABEL_WORDS = 3
_LABEL_FROM = 30  # neighbours among which a label is sought
_FURTHER = 4  # times as many neighbours are looked at, since several may be senses of one word
_FUNCTION_WORDS = 150
_SAME_STEM = 4  # letters: "heads" says nothing about "head"


@dataclass(frozen=True)
class SenseCard:
    """One sense of a word.

    Attributes
    ----------
    key : str
        ``word#k``.
    label : str
        A few words that tell this sense from the others: from the contexts of its sure uses where a corpus was given,
        else from its neighbours.
    share : float
        Its share in the uses of the word in the training text.
    neighbours : tuple of (str, float)
        The most similar senses of other words, one of each, with cosines.
    collocates : tuple of (str, float)
        What the model expects near it, with likelihoods.
    examples : tuple of Example
        Uses of which the selector is sure; none without a corpus.
    name : str or None
        Its name, see `MUSE.name_sense`; of a coarse sense, those of its parts.
    """

    key: str
    label: str
    share: float
    neighbours: Scored
    collocates: Scored
    examples: tuple[Example, ...] = ()
    name: str | None = None

    @property
    def title(self) -> str:
        """Its key, and its name where it has one."""
        return with_name(self.key, self.name)


@dataclass(frozen=True)
class WordCard:
    """The senses of a word, the most used first. Prints as text, shows as a table in a notebook.

    Attributes
    ----------
    word : str
        The word.
    count : int
        How often it occurs in the training text.
    senses : tuple of SenseCard
        Its senses by falling share.
    names : dict of str to str
        Names of the senses among the neighbours and collocates, by keys.
    """

    word: str
    count: int
    senses: tuple[SenseCard, ...]
    names: Mapping[str, str] = field(default_factory=dict)

    def _listed(self, scored: Scored) -> str:
        return ", ".join(with_name(key, self.names.get(key)) for key, _ in scored) or "(none)"

    def __str__(self) -> str:
        noun = "sense" if len(self.senses) == 1 else "senses"
        lines = [f"{one_line(self.word)}: {self.count:,} uses, {len(self.senses)} {noun}"]
        for sense in self.senses:
            lines += [
                "",
                f"{sense.title}  {sense.share:.0%}  {one_line(sense.label)}",
                f"  like  {self._listed(sense.neighbours)}",
                f"  near  {self._listed(sense.collocates)}",
            ]
            lines += [f"  as in {one_line(str(example))}" for example in sense.examples]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        examples = any(sense.examples for sense in self.senses)
        rows = []
        for sense in self.senses:
            uses = "<br>".join(
                f"{html_text(use.before)} <b>{html_text(use.word)}</b> {html_text(use.after)}" for use in sense.examples
            )
            rows.append([
                f"<b>{html_text(sense.title)}</b><br>{html_text(sense.label)}", f"{sense.share:.0%}",
                html_text(self._listed(sense.neighbours)), html_text(self._listed(sense.collocates)),
                *([uses] if examples else []),
            ])  # fmt: skip
        heads = ["sense", "share", "like", "near", *(["as in"] if examples else [])]
        return html_rows(f"{one_line(self.word)}: {self.count:,} uses", heads, rows, numeric=(1,))


def with_name(key: str, name: str | None) -> str:
    """A key as it is shown, with the name of its sense where it has one: ``bank#1 (river)``."""
    return one_line(key) if name is None else f"{one_line(key)} ({name})"


def names_of_keys(snapshot: Snapshot, keys: Iterable[str]) -> dict[str, str]:
    """The names of those of some senses that have one, by their keys."""
    found: dict[str, str] = {}
    for key in keys if snapshot.names else ():
        word, number = split_sense_key(key) or (key, -1)
        if snapshot.known_names.of(word) and (name := snapshot.shown_names(word).get(number)):
            found[key] = name
    return found


def describe(self: Publisher, word: str, topn: int = 8, *, corpus: Any = None, n_examples: int = 3) -> WordCard:
    """A card a sense: share, label, the nearest senses of other words, expected collocates, and example uses.

    The card prints as text and shows as a table in a notebook.

    Parameters
    ----------
    word : str
        A known word.
    topn : int
        How many neighbours and collocates.
    corpus : path-like, list of paths, or iterable of lists of str, optional
        A text, such as that of training, in which to look for uses; up to 20,000 sentences with the word are read.
    n_examples : int
        How many uses to show of each sense: those of which the selector is surest.

    Returns
    -------
    WordCard
        ``senses`` holds a `SenseCard` for each.

    Raises
    ------
    UnknownWordError
        A KeyError that names the nearest spellings.
    FileNotFoundError, TypeError, ValueError
        If the corpus is a file that is not there, or is no text; or for numbers that are no counts.

    Examples
    --------
    >>> print(model.describe("head", corpus="text.txt"))  # doctest: +SKIP
    """
    snapshot = self.snapshot
    topn = integer(1)("topn", topn)
    n_examples = integer(0)("n_examples", n_examples)
    arrays, senses = snapshot.arrays, SenseVectors(snapshot)
    row = snapshot.vocabulary.index(word)
    prior, vectors = arrays.prior(row), arrays.sense_vectors[arrays.rows_of(row)]
    numbers = arrays.numbers_of(row).tolist()
    near = senses.neighbours_of(word, max(_FURTHER * topn, _LABEL_FROM), exclude_same_word=True)
    expected, names = collocates(snapshot, vectors, topn + 1, None), snapshot.shown_names(word)
    uses = None if corpus is None else find_uses(snapshot, [word], corpus)[word]

    def card(k: int) -> SenseCard:
        told = _telling(snapshot, uses.evidence(k, _LABEL_FROM)) if uses else ()
        label = label_words(
            word, told, near[k][:_LABEL_FROM], senses[[key for key, _ in near[k][:_LABEL_FROM]]] @ vectors.T, k
        )
        examples = uses.examples(k, n_examples) if uses else ()
        others = tuple(found for found in expected[k] if found[0] != word)[:topn]
        return SenseCard(
            f"{word}#{numbers[k]}", label, float(prior[k]), each_word_once(near[k], topn), others, examples,
            names.get(numbers[k]),
        )  # fmt: skip

    by_share = np.argsort(-prior, kind="stable").tolist()
    cards = tuple(map(card, by_share))
    around = (key for one in cards for key, _ in (*one.neighbours, *one.collocates))
    return WordCard(word, int(arrays.word_counts[row]), cards, names_of_keys(snapshot, around))


def label_words(
    word: str, telling: Iterable[str], near: list[tuple[str, float]], cosines: NDArray[np.float32], sense: int
) -> str:
    """Words that tell a sense from the others of its word: of its uses, then of those near it.

    `cosines`, float32 (N, K), says how near each of the neighbours is to each sense of the word.
    """
    chosen = _readable(telling, word)
    if len(chosen) < _LABEL_WORDS:
        others = np.delete(cosines, sense, axis=1).max(axis=1, initial=0.0)
        order = np.argsort(others - cosines[:, sense], kind="stable")
        chosen = _readable([*chosen, *(near[i][0].rpartition("#")[0] for i in order.tolist())], word)
    return ", ".join(chosen)


def _telling(snapshot: Snapshot, words: Iterable[str]) -> Iterable[str]:
    """Words without the most frequent ones of the language, which stand near anything."""
    counts = snapshot.arrays.word_counts
    common = min(_FUNCTION_WORDS, len(counts) // 100)
    limit = np.inf if common == 0 else np.partition(counts, len(counts) - common)[len(counts) - common]
    return (word for word in words if (row := snapshot.vocabulary.get(word)) >= 0 and counts[row] < limit)


def _readable(words: Iterable[str], of: str) -> list[str]:
    """The first few that are words, and neither each other's forms nor forms of the word that is described."""
    chosen: list[str] = []
    for word in words:
        if len(word) > 2 and word.isalpha() and all(word[:_SAME_STEM] != other[:_SAME_STEM] for other in [of, *chosen]):
            chosen.append(word)
        if len(chosen) == _LABEL_WORDS:
            break
    return chosen


def collocates(
    snapshot: Snapshot, vectors: NDArray[np.float32], topn: int, restrict_vocab: int | None
) -> list[list[tuple[str, float]]]:
    """For each of M sense vectors, float32 (M, D), the collocates of the largest likelihood σ(U·V)."""
    arrays = snapshot.arrays
    topn, words = integer(1)("topn", topn), restricted(restrict_vocab, arrays.n_words)
    by_word = len(arrays.collocation_vectors) == arrays.n_words
    end = words if by_word else int(arrays.sense_offset[words])
    with shortage_said("collocates were searched for"):
        rows, scores = _core.top_k(arrays.collocation_vectors[:end], vectors, min(topn, end))
    known = snapshot.vocabulary.words
    keys = known if by_word else SenseKeys(known, arrays.sense_offset, arrays.sense_numbers)
    likelihoods = np.exp(-np.logaddexp(0.0, -scores.astype(np.float64)))  # sigmoid, without overflow
    return [
        [(keys[row], likelihood) for row, likelihood in zip(*found, strict=True) if row >= 0]
        for found in zip(rows.tolist(), likelihoods.tolist(), strict=True)
    ]
