"""Speed of sense selection in use: tokens a CPU second of tag_corpus, disambiguate_batch and disambiguate_blocks.

The defaults are a model that is trained on the text for one epoch, with its sense trees: contexts have a block of
topics and one of order. Speed does not depend on the values of the others, so random ones serve: the words of the text,
`--senses` of each, and the settings of `Split` or of the paper. CPU seconds are those of all threads together.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import common
from muse import MUSE, Paper, Settings, Split, Vocabulary
from muse.corpus.encoding import LineSentence, encode_corpus
from muse.training.initial import initial_arrays

RECIPES: dict[str, dict[str, Any]] = {"defaults": {}, "split": {"recipe": Split()}, "paper": {"recipe": Paper()}}


def random_model(vocabulary: Vocabulary, recipe: str, senses: int, dim: int, workers: int) -> MUSE:
    """An untrained model whose selector does all the work of a trained one."""
    settings = Settings.of(**RECIPES[recipe], vector_size=dim, senses=senses, workers=workers)
    counts = np.full(len(vocabulary), senses, np.int64)
    arrays = initial_arrays(settings, counts, vocabulary.counts)
    arrays.selection_vectors[:] = np.random.default_rng(0).normal(size=arrays.selection_vectors.shape)
    return MUSE.from_arrays(vocabulary, arrays, settings)


def timed(run: Callable[[], Any], tokens: int, rounds: int) -> float:
    """Tokens a CPU second, the median of some rounds: what a core does, however busy the machine is."""
    rates = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        rates.append(tokens / (time.process_time() - start))
    return float(np.median(rates))


def measure(corpus: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    """A row for each recipe and way of asking."""
    sentences, tokens = [], 0
    for sentence in LineSentence(corpus):
        sentences.append(sentence)
        tokens += len(sentence)
        if tokens >= options.tokens:
            break
    vocabulary, _ = encode_corpus(sentences, min_count=5)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        text, tagged = Path(folder, "text"), Path(folder, "tagged")
        text.write_text("".join(" ".join(sentence) + "\n" for sentence in sentences), encoding="utf-8")
        for recipe in RECIPES:
            if RECIPES[recipe]:
                model = random_model(vocabulary, recipe, options.senses, options.dim, options.workers)
            else:
                model = MUSE(sentences, vector_size=options.dim, epochs=1, workers=options.workers)
            list(model.disambiguate_batch(islice(sentences, 10)))  # the table of words is made once
            ways: dict[str, Callable[[], Any]] = {
                "tag_corpus": lambda model=model: model.tag_corpus(text, tagged),
                "disambiguate_blocks": lambda model=model: [None for _ in model.disambiguate_blocks(sentences)],
                "disambiguate_batch": lambda model=model: [None for _ in model.disambiguate_batch(sentences)],
            }
            for way, run in ways.items():
                rows.append(
                    {"recipe": recipe, "call": way, "tokens_per_cpu_second": timed(run, tokens, options.rounds)}
                )
    return rows


def main() -> None:
    """Measure, print a table, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True, help="a text, one sentence a line")
    parser.add_argument("--tokens", type=common.at_least(1), default=2_000_000, help="of it that are tagged")
    parser.add_argument("--dim", type=common.at_least(1), default=300)
    parser.add_argument("--senses", type=common.at_least(1), default=3)
    parser.add_argument("--workers", type=common.at_least(1), default=1)
    parser.add_argument("--rounds", type=common.at_least(1), default=3)
    parser.add_argument("--out", type=common.out_file, help="where JSON goes; by default it is only printed")
    options = parser.parse_args()
    rows = measure(options.corpus, options)
    print(f"dimension {options.dim}, {options.senses} senses, {options.workers} thread(s)")
    for row in rows:
        print(f"{row['recipe']:<10}{row['call']:<22}{row['tokens_per_cpu_second'] / 1e6:8.2f}M tokens a CPU second")
    if options.out:
        record = {"machine": common.machine(), "dim": options.dim, "senses": options.senses, "rows": rows}
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    common.command(main)
