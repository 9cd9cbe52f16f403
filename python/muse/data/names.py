"""Names that users try which are no settings of the constructor, and what to use here."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import numpy as np

from muse.data.table import Home

__all__ = ["REMOVED", "reject_unknown", "reject_unknown_in_train", "without_gensims_own"]

REMOVED: dict[str, tuple[Any, str]] = {
    "posterior_selects": (False, "targets take their sense from the selector alone; no study showed a use of it"),
    "cross_sentences": (False, "contexts end with their sentence, which scored higher; longer sentences reach further"),
    "group_negatives": (None, "a group shares as many negatives as suits its size; other numbers gained nothing"),
}
"""Settings that are gone: the only value that still means something, and what holds now."""

_OTHER_NAMES = {
    "size": "it is called vector_size, as in gensim 4",
    "iter": "it is called epochs, as in gensim 4",
    "dim": "it is called vector_size",
    "dimension": "it is called vector_size",
    "embedding_size": "it is called vector_size",
    "batch_size": "it is MUSE(recipe=Split(engine=Engine(batch_tokens=...)))",
    "hashfxn": "random numbers depend on seed alone; leave it out",
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


_ONLY = {
    "sg": (1, "MUSE is always skip-gram, and has no CBOW; leave it out, or give sg=1"),
    "hs": (0, "there is no hierarchical softmax here; leave it out, and give negative=5 or so"),
    "null_word": (0, "only gensim's CBOW needs one; leave it out"),
}
"""Arguments of gensim's that mean what is done anyway with one value, and nothing that can be done with another."""

_IDLE = ("compute_loss", "cbow_mean", "comment", "batch_words")  # what they say is done anyway, or changes no vector
_FLAGS = ("sorted_vocab", "shrink_windows")  # gensim's scripts write 0 and 1


def without_gensims_own(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without those of gensim's that mean what is done anyway; a ValueError where one does not.

    Examples
    --------
    >>> without_gensims_own({"sg": 1, "hs": 0, "window": 3, "sorted_vocab": 1})
    {'window': 3, 'sorted_vocab': True}
    """
    left = {}
    for name, value in given.items():
        if name in _ONLY:
            only, reason = _ONLY[name]
            if not isinstance(value, (int, np.integer, np.bool_)) or value != only:
                raise ValueError(f"{name}={value!r:.40} cannot be had: {reason}")
        elif name not in _IDLE:
            left[name] = bool(value) if name in _FLAGS and type(value) is int and value in (0, 1) else value
    return left


def reject_unknown(given: Mapping[str, Any], known: Mapping[str, Home | None]) -> None:
    """Raise a TypeError for the first name that is no setting of the constructor; it says where the setting is.

    Parameters
    ----------
    given : mapping
        Names and values.
    known : mapping
        The settings; None are those of the constructor, others have their home elsewhere.
    """
    for name, value in given.items():
        if name in known and known[name] is None:
            continue
        raise TypeError(f"{name!r} is not a setting of MUSE: {_hint(name, value, known)}")


def _hint(name: str, value: Any, known: Mapping[str, Home | None]) -> str:
    home = known.get(name)
    if home is not None:
        return _place(name, f"{value!r:.40}", home)
    if name in REMOVED:
        return f"it was removed, leave it out ({REMOVED[name][1]})"
    if name in _OTHER_NAMES:
        return _OTHER_NAMES[name]
    near = difflib.get_close_matches(name, known, n=1)
    if not near:
        return "help(muse.MUSE) lists the settings"
    found = known[near[0]]
    return f"did you mean {near[0] if found is None else f'{found.name} of muse.{found.owner}'}?"


def _place(name: str, value: str, home: Home) -> str:
    if name == "init":
        now = "recipe=Paper(...)" if "random" in value else "recipe=Split(...)"
        return f"init={value} is now MUSE({now})"
    given = f"{home.name}={value}"
    if home.owner in ("Context", "Engine"):
        given = f"{home.owner.lower()}={home.owner}({given})"
    recipe = home.owner if home.owner in ("Paper", "Trees") else "Split"
    return f"it is {'' if recipe == 'Trees' else 'now '}MUSE(recipe={recipe}({given}))"


# What gensim's `train` takes and needs, and MUSE's does not: the text itself says it, or nothing depends on it.
_NEEDLESS_IN_TRAIN = ("total_words", "batch_words", "word_count", "compute_loss", "queue_factor", "report_delay")


def reject_unknown_in_train(names: Mapping[str, Any], known: Mapping[str, Home | None]) -> list[str]:
    """The names of arguments that `MUSE.train` may ignore; a TypeError that says what to do for the first other one."""
    needless = []
    for name in names:
        if name in _NEEDLESS_IN_TRAIN:
            needless.append(name)
            continue
        if name in ("alpha", "min_alpha"):
            hint = (
                f"the learning rates of one call are {'start_alpha' if name == 'alpha' else 'end_alpha'}, as in gensim"
            )
        elif name in known:
            home = known[name]
            where = name if home is None else f"{home.name} of {home.owner}"
            hint = f"the setting {where} holds for all of the training; give it to MUSE(...)"
        else:
            hint = _OTHER_NAMES.get(name, "help(muse.MUSE.train) lists what it takes")
        raise TypeError(f"{name!r} is not an argument of train: {hint}")
    return needless
