"""How a command is declared: its section, its examples, the options that all have, and how its help is laid out."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import Any

import click

from muse.cli.command_names import OTHER_NAMES
from muse.cli.errors import NoCommandError
from muse.cli.kinds import FILE
from muse.cli.output import Output

__all__ = ["MODEL", "OUTPUT", "SECTIONS", "Command", "Group", "Helpful", "Suggesting", "command", "group"]

SECTIONS = ("Make a model", "Ask a model", "Read text with a model", "Judge, change, convert", "This program")
_WIDTH = 100

MODEL = click.argument("model", type=FILE)
OUTPUT = click.argument("output", type=FILE)


class Helpful(click.Command):
    """A command whose help is one screen: what it does, its options by groups, examples."""

    section = SECTIONS[-1]
    examples: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """What it does, in the beginning of its help: up to the first point or colon."""
        return re.split(r"[.:;](?=\s|$)", " ".join((self.help or "").split()), maxsplit=1)[0]

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """A context whose help is as wide as the screen, up to a hundred columns."""
        kwargs.setdefault("max_content_width", _WIDTH)
        kwargs.setdefault("help_option_names", ["-h", "--help"])
        return super().make_context(*args, **kwargs)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Options by groups, the general ones last."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                groups.setdefault(getattr(parameter, "group", "Options"), []).append(record)
        for title, rows in groups.items():
            with formatter.section(title):
                formatter.write_dl(rows)
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


class Command(Helpful):
    """A command of this program."""


class Suggesting(click.Group):
    """A group that answers the name of a command that there is not with the nearest, and none with its help."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the options of the group."""
        if not args and not ctx.resilient_parsing:
            raise NoCommandError("name a command", ctx)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is asked for."""
        known = self.list_commands(ctx)
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            near = difflib.get_close_matches(args[0], [*known, *OTHER_NAMES], n=1)
            hint = f"did you mean {near[0]}?" if near else f"they are {', '.join(known)}"
            raise click.UsageError(f"there is no command {args[0]!r}: {hint}", ctx)
        return super().resolve_command(ctx, args)


class Group(Helpful, Suggesting):
    """A command that has commands."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands, a line each."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.summary) for name, command in found if isinstance(command, Helpful)])


def _read_config(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        from muse.cli.config import defaults_of

        ctx.default_map = {**(ctx.default_map or {}), **defaults_of(value, ctx)}


def _general(answers: bool) -> list[click.Parameter]:
    options: list[click.Parameter] = []
    if answers:
        options.append(click.Option(["--json", "as_json"], is_flag=True, help="Answer as JSON, one object a line."))
    config = click.Option(
        ["--config"], type=FILE, is_eager=True, expose_value=False, callback=_read_config, metavar="FILE",
        help="Take settings from a TOML file; options given here win.",
    )  # fmt: skip
    return [*options, config, click.Option(["--debug"], is_flag=True, expose_value=False, hidden=True)]


def command(
    section: str, *examples: str, answers: bool = True, name: str | None = None
) -> Callable[[Callable[..., None]], Command]:
    """Make a command of a function; its docstring is the help.

    Parameters
    ----------
    section : str
        One of `SECTIONS`.
    *examples : str
        Command lines that the help shows; a test runs them.
    answers : bool
        Whether it answers: the function gets an `Output` first, and there is ``--json``.
    name : str, optional
        What it is called; the name of the function, if not given.
    """

    def make(function: Callable[..., None]) -> Command:
        parameters = list(reversed(getattr(function, "__click_params__", [])))

        def run(**values: Any) -> None:
            if answers:
                function(Output(values.pop("as_json")), **values)
            else:
                function(**values)

        made = Command(
            name or function.__name__, callback=run, help=function.__doc__, params=[*parameters, *_general(answers)]
        )
        made.section, made.examples = section, examples
        return made

    return make


def group(section: str, *examples: str) -> Callable[[Callable[..., None]], Group]:
    """Make a command that has commands of a function; its docstring is the help."""

    def make(function: Callable[..., None]) -> Group:
        made = Group(function.__name__, help=function.__doc__)
        made.section, made.examples = section, examples
        return made

    return make
