"""Processes to do harm to, forked so that hundreds of tries cost no imports."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

HANG_SECONDS = 120.0  # on a busy machine; what takes longer is a hang


class Failure(AssertionError):
    """What must not happen has happened."""


def require(holds: object, what: str) -> None:
    if not holds:
        raise Failure(what)


class Child:
    """A forked process that runs `work`, whose result says how it ended: by its number, or by a signal below zero."""

    def __init__(self, work: Callable[[], int | None]) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self._read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._read)
            _be_child(work, write)
        os.close(write)
        self._ended: int | None = None

    def send(self, number: int) -> None:
        os.kill(self.pid, number)

    def running(self) -> bool:
        return self._poll() is None

    def wait(self, seconds: float = HANG_SECONDS) -> int:
        """How it ended; a Failure after too long a time."""
        deadline = time.monotonic() + seconds
        while self._poll() is None:
            if time.monotonic() > deadline:
                self.send(signal.SIGKILL)
                os.waitpid(self.pid, 0)
                self._ended = -signal.SIGKILL
                raise Failure(f"a hang: the process had not ended after {seconds:g} s")
            time.sleep(0.001)
        assert self._ended is not None
        return self._ended

    def said(self) -> str:
        """What it wrote to standard output and standard error; call it when the process has ended."""
        with os.fdopen(self._read, errors="replace") as pipe:
            return pipe.read()

    def _poll(self) -> int | None:
        if self._ended is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._ended = os.waitstatus_to_exitcode(status) if pid else None
        return self._ended


def _be_child(work: Callable[[], int | None], output: int) -> None:
    code = 99
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 (pytest has put others in their place)
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
        code = work() or 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


@contextmanager
def killed_at_the_end(*children: Child) -> Iterator[None]:
    try:
        yield
    finally:
        for child in children:
            if child.running():
                child.send(signal.SIGKILL)
                child.wait()
