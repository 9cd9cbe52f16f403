"""What the lines of a run say: time by part, speed at the start and the end, memory; and what more would take."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from benchmarks import common

__all__ = ["beyond", "page", "summary"]

COLUMNS = {
    "tokens": "tokens", "words": "words", "senses": "senses", "dim": "dim", "workers": "threads",
    "read_rate": "MB read a CPU-s", "first_rate": "10³ tokens a CPU-s, first tenth", "last_rate": "last tenth",
    "wall_rate": "10³ tokens/s", "most_gb": "most memory, GB", "estimate_gb": "`estimate_memory`, GB",
    "load": "load",
}  # fmt: skip
_ENDS = 0.1  # the share of a training that is its start or its end
_OF_TEXT = ("reading", "training", "encoder")  # parts that take longer with the text; others with the vocabulary


class _Clock(NamedTuple):
    """How a part went, from one line to another."""

    seconds: float
    cpu_seconds: float
    done: float


def _between(first: dict[str, Any], last: dict[str, Any]) -> _Clock:
    return _Clock(*(last[name] - first[name] for name in ("seconds", "cpu_seconds", "done")))


def stretches(lines: Sequence[dict[str, Any]], part: str) -> list[list[dict[str, Any]]]:
    """The lines about a part, one list for each time that it was begun: a kill ends what was under way."""
    found: list[list[dict[str, Any]]] = []
    for line in lines:
        if line.get("part") == part and line["event"] in ("begin", "progress", "end"):
            if line["event"] == "begin":
                found.append([])
            found[-1].append(line)
    return found


def summary(lines: Sequence[dict[str, Any]], job: dict[str, Any]) -> dict[str, Any]:
    """The figures of one run, killed or not; "seconds" and "cpu_seconds" are by part, over both processes."""
    names = list(dict.fromkeys(line["part"] for line in lines if line["event"] == "begin"))
    clocks = {name: [_between(run[0], run[-1]) for run in stretches(lines, name)] for name in names}
    told = next(line for line in lines if line["event"] == "vocabulary")
    done = lines[-1] if lines[-1]["event"] == "done" else {}
    training = stretches(lines, "training")
    tokens = training[0][0]["total"]
    trained = [_between(run[0], run[-1]) for run in training]
    return {
        "tokens": round(tokens),
        "words": told["words"],
        "senses": done.get("senses"),
        "dim": job["settings"]["vector_size"],
        "workers": job["settings"]["workers"],
        "read_rate": stretches(lines, "reading")[0][-1]["done"] / clocks["reading"][0].cpu_seconds / 1e6,
        "first_rate": _rate(training, tokens, 0.0, _ENDS),
        "last_rate": _rate(training, tokens, 1.0 - _ENDS, 1.0),
        "wall_rate": sum(clock.done for clock in trained) / sum(clock.seconds for clock in trained) / 1e3,
        "most_gb": max(line["most_mb"] for line in lines) / 1e3,
        "estimate_gb": told["estimate"]["total"] / 1e9,
        "seconds": {name: sum(clock.seconds for clock in of) for name, of in clocks.items()},
        "cpu_seconds": {name: sum(clock.cpu_seconds for clock in of) for name, of in clocks.items()},
        "killed": sum(line["event"] == "resume" for line in lines),
        "finished": bool(done),
    }  # fmt: skip


def _rate(training: Sequence[Sequence[dict[str, Any]]], total: float, low: float, high: float) -> float | None:
    """Thousands of tokens a processor second in a stretch of the training, the median from line to line: a checkpoint
    that is written between two of them does not count. None where too few lines tell."""
    inside = [[line for line in run if low <= line["done"] / total <= high] for run in training]
    clocks = [_between(*pair) for run in inside for pair in pairwise(run)]
    rates = [clock.done / clock.cpu_seconds for clock in clocks if clock.done > 0 and clock.cpu_seconds > 0]
    return median(rates) / 1e3 if rates else None


def beyond(row: dict[str, Any], tokens: float, discount: float) -> dict[str, float]:
    """What so many tokens would take on the same machine if it had nothing else to do, by extrapolation.

    Reading, epochs and the encoder of contexts grow with the text; memory and the rest with the vocabulary, which grows
    with the power `discount` of the text while ``min_count`` stays.
    """
    longer = tokens / row["tokens"]
    more = longer**discount
    cpu = row["cpu_seconds"]
    by_text = sum(cpu.get(part, 0.0) for part in _OF_TEXT)
    return {
        "tokens": f"{tokens / 1e9:,.0f} billion",
        "words": row["words"] * more,
        "cpu_hours": (by_text * longer + (sum(cpu.values()) - by_text) * more) / 3600,
        "memory_gb": row["most_gb"] * more,
        "encoded_gb": 4 * tokens / 1e9,
    }


def page(rows: Sequence[dict[str, Any]], stamp: dict[str, Any], discount: float) -> str:
    """The markdown page of runs that are done."""
    names = list(dict.fromkeys(part for row in rows for part in row["seconds"]))
    stages = [
        {"part": part, **{str(i): row["cpu_seconds"].get(part) for i, row in enumerate(rows)}} for part in names
    ]  # fmt: skip
    heads = {str(i): f"{row['tokens'] / 1e6:,.0f}M tokens, dim {row['dim']}" for i, row in enumerate(rows)}
    far = [beyond(rows[-1], tokens, discount) for tokens in (1e10, 1e11)]
    where = f"`{stamp['command']}`, {stamp['date']}, {stamp['machine']['cpu']}, {stamp['machine']['cores']} cores."
    killed = "Killed and resumed." if any(row["killed"] for row in rows) else ""
    parts = [
        "# Scale",
        f"{where} {killed}".strip(),
        common.markdown_table(rows, COLUMNS),
        "## Processor seconds by part",
        common.markdown_table(stages, {"part": "part", **heads}),
        "## More tokens, by extrapolation from the last run",
        common.markdown_table(far, {"tokens": "tokens", "words": "words", "cpu_hours": "hours of a core",
                                    "memory_gb": "memory, GB", "encoded_gb": "encoded text, GB"}),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"
