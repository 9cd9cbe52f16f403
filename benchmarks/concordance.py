"""Speed of concordances: indexing a text, finding the uses of a word and their senses, collocates, exports.

Seconds are the processor's, of all threads together, so that a busy machine does not change them; the least of a few
rounds. A model is trained on the beginning of the text, or read from ``--model``.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from benchmarks import common
from muse import MUSE, LineSentence
from muse.concordance import CorpusIndex, index_corpus

Result = TypeVar("Result")


def timed(run: Callable[[], Result], rounds: int) -> tuple[Result, float]:
    """What a call gives, and the least processor time that it took."""
    best, result = float("inf"), None
    for _ in range(rounds):
        start = time.process_time()
        result = run()
        best = min(best, time.process_time() - start)
    return result, best  # type: ignore[return-value]


def small_model(options: argparse.Namespace) -> MUSE:
    """A model to ask, of which only the speed counts."""
    if options.model:
        return MUSE.load(options.model)
    sentences = islice(LineSentence(options.corpus), options.sentences)
    return MUSE(sentences, vector_size=options.dim, epochs=1, workers=options.workers)


def word_of_count(index: CorpusIndex, model: MUSE, count: int) -> str:
    """The word with several senses that has the nearest number of uses to `count`."""
    nearest = np.argsort(np.abs(index.counts - count), kind="stable")
    words = (index.words[row] for row in nearest.tolist())
    return next(word for word in words if word in model and model.n_senses(word) > 1)


def measure_index(corpus: Path, target: Path, options: argparse.Namespace) -> tuple[CorpusIndex, dict[str, Any]]:
    """Make an index, and say how fast and how large."""
    index, seconds = timed(
        lambda: index_corpus(corpus, target, rebuild=True, workers=options.workers), options.index_rounds
    )
    found = {
        "tokens": index.n_tokens, "sentences": index.n_sentences, "words": len(index.words),
        "tokens_per_cpu_second": index.n_tokens / seconds, "bytes": target.stat().st_size,
        "bytes_per_token": target.stat().st_size / index.n_tokens,
        "text_bytes_per_token": corpus.stat().st_size / index.n_tokens,
        "open_seconds": timed(lambda: CorpusIndex.open(target), options.rounds)[1],
        "verify_seconds": timed(index.verify, options.rounds)[1],
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }  # fmt: skip
    return index, found


def measure_word(model: MUSE, target: Path, word: str, rounds: int) -> dict[str, Any]:
    """The questions about one word; the first with an index that was just opened."""
    lines, first = timed(lambda: model.concordance(word, CorpusIndex.open(target)), rounds)
    index = CorpusIndex.open(target)
    model.concordance(word, index)  # words of the index are looked up once
    key = max(lines.counts, key=lines.counts.__getitem__)
    asked: dict[str, Callable[[], Any]] = {
        "concordance": lambda: model.concordance(word, index),
        "sorted by the right": lambda: model.concordance(word, index, sort="right"),
        "all lines": lambda: list(lines),
        "CSV": lines.to_csv,
        "vertical file": lines.to_vertical,
        "key": lines.to_key,
        "collocates of a sense": lambda: model.collocates(key, index),
    }
    seconds = {"concordance, index opened": first} | {name: timed(run, rounds)[1] for name, run in asked.items()}
    return {"word": word, "uses": lines.n_uses, "senses": model.n_senses(word), "seconds": seconds}


def show(record: dict[str, Any]) -> None:
    """Print the table."""
    index = record["index"]
    print(f"{index['tokens']:,} tokens, {index['words']:,} words; model: {record['model']}")
    rate, size, text = index["tokens_per_cpu_second"] / 1e6, index["bytes_per_token"], index["text_bytes_per_token"]
    print(f"index    {rate:.1f}M tokens a CPU second, {size:.2f} bytes a token (text: {text:.2f}), opened in "
          f"{index['open_seconds'] * 1e3:.0f} ms, verified in {index['verify_seconds']:.2f} s")  # fmt: skip
    for row in record["words"]:
        print(f"{row['word']}: {row['uses']:,} uses, {row['senses']} senses")
        for name, seconds in row["seconds"].items():
            print(f"  {name:<28}{seconds:8.3f} CPU s")


def main() -> None:
    """Measure, print a table, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True, help="a text, one sentence a line")
    parser.add_argument("--limit-tokens", type=common.at_least(0), default=0, help="of it; 0: all, which is kept")
    parser.add_argument("--model", type=Path, help="the file of a model, in place of one that is trained here")
    parser.add_argument("--sentences", type=common.at_least(1), default=100_000, help="that one is trained on")
    parser.add_argument("--dim", type=common.at_least(1), default=50)
    parser.add_argument("--uses", type=common.at_least(1), nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--workers", type=common.at_least(1), default=1)
    parser.add_argument("--rounds", type=common.at_least(1), default=3)
    parser.add_argument("--index-rounds", type=common.at_least(1), default=2)
    parser.add_argument("--out", type=common.out_file, help="where JSON goes; benchmarks/results for all of a text")
    options = parser.parse_args()
    corpus = common.plain_corpus(options.corpus, options.limit_tokens)
    out = options.out or (None if options.limit_tokens else common.RESULTS / "concordance.json")
    model = small_model(options)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "index")
        index, found = measure_index(corpus, target, options)
        words = [word_of_count(index, model, uses) for uses in options.uses]
        rows = [measure_word(model, target, word, options.rounds) for word in words]
    record = {
        "machine": common.machine(), "corpus": options.corpus.name, "workers": options.workers,
        "model": f"{model.settings.init}, dimension {model.vector_size}, {len(model):,} words", "index": found,
        "words": rows,
    }  # fmt: skip
    show(record)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    common.command(main)
