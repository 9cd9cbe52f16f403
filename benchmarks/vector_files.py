"""How fast vector files load, beside gensim, and how fast a model of ours opens memory-mapped.

Files of random vectors are made in a temporary folder, and loaded in turn by each system; the best of ``--repeats``
counts. CPU seconds are those of all threads, which other programs on the machine disturb less than the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import common
from muse import MUSE, Arrays, load_vectors
from muse.formats.word2vec import write_word2vec

SENSES = 3  # of each word


def timed(run: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Least seconds by the clock and by processor time."""
    clock, cpu = [], []
    for _ in range(repeats):
        start, used = time.perf_counter(), time.process_time()
        run()
        clock.append(time.perf_counter() - start)
        cpu.append(time.process_time() - used)
    return min(clock), min(cpu)


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
    for binary in (True, False):
        path = folder / ("v.bin" if binary else "v.txt")
        write_word2vec(path, keys, vectors, binary=binary)
        systems = {
            "muse": lambda path=path: load_vectors(path, "word2vec"),
            "gensim": lambda path=path, binary=binary: KeyedVectors.load_word2vec_format(str(path), binary=binary),
        }
        for system, run in systems.items():
            clock, cpu = timed(run, repeats)
            kind = "word2vec binary" if binary else "word2vec text"
            rows.append({"file": kind, "MB": os.path.getsize(path) / 1e6, "system": system, "s": clock, "CPU s": cpu})
        path.unlink()
    model_of(words, vectors).save(folder / "m")
    clock, cpu = timed(lambda: MUSE.load(folder / "m", mmap=True), max(5, repeats))
    rows.append(
        {"file": "model, mmap", "MB": os.path.getsize(folder / "m") / 1e6, "system": "muse", "s": clock, "CPU s": cpu}
    )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--senses", type=int, default=999_999, help="rows of the files")
    parser.add_argument("--size", type=int, default=50, help="numbers of a vector")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--out", type=Path, help="write the figures, JSON, here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder), options.senses, options.size, options.repeats)
    for row in rows:
        print(f"{row['file']:16} {row['MB']:8.0f} MB  {row['system']:7} {row['s']:8.3f} s {row['CPU s']:8.3f} CPU s")
    if options.out is not None:
        settings = {"senses": options.senses, "size": options.size, "repeats": options.repeats}
        options.out.write_text(json.dumps({**settings, "machine": common.machine(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
