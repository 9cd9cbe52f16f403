"""A long run: ``python -m tests.breakers.soak --seconds 3600`` trains, stops, saves, loads and asks, again and again.

Memory, file descriptors and threads must stay what they were, and tokens must add up. tests/breakers runs a minute.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import itertools
import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from muse import MUSE, Callback
from muse.datasets import make_ambiguous_corpus
from muse.training.checkpoints import CHECKPOINT_NAME
from resolved import arguments

WARM_UP_CYCLES = 6
ALLOWED_GROWTH = 24 << 20  # bytes; glibc keeps some memory for each thread that ever was


class StopOnce(Callback):
    """Stops after the first epoch, as an interrupted run would."""

    def on_epoch_end(self, model: MUSE) -> None:
        model.stop_training = True


def resident() -> int:
    """Bytes of memory that this process holds, after what can be given back has been."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def cycle(number: int, folder: Path) -> int:
    """One of everything; returns the tokens trained on, which must be exactly those of the text in all epochs."""
    epochs = 2 + number % 3
    corpus = make_ambiguous_corpus(400, 150, seed=number % 50)
    options: dict[str, Any] = {
        "vector_size": 16 + number % 20, "min_count": 2, "min_contexts": 5, "epochs": epochs, "seed": number,
        "checkpoint_dir": folder, "checkpoint_every": 3000, "batch_tokens": 512, "workers": 1 + number % 2,
        "max_ram": 2000 if number % 4 == 0 else None,
    }  # fmt: skip
    if number % 5 == 0:
        options |= {"init": "random", "senses": 2, "formulation": "factorized"}
    text = folder / "text"
    text.write_text("".join(" ".join(sentence) + "\n" for sentence in corpus.sentences), encoding="utf-8")
    model = MUSE(corpus_file=text, callbacks=[StopOnce()], **arguments(**options))
    (folder / CHECKPOINT_NAME).unlink()
    model.save(folder / "model")
    model = MUSE.load(folder / "model", workers=2)
    model.train((sentence for sentence in corpus.sentences), resume=True)
    tokens = sum(row["tokens"] for row in model.history)
    assert tokens == epochs * model.vocabulary.counts.sum(), (tokens, model.history)
    assert model.arrays.sense_counts.sum() == model.vocabulary.counts.sum()
    model.save(folder / "model")
    mapped = MUSE.load(folder / "model", mmap=True)
    for _ in mapped.disambiguate_batch(corpus.sentences[:100]):
        pass
    for word in list(itertools.islice(mapped.vocabulary.words, 5)):
        mapped.describe(word)
        mapped.sv.most_similar((word, 0))
    try:
        MUSE.load(text)
    except ValueError:
        return int(tokens)
    raise AssertionError("a text passed for a model")


def soak(seconds: float = 0.0, cycles: int = 0) -> dict[str, Any]:
    """Cycles for a time or a number of them; raises an AssertionError for growth."""
    start = time.monotonic()
    tokens, after_warm_up, highest = 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for number in itertools.count():
            if number >= max(cycles, WARM_UP_CYCLES + 1) and time.monotonic() - start >= seconds:
                break
            tokens += cycle(number, Path(folder))
            memory, files, threads = resident(), open_files(), threading.active_count()
            if number < WARM_UP_CYCLES:
                after_warm_up, files_then, threads_then = memory, files, threads
                continue
            highest = max(highest, memory - after_warm_up)
            assert files <= files_then, f"cycle {number}: {files} open files, {files_then} at first"
            assert threads <= threads_then, f"cycle {number}: {threads} threads, {threads_then} at first"
            assert highest < ALLOWED_GROWTH, f"cycle {number}: memory grew by {highest / 1e6:.1f} MB"
    return {
        "cycles": number, "seconds": round(time.monotonic() - start), "tokens": tokens,
        "resident_mb": round(after_warm_up / 1e6, 1), "largest_growth_mb": round(highest / 1e6, 1), "open_files": files,
        "numpy": np.__version__, "python": sys.version.split()[0],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.breakers.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--json", type=Path, help="put the result into this file")
    args = parser.parse_args()
    result = soak(args.seconds)
    print(json.dumps(result, indent=1))
    if args.json is not None:
        from .faults.record import read_results, write_results

        write_results(args.json, read_results(args.json) | {"soak": result})


if __name__ == "__main__":
    main()
