"""Models with names of senses, for tests."""

from __future__ import annotations

from muse import MUSE
from muse.datasets import make_ambiguous_corpus
from toy import toy_model

CORPUS = make_ambiguous_corpus(2000, 300, seed=0)
SMALL = {"vector_size": 16, "epochs": 2, "workers": 1, "min_count": 1, "seed": 1}


def named(model: MUSE) -> MUSE:
    """A model with trees, in which the parts of one of the joins of "bank" that are senses have names now."""
    one, other = parts_of(model)
    model.name_sense(f"bank#{one}", "money")
    model.name_sense(("bank", other), "river")
    return model


def parts_of(model: MUSE) -> tuple[int, int]:
    tree = model.sense_tree("bank", 0)
    return next(parts for _, parts in tree.joins if set(parts) <= set(tree.senses))


def join_of(model: MUSE) -> int:
    return next(number for number, parts in model.sense_tree("bank", 0).joins if parts == parts_of(model))


def toy() -> MUSE:
    """Without trees: "head" has three senses, "bank" two."""
    model = toy_model()
    model.name_sense("head#1", "chief")
    model.name_sense("head#2", "body part")
    return model


def interrupt(*_):
    raise KeyboardInterrupt
