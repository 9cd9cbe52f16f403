"""How a setting is declared: its default, its check and its meaning stand together, once, where its home is.

`muse.data.recipes` declares the settings of the recipes, `muse.data.settings` all others. From these declarations come
the checks, ``help(MUSE)``, docs/settings.md, the options of the command line and those of the core; tests compare the
signature of `muse.MUSE` and the stub of the core with them.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from muse.base.checks import Check

__all__ = ["Home", "check_fields", "declared", "setting", "taken"]


@dataclass(frozen=True)
class Home:
    """Where users give a setting: a class (``"Split"``, ``"Context"``, ...) and its name there."""

    owner: str
    name: str


def setting(
    default: Any,
    check: Check,
    doc: str,
    *,
    runtime: bool = False,
    by_recipe: bool = False,
    core: str = "",
    enum: str = "",
) -> Any:
    """A field of a dataclass that is a setting.

    Parameters
    ----------
    default
        Its value where none is given.
    check : callable
        One of `muse.base.checks`: the value as it is kept, or an error that says what is allowed.
    doc : str
        What it means, for help and docs.
    runtime : bool
        It says only how to run, and is not stored with a model.
    by_recipe : bool
        The constructor's default is None: the recipe says what is usual, see `Recipe.USUAL`.
    core, enum : str
        The attribute of ``_core.Options`` that takes it as it is, and the enumeration of `_core` whose member it names.
    """
    known = {"check": check, "doc": doc, "runtime": runtime, "by_recipe": by_recipe, "core": core, "enum": enum}
    return field(default=default, metadata=known)


def taken(owner: type[Any], name: str) -> Any:
    """The same setting in the flat table; `owner` is where users give it."""
    found = declared(owner)[name]
    return field(default=found.default, metadata={**found.metadata, "home": Home(owner.__name__, name)})


def declared(owner: type[Any]) -> dict[str, dataclasses.Field[Any]]:
    """The settings that a class declares, by name."""
    return {item.name: item for item in dataclasses.fields(owner) if "check" in item.metadata}


def check_fields(instance: Any, prefix: str = "") -> None:
    """Check all settings of a frozen dataclass, and keep them as the checks return them."""
    for name, item in declared(type(instance)).items():
        object.__setattr__(instance, name, item.metadata["check"](prefix + name, getattr(instance, name)))
