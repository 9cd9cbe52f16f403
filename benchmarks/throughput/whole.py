"""Whole runs beside gensim's: ``python -m benchmarks.throughput.whole --corpus FILE``.

From the text file to the trained model, in seconds of the clock: one sense a word, the default with sense trees, and
gensim's Word2Vec (skip-gram, the same dimension, window, negatives, subsampling, epochs and threads). Each run is a
process of its own; the systems take turns, and medians count. Where other programs run, seconds of the processor tell
more than those of the clock.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import common

SYSTEMS = ("one sense", "senses, the default", "gensim")
SHARED = {"window": 5, "negative": 5, "sample": 1e-4, "min_count": 5, "epochs": 5, "seed": 1}


def run(system: str, text: str, dim: int, workers: int) -> dict[str, Any]:
    """Seconds of one run in this process, and its most memory."""
    if system == "gensim":
        from gensim.models import Word2Vec

        start = time.perf_counter()
        Word2Vec(corpus_file=text, sg=1, vector_size=dim, workers=workers, **SHARED)
    else:
        from muse import MUSE

        senses: dict[str, Any] = {"senses": 1} if system == "one sense" else {}
        start = time.perf_counter()
        MUSE(corpus_file=text, vector_size=dim, workers=workers, progress=False, **SHARED, **senses)
    return {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time(), "mb": common.peak_memory_mb()}


def apart(system: str, text: Path, dim: int, workers: int) -> dict[str, Any]:
    """`run` in a process of its own."""
    code = f"from benchmarks.throughput import whole; whole.answer({system!r}, {str(text)!r}, {dim}, {workers})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{system} at dimension {dim} failed:\n{done.stderr[-2000:]}")
    return {"system": system, "dim": dim, **json.loads(done.stdout.splitlines()[-1])}


def answer(*case: Any) -> None:
    """Print what `run` gives."""
    print(json.dumps(run(*case)))


def summary(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each system and dimension, with the median seconds and how many times gensim's speed that is."""
    rows = []
    for dim in sorted({run["dim"] for run in runs}):
        of = {
            system: [run for run in runs if run["dim"] == dim and run["system"] == system]
            for system in SYSTEMS
        }  # fmt: skip
        middle = {system: statistics.median(run["seconds"] for run in some) for system, some in of.items() if some}
        cpu = {system: statistics.median(run["cpu_seconds"] for run in some) for system, some in of.items() if some}
        for system, seconds in middle.items():
            times = middle["gensim"] / seconds if "gensim" in middle else None
            rows.append({
                "system": system, "dim": dim, "runs": len(of[system]), "seconds": seconds,
                "to_one_sense": seconds / middle["one sense"], "to_gensim": times,
                "cpu": cpu[system], "cpu_to_one_sense": cpu[system] / cpu["one sense"],
                "cpu_to_gensim": cpu["gensim"] / cpu[system] if "gensim" in cpu else None,
                "mb": max(run["mb"] for run in of[system]),
            })  # fmt: skip
    return rows


def page(result: dict[str, Any]) -> str:
    """The results as Markdown."""
    machine = result["machine"]
    columns = {
        "system": "system",
        "dim": "dimension",
        "runs": "runs",
        "seconds": "seconds",
        "to_one_sense": "time to one sense",
        "to_gensim": "speed to gensim",
        "cpu": "processor seconds",
        "cpu_to_one_sense": "to one sense",
        "cpu_to_gensim": "gensim to it",
        "mb": "most memory, MB",
    }
    return (
        f"# Whole runs\n\n`{result['command']}`, {result['date']}, {machine['cpu']}, load before "
        f"{machine['load_before']}; gensim {machine['gensim']}. From the text file to the model, medians.\n\n"
        + common.markdown_table(result["rows"], columns) + "\n"
    )  # fmt: skip


def main(argv: list[str] | None = None) -> dict[str, Any]:
    parser = argparse.ArgumentParser("python -m benchmarks.throughput.whole", description=__doc__)
    common.add_arguments(parser)
    parser.add_argument("--dims", nargs="+", type=common.at_least(1), default=[100, 300])
    parser.add_argument("--repeats", type=common.at_least(1), default=3, metavar="N", help="rounds")
    parser.add_argument("--gensim-once", action="store_true", help="in the first round alone: it takes minutes")
    arguments = parser.parse_args(argv)
    text = common.plain_corpus(arguments.corpus, arguments.limit_tokens)
    head = common.stamp(
        f"python -m benchmarks.throughput.whole --corpus {Path(arguments.corpus).name}", workers=arguments.workers,
        tokens=arguments.limit_tokens, repeats=arguments.repeats, **SHARED,
    )  # fmt: skip
    runs = []
    for turn in range(arguments.repeats):
        for dim in arguments.dims:
            for system in SYSTEMS:
                if system == "gensim" and turn and arguments.gensim_once:
                    continue
                runs.append(apart(system, text, dim, arguments.workers))
                print(json.dumps(runs[-1]), flush=True)
    result = {**head, "rows": summary(runs), "runs": runs}
    folder = common.results_dir(arguments)
    if folder is not None:
        common.write_page(folder, "whole", page(result), result)
    print(page(result))
    return result


if __name__ == "__main__":
    common.command(main)
