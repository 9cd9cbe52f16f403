"""Which entry of a dictionary each sense of a word is.

An entry is read as a context: its definition, examples, words, and those of broader and narrower meaning. A sense is as
like it as the mean context of the sense's uses is to that context, by cosine: what selects senses in text selects
entries here. Earlier entries, which are more frequent, are a little likelier.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.base.html import html_rows, html_text
from muse.base.numeric import softmax, unit_rows
from muse.base.text import one_line
from muse.corpus.tokens import tokenize
from muse.data.snapshot import Snapshot
from muse.lexicon.synsets import Lexicon, Synset
from muse.selector.selection import context_weights, uses_of

__all__ = ["SenseLink", "SenseLinks", "link_word"]

# What benchmarks/wordnet found good.
_RANK_WEIGHT = 0.05  # of the logarithm of the place among the entries of the word
_TEMPERATURE = 0.05
_LEAST = 0.1  # cosine: half of the entries of any other word reach it
_LEMMA_WEIGHT = 2  # times that an entry's own words count
_SIF = 1e-3  # a word of this share weighs half, where vectors of words are compared


@dataclass(frozen=True)
class SenseLink:
    """The entry of a dictionary that a sense of a word is taken for.

    Attributes
    ----------
    key : str
        The sense, ``word#k``.
    synset : str
        The id of the entry.
    pos : str
        Its part of speech.
    gloss : str
        Its definition.
    lemmas : tuple of str
        Its words.
    score : float
        How likely it is among the entries of the word, from 0 to 1; the only entry of a word has 1.
    likeness : float
        The cosine of the entry, as a context, with the uses of the sense, from -1 to 1.
    name : str
        A short name for the sense: another word of the entry, or one of broader meaning.
    sense_key : str or None
        WordNet's key of the word in the entry, where the dictionary has it.
    """

    key: str
    synset: str
    pos: str
    gloss: str
    lemmas: tuple[str, ...]
    score: float
    likeness: float
    name: str
    sense_key: str | None = None


class SenseLinks(Mapping[str, SenseLink | None]):
    """What `MUSE.link_wordnet` found: ``links["bank#1"]`` is a `SenseLink`, or None where no entry is likely enough.

    Prints as text, shows as a table in a notebook.

    Parameters
    ----------
    found : mapping of str to SenseLink or None
        By keys of senses.
    lexicon : str
        The name of the dictionary.
    """

    def __init__(self, found: Mapping[str, SenseLink | None], lexicon: str) -> None:
        self._found, self.lexicon = dict(found), lexicon

    def __getitem__(self, key: str) -> SenseLink | None:
        return self._found[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    @property
    def linked(self) -> dict[str, SenseLink]:
        """Those that have an entry."""
        return {key: link for key, link in self._found.items() if link is not None}

    def to_dict(self) -> dict[str, dict[str, Any] | None]:
        """The same in the types of JSON."""
        return {
            key: None if link is None else {**asdict(link), "lemmas": list(link.lemmas)}
            for key, link in self._found.items()
        }

    def __repr__(self) -> str:
        return f"<SenseLinks: {len(self.linked)} of {len(self)} senses have an entry in {self.lexicon}>"

    def __str__(self) -> str:
        lines = []
        for key, link in self._found.items():
            told = "-" if link is None else f"{link.score:.2f}  {link.synset}  {one_line(link.gloss, 90)}"
            lines.append(f"{one_line(key)}  {told}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            [html_text(key), "-", "", "", ""] if link is None else
            [html_text(key), f"{link.score:.2f}", html_text(link.synset), html_text(", ".join(link.lemmas)),
             html_text(link.gloss)]
            for key, link in self._found.items()
        ]  # fmt: skip
        return html_rows(
            f"senses in {self.lexicon}", ["sense", "score", "entry", "words", "meaning"], rows, numeric=(1,)
        )


def link_word(
    snapshot: Snapshot, lexicon: Lexicon, word: str, pos: Sequence[str] | None, threshold: float
) -> dict[str, SenseLink | None]:
    """The entry of each sense of a known word, by key; None where none is likely enough, or the word has none."""
    row = snapshot.vocabulary.index(word)
    numbers = snapshot.arrays.numbers_of(row).tolist()
    links: dict[str, SenseLink | None] = dict.fromkeys(f"{word}#{number}" for number in numbers)
    synsets = [synset for synset in lexicon.synsets(word) if pos is None or synset.pos in pos]
    texts = [text_of(synset, word, snapshot) for synset in synsets]
    if not any(texts):
        return links
    cosines = _cosines(snapshot, word, texts)
    cosines[[not text for text in texts]] = -1.0
    ranked = cosines - _RANK_WEIGHT * np.log(_ranks(synsets))[:, None]
    scores = softmax(ranked.T.astype(np.float32), _TEMPERATURE)
    for key, sense, column in zip(links, scores, cosines.T, strict=True):
        best = int(sense.argmax())
        if sense[best] >= threshold and column[best] >= _LEAST:
            found = synsets[best]
            links[key] = SenseLink(
                key, found.id, found.pos, found.gloss, found.lemmas, float(sense[best]), float(column[best]),
                _name(found, word), found.sense_key,
            )  # fmt: skip
    return links


def text_of(synset: Synset, word: str, snapshot: Snapshot) -> list[str]:
    """An entry as a context: what it says, in the words that the model knows, without the word itself."""
    texts = [synset.gloss, *synset.examples, *(lemma for lemma in synset.lemmas for _ in range(_LEMMA_WEIGHT)),
             *synset.broader, *synset.about, *synset.narrower]  # fmt: skip
    known = snapshot.vocabulary
    return [token for text in texts for token in tokenize(text.replace("_", " ")) if token != word and token in known]


def _ranks(synsets: Sequence[Synset]) -> NDArray[np.float64]:
    """The place of each entry, from 1: those of the part of speech that has most come first, in their order.

    Examples
    --------
    >>> _ranks([Synset("a", "v", ""), Synset("b", "n", ""), Synset("c", "n", "")]).tolist()
    [3.0, 1.0, 2.0]
    """
    sizes = Counter(synset.pos for synset in synsets)
    order = sorted(range(len(synsets)), key=lambda place: -sizes[synsets[place].pos])
    ranks = np.empty(len(synsets))
    ranks[order] = np.arange(1, len(synsets) + 1)
    return ranks


def _name(synset: Synset, word: str) -> str:
    """A word of the entry that is not the word itself, or of what is broader."""
    plain = [lemma.replace("_", " ") for lemma in (*synset.lemmas, *synset.broader)]
    return next((lemma for lemma in plain if lemma.lower() != word.replace("_", " ").lower()), synset.gloss)


# -- likeness ----------------------------------------------------------------------------------------------------------


def _cosines(snapshot: Snapshot, word: str, texts: list[list[str]]) -> NDArray[np.float64]:
    """How like each of N texts is to the contexts of each of the K senses of a word, float64 (N, K)."""
    arrays, forest, row = snapshot.arrays, snapshot.forest, snapshot.vocabulary.index(word)
    rows = arrays.rows_of(row)
    if forest is not None and forest.is_cut(arrays):
        if not forest.trees.n_leaves[row]:
            return _by_words(snapshot, texts, arrays.sense_vectors[rows])
        contexts, _ = uses_of(snapshot, forest).contexts(word, texts, [None] * len(texts))
        return unit_rows(contexts) @ unit_rows(arrays.selection_vectors[rows]).T
    if rows.stop - rows.start == 1:  # its row of Q was never chosen by
        return _by_words(snapshot, texts, arrays.sense_vectors[rows])
    weights = context_weights(snapshot.settings, arrays.word_counts)
    weights = np.ones(arrays.n_words, np.float32) if not len(weights) else weights
    sums = [_weighted(arrays.context_vectors, _ids(snapshot, text), weights) for text in texts]
    return unit_rows(np.stack(sums)) @ unit_rows(arrays.selection_vectors[rows]).T


def _by_words(snapshot: Snapshot, texts: list[list[str]], vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """The same by vectors of words, for a word of one sense, which has no contexts of its own to compare."""
    arrays = snapshot.arrays
    shares = arrays.word_counts / max(int(arrays.word_counts.sum()), 1)
    weights = (_SIF / (_SIF + shares)).astype(np.float32)
    sums = []
    for text in texts:
        ids = _ids(snapshot, text)
        units = unit_rows(np.stack([arrays.word_vector(i) for i in ids])) if ids else np.zeros((0, arrays.vector_size))
        sums.append(weights[ids] @ units if ids else np.zeros(arrays.vector_size))
    return unit_rows(np.stack(sums)) @ unit_rows(vectors).T


def _ids(snapshot: Snapshot, text: list[str]) -> list[int]:
    return [snapshot.vocabulary.index(token) for token in text]


def _weighted(matrix: NDArray[np.float32], ids: list[int], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    total: NDArray[np.float32] = weights[ids] @ matrix[ids]
    return total
