"""Names that users try which are no settings of the constructor, and what to use here."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from muse.data.table import Home

__all__ = ["REMOVED", "reject_unknown", "reject_unknown_in_train"]

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
    "hs": "there is no hierarchical softmax here; use negative",
    "sg": "MUSE is always skip-gram; leave it out",
    "cbow_mean": "MUSE is always skip-gram; Context(combine='mean') averages the context of the selection module",
    "compute_loss": "the loss is always computed, see model.history",
    "batch_words": "it is MUSE(recipe=Split(engine=Engine(batch_tokens=...)))",
    "batch_size": "it is MUSE(recipe=Split(engine=Engine(batch_tokens=...)))",
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
_NEEDLESS_IN_TRAIN = ("total_words", "word_count", "compute_loss", "queue_factor", "report_delay")


def reject_unknown_in_train(names: Mapping[str, Any], known: Mapping[str, Home | None]) -> list[str]:
    """The names of arguments that `MUSE.train` may ignore; a TypeError that says what to do for the first other one."""
    needless = []
    for name in names:
        if name in _NEEDLESS_IN_TRAIN:
            needless.append(name)
            continue
        setting = {"start_alpha": "alpha", "end_alpha": "min_alpha"}.get(name, name)
        if setting in known:
            home = known[setting]
            where = setting if home is None else f"{home.name} of {home.owner}"
            hint = f"the setting {where} holds for all of the training; give it to MUSE(...)"
        else:
            hint = _OTHER_NAMES.get(name, "help(muse.MUSE.train) lists what it takes")
        raise TypeError(f"{name!r} is not an argument of train: {hint}")
    return needless
