"""Options that are settings of a model, with the names, checks, defaults and meanings of the table of settings."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from muse.base import cuda
from muse.base.checks import Choice
from muse.cli.kinds import Value
from muse.data.describing import meaning_of
from muse.data.recipe_parts import Context, Engine
from muse.data.recipes import RECIPES, Recipe
from muse.data.settings import Settings, constructor_settings
from muse.data.table import declared

__all__ = [
    "NOT_ON_THE_COMMAND_LINE",
    "RECIPE_NAMES",
    "SettingOption",
    "given_settings",
    "long_meaning",
    "option_names",
    "recipe_fields",
    "recipe_of",
    "refuse_unknown",
    "settings_options",
]

NOT_ON_THE_COMMAND_LINE = ("trim_rule", "callbacks", "progress")  # functions, objects, and what a terminal decides
RECIPE_NAMES = {kind.__name__.lower(): kind for kind in RECIPES}
_PARTS = {"context": Context, "engine": Engine}
_GROUP = "Settings of the model (muse settings tells all of them, and what they mean)"


def option_names() -> list[str]:
    """The settings of the constructor that can be given here; the recipe is one more."""
    return [name for name in constructor_settings() if name not in NOT_ON_THE_COMMAND_LINE]


class SettingOption(click.Option):
    """An option that is a setting; a settings file gives it at the top."""

    group = _GROUP


def settings_options(
    shown: Sequence[str], own: Mapping[str, str] | None = None, *, all_of_them: bool = True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Options for the settings: those that are `shown` in the help with a short meaning, the others hidden.

    Parameters
    ----------
    shown : sequence of str
        Their names.
    own : mapping of str to str, optional
        Defaults of this command, as words.
    all_of_them : bool
        Whether there are the others.
    """
    fields = constructor_settings()

    def add(function: Callable[..., None]) -> Callable[..., None]:
        made = [_option(fields[name], name in shown, (own or {}).get(name)) for name in _ordered(shown, all_of_them)]
        if all_of_them:
            made.append(
                SettingOption(
                    ["--recipe"],
                    type=Value(),
                    metavar="|".join(RECIPE_NAMES),
                    help="How senses are made.  [trees]",
                )
            )
        function.__click_params__ = [*reversed(made), *getattr(function, "__click_params__", [])]  # type: ignore[attr-defined]
        return function

    return add


def _ordered(shown: Sequence[str], all_of_them: bool) -> list[str]:
    rest = [name for name in option_names() if name not in shown] if all_of_them else []
    return [*shown, *rest]


def _option(item: dataclasses.Field[Any], shown: bool, own: str | None) -> SettingOption:
    known = item.metadata
    meaning = known["doc"].split(";")[0].split(". ")[0].split("; ")[0].rstrip(".")
    usual = _default(item) if own is None else own
    check, kind = known["check"], str(item.type)
    metavar = "N" if kind.startswith("int") else "FOLDER" if "PathLike" in kind else "X"
    if isinstance(check, Choice):
        metavar = "|".join(check.allowed) if len("|".join(check.allowed)) < 30 else "NAME"
    return SettingOption(
        ["--" + item.name.replace("_", "-")], type=Value(), metavar=metavar, hidden=not shown,
        help=f"{meaning}." + (f"  [{usual}]" if usual else ""),
    )  # fmt: skip


def _default(item: dataclasses.Field[Any]) -> str:
    if item.metadata.get("by_recipe"):
        return str(RECIPES[0].USUAL[item.name])
    return "" if item.default is None else str(item.default)


def long_meaning(item: dataclasses.Field[Any]) -> str:
    """What a setting means, with its default and what is allowed."""
    known, check = item.metadata, item.metadata["check"]
    text = meaning_of(item, "Default") if known.get("by_recipe") else known["doc"]
    if isinstance(check, Choice):
        text += f" One of {', '.join(check.allowed)}."
    if item.default is not None and not known.get("by_recipe"):  # else the meaning says what None does
        text += f" Default: {item.default}."
    return str(text)


def given_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings among a command's options that were given, checked; a usage error says what is wrong."""
    names = [*option_names(), "recipe"]
    given = {name: value for name, value in values.items() if name in names and value is not None}
    try:
        if "recipe" in given:
            given["recipe"] = recipe_of(given["recipe"])
        Settings.of(**given)
    except (TypeError, ValueError) as error:
        raise click.UsageError(str(error), click.get_current_context(silent=True)) from error
    if given.get("device") == "cuda" and (reason := cuda.missing()):
        raise click.UsageError(f"--device cuda is not available: {reason}; use --device cpu or --device auto")
    return given


def recipe_of(value: Any) -> Recipe:
    """The recipe of a name, or of a table such as ``{"name": "split", "whitening": 0.5, "context": {"window": 10}}``.

    Raises
    ------
    TypeError, ValueError
        For a name or a setting that there is not, with the nearest, and for values that the recipe refuses.

    Examples
    --------
    >>> recipe_of({"name": "split", "whitening": 0.5, "context": {"window": 10}}).context.window
    10
    """
    table = {"name": value} if isinstance(value, str) else value
    if not isinstance(table, Mapping) or not isinstance(table.get("name"), str):
        raise TypeError(f"recipe must be a name, or a table with a name; got {value!r:.80}")
    kind = RECIPE_NAMES.get(table["name"].lower())
    if kind is None:
        raise ValueError(f"recipe must be one of {', '.join(map(repr, RECIPE_NAMES))}; got {table['name']!r:.80}")
    given: dict[str, Any] = {name: item for name, item in table.items() if name != "name"}
    parts = {name: part for name, part in _PARTS.items() if name in {f.name for f in dataclasses.fields(kind)}}
    refuse_unknown(given, [*declared(kind), *parts], f"of the recipe {table['name']}")
    usual = kind()
    for name in parts.keys() & given.keys():
        if not isinstance(given[name], Mapping):
            raise TypeError(
                f"{name} must be a table of the settings of {parts[name].__name__}; got {given[name]!r:.80}"
            )
        refuse_unknown(given[name], list(declared(parts[name])), f"of {name}")
        given[name] = dataclasses.replace(getattr(usual, name), **given[name])
    return kind(**given)


def recipe_fields(name: str) -> dict[str, dataclasses.Field[Any]]:
    """The settings of a recipe, but for those of its parts."""
    kind = RECIPE_NAMES[name]
    return {**declared(kind)}


def refuse_unknown(given: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    """Raise a ValueError for a name that there is not, with the nearest one."""
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known) or 'none'}"
            raise ValueError(f"{name!r} is not a setting {where}; {hint}")
