"""Ctrl-C that waits while numbers and the note of where they stand are not in step."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

__all__ = ["HeldInterrupts"]


class HeldInterrupts:
    """A block in which Ctrl-C is noted, to be raised at its end or by `let_through`; one that raises is left as it is.

    In other threads than the main one, which get no Ctrl-C, and where Ctrl-C is ignored, it does nothing.
    """

    def __init__(self) -> None:
        self._handler: Any = None
        self._noted: tuple[int, FrameType | None] | None = None

    def __enter__(self) -> Self:
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler) and threading.current_thread() is threading.main_thread():
            self._handler = handler
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
        if kind is None:
            self.let_through()

    def let_through(self) -> None:
        """Do now what a Ctrl-C that came in the meantime does, which is to raise KeyboardInterrupt."""
        noted, self._noted = self._noted, None
        if noted is not None:
            self._handler(*noted)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._noted = number, frame
