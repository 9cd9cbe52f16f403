"""The tokeniser of training texts and evaluation contexts, and the places of words in what it makes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Any

__all__ = ["Tokenizer", "check_context", "locate", "tokenize", "tokens_of", "whole_word", "word_of"]

Tokenizer = Callable[[str], list[str]]

_ASCII_TOKEN = re.compile(r"[^\W_]+")
# Thai to Myanmar, Khmer, Chinese and Japanese; Korean, whose particles stand at the end of a word.
_UNSPACED = ((0xE00, 0xF00), (0x1000, 0x1200), (0x1780, 0x1800), (0x2E80, 0xD800), (0xF900, 0xFB00), (0x20000, 0x40000))
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
    if not callable(tokenizer):
        raise TypeError(f"a tokenizer must be a function of a text, as str.split; got {tokenizer!r:.80}")
    tokens = tokenizer(text)
    if not isinstance(tokens, (list, tuple)) or not all(isinstance(token, str) for token in tokens):
        raise TypeError(f"a tokenizer must give a list of strings, as str.split does; it gave {tokens!r:.80}")
    return list(tokens)


def word_of(tokenizer: Tokenizer, lemma: str) -> str:
    """The word to look up for a lemma: the one token that it is for the tokenizer, which may keep its capitals."""
    tokens = tokens_of(tokenizer, lemma)
    return tokens[0] if len(tokens) == 1 else lemma.lower()


def whole_word(text: str, start: int, end: int) -> tuple[int, int]:
    """A span of text, widened to the ends of the words that it cuts.

    Some published tables of contexts give the place of the last character, and not the one behind it. Scripts without
    spaces between words are left as they are.
    """
    while _inside(text, start):
        start -= 1
    while _inside(text, end):
        end += 1
    return start, end


def _inside(text: str, place: int) -> bool:
    """Whether a place lies between two characters of one word."""
    return 0 < place < len(text) and all(
        (c.isalnum() or unicodedata.category(c)[0] == "M") and not any(low <= ord(c) < high for low, high in _UNSPACED)
        for c in text[place - 1 : place + 1]
    )


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


def check_context(tokens: Any, position: Any, word: str | None, what: str) -> None:
    """Raise an error if a context is no list of strings, or has no `position`, where the word is known."""
    if not isinstance(tokens, list | tuple) or not all(isinstance(token, str) for token in tokens):
        raise TypeError(f"{what}: a context must be a list of tokens, as text.split() makes it; got {tokens!r:.80}")
    if isinstance(position, bool) or not hasattr(position, "__index__"):
        raise TypeError(f"{what}: a position must be the index of a token; got {position!r:.80}")
    if word is not None and not 0 <= position < len(tokens):
        raise ValueError(f"{what}: position {position} is not in its context of {len(tokens)} tokens")
