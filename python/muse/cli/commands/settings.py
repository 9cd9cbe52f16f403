"""``muse settings``: the settings of a model, and a file to write them into."""

from __future__ import annotations

import textwrap
from typing import Any

import click

from muse.cli.command import command
from muse.cli.output import Output
from muse.cli.settings import RECIPE_NAMES, long_meaning, option_names, recipe_fields, refuse_unknown
from muse.data.settings import constructor_settings


@command(
    "This program",
    "muse settings senses vector_size",
    "muse settings --recipe split",
    "muse settings --toml > muse.toml",
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--recipe", type=click.Choice(list(RECIPE_NAMES)), help="Of this recipe, in place of the model's own.")
@click.option("--toml", is_flag=True, help="As a settings file in which each is a comment, to be uncommented.")
def settings(out: Output, names: tuple[str, ...], recipe: str | None, toml: bool) -> None:
    """Tell the settings of a model: all or some, what each means, its default and what is allowed.

    Each is an option of muse train, with - for _, and a line of the file that --config takes.
    """
    known = constructor_settings()
    fields = {name: known[name] for name in option_names()} if recipe is None else recipe_fields(recipe)
    wanted = [name.lstrip("-").replace("-", "_") for name in names] or list(fields)
    try:
        refuse_unknown(dict.fromkeys(wanted), list(fields), "of the model" if recipe is None else f"of {recipe}")
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if toml:
        print(_as_toml(recipe, {name: fields[name] for name in wanted}), end="")
        return
    for name in wanted:
        item = fields[name]
        default = None if item.metadata.get("by_recipe") else item.default
        out.record({"name": name, "meaning": long_meaning(item), "default": default})
        out.line(name, "bold")
        for line in textwrap.wrap(long_meaning(item), 96):
            out.line(f"    {line}")


def _as_toml(recipe: str | None, fields: dict[str, Any]) -> str:
    told = [] if recipe is None else ["[recipe]", f'name = "{recipe}"']
    if recipe is None:
        told += ["# Settings of `muse train --config`; docs/settings.md.", '#recipe = "trees"']
    for name, item in fields.items():
        told += ["", *textwrap.wrap(long_meaning(item), 100, initial_indent="# ", subsequent_indent="# ")]
        default = item.default if item.default is not None and not item.metadata.get("by_recipe") else None
        told.append(f"#{name} = {_toml_value(default)}")
    return "\n".join(told) + "\n"


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else "" if value is None else str(value)
