"""What a model tells of its training under gensim's names, and gensim's steps of making vectors.

These functions are properties and methods of `MUSE`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from muse.model.gensim_names import firsts_of_calls, get_latest_training_loss
from muse.model.guard import Model, changes

__all__ = [
    "batch_words",
    "cum_table",
    "init_sims",
    "init_weights",
    "layer1_size",
    "min_alpha_yet_reached",
    "of_class",
    "prepare_weights",
    "raw_vocab",
    "running_training_loss",
    "say_that_rates_rise",
    "total_train_time",
    "train_count",
    "update_weights",
]

logger = logging.getLogger("muse")

_DOMAIN = 2**31 - 1  # what gensim's table ends with

if TYPE_CHECKING:
    of_class = classmethod
else:

    class of_class(classmethod):  # as classmethod
        """A method of a class that an instance does not have: it would be left as it is, which nobody expects."""

        def __get__(self, instance: object, owner: type | None = None) -> Callable[..., Any]:
            if instance is not None:
                raise AttributeError(self.__func__.__name__)  # the model's own `__getattr__` says what to do
            return super().__get__(instance, owner)


def running_training_loss(self: Model) -> float:
    """What `get_latest_training_loss` gives."""
    return get_latest_training_loss(self)


def total_train_time(self: Model) -> float:
    """Seconds of all epochs in `history`; files do not keep them."""
    return float(sum(row.get("seconds", 0.0) for row in self.history))


def train_count(self: Model) -> int:
    """How often training has begun."""
    return len(firsts_of_calls(self.history))


def min_alpha_yet_reached(self: Model) -> float:
    """The lowest learning rate so far; before training, `alpha`."""
    trained = [row for row in self.history if row.get("stage") != "trees"]  # making trees has no rate
    return float(min((row["end_alpha"] for row in trained if "end_alpha" in row), default=self.snapshot.settings.alpha))


def layer1_size(self: Model) -> int:
    """`vector_size`, under a name that gensim has too."""
    return self.snapshot.settings.vector_size


def batch_words(self: Model) -> int:
    """Tokens of a batch: ``settings.batch_tokens``."""
    return self.snapshot.settings.batch_tokens


def raw_vocab(self: Model) -> Mapping[str, int]:
    """What `scan_vocab` has counted, read-only; empty without it, as in gensim after `build_vocab`."""
    return MappingProxyType(self._scanned or {})


def cum_table(self: Model) -> NDArray[np.uint32]:
    """How negatives are drawn: count ** ns_exponent summed up over the words, uint32 (V,), the last 2^31 - 1."""
    snapshot = self.snapshot
    counts = snapshot.vocabulary.counts.astype(np.float64)
    weights = np.power(counts, snapshot.settings.ns_exponent, out=np.zeros_like(counts), where=counts > 0)
    share = np.cumsum(weights) / max(weights.sum(), np.finfo(np.float64).tiny)
    table: NDArray[np.uint32] = np.round(share * _DOMAIN).astype(np.uint32)
    return table


@changes
def init_weights(self: Model) -> None:
    """Forget what was learned, and keep the words: training starts afresh.

    Examples
    --------
    >>> from muse import MUSE
    >>> model = MUSE([["a", "b"]] * 9, min_count=1, vector_size=4, sample=0)
    >>> model.init_weights()
    >>> model.is_trained, len(model.wv)
    (False, 2)
    """
    self._corpus, self.history = None, []
    snapshot = self.snapshot
    self.publish(snapshot.replace(numbers=None, training_state={}, forest=None))


def prepare_weights(self: Model, update: bool = False) -> None:
    """gensim's step behind `prepare_vocab`: `init_weights`, or with `update` nothing, since new words have vectors."""
    if not update:
        init_weights(self)


def update_weights(self: Model) -> None:
    """gensim's step behind ``prepare_vocab(update=True)``, which is done there already."""


def init_sims(self: Any, replace: bool = False) -> None:
    """As in gensim 4, needless; with `replace`, a TypeError that says how to have unit vectors."""
    self.wv.init_sims(replace=replace)


def say_that_rates_rise(self: Model, first: float) -> None:
    """A line in the log where a training begins with a higher rate than an earlier one has reached."""
    reached = min_alpha_yet_reached(self)
    if self.history and first > reached:
        logger.info(
            "Effective 'alpha' higher than previous training cycles: it begins at %g and had come down to %g; "
            "start_alpha= of train has a gentler one", first, reached,
        )  # fmt: skip
