"""Runs of several systems in turn, each kept as soon as it is done: a command that was stopped goes on from there."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import common
from benchmarks.throughput.native import NotAvailableError
from benchmarks.throughput.systems import run_job
from benchmarks.throughput.work import expected_pairs

COMMON = {"window": 5, "sample": 1e-4, "min_count": 5, "seed": 1}  # of every job that does not say otherwise


class Planned(NamedTuple):
    """A job, the text that it is run on, and how often."""

    job: dict[str, Any]
    tokens: int  # of the text
    repeats: int


class Rounds:
    """Runs jobs in turn, several times, and remembers which peers cannot be had.

    Parameters
    ----------
    corpus : str or None
        A text; None for words that follow Zipf's law.
    kept : Path or None
        A file with a line of JSON a run. Runs that stand there are not run again.
    """

    def __init__(self, corpus: str | None, kept: Path | None = None) -> None:
        self.corpus, self._kept = corpus, kept
        self.left_out: dict[str, str] = {}
        self._expected: dict[tuple[Any, ...], dict[str, float]] = {}
        self._done: dict[str, dict[str, Any]] = {}
        if kept is not None and kept.exists():
            for line in kept.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                self._done[row["key"]] = row["found"]

    def text(self, tokens: int) -> Path:
        """The first `tokens` tokens of the corpus, as a file."""
        if self.corpus is None:
            return common.zipf_corpus(tokens)
        return common.plain_corpus(self.corpus, tokens)

    def run(self, plan: Iterable[Planned]) -> list[dict[str, Any]]:
        """All jobs once, then those again that are to be repeated, and so on."""
        plan = list(plan)
        longest = max((planned.repeats for planned in plan), default=0)
        turns = ((planned, turn) for turn in range(longest) for planned in plan if turn < planned.repeats)
        runs = (self.one(planned.job, planned.tokens, turn) for planned, turn in turns)
        return [run for run in runs if run is not None]

    def one(self, job: dict[str, Any], tokens: int, number: int) -> dict[str, Any] | None:
        """One run of a job, or what an earlier call found; None if its system cannot be had."""
        job = {**COMMON, **job}
        key = json.dumps([job, tokens, number, self.corpus and Path(self.corpus).name], sort_keys=True)
        if key in self._done:
            return self._done[key]
        if job["system"] in self.left_out:
            return None
        text = self.text(tokens)
        try:
            found = {**job, **self.expected(text, job), **run_job({**job, "corpus": str(text)})}
        except NotAvailableError as error:
            self.left_out[job["system"]] = str(error)
            print(f"{job['system']} is left out: {error}", file=sys.stderr)
            return None
        found["targets"] *= found.pop("epochs", 1)
        if "paper's recipe" in job["system"]:
            found["targets"] = found["pairs"]
        if "arrays_mb" in found:
            found["beyond_mb"] = found["memory_mb"] - found["arrays_mb"] - 4 * found["tokens"] / 1e6
        self._keep(key, found)
        told = ", ".join(f"{job[name]} {name}" for name in ("vector_size", "negative", "workers"))
        print(f"round {number + 1}, {job['system']}, {told}: {found['seconds']:.2f} s, "
              f"{found['cpu_seconds']:.2f} CPU-s", file=sys.stderr, flush=True)  # fmt: skip
        return found

    def _keep(self, key: str, found: dict[str, Any]) -> None:
        self._done[key] = found
        if self._kept is not None:
            self._kept.parent.mkdir(parents=True, exist_ok=True)
            with self._kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "found": common.plain(found)}) + "\n")

    def expected(self, text: Path, job: dict[str, Any]) -> dict[str, float]:
        """Tokens, and the pairs and targets of an epoch under word2vec's rule."""
        key = (text, job["window"], job["sample"], job["min_count"])
        if key not in self._expected:
            self._expected[key] = dict(expected_pairs(*key)._asdict())
        return self._expected[key]
