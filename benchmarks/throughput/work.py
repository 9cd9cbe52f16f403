"""What a run must do: tokens, targets and pairs of an epoch, and the arithmetic of its pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from muse import _core
from muse.corpus.encoding import encode_corpus


class Expected(NamedTuple):
    """An epoch under word2vec's rule."""

    tokens: int
    pairs: float
    targets: float


def expected_pairs(corpus: Path, window: int, sample: float, min_count: int, seed: int = 0) -> Expected:
    """Tokens in the vocabulary, and the pairs and targets that word2vec's rule makes of them in one epoch."""
    vocabulary, encoded = encode_corpus(corpus_file=corpus, min_count=min_count)
    keep = _core.keep_probabilities(vocabulary.counts, sample)
    kept = np.random.default_rng(seed).random(encoded.n_tokens) < keep[encoded.tokens]
    sentence = np.repeat(np.arange(encoded.n_sentences), np.diff(encoded.offsets))[kept]
    lengths = np.bincount(sentence, minlength=encoded.n_sentences)
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    before = np.arange(len(sentence)) - starts[sentence]
    after = lengths[sentence] - 1 - before
    pairs = sum(np.minimum(before, size).sum() + np.minimum(after, size).sum() for size in range(1, window + 1))
    return Expected(int(encoded.n_tokens), float(pairs) / window, float(np.count_nonzero(before + after)))


def shared_negatives(group_size: int, negative: int, *, one: bool = False) -> int:
    """How many negatives a group shares by default; `one`: with one collocate a target."""
    options = _core.Options()
    options.group_size, options.negative = group_size, negative
    options.collocates = _core.Collocates.one if one else _core.Collocates.all
    return options.shared_negatives()


def step_flops(run: dict[str, Any]) -> float:
    """Floating-point operations of an epoch's pairs, see `benchmarks.throughput`."""
    group = run.get("group_size", 1)
    if group > 1:
        one = run["pairs"] == run["targets"]
        rows = run["pairs"] + run["targets"] * shared_negatives(group, run["negative"], one=one)
    else:
        rows = run["pairs"] * (1 + run["negative"])
    return float(6 * run["vector_size"] * rows)
