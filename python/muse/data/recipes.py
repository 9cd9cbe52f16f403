"""Recipes: how training makes senses. `Trees` is the default, `Paper` the method of Lee & Chen (2017).

To add a recipe, write a subclass of `Recipe` here, put it into `RECIPES`, and give each setting of its own a line in
`muse.data.settings.Settings`, which is what training reads; help, docs and command line follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from muse.base.checks import Check, Choice, flag, forms_of_words, integer, number, optional
from muse.data.recipe_parts import Context, Engine
from muse.data.table import check_fields, declared, setting

__all__ = [
    "POLICIES",
    "RECIPES",
    "Context",
    "Engine",
    "Paper",
    "Recipe",
    "SenseEpochs",
    "Split",
    "StrategyName",
    "Trees",
    "given_recipe",
]

StrategyName = Literal["greedy", "eps_greedy", "boltzmann", "policy", "smooth_policy"]
STRATEGY: Check = Choice("greedy", "eps_greedy", "boltzmann", "policy", "smooth_policy")
POLICIES = ("policy", "smooth_policy")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What all recipes have; make one of its subclasses.

    Attributes
    ----------
    START : str
        How training starts: the setting `init` of the resolved settings.
    USUAL : mapping
        What the constructor's settings mean that are left at None for the recipe to choose.
    APART : mapping
        Resolved settings that mean nothing in the recipe, with the values that are stored.
    """

    START: ClassVar[str]
    USUAL: ClassVar[Mapping[str, Any]]
    APART: ClassVar[Mapping[str, Any]] = {}

    collocates: Literal["one", "all"] = setting(
        "all", Choice("one", "all"), "Collocates of a target: one drawn at random, or all.",
        core="collocates", enum="Collocates",
    )  # fmt: skip
    initial_scale: float = setting(0.1, number(0, 100, above=True), "Length of the initial sense vectors.")
    engine: Engine = field(default=Engine())

    def __post_init__(self) -> None:
        if type(self) in (Recipe, SenseEpochs):
            raise TypeError(f"{type(self).__name__} is what recipes have in common; give {_recipes_in_words()}")
        self._check_part("engine", Engine)
        check_fields(self)

    def _check_part(self, name: str, kind: type[Context | Engine]) -> None:
        if not isinstance(getattr(self, name), kind):
            raise TypeError(
                f"{name} must be a muse.{kind.__name__}, such as {kind.__name__}(); got {getattr(self, name)!r:.60}"
            )

    def chosen_strategy(self, given: str | None) -> str:
        """The strategy, which the constructor may say."""
        usual: str = self.USUAL["strategy"]
        return usual if given is None else given

    def values(self, strategy: str | None = None) -> dict[str, Any]:
        """The recipe's part of the resolved settings, by their flat names; `strategy` is the constructor's, if any."""
        own = {name: getattr(self, name) for name in declared(type(self))}
        return {
            **self.APART,
            **own,
            **{name: getattr(self.engine, name) for name in declared(Engine)},
            "init": self.START,
            "strategy": self.chosen_strategy(strategy),
        }

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> Recipe:
        """The recipe of which `values` are those; other settings among them are left alone."""
        return cls(**cls._parts_of(values))

    @classmethod
    def _parts_of(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        own = {name: values[name] for name in declared(cls) if name in values}
        return {**own, "engine": Engine(**{name: values[name] for name in declared(Engine)})}


@dataclass(frozen=True, kw_only=True)
class SenseEpochs(Recipe):
    """What recipes have that train senses; make one of its subclasses."""

    selection_update: Literal["paper", "posterior", "none"] | None = setting(
        None, optional(Choice("paper", "posterior", "none")),
        "How the selection module learns: the paper's way, by comparing a word's senses on the same evidence, or not. "
        "None: 'posterior', or 'paper' where strategy or formulation exclude it.",
        core="selection_update", enum="SelectionUpdate",
    )  # fmt: skip
    formulation: Literal["one_sided", "two_sided", "factorized"] = setting(
        "one_sided", Choice("one_sided", "two_sided", "factorized"),
        "With selection_update='paper', whose selection learns from the reward: the target's, the collocate's too, or "
        "through value factors.",
        core="formulation", enum="Formulation",
    )  # fmt: skip
    reward: Literal["likelihood", "sampled_likelihood"] | None = setting(
        "likelihood", Choice("likelihood", "sampled_likelihood"),
        "With selection_update='paper', the collocation likelihood alone, or with its negative samples.",
        core="reward", enum="Reward",
    )  # fmt: skip
    selection_alpha: float | None = setting(
        None, optional(number(0, 100)),
        "Learning rate of the selection module at the start. None: 0.01, or 0.003 with selection_update='paper'.",
        core="selection_alpha",
    )  # fmt: skip
    selection_reduction: Literal["sum", "mean"] = setting(
        "sum", Choice("sum", "mean"), "Whether a batch's updates of the selection module add up or are averaged."
    )
    posterior_weight: float = setting(
        0.3, number(0, 1e6), "Weight of the collocates' evidence in selection_update='posterior'.",
        core="posterior_weight",
    )  # fmt: skip
    epsilon: float = setting(0.05, number(0, 1), "Share of random senses in eps_greedy.", core="epsilon")
    temperature: float = setting(
        1.0, number(1e-6, 1e6), "Of the softmax over senses: small is close to greedy, large to random.",
        core="temperature",
    )  # fmt: skip
    max_norm: float = setting(
        30.0, number(0, 1e9), "Longest vector allowed in the selection module; 0: no limit.", core="max_norm"
    )
    train_context_vectors: bool = setting(
        False, flag, "Whether the selection module's word vectors learn.", core="train_context_vectors"
    )
    collocation: Literal["sense", "word"] | None = setting(
        None, optional(Choice("sense", "word")),
        "One collocation vector a sense, or one a word. None: 'word', or 'sense' where formulation needs it.",
    )  # fmt: skip
    sibling_share: float = setting(
        0.5, number(0, 1), "Part of each sense's update that the word's other senses get too.", core="sibling_share"
    )
    start: Literal["trees"] | None = setting(
        None, optional(Choice("trees")),
        "What senses are first made by: 'trees', sense trees that grow after the word-level epochs. None: what the "
        "recipe is named after, clusters of contexts with Split, random vectors with Paper.",
    )  # fmt: skip
    context: Context = field(default=Context())

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_part("context", Context)

    def values(self, strategy: str | None = None) -> dict[str, Any]:
        """See `Recipe.values`."""
        context = {flat: getattr(self.context, name) for name, flat in CONTEXT_NAMES.items()}
        return {**super().values(strategy), **context}

    @classmethod
    def _parts_of(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        context = Context(**{name: values[flat] for name, flat in CONTEXT_NAMES.items()})
        return {**super()._parts_of(values), "context": context}


CONTEXT_NAMES = {  # of a `Context`, and what they are called among the resolved settings
    "window": "selection_window",
    "weights": "context_weights",
    "distance_power": "distance_power",
    "centre": "context_center",
    "combine": "context",
    "full_text": "full_text",
}


@dataclass(frozen=True, kw_only=True)
class Trees(Recipe):
    """The default recipe: words are trained for all epochs, then a tree of senses is grown from the uses of each.

    A cut of the tree gives a word's senses; `muse.MUSE.recut` makes another one at any time. docs/senses.md says more.

    Raises
    ------
    TypeError, ValueError
        For a value of the wrong type or out of range.

    Examples
    --------
    >>> from muse import MUSE, Trees
    >>> settings = MUSE(recipe=Trees(leaves=8)).settings
    >>> settings.senses, settings.leaves
    (4, 8)
    """

    START: ClassVar[str] = "trees"
    USUAL: ClassVar[Mapping[str, Any]] = {"senses": 4, "strategy": "greedy", "negative": 5, "min_alpha": 0.0001}

    leaves: int = setting(12, integer(2, 1000), "Finest senses of a word, at most.")
    kept_leaves: int | None = setting(
        None, optional(integer(2, 1000)),
        "How many of these the model keeps, the coarsest ones: the finer ones then only help to find them, and the "
        "model is smaller. None: all.",
    )  # fmt: skip
    uses: int = setting(1500, integer(50, 10_000_000), "Uses of each word that are looked at, at most.")
    uses_a_leaf: int = setting(
        25, integer(2, 2**31 - 1), "So many uses for each of the finest senses: rare words get fewer."
    )
    least_uses: int = setting(50, integer(4, 2**31 - 1), "Words that occur less often have one sense.")
    whitening: float = setting(
        0.75, number(0, 1),
        "How far the directions are evened out in which the contexts of one and the same word vary: 0 not at all, "
        "1 wholly.",
    )  # fmt: skip
    topic_window: int = setting(60, integer(1, 10_000), "Positions on each side of a word that make its topic.")
    topic_power: float = setting(0.5, number(0, 10), "A word at distance d weighs d ** -topic_power in the topic.")
    order_window: int = setting(
        5, integer(1, 100), "Positions on each side of a word whose words count by where they stand."
    )
    order_size: int = setting(100, integer(1, 65536), "Dimension of the part of a context that knows the order.")
    order_weight: float = setting(0.75, number(0, 100, above=True), "Weight of that part; the topic weighs 1.")
    share_power: float = setting(0.3, number(0, 10), "How much rather a small sense is joined than a large one.")
    prior_weight: float = setting(
        0.05, number(0, 10), "How much the share of a sense in its word's uses counts in its score."
    )
    shrinkage: float | None = setting(
        None, optional(number(0, 10)),
        "Part of what a sense's contexts say about its vector that is added to its word's. None: measured on the text.",
    )  # fmt: skip

    forms: str | Mapping[str, str] | Callable[[str], str | None] | None = setting(
        None, optional(forms_of_words),
        "Inflected forms that share the senses of their lemmas: 'en' finds those of English by simple rules and "
        "vectors; {form: lemma}; or a function that tells a word's lemma, None where it has none.",
    )  # fmt: skip

    def chosen_strategy(self, given: str | None) -> str:
        """The strategy; a ValueError for one that would train senses."""
        if given not in (None, "greedy"):
            raise ValueError(
                f"strategy={given!r} is for recipes that train senses, and Trees does not: leave recipe out, or give "
                "recipe=Split() or recipe=Paper()"
            )
        return super().chosen_strategy(given)


_OF_TREES = {name: item.default for name, item in declared(Trees).items() if name not in declared(Recipe)}


@dataclass(frozen=True, kw_only=True)
class Split(SenseEpochs):
    """Words are trained first, then split into senses by their contexts, and trained on.

    Raises
    ------
    TypeError, ValueError
        For a value of the wrong type or out of range.

    Examples
    --------
    >>> from muse import MUSE, Split
    >>> MUSE(senses=3, recipe=Split(whitening=0.5)).settings.whitening
    0.5
    """

    START: ClassVar[str] = "split"
    USUAL: ClassVar[Mapping[str, Any]] = {"senses": "auto", "strategy": "greedy", "negative": 5, "min_alpha": 0.0001}
    APART: ClassVar[Mapping[str, Any]] = {name: _OF_TREES[name] for name in _OF_TREES if name != "whitening"}

    warmup_epochs: int = setting(
        3, integer(1, 1_000_000),
        "Of the epochs, those at word level before senses are made; at most three fifths of them, or all but one with "
        "start='trees'.",
    )  # fmt: skip
    whitening: float = setting(
        0.75, number(0, 1),
        "How far the directions are evened out in which the contexts of one and the same word vary: 0 not at all, "
        "1 wholly.",
    )  # fmt: skip
    min_contexts: int = setting(
        20, integer(1, 2**31 - 1), "No sense is made from fewer uses than this: rare words get fewer senses."
    )
    discourse: int | None = setting(
        None, optional(integer(0, 2**31 - 1)),
        "For how many sentences a word is taken to keep its sense. None: 10 in running text, 0 in a text whose "
        "sentences are shuffled, which is told apart.",
    )  # fmt: skip
    share_weight: float | None = setting(
        None, optional(number(0, 10)),
        "How much the share of a sense in its word's uses counts in its score. None: 0.05, or 0 with "
        "selection_update='paper'.",
    )  # fmt: skip


def _otherwise(name: str, default: Any, check: Check | None = None, doc: str = "") -> Any:
    """A setting of `SenseEpochs` with another default."""
    known = dict(declared(SenseEpochs)[name].metadata)
    return field(default=default, metadata={**known, "check": check or known["check"], "doc": doc or known["doc"]})


@dataclass(frozen=True, kw_only=True)
class Paper(SenseEpochs):
    """The paper's recipe: random vectors, one collocate a token, senses that learn from rewards.

    ``Paper().context`` and ``Paper().engine`` are the paper's too; `dataclasses.replace` changes one thing of them.

    Raises
    ------
    TypeError, ValueError
        For a value of the wrong type or out of range.

    Examples
    --------
    >>> from muse import MUSE, Paper
    >>> settings = MUSE(recipe=Paper(strategy="boltzmann")).settings
    >>> settings.strategy, settings.senses, settings.negative
    ('boltzmann', 3, 25)
    """

    START: ClassVar[str] = "random"
    USUAL: ClassVar[Mapping[str, Any]] = {"senses": 3, "strategy": "eps_greedy", "negative": 25, "min_alpha": None}
    APART: ClassVar[Mapping[str, Any]] = {
        "warmup_epochs": 3, "whitening": 0.0, "min_contexts": 20, "discourse": 0, "share_weight": 0.0,
        **{name: _OF_TREES[name] for name in _OF_TREES if name != "whitening"},
    }  # fmt: skip

    strategy: StrategyName | None = field(
        default=None,
        metadata={
            "check": optional(STRATEGY),
            "doc": "How training picks a sense for a token (section 3.3 of the paper). None: that of the constructor, "
            "or 'eps_greedy'.",
        },
    )
    selection_size: int | None = setting(
        None, optional(integer(1, 65536)), "Dimension of the selection module; None means vector_size."
    )
    # Section 3.
    selection_update: Literal["paper", "posterior", "none"] | None = _otherwise("selection_update", "paper")
    reward: Literal["likelihood", "sampled_likelihood"] | None = _otherwise(
        "reward", None, optional(Choice("likelihood", "sampled_likelihood")),
        "The collocation likelihood alone, or with its negative samples. None: with them for the strategy 'policy' "
        "(equation 5 and appendix A), else without.",
    )  # fmt: skip
    collocates: Literal["one", "all"] = _otherwise("collocates", "one")
    collocation: Literal["sense", "word"] | None = _otherwise("collocation", "sense")
    train_context_vectors: bool = _otherwise("train_context_vectors", True)
    sibling_share: float = _otherwise("sibling_share", 0.0)
    max_norm: float = _otherwise("max_norm", 0.0)
    posterior_weight: float = _otherwise("posterior_weight", 0.0)
    # Section 4.1.
    selection_alpha: float | None = _otherwise("selection_alpha", 0.025)
    initial_scale: float = _otherwise("initial_scale", 1.0)
    # What the authors' code does where the paper is silent.
    selection_reduction: Literal["sum", "mean"] = _otherwise("selection_reduction", "mean")
    context: Context = field(
        default=Context(
            window=None, weights="none", distance_power=0.0, centre=True, combine="sum", full_text=False
        )
    )  # fmt: skip
    engine: Engine = field(default=Engine(group_size=1))

    def chosen_strategy(self, given: str | None) -> str:
        """The strategy; a ValueError where constructor and recipe differ."""
        if given is not None and self.strategy not in (None, given):
            raise ValueError(
                f"strategy={given!r} and recipe=Paper(strategy={self.strategy!r}) are two; give one of them"
            )
        return super().chosen_strategy(given or self.strategy)

    def values(self, strategy: str | None = None) -> dict[str, Any]:
        """See `Recipe.values`."""
        values = super().values(strategy)
        if values["reward"] is None:
            values["reward"] = "sampled_likelihood" if values["strategy"] == "policy" else "likelihood"
        if self.start == "trees":
            values["whitening"] = Trees().whitening
        return values


RECIPES: tuple[type[Recipe], ...] = (Trees, Split, Paper)
Trees.APART = {
    **{name: value for name, value in Split().values().items() if name not in declared(Trees)},
    "selection_update": "none",
    "collocation": "word",
    "share_weight": 0.0,
}  # fmt: skip  (no senses are trained)


def _recipes_in_words() -> str:
    return " or ".join(f"muse.{kind.__name__}(...)" for kind in RECIPES)


def given_recipe(name: str, value: Any) -> Recipe:
    """The recipe that the constructor was given, `Trees` for None; a check as in `muse.base.checks`."""
    if value is None:
        return Trees()
    if isinstance(value, RECIPES):
        return value
    raise TypeError(f"{name} must be {_recipes_in_words()}; got {value!r:.80}")
