"""Settings from a TOML file: settings of the model at its top, the recipe and the commands' own options in tables.

.. code-block:: toml

    vector_size = 100       # any setting of docs/settings.md
    workers = 4

    [recipe]                # or recipe = "split"
    name = "split"
    whitening = 0.5
    context = { window = 10 }

    [tag]                   # options of `muse tag`; those of `muse senses` are in [describe]
    margin = 0.2
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from muse.cli.command_names import OTHER_NAMES
from muse.cli.settings import NOT_ON_THE_COMMAND_LINE, SettingOption, recipe_of, refuse_unknown
from muse.data.names import reject_unknown
from muse.data.settings import Settings, constructor_settings
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
    """Defaults of the options of a command, by the names of its parameters."""
    program = ctx.find_root().command
    assert isinstance(program, click.Group)
    commands = {name for name in program.list_commands(ctx.find_root()) if name not in constructor_settings()}
    tables = {name: value for name, value in table.items() if name in commands or name in OTHER_NAMES}
    _check_top({name: value for name, value in table.items() if name not in tables}, sorted(commands))
    by_command: dict[str, Any] = {}
    for name, value in tables.items():
        command = program.get_command(ctx, name)
        assert command is not None
        by_command[str(command.name)] = _options(value, command, name, ctx)
    own: dict[str, Any] = {
        str(option.name): table[str(option.name)]
        for option in ctx.command.params
        if isinstance(option, SettingOption) and option.name in table
    }
    found: Any = by_command
    for name in _names(ctx):
        found = found.get(name, {})
    return {**own, **found}


def _names(ctx: click.Context) -> list[str]:
    """The names of the command and of the groups that it is in, without the program's."""
    parents = [] if ctx.parent is None else _names(ctx.parent)
    return [*parents, str(ctx.command.name)] if ctx.parent is not None else []


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


def _options(table: Any, command: click.Command, name: str, ctx: click.Context) -> dict[str, Any]:
    """Options of a command, by their long names with ``_``, as values of its parameters."""
    if not isinstance(table, Mapping):
        raise TypeError(f"{name} is a command, so it must be a table of its options; got {table!r:.80}")
    inner = command.list_commands(ctx) if isinstance(command, click.Group) else []
    known = {
        max(option.opts, key=len).lstrip("-").replace("-", "_"): str(option.name)
        for option in command.params
        if isinstance(option, click.Option) and option.expose_value
    }
    refuse_unknown(table, [*known, *inner], f"of muse {name}")
    found: dict[str, Any] = {known[key]: value for key, value in table.items() if key in known}
    for part in inner:
        if part in table and isinstance(command, click.Group):
            command_of_part = command.get_command(ctx, part)
            assert command_of_part is not None
            found[part] = _options(table[part], command_of_part, f"{name} {part}", ctx)
    return found
