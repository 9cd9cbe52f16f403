"""What a web service waits for: how long single questions to a model take, how threads help, what processes share.

One model of the default recipe and one of `Split` are trained on the text, with so many words that they have about
60,000 senses where the text has 8 million tokens, saved, and opened with ``mmap=True`` and ``workers=1``. Questions are
words with several senses in sentences of the text. Each figure is that of the best of some rounds, since whatever else
runs on the machine only makes it slower; processor time is that of the whole process.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import common
from benchmarks.throughput.native import machine_limits
from muse import MUSE, Split, _core
from muse.corpus.encoding import LineSentence

MODELS: dict[str, dict[str, Any]] = {
    "Trees": {"max_final_vocab": 33_500},
    "Split": {"recipe": Split(), "senses": 3, "max_final_vocab": 45_000},
}
PROCESSES = 4
KINDS = ("Rss", "Pss", "Shared_Clean", "Shared_Dirty", "Private_Clean", "Private_Dirty")  # of /proc/*/smaps

Question = tuple[str, str]  # a word and a sentence that it stands in
Ask = Callable[[Question], object]


def questions(model: MUSE, corpus: Path, count: int) -> list[Question]:
    """Words with several senses, in sentences from all over the beginning of a text."""
    rng = random.Random(0)
    found: list[Question] = []
    sentences = list(islice(LineSentence(corpus), 20_000))
    while len(found) < count:
        sentence = rng.choice(sentences)
        word = rng.choice(sentence)
        if word in model and model.n_senses(word) > 1:
            found.append((word, " ".join(sentence)))
    return found


def calls(model: MUSE) -> dict[str, Ask]:
    """What is measured: each asks the model something about a question."""

    def request(asked: Question) -> object:
        return model.sense_vectors(*asked), model.sv.most_similar(f"{asked[0]}#{model.select_sense(*asked)}")

    return {
        "select_sense": lambda asked: model.select_sense(*asked),
        "sense_vectors": lambda asked: model.sense_vectors(*asked),
        "sv.most_similar": lambda asked: model.sv.most_similar((asked[0], 0)),
        "wv.most_similar": lambda asked: model.wv.most_similar(asked[0]),
        "request: all three": request,
    }


def percentiles(ask: Ask, asked: Sequence[Question], rounds: int) -> dict[str, float]:
    """Microseconds of a call by the clock: the median, the 99th percentile; and the mean by processor time."""
    best = {"p50_us": np.inf, "p99_us": np.inf, "cpu_us": np.inf}
    for _ in range(rounds):
        taken, used = [], time.process_time_ns()
        for question in asked:
            start = time.perf_counter_ns()
            ask(question)
            taken.append(time.perf_counter_ns() - start)
        used = time.process_time_ns() - used
        p50, p99 = np.percentile(taken, [50, 99]) / 1e3
        for name, value in (("p50_us", p50), ("p99_us", p99), ("cpu_us", used / len(asked) / 1e3)):
            best[name] = min(best[name], float(value))
    return best


def rate(ask: Ask, asked: Sequence[Question], threads: int, rounds: int) -> float:
    """Calls a second of some threads together."""

    def work(begin: threading.Barrier) -> None:
        begin.wait()
        for question in asked:
            ask(question)

    best = 0.0
    for _ in range(rounds):
        begin = threading.Barrier(threads + 1)
        pool = [threading.Thread(target=work, args=(begin,)) for _ in range(threads)]
        for thread in pool:
            thread.start()
        begin.wait()
        start = time.perf_counter()
        for thread in pool:
            thread.join()
        best = max(best, threads * len(asked) / (time.perf_counter() - start))
    return best


def measure_calls(name: str, path: Path, corpus: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    """A row for each call to a model."""
    model = MUSE.load(path, mmap=True, workers=1)
    asked = questions(model, corpus, options.calls)
    rows = []
    for call, ask in calls(model).items():
        ask(asked[0])  # what is made once is made now
        row: dict[str, Any] = {"model": name, "senses": model.arrays.n_senses, "call": call}
        row |= percentiles(ask, asked, options.rounds)
        row["calls_a_second"] = rate(ask, asked, 1, options.rounds)
        row["with_two_threads"] = rate(ask, asked, 2, options.rounds)
        row["ratio"] = row["with_two_threads"] / row["calls_a_second"]
        rows.append(row)
    return rows


# -------------------------------------------------------------------------------------------------------------- memory


def memory_of(path: str, smaps: str = "/proc/self/smaps") -> dict[str, float]:
    """Megabytes of this process by kind, and those of its mapping of a file."""
    total, mapped, inside = dict.fromkeys(KINDS, 0.0), dict.fromkeys(KINDS, 0.0), False
    for line in Path(smaps).read_text().splitlines():
        first, *rest = line.split()
        if not first.endswith(":"):
            inside = bool(rest) and line.endswith(path)
        elif first[:-1] in KINDS:
            megabytes = int(rest[0]) * 1024 / 1e6
            total[first[:-1]] += megabytes
            mapped[first[:-1]] += megabytes if inside else 0.0
    return total | {f"file {kind}": value for kind, value in mapped.items()}


SERVER = """
import json, os, sys
from benchmarks.service import calls, memory_of
from muse import MUSE
path, mapped, forked, asked = sys.argv[1], sys.argv[2] == "mapped", sys.argv[3] == "forked", json.loads(sys.argv[4])
def load():
    model = MUSE.load(path, mmap=mapped, workers=1)
    ask = calls(model)["request: all three"]
    for question in asked:
        ask(question)
    return ask
ask = load() if forked else None
children = []
for _ in range(%d):
    back, ready = os.pipe(), os.pipe()
    if os.fork() == 0:
        ask = ask or load()
        for question in asked:
            ask(question)
        os.write(ready[1], b".")
        os.read(back[0], 1)  # all have asked
        os.write(ready[1], json.dumps(memory_of(path)).encode())
        os.read(back[0], 1)  # all were measured
        os._exit(0)
    children.append((back, ready))
for back, ready in children:
    os.read(ready[0], 1)
found = []
for back, ready in children:
    os.write(back[1], b".")
    found.append(json.loads(os.read(ready[0], 1 << 16)))
for back, ready in children:
    os.write(back[1], b".")
    os.wait()
print(json.dumps(found))
"""


def measure_memory(path: Path, asked: Sequence[Question]) -> list[dict[str, Any]]:
    """A row for each way to start four processes that answer the same questions."""
    rows = []
    for way, mapped, forked in (
        ("each loads a copy", "read", "alone"), ("each maps the file", "mapped", "alone"),
        ("mapped, asked, then forked", "mapped", "forked"),
    ):  # fmt: skip
        command = [sys.executable, "-c", SERVER % PROCESSES, str(path), mapped, forked, json.dumps(asked)]
        run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=common.ROOT)
        found = json.loads(run.stdout)
        rows.append({
            "processes": way, "file_mb": path.stat().st_size / 1e6,
            "all_pss_mb": sum(one["Pss"] for one in found),
            "private_mb": max(one["Private_Clean"] + one["Private_Dirty"] for one in found),
            "file_pss_mb": sum(one["file Pss"] for one in found),
            "file_private_mb": max(one["file Private_Clean"] + one["file Private_Dirty"] for one in found),
        })  # fmt: skip
    return rows


# -------------------------------------------------------------------------------------------------------------- search


def measure_search(rows: int, size: int, rounds: int) -> list[dict[str, Any]]:
    """A row for each way to search random vectors on one thread, beside the limits of the machine in the same run."""
    try:
        limits = machine_limits(1)
    except (OSError, subprocess.CalledProcessError, RuntimeError):  # no compiler
        limits = {}
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((rows, size), np.float32)
    scale = (1 / np.linalg.norm(vectors, axis=1)).astype(np.float32)
    queries = np.ascontiguousarray(vectors[:64] * scale[:64, None])
    kept = _core.Search(vectors, scale=scale, workers=1)
    ways: dict[str, tuple[int, int, Callable[[], object]]] = {  # queries at once, bytes read of a row
        "all numbers": (1, 4 * size, lambda: _core.top_k(vectors, queries[:1], 10, scale=scale, workers=1)),
        "bytes first": (1, size, lambda: kept.top_k(queries[:1], 10)),
        "all numbers, 64 queries": (64, 0, lambda: _core.top_k(vectors, queries, 10, scale=scale, workers=1)),
        "bytes first, 64 queries": (64, 0, lambda: kept.top_k(queries, 10)),
    }
    found = []
    for way, (count, row_bytes, run) in ways.items():
        run()
        seconds = min(_processor_time(run) for _ in range(4 * rounds)) / count
        rate, work = rows * row_bytes / seconds / 1e9, 2 * rows * size / seconds / 1e9
        found.append({
            "rows": rows, "size": size, "search": way, "us_a_query": seconds * 1e6,
            "gb_per_second": rate or None, "gflops": work,
            "share_of_memory": rate / limits["triad_gb_per_second"] if limits and rate else None,
            "share_of_peak": work / limits["gflops"] if limits else None,
        })  # fmt: skip
    return found


def _processor_time(run: Callable[[], object]) -> float:
    start = time.thread_time()
    run()
    return time.thread_time() - start


CALL_COLUMNS = {
    "model": "model", "senses": "senses", "call": "call", "p50_us": "p50, µs", "p99_us": "p99, µs",
    "cpu_us": "processor, µs", "calls_a_second": "calls/s", "with_two_threads": "two threads", "ratio": "ratio",
}  # fmt: skip
SEARCH_COLUMNS = {
    "rows": "rows", "size": "numbers", "search": "search", "us_a_query": "µs a query", "gb_per_second": "GB/s read",
    "share_of_memory": "of the memory's", "gflops": "GFLOP/s", "share_of_peak": "of the peak",
}  # fmt: skip
MEMORY_COLUMNS = {
    "model": "model", "processes": "four processes", "file_mb": "file, MB", "all_pss_mb": "all together, MB",
    "private_mb": "of one alone, MB", "file_pss_mb": "of the file, MB",
}  # fmt: skip


def main() -> None:
    """Measure, print the tables, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", help="a text, one sentence a line; without one, words drawn by Zipf's law")
    parser.add_argument("--size", type=common.at_least(1), default=100, help="numbers of a vector")
    parser.add_argument("--calls", type=common.at_least(1), default=2000, help="of each kind in a round")
    parser.add_argument("--rounds", type=common.at_least(1), default=5)
    parser.add_argument("--rows", type=common.at_least(1), default=200_000, help="random vectors that are searched")
    parser.add_argument("--limit-tokens", type=common.at_least(0), default=0, help="of the text; 0: all of it")
    parser.add_argument("--out", type=common.out_file, help="a file for JSON, benchmarks/results/service.json say")
    options = parser.parse_args()
    if options.corpus:
        corpus = common.plain_corpus(options.corpus, options.limit_tokens)
    else:
        corpus = common.zipf_corpus(options.limit_tokens or 4_000_000)
    rows, memory = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, settings in MODELS.items():
            path = Path(folder, f"{name}.safetensors")
            MUSE(corpus_file=corpus, vector_size=options.size, epochs=1, progress=False, **settings).save(path)
            rows += measure_calls(name, path, corpus, options)
            asked = questions(MUSE.load(path, mmap=True), corpus, 100)
            if Path("/proc/self/smaps").exists():
                memory += [{"model": name, **row} for row in measure_memory(path, asked)]
    print(common.markdown_table(rows, CALL_COLUMNS), end="\n\n")
    search = [row for size in (100, 300) for row in measure_search(options.rows, size, options.rounds)]
    print(common.markdown_table(memory, MEMORY_COLUMNS), end="\n\n")
    print(common.markdown_table(search, SEARCH_COLUMNS))
    if options.out is not None:
        settings = {"size": options.size, "calls": options.calls, "rounds": options.rounds}
        head = common.stamp("python -m benchmarks.service", corpus=corpus.name, **settings)
        common.write_json(options.out, {**head, "calls": rows, "memory": memory, "search": search})


if __name__ == "__main__":
    common.command(main)
