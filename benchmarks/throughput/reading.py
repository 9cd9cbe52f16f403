"""How fast text becomes ids: ``python -m benchmarks.throughput.reading --corpus FILE``.

From the file on one thread and on several, and from Python lists of the same text; all in the processor's seconds, over
all threads. Counting and encoding are one pass; what follows it chooses words and writes their final ids.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import common
from muse.corpus.encoding import encode_corpus

COLUMNS = {"source": "from", "threads": "threads", "mb": "MB a CPU-s", "mtokens": "10⁶ tokens a CPU-s"}


def measure(text: Path, threads: int, runs: int) -> list[dict[str, Any]]:
    """The best of some runs, for the file with one thread and with `threads`, and for lists."""
    size, sentences = text.stat().st_size, common.read_sentences(text)
    tokens = sum(map(len, sentences))
    ways: list[tuple[str, int, Callable[[], object]]] = [
        *(
            ("file", n, lambda n=n: encode_corpus(None, text, workers=n))  # type: ignore[misc]
            for n in sorted({1, threads})
        ),
        ("lists", 1, lambda: encode_corpus(sentences)),
    ]
    rows = []
    for source, n, way in ways:
        seconds = min(_cpu_seconds(way) for _ in range(runs))
        rows.append({"source": source, "threads": n, "mb": size / seconds / 1e6, "mtokens": tokens / seconds / 1e6})
    return rows


def _cpu_seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def main(argv: list[str] | None = None) -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.throughput.reading", description=__doc__)
    common.add_arguments(parser)
    parser.add_argument("--runs", type=common.at_least(1), default=5, help="of which the best counts")
    arguments = parser.parse_args(argv)
    text = common.plain_corpus(arguments.corpus, arguments.limit_tokens)
    rows = measure(text, arguments.workers, arguments.runs)
    stamp = common.stamp(f"python -m benchmarks.throughput.reading --corpus {Path(arguments.corpus).name}",
                         limit_tokens=arguments.limit_tokens, runs=arguments.runs)  # fmt: skip
    head = f"`{stamp['command']}`, {stamp['date']}, {stamp['machine']['cpu']}, load {stamp['machine']['load_before']}."
    page = f"# Reading text\n\n{head}\n\n{common.markdown_table(rows, COLUMNS)}\n"
    print(page)
    if (folder := common.results_dir(arguments)) is not None:
        common.write_page(folder, "reading", page, {**stamp, "rows": rows})


if __name__ == "__main__":
    common.command(main)
