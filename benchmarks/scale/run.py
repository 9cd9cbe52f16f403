"""One training in a process of its own that says how it goes as JSON lines; it may be killed halfway and resumed."""

from __future__ import annotations

import json
import logging
import signal
import subprocess
import sys
import threading
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import common
from muse import MUSE
from muse.training.checkpoints import CHECKPOINT_NAME

__all__ = ["Log", "measure", "read_log", "train"]

_EVERY = 5.0  # seconds between two lines about how far a part is, if a job does not say


class Log:
    """A file of JSON lines, each with the seconds since the process began and the memory that it takes."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")
        self._began = time.perf_counter()
        self._lock = threading.Lock()
        self._most = 0.0
        self._ended = threading.Event()
        self._watch = threading.Thread(target=self._watch_memory, daemon=True)
        self._watch.start()

    def write(self, event: str, **facts: Any) -> None:
        """A line, on disk at once: what follows may be a kill."""
        line = {"event": event, "seconds": time.perf_counter() - self._began, "cpu_seconds": time.process_time(),
                "memory_mb": own_memory_mb(), "most_mb": self._most, **facts}  # fmt: skip
        with self._lock:
            self._file.write(json.dumps(common.plain(line)) + "\n")
            self._file.flush()

    def close(self) -> None:
        """No more lines."""
        self._ended.set()
        self._watch.join()
        self._file.close()

    def _watch_memory(self) -> None:
        while not self._ended.wait(0.1):
            self._most = max(self._most, own_memory_mb())


def own_memory_mb() -> float:
    """Memory of this process that is not a file's, in MB of 10^6 bytes; all that it ever took, where unknown."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return common.peak_memory_mb()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon:", "RssShmem:"))) * 1024 / 1e6


def _stand_in_for_tqdm(log: Log, every: float) -> types.ModuleType:
    """A module whose bars write lines: muse takes its bars from `tqdm`."""

    class _Bar:
        def __init__(self, total: float, desc: str, initial: float = 0, **_: Any) -> None:
            self.n, self._total, self._desc, self._told = float(initial), total, desc, time.perf_counter()
            self._tell("begin")

        def update(self, n: float = 1) -> None:
            self.n += n
            if time.perf_counter() - self._told >= every:
                self._tell("progress")

        def set_postfix_str(self, s: str = "") -> None:
            pass

        def __enter__(self) -> _Bar:
            return self

        def __exit__(self, *_: object) -> None:
            self._tell("end")

        def _tell(self, event: str) -> None:
            self._told = time.perf_counter()
            log.write(event, part=self._desc, done=self.n, total=self._total)

    module = types.ModuleType("tqdm")
    module.tqdm = _Bar  # type: ignore[attr-defined]
    return module


class _LogLines(logging.Handler):
    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.write("log", text=record.getMessage())


def train(job: dict[str, Any]) -> None:
    """In the process that may be killed: train, or go on from the checkpoint if there is one."""
    log = Log(Path(job["log"]))
    sys.modules["tqdm"] = _stand_in_for_tqdm(log, job.get("tell_every", _EVERY))
    logger = logging.getLogger("muse")
    logger.setLevel(logging.INFO)
    logger.addHandler(handler := _LogLines(log))
    checkpoint = Path(job["checkpoints"]) / CHECKPOINT_NAME
    if job["resume"]:
        log.write("resume", part="loading")
        not_kept = {name: job["settings"][name] for name in ("workers", "max_ram") if name in job["settings"]}
        model = MUSE.load(checkpoint, progress=True, checkpoint_dir=job["checkpoints"], checkpoint_every=job["every"],
                          **not_kept)  # fmt: skip
        log.write("loaded")
        model.train(corpus_file=job["corpus"], resume=True)
    else:
        log.write("start")
        model = MUSE(**job["settings"], progress=True, checkpoint_dir=job["checkpoints"], checkpoint_every=job["every"])
        model.build_vocab(corpus_file=job["corpus"])
        log.write("vocabulary", words=len(model), estimate=model.estimate_memory())
        model.train()
    log.write("done", words=len(model), senses=model.arrays.n_senses, estimate=model.estimate_memory(),
              history=model.history)  # fmt: skip
    logger.removeHandler(handler)
    log.close()


def read_log(path: Path) -> Iterator[dict[str, Any]]:
    """Its lines; one that a kill has cut is left out."""
    if not path.exists():
        return
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.endswith("\n"):
                yield json.loads(line)


def measure(job: dict[str, Any], kill_at: float | None) -> list[dict[str, Any]]:
    """Train in a process of its own, and once more from the checkpoint if it is to be killed; the lines of both.

    Parameters
    ----------
    job : dict
        ``corpus``, ``settings``, ``every`` (tokens between two checkpoints), ``log`` and ``checkpoints``.
    kill_at : float or None
        The share of the training after which the process is killed; None: it is not.
    """
    path = Path(job["log"])
    if not Path(job["corpus"]).is_file():
        raise FileNotFoundError(f"no such text: {job['corpus']}")
    path.unlink(missing_ok=True)
    (Path(job["checkpoints"]) / CHECKPOINT_NAME).unlink(missing_ok=True)
    child = _start({**job, "resume": False})
    killed = kill_at is not None and _kill_when(child, path, Path(job["checkpoints"]) / CHECKPOINT_NAME, kill_at)
    if child.wait() != 0 and not killed:
        raise ChildProcessError(f"training ended with status {child.returncode}; {path} says how far it came")
    if killed and _start({**job, "resume": True}).wait() != 0:
        raise ChildProcessError(f"the resumed training failed; {path} says how far it came")
    return list(read_log(path))


def _start(job: dict[str, Any]) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "benchmarks.scale", "train", json.dumps(job)], cwd=common.ROOT)


def _kill_when(child: subprocess.Popen[bytes], path: Path, checkpoint: Path, share: float) -> bool:
    """Wait until so much of the training is done and a checkpoint is there, and kill it. Whether it was still there."""
    while child.poll() is None:
        last = [line for line in read_log(path) if line.get("part") == "training"][-1:]
        if last and last[0]["done"] >= share * last[0]["total"] and checkpoint.exists():
            child.send_signal(signal.SIGKILL)
            return child.wait() == -signal.SIGKILL
        time.sleep(0.2)
    return False
