"""Hooks into training, with gensim's names."""

from __future__ import annotations

from typing import Any

__all__ = ["Callback", "HOOKS"]

HOOKS = ("on_train_begin", "on_epoch_begin", "on_epoch_end", "on_train_end")


class Callback:
    """Base class of training callbacks; override the hooks that you need.

    Any object with these methods serves as well, so callbacks written for gensim's ``CallbackAny2Vec`` work unchanged.
    Each hook is given the `muse.MUSE` in training. Its arrays may be read in a hook, and a hook may save it.

    Examples
    --------
    >>> class PrintLoss(Callback):
    ...     def on_epoch_end(self, model):
    ...         print(model.history[-1]["loss"])
    """

    def on_train_begin(self, model: Any) -> None:
        """Called once, before the first epoch of a call of ``train``."""

    def on_epoch_begin(self, model: Any) -> None:
        """Called before each epoch."""

    def on_epoch_end(self, model: Any) -> None:
        """Called after each epoch, when its row has been added to ``model.history``."""

    def on_train_end(self, model: Any) -> None:
        """Called once, after the last epoch, also when Ctrl-C ended training early."""
