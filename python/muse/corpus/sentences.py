"""Where sentences of prose end: rules for many scripts, a few microseconds a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from muse.corpus.abbreviations import ORDINALS, Abbreviations, abbreviations_of

__all__ = ["SentenceSplitter"]

# What may end a sentence, with what closes behind it: where white space follows; in Chinese and Japanese anywhere.
# A semicolon asks in Greek.
_MARKS = ".!?…‽؟۔।॥։።፧។៕။"
_CLOSES = "\"'”“’»›«)\\]」』）】"
_END = re.compile(
    rf"(?:(?<![{_MARKS}])[{_MARKS}]++|(?<=[\u0370-\u03ff\u1f00-\u1fff])[;\u037e])[{_CLOSES}]*+(?=\s|\Z)"
    r"|[。！？｡．]+[\"'”’」』）】]*"
)
_ANYWHERE = "。！？｡．"
_OPENS = re.compile(r"""[\s"'“„«»‘‚›‹(\[¿¡—–\-「『（]*""")
_BEFORE = re.compile(r"[\w.’'-]+\Z")
_SPACE = re.compile(r"\W*")
_NEXT = re.compile(r"\w+")
_DOTTED = re.compile(r"(?:\w{1,3}\.-?)+\w{1,3}")  # e.g, U.S, Ph.D, J.-J
_SHORT = re.compile(r"\w{1,2}\.")
_ROMAN = re.compile(r"[IVXLC]+")
_LONGEST_WORD = 30

# Behind an abbreviation that may end a sentence (U.S., Inc., a.m.) one begins only with these.
_MAY_END = frozenset(
    "inc ltd co corp jr sr esq etc usw ecc itd itp atd apod enz osv jne stb т.д т.п др г гг u.a".split()
)
_BEGINNERS = frozenset(
    "The A An It He She They We You I This That These Those There In On At By For But And Or If When While After "
    "Before As Then So However Since Although His Her Their Its Our My What Who How Why Where Not No Some Many Most "
    "Der Die Das Ein Eine Er Sie Es Wir Ich Und Aber Im Am Le La Les Un Une Il Elle El Los Las En Y "
    "Он Она Они Это В И Но".split()
)
_MONTHS = frozenset(
    "Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember januar februar mars mai "
    "juni juli august september oktober november desember Jahrhundert Jahrhunderts".split()
)


class SentenceSplitter:
    """Splits paragraphs of prose into sentences.

    A full stop, question or exclamation mark (of Latin, Greek, Cyrillic, Armenian, Arabic, Ethiopic, Khmer, Burmese,
    Chinese and Japanese writing, and those of India) ends a sentence, with the quotation marks and brackets that close
    behind it, unless a small letter follows, or the full stop belongs to an initial, a number or an abbreviation.

    Parameters
    ----------
    language : str, optional
        Its code, such as ``"de"``, whose abbreviations and ordinal numbers count. None: those of all languages known.
    abbreviations : iterable of str
        More of them.

    Examples
    --------
    >>> SentenceSplitter().split('Dr. J. Smith paid $3.50. "Why?" he asked. It was 5 p.m. He left!')
    ['Dr. J. Smith paid $3.50.', '"Why?" he asked.', 'It was 5 p.m.', 'He left!']
    >>> SentenceSplitter("de").split("Am 3. Mai kam z. B. niemand. Warum? „So.“ Gut.")
    ['Am 3. Mai kam z. B. niemand.', 'Warum?', '„So.“', 'Gut.']
    """

    def __init__(self, language: str | None = None, abbreviations: Iterable[str] = ()) -> None:
        self._known: Abbreviations = abbreviations_of(language, abbreviations)
        self._ordinals = language in ORDINALS

    def split(self, text: str) -> list[str]:
        """The sentences of a paragraph, without the white space around them."""
        return list(self._sentences(text))

    def _sentences(self, text: str) -> Iterator[str]:
        start = 0
        for found in _END.finditer(text):
            if found.start() >= start and self._ends(text, start, found):
                if sentence := text[start : found.end()].strip():
                    yield sentence
                start = found.end()
        if rest := text[start:].strip():
            yield rest

    def _ends(self, text: str, start: int, found: re.Match[str]) -> bool:
        """Whether a mark ends the sentence that begins at `start`."""
        mark = found.group()
        if mark[0] in _ANYWHERE:
            return True
        opens = _OPENS.match(text, found.end())
        place = found.end() if opens is None else opens.end()
        following = text[place : place + 1]
        if not following:
            return True
        if following.islower():
            return False
        if mark[0] != "." or mark[1:2] == ".":  # an ellipsis ends a sentence where a capital follows
            return True
        before = _BEFORE.search(text, max(start, found.start() - _LONGEST_WORD), found.start())
        if before is None:
            return True
        return self._stops(before.group().lstrip(".-'’"), text, place, _begin(text, start) >= before.start())

    def _stops(self, word: str, text: str, place: int, alone: bool) -> bool:
        """Whether the full stop behind a word ends a sentence, before what stands at `place`; `alone`: it would be all
        of the sentence."""
        small, following = word.lower(), text[place]
        letters = word.isalpha() and (len(word) == 1 or (len(word) == 2 and word.isupper()))
        if small in self._known.always or (letters and _SHORT.match(text, place)):  # "z. B.", "EE. UU."
            return False
        if word.isdigit() or (_ROMAN.fullmatch(word) and len(word) > 1):
            return not alone and not self._is_ordinal(word, text, place)
        if len(word) == 1 and word.isalpha():
            if alone or word.isupper():
                return False
            return not (small in self._known.numbers and following.isdigit()) and (
                small not in _MAY_END or self._begins(text, place)
            )
        if (small in self._known.numbers or small.endswith("str")) and (
            following.isdigit() or _ROMAN.match(text, place) is not None
        ):
            return not following.isdigit() and _first_word(text, place) in _BEGINNERS
        if small in _MAY_END or _DOTTED.fullmatch(word):
            return self._begins(text, place)
        return True

    def _is_ordinal(self, word: str, text: str, place: int) -> bool:
        following = _first_word(text, place)
        return following in _MONTHS or (self._ordinals and len(word) <= 2 and following not in _BEGINNERS)

    @staticmethod
    def _is_number(text: str, place: int) -> bool:
        word = _first_word(text, place)
        return word[:1].isdigit() or (_ROMAN.fullmatch(word) is not None and word not in _BEGINNERS)

    @staticmethod
    def _begins(text: str, place: int) -> bool:
        return _first_word(text, place) in _BEGINNERS


def _begin(text: str, start: int) -> int:
    """The place of the first letter or digit from `start` on."""
    found = _SPACE.match(text, start)
    return start if found is None else found.end()


def _first_word(text: str, place: int) -> str:
    found = _NEXT.match(text, place)
    return "" if found is None else found.group()
