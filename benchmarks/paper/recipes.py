"""The settings under which the paper's strategies are compared.

``paper``
    `MUSE.paper_defaults()`: everything as in the paper, random vectors at the start; only the dimension and the number
    of epochs follow the scale of the experiment. The policy's reward is log L̄, with the negatives, as in the paper's
    equation 5 and appendix A; the value strategies' is L̂.
``start``
    The paper's selection learning (strategy, reward, its update of P and Q) on this package's defaults for all else:
    senses that start from clustered contexts, fixed P, all collocates, averaged and weighted contexts.
``default``
    This package as it comes, for comparison; the strategy is its own.
``word``
    One vector a word, with the package's defaults: what senses must beat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from muse import MUSE, Settings, Split
from muse.data.settings import constructor_settings

__all__ = ["RECIPES", "STRATEGIES", "Scale", "grid", "recipe", "title"]

STRATEGIES = ("policy", "smooth_policy", "greedy", "eps_greedy", "boltzmann")
RECIPES = ("paper", "start")


@dataclass(frozen=True)
class Scale:
    """How large an experiment is."""

    vector_size: int
    negative: int
    epochs: int
    seeds: int

    @classmethod
    def of(cls, full: bool, **changes: int | None) -> Scale:
        """The paper's dimensions, or ones for minutes on ten million tokens, with the `changes` that are given."""
        scale = cls(300, 25, 3, 3) if full else cls(100, 5, 5, 1)
        return replace(scale, **{name: value for name, value in changes.items() if value is not None})


def recipe(name: str, strategy: str | None, scale: Scale, *, seed: int = 1, **changes: Any) -> dict[str, Any]:
    """Settings for `MUSE`.

    Parameters
    ----------
    name : {"paper", "start", "default", "word"}
        See the head of this module.
    strategy : str, optional
        One of `STRATEGIES`, for the first two.
    scale : Scale
        Dimension, negatives and epochs.
    seed : int
        Of the model.
    **changes
        Any setting, by its resolved name (those of `muse.Settings`), in place of the recipe's.
    """
    size: dict[str, Any] = {
        "vector_size": scale.vector_size,
        "negative": scale.negative,
        "epochs": scale.epochs,
        "seed": seed,
    }
    own: dict[str, Any] = {}
    if name == "paper":
        paper = MUSE.paper_defaults(strategy or "eps_greedy")
        size = {**paper, **size, "negative": paper["negative"]}
    elif name == "start":
        own = {"strategy": strategy, "recipe": Split(selection_update="paper")}
    elif name == "word":
        own = {"senses": 1}
    elif name != "default":
        raise ValueError(f"there is no recipe {name!r}")
    found = {**size, **own}
    of_recipe = {name: value for name, value in changes.items() if name not in constructor_settings()}
    if of_recipe:
        found["recipe"] = Settings.of(**found).replace(**of_recipe).recipe
    return {**found, **{name: value for name, value in changes.items() if name not in of_recipe}}


def title(name: str, strategy: str | None = None) -> str:
    """How a recipe is called in tables."""
    names = {
        "paper": "paper's recipe",
        "start": "package's start",
        "default": "package's defaults",
        "word": "one vector",
    }
    found = names.get(name, "one vector a word")
    return found if strategy is None else f"{strategy}, {found}"


def grid(strategies: Sequence[str] = STRATEGIES, recipes: Sequence[str] = RECIPES) -> list[tuple[str, str | None]]:
    """(recipe, strategy) of all models of a comparison, the package's own and one vector a word last."""
    return [*((name, strategy) for name in recipes for strategy in strategies), ("default", None), ("word", None)]
