"""What the measured speed of one core would make of larger machines, if threads scale: an estimate, no measurement."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import Any

from benchmarks.throughput.work import shared_negatives

SYSTEM = "muse, senses that are trained"
CORES = (1, 16, 64)
NOTE = (
    f"An estimate from the one thread above ({SYSTEM}, its epoch with senses): threads are taken to scale, and every "
    "row of U and V that a group of targets reads and writes to come from memory, so that a machine with less "
    "bandwidth than the last column but one is at its limit. Contention for the rows of frequent words is not in it."
)


def bytes_a_target(run: dict[str, Any]) -> float:
    """Memory traffic of a target's rows of U and V, if none of them is found in a cache."""
    group = run["group_size"]
    rows = 2 * group + 2 * run["window"] + shared_negatives(group, run["negative"])
    return 2 * 4.0 * run["vector_size"] * rows / group


def prediction_rows(runs: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tokens a second, bandwidth, and the time of a billion tokens, by the number of cores."""
    same: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for run in runs:
        if run["system"] == SYSTEM and run["workers"] == 1 and run["sample"] > 0 and "swept" not in run:
            same.setdefault((run["vector_size"], run["negative"]), []).append(run)
    found = []
    for (dim, negative), mine in same.items():
        rate = median(run["tokens"] / run["cpu_seconds"] for run in mine)
        traffic = bytes_a_target(mine[0]) * mine[0]["targets"] / mine[0]["tokens"]
        found += [
            {
                "vector_size": dim,
                "negative": negative,
                "cores": cores,
                "mtokens_per_second": cores * rate / 1e6,
                "gb_per_second": cores * rate * traffic / 1e9,
                "minutes_per_billion": 1e9 / (cores * rate) / 60,
            }
            for cores in CORES
        ]
    return found
