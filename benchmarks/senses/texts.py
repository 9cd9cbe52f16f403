"""Texts as numbers, and pseudo-words in them: a text is encoded once, and merging words is then a table lookup."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse import MUSE, _core
from muse.corpus.encoding import encode_corpus
from muse.data.vocabulary import Vocabulary
from muse.evaluation import PseudoWordTask
from muse.training.run import train_model

__all__ = ["Encoded", "Merged", "PlainVectors", "Text", "merge", "plain_vectors"]

TOKENS = 8_000_000  # the size of text for which rules are stated
JOINER = "_"  # that of muse.datasets.pseudo_words


class Encoded(NamedTuple):
    """A text in the word ids of a model, without the words that the model dropped."""

    corpus: _core.Corpus
    places: NDArray[np.int64]  # of the occurrences that are scored


@dataclass(frozen=True)
class Text:
    """An encoded text with all of its words, in the order of their first occurrence."""

    name: str
    words: list[str] = field(repr=False)
    tokens: NDArray[np.int32] = field(repr=False)
    offsets: NDArray[np.int64] = field(repr=False)  # (sentences + 1,)

    @classmethod
    def load(cls, path: str | os.PathLike[str], cache: Path, limit: int | None = None) -> Text:
        """Read a text, plain or compressed, or what an earlier run kept of it in `cache`."""
        path = Path(path)
        name, stat = path.name.split(".")[0], path.stat()
        stored = cache / f"{name}-{stat.st_size}-{stat.st_mtime_ns}.npz"
        if not stored.exists():
            vocabulary, corpus = encode_corpus(corpus_file=path, min_count=1, sorted_vocab=False)
            words = np.frombuffer("\n".join(vocabulary.words).encode(), np.uint8)
            save_arrays(stored, {"words": words, "tokens": corpus.tokens, "offsets": corpus.offsets})
        with np.load(stored) as kept:
            text = cls(name, kept["words"].tobytes().decode().split("\n"), kept["tokens"], kept["offsets"])
        return text if limit is None or limit >= len(text.tokens) else text.head(limit)

    def head(self, limit: int) -> Text:
        """The first sentences, with about `limit` tokens."""
        sentences = max(1, int(np.searchsorted(self.offsets, limit, side="right")) - 1)
        offsets = self.offsets[: sentences + 1]
        tokens = self.tokens[: offsets[-1]]
        return Text(f"{self.name}@{limit / 1e6:g}M", self.words[: int(tokens.max()) + 1], tokens, offsets)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        return np.bincount(self.tokens, minlength=len(self.words))

    def by_word(self) -> dict[str, int]:
        """How often each word occurs."""
        return dict(zip(self.words, self.counts.tolist(), strict=True))

    def encode(self, vocabulary: Vocabulary, places: NDArray[np.int64] | None = None) -> Encoded:
        """The text in a model's ids; words that it does not know go, and sentences that are left empty."""
        places = np.empty(0, np.int64) if places is None else places
        stream = np.fromiter(map(vocabulary.get, self.words), np.int32, len(self.words))[self.tokens]
        known = stream >= 0
        if not known[places].all():
            raise ValueError("a pseudo-word is not in the model's vocabulary: min_count is above the counts drawn from")
        before = np.concatenate(([0], np.cumsum(known, dtype=np.int64)))
        return Encoded(_core.Corpus.from_arrays(stream[known], np.unique(before[self.offsets])), before[places])


@dataclass(frozen=True)
class Merged:
    """A text in which pairs of words are pseudo-words, and the occurrences of these that are scored."""

    text: Text = field(repr=False)
    names: list[str]  # of the pseudo-words
    places: NDArray[np.int64] = field(repr=False)  # ascending
    pair: NDArray[np.int64] = field(repr=False)  # which pseudo-word stands there
    member: NDArray[np.int64] = field(repr=False)  # and which of its two words it was

    @cached_property
    def task(self) -> PseudoWordTask:
        """The task that scores senses chosen at `places`."""
        text = self.text
        sentence = np.searchsorted(text.offsets, self.places, side="right") - 1
        kept, number = np.unique(sentence, return_inverse=True)
        truth = np.column_stack([number, self.places - text.offsets[sentence], self.member])
        task = PseudoWordTask(self.sentences(kept), {name: truth[self.pair == i] for i, name in enumerate(self.names)})
        task.counts.clear()  # of those sentences; the baselines weigh words by the counts of the whole text
        task.counts.update(text.by_word())
        return task

    def sentences(self, chosen: Sequence[int] | NDArray[np.int64]) -> list[list[str]]:
        """Some of the sentences as tokens."""
        words, text = np.array(self.text.words, dtype=object), self.text
        return [words[text.tokens[text.offsets[i] : text.offsets[i + 1]]].tolist() for i in chosen]

    def write(self, path: Path, block: int = 1 << 16) -> None:
        """Write the text to a file, a sentence a line, for peers that read files."""
        total = len(self.text.offsets) - 1
        with path.open("w", encoding="utf-8") as file:
            for first in range(0, total, block):
                lines = self.sentences(range(first, min(first + block, total)))
                file.writelines(" ".join(line) + "\n" for line in lines)

    def encode(self, vocabulary: Vocabulary) -> Encoded:
        """The text in a model's ids."""
        return self.text.encode(vocabulary, self.places)


def merge(text: Text, pairs: Sequence[tuple[str, str]], occurrences: int | None = None) -> Merged:
    """Merge pairs of words as `muse.datasets.pseudo_words` does; at most `occurrences` of each are to be scored."""
    ids = {word: i for i, word in enumerate(text.words)}
    rows = np.array([[ids[first], ids[second]] for first, second in pairs])
    words, stays = list(text.words), np.ones(len(text.words), dtype=bool)
    member = np.full(len(words), -1, np.int8)
    member[rows[:, 0]], member[rows[:, 1]] = 0, 1
    which = np.zeros(len(words), np.int64)
    which[rows[:, 0]] = which[rows[:, 1]] = np.arange(len(rows))
    for (low, high), pair in zip(np.sort(rows, axis=1).tolist(), pairs, strict=True):
        words[low], stays[high] = JOINER.join(pair), False  # the smaller id stands where the pair first occurs
    new = np.cumsum(stays, dtype=np.int32) - np.int32(1)
    new[rows.max(axis=1)] = new[rows.min(axis=1)]
    places = np.flatnonzero(member[text.tokens] >= 0)
    if occurrences is not None:
        places = _thin(places, which[text.tokens[places]], occurrences)
    there = text.tokens[places]
    merged = Text(text.name, [w for w, stay in zip(words, stays, strict=True) if stay], new[text.tokens], text.offsets)
    names = [JOINER.join(pair) for pair in pairs]
    return Merged(merged, names, places, which[there], member[there].astype(np.int64))


def _thin(places: NDArray[np.int64], groups: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most `most` places of each group, drawn at random but always the same ones."""
    order = np.random.default_rng(0).permutation(len(places))
    order = order[np.argsort(groups[order], kind="stable")]
    sizes = np.bincount(groups)
    rank = np.arange(len(places)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return places[np.sort(order[rank < most])]


class PlainVectors(NamedTuple):
    """Centred unit vectors of words, float32 (words, D), and which word has which."""

    ids: dict[str, int]
    vectors: NDArray[np.float32]


def plain_vectors(text: Text, min_count: int, cache: Path) -> PlainVectors:
    """Of a model with one sense a word; trained on one thread, so always the same."""
    epochs = min(10, -(-TOKENS // len(text.tokens)))  # a pass over a small text leaves vectors where they began
    stored = cache / f"{text.name}-{len(text.tokens)}-{min_count}-{epochs}-vectors.npz"
    model = MUSE(senses=1, vector_size=100, epochs=epochs, workers=1, min_count=min_count)
    model.build_vocab_from_freq(text.by_word())
    if not stored.exists():
        train_model(model, text.encode(model.vocabulary).corpus, epochs=epochs)
        vectors = model.wv.vectors - model.wv.vectors.mean(axis=0)
        save_arrays(stored, {"vectors": vectors / np.linalg.norm(vectors, axis=1, keepdims=True)})
    with np.load(stored) as kept:
        return PlainVectors(model.vocabulary.ids, kept["vectors"])


def save_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write an .npz that is complete whenever it is there, though several processes may write it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.part.npz")
    np.savez(part, allow_pickle=False, **arrays)
    part.replace(path)
