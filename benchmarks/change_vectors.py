"""Vectors of a slice, induced from its contexts or trained on it with the compass's contexts held: which tell more?

The text is that of benchmarks.change, with merged words whose shares shift. Induced vectors are `TemporalMUSE`'s.
Trained ones are gensim's: a compass (CBOW) of all text, then of each slice the output vectors alone, which start from
the compass's; of words, or of the senses that the selector of `TemporalMUSE` gives each token, over contexts of words.

    python -m benchmarks.change_vectors wiki.txt --tokens 4000000 --counts 200 2000
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import common
from benchmarks.change import Word, auc, first_tokens, inject, plan
from muse.base.numeric import unit_rows
from muse.change import TemporalMUSE
from muse.change.slices import senses_of

OUT = common.RESULTS / "change_vectors.jsonl"
PURE, LEAST_USES = 0.9, 30  # of senses that are asked which member they are
STABLE = 2000  # of the most frequent senses of words that nobody touched

Floats = NDArray[np.float32]


class Held:
    """gensim's compass over the words of a model, and output vectors trained from it with its contexts held."""

    def __init__(self, model: TemporalMUSE, settings: dict[str, Any]) -> None:
        from gensim.models import Word2Vec

        self._kind, self._settings = Word2Vec, settings
        self.words = model.model.vocabulary.words
        self.counts = model.model.vocabulary.counts
        sentences = [s for one in model._slices.values() for s in _named(one.corpus, one.corpus.tokens)]
        self._compass = self._made(dict(zip(map(str, range(len(self.words))), self.counts.tolist(), strict=True)))
        self._compass.train(sentences, total_examples=len(sentences), epochs=settings["epochs"])
        order = self._rows(self._compass, len(self.words))
        self.contexts, self.outputs = self._compass.wv.vectors[order], self._compass.syn1neg[order]

    def _made(self, counts: dict[str, int]) -> Any:
        model = self._kind(sg=0, min_count=1, workers=2, seed=1, **self._settings)
        model.build_vocab_from_freq(counts)
        return model

    @staticmethod
    def _rows(model: Any, count: int) -> NDArray[np.int64]:
        return np.array([model.wv.key_to_index[str(row)] for row in range(count)])

    def trained(self, corpus: Any, rows: NDArray[Any], word_of: NDArray[Any]) -> Floats:
        """Output vectors of rows, words or senses, each of which has the contexts of its word; (rows, D)."""
        counts = np.bincount(rows, minlength=len(word_of))
        model = self._made(dict(zip(map(str, range(len(counts))), np.maximum(counts, 1).tolist(), strict=True)))
        order = self._rows(model, len(counts))
        model.wv.vectors[order], model.syn1neg[order] = self.contexts[word_of], self.outputs[word_of]
        model.wv.vectors_lockf = np.zeros(1, np.float32)
        sentences = list(_named(corpus, rows))
        model.train(sentences, total_examples=len(sentences), epochs=self._settings["epochs"])
        found: Floats = model.syn1neg[order]
        return found


def _named(corpus: Any, rows: NDArray[Any]) -> Any:
    names, offsets = list(map(str, rows.tolist())), corpus.offsets.tolist()
    return (names[begin:end] for begin, end in pairwise(offsets))


def distances(first: Floats, second: Floats, rows: dict[str, int]) -> dict[str, float]:
    """1 - cosine of the vectors of each word."""
    a, b = (unit_rows(vectors[list(rows.values())]) for vectors in (first, second))
    return dict(zip(rows, (1 - (a * b).sum(axis=1)).tolist(), strict=True))


def knows_member(senses: Floats, words: Floats, asked: Sequence[tuple[int, int, int]]) -> float | None:
    """How many senses of merged words are nearer to the word that their uses were than to the other."""
    a, b = unit_rows(senses), unit_rows(words)
    found = [float(a[sense] @ b[mine] > a[sense] @ b[other]) for sense, mine, other in asked]
    return round(float(np.mean(found)), 4) if found else None


def pure_senses(model: TemporalMUSE, words: Sequence[Word], tags: Any, truth: Any) -> list[tuple[int, int, int]]:
    """Senses of merged words nearly all uses of which are of one member: their rows, and both members' words."""
    arrays, vocabulary = model.model.arrays, model.model.vocabulary
    asked: list[tuple[int, int, int]] = []
    for word in (word for word in words if word.name in vocabulary and all(m in vocabulary for m in word.members)):
        row = vocabulary.index(word.name)
        senses = arrays.rows_of(row)
        table = np.zeros((senses.stop - senses.start, 2))
        for slice, tagged, true in zip(model._slices.values(), tags, truth, strict=True):
            np.add.at(table, (tagged[slice.corpus.tokens == row] - senses.start, true[word.name]), 1)
        for place, uses in enumerate(table):
            if uses.sum() >= LEAST_USES and uses.max() >= PURE * uses.sum():
                own = int(uses.argmax())
                members = [vocabulary.index(word.members[member]) for member in (own, 1 - own)]
                asked.append((senses.start + place, *members))
    return asked


def main(arguments: Sequence[str] | None = None) -> None:
    """Train both, ask both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path)
    parser.add_argument("--tokens", type=int)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--counts", type=int, nargs=2, default=[400, 4000])
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args(arguments)
    sentences = first_tokens(args.text, args.tokens)
    counts: Counter[str] = Counter(token for sentence in sentences for token in sentence)
    words = plan(counts, args.pairs, args.seed, args.counts)
    slices, truth = inject(sentences, words, 20, args.seed)
    settings = {"vector_size": args.dim, "epochs": args.epochs}
    model = TemporalMUSE(slices, **settings, seed=args.seed)
    started = time.perf_counter()
    held = Held(model, settings)
    arrays, vocabulary, snapshot = model.model.arrays, model.model.vocabulary, model.model.snapshot
    one, two = model._slices.values()
    tags = [senses_of(snapshot, slice.corpus) for slice in (one, two)]
    word_of = np.repeat(np.arange(arrays.n_words), np.diff(arrays.sense_offset))
    by_word = [held.trained(s.corpus, s.corpus.tokens, np.arange(arrays.n_words)) for s in (one, two)]
    by_sense = [held.trained(s.corpus, rows, word_of) for s, rows in zip((one, two), tags, strict=True)]
    induced = [(model._vectors(s, senses=False), model._vectors(s, senses=True)) for s in (one, two)]
    rows = {word.name: vocabulary.index(word.name) for word in words if word.name in vocabulary}
    changed = [word.name for word in words if not word.kind.startswith("control")]
    controls = [word.name for word in words if word.kind.startswith("control")]
    excess = model.change("cosine", words=list(rows)).scores()
    asked = pure_senses(model, words, tags, truth)
    touched = {*rows, *(member for word in words for member in word.members)}
    calm = [row for row in np.argsort(-np.minimum(one.totals, two.totals), kind="stable").tolist()
            if vocabulary.words[word_of[row]] not in touched][:STABLE]  # fmt: skip
    stable = {
        name: round(float((unit_rows(a[calm]) * unit_rows(b[calm])).sum(axis=1).mean()), 4)
        for name, (a, b) in {"induced": (induced[0][1], induced[1][1]), "trained": tuple(by_sense)}.items()
    }
    row = {
        "text": args.text.name, "tokens": sum(counts.values()), "seed": args.seed, **settings,
        "auc of words": {
            "induced": auc(distances(induced[0][0], induced[1][0], rows), changed, controls),
            "induced, beyond chance": auc(excess, changed, controls),
            "trained": auc(distances(by_word[0], by_word[1], rows), changed, controls),
        },
        "senses that are nearer to their own member": {
            "asked": len(asked),
            **{f"induced, slice {n}": knows_member(induced[n][1], held_words(model), asked) for n in (0, 1)},
            **{f"trained, slice {n}": knows_member(by_sense[n], held.outputs, asked) for n in (0, 1)},
        },
        "cosine of the slices' vectors of senses that stay": stable,
        "seconds of the trained ones": round(time.perf_counter() - started, 1), "machine": common.machine(),
    }  # fmt: skip
    with args.out.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    print(json.dumps({name: value for name, value in row.items() if name != "machine"}, indent=1))


def held_words(model: TemporalMUSE) -> Floats:
    """Vectors of words in the compass."""
    found: Floats = np.asarray(model._forest.word_vectors)
    return found


if __name__ == "__main__":
    main()
