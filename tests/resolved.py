"""Arguments of MUSE for settings under their resolved names: tests vary one value, wherever users give it."""

from __future__ import annotations

from typing import Any

from muse import Settings


def arguments(**values: Any) -> dict[str, Any]:
    """What MUSE must be given for these settings (names as in `muse.Settings`) and the package's values of all others.

    ``init="random"`` is the recipe Paper with everything but the start as the package has it.
    """
    settings = Settings(**values)
    given = settings.arguments()
    named = {name: given[name] for name in values if name in given}
    usual = settings.recipe.USUAL if settings.init != "split" else {}
    return {**{name: given[name] for name in usual}, **named, "recipe": given["recipe"]}
