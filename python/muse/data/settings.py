"""Every setting of a model, in one table: its name, default, range and meaning.

`Settings` checks values when it is made and never changes afterwards. The settings that say *what* a model is are
stored in its file; those that only say *how* to run (threads, device, callbacks, ...) are not.
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, ClassVar, Literal

import numpy as np

from muse.base import checks
from muse.base.checks import Check, Choice, flag, integer, interval, number, optional, path_like

__all__ = ["Settings", "PAPER_DEFAULTS"]

POLICIES = ("policy", "smooth_policy")
AUTO_SENSES = 3  # the most that senses="auto" tries


def _setting(default: Any, check: Check, doc: str, *, runtime: bool = False) -> Any:
    return field(default=default, metadata={"check": check, "doc": doc, "runtime": runtime})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The checked settings of one model; see ``help(MUSE)`` for the list.

    Settings whose default is None and says what None means for them (`senses`, `init`, `selection_update`,
    `collocation`, `share_weight`) are chosen to fit the others, so that they always have a value here.

    Raises
    ------
    TypeError
        For a name that is no setting (with the right name, if it is gensim's) or a value of the wrong type.
    ValueError
        For a value out of range, with the allowed ones.

    Examples
    --------
    >>> settings = Settings(vector_size=100)
    >>> settings.senses, settings.replace(senses=2).senses
    ('auto', 2)
    """

    senses: int | Literal["auto"] | Mapping[str, int] | None = _setting(
        None, optional(checks.senses),
        "Senses of a word, at most; {word: senses} gives each word its own, and one sense to words not in it; 'auto' "
        "lets the contexts of each word decide. None: 'auto', or 3 with init='random'."
    )  # fmt: skip
    strategy: str = _setting(
        "greedy", Choice("greedy", "eps_greedy", "boltzmann", "policy", "smooth_policy"),
        "How training picks a sense for a token (section 3.3 of the paper)."
    )  # fmt: skip
    formulation: str = _setting(
        "one_sided", Choice("one_sided", "two_sided", "factorized"),
        "Whose selection learns from the reward: the target's, the collocate's too, or through value factors."
    )  # fmt: skip
    reward: str = _setting(
        "likelihood", Choice("likelihood", "sampled_likelihood"),
        "The collocation likelihood alone, or with its negative samples; for the value strategies."
    )  # fmt: skip
    vector_size: int = _setting(300, integer(1, 65536), "Dimension of the sense vectors.")
    selection_size: int | None = _setting(
        None, optional(integer(1, 65536)), "Dimension of the selection module; None means vector_size."
    )
    window: int = _setting(5, integer(1, 10_000), "Positions on each side of a word that count as its context.")
    min_count: int = _setting(5, integer(0, 2**62), "Rarer words are dropped.")
    max_vocab_size: int | None = _setting(
        None, optional(integer(1, 2**31 - 2)), "While counting, forget the rarest words above this number."
    )
    max_final_vocab: int | None = _setting(
        None, optional(integer(1, 2**31 - 2)), "Keep at most this many words, by raising min_count."
    )
    sample: float = _setting(
        1e-4, number(0, 1), "Threshold of subsampling: words above this share of the text are thinned out; 0: none."
    )
    negative: int = _setting(5, integer(0, 10_000), "Negative senses for each pair.")
    ns_exponent: float = _setting(0.75, number(-10, 10), "Exponent of the word counts when negatives are drawn.")
    alpha: float = _setting(0.025, number(0, 10, above=True), "Learning rate of the sense vectors at the start.")
    min_alpha: float | None = _setting(
        0.0001, optional(number(0, 10)), "Learning rate at the end, linear in between; None: constant."
    )
    selection_alpha: float | None = _setting(
        None, optional(number(0, 100)),
        "Learning rate of the selection module at the start. None: 0.01, or 0.003 with selection_update='paper'."
    )  # fmt: skip
    epsilon: float = _setting(0.05, number(0, 1), "Share of random senses in eps_greedy.")
    temperature: float = _setting(
        1.0, number(1e-6, 1e6), "Of the softmax over senses: small is close to greedy, large to random."
    )
    epochs: int = _setting(5, integer(1, 1_000_000), "Passes over the corpus.")
    seed: int = _setting(1, integer(0, 2**64 - 1), "Same seed and one worker: same model, bit for bit.")
    workers: int | None = _setting(
        None, optional(integer(1, 4096)),
        "Threads; None: all cores. On a CUDA device, batches that are trained at once; None: enough to keep it busy.",
        runtime=True,
    )  # fmt: skip
    trim_rule: Callable[[str, int, int], Any] | None = _setting(
        None, optional(checks.trim_rule),
        "gensim's rule (word, count, min_count) -> RULE_KEEP, RULE_DISCARD, RULE_DEFAULT.",
        runtime=True,
    )  # fmt: skip
    sorted_vocab: bool = _setting(True, flag, "Number the words by falling count.")
    shrink_windows: bool = _setting(True, flag, "Draw each target's window from 1..window, as word2vec does.")
    collocates: str = _setting("all", Choice("one", "all"), "Collocates of a target: one drawn at random, or all.")
    batch_tokens: int = _setting(2048, integer(1, 2**20), "Tokens between two updates of the selection module.")
    callbacks: Sequence[Any] = _setting((), checks.callbacks, "Objects with the hooks of muse.Callback.", runtime=True)
    progress: bool = _setting(False, flag, "Show a progress bar.", runtime=True)
    device: str = _setting(
        "cpu", Choice("cpu", "cuda", "auto"),
        "Where to train, tell the senses of texts and search for neighbours: 'cuda' needs a build with the CUDA "
        "backend; 'auto' takes the device if there is one.",
        runtime=True,
    )  # fmt: skip
    device_storage: str = _setting(
        "float32", Choice("float32", "bfloat16"),
        "How training on a CUDA device keeps sense and collocation vectors there: bfloat16 takes half the memory, and "
        "is rounded at random.",
        runtime=True,
    )  # fmt: skip
    checkpoint_dir: str | PathLike[str] | None = _setting(
        None, optional(path_like),
        "Folder for checkpoints; None: none are written. The file is checkpoint.safetensors; one that another training "
        "left there becomes checkpoint.previous.safetensors.",
        runtime=True,
    )  # fmt: skip
    checkpoint_every: int | str | None = _setting(
        None, optional(interval), "Tokens, or seconds as in '600s', between checkpoints; None: each epoch.",
        runtime=True,
    )  # fmt: skip
    max_ram: int | None = _setting(
        None, optional(integer(0, 2**62)),
        "Bytes of encoded text kept in memory, beyond which it goes to a temporary file; None: half of the machine's "
        "memory; 0: no limit.",
        runtime=True,
    )  # fmt: skip

    # Beyond the paper.
    init: str | None = _setting(
        None, optional(Choice("random", "split")),
        "Random vectors, or a word-level warm start whose contexts are then clustered into senses. None: 'split', or "
        "'random' where selection_size differs from vector_size."
    )  # fmt: skip
    warmup_epochs: int = _setting(
        3, integer(1, 1_000_000),
        "Of `epochs`, those at word level before init='split' makes the senses; at most three fifths of them."
    )  # fmt: skip
    whitening: float = _setting(
        0.75, number(0, 1),
        "How far init='split' evens out the directions in which the contexts of one and the same word vary: "
        "0 not at all, 1 wholly."
    )  # fmt: skip
    min_contexts: int = _setting(
        20, integer(1, 2**31 - 1), "init='split' makes no sense from fewer uses than this: rare words get fewer senses."
    )  # fmt: skip
    discourse: int | None = _setting(
        None, optional(integer(0, 2**31 - 1)),
        "init='split' takes a word to keep its sense for this many sentences. None: 10 in running text, 0 in a text "
        "whose sentences are shuffled, which it tells apart."
    )  # fmt: skip
    share_weight: float | None = _setting(
        None, optional(number(0, 10)),
        "With init='split', how much the share of a sense in its word's uses counts in its score. None: 0.05, or 0 "
        "with selection_update='paper' or init='random'."
    )  # fmt: skip
    selection_update: str | None = _setting(
        None, optional(Choice("paper", "posterior", "none")),
        "How the selection module learns: the paper's way, by comparing a word's senses on the same evidence, or not. "
        "None: 'posterior', or 'paper' where strategy or formulation exclude it."
    )  # fmt: skip
    posterior_weight: float = _setting(
        0.3, number(0, 1e6), "Weight of the collocates' evidence in selection_update='posterior'."
    )
    posterior_selects: bool = _setting(
        False, flag, "With selection_update='posterior', targets take their sense from the posterior, not from the "
        "selector alone."
    )  # fmt: skip
    context: str = _setting("mean", Choice("sum", "mean"), "How the context's vectors are put together.")
    context_weights: str = _setting(
        "sqrt_keep", Choice("none", "keep", "sqrt_keep"),
        "Weigh context words by the probability that subsampling keeps them, or its square root."
    )  # fmt: skip
    distance_power: float = _setting(
        1.0, number(0, 10), "A context word at distance d weighs d ** -distance_power; 0: all the same."
    )
    context_center: bool | None = _setting(
        None, optional(flag),
        "Whether the word itself counts as its context, which gives each sense a bias of its own. None: only with "
        "selection_update='paper', whose rewards need one."
    )  # fmt: skip
    full_text: bool = _setting(
        True, flag, "In training, let the selector see every token, as it does in use, not only those that "
        "subsampling kept."
    )  # fmt: skip
    selection_window: int | None = _setting(
        20, optional(integer(1, 10_000)),
        "Window of the selection module; None: window, and in training the shrunk one."
    )  # fmt: skip
    cross_sentences: bool = _setting(False, flag, "Let the selection context reach into neighbouring sentences.")
    train_context_vectors: bool = _setting(False, flag, "Whether the selection module's word vectors learn.")
    sibling_share: float = _setting(
        0.5, number(0, 1), "Part of each sense's update that the word's other senses get too."
    )
    collocation: str | None = _setting(
        None, optional(Choice("sense", "word")),
        "One collocation vector a sense, or one a word. None: 'word', or 'sense' where formulation needs it."
    )  # fmt: skip
    initial_scale: float = _setting(0.1, number(0, 100, above=True), "Length of the initial sense vectors.")
    max_norm: float = _setting(30.0, number(0, 1e9), "Longest vector allowed in the selection module; 0: no limit.")
    group_size: int = _setting(16, integer(1, 1024), "Targets in a row that share their negatives; 1: none do.")
    group_negatives: int | None = _setting(
        None, optional(integer(1, 65536)),
        "Negatives that a group shares; None: as many as targets, and more where negative is above 5 (with "
        "collocates='one', at least `negative`)."
    )  # fmt: skip
    selection_reduction: str = _setting(
        "sum", Choice("sum", "mean"), "Whether a batch's updates of the selection module add up or are averaged."
    )

    def __post_init__(self) -> None:
        for item in dataclasses.fields(self):
            checked = item.metadata["check"](item.name, getattr(self, item.name))
            object.__setattr__(self, item.name, checked)
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
        choose("init", "split", "random", self.selection_size in (None, self.vector_size))
        choose("senses", "auto", 3, self.init == "split")
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
                "lower it, or give min_alpha=None for a constant rate"
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
        if self.senses == "auto" and self.init != "split":
            raise ValueError("senses='auto' needs init='split', which looks at the contexts of each word")
        if self.init == "split" and self.selection_size not in (None, self.vector_size):
            raise ValueError(
                f"init='split' takes the selection module's vectors from the word vectors, so selection_size must be "
                f"None or vector_size ({self.vector_size}); got {self.selection_size}"
            )
        if self.share_weight and self.init != "split":
            raise ValueError("share_weight needs init='split', which finds the shares; give 0 or leave it out")
        if self.max_vocab_size and self.max_final_vocab and self.max_vocab_size < self.max_final_vocab:
            raise ValueError(
                f"max_vocab_size ({self.max_vocab_size}) limits the words while counting, so it must not be below "
                f"max_final_vocab ({self.max_final_vocab})"
            )

    # -- what the settings imply -------------------------------------------------------------------------------------

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
        reject_unknown(changes)
        return dataclasses.replace(self, **{**dict.fromkeys(self._left_open), **changes})

    # -- making, storing, describing ---------------------------------------------------------------------------------

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Settings:
        """Settings from keyword arguments; a name that is not a setting is an error that tells the right one."""
        reject_unknown(options)
        return cls(**options)

    def to_json(self) -> dict[str, Any]:
        """What a model file stores: all but the runtime settings, as JSON types."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if not f.metadata["runtime"]}

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
        """
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
    def parameters(cls) -> list[inspect.Parameter]:
        """The settings as keyword-only parameters, for signatures."""
        kind = inspect.Parameter.KEYWORD_ONLY
        return [inspect.Parameter(f.name, kind, default=f.default, annotation=f.type) for f in dataclasses.fields(cls)]

    @classmethod
    def describe(cls) -> str:
        """The table of settings as a numpy-style list of parameters."""
        return "\n".join(
            f"{f.name} : {f.type}, default {f.default!r}\n    {f.metadata['doc']}" for f in dataclasses.fields(cls)
        )


# What a file means that was written before there was this setting.
_BEFORE: dict[str, Any] = {"share_weight": 0.0}

# All settings but those that depend on the corpus and the time at hand: min_count, max_vocab_size, max_final_vocab,
# sorted_vocab, epochs, seed.
PAPER_DEFAULTS: dict[str, Any] = {
    # Section 4.1 of the paper.
    "senses": 3,
    "strategy": "eps_greedy",
    "epsilon": 0.05,
    "vector_size": 300,
    "selection_size": None,
    "window": 5,
    "negative": 25,
    "ns_exponent": 0.75,
    "sample": 1e-4,
    "alpha": 0.025,
    "min_alpha": None,
    "selection_alpha": 0.025,
    "batch_tokens": 2048,
    "init": "random",
    "initial_scale": 1.0,
    # Section 3: one collocate a token, the likelihood as reward, one-sided.
    "formulation": "one_sided",
    "reward": "likelihood",
    "collocates": "one",
    "collocation": "sense",
    "temperature": 1.0,
    "context": "sum",
    "context_weights": "none",
    "distance_power": 0.0,
    "context_center": True,
    "full_text": False,
    "cross_sentences": False,
    "selection_update": "paper",
    "train_context_vectors": True,
    "sibling_share": 0.0,
    "max_norm": 0.0,
    "group_size": 1,
    # What the authors' code does where the paper is silent.
    "shrink_windows": True,
    "selection_window": None,
    "selection_reduction": "mean",
    # Beyond the paper, and without effect in it.
    "warmup_epochs": 3,
    "whitening": 0.0,
    "min_contexts": 20,
    "discourse": 0,
    "share_weight": 0.0,
    "posterior_weight": 0.0,
    "posterior_selects": False,
    "group_negatives": None,
}

# ---------------------------------------------------------------------------------------------------------------------
# Names that users of other tools try, and what to use here.

_OTHER_NAMES = {
    "size": "it is called vector_size, as in gensim 4",
    "iter": "it is called epochs, as in gensim 4",
    "dim": "it is called vector_size",
    "dimension": "it is called vector_size",
    "embedding_size": "it is called vector_size",
    "hs": "there is no hierarchical softmax here; use negative",
    "sg": "MUSE is always skip-gram; leave it out",
    "cbow_mean": "MUSE is always skip-gram; context='mean' averages the context of the selection module",
    "compute_loss": "the loss is always computed, see model.history",
    "batch_words": "it is called batch_tokens",
    "batch_size": "it is called batch_tokens",
    "hashfxn": "random numbers depend on seed alone; leave it out",
    "null_word": "there is none here; leave it out",
    "comment": "there is none here; leave it out",
    "n_senses": "it is called senses",
    "num_senses": "it is called senses",
    "k": "it is called senses",
    "lr": "it is called alpha",
    "learning_rate": "it is called alpha",
    "start_alpha": "it is called alpha",
    "end_alpha": "it is called min_alpha",
    "threads": "it is called workers",
    "n_jobs": "it is called workers",
    "num_workers": "it is called workers",
    "random_state": "it is called seed",
    "min_freq": "it is called min_count",
    "subsample": "it is called sample",
    "negatives": "it is called negative",
    "dimensions": "it is called vector_size",
}


def reject_unknown(names: Iterable[str]) -> None:
    """Raise a TypeError for the first name that is not a setting, naming the one that was probably meant."""
    known = [f.name for f in dataclasses.fields(Settings)]
    for name in names:
        if name in known:
            continue
        hint = _OTHER_NAMES.get(name)
        if hint is None:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else "help(muse.MUSE) lists the settings"
        raise TypeError(f"{name!r} is not a setting of MUSE: {hint}")


# What gensim's `train` takes and needs, and MUSE's does not: the text itself says it, or nothing depends on it.
_NEEDLESS_IN_TRAIN = ("total_words", "word_count", "compute_loss", "queue_factor", "report_delay")


def reject_unknown_in_train(names: Iterable[str]) -> list[str]:
    """The names of arguments that `MUSE.train` may ignore; a TypeError that says what to do for the first other one."""
    known = [f.name for f in dataclasses.fields(Settings)]
    needless = []
    for name in names:
        if name in _NEEDLESS_IN_TRAIN:
            needless.append(name)
            continue
        setting = {"start_alpha": "alpha", "end_alpha": "min_alpha"}.get(name, name)
        if setting in known:
            hint = f"the setting {setting} holds for all of the training; give it to MUSE(...)"
        else:
            hint = _OTHER_NAMES.get(name, "help(muse.MUSE.train) lists what it takes")
        raise TypeError(f"{name!r} is not an argument of train: {hint}")
    return needless
