"""The default tokeniser of prose: Unicode text segmentation (UAX 29), with what a vocabulary needs beyond it."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

from muse.base.optional import needed
from muse.errors import warn_at_caller

__all__ = ["tokenize"]

# The rules of UAX 29 for ASCII, three times as fast as the general ones: an apostrophe or point stands inside a word
# between letters, a point or comma inside a number between digits. Behind a word: C++, and C# where nothing follows.
_ASCII_TOKEN = re.compile(
    r"[^\W_]\w*(?:(?:(?<=[a-z])['.:](?=[a-z])|(?<=[0-9])['.,;](?=[0-9]))\w+)*"
    r"(?:(?<=[a-z])\+\+(?!\+)|(?<=\b[a-z])\#(?!\w))?",
    re.ASCII | re.IGNORECASE,
)
_WORD = r"[^\W_].*?\b(?:[₀-₉]+(?:[^\W_].*?\b)?)*(?:(?<=\p{L})\+\+(?!\+)|(?<=\b\p{L})\#(?!\w))?"
_EMOJI = r"(?![©®™])[\p{Extended_Pictographic}\p{Regional_Indicator}].*?\b"
_SPELLINGS = str.maketrans({"\u2019": "'"})  # don’t is don't
# Soft hyphens, the word joiner and its invisible like, marks of direction, the byte order mark.
_INVISIBLE = re.compile("[\u00ad\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_JOINS_NOTHING = "_\u200c"  # at the end of a word


class _Unspaced(NamedTuple):
    """A language whose script has no spaces between words: how to know it, what knows its words."""

    letters: str
    language: str
    packages: str
    call: str


_UNSPACED = (
    _Unspaced(
        r"\p{Hiragana}", "Japanese", "fugashi[unidic-lite] or sudachipy", "a function that gives a list of words"
    ),
    _Unspaced(r"\p{Han}{2}", "Chinese", "jieba", "jieba.lcut"),
    _Unspaced(r"\p{Thai}{2}", "Thai", "pythainlp", "pythainlp.word_tokenize"),
    _Unspaced(r"\p{Lao}{2}", "Lao", "laonlp", "laonlp.word_tokenize"),
    _Unspaced(r"\p{Khmer}{2}", "Khmer", "khmer-nltk", "khmernltk.word_tokenize"),
    _Unspaced(r"\p{Myanmar}{2}", "Burmese", "mmdt-tokenizer", "a function that gives a list of words"),
)
_said: set[str] = set()  # languages of which this process has been told


def tokenize(text: str, *, lower: bool = True) -> list[str]:
    """Split prose into words, by Unicode text segmentation (UAX 29, the default word boundaries).

    Words, numbers and emoji are tokens; white space, punctuation and other symbols are not. Beyond the standard:

    - "C++", "C#", "CO₂" and "H₂O" are one token each.
    - Underscores stay inside a token ("new_york", "bank_nn") and are dropped at its ends ("_emphasis_").
    - Soft hyphens and other characters that only steer the layout (marks of direction, word joiners) are dropped from
      tokens, since a word is the same word with and without them. The zero-width non-joiner, which is spelling in
      Persian, and the joiner, which is in the scripts of India, stay; a non-joiner at the end of a token does not.
    - The typographic apostrophe becomes the plain one: "don’t" is "don't". Text is not normalised otherwise.

    Chinese, Japanese, Thai, Lao, Khmer and Burmese put no space between words; there the standard makes a token of each
    character, and a warning says once which package knows the words.

    Parameters
    ----------
    text : str
        Any text.
    lower : bool
        Whether tokens are in lower case.

    Returns
    -------
    list of str
        The tokens, in order.

    Raises
    ------
    TypeError
        If `text` is no string.

    Warns
    -----
    UserWarning
        Once for each language without spaces.

    See Also
    --------
    tokenize_wiki : The rule of the usual Wikipedia training texts; give it for models that were trained on these.

    Examples
    --------
    >>> tokenize("He didn't leave New_York, by the River!")
    ['he', "didn't", 'leave', 'new_york', 'by', 'the', 'river']
    >>> tokenize("C++ or C#? \U0001f44d 3.5 million", lower=False)
    ['C++', 'or', 'C#', '\U0001f44d', '3.5', 'million']
    """
    if not isinstance(text, str):
        raise TypeError(f"tokenize takes a string; got {text!r:.80}")
    if lower:
        text = text.lower()
    if text.isascii():
        tokens: list[str] = _ASCII_TOKEN.findall(text)
        return [token.rstrip("_") for token in tokens] if "_" in text else tokens
    _say_what_has_no_spaces(text)
    text = text.translate(_SPELLINGS) if "\u2019" in text else text
    tokens = _token().findall(text)
    if "_" in text or "\u200c" in text:
        tokens = [token.rstrip(_JOINS_NOTHING) for token in tokens]
    return [_INVISIBLE.sub("", token) for token in tokens] if _INVISIBLE.search(text) else tokens


@cache
def _regex() -> Any:
    return needed("regex", "splitting text that is not ASCII into words")


@cache
def _token() -> Any:
    return _regex().compile(rf"{_WORD}|{_EMOJI}|\p{{No}}", _regex().WORD | _regex().VERSION1)


@cache
def _unspaced() -> tuple[tuple[Any, _Unspaced], ...]:
    return tuple((_regex().compile(script.letters), script) for script in _UNSPACED)


def _say_what_has_no_spaces(text: str) -> None:
    """A warning for each language without spaces that nothing was said of yet; Han with kana is Japanese."""
    if len(_said) == len(_UNSPACED) or max(text) < "\u0e00":
        return
    for pattern, script in _unspaced():
        if pattern.search(text) is None:
            continue
        if script.language not in _said:
            _said.add(script.language)
            warn_at_caller(
                f"there is {script.language} in the text, which has no spaces between words, so each of its characters "
                f"becomes a token; for words, pip install {script.packages} and give {script.call} in place of this "
                "tokenizer",
                UserWarning,
            )
        if script.language == "Japanese":
            return
