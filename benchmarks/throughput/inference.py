"""How fast a trained selector runs: every token of a text gets its sense, on one thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks import common
from muse import MUSE, _core
from muse.corpus import encode_corpus
from muse.selection import context_weights, selection_options

CONTEXTS: dict[str, dict[str, Any]] = {
    "default context (window 20, by distance)": {},
    "the paper's context (window 5, sum)": MUSE.paper_defaults(),
}
_TRAINED_TOKENS = 100_000  # enough for the selector to be one; its speed does not depend on what it learned


def measure_inference(corpus: Path, repeats: int, vector_size: int = 300, senses: int = 3) -> list[dict[str, Any]]:
    """Tokens a second, by processor time, of the core's `select_senses` and of `disambiguate_batch`."""
    sentences = common.read_sentences(corpus)
    head = common.plain_corpus(corpus, _TRAINED_TOKENS)
    rows = []
    for name, options in CONTEXTS.items():
        model = MUSE(
            corpus_file=head,
            **{**options, "senses": senses, "vector_size": vector_size, "epochs": 1, "init": "random", "workers": 1},
        )
        _, encoded = encode_corpus(corpus_file=corpus, vocab=model.vocabulary)
        arrays = model.arrays
        weights = context_weights(model.settings, model.vocabulary.counts)
        call = (arrays.context_vectors, arrays.selection_vectors, arrays.sense_offset, weights,
                selection_options(model.settings), encoded.tokens, encoded.offsets, 1.0, 1)  # fmt: skip

        def select(call: Any = call) -> None:
            _core.select_senses(*call)

        def disambiguate(model: MUSE = model) -> None:
            for _ in model.disambiguate_batch(sentences):
                pass

        known, total = int(encoded.n_tokens), sum(map(len, sentences))
        rows += [
            {"call": "select_senses (core)", "context": name, "vector_size": vector_size, "senses": senses,
             "ktokens_per_cpu_second": _rate(select, known, repeats)},
            {"call": "disambiguate_batch", "context": name, "vector_size": vector_size, "senses": senses,
             "ktokens_per_cpu_second": _rate(disambiguate, total, repeats)},
        ]  # fmt: skip
    return rows


def _rate(run: Callable[[], None], tokens: int, repeats: int) -> float:
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    return float(tokens / np.float64(median(seconds)) / 1e3)
