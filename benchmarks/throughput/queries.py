"""How near exact searches of neighbours come to the limits of the machine, one query at a time and many together.

``python -m benchmarks.throughput.queries``: rows that lie around some centres, as vectors of words do, are searched by
one thread for the ten with the largest cosines to some of them. A query alone can be no faster than the rows come from
memory, queries together no faster than a product of matrices: the shares are those of the bandwidth (triad) and of the
peak of fused multiply-adds that are measured in the same run. "Bytes" is what `most_similar` does: rows of a byte a
number say which rows are worth an exact score; a query that it answers counts as if it were a product of floats.
Processor time, medians of rounds in which each way has its turn.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import common
from benchmarks.throughput.native import NotAvailableError, machine_limits
from muse import _core

TOPN = 10
COLUMNS = {
    "dim": "dim", "rows": "rows", "by": "rows are", "queries": "queries at once", "ms": "ms a query",
    "gb": "GB/s of rows", "bandwidth": "share of bandwidth", "gflops": "GFLOP/s", "peak": "share of FMA peak",
}  # fmt: skip
_CENTRES, _SPREAD = 2000, 0.5
_BYTE_PAD = 16  # numbers; rows of bytes are as wide as a multiple of it

Floats = NDArray[np.float32]
Ask = Callable[[Floats], object]


def make_rows(count: int, dim: int) -> Floats:
    """Rows around centres, padded as a model's."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(_CENTRES, dim)).astype(np.float32)
    rows: Floats = _core.aligned_zeros(count, dim)
    for first in range(0, count, 1 << 14):
        block = rows[first : first + (1 << 14)]
        block[:] = centres[rng.integers(0, _CENTRES, len(block))] + _SPREAD * rng.normal(size=block.shape)
    return rows


def ways(rows: Floats, scale: Floats) -> Iterator[tuple[str, int, Ask]]:
    """How rows are kept, the bytes that a query reads, and the search."""
    stride = rows.strides[0]
    yield "floats", len(rows) * stride, lambda asked: _core.top_k(rows, asked, TOPN, scale=scale, workers=1)
    search = _core.Search(rows, scale=scale, workers=1)
    yield "bytes", len(rows) * -(-rows.shape[1] // _BYTE_PAD) * _BYTE_PAD, lambda asked: search.top_k(asked, TOPN)


def measure(dim: int, count: int, batches: list[int], rounds: int, limits: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each way and number of queries at once."""
    rows = make_rows(count, dim)
    scale = (1 / np.linalg.norm(rows, axis=1)).astype(np.float32)
    drawn = np.random.default_rng(1).integers(0, count, max(batches))
    queries = np.ascontiguousarray(rows[drawn] * scale[drawn, None])
    cells = [(batch, *way) for way in ways(rows, scale) for batch in batches]
    taken: list[list[float]] = [[] for _ in cells]
    for _ in range(rounds):
        for times, (batch, _, _, ask) in zip(taken, cells, strict=True):
            start = time.process_time()
            ask(queries[:batch])
            times.append(time.process_time() - start)
    found = []
    for times, (batch, by, size, _) in zip(taken, cells, strict=True):
        seconds = median(times)
        row = {"dim": dim, "rows": count, "by": by, "queries": batch, "ms": 1e3 * seconds / batch}
        row |= {"gb": size / seconds / 1e9, "gflops": 2 * count * dim * batch / seconds / 1e9}
        if limits and batch == 1:
            row["bandwidth"] = row["gb"] / limits["triad_gb_per_second"]
        elif limits:
            row["peak"] = row["gflops"] / limits["gflops"]
        found.append(row)
    return found


def main(argv: list[str] | None = None) -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.throughput.queries", description=__doc__)
    parser.add_argument("--rows", type=common.at_least(16 * TOPN), default=200_000)
    parser.add_argument("--dims", type=common.at_least(1), nargs="+", default=[100, 300])
    parser.add_argument("--queries", type=common.at_least(1), nargs="+", default=[1, 16, 64, 256])
    parser.add_argument("--rounds", type=common.at_least(1), default=7)
    parser.add_argument("--out", type=common.out_folder, help="folder for the results; by default they are printed")
    options = parser.parse_args(argv)
    try:
        limits = machine_limits(1)
    except NotAvailableError as error:
        parser.exit(2, f"the limits of the machine cannot be measured: {error}\n")
    rows = [row for dim in options.dims for row in measure(dim, options.rows, options.queries, options.rounds, limits)]
    stamp = common.stamp("python -m benchmarks.throughput.queries", rounds=options.rounds, limits=limits)
    machine = stamp["machine"]
    told = (
        f"`{stamp['command']}`, {stamp['date']}, {machine['cpu']}, {machine['isa']}, load before "
        f"{machine['load_before']}; one thread, processor time. Limits: {limits['triad_gb_per_second']:.1f} GB/s, "
        f"{limits['gflops']:.0f} GFLOP/s."
    )
    page = f"# Queries\n\n{told}\n\n{common.markdown_table(rows, COLUMNS)}\n"
    print(page)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        common.write_page(options.out, "queries", page, {**stamp, "rows": rows})


if __name__ == "__main__":
    common.command(main)
