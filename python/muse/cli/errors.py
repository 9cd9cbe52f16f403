"""What becomes of errors, warnings and log lines on the command line: one line each, and an exit status."""

from __future__ import annotations

import logging
import os
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import click

from muse.errors import DivergenceError, NotTrainedError, UnknownRowError, UnknownSenseError, UnknownWordError
from muse.files.lines import shown

__all__ = ["BROKEN_PIPE", "DATA", "INTERRUPTED", "USAGE", "NoCommandError", "Reporter", "fault"]

DATA, USAGE, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141
"""Exit statuses: the data are at fault; the command line is; Ctrl-C; nobody reads on."""

_OF_DATA = (
    OSError, ValueError, MemoryError, ImportError, UnknownWordError, UnknownSenseError, UnknownRowError,
    NotTrainedError, DivergenceError,
)  # fmt: skip


# What the library advises in Python, and what that is on the command line.
_ADVICE = (
    (r"muse\.(corpus\.)?\w+\(path, encoding='([\w-]+)'\)", r"--encoding \2"),
    (r"encoding='([\w-]+)'( if .*?), 'auto'", r"--encoding \1\2, --encoding auto"),
    (r"muse\.corpus\.Prose\(path\) splits", "--prose splits"),
    (r"name it with format=", "name it with --from"),
    (r"format='(\w+)'", r"--from \1"),
    (r"; model\.vocabulary\.words lists the words that are", ""),
    (r"; model\.save keeps the whole of a model", ""),
)


class NoCommandError(click.UsageError):
    """A group of commands without one, which its help answers."""

    def format_message(self) -> str:
        """The help of the group."""
        return "" if self.ctx is None else self.ctx.get_help()


class Reporter(logging.Handler):
    """Turns whatever ends a command into its exit `status`, with one line on standard error.

    Parameters
    ----------
    arguments : sequence of str
        The command line, which says what to call the command in messages, and whether to show tracebacks.
    commands : sequence of str
        The commands that there are.
    """

    def __init__(self, arguments: Sequence[str], commands: Sequence[str]) -> None:
        super().__init__(logging.WARNING)
        self.status = 0
        self._name = " ".join(["muse", *[text for text in arguments if text in commands][:1]])
        self._debug = "--debug" in arguments or os.environ.get("MUSE_DEBUG", "") not in ("", "0")
        self._warnings = warnings.catch_warnings()

    def __enter__(self) -> Reporter:
        if sys.stderr is None:  # closed, as by `2>&-`; else the next file that is opened would get its number
            sys.stderr = open(os.devnull, "w")
        self._warnings.__enter__()
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = self._warn
        logging.getLogger("muse").addHandler(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        logging.getLogger("muse").removeHandler(self)
        self._warnings.__exit__(kind, error, trace)
        return error is None or self._ends_with(error)

    def _ends_with(self, error: BaseException) -> bool:
        """Whether an error is one that the command line answers for."""
        if isinstance(error, click.exceptions.Exit):
            self.status = error.exit_code
            return True
        if isinstance(error, BrokenPipeError):  # nobody reads on, as in `muse senses ... | head`
            if sys.stdout is not None:
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self.status = BROKEN_PIPE
            return True
        if isinstance(error, KeyboardInterrupt | click.Abort):
            self._say("interrupted")
            self.status = INTERRUPTED
            return True
        if not isinstance(error, Exception):
            return False
        if self._debug:
            traceback.print_exception(error, file=sys.stderr)
        if isinstance(error, NoCommandError):
            print(error.format_message(), file=sys.stderr)
            self.status = USAGE
        elif isinstance(error, click.UsageError):
            self._say(_one_line(error.format_message()))
            self.status = USAGE
        elif isinstance(error, _OF_DATA):
            self.fault(error)
        else:
            self._say(f"internal fault ({type(error).__name__}: {_one_line(str(error))}); MUSE_DEBUG=1 shows where")
            self.status = DATA
        return True

    def fault(self, error: BaseException) -> str:
        """Say what is wrong with the data, which the exit status will tell; what was said."""
        message = _one_line(_as_options(said(error)))
        self._say(message)
        self.status = DATA
        return message

    def _say(self, message: str) -> None:
        print(f"{self._name}: {message}", file=sys.stderr)

    def _warn(self, message: Warning | str, *_: Any, **__: Any) -> None:
        self._say(f"note: {_one_line(_as_options(str(message)))}")

    def emit(self, record: logging.LogRecord) -> None:
        """Show what the package logs as a warning or an error."""
        self._say(f"note: {_one_line(record.getMessage())}")


def fault(error: BaseException) -> str:
    """Say what is wrong with a part of the data where the command goes on with the rest; its status will be `DATA`.

    Returns
    -------
    str
        What was said.
    """
    reporter = click.get_current_context().find_object(Reporter)
    assert reporter is not None
    return reporter.fault(error)


def said(error: BaseException) -> str:
    """What an error says, with the file that it is about."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        name = error.filename if isinstance(error.filename, int) else shown(error.filename)
        return f"{name}: {error.strerror}"
    return str(error)


def _as_options(text: str) -> str:
    """Advice for Python as advice for a shell."""
    for pattern, replacement in _ADVICE:
        text = re.sub(pattern, replacement, text)
    return text


def _one_line(text: str) -> str:
    return " ".join(text.split("\n"))
