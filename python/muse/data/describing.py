"""The table of settings as people read it: for ``help(MUSE)`` and for docs/settings.md.

``python -m muse.data.describing > docs/settings.md`` writes that page.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from muse.data.recipes import RECIPES, Context, Engine, Paper, Recipe, Split
from muse.data.settings import CONSTANT_RATE, constructor_settings
from muse.data.table import declared

__all__ = ["markdown", "meaning_of", "parameters"]

_RECIPE_DOC = (
    "How senses are made: muse.Split(...), the default, or muse.Paper(...); docs/settings.md has their settings."
)


def _type(item: dataclasses.Field[Any]) -> str:
    if item.name == "min_alpha":
        return f'float | Literal["{CONSTANT_RATE}"] | None'
    optional = item.metadata["by_recipe"] and not str(item.type).endswith("| None")
    return str(item.type) + (" | None" if optional else "")


def _default(item: dataclasses.Field[Any]) -> str:
    return repr(None if item.metadata["by_recipe"] else item.default)


def meaning_of(item: dataclasses.Field[Any]) -> str:
    """What a setting of the constructor means, and what None does for those that the recipe decides."""
    doc: str = item.metadata["doc"]
    if not item.metadata.get("by_recipe"):
        return doc
    usual = [CONSTANT_RATE if kind.USUAL[item.name] is None else kind.USUAL[item.name] for kind in RECIPES]
    others = "".join(f", or {value!r} with {kind.__name__}" for kind, value in zip(RECIPES[1:], usual[1:], strict=True))
    return f"{doc} None: {usual[0]!r}{others}."


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
    tables = [
        "# Settings",
        (
            "Made from the table in the code by `python -m muse.data.describing > docs/settings.md`; a test compares "
            "them. To set one of each kind: `MUSE(sentences, vector_size=100, recipe=Split(whitening=0.5, "
            "context=Context(window=10), engine=Engine(batch_tokens=1024)))`."
        ),
        "## `MUSE(...)`",
        _table([*constructor, ("recipe", "None", _RECIPE_DOC)]),
        "## `Split(...)`: words first, then senses; the default",
        _table([*_rows(Split), ("context", "Context()", "See below."), ("engine", "Engine()", "See below.")]),
        "## `Paper(...)`: the method of Lee & Chen (2017)",
        "With it, `MUSE(...)` means the paper's values where they are left at None: "
        + ", ".join(f"`{name}` {value!r}" for name, value in _paper_usual().items()) + ".",
        _table([*_rows(Paper), ("context", f"Context({_changes(Paper().context)})", "See below."),
                ("engine", f"Engine({_changes(Paper().engine)})", "See below.")]),
        "## `Context(...)`: what the selection module sees",
        _table(_rows(Context)),
        "## `Engine(...)`: how the arithmetic is arranged; for experts",
        _table(_rows(Engine)),
    ]  # fmt: skip
    return "\n\n".join(tables) + "\n"


def _paper_usual() -> dict[str, Any]:
    return {name: CONSTANT_RATE if value is None else value for name, value in Paper.USUAL.items()}


def _rows(owner: type[Any]) -> list[tuple[str, str, str]]:
    own = [name for name in declared(owner) if not (issubclass(owner, Recipe) and name in declared(Recipe))]
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


if __name__ == "__main__":
    print(markdown(), end="")
