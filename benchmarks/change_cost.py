"""What two slices cost: core seconds, wall time and the peak of memory, part by part.

python -m benchmarks.change_cost first-half.txt second-half.txt
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import common
from muse import MUSE
from muse.change import TemporalMUSE

OUT = common.RESULTS / "change_cost.jsonl"


class Clock:
    """Core seconds and wall time of parts."""

    def __init__(self) -> None:
        self.parts: dict[str, dict[str, float]] = {}

    def time(self, name: str, call: Callable[[], Any]) -> Any:
        """What a call gives; how long it took is kept."""
        wall, core = time.perf_counter(), time.process_time()
        found = call()
        core, wall = time.process_time() - core, time.perf_counter() - wall
        self.parts[name] = {"core seconds": round(core, 1), "wall seconds": round(wall, 1)}
        return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, tag, ask, and add a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path, nargs=2)
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args(arguments)
    load, clock = os.getloadavg()[0], Clock()
    files = [str(path) for path in args.texts]
    settings: dict[str, Any] = {"vector_size": args.dim, "workers": args.workers, "seed": 1}
    model = clock.time("training", lambda: MUSE(corpus_file=files, **settings))
    slices = dict(zip(("first", "second"), files, strict=True))
    found = clock.time("slices", lambda: TemporalMUSE(slices, model=model))
    table = clock.time("change", found.change)
    clock.time("shares", lambda: found.shares(table[0]["word"]))
    total = {name: round(sum(part[name] for part in clock.parts.values()), 1) for name in clock.parts["training"]}
    row = {
        "texts": [path.name for path in args.texts], "tokens": [one.tokens for one in found._slices.values()],
        "dim": args.dim, "workers": args.workers, "parts": clock.parts, "total": total, "words compared": len(table),
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2), "load": round(load, 1),
        "machine": common.machine(),
    }  # fmt: skip
    with args.out.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    print(json.dumps(row, indent=1))


if __name__ == "__main__":
    main()
