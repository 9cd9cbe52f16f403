"""Reading evaluation files: lines with their numbers, and the tokeniser of evaluation contexts."""

from __future__ import annotations

import csv
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from muse.checks import path_like
from muse.errors import quote

__all__ = ["Tokenizer", "listed", "locate", "quote", "read_lines", "split_csv", "tokenize", "tokens_of"]

Tokenizer = Callable[[str], list[str]]

_ASCII_TOKEN = re.compile(r"[^\W_]+")
_MARKED = ((0x300, 0x20000), (0xE0000, 0xE0200))  # no combining mark lies elsewhere


@cache
def _token() -> re.Pattern[str]:
    """Letters and digits with the combining marks behind them, which `\\w` does not match; made once it is needed."""
    codes = {c for span in _MARKED for c in range(*span) if unicodedata.category(chr(c))[0] == "M"}
    firsts, lasts = (sorted(c for c in codes if c + step not in codes) for step in (-1, 1))
    marks = "".join(f"{chr(first)}-{chr(last)}" for first, last in zip(firsts, lasts, strict=True))
    return re.compile(f"[^\\W_]+(?:(?![\\x00-\\u02ff])[{marks}]+[^\\W_]*)*")  # the first look is for speed


def tokenize(text: str) -> list[str]:
    """Split ``text`` into lower-case tokens: the runs of letters and digits, with their combining marks.

    Marks (Unicode category M) are the accents of decomposed text and the vowel signs of the scripts of India; they stay
    in the words that they stand in. Text is not normalised: give training text and contexts the same form.

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
    >>> tokenize("\u0939\u093f\u0928\u094d\u0926\u0940 cafe\u0301s")
    ['\u0939\u093f\u0928\u094d\u0926\u0940', 'cafe\u0301s']
    """
    if not isinstance(text, str):
        raise TypeError(f"tokenize takes a string; got {text!r:.80}")
    pattern = _ASCII_TOKEN if text.isascii() else _token()
    return [word.lower() for word in pattern.findall(text)]


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


def listed(names: Iterable[str], most: int = 8) -> str:
    """Names in a note or message, with commas between: the first ones, and how many more there are."""
    names = list(names)
    shown = ", ".join(name if len(name) <= 80 else f"{name[:80]}..." for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def split_csv(line: str, place: str, delimiter: str = ",") -> list[str]:
    """The fields of a line of CSV; a ValueError that starts with `place` if it is none, or a field is too long."""
    if delimiter != "," and '"' not in line:
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter))
    except csv.Error as error:
        raise ValueError(f"{place}: no valid CSV ({error}): {quote(line)}") from None


def read_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Yield ``(line number, line)`` of a UTF-8 text file, without line ends and byte-order mark.

    Lines end at ``\\n`` or ``\\r\\n`` only: contexts may contain characters that ``str.splitlines`` would split at.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file, or it is a folder.
    ValueError
        If a line is not UTF-8, with the file and the line in the message; if the path is that of a device.
    """
    file = Path(path_like("an evaluation file", path))
    if file.is_dir():
        raise IsADirectoryError(f"{file} is a folder; give the file in it that holds the data")
    if file.is_char_device() or file.is_block_device():
        raise ValueError(f"{file} is a device; give a file that holds the data")
    if not file.exists():
        raise FileNotFoundError(f"no such evaluation file: {file}. Check the path; muse does not ship evaluation data.")
    with file.open("rb") as stream:
        for number, raw in enumerate(stream, start=1):
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise ValueError(f"{file}, line {number}: not UTF-8 text ({error.reason}). Convert the file.") from None
            yield number, line.rstrip("\n").rstrip("\r")
