"""Every setting of a model, resolved: `Settings` is what a model keeps and training reads.

Its fields are the table of settings. Those that `muse.MUSE` takes are declared here; those of a recipe are declared in
`muse.data.recipes`, and a line here says where. The settings that say *what* a model is are stored in its file; those
that only say *how* to run (threads, device, callbacks, ...) are not.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, ClassVar, Literal

import numpy as np

from muse.base import checks
from muse.base.checks import Choice, flag, integer, interval, number, optional, path_like
from muse.data.names import REMOVED, reject_unknown, without_gensims_own
from muse.data.recipes import (
    POLICIES,
    RECIPES,
    STRATEGY,
    Context,
    Engine,
    Paper,
    Recipe,
    SenseEpochs,
    Split,
    StrategyName,
    Trees,
    given_recipe,
)
from muse.data.table import Home, check_fields, declared, setting, taken
from muse.errors import FormatWarning

__all__ = ["CONSTANT_RATE", "Settings", "constructor_settings"]

AUTO_SENSES = 3  # the most that senses="auto" tries
CONSTANT_RATE = "constant"  # as min_alpha


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of one model, checked, with every choice made, as plain attributes such as ``settings.whitening``.

    ``Settings.of(...)`` makes them of what `muse.MUSE` takes, and `arguments` gives that back; ``help(MUSE)`` and
    docs/settings.md say what each means. A setting of a recipe whose default is None and says what None means
    (`selection_update`, `collocation`, `share_weight`, ...) is chosen to fit the others, so that it has a value here.

    Raises
    ------
    TypeError
        For a value of the wrong type.
    ValueError
        For a value out of range, with the allowed ones.

    Examples
    --------
    >>> settings = Settings.of(vector_size=100)
    >>> settings.senses, settings.recipe.leaves, settings.replace(senses=2).senses
    (4, 12, 2)
    """

    senses: int | Literal["auto"] | Mapping[str, int] | None = setting(
        None, optional(checks.senses),
        "Senses of a word, at most; {word: senses} gives each word its own, and one sense to words not in it; 'auto' "
        "lets the contexts of each word decide, which needs the recipe Trees or Split.",
        by_recipe=True,
    )  # fmt: skip
    strategy: StrategyName = setting(
        "greedy", STRATEGY, "How training picks a sense for a token (section 3.3 of the paper).",
        by_recipe=True, core="strategy", enum="Strategy",
    )  # fmt: skip
    vector_size: int = setting(300, integer(1, 65536), "Dimension of the sense vectors.")
    window: int = setting(
        5, integer(1, 10_000), "Positions on each side of a word that count as its context.", core="window"
    )
    min_count: int = setting(5, integer(0, 2**62), "Rarer words are dropped.")
    max_vocab_size: int | None = setting(
        None, optional(integer(1, 2**31 - 2)), "While counting, forget the rarest words above this number."
    )
    max_final_vocab: int | None = setting(
        None, optional(integer(1, 2**31 - 2)), "Keep at most this many words, by raising min_count."
    )
    trim_rule: Callable[[str, int, int], Any] | None = setting(
        None, optional(checks.trim_rule),
        "gensim's rule (word, count, min_count) -> RULE_KEEP, RULE_DISCARD, RULE_DEFAULT.",
        runtime=True,
    )  # fmt: skip
    sorted_vocab: bool = setting(True, flag, "Number the words by falling count.")
    sample: float = setting(
        1e-4, number(0, 1), "Threshold of subsampling: words above this share of the text are thinned out; 0: none."
    )
    negative: int = setting(
        5, integer(0, 10_000), "Negative senses for each pair.", by_recipe=True, core="negative"
    )  # fmt: skip
    ns_exponent: float = setting(0.75, number(-10, 10), "Exponent of the word counts when negatives are drawn.")
    alpha: float = setting(
        0.025, number(0, 10, above=True), "Learning rate of the sense vectors at the start.", core="alpha"
    )
    min_alpha: float | None = setting(
        0.0001, optional(number(0, 10)),
        "Learning rate at the end, linear in between; 'constant': that of the start.",
        by_recipe=True,
    )  # fmt: skip
    epochs: int = setting(5, integer(1, 1_000_000), "Passes over the corpus.")
    seed: int = setting(
        1, integer(0, 2**64 - 1), "Same seed and one worker: same model, bit for bit.", core="seed"
    )  # fmt: skip
    workers: int | None = setting(
        None, optional(integer(1, 4096)),
        "Threads, of searches too; None: all cores. On a CUDA device, batches that are trained at once; None: enough "
        "to keep it busy.",
        runtime=True,
    )  # fmt: skip
    shrink_windows: bool = setting(
        True, flag, "Draw each target's window from 1..window, as word2vec does.", core="shrink_windows"
    )
    callbacks: Sequence[Any] = setting((), checks.callbacks, "Objects with the hooks of muse.Callback.", runtime=True)
    progress: bool = setting(False, flag, "Show a progress bar.", runtime=True)
    device: Literal["cpu", "cuda", "auto"] = setting(
        "cpu", Choice("cpu", "cuda", "auto"),
        "Where to train, tell the senses of texts and search for neighbours: 'cuda' needs a build with the CUDA "
        "backend; 'auto' takes the device if there is one.",
        runtime=True,
    )  # fmt: skip
    checkpoint_dir: str | PathLike[str] | None = setting(
        None, optional(path_like),
        "Folder for checkpoints; None: none are written. The file is checkpoint.safetensors; one that another training "
        "left there becomes checkpoint.previous.safetensors.",
        runtime=True,
    )  # fmt: skip
    checkpoint_every: int | str | None = setting(
        None, optional(interval), "Tokens, or seconds as in '600s', between checkpoints; None: each epoch.",
        runtime=True,
    )  # fmt: skip
    max_ram: int | None = setting(
        None, optional(integer(0, 2**62)),
        "Bytes of encoded text kept in memory, beyond which it goes to a temporary file; None: half of the machine's "
        "memory; 0: no limit.",
        runtime=True,
    )  # fmt: skip

    # -- of the recipe -----------------------------------------------------------------------------------------------

    init: str = setting("split", Choice(*(kind.START for kind in RECIPES)), "How training starts: the recipe's class.")
    selection_size: int | None = taken(Paper, "selection_size")
    selection_update: str | None = taken(SenseEpochs, "selection_update")
    formulation: str = taken(SenseEpochs, "formulation")
    reward: str = taken(SenseEpochs, "reward")
    selection_alpha: float | None = taken(SenseEpochs, "selection_alpha")
    selection_reduction: str = taken(SenseEpochs, "selection_reduction")
    posterior_weight: float = taken(SenseEpochs, "posterior_weight")
    epsilon: float = taken(SenseEpochs, "epsilon")
    temperature: float = taken(SenseEpochs, "temperature")
    max_norm: float = taken(SenseEpochs, "max_norm")
    train_context_vectors: bool = taken(SenseEpochs, "train_context_vectors")
    collocates: str = taken(Recipe, "collocates")
    collocation: str | None = taken(SenseEpochs, "collocation")
    sibling_share: float = taken(SenseEpochs, "sibling_share")
    start: str | None = taken(SenseEpochs, "start")
    initial_scale: float = taken(Recipe, "initial_scale")
    warmup_epochs: int = taken(Split, "warmup_epochs")
    whitening: float = taken(Split, "whitening")
    min_contexts: int = taken(Split, "min_contexts")
    discourse: int | None = taken(Split, "discourse")
    share_weight: float | None = taken(Split, "share_weight")
    leaves: int = taken(Trees, "leaves")
    kept_leaves: int | None = taken(Trees, "kept_leaves")
    uses: int = taken(Trees, "uses")
    uses_a_leaf: int = taken(Trees, "uses_a_leaf")
    least_uses: int = taken(Trees, "least_uses")
    topic_window: int = taken(Trees, "topic_window")
    topic_power: float = taken(Trees, "topic_power")
    order_window: int = taken(Trees, "order_window")
    order_size: int = taken(Trees, "order_size")
    order_weight: float = taken(Trees, "order_weight")
    share_power: float = taken(Trees, "share_power")
    prior_weight: float = taken(Trees, "prior_weight")
    shrinkage: float | None = taken(Trees, "shrinkage")
    forms: str | Mapping[str, str] | Callable[[str], str | None] | None = taken(Trees, "forms")
    selection_window: int | None = taken(Context, "window")
    context_weights: str = taken(Context, "weights")
    distance_power: float = taken(Context, "distance_power")
    context_center: bool | None = taken(Context, "centre")
    context: str = taken(Context, "combine")
    full_text: bool = taken(Context, "full_text")
    batch_tokens: int = taken(Engine, "batch_tokens")
    group_size: int = taken(Engine, "group_size")
    device_storage: str = taken(Engine, "device_storage")

    def __post_init__(self) -> None:
        check_fields(self)
        self._resolve()
        self._check_combinations()

    def _resolve(self) -> None:
        """Choose what was left open (None) to fit what was not."""
        left_open: list[str] = []

        def choose(name: str, usual: Any, other: Any, fits: bool) -> None:
            if getattr(self, name) is None:
                left_open.append(name)
                object.__setattr__(self, name, usual if fits else other)

        one_sided = self.formulation == "one_sided"
        choose("senses", "auto", Trees.USUAL["senses"] if self.init == "trees" else 3, self.init == "split")
        choose("selection_update", "posterior", "paper", one_sided and self.strategy not in POLICIES)
        choose("collocation", "word", "sense", one_sided)
        choose("selection_alpha", 0.01, 0.003, self.selection_update != "paper")
        choose("context_center", False, True, self.selection_update != "paper")
        clustered = self.init == "split" and self.selection_update != "paper"
        choose("share_weight", 0.05, 0.0, clustered)
        object.__setattr__(self, "_left_open", tuple(left_open))

    _left_open: ClassVar[tuple[str, ...]] = ()

    @property
    def left_open(self) -> tuple[str, ...]:
        """Settings that were not given and have been chosen to fit the others; `replace` chooses them anew."""
        return self._left_open

    def _check_combinations(self) -> None:
        if self.formulation == "factorized" and self.strategy in POLICIES:
            raise ValueError(
                f"strategy={self.strategy!r} cannot be used with formulation='factorized': it learns by policy "
                "gradient, while the factorization estimates values; use greedy, eps_greedy or boltzmann"
            )
        if self.min_alpha is not None and self.min_alpha > self.alpha:
            raise ValueError(
                f"min_alpha ({self.min_alpha:g}) must not be above alpha ({self.alpha:g}); "
                f"lower it, or give min_alpha={CONSTANT_RATE!r}"
            )
        if self.selection_update == "posterior" and (self.formulation != "one_sided" or self.strategy in POLICIES):
            raise ValueError(
                "selection_update='posterior' is one-sided and replaces the rewards of the paper, so it goes with "
                "formulation='one_sided' and the strategies greedy, eps_greedy and boltzmann; for "
                f"formulation={self.formulation!r} with strategy={self.strategy!r} give selection_update='paper'"
            )
        if self.collocation == "word" and self.formulation != "one_sided":
            raise ValueError(
                f"formulation={self.formulation!r} trains the selection of collocates too, which needs "
                "collocation='sense'; with collocation='word' a collocate has no senses"
            )
        if self.senses == "auto" and not self.from_words:
            raise ValueError(
                "senses='auto' needs the recipe Trees or Split, which look at the contexts of each word; give a number "
                "of senses"
            )
        if self.from_words and self.selection_size not in (None, self.vector_size):
            raise ValueError(
                "the recipes Trees and Split, and start='trees', take the selection module's vectors from the word "
                "vectors, so "
                f"selection_size must be None or vector_size ({self.vector_size}); got {self.selection_size}"
            )
        if self.share_weight and self.init != "split":
            raise ValueError("share_weight needs the recipe Split, which finds the shares; give 0 or leave it out")
        if self.max_vocab_size and self.max_final_vocab and self.max_vocab_size < self.max_final_vocab:
            raise ValueError(
                f"max_vocab_size ({self.max_vocab_size}) limits the words while counting, so it must not be below "
                f"max_final_vocab ({self.max_final_vocab})"
            )

    # -- what the settings imply -------------------------------------------------------------------------------------

    @property
    def grows_trees(self) -> bool:
        """Whether senses are made by sense trees, be they trained then or not."""
        return "trees" in (self.init, self.start)

    @property
    def from_words(self) -> bool:
        """Whether words are trained first, and senses made from them."""
        return self.init != "random" or self.grows_trees

    @property
    def selection_dim(self) -> int:
        """S: the dimension of the selection module; the senses' shares take one more column."""
        size = self.vector_size if self.selection_size is None else self.selection_size
        return size + bool(self.share_weight)

    def senses_of(self, words: Sequence[str]) -> np.ndarray:
        """How many senses each word starts with, int64 (V,)."""
        if isinstance(self.senses, Mapping):
            return np.fromiter((self.senses.get(word, 1) for word in words), np.int64, len(words))
        start = AUTO_SENSES if isinstance(self.senses, str) else self.senses
        return np.full(len(words), start, np.int64)

    def replace(self, **changes: Any) -> Settings:
        """A copy with some settings changed, checked like any other; what was left open is chosen anew."""
        return dataclasses.replace(self, **{**dict.fromkeys(self._left_open), **changes})

    # -- making, storing ---------------------------------------------------------------------------------------------

    @classmethod
    def of(cls, **arguments: Any) -> Settings:
        """Settings from the keyword arguments of `muse.MUSE`, the recipe among them.

        A strategy without a recipe is one of training senses, so it means the recipe `Split`.

        Raises
        ------
        TypeError, ValueError
            As `muse.MUSE` does: a name that is no setting is an error that tells the right one.

        Examples
        --------
        >>> Settings.of(strategy="eps_greedy").strategy, Settings.of(recipe=Paper()).negative
        ('eps_greedy', 25)
        """
        arguments = without_gensims_own(arguments)
        recipe = arguments.pop("recipe", None)
        if recipe is None and arguments.get("strategy") is not None:
            recipe = Split()
        recipe = given_recipe("recipe", recipe)
        reject_unknown(arguments, cls.homes())
        usual = {name: recipe.USUAL[name] for name in recipe.USUAL if name != "strategy"}
        given = {name: value for name, value in arguments.items() if not (value is None and name in recipe.USUAL)}
        if given.get("min_alpha") == CONSTANT_RATE:
            given["min_alpha"] = None
        return cls(**{**usual, **given, **recipe.values(given.get("strategy"))})

    @property
    def recipe(self) -> Recipe:
        """The recipe; what was left open is open in it."""
        kind = next(kind for kind in RECIPES if self.init == kind.START)
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return kind.of_values({**values, **dict.fromkeys(self._left_open)})

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments of `muse.MUSE` that mean these settings.

        Examples
        --------
        >>> settings = Settings.of(recipe=Paper(), vector_size=100)
        >>> Settings.of(**settings.arguments()) == settings
        True
        """
        given = {name: getattr(self, name) for name in constructor_settings()}
        if given["min_alpha"] is None:
            given["min_alpha"] = CONSTANT_RATE
        return {**given, "recipe": self.recipe}

    def to_json(self) -> dict[str, Any]:
        """What a model file stores: all but the runtime settings and those of other recipes, as JSON types."""
        of_trees = {name for name, home in self.homes().items() if home is not None and home.owner == "Trees"}
        left_out = {*self.runtime_names(), *(() if self.init == "trees" else of_trees)}
        if self.start is None:  # as before there was the choice
            left_out.add("start")
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in left_out}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any], left_open: Iterable[str] = (), **runtime: Any) -> Settings:
        """Settings from `to_json`, checked like those of a user.

        Parameters
        ----------
        stored : mapping of str to JSON values
            What `to_json` returned. There every choice has been made, so a model means the same to every version;
            settings that a file written by an older version lacks take the values that it meant.
        left_open : iterable of str
            Those that `replace` may choose anew, see `left_open`.
        **runtime
            Runtime settings.

        Returns
        -------
        Settings
            The same as they were.

        Raises
        ------
        ValueError
            If `stored` holds a name that is not a stored setting, or a bad value.

        Warns
        -----
        FormatWarning
            If it was trained with a setting that was removed since.
        """
        stored = dict(stored)
        for name, (only, now) in REMOVED.items():
            if stored.pop(name, only) != only:
                warnings.warn(
                    f"the model was trained with {name}, which was removed: {now}", FormatWarning, stacklevel=2
                )
        known = {f.name for f in dataclasses.fields(cls) if not f.metadata["runtime"]}
        unknown = sorted(set(stored) - known)
        if unknown:
            raise ValueError(f"unknown settings {', '.join(map(repr, unknown))}")
        try:
            settings = cls(**{**_BEFORE, **stored}, **runtime)
        except TypeError as error:
            raise ValueError(str(error)) from error
        listed = list(left_open)
        can_be_open = cls().left_open
        object.__setattr__(settings, "_left_open", tuple(name for name in can_be_open if name in listed))
        return settings

    @classmethod
    def runtime_names(cls) -> list[str]:
        """Names of the settings that say how to run, not what the model is."""
        return [f.name for f in dataclasses.fields(cls) if f.metadata["runtime"]]

    @classmethod
    def homes(cls) -> dict[str, Home | None]:
        """Where users give each setting; None: to the constructor itself."""
        init = {"init": Home("Recipe", "init")}
        return {name: f.metadata.get("home", init.get(name)) for name, f in declared(cls).items()}


def constructor_settings() -> dict[str, dataclasses.Field[Any]]:
    """The settings that `muse.MUSE` takes by name, beside the recipe."""
    homes = Settings.homes()
    return {name: f for name, f in declared(Settings).items() if homes[name] is None}


# What a file means that was written before there was this setting.
_BEFORE: dict[str, Any] = {"share_weight": 0.0}
