"""Every setting of a model, in one table: its name, default, range and meaning.

`Settings` checks values when it is made and never changes afterwards. The settings that say *what* a model is are
stored in its file; those that only say *how* to run (threads, device, callbacks, ...) are not.
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import math
import numbers
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any, Literal

import numpy as np

from muse.callbacks import HOOKS

__all__ = ["Settings", "PAPER_DEFAULTS"]

MAX_SENSES = 1000  # of one word
POLICIES = ("policy", "smooth_policy")
AUTO_SENSES = 3  # the most that senses="auto" tries

# ---------------------------------------------------------------------------------------------------------------------
# Checks: each takes a setting's name and value, and returns the value as it is kept or raises an error that says what
# is allowed.

Check = Callable[[str, Any], Any]


def _setting(default: Any, check: Check, doc: str, *, runtime: bool = False) -> Any:
    return field(default=default, metadata={"check": check, "doc": doc, "runtime": runtime})


def _choice(*allowed: str) -> Check:
    def check(name: str, value: Any) -> str:
        if isinstance(value, str) and value in allowed:
            return value
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}")

    return check


def _flag(name: str, value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise TypeError(f"{name} must be True or False; got {value!r}")


def _integer(low: int, high: int) -> Check:
    def check(name: str, value: Any) -> int:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
            raise TypeError(f"{name} must be an integer from {low} to {high}; got {value!r}")
        number = int(value)
        if not low <= number <= high:
            raise ValueError(f"{name} must be from {low} to {high}; got {number}")
        return number

    return check


def _number(low: float, high: float, *, above: bool = False) -> Check:
    """A number from `low` (or above it) to `high`."""
    span = f"above {low:g} and at most {high:g}" if above else f"from {low:g} to {high:g}"

    def check(name: str, value: Any) -> float:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
            raise TypeError(f"{name} must be a number {span}; got {value!r}")
        number = float(value)
        if math.isnan(number) or not low <= number <= high or (above and number == low):
            raise ValueError(f"{name} must be a number {span}; got {value}")
        return number

    return check


def _optional(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


def _path(name: str, value: Any) -> str:
    if not isinstance(value, (str, PathLike)):
        raise TypeError(f"{name} must be a path; got {value!r}")
    return str(fspath(value))


def _senses(name: str, value: Any) -> int | str | dict[str, int]:
    if value == "auto":
        return "auto"
    if isinstance(value, Mapping):
        count = _integer(1, MAX_SENSES)
        for word in value:
            if not isinstance(word, str):
                raise TypeError(f"the keys of {name} must be words (str); got {word!r}")
        return {word: count(f"{name}[{word!r}]", k) for word, k in value.items()}
    if isinstance(value, numbers.Integral):
        return int(_integer(1, MAX_SENSES)(name, value))
    raise TypeError(f"{name} must be an integer, a dict {{word: senses}}, or 'auto'; got {value!r}")


def _interval(name: str, value: Any) -> int | str:
    if isinstance(value, str):
        if re.fullmatch(r"[1-9][0-9]*s", value):
            return value
        raise ValueError(f"{name} must be a number of tokens or seconds such as '600s'; got {value!r}")
    return int(_integer(1, 2**62)(name, value))


def _trim_rule(name: str, value: Any) -> Callable[[str, int, int], Any]:
    if not callable(value):
        raise TypeError(f"{name} must be a function of (word, count, min_count), as in gensim; got {value!r}")
    return value  # type: ignore[no-any-return]


def _callbacks(name: str, value: Any) -> tuple[Any, ...]:
    if not isinstance(value, Iterable):
        raise TypeError(f"{name} must be a list of callbacks; got {value!r}")
    callbacks = tuple(value)
    for callback in callbacks:
        if isinstance(callback, type):
            raise TypeError(f"{name} holds the class {callback.__name__}; give an instance: {callback.__name__}()")
        if not any(callable(getattr(callback, hook, None)) for hook in HOOKS):
            raise TypeError(f"{callback!r} in {name} has none of the methods {', '.join(HOOKS)}")
    return callbacks


# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The checked settings of one model; see ``help(MUSE)`` for the list.

    Raises
    ------
    TypeError
        For a name that is no setting (with the right name, if it is gensim's) or a value of the wrong type.
    ValueError
        For a value out of range, with the allowed ones.
    """

    senses: int | Literal["auto"] | Mapping[str, int] | None = _setting(
        None, _optional(_senses), "Senses of a word, at most; {word: senses} gives each word its own, and one sense to "
        "words not in it; 'auto' lets the contexts of each word decide. None: 'auto', or 3 with init='random'."
    )  # fmt: skip
    strategy: str = _setting(
        "greedy", _choice("greedy", "eps_greedy", "boltzmann", "policy", "smooth_policy"),
        "How training picks a sense for a token (section 3.3 of the paper)."
    )  # fmt: skip
    formulation: str = _setting(
        "one_sided", _choice("one_sided", "two_sided", "factorized"),
        "Whose selection learns from the reward: the target's, the collocate's too, or through value factors."
    )  # fmt: skip
    reward: str = _setting(
        "likelihood", _choice("likelihood", "sampled_likelihood"),
        "The collocation likelihood alone, or with its negative samples; for the value strategies."
    )  # fmt: skip
    vector_size: int = _setting(300, _integer(1, 65536), "Dimension of the sense vectors.")
    selection_size: int | None = _setting(
        None, _optional(_integer(1, 65536)), "Dimension of the selection module; None means vector_size."
    )
    window: int = _setting(5, _integer(1, 10_000), "Positions on each side of a word that count as its context.")
    min_count: int = _setting(5, _integer(0, 2**62), "Rarer words are dropped.")
    max_vocab_size: int | None = _setting(
        None, _optional(_integer(1, 2**31 - 2)), "While counting, forget the rarest words above this number."
    )
    max_final_vocab: int | None = _setting(
        None, _optional(_integer(1, 2**31 - 2)), "Keep at most this many words, by raising min_count."
    )
    sample: float = _setting(
        1e-4, _number(0, 1), "Threshold of subsampling: words above this share of the text are thinned out; 0: none."
    )
    negative: int = _setting(5, _integer(0, 10_000), "Negative senses for each pair.")
    ns_exponent: float = _setting(0.75, _number(-10, 10), "Exponent of the word counts when negatives are drawn.")
    alpha: float = _setting(0.025, _number(0, 10, above=True), "Learning rate of the sense vectors at the start.")
    min_alpha: float | None = _setting(
        0.0001, _optional(_number(0, 10)), "Learning rate at the end, linear in between; None: constant."
    )
    selection_alpha: float = _setting(0.01, _number(0, 100), "Learning rate of the selection module at the start.")
    epsilon: float = _setting(0.05, _number(0, 1), "Share of random senses in eps_greedy.")
    temperature: float = _setting(
        1.0, _number(0, 1e6, above=True), "Of the softmax over senses: small is close to greedy, large to random."
    )
    epochs: int = _setting(5, _integer(1, 1_000_000), "Passes over the corpus.")
    seed: int = _setting(1, _integer(0, 2**64 - 1), "Same seed and one worker: same model, bit for bit.")
    workers: int | None = _setting(None, _optional(_integer(1, 4096)), "Threads; None: all cores.", runtime=True)
    trim_rule: Callable[[str, int, int], Any] | None = _setting(
        None, _optional(_trim_rule), "gensim's rule (word, count, min_count) -> RULE_KEEP, RULE_DISCARD, RULE_DEFAULT.",
        runtime=True,
    )  # fmt: skip
    sorted_vocab: bool = _setting(True, _flag, "Number the words by falling count.")
    shrink_windows: bool = _setting(True, _flag, "Draw each target's window from 1..window, as word2vec does.")
    collocates: str = _setting("all", _choice("one", "all"), "Collocates of a target: one drawn at random, or all.")
    batch_tokens: int = _setting(2048, _integer(1, 2**31 - 1), "Tokens between two updates of the selection module.")
    callbacks: Sequence[Any] = _setting((), _callbacks, "Objects with the hooks of muse.Callback.", runtime=True)
    progress: bool = _setting(False, _flag, "Show a progress bar.", runtime=True)
    device: str = _setting("cpu", _choice("cpu", "cuda", "auto"), "Where to train.", runtime=True)
    checkpoint_dir: str | PathLike[str] | None = _setting(
        None, _optional(_path), "Folder for checkpoints; None: none are written.", runtime=True
    )
    checkpoint_every: int | str | None = _setting(
        None, _optional(_interval), "Tokens, or seconds as in '600s', between checkpoints; None: each epoch.",
        runtime=True,
    )  # fmt: skip
    max_ram: int | None = _setting(
        None, _optional(_integer(0, 2**62)),
        "Bytes of encoded text kept in memory, beyond which it goes to a temporary file; None: half of the machine's "
        "memory; 0: no limit.",
        runtime=True,
    )  # fmt: skip

    # Beyond the paper.
    init: str | None = _setting(
        None, _optional(_choice("random", "split")),
        "Random vectors, or a word-level warm start whose contexts are then clustered into senses. None: 'split', or "
        "'random' where selection_size differs from vector_size."
    )  # fmt: skip
    warmup_epochs: int = _setting(
        2, _integer(1, 1_000_000),
        "Of `epochs`, those at word level before init='split' makes the senses; at most half of them."
    )  # fmt: skip
    whitening: float = _setting(
        0.75, _number(0, 1),
        "How far init='split' evens out the directions in which the contexts of one and the same word vary: "
        "0 not at all, 1 wholly."
    )  # fmt: skip
    min_contexts: int = _setting(
        20, _integer(1, 2**31 - 1), "init='split' makes no sense from fewer uses than this: rare words get fewer senses."
    )  # fmt: skip
    selection_update: str | None = _setting(
        None, _optional(_choice("paper", "posterior", "none")),
        "How the selection module learns: the paper's way, by comparing a word's senses on the same evidence, or not. "
        "None: 'posterior', or 'paper' where strategy or formulation exclude it."
    )  # fmt: skip
    posterior_weight: float = _setting(
        0.3, _number(0, 1e6), "Weight of the collocates' evidence in selection_update='posterior'."
    )
    posterior_selects: bool = _setting(
        False, _flag, "With selection_update='posterior', targets take their sense from the posterior, not from the "
        "selector alone."
    )  # fmt: skip
    context: str = _setting("mean", _choice("sum", "mean"), "How the context's vectors are put together.")
    context_weights: str = _setting(
        "sqrt_keep", _choice("none", "keep", "sqrt_keep"),
        "Weigh context words by the probability that subsampling keeps them, or its square root."
    )  # fmt: skip
    distance_power: float = _setting(
        1.0, _number(0, 10), "A context word at distance d weighs d ** -distance_power; 0: all the same."
    )
    context_center: bool = _setting(
        False, _flag, "Whether the word itself counts as its context, which gives each sense a bias of its own."
    )
    full_text: bool = _setting(
        True, _flag, "In training, let the selector see every token, as it does in use, not only those that "
        "subsampling kept."
    )  # fmt: skip
    selection_window: int | None = _setting(
        20, _optional(_integer(1, 10_000)),
        "Window of the selection module; None: window, and in training the shrunk one."
    )  # fmt: skip
    cross_sentences: bool = _setting(False, _flag, "Let the selection context reach into neighbouring sentences.")
    train_context_vectors: bool = _setting(False, _flag, "Whether the selection module's word vectors learn.")
    sibling_share: float = _setting(
        0.5, _number(0, 1), "Part of each sense's update that the word's other senses get too."
    )
    collocation: str | None = _setting(
        None, _optional(_choice("sense", "word")),
        "One collocation vector a sense, or one a word. None: 'word', or 'sense' where formulation needs it."
    )  # fmt: skip
    initial_scale: float = _setting(0.1, _number(0, 100, above=True), "Length of the initial sense vectors.")
    max_norm: float = _setting(30.0, _number(0, 1e9), "Longest vector allowed in the selection module; 0: no limit.")
    group_size: int = _setting(16, _integer(1, 1024), "Targets in a row that share their negatives; 1: none do.")
    group_negatives: int | None = _setting(
        None, _optional(_integer(1, 65536)), "Negatives that a group shares; None: as many as targets."
    )
    selection_reduction: str = _setting(
        "sum", _choice("sum", "mean"), "Whether a batch's updates of the selection module add up or are averaged."
    )

    def __post_init__(self) -> None:
        for item in dataclasses.fields(self):
            checked = item.metadata["check"](item.name, getattr(self, item.name))
            object.__setattr__(self, item.name, checked)
        self._resolve()
        self._check_combinations()

    def _resolve(self) -> None:
        """Choose what was left open (None) to fit what was not."""

        left_open = []

        def choose(name: str, usual: Any, other: Any, fits: bool) -> None:
            if getattr(self, name) is None:
                left_open.append(name)
                object.__setattr__(self, name, usual if fits else other)

        one_sided = self.formulation == "one_sided"
        choose("init", "split", "random", self.selection_size in (None, self.vector_size))
        choose("senses", "auto", 3, self.init == "split")
        choose("selection_update", "posterior", "paper", one_sided and self.strategy not in POLICIES)
        choose("collocation", "word", "sense", one_sided)
        object.__setattr__(self, "_left_open", tuple(left_open))

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
        if self.max_vocab_size and self.max_final_vocab and self.max_vocab_size < self.max_final_vocab:
            raise ValueError(
                f"max_vocab_size ({self.max_vocab_size}) limits the words while counting, so it must not be below "
                f"max_final_vocab ({self.max_final_vocab})"
            )

    # -- what the settings imply -------------------------------------------------------------------------------------

    @property
    def selection_dim(self) -> int:
        """S: the dimension of the selection module."""
        return self.vector_size if self.selection_size is None else self.selection_size

    def senses_of(self, words: Sequence[str]) -> np.ndarray:
        """How many senses each word starts with, int64 (V,)."""
        if isinstance(self.senses, Mapping):
            return np.fromiter((self.senses.get(word, 1) for word in words), np.int64, len(words))
        start = AUTO_SENSES if isinstance(self.senses, str) else self.senses
        return np.full(len(words), start, np.int64)

    def replace(self, **changes: Any) -> Settings:
        """A copy with some settings changed, checked like any other; what was left open is chosen anew."""
        reject_unknown(changes)
        left_open: tuple[str, ...] = getattr(self, "_left_open", ())
        return dataclasses.replace(self, **{**dict.fromkeys(left_open), **changes})

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
    def from_json(cls, stored: Mapping[str, Any], **runtime: Any) -> Settings:
        """Settings from `to_json`, checked like those of a user.

        Settings that a file written by an older version lacks take their defaults.

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
            return cls(**stored, **runtime)
        except TypeError as error:
            raise ValueError(str(error)) from error

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
