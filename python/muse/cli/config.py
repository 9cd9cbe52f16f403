"""Settings from a TOML file: settings of the model at its top, the recipe and the commands' own options in tables.

.. code-block:: toml

    vector_size = 100       # any setting of docs/settings.md
    workers = 4

    [recipe]                # or recipe = "split"
    name = "split"
    whitening = 0.5
    context = { window = 10 }

    [tag]                   # options of `muse tag`
    margin = 0.2
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from muse.cli.settings import NOT_ON_THE_COMMAND_LINE, SettingOption, recipe_of, refuse_unknown
from muse.data.names import reject_unknown
from muse.data.settings import Settings
from muse.files.lines import shown

__all__ = ["defaults_of"]


def defaults_of(path: str, ctx: click.Context) -> dict[str, Any]:
    """What a settings file says of the options of the command that `ctx` is of.

    Raises
    ------
    FileNotFoundError, OSError
        If the file cannot be read.
    click.UsageError
        If it is no TOML, or holds a name that there is not; the message tells the nearest.
    """
    text = Path(path).read_bytes()
    try:
        table = tomllib.loads(text.decode("utf-8"))
        return _checked(table, ctx)
    except (ValueError, TypeError, RecursionError) as error:
        raise click.UsageError(f"{shown(path)}: {error}", ctx) from error


def _checked(table: Mapping[str, Any], ctx: click.Context) -> dict[str, Any]:
    program = ctx.find_root().command
    assert isinstance(program, click.Group)
    commands = program.list_commands(ctx.find_root())
    top = {name: value for name, value in table.items() if name not in commands}
    _check_top(top, commands)
    for name in table.keys() & commands:
        _check_options(table[name], program, name, ctx)
    names = ctx.command_path.split()[1:]
    own: Any = table
    for name in names:
        own = own.get(name, {}) if isinstance(own, Mapping) else {}
    settings = {option.name for option in ctx.command.params if isinstance(option, SettingOption)}
    return {**{name: value for name, value in top.items() if name in settings}, **own}


def _check_top(top: Mapping[str, Any], commands: list[str]) -> None:
    """Settings of the model."""
    for name in top.keys() & NOT_ON_THE_COMMAND_LINE:
        raise ValueError(f"{name!r} can be given in Python alone")
    homes = Settings.homes()
    for name, value in top.items():
        if name == "recipe":
            continue
        if (home := homes.get(name)) is not None:
            part = f".{home.owner.lower()}" if home.owner in ("Context", "Engine") else ""
            raise ValueError(f"{name!r} is a setting of the recipe: it is {home.name} in the table [recipe{part}]")
        if isinstance(value, Mapping) and name != "senses":
            near = difflib.get_close_matches(name, commands, n=1)
            hint = f"did you mean [{near[0]}]?" if near else f"they are {', '.join(commands)}"
            raise ValueError(f"[{name}] is no command: {hint}")
        reject_unknown({name: value}, {known: homes[known] for known in homes if known not in NOT_ON_THE_COMMAND_LINE})
    Settings.of(**{**top, **({"recipe": recipe_of(top["recipe"])} if "recipe" in top else {})})


def _check_options(table: Any, group: click.Group, name: str, ctx: click.Context) -> None:
    """Options of a command, by their long names with ``_``."""
    if not isinstance(table, Mapping):
        raise TypeError(f"{name} is a command, so it must be a table of its options; got {table!r:.80}")
    command = group.get_command(ctx, name)
    assert command is not None
    inner = command.list_commands(ctx) if isinstance(command, click.Group) else []
    known = [
        str(option.name)
        for option in command.params
        if isinstance(option, click.Option) and option.expose_value and option.name != "help"
    ]
    refuse_unknown(table, [*known, *inner], f"of muse {name}")
    for part in inner:
        if part in table and isinstance(command, click.Group):
            _check_options(table[part], command, part, ctx)
