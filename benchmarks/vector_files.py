"""How fast vector files load, beside gensim, and how fast a model of ours opens memory-mapped.

Files of random vectors are made in a temporary folder, and loaded by the systems in turn; the best of ``--repeats``
counts. CPU seconds are those of all threads, which other programs on the machine disturb less than the clock.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import common
from muse import MUSE, Arrays, load_vectors
from muse.files.word2vec_rows import write_word2vec

SENSES = 3  # of each word


def timed(systems: dict[str, Callable[[], object]], repeats: int) -> dict[str, tuple[float, float]]:
    """Least seconds of each system by the clock and by processor time; they take turns."""
    seconds: dict[str, list[tuple[float, float]]] = {system: [] for system in systems}
    for _ in range(repeats):
        for system, run in systems.items():
            start, used = time.perf_counter(), time.process_time()
            run()
            seconds[system].append((time.perf_counter() - start, time.process_time() - used))
    return {
        system: (min(clock for clock, _ in pairs), min(cpu for _, cpu in pairs)) for system, pairs in seconds.items()
    }


def model_of(words: list[str], vectors: np.ndarray) -> MUSE:
    """A model with these sense vectors; what else it has is small."""
    total = len(vectors)
    arrays = Arrays(
        context_vectors=np.zeros((len(words), 8), np.float32), selection_vectors=np.zeros((total, 8), np.float32),
        sense_vectors=vectors, collocation_vectors=np.zeros((len(words), vectors.shape[1]), np.float32),
        sense_offset=np.arange(0, total + 1, SENSES), sense_counts=np.ones(total, np.int64),
        word_counts=np.full(len(words), SENSES),
    )  # fmt: skip
    return MUSE.from_arrays(words, arrays)


def measure(folder: Path, senses: int, size: int, repeats: int) -> list[dict[str, Any]]:
    """A row for each file and system."""
    from gensim.models import KeyedVectors

    words = [f"word{i}" for i in range(senses // SENSES)]
    keys = [f"{word}#{k}" for word in words for k in range(SENSES)]
    vectors = np.random.default_rng(0).standard_normal((len(keys), size), np.float32)
    rows = []

    def add(file: str, path: Path, systems: dict[str, Callable[[], object]], repeats: int) -> None:
        for system, (clock, cpu) in timed(systems, repeats).items():
            size_mb = os.path.getsize(path) / 1e6
            rows.append({"file": file, "MB": size_mb, "system": system, "s": clock, "CPU s": cpu})
        path.unlink()

    for binary in (True, False):
        path = folder / "vectors"
        write_word2vec(path, keys, vectors, binary=binary)
        systems: dict[str, Callable[[], object]] = {
            "muse": lambda path=path: load_vectors(path, "word2vec"),
            "gensim": lambda path=path, binary=binary: KeyedVectors.load_word2vec_format(str(path), binary=binary),
        }
        add("word2vec binary" if binary else "word2vec text", path, systems, repeats)
    path = folder / "model"
    model_of(words, vectors).save(path)
    add("model, mapped", path, {"muse": lambda: MUSE.load(path, mmap=True)}, 10 * repeats)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--senses", type=common.at_least(1), default=999_999, help="rows of the files")
    parser.add_argument("--size", type=common.at_least(1), default=50, help="numbers of a vector")
    parser.add_argument("--repeats", type=common.at_least(1), default=1)
    parser.add_argument(
        "--out", type=common.out_folder, help="the folder where vector_files.json and .md go; else it only prints"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder), options.senses, options.size, options.repeats)
    text = common.markdown_table(rows, ["file", "MB", "system", "s", "CPU s"])
    print(text)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        settings = {"senses": options.senses, "size": options.size, "repeats": options.repeats}
        head = common.stamp("python -m benchmarks.vector_files", **settings)
        common.write_json(options.out / "vector_files.json", {**head, "rows": rows})
        title = f"# Loading vector files\n\n`{head['command']}`, {settings}\n\n"
        (options.out / "vector_files.md").write_text(f"{title}{text}\n", encoding="utf-8")


if __name__ == "__main__":
    common.command(main)
