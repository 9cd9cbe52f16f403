"""Hooks into training, with gensim's names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muse.model.muse import MUSE

__all__ = ["Callback", "HOOKS"]

HOOKS = ("on_train_begin", "on_epoch_begin", "on_epoch_end", "on_train_end")


class Callback:
    """Base class of training callbacks; override the hooks that you need.

    Any object with these methods serves as well, so callbacks written for gensim's ``CallbackAny2Vec`` work unchanged.
    The arrays of the model may be read in a hook, and a hook may save the model.

    Examples
    --------
    >>> class PrintLoss(Callback):
    ...     def on_epoch_end(self, model):
    ...         print(model.history[-1]["loss"])
    """

    def on_train_begin(self, model: MUSE) -> None:
        """Called once, before the first epoch of a call of ``train``."""

    def on_epoch_begin(self, model: MUSE) -> None:
        """Called before each epoch."""

    def on_epoch_end(self, model: MUSE) -> None:
        """Called after each epoch, when its row has been added to ``model.history``."""

    def on_train_end(self, model: MUSE) -> None:
        """Called once, after the last epoch, also when Ctrl-C ended training early."""
