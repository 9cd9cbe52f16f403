"""Classes have methods that stand in other modules, ``train = learning.train``: the reference shows them as methods."""

from __future__ import annotations

import copy
from typing import Any

import griffe


class AssignedMethods(griffe.Extension):
    """Replaces attributes whose value is the name of a function by that function."""

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **kwargs: Any) -> None:
        """Look through all classes of a package that has been read."""
        for module in _modules(pkg):
            for found in list(module.classes.values()):
                if not found.is_alias:
                    self._replace(found, loader)

    def _replace(self, found: griffe.Class, loader: griffe.GriffeLoader) -> None:
        for name, member in list(found.members.items()):
            value = getattr(member, "value", None)
            call = isinstance(value, griffe.ExprCall) and value.canonical_path == "property"
            if member.is_alias or not (call or isinstance(value, griffe.ExprName | griffe.ExprAttribute)):
                continue  # what a call gives, as in ``self.paths = text_files(...)``, is no method
            try:
                target = loader.modules_collection[(value.arguments[0] if call else value).canonical_path]
                target = target.final_target if target.is_alias else target
            except (KeyError, AttributeError, griffe.AliasResolutionError, griffe.CyclicAliasError):
                continue
            if target.is_function:
                method = copy.copy(target)
                method.name, method.parent = name, found
                if call:
                    method.labels = {*target.labels, "property"}
                found.members[name] = method


def _modules(module: griffe.Module) -> list[griffe.Module]:
    inner = [found for found in module.modules.values() if not found.is_alias]
    return [module, *(deep for found in inner for deep in _modules(found))]
