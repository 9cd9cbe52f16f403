"""Workers and schedulers killed at random while a model is trained, and what came of it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from muse.distributed import Trained, train
from muse.distributed.cluster import local_cluster

__all__ = ["kill_schedulers", "kill_workers", "run", "stop_workers"]

_WORKERS = 2
_BETWEEN = (2.0, 6.0)  # seconds from one kill to the next


def _digest(trained: Trained) -> str:
    arrays = trained.model.arrays
    parts = (arrays.sense_vectors, arrays.collocation_vectors)
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:16]


def _asked(path: str, epochs: int) -> dict[str, Any]:
    return {"sources": path, "senses": 1, "vector_size": 50, "epochs": epochs, "workers": 1, "parts": 4,
            "interval": 60_000, "shard_bytes": 3_000_000, "checkpoint_seconds": 5, "patience": 20}  # fmt: skip


def calm(path: str, epochs: int) -> str:
    """The bits without a fault."""
    with local_cluster(_WORKERS) as client:
        return _digest(train(client=client, **_asked(path, epochs)))


def kill_workers(path: str, kills: int, epochs: int, wanted: str) -> Iterator[dict[str, Any]]:
    """Runs with workers killed at random, until there were so many kills; a row for each run."""
    draw, done = random.Random(1), 0
    while done < kills:
        with local_cluster(_WORKERS) as client:
            over, killed, start = threading.Event(), [0], time.perf_counter()

            def kill(
                client: Any = client, over: Any = over, killed: list[int] = killed, left: int = kills - done
            ) -> None:
                while not over.wait(draw.uniform(*_BETWEEN)) and killed[0] < left:
                    with contextlib.suppress(Exception):  # the worker may be dead already
                        pids = client.run(os.getpid)
                        os.kill(draw.choice(sorted(pids.values())), signal.SIGKILL)
                        killed[0] += 1

            killer = threading.Thread(target=kill)
            killer.start()
            try:
                found = train(client=client, **_asked(path, epochs))
            finally:
                over.set()
                killer.join()
        done += killed[0]
        yield _row("workers", killed[0], found, wanted, time.perf_counter() - start)


def _row(what: str, kills: int, found: Trained, wanted: str, seconds: float, **more: Any) -> dict[str, Any]:
    report = found.report
    return {
        "record": "faults", "what": what, "kills": kills, "is_exact": report.is_exact, "tokens": report.tokens,
        "same_bits": _digest(found) == wanted, "rounds": report.rounds, "repeated": report.repeated,
        "went_back": report.went_back, "resumed": len(report.resumed), "seconds": round(seconds, 1), **more,
    }  # fmt: skip


class _Processes:
    """A scheduler and workers, each started again when it has ended, as Kubernetes or systemd would."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._folder, self._over = folder, threading.Event()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self._commands = {
            "scheduler": ["distributed.cli.dask_scheduler", "--port", str(self.port), "--host", "127.0.0.1",
                          "--no-dashboard"],
            **{f"worker {i}": ["distributed.cli.dask_worker", self.address, "--nthreads", "1", "--no-nanny",
                               "--no-dashboard", "--local-directory", str(folder)] for i in range(_WORKERS)},
        }  # fmt: skip
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._watcher = threading.Thread(target=self._watch)

    def _start(self, name: str) -> None:
        command = [sys.executable, "-m", *self._commands[name]]
        with open(self._folder / f"{name}.log", "ab") as log:
            self._running[name] = subprocess.Popen(command, stdout=log, stderr=log)

    def _watch(self) -> None:
        while not self._over.wait(0.5):
            for name in self._commands:
                if name not in self._running or self._running[name].poll() is not None:
                    self._start(name)

    def kill(self, name: str) -> None:
        self._running[name].kill()

    def __enter__(self) -> _Processes:
        for name in self._commands:
            self._start(name)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._watcher.join()
        for process in self._running.values():
            process.kill()
            process.wait()


def kill_schedulers(path: str, kills: int, epochs: int, wanted: str) -> Iterator[dict[str, Any]]:
    """The same with the scheduler; where the call ends with an error, it is made again."""
    from distributed import Client

    draw, done = random.Random(2), 0
    while done < kills:
        with TemporaryDirectory() as folder, _Processes(Path(folder)) as processes:
            over, killed, calls, start = threading.Event(), [0], 0, time.perf_counter()

            def kill(processes: Any = processes, over: Any = over, killed: list[int] = killed,
                     left: int = kills - done) -> None:  # fmt: skip
                while not over.wait(draw.uniform(8.0, 20.0)) and killed[0] < left:
                    processes.kill("scheduler")
                    killed[0] += 1

            killer = threading.Thread(target=kill)
            killer.start()
            try:
                while True:
                    calls += 1
                    try:
                        with Client(processes.address, timeout=60) as client:
                            found = train(client=client, checkpoint=Path(folder) / "run", **_asked(path, epochs))
                        break
                    except OSError as error:
                        print(f"call {calls}: {error}", flush=True)
            finally:
                over.set()
                killer.join()
        done += killed[0]
        yield _row("scheduler", killed[0], found, wanted, time.perf_counter() - start, calls=calls)


def stop_workers(path: str, epochs: int, wanted: str) -> Iterator[dict[str, Any]]:
    """One run in which a worker stops answering without an end, and one in which another joins late."""
    for what in ("silent", "late"):
        with local_cluster(_WORKERS) as client:
            start, stopped = time.perf_counter(), list[int]()

            def later(client: Any = client, what: str = what, stopped: list[int] = stopped) -> None:
                if what == "late":
                    client.cluster.scale(_WORKERS + 1)
                else:
                    stopped.append(min(client.run(os.getpid).values()))
                    os.kill(stopped[0], signal.SIGSTOP)

            timer = threading.Timer(8.0, later)
            timer.start()
            try:
                found = train(client=client, **_asked(path, epochs))
            finally:
                timer.cancel()
                for pid in stopped:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGCONT)
        seconds = time.perf_counter() - start
        yield _row(what, len(stopped), found, wanted, seconds, places=len(found.report.places))


def run(path: str, workers: int, schedulers: int, epochs: int, out: Path) -> None:
    """Append a row for each run."""
    wanted = calm(path, epochs)
    runs = (
        stop_workers(path, epochs, wanted), kill_workers(path, workers, epochs, wanted),
        kill_schedulers(path, schedulers, epochs, wanted),
    )  # fmt: skip
    for rows in runs:
        for row in rows:
            with out.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(row, flush=True)
