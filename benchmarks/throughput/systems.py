"""One run of one system, in a process of its own."""

from __future__ import annotations

import importlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import common
from benchmarks.throughput.native import WORD2VEC_FLAGS, NotAvailableError, word2vec_program
from muse import MUSE, Engine, Paper, Split

REFERENCE = "gensim corpus_file"
OURS: dict[str, dict[str, Any]] = {
    "muse, one sense, negatives of each pair": {"senses": 1, "recipe": Split(engine=Engine(group_size=1)), "epochs": 1},
    "muse, one sense, shared negatives": {"senses": 1, "epochs": 1},
    "muse, one sense, shared by 64": {"senses": 1, "recipe": Split(engine=Engine(group_size=64)), "epochs": 1},
    # One at word level, the split, one with senses: the last is reported.
    "muse, senses that are trained": {"recipe": Split(), "epochs": 2},
    "muse, default recipe": {},  # all epochs and the sense trees: all of it is reported
    "muse, paper's recipe": {"recipe": Paper(), "epochs": 1},
    "muse, paper's recipe, shared negatives": {"recipe": Paper(engine=Engine(group_size=16)), "epochs": 1},
}
_SAME = ("vector_size", "negative", "window", "sample", "min_count", "workers", "seed")


class _CpuClock:
    """Processor time of each epoch."""

    def __init__(self) -> None:
        self.epochs: list[float] = []
        self._start = 0.0

    def on_epoch_begin(self, model: Any) -> None:
        self._start = time.process_time()

    def on_epoch_end(self, model: Any) -> None:
        self.epochs.append(time.process_time() - self._start)


def run_muse(job: dict[str, Any]) -> dict[str, Any]:
    """Train this package; the figures are those of the last epoch, or of all of a training with sense trees."""
    clock = _CpuClock()
    model = MUSE(**{**OURS[job["system"]], **{name: job[name] for name in _SAME}, **job.get("options", {})})
    start = time.perf_counter()
    model.build_vocab(corpus_file=job["corpus"])
    read = time.perf_counter()
    model.train(callbacks=[clock])
    row, cpu_seconds, epochs = model.history[-1], clock.epochs[-1], 1
    if row["stage"] == "trees":
        words, epochs = model.history[:-1], len(model.history) - 1
        row = {name: sum(each[name] for each in words) for name in ("tokens", "pairs")}
        row["seconds"], cpu_seconds = sum(each["seconds"] for each in model.history), sum(clock.epochs)
    trained = sum(epoch["seconds"] for epoch in model.history)
    arrays = model.arrays.nbytes / 1e6
    return {
        "read_seconds": read - start,
        "seconds": row["seconds"],
        "cpu_seconds": cpu_seconds,
        "epochs": epochs,
        "words": len(model),
        "tokens": row["tokens"],
        "pairs": row["pairs"],
        "group_size": model.settings.group_size,
        "arrays_mb": arrays,
        "other_seconds": time.perf_counter() - read - trained,  # the split, and counting the senses' priors
    }


def run_gensim(job: dict[str, Any]) -> dict[str, Any]:
    """Train gensim's Word2Vec, from an iterable or from the file."""
    from gensim.models import Word2Vec

    model = Word2Vec(sg=1, epochs=1, **{name: job[name] for name in _SAME})
    start = time.perf_counter()
    if job["system"] == REFERENCE:
        source: dict[str, Any] = {"corpus_file": job["corpus"]}
        size = {"total_words": 0}
    else:
        source, size = {"corpus_iterable": common.read_sentences(job["corpus"])}, {}
    model.build_vocab(**source)
    if size:
        size["total_words"] = model.corpus_total_words  # a wrong number would make threads repeat text
    read, cpu = time.perf_counter(), time.process_time()
    model.train(**source, total_examples=model.corpus_count, epochs=1, **size)
    return {
        "read_seconds": read - start,
        "seconds": time.perf_counter() - read,
        "cpu_seconds": time.process_time() - cpu,
    }


def run_fasttext(job: dict[str, Any]) -> dict[str, Any]:
    """Train fastText without subwords."""
    fasttext = importlib.import_module("fasttext")

    def run(epochs: int) -> None:
        fasttext.train_unsupervised(
            job["corpus"], model="skipgram", minn=0, maxn=0, dim=job["vector_size"], neg=job["negative"], verbose=0,
            ws=job["window"], t=job["sample"], minCount=job["min_count"], thread=job["workers"], epoch=epochs,
        )  # fmt: skip

    return _more_epochs(run, time.process_time)


def run_word2vec(job: dict[str, Any]) -> dict[str, Any]:
    """Train with the C program."""
    program = job["program"] if "program" in job else word2vec_program(WORD2VEC_FLAGS[job["system"]])
    with tempfile.TemporaryDirectory() as folder:
        options = {
            "train": job["corpus"], "output": str(Path(folder) / "vectors"), "size": job["vector_size"],
            "window": job["window"], "sample": job["sample"], "negative": job["negative"], "cbow": 0, "hs": 0,
            "threads": job["workers"], "min-count": job["min_count"], "binary": 1, "debug": 0,
        }  # fmt: skip
        arguments = [str(part) for name, value in options.items() for part in (f"-{name}", value)]

        def run(epochs: int) -> None:
            subprocess.run([program, *arguments, "-iter", str(epochs)], check=True, stdout=subprocess.DEVNULL)

        def children() -> float:
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            return used.ru_utime + used.ru_stime

        found = _more_epochs(run, children, 4 if "program" in job else 1)
    return {**found, "memory_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6}


def _more_epochs(run: Callable[[int], None], cpu_time: Callable[[], float], more: int = 1) -> dict[str, Any]:
    """Times of an epoch of a program that reads and trains in one call, by some more epochs than one."""
    times = []
    for epochs in (1, 1 + more):
        start, cpu = time.perf_counter(), cpu_time()
        run(epochs)
        times.append((time.perf_counter() - start, cpu_time() - cpu))
    (one, one_cpu), (two, two_cpu) = times
    seconds, cpu_seconds = (max(second - first, 1e-9) / more for first, second in ((one, two), (one_cpu, two_cpu)))
    return {"read_seconds": None, "seconds": seconds, "cpu_seconds": cpu_seconds}


RUNNERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    **dict.fromkeys(OURS, run_muse),
    REFERENCE: run_gensim,
    "gensim iterable": run_gensim,
    **dict.fromkeys(WORD2VEC_FLAGS, run_word2vec),
    "fastText": run_fasttext,
}


_PROGRAMS: dict[str, str] = {}


def add_programs(named: dict[str, str]) -> None:
    """Programs that take the options of word2vec.c, as further systems."""
    _PROGRAMS.update(named)
    RUNNERS.update(dict.fromkeys(named, run_word2vec))


def run_here(job: dict[str, Any]) -> dict[str, Any]:
    """Run a job in this process."""
    memory = common.peak_memory_mb
    found = (run_word2vec if "program" in job else RUNNERS[job["system"]])(job)
    return {"memory_mb": memory(), **found}


def run_job(job: dict[str, Any]) -> dict[str, Any]:
    """Run a job in a new process.

    Raises
    ------
    NotAvailableError
        If a peer cannot be had here; a failure of this package is a RuntimeError.
    """
    if job["system"] in _PROGRAMS:
        job = {**job, "program": _PROGRAMS[job["system"]]}
    command = [sys.executable, "-m", "benchmarks.throughput", "--job", json.dumps(job)]
    quiet = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # its threads wait in a loop, which counts as processor time
    done = subprocess.run(command, cwd=common.ROOT, capture_output=True, text=True, check=False, env=quiet)
    if done.returncode:
        reason = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "")
        if job["system"] not in OURS and re.search("ModuleNotFoundError|No module named|NotAvailableError", reason):
            raise NotAvailableError(reason.split(": ", 1)[-1])
        raise RuntimeError(f"{job['system']} failed:\n{done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
