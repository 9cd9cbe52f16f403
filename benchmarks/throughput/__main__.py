"""The command line."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

import benchmarks.throughput
from benchmarks import common
from benchmarks.throughput.inference import measure_inference
from benchmarks.throughput.native import NotAvailableError, machine_limits
from benchmarks.throughput.report import page, paper_rows, plot_sweeps, summarise
from benchmarks.throughput.systems import REFERENCE, RUNNERS, run_here, run_job
from benchmarks.throughput.work import expected_pairs

DEFAULT_TOKENS = 1_000_000
PAPER = ("muse, paper's recipe", "muse, paper's recipe, shared negatives", "muse, default recipe")
PARTS = ("table", "paper", "inference", "sweeps")
SWEEPS: dict[str, list[int]] = {
    "vector_size": [50, 100, 200, 300, 400],
    "senses": [1, 2, 3, 5, 8],
    "negative": [1, 5, 10, 15, 25],
    "window": [2, 5, 10, 15],
    "workers": [1, 2],
}
SWEPT = ("muse, one sense, shared negatives", "muse, paper's recipe, shared negatives")


class Rounds:
    """Runs jobs on one text in turn, several times, and remembers which peers cannot be had."""

    def __init__(self, arguments: argparse.Namespace, corpus: Path) -> None:
        self.arguments, self.corpus = arguments, corpus
        self.left_out: dict[str, str] = {}
        self._expected: dict[tuple[int, float], dict[str, float]] = {}

    def run(self, jobs: list[dict[str, Any]], repeats: int) -> list[dict[str, Any]]:
        """All jobs, `repeats` times in turn."""
        runs = []
        for number in range(repeats):
            for job in jobs:
                if (found := self.one(job)) is not None:
                    runs.append(found)
                    told = ", ".join(f"{job[key]} {key}" for key in ("vector_size", "negative", "workers"))
                    print(f"round {number + 1}, {job['system']}, {told}: {found['seconds']:.2f} s, "
                          f"{found['cpu_seconds']:.2f} CPU-s", file=sys.stderr, flush=True)  # fmt: skip
        return runs

    def one(self, job: dict[str, Any]) -> dict[str, Any] | None:
        """One job with the arguments' settings where it has none; None if its system cannot be had."""
        settings = {name: getattr(self.arguments, name) for name in ("window", "sample", "min_count", "seed")}
        job = {**settings, **job, "corpus": str(self.corpus)}
        if job["system"] in self.left_out:
            return None
        expected = self.expected(job["window"], job["sample"])
        try:
            found = {**job, **expected, **run_job(job)}
        except NotAvailableError as error:
            self.left_out[job["system"]] = str(error)
            print(f"{job['system']} is left out: {error}", file=sys.stderr)
            return None
        del found["corpus"]
        if "paper's recipe" in job["system"]:
            found["targets"] = found["pairs"]
        if "arrays_mb" in found:
            found["beyond_mb"] = found["memory_mb"] - found["arrays_mb"] - 4 * found["tokens"] / 1e6
        return found

    def expected(self, window: int, sample: float) -> dict[str, float]:
        key = (window, sample)
        if key not in self._expected:
            found = expected_pairs(self.corpus, window, sample, self.arguments.min_count)
            self._expected[key] = dict(found._asdict())
        return self._expected[key]


def measure(arguments: argparse.Namespace, corpus: Path) -> dict[str, Any]:
    """All parts that were asked for."""
    rounds = Rounds(arguments, corpus)
    expected = rounds.expected(arguments.window, arguments.sample)
    head = common.stamp(
        "python -m benchmarks.throughput", corpus_tokens=int(expected["tokens"]),
        expected_pairs=round(expected["pairs"]), repeats=arguments.repeats,
        text="Zipf" if arguments.corpus is None else "natural",
        **{name: getattr(arguments, name) for name in ("window", "sample", "min_count", "seed")},
    )  # fmt: skip
    limits = _limits()
    peak = limits["gflops"] if limits else None
    grid = [(d, n, w) for d in arguments.dims for n in arguments.negative for w in arguments.workers]
    jobs = [
        {"system": system, "vector_size": d, "negative": n, "workers": w}
        for d, n, w in grid
        for system in arguments.systems or RUNNERS
    ]
    parts = arguments.parts
    runs = rounds.run(jobs, arguments.repeats) if "table" in parts else []
    paper = _paper_setting(rounds) if "paper" in parts else []
    sweeps = _sweeps(rounds) if "sweeps" in parts else {}
    return {
        **head,
        "limits": limits,
        "left_out": rounds.left_out,
        "table": summarise(runs, peak),
        "paper": paper_rows(summarise(paper)),
        "inference": measure_inference(corpus, arguments.repeats) if "inference" in parts else [],
        "sweeps": sweeps,
        "runs": runs + paper,
    }


def _limits() -> dict[str, Any] | None:
    """What a core can do; None where nothing can be compiled."""
    try:
        return machine_limits(1)
    except NotAvailableError as error:
        print(f"no limits of the machine: {error}", file=sys.stderr)
        return None


def _paper_setting(rounds: Rounds) -> list[dict[str, Any]]:
    """Tokens a second with three senses and one collocate, and of gensim as it is usually run, on all of the text."""
    jobs = []
    for workers in rounds.arguments.workers:
        same = {"vector_size": 300, "workers": workers, "sample": 0.0}
        jobs.append({"system": REFERENCE, "negative": 5, **same})
        jobs += [{"system": name, "negative": 5 if "default" in name else 25, **same} for name in PAPER]
    return rounds.run(jobs, rounds.arguments.repeats)


def _sweeps(rounds: Rounds) -> dict[str, list[dict[str, Any]]]:
    """One quantity at a time around dimension 100, five negatives, window 5, one thread."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, values in SWEEPS.items():
        found[name] = []
        for value in values:
            for system in SWEPT:
                job: dict[str, Any] = {"system": system, "vector_size": 100, "negative": 5, "workers": 1}
                if name == "senses":
                    job["options"] = {"senses": value}
                    if "one sense" in system:
                        continue
                else:
                    job[name] = value
                runs = rounds.run([job], rounds.arguments.repeats)
                found[name].append({
                    "system": system, "value": value,
                    **{key: median(run[key] for run in runs) for key in ("tokens", "pairs", "seconds", "cpu_seconds")},
                })  # fmt: skip
    return found


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.throughput", description=(benchmarks.throughput.__doc__ or "").split("\n", 1)[0]
    )
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("--corpus", help="text file, one sentence a line; without it, Zipf-distributed words")
    parser.add_argument("--limit-tokens", type=int, default=DEFAULT_TOKENS, metavar="N", help="0: the whole corpus")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--dims", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--negative", type=int, nargs="+", default=[5, 25])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--window", type=int, default=5)
    parser.add_argument("--sample", type=float, default=1e-4)
    parser.add_argument("--min-count", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--systems", nargs="+", choices=list(RUNNERS), help="of the table; default: all")
    parser.add_argument("--out", type=Path, help="folder for the results; default: benchmarks/results")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    arguments = parse(argv)
    if arguments.job:
        print(json.dumps(run_here(json.loads(arguments.job))))
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
    if result["sweeps"]:
        plot_sweeps(result["sweeps"], folder / "throughput.svg")


if __name__ == "__main__":
    main()
