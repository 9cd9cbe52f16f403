"""From a question in plain text to the tokens of a model, by what the model remembers of its own text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping

from muse.corpus.tokenizer import tokenize
from muse.corpus.tokens import tokenize as tokenize_wiki
from muse.data.text_form import TextForm, split_tag
from muse.files.lines import split_words

__all__ = ["TextReader"]

_MOST_KEPT = 100_000  # words that were looked at, of which the outcome is kept
_BETWEEN = re.compile(r"([—–…“”„«»()\[\]{}]|--+)")  # what stands between words, also without a space
_CLITIC = re.compile(r"(.+?)(n't|'(?:s|re|ve|ll|d|m))", re.IGNORECASE)  # as the Penn treebank divides words


class TextReader:
    """Makes tokens of plain text as the text of a model was made.

    Words between white space that the model knows are tokens. Any other one becomes what the tokenizer of the text made
    of it; where that is not known, what the model knows best: the word in small letters, if the model has no others,
    without the punctuation around it, or divided at its hyphens and apostrophes, if all parts are known. So "the Bank,
    by" is "the", "bank", "by" for a model of small letters, and "the", "bank", ",", "by" for one that knows commas.

    Parameters
    ----------
    form : TextForm, optional
        What is remembered. None: tokens are what stands between white space, and nothing else is done.
    known : mapping of str to int
        The words of the model.

    Examples
    --------
    >>> TextReader(TextForm(lower=True), {"the": 0, "bank": 1, "river": 2}).tokens("The Bank, by the River.")
    ['the', 'bank', 'by', 'the', 'river']
    """

    def __init__(self, form: TextForm | None, known: Mapping[str, int]) -> None:
        self._form, self._known = form, known
        self._kept: dict[str, list[str]] = {}

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text."""
        words = split_words(text)
        if self._form is None or all(map(self._known.__contains__, words)):
            return words
        return [token for word in words for token in ((word,) if word in self._known else self._tokens_of(word))]

    def _tokens_of(self, word: str) -> list[str]:
        """What becomes of a word that the model does not know as it stands."""
        kept = self._kept.get(word)
        if kept is None:
            form = self._form
            assert form is not None  # or nothing is done
            if form.tokenizer == "whitespace":
                plain = word.replace("\u2019", "'")
                parts = (part for part in _BETWEEN.split(plain) if part)
                parts = (part for part in parts if part in self._known or not _BETWEEN.fullmatch(part))
                kept = [token for part in parts for token in self._best(form, part)] or [word]
            else:
                kept = tokenize_wiki(word) if form.tokenizer == "wiki" else tokenize(word, lower=form.lower)
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[word] = kept
        return kept

    def _best(self, form: TextForm, word: str) -> list[str]:
        known = self._known
        if word in known or (whole := form.cased(word)) in known:
            return [word if word in known else whole]
        begin, end = 0, len(word)
        while begin < end and _is_mark(word[begin]):
            begin += 1
        while begin < end and _is_mark(word[end - 1]):
            end -= 1
        before, bare, after = word[:begin], word[begin:end], word[end:]
        if not bare:  # punctuation alone
            return [mark for mark in word if mark in known] or [word]
        ways = (pieces for pieces in _ways(form, bare) if pieces and all(piece in known for piece in pieces))
        best = next(ways, [form.cased(bare)])
        return [*(mark for mark in before if mark in known), *best, *(mark for mark in after if mark in known)]


def _is_mark(letter: str) -> bool:
    """Whether this is punctuation or a symbol, but for the underscore, which stands in words."""
    return letter != "_" and unicodedata.category(letter)[0] in "PS"


def _ways(form: TextForm, bare: str) -> Iterator[list[str]]:
    """What a word may be in a text of this form, the likeliest first."""
    yield [form.cased(bare)]
    if form.tags is not None and split_tag(bare) is not None:
        return
    yield tokenize(bare, lower=form.lower)
    if (divided := _CLITIC.fullmatch(bare)) is not None:
        yield [form.cased(part) for part in divided.groups()]
    if form.lower:
        yield tokenize_wiki(bare)
