"""The table of settings as people read it: for ``help(MUSE)`` and for docs/settings.md.

``python -c "import muse.data.describing as d; print(d.markdown(), end='')" > docs/settings.md`` writes that page.
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from muse.data.recipes import RECIPES, Context, Engine, Recipe, SenseEpochs
from muse.data.settings import CONSTANT_RATE, constructor_settings
from muse.data.table import declared

__all__ = ["markdown", "meaning_of", "parameters"]

_RECIPE_DOC = (
    "How senses are made: muse.Trees(...), the default, muse.Split(...), which a strategy means, or muse.Paper(...); "
    "docs/settings.md has their settings."
)


def _type(item: dataclasses.Field[Any]) -> str:
    if item.name == "min_alpha":
        return f'float | Literal["{CONSTANT_RATE}"] | None'
    optional = item.metadata["by_recipe"] and not str(item.type).endswith("| None")
    return str(item.type) + (" | None" if optional else "")


def _default(item: dataclasses.Field[Any]) -> str:
    return repr(None if item.metadata["by_recipe"] else item.default)


def meaning_of(item: dataclasses.Field[Any], default: str = "None") -> str:
    """What a setting of the constructor means, and what its `default` does where the recipe decides that."""
    doc: str = item.metadata["doc"]
    if not item.metadata.get("by_recipe"):
        return doc
    usual = [CONSTANT_RATE if kind.USUAL[item.name] is None else kind.USUAL[item.name] for kind in RECIPES]
    others = "".join(f", or {value!r} with {kind.__name__}" for kind, value in zip(RECIPES[1:], usual[1:], strict=True))
    return f"{doc} {default}: {usual[0]!r}{others}."


def parameters() -> str:
    """The settings of the constructor as a numpy-style list of parameters, the recipe last."""
    listed = [
        f"{name} : {_type(item)}, default {_default(item)}\n    {meaning_of(item)}"
        for name, item in constructor_settings().items()
    ]
    return "\n".join([*listed, f"recipe : Recipe | None, default None\n    {_RECIPE_DOC}"])


def markdown() -> str:
    """docs/settings.md."""
    constructor = [(name, _default(item), meaning_of(item)) for name, item in constructor_settings().items()]
    parts = [
        "# Settings",
        (
            "Made from the declarations in the code by `muse.data.describing.markdown`; a test compares them. To set "
            "one of each kind: `MUSE(sentences, vector_size=100, recipe=Split(whitening=0.5, "
            "context=Context(window=10), engine=Engine(batch_tokens=1024)))`."
        ),
        "## `MUSE(...)`",
        _table([*constructor, ("recipe", "None", _RECIPE_DOC)]),
    ]
    for kind in RECIPES:
        parts += [_heading(kind), *_usual(kind), _table([*_rows(kind), *_parts(kind())])]
    for owner in (Context, Engine):
        parts += [_heading(owner), _table(_rows(owner))]
    return "\n\n".join(parts) + "\n"


def _heading(owner: type[Any]) -> str:
    return f"## `{owner.__name__}(...)`\n\n{inspect.cleandoc(owner.__doc__ or '').splitlines()[0]}"


def _usual(kind: type[Recipe]) -> list[str]:
    """What it makes of the constructor's settings, said for all recipes but the default."""
    if kind is RECIPES[0]:
        return []
    usual = (f"`{name}` {CONSTANT_RATE if value is None else value!r}" for name, value in kind.USUAL.items())
    return [f"With it, what is left at None in `MUSE(...)` is: {', '.join(usual)}."]


def _parts(recipe: Recipe) -> list[tuple[str, str, str]]:
    parts = [getattr(recipe, name) for name in ("context", "engine") if hasattr(recipe, name)]
    return [(type(part).__name__.lower(), f"{type(part).__name__}({_changes(part)})", "See below.") for part in parts]


def _rows(owner: type[Any]) -> list[tuple[str, str, str]]:
    own = [name for name in declared(owner) if not (issubclass(owner, Recipe) and name in declared(SenseEpochs))]
    items = declared(owner)
    return [(name, repr(items[name].default), items[name].metadata["doc"]) for name in dict.fromkeys((*own, *items))]


def _changes(part: Context | Engine) -> str:
    """The settings of a part of a recipe that are not its defaults."""
    items = declared(type(part)).items()
    values = {name: getattr(part, name) for name, item in items if getattr(part, name) != item.default}
    return ", ".join(f"{name}={value!r}" for name, value in values.items())


def _table(rows: list[tuple[str, str, str]]) -> str:
    lines = [f"| `{name}` | `{default}` | {doc} |" for name, default, doc in rows]
    return "\n".join(["| setting | default | meaning |", "| --- | --- | --- |", *lines])
