"""Models that come as packages of their own: found where they are installed, by an entry point."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from muse.errors import ModelFileError
from muse.model.muse import MUSE

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["is_pretrained", "load_pretrained", "pretrained_file"]

GROUP = "muse.pretrained"
"""Of entry points: the name of a model, and an object of the package that is the path of its file."""

PACKAGES = {"wiki-en-small": "muse-senses-wiki-en-small"}  # that there are, installed or not


def load_pretrained(name: str = "wiki-en-small", *, mmap: bool = True, **runtime: Any) -> MUSE:
    """A model to start with, from a package that is installed beside this one.

    Parameters
    ----------
    name : str
        ``"wiki-en-small"``: 20,000 words of English Wikipedia, in the package ``muse-senses-wiki-en-small``; or what
        another package brings under the entry points ``muse.pretrained``.
    mmap : bool
        Map its file into memory, see `MUSE.load`.
    **runtime
        Settings that a file does not hold, such as ``workers=``.

    Returns
    -------
    MUSE
        It can be asked, cut anew, saved under another name, and trained on.

    Raises
    ------
    ModuleNotFoundError
        If the package is not installed; the message has the command that installs it.
    ValueError
        For a name that no known package has.

    Examples
    --------
    >>> from muse.datasets import load_pretrained
    >>> model = load_pretrained("wiki-en-small")  # doctest: +SKIP
    >>> model.select_sense("bank", "the bank of the river")  # doctest: +SKIP
    1
    """
    return MUSE.load(pretrained_file(name), mmap=mmap, **runtime)


def is_pretrained(name: str) -> bool:
    """Whether a package is known that brings a model of this name, installed or not."""
    return name in PACKAGES or name in _installed()


def _installed() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # slow, and only needed here

    return {found.name: found for found in entry_points(group=GROUP)}


def pretrained_file(name: str) -> str:
    """The path of the model's file; errors are those of `load_pretrained`."""
    installed = _installed()
    if isinstance(name, str) and name in installed:
        return _path(installed[name])
    if not isinstance(name, str) or name not in PACKAGES:
        listed = ", ".join(map(repr, sorted({*PACKAGES, *installed})))
        raise ValueError(f"there is no pretrained model {name!r:.80}; there are {listed}")
    raise ModuleNotFoundError(
        f"the model {name!r} is in a package of its own; install it with: pip install {PACKAGES[name]} (or, from a "
        "clone of the repository: pip install ./data)",
        name=PACKAGES[name].replace("-", "_"),
    )


def _path(found: EntryPoint) -> str:
    try:
        path = os.fspath(found.load())
    except (ImportError, AttributeError, TypeError) as error:
        of = f" ({found.dist.name})" if found.dist else ""
        raise ModelFileError(
            f"the package of the pretrained model {found.name!r}{of} is damaged: {error}; install it again"
        ) from error
    return str(path)
