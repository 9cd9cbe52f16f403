"""`main`, which the program ``muse`` calls: the commands by name, and what their errors become."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence
from typing import Any

import click
from click.shell_completion import shell_complete

from muse._core import __version__
from muse.cli import commands
from muse.cli.command import SECTIONS, Helpful, Suggesting
from muse.cli.command_names import COMPLETION, OTHER_NAMES
from muse.cli.errors import Reporter

__all__ = ["Commands", "main", "program"]


class Commands(Helpful, Suggesting):
    """The commands, each in a module of its own that is imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands."""
        return [found.name for found in pkgutil.iter_modules(commands.__path__)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or of another name of it."""
        name = OTHER_NAMES.get(cmd_name, cmd_name)
        if name not in self.list_commands(ctx):
            return None
        found: click.Command = getattr(importlib.import_module(f"{commands.__name__}.{name}"), name)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by what they are for."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        width = max(len(name) for name, _ in found)
        for section in SECTIONS:
            rows = [
                (f"{name:<{width}}", command.summary if isinstance(command, Helpful) else command.get_short_help_str())
                for name, command in found
                if command is not None and getattr(command, "section", SECTIONS[-1]) == section
            ]
            if rows:
                with formatter.section(section):
                    formatter.write_dl(rows)


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        print(f"muse {__version__}")
        ctx.exit()


program = Commands(
    "muse",
    help="Senses of words from plain text: several vectors a word, and which of them a context means.",
    epilog="MODEL is a file that `muse train` wrote; - is standard input or output. More: docs.",
    no_args_is_help=False,
    params=[
        click.Option(["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_print_version,
                     help="Show the version and exit."),
        click.Option(["--debug"], is_flag=True, expose_value=False, hidden=True,
                     help="Show where in the program a fault arose."),
    ],
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Arguments without the program's name; by default those of the process.

    Returns
    -------
    int
        The exit status: 0; 1 where the data are at fault and 2 where the command line is, with a message on standard
        error; 130 after Ctrl-C; 141 where nobody reads on, without a message.

    Examples
    --------
    >>> main(["train"])
    2
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    with Reporter(given, [*program.list_commands(click.Context(program)), *OTHER_NAMES]) as reporter:
        if (status := _complete()) is not None:
            return status
        with program.make_context("muse", given, obj=reporter) as context:
            program.invoke(context)
        print(end="", flush=True)
    return reporter.status


def _complete() -> int | None:
    """Answer a shell that asks how a line can go on, or writes what makes it ask."""
    instruction = os.environ.get(COMPLETION)
    arguments: dict[str, Any] = {}
    return shell_complete(program, arguments, "muse", COMPLETION, instruction) if instruction else None
