"""Docstrings say what users need, and the examples in them are true."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import muse

MODULES = ["muse", *sorted(module.name for module in pkgutil.walk_packages(muse.__path__, "muse."))]
SECTION = re.compile(r"^(\w+)\n-{3,}$", re.MULTILINE)


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


# -- what users import -------------------------------------------------------------------------------------------------


def public() -> dict[str, Any]:
    """Each public class, function, method and property of the package, by its name."""
    found: dict[str, Any] = {}
    for name in muse.__all__:
        thing = getattr(muse, name)
        if inspect.isclass(thing):
            found[name] = thing
            for member, _ in inspect.getmembers(thing):
                static = inspect.getattr_static(thing, member)
                if not member.startswith("_") and _is_documentable(static):
                    found[f"{name}.{member}"] = static
        elif callable(thing):
            found[name] = thing
    return found


def _is_documentable(member: Any) -> bool:
    own = getattr(member, "fget", member)  # of a property
    own = getattr(own, "__func__", own)
    return inspect.isfunction(own) and own.__module__.startswith("muse")


def functions() -> Iterator[tuple[str, Callable[..., Any], str]]:
    """Public functions and methods with their docstrings."""
    for name, thing in public().items():
        function = getattr(thing, "__func__", thing)
        if inspect.isfunction(function):
            yield name, function, inspect.getdoc(function) or ""


def raised(function: Callable[..., Any]) -> set[str]:
    """The errors that the body of a function raises itself."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    errors = (node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call))
    return {error.func.id for error in errors if isinstance(error.func, ast.Name)}


def test_there_is_much_to_check() -> None:
    assert len(public()) > 120
    assert {"MUSE.merge_senses", "MUSE.vocabulary", "SenseVectors.most_similar", "encode_corpus"} <= public().keys()


def test_everything_has_a_docstring() -> None:
    assert [name for name, thing in public().items() if not inspect.getdoc(thing)] == []


def test_every_parameter_is_explained() -> None:
    """In a list of parameters, by its name in the text, or by naming a method that has the same ones."""
    missing = []
    for name, function, doc in functions():
        listed = re.findall(r"^\*{0,2}([\w, *]+?)(?: :.*)?$", doc, re.MULTILINE)
        named = {part.strip(" *") for line in listed for part in line.split(",")} | set(re.findall(r"`+(\w+)[`=]", doc))
        parameters = [p for p in inspect.signature(function).parameters if p not in ("self", "cls")]
        elsewhere = re.search(r"[Pp]arameters (are )?(those of|as in) `", doc)
        if len(parameters) > 1 and not elsewhere:
            missing += [f"{name}({p})" for p in parameters if p not in named]
    assert missing == []


def test_what_has_parameters_says_what_it_returns() -> None:
    missing = []
    for name, function, doc in functions():
        sections = set(SECTION.findall(doc))
        returns = inspect.signature(function).return_annotation not in (None, "None", inspect.Signature.empty)
        if "Parameters" in sections and returns and not sections & {"Returns", "Yields"}:
            missing.append(name)
    assert missing == []


def test_errors_that_are_raised_are_named() -> None:
    missing = [
        f"{name}: {error}" for name, function, doc in functions() for error in raised(function)
        if "Raises" not in SECTION.findall(doc) and error not in doc
    ]  # fmt: skip
    assert missing == []


def test_classes_and_the_main_methods_have_examples() -> None:
    missing = []
    for name, thing in public().items():
        doc = inspect.getdoc(thing) or ""
        apt = "Parameters" in SECTION.findall(doc) and name.startswith(("MUSE", "encode_corpus"))
        apt = apt or (inspect.isclass(thing) and not issubclass(thing, BaseException))
        if apt and ">>>" not in doc:
            missing.append(name)
    assert missing == []
