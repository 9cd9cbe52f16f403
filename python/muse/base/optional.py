"""Libraries that are only there if somebody wanted them."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["needed"]


def needed(module: str, what: str) -> Any:
    """Import a module; an ImportError that says how to install it, if it is missing.

    Parameters
    ----------
    module : str
        Its name.
    what : str
        What needs it.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{what} needs {package}; install it with: pip install {package}") from error
