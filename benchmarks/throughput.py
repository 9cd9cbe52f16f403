"""How fast training is, beside gensim and fastText on the same text and settings.

Each figure is the median over ``--repeats`` rounds; a round runs every system once, in turn and in a process of its
own, so that a change in the load of the machine meets all of them (fastText, which is slow, runs in the first only).
Rates are given by the clock and by processor time (all threads of the process), which other programs on the machine
disturb less. Only training counts: reading the text and building the vocabulary are timed apart.

Tokens are those of the text whose words are in the vocabulary, before subsampling. A pair is one target with one
collocate and its negatives. This package counts the pairs that it trains. For gensim and fastText, which do not, pairs
are the expectation under their rule: one seeded draw of subsampling with word2vec's formula, and the mean over all
window sizes 1..window for every token that is left.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks import common
from muse import MUSE, _core
from muse.corpus import encode_corpus

DEFAULT_TOKENS = 1_000_000
REFERENCE = "gensim corpus_file"
OURS: dict[str, dict[str, Any]] = {
    "muse, one sense, negatives of each pair": {"senses": 1, "group_size": 1, "epochs": 1},
    "muse, one sense, shared negatives": {"senses": 1, "epochs": 1},
    "muse, default recipe": {"epochs": 2},  # one at word level, the split, one with senses: the last is reported
    "muse, paper's recipe": {**MUSE.paper_defaults(), "epochs": 1},
}
COLUMNS = {
    "system": "system",
    "vector_size": "dim",
    "negative": "neg.",
    "workers": "threads",
    "ktokens_per_second": "10³ tokens/s",
    "kpairs_per_second": "10³ pairs/s",
    "kpairs_per_cpu_second": "10³ pairs/CPU-s",
    "ratio": "pairs/s to gensim",
    "cpu_ratio": "pairs/CPU-s to gensim",
    "memory_mb": "peak MB",
}

# ------------------------------------------------------------------------------------------ one run, in its own process


def run_muse(job: dict[str, Any]) -> dict[str, Any]:
    """Train this package; the figures are those of the last epoch."""
    fixed = {
        name: job[name] for name in ("vector_size", "negative", "window", "sample", "min_count", "workers", "seed")
    }
    clock = _CpuClock()
    model = MUSE(**{**OURS[job["system"]], **fixed})
    start = time.perf_counter()
    model.build_vocab(corpus_file=job["corpus"])
    read = time.perf_counter()
    model.train(callbacks=[clock])
    row = model.history[-1]
    trained = sum(epoch["seconds"] for epoch in model.history)
    return {
        "read_seconds": read - start,
        "seconds": row["seconds"],
        "cpu_seconds": clock.epochs[-1],
        "tokens": row["tokens"],
        "pairs": row["pairs"],
        "other_seconds": time.perf_counter() - read - trained,  # the split, and counting the senses' priors
    }


class _CpuClock:
    """Processor time of each epoch."""

    def __init__(self) -> None:
        self.epochs: list[float] = []
        self._start = 0.0

    def on_epoch_begin(self, model: Any) -> None:
        self._start = time.process_time()

    def on_epoch_end(self, model: Any) -> None:
        self.epochs.append(time.process_time() - self._start)


def run_gensim(job: dict[str, Any]) -> dict[str, Any]:
    """Train gensim's Word2Vec, from an iterable or from the file."""
    from gensim.models import Word2Vec

    same = ("vector_size", "negative", "window", "sample", "min_count", "workers", "seed")
    model = Word2Vec(sg=1, epochs=1, **{name: job[name] for name in same})
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
    """Train fastText without subwords. It reads and trains in one call, so an epoch is a run of two less one of one."""
    fasttext = importlib.import_module("fasttext")

    def run(epochs: int) -> tuple[float, float]:
        start, cpu = time.perf_counter(), time.process_time()
        fasttext.train_unsupervised(
            job["corpus"], model="skipgram", minn=0, maxn=0, dim=job["vector_size"], neg=job["negative"], verbose=0,
            ws=job["window"], t=job["sample"], minCount=job["min_count"], thread=job["workers"], epoch=epochs,
        )  # fmt: skip
        return time.perf_counter() - start, time.process_time() - cpu

    one, two = run(1), run(2)
    return {"read_seconds": None, "seconds": max(two[0] - one[0], 1e-9), "cpu_seconds": max(two[1] - one[1], 1e-9)}


RUNNERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    **dict.fromkeys(OURS, run_muse),
    "gensim iterable": run_gensim,
    REFERENCE: run_gensim,
    "fastText": run_fasttext,
}


def run_job(job: dict[str, Any]) -> dict[str, Any] | None:
    """Run one job in a new process; None where its package is not installed."""
    command = [sys.executable, "-m", "benchmarks.throughput", "--job", json.dumps(job)]
    done = subprocess.run(command, cwd=common.ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        if "ModuleNotFoundError" in done.stderr and job["system"] not in OURS:
            return None
        raise RuntimeError(f"{job['system']} failed:\n{done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


# -------------------------------------------------------------------------------------------------------- what is equal


def expected_pairs(corpus: Path, window: int, sample: float, min_count: int, seed: int = 0) -> tuple[int, float]:
    """Tokens in the vocabulary, and the pairs that word2vec's rule makes of them in one epoch."""
    vocabulary, encoded = encode_corpus(corpus_file=corpus, min_count=min_count)
    keep = _core.keep_probabilities(vocabulary.counts, sample)
    kept = np.random.default_rng(seed).random(encoded.n_tokens) < keep[encoded.tokens]
    sentence = np.repeat(np.arange(encoded.n_sentences), np.diff(encoded.offsets))[kept]
    lengths = np.bincount(sentence, minlength=encoded.n_sentences)
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    before = np.arange(len(sentence)) - starts[sentence]
    after = lengths[sentence] - 1 - before
    pairs = sum(np.minimum(before, size).sum() + np.minimum(after, size).sum() for size in range(1, window + 1))
    return int(encoded.n_tokens), float(pairs) / window


def measure(arguments: argparse.Namespace, corpus: Path) -> dict[str, Any]:
    """All systems at all settings, `repeats` times in turn."""
    settings = {name: getattr(arguments, name) for name in ("window", "sample", "min_count", "seed")}
    tokens, pairs = expected_pairs(corpus, arguments.window, arguments.sample, arguments.min_count)
    grid = [(d, n, w) for d in arguments.dims for n in arguments.negative for w in arguments.workers]
    runs: list[dict[str, Any]] = []
    skipped: set[str] = set()
    for number in range(arguments.repeats):
        for size, negative, workers in grid:
            for system in arguments.systems or RUNNERS:
                if system in skipped or (system == "fastText" and number > 0):
                    continue
                job = {"system": system, "vector_size": size, "negative": negative, "workers": workers, **settings}
                found = run_job({**job, "corpus": str(corpus)})
                if found is None:
                    skipped.add(system)
                    print(f"{system} is left out: its package is not installed", file=sys.stderr)
                    continue
                runs.append({**job, "tokens": tokens, "pairs": pairs, **found})
                place = f"round {number + 1}, {system}, {size} dimensions, {negative} negatives, {workers} threads"
                print(f"{place}: {found['seconds']:.1f} s", file=sys.stderr, flush=True)
    return {
        **common.stamp(
            "python -m benchmarks.throughput", corpus_tokens=tokens, expected_pairs=round(pairs), **settings,
            repeats=arguments.repeats, text="Zipf" if arguments.corpus is None else "natural",
        ),
        "left_out": sorted(skipped),
        "table": summarise(runs),
        "runs": runs,
    }  # fmt: skip


def summarise(runs: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each system and setting: medians over rounds, and ratios to gensim."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for run in runs:
        groups.setdefault((run["vector_size"], run["negative"], run["workers"], run["system"]), []).append(run)
    rows = {}
    for key, same in groups.items():
        rows[key] = {
            "system": key[3], "vector_size": key[0], "negative": key[1], "workers": key[2],
            "ktokens_per_second": median(run["tokens"] / run["seconds"] for run in same) / 1e3,
            "kpairs_per_second": median(run["pairs"] / run["seconds"] for run in same) / 1e3,
            "kpairs_per_cpu_second": median(run["pairs"] / run["cpu_seconds"] for run in same) / 1e3,
            "memory_mb": median(run["memory_mb"] for run in same),
        }  # fmt: skip
    for key, row in rows.items():
        peer = rows.get((*key[:3], REFERENCE))
        row["ratio"] = row["kpairs_per_second"] / peer["kpairs_per_second"] if peer else None
        row["cpu_ratio"] = row["kpairs_per_cpu_second"] / peer["kpairs_per_cpu_second"] if peer else None
    return list(rows.values())


NOTES = {  # by what the name of a system holds
    "": "What tokens and pairs are, and how peers' pairs are counted: see the head of benchmarks/throughput.py.",
    "default recipe": "The default recipe is timed in its epoch with senses.",
    "paper's recipe": "The paper's recipe trains one collocate a token, the others all: compare pairs, not tokens.",
    "fastText": "fastText is `fasttext-wheel`, built for any x86-64; built for the machine it is faster.",
}


def page(result: dict[str, Any]) -> str:
    """The markdown page."""
    settings, machine = result["settings"], result["machine"]
    where = (
        f"`{result['command']}`, {result['date']}: {settings['corpus_tokens']:,} tokens of {settings['text']} text, "
        f"window {settings['window']}, subsampling {settings['sample']:g}, min_count {settings['min_count']}; medians "
        f"of {settings['repeats']} rounds. {machine['cpu']}, {machine['cores']} cores, {machine['isa']}, load before "
        f"{machine['load_before']}; gensim {machine['gensim']}."
    )
    systems = [row["system"] for row in result["table"]]
    notes = [f"- {note}" for part, note in NOTES.items() if any(part in system for system in systems)]
    notes += [f"- {name} is left out: its package is not installed." for name in result["left_out"]]
    return (
        "\n\n".join(["# Throughput", where, common.markdown_table(result["table"], COLUMNS), "\n".join(notes)]) + "\n"
    )


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.throughput", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("--corpus", help="text file, one sentence a line; without it, Zipf-distributed words")
    parser.add_argument("--limit-tokens", type=int, default=DEFAULT_TOKENS, metavar="N", help="0: the whole corpus")
    parser.add_argument("--dims", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--negative", type=int, nargs="+", default=[5, 25])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--window", type=int, default=5)
    parser.add_argument("--sample", type=float, default=1e-4)
    parser.add_argument("--min-count", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--systems", nargs="+", choices=list(RUNNERS), help="default: all")
    parser.add_argument("--out", type=Path, help="folder for the results; default: benchmarks/results")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    arguments = parse(argv)
    if arguments.job:
        job = json.loads(arguments.job)
        print(json.dumps({**RUNNERS[job["system"]](job), "memory_mb": common.peak_memory_mb()}))
        return
    limit = arguments.limit_tokens
    if arguments.corpus is None:
        corpus = common.zipf_corpus(limit or DEFAULT_TOKENS)
    else:
        corpus = common.plain_corpus(arguments.corpus, limit)
    result = measure(arguments, corpus)
    text = page(result)
    print(text)
    folder = arguments.out or (None if 0 < limit < DEFAULT_TOKENS else common.RESULTS)
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    common.write_json(folder / "throughput.json", result)
    (folder / "throughput.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
