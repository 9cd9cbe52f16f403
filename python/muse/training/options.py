"""The options of the core's trainer, from a model's settings."""

from __future__ import annotations

from muse import _core
from muse.data.settings import Settings
from muse.data.table import declared
from muse.selector.selection import selection_options

__all__ = ["core_options"]


def core_options(settings: Settings, epochs: int, *, words: bool = False) -> _core.Options:
    """The core's options (src/cpp/model/options.h); `words` for the word-level warm start.

    The table of settings says which option takes a setting as it is (``core=`` and ``enum=`` there); what more than one
    setting decides is here.
    """
    options = _core.Options()
    for name, item in declared(Settings).items():
        if option := item.metadata["core"]:
            value, enum = getattr(settings, name), item.metadata["enum"]
            setattr(options, option, getattr(_core, enum)[value] if enum else value)
    options.selection = selection_options(settings)
    options.shrink_selection = settings.selection_window is None
    options.selection_mean = settings.selection_reduction == "mean"
    options.min_alpha = settings.alpha if settings.min_alpha is None else settings.min_alpha
    options.epochs = epochs
    if words:  # nothing to select
        options.selection_update = _core.SelectionUpdate.none
        options.formulation = _core.Formulation.one_sided
    return options
