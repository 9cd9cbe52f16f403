"""What an index of near neighbours misses and saves, beside exact search, at 200,000 senses of a real text.

Neighbours of 1,000 senses drawn by chance are searched for, one query at a time. Recall is the share of the ten nearest
that the index finds; latency is that of ``most_similar`` as a whole, in processor time, which other programs on the
machine disturb less than the clock.
"""

from __future__ import annotations

import argparse
import functools
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import common
from muse import MUSE
from muse.formats.loaded import LoadedVectors
from muse.formats.table import SenseTable

TOPN = 10
COLUMNS = {
    "search": "search", "recall": "recall", "p50 us": "p50, µs", "p99 us": "p99, µs", "build s": "built, CPU s",
    "MB": "file, MB", "load ms": "mapped, ms",
}  # fmt: skip


def first_senses(model: MUSE, wanted: int) -> LoadedVectors:
    """The senses of the most frequent words, `wanted` of them or a few less."""
    arrays = model.arrays
    words = int(np.searchsorted(arrays.sense_offset, wanted, side="right")) - 1
    senses = int(arrays.sense_offset[words])
    offset = np.array(arrays.sense_offset[: words + 1])
    vectors = np.array(arrays.sense_vectors[:senses])
    return LoadedVectors(SenseTable(list(model.vocabulary)[:words], vectors, offset))


def latencies(ask: Callable[[str], Any], keys: list[str]) -> tuple[list[Any], float, float]:
    """The answers, and the median and the 99th percentile of the time of one, in microseconds."""
    answers, times = [], []
    for key in keys[:20]:
        ask(key)
    for key in keys:
        start = time.process_time_ns()
        answers.append(ask(key))
        times.append((time.process_time_ns() - start) / 1000)
    return answers, float(np.percentile(times, 50)), float(np.percentile(times, 99))


def recall(found: list[Any], exact: list[Any]) -> float:
    """Share of the exact neighbours among those that were found."""
    hits = [len({key for key, _ in one} & {key for key, _ in other}) for one, other in zip(found, exact, strict=True)]
    return sum(hits) / sum(map(len, exact))


def measure(vectors: LoadedVectors, queries: int, folder: Path) -> list[dict[str, Any]]:
    """A row for the exact search, and one for each index and expansion."""
    sv = vectors.sv
    rng = np.random.default_rng(0)
    keys = [sv.index_to_key[int(row)] for row in rng.choice(len(sv), queries, replace=False)]
    exact, middle, slow = latencies(lambda key: sv.most_similar(key, topn=TOPN), keys)
    rows: list[dict[str, Any]] = [{"search": "exact", "recall": 1.0, "p50 us": middle, "p99 us": slow}]
    for dtype in ("float32", "float16", "int8"):
        start = time.process_time()
        index = sv.index(dtype=dtype)
        built = time.process_time() - start
        path = folder / dtype
        index.save(path)
        start_load = time.perf_counter()
        index = type(index).load(path, mmap=True)
        load_ms = 1000 * (time.perf_counter() - start_load)
        for expansion in (32, 64, 128, 256) if dtype == "float32" else (64,):
            index.expansion = expansion
            ask = functools.partial(sv.most_similar, topn=TOPN, indexer=index)
            found, middle, slow = latencies(ask, keys)
            rows.append({
                "search": f"index, {dtype}, expansion {expansion}", "recall": recall(found, exact), "p50 us": middle,
                "p99 us": slow, "build s": built, "MB": path.stat().st_size / 1e6, "load ms": load_ms,
            })  # fmt: skip
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.ann", description=__doc__)
    common.add_arguments(parser)
    parser.add_argument("--senses", type=common.at_least(100), default=200_000)
    parser.add_argument("--queries", type=common.at_least(10), default=1000)
    parser.add_argument("--vector-size", type=common.at_least(1), default=100)
    parser.add_argument("--epochs", type=common.at_least(1), default=1, help="of the training; default: 1")
    arguments = parser.parse_args()
    text = common.plain_corpus(arguments.corpus, arguments.limit_tokens)
    folder = common.results_dir(arguments)
    settings = {name: getattr(arguments, name) for name in ("vector_size", "epochs", "workers")} | {"seed": 1}
    vectors = first_senses(MUSE(corpus_file=text, progress=False, **settings), arguments.senses)
    print(f"{len(vectors):,} words, {len(vectors.sv):,} senses", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        rows = measure(vectors, arguments.queries, Path(temporary))
    table = common.markdown_table(rows, COLUMNS)
    print(f"\n{table}")
    if folder is not None:
        found = {**common.stamp("python -m benchmarks.ann", text=Path(arguments.corpus).name, **settings)}
        found |= {"words": len(vectors), "senses": len(vectors.sv), "queries": arguments.queries, "rows": rows}
        common.write_page(folder, "ann", f"{table}\n", found)


if __name__ == "__main__":
    common.command(main)
