"""Kinds of values on the command line: how they are read from text, and how a shell completes them."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from muse.base.checks import Check
from muse.cli.models import model_file
from muse.model.muse import MUSE

__all__ = ["FILE", "WORD", "Checked", "Value", "words_in"]

_SHOWN = 50  # words that a shell is told at most

if TYPE_CHECKING:
    _Kind = click.ParamType[Any]
else:
    _Kind = click.ParamType


class _File(_Kind):
    """The name of a file, which the shell can complete; the library checks it."""

    name = "file"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Have the shell offer files."""
        return [CompletionItem(incomplete, type="file")]


class _Word(_Kind):
    """A word, or the key of a sense; the shell completes it from the model before it on the line."""

    name = "word"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Words of the model that begin so, the most frequent first."""
        found: list[CompletionItem] = []
        with contextlib.suppress(Exception):  # a shell wants words or nothing
            for word in MUSE.load(model_file(ctx.params["model"]), mmap=True).vocabulary.words:
                if word.startswith(incomplete):
                    found.append(CompletionItem(word))
                if len(found) == _SHOWN:
                    break
        return found


class Value(_Kind):
    """A number, a JSON object, true or false, or else a text; what is allowed is said later."""

    name = "value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """What the text reads as."""
        if not isinstance(value, str):
            return value
        for kind in (int, float, *((json.loads,) if value.startswith("{") else ())):
            with contextlib.suppress(ValueError):
                return kind(value)
        return {"true": True, "false": False}.get(value.lower(), value)


class Checked(Value):
    """A value that one of `muse.base.checks` allows.

    Parameters
    ----------
    check : callable
        The check.
    """

    def __init__(self, check: Check) -> None:
        self._check = check

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value as the check returns it."""
        name = "value" if param is None or param.name is None else param.opts[-1].lstrip("-").replace("-", "_")
        try:
            return self._check(name, super().convert(value, param, ctx))
        except (TypeError, ValueError) as error:
            raise click.UsageError(str(error), ctx) from error


FILE, WORD = _File(), _Word()


def words_in(given: Iterable[str]) -> list[str]:
    """The words in some values of an option, with spaces or commas between; a comma in a number is a part of it.

    Examples
    --------
    >>> words_in(["bank spring", "rock,cell", "1,000"])
    ['bank', 'spring', 'rock', 'cell', '1,000']
    """
    return [word for some in given for word in re.split(r"\s+|(?<!\d),|,(?!\d)", some) if word]
