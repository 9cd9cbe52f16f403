"""Tokens a second of one thread and of a cluster of processes on one machine, combining included."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from benchmarks import common
from muse import MUSE
from muse.distributed import train
from muse.distributed.cluster import local_cluster

__all__ = ["run"]


def run(path: str, workers: int, epochs: int, dim: int, interval: int | None, out: Path) -> None:
    """Append a row. Seconds of the processor count too, since another program may share it.

    Those of one thread are of the epochs; `processors` of all that the workers do, counting and encoding too.
    """
    settings: dict[str, Any] = {"vector_size": dim, "senses": 1, "epochs": epochs, "seed": 1}
    model = MUSE(**settings, workers=1)
    model.build_vocab(corpus_file=path)
    wall, processor = time.perf_counter(), time.process_time()
    model.train()
    one = {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}
    with local_cluster(workers) as client:
        before = sum(client.run(time.process_time).values())
        _, report = train(path, client, workers=1, interval=interval, **settings)
        processors = sum(client.run(time.process_time).values()) - before
    tokens = sum(report.tokens)
    row = {
        "record": "speed", "workers": workers, "dim": dim, "words": len(model), "tokens": tokens,
        "rounds": report.rounds, "one": one, "wall": report.part_seconds["training"], "processors": processors,
        "in_rounds": sum(report.seconds), "in_training": sum(report.training), "moved": sum(report.moved),
        "is_exact": report.is_exact, "times_as_fast": one["wall"] / report.part_seconds["training"],
        "processor_overhead": processors / one["processor"] - 1.0, "machine": common.machine(),
    }  # fmt: skip
    with out.open("a") as file:
        file.write(json.dumps(row) + "\n")
    print({name: value for name, value in row.items() if name != "machine"}, flush=True)
