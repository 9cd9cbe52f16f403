"""A CUDA device for training and queries: whether there is one here, and what it lacks otherwise.

The backend is a part of the package that is built on request only (docs/cuda.md). ``MUSE(..., device="cuda")`` and
``MUSE.load(..., device="cuda")`` use it; this module is for looking before.

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
import logging
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["describe_device", "is_available", "missing"]

logger = logging.getLogger("muse")
Made = TypeVar("Made")

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


def backend_for(device: str, what: str) -> Any:
    """The extension if a setting of `device` has `what` done there; None: on the CPU, with a log line for "auto".

    Raises
    ------
    RuntimeError
        If `device` is "cuda" and there is none; the message says what is missing: build, driver or device.
    """
    if device == "cpu":
        return None
    reason = missing()
    if not reason:
        return load()
    if device == "cuda":
        raise RuntimeError(f"device='cuda' is not available: {reason}; use device='cpu' or 'auto'")
    logger.info("device='auto': %s on the CPU, since %s", what, reason)
    return None


def make_on(device: str, what: str, make: Callable[[Any], Made]) -> Made | None:
    """What `make` makes of the extension (`backend_for`), or None: the CPU does it.

    Raises
    ------
    RuntimeError, InsufficientMemoryError
        If `device` is "cuda" and cannot do it. With "auto", a model that is too large for the device stays on the CPU.
    """
    backend = backend_for(device, what)
    if backend is None:
        return None
    try:
        return make(backend)
    except (MemoryError, ValueError) as error:
        if device == "cuda":
            raise
        logger.info("device='auto': %s on the CPU, since %s", what, error)
        return None
