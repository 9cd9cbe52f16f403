"""Training on a CUDA device: whether it is possible here, and what it lacks otherwise.

The backend is a part of the package that is built on request only (docs/cuda.md). ``MUSE(..., device="cuda")`` uses it;
this module is for looking before.

Examples
--------
>>> from muse import cuda
>>> cuda.is_available()  # doctest: +SKIP
True
>>> cuda.describe_device()  # doctest: +SKIP
'NVIDIA H100 80GB HBM3, 85.03 GB, 132 multiprocessors, compute capability 9.0'
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["describe_device", "is_available", "missing"]

_REASONS = {
    "driver": "there is no NVIDIA driver here, or it is too old for the CUDA version of this build",
    "device": "no CUDA device is visible here",
}


def load() -> Any:
    """The extension `muse._cuda`; an ImportError where it was not built or its libraries are missing."""
    return importlib.import_module("muse._cuda")


def missing() -> str:
    """What keeps the CUDA backend from working, in words; an empty string where nothing does."""
    try:
        backend = load()
    except ModuleNotFoundError:
        return "this build of muse has no CUDA backend (docs/cuda.md says how to build it)"
    except ImportError as error:
        return f"the CUDA backend of this build cannot be loaded ({error})"
    lacks: str = backend.missing()
    return _REASONS.get(lacks, str(lacks))


def is_available() -> bool:
    """Whether ``device="cuda"`` works here."""
    return not missing()


def describe_device() -> str:
    """Name, memory and processors of the device in use.

    Raises
    ------
    RuntimeError
        If `is_available` is false; the message says why.
    """
    if reason := missing():
        raise RuntimeError(f"no CUDA device can be used: {reason}")
    return str(load().describe_device())
