"""The numbers that training begins with, for who looks at vectors before."""

from __future__ import annotations

import numpy as np

from muse.data.arrays import Arrays
from muse.data.snapshot import Snapshot
from muse.training.initial import initial_arrays

__all__ = ["first_arrays"]


def first_arrays(snapshot: Snapshot) -> Arrays:
    """The numbers of a model, or those that training would begin with."""
    if snapshot.numbers is not None:
        return snapshot.numbers
    senses = np.ones(len(snapshot.vocabulary), np.int64)
    if snapshot.settings.init != "split" and snapshot.settings.start is None:
        senses = snapshot.settings.senses_of(snapshot.vocabulary.words)
    counts = snapshot.vocabulary.counts
    return snapshot.once("first arrays", lambda: initial_arrays(snapshot.settings, senses, counts))
