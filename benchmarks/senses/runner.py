"""Runs cells, in parallel if wanted, and appends each one's records to a file as soon as it is done."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.senses.cells import Cell, execute

__all__ = ["append_records", "read_records", "run_cells"]

_Outcome = tuple[Cell, list[dict[str, Any]] | None]
# Numerical libraries would start a thread for each core in each process.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def read_records(path: Path) -> list[dict[str, Any]]:
    """All records of a results file; a last line that was cut off by a crash is left out."""
    if not path.exists():
        return []
    records = []
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError:
            if number < len(lines):
                raise ValueError(f"{path}, line {number} is not JSON: is this a results file?") from None
    return records


def run_cells(cells: Sequence[Cell], out: Path, jobs: int) -> int:
    """Run those cells that `out` has no records of; returns how many failed."""
    out.parent.mkdir(parents=True, exist_ok=True)
    records = read_records(out)
    done = {record["key"] for record in records if "settings" in record}  # a cell's last line
    _note_draws(cells, records, out)
    todo = list({cell.key: cell for cell in reversed(cells) if cell.key not in done}.values())[::-1]
    print(f"{len(cells)} cells, {len(cells) - len(todo)} of them done before or the same as another", flush=True)
    failed, count = 0, 0
    # Cells that take as long as another one come after it.
    for phase in ([c for c in todo if not c.setting.seconds_of], [c for c in todo if c.setting.seconds_of]):
        ready = [timed for cell in phase if (timed := _timed(cell, cells, records)) is not None]
        failed += len(phase) - len(ready)
        for cell, found in _outcomes(ready, jobs):
            count += 1
            if found is None:
                failed += 1
                continue
            append_records(out, found)
            records += found
            print(f"[{count}/{len(todo)}] {cell}: {_brief(found[-1])}", flush=True)
    return failed


def _outcomes(cells: Sequence[Cell], jobs: int) -> Iterator[_Outcome]:
    if jobs == 1:
        yield from ((cell, _guarded(cell)) for cell in cells)
        return
    if not cells:
        return
    for name in _THREAD_VARIABLES:
        os.environ.setdefault(name, str(cells[0].threads))
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))
    try:
        running: dict[Future[Any], Cell] = {pool.submit(_guarded, cell): cell for cell in cells}
        for future in as_completed(running):
            yield running[future], future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _guarded(cell: Cell) -> list[dict[str, Any]] | None:
    """The records, or None and a traceback: one bad cell must not end a night's run."""
    try:
        return execute(cell)
    except Exception:
        print(f"FAILED: {cell}\n{traceback.format_exc()}", file=sys.stderr, flush=True)
        return None


def _timed(cell: Cell, cells: Iterable[Cell], records: Iterable[dict[str, Any]]) -> Cell | None:
    """The cell with the seconds that it is to take, from the records; None if there are none."""
    if not cell.setting.seconds_of:
        return cell
    like = {c.key for c in cells if c.setting.label == cell.setting.seconds_of and c.place == cell.place}
    for record in records:
        if record.get("key") in like and "seconds" in record:
            if record["threads"] != cell.threads:
                break
            return replace(cell, seconds=record["seconds"])
    print(f"FAILED: {cell}: needs {cell.setting.seconds_of!r} in this grid, on as many threads", file=sys.stderr)
    return None


def _note_draws(cells: Iterable[Cell], records: Iterable[dict[str, Any]], out: Path) -> None:
    known = {record["digest"] for record in records if record["record"] == "draw"}
    new = {cell.draw.digest: cell.draw.to_json() for cell in cells if cell.draw.digest not in known}
    append_records(out, list(new.values()))


def append_records(out: Path, records: Iterable[dict[str, Any]]) -> None:
    """Add lines in one write, on the disk when this returns."""
    text = "".join(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in records)
    if not text:
        return
    with out.open("rb+" if out.exists() else "wb+") as file:
        kept = file.read()
        file.truncate(kept.rfind(b"\n") + 1)  # without a line that a crash cut off
        file.seek(0, os.SEEK_END)
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())


def _brief(record: dict[str, Any]) -> str:
    if "error" in record:
        return str(record["error"])
    shown = ("v_measure", "neighbours", "effective_senses", "collapsed", "SCWS MaxSimC", "SCWS AvgSimC", "WordSim-353")
    scores = [f"{name} {record['scores'][name]:.3f}" for name in shown if name in record["scores"]]
    return ", ".join([*scores, f"{record['seconds']:.1f} s, at {time.strftime('%H:%M:%S')}"])
