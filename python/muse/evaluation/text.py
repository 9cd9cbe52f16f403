"""Reading evaluation files: lines with their numbers, and the tokeniser of evaluation contexts."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["Tokenizer", "locate", "read_lines", "split_csv", "tokenize", "tokens_of"]

Tokenizer = Callable[[str], list[str]]

_TOKEN = re.compile(r"[^\W_]+")


def tokenize(text: str) -> list[str]:
    """Split ``text`` into lower-case tokens: the runs of letters and digits.

    This is the rule by which the usual Wikipedia training texts are made, so "don't" gives two tokens, ``don`` and
    ``t``. Evaluation contexts must be tokenised as the training text was; every reader of this package takes another
    ``tokenize`` function for a model that was trained on text of another kind.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of str
        The tokens, in order.

    Examples
    --------
    >>> tokenize("Don't head_line the Army!")
    ['don', 't', 'head', 'line', 'the', 'army']
    """
    return [match.group().lower() for match in _TOKEN.finditer(text)]


def tokens_of(tokenizer: Tokenizer, text: str) -> list[str]:
    """What a user's `tokenizer` makes of `text`; a TypeError if that is no list of strings, as of `str.lower`."""
    tokens = tokenizer(text)
    if not isinstance(tokens, (list, tuple)) or not all(isinstance(token, str) for token in tokens):
        raise TypeError(f"a tokenizer must give a list of strings, as str.split does; it gave {tokens!r:.80}")
    return list(tokens)


def locate(before: str, target: str, after: str, tokenizer: Tokenizer = tokenize) -> tuple[list[str], int, list[str]]:
    """Tokenise a context whose target word is known by its place in the text.

    Parameters
    ----------
    before, target, after : str
        The text in front of the target, the target itself, and the text behind it.
    tokenizer : callable
        Text to tokens.

    Returns
    -------
    tokens : list of str
        The tokens of the whole context.
    position : int
        Index of the first token of the target; equals ``len`` of the tokens in front of it.
    target_tokens : list of str
        The tokens of the target alone. A target that is not one token (``[]`` or ``["well", "known"]``) cannot be
        looked up as a word; the caller decides what to do about it.
    """
    head, middle, tail = (tokens_of(tokenizer, text) for text in (before, target, after))
    return [*head, *middle, *tail], len(head), middle


def split_csv(line: str, place: str) -> list[str]:
    """The fields of a line of CSV; a ValueError that starts with `place` if it is none, or a field is too long."""
    try:
        return next(csv.reader([line]))
    except csv.Error as error:
        raise ValueError(f"{place}: no valid CSV ({error}): {line!r:.200}") from None


def read_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Yield ``(line number, line)`` of a UTF-8 text file, without line ends and byte-order mark.

    Lines end at ``\\n`` or ``\\r\\n`` only: contexts may contain characters that ``str.splitlines`` would split at.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a line is not UTF-8; the message names the file and the line.
    """
    file = Path(path)
    if not file.is_file():
        if file.is_dir():
            raise IsADirectoryError(f"{file} is a folder; give the file in it that holds the data")
        raise FileNotFoundError(f"no such evaluation file: {file}. Check the path; muse does not ship evaluation data.")
    with file.open("rb") as stream:
        for number, raw in enumerate(stream, start=1):
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise ValueError(f"{file}, line {number}: not UTF-8 text ({error.reason}). Convert the file.") from None
            yield number, line.rstrip("\n").rstrip("\r")
