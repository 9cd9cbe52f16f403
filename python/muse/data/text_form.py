"""How the text of a model was tokenised and cased: kept, so that questions are treated alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

__all__ = ["TOKENIZERS", "TextForm", "split_tag"]

TOKENIZERS = ("muse", "wiki", "whitespace")
_LOOKED_AT = 50_000  # most frequent words
_TAGGED = re.compile(r"(.*[^_|/])([_|/])([A-Z][A-Z0-9$.:+-]{0,11})")
_TAG_SHARE = 0.8  # of the words end in a tag, in a text that is tagged
_MOST_TAGS = 150
_CAPITAL_SHARE = 0.01  # of the words have capitals beside small letters, in a text that is in small letters


@dataclass(frozen=True)
class TextForm:
    """How a text was made into tokens.

    Parameters
    ----------
    tokenizer : {"muse", "wiki", "whitespace"}
        `muse.corpus.tokenize`, `muse.corpus.tokenize_wiki`, or something unknown, whose tokens stood between white
        space or in lists.
    lower : bool
        Whether the tokens are in small letters, tags left out.
    tags : str, optional
        What stands between a word and its tag, as the ``"_"`` of "bank_NN".

    Examples
    --------
    >>> TextForm.measured(["the", "bank"]), TextForm.measured(["the_DT", "Bank_NP"]).tags
    (TextForm(tokenizer='whitespace', lower=True, tags=None), '_')
    """

    tokenizer: str = "whitespace"
    lower: bool = True
    tags: str | None = None

    def __post_init__(self) -> None:
        known = self.tokenizer in TOKENIZERS and type(self.lower) is bool
        if not known or not (self.tags is None or (isinstance(self.tags, str) and self.tags in ("_", "|", "/"))):
            raise ValueError(f"impossible form of text {self!r:.200}")

    def cased(self, word: str) -> str:
        """A word in small letters, but for its tag, where the text is in small letters."""
        if not self.lower:
            return word
        parts = None if self.tags is None else split_tag(word)
        return word.lower() if parts is None else parts[0].lower() + "".join(parts[1:])

    @classmethod
    def measured(cls, words: Sequence[str]) -> TextForm:
        """What the words of a model, the most frequent ones first, say of a text of which nothing else is known."""
        seen = list(islice(words, _LOOKED_AT))
        tagged = [parts for word in seen if (parts := split_tag(word)) is not None]
        tags = None
        if len(tagged) >= max(1, _TAG_SHARE * len(seen)) and len({tag for _, _, tag in tagged}) <= _MOST_TAGS:
            [(tags, _)] = Counter(mark for _, mark, _ in tagged).most_common(1)
            seen = [word for word, _, _ in tagged]
        cased = sum(word != word.lower() and word != word.upper() for word in seen)
        capitals = sum(word.upper() == word != word.lower() for word in seen)  # NUM, <UNK>; or all of the text
        small = cased <= _CAPITAL_SHARE * len(seen) and capitals <= len(seen) / 2
        return cls("whitespace", small, tags)

    def to_json(self) -> dict[str, Any]:
        """As a file holds it."""
        tags = {} if self.tags is None else {"tags": self.tags}
        return {"tokenizer": self.tokenizer, "lower": self.lower, **tags}

    @classmethod
    def from_json(cls, stored: Any) -> TextForm:
        """What `to_json` gave, and newer versions may have added to; a ValueError for anything else."""
        if not isinstance(stored, dict):
            raise ValueError(f"its form of text is no object: {stored!r:.80}")
        return cls(stored.get("tokenizer", ""), stored.get("lower", ""), stored.get("tags"))


def split_tag(word: str) -> tuple[str, str, str] | None:
    """A tagged word, such as "bank_NN", as the word, what stands between, and the tag; None for one without a tag."""
    found = _TAGGED.fullmatch(word)
    return None if found is None else (found[1], found[2], found[3])
