"""Libraries that are only there if somebody wanted them."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["needed", "not_installed"]

_PACKAGES = {"sklearn": "scikit-learn", "umap": "umap-learn"}


def needed(module: str, what: str, extra: str = "") -> Any:
    """Import a module; an ImportError that says how to install it, if it is missing.

    Parameters
    ----------
    module : str
        Its name.
    what : str
        What needs it.
    extra : str, optional
        The extra of this package that brings it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise not_installed(module, what, extra) from error


def not_installed(module: str, what: str, extra: str = "") -> ImportError:
    """The error for a module that is missing, with the command that installs it."""
    name = module.partition(".")[0]
    package = _PACKAGES.get(name, name)
    command = f"pip install 'muse-senses[{extra}]'" if extra else f"pip install {package}"
    return ImportError(f"{what} needs {package}; install it with: {command}")
