"""The type stubs of the extension name what the extension has; .ci/run checks their types with mypy.stubtest."""

from __future__ import annotations

import ast
from pathlib import Path

import muse
from muse import _core


def stubbed(body: list[ast.stmt]) -> set[str]:
    names = set()
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return {name for name in names if not name.startswith("_")}


def public(thing: object) -> set[str]:
    return {name for name in vars(thing) if not name.startswith("_")}


def test_the_stubs_name_what_the_extension_has():
    tree = ast.parse(Path(muse.__file__).with_name("_core.pyi").read_text(encoding="utf-8"))
    assert stubbed(tree.body) == public(_core)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    assert len(classes) >= 11
    for node in classes:
        assert stubbed(node.body) == public(getattr(_core, node.name)), node.name
