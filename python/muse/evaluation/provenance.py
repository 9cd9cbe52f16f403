"""For the settings of a result: what data were read from, and how text was tokenised."""

from __future__ import annotations

import os
import re

from muse.corpus.tokens import Tokenizer, tokenize

__all__ = ["source_name", "tokenizer_name"]


def source_name(given: object, otherwise: str) -> str:
    """The last part of a path; `otherwise` for data that are given as they are."""
    return os.path.basename(os.path.abspath(given)) if isinstance(given, str | os.PathLike) else otherwise


def tokenizer_name(tokenizer: Tokenizer) -> str:
    """``muse.evaluation.tokenize``, ``str.split``, or what else a function is called."""
    if tokenizer is tokenize:
        return "muse.evaluation.tokenize"
    name = getattr(tokenizer, "__qualname__", None) or type(tokenizer).__qualname__
    owner = getattr(tokenizer, "__self__", None)  # of a bound method, such as compiled.findall
    if isinstance(owner, re.Pattern):
        return f"{owner!r}.{getattr(tokenizer, '__name__', name)}"
    module = getattr(tokenizer, "__module__", None)
    return f"{module}.{name}" if module and module != "builtins" else name
