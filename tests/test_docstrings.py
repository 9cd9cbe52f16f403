"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import muse

MODULES = ["muse", *sorted(module.name for module in pkgutil.walk_packages(muse.__path__, "muse."))]


@pytest.mark.parametrize("name", [name for name in MODULES if name not in ("muse.__main__", "muse._core")])
def test_examples(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        if not name.startswith("muse.integrations."):
            raise
        pytest.skip(str(error))
    outcome = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert outcome.failed == 0, "see the captured output"


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    modules = [name for name in MODULES[1:] if not name.startswith("muse.integrations.")]  # may lack their libraries
    examples = [test for name in modules for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(examples) >= 5
