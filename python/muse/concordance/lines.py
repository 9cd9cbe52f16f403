"""Keyword in context: the uses of a word or sense, as lines that are sorted, shown and exported."""

from __future__ import annotations

import html
import operator
import shutil
from collections.abc import Iterator
from os import PathLike
from typing import NamedTuple, overload

import numpy as np

from muse.base.checks import Choice, integer
from muse.base.html import html_rows, html_text
from muse.concordance.index import CorpusIndex, Integers
from muse.concordance.table import ResultTable, aligned, clipped, shown, width, written
from muse.concordance.uses import Asked, SensedUses, spans
from muse.data.arrays import Floats
from muse.readers.keys import Key, key_lines

__all__ = ["SORTS", "Concordance", "Line"]

SORTS = ("sureness", "position", "left", "right", "random")
_SORTED_BY_WORDS = 5  # on one side of the keyword
_AT_ONCE = 8192  # lines whose words are read together
_PRINTED, _IN_NOTEBOOK = 20, 50  # lines
_NARROWEST = 40  # columns of a terminal
_LEAST_WEIGHT = 0.01  # of a sense in a key


class Line(NamedTuple):
    """A use of a word.

    Attributes
    ----------
    left, keyword, right : str
        The words before it, the word, and those after it, of the same sentence.
    sense : str
        Key of the sense, ``"bank#1"``.
    probability : float
        Of that sense in this context.
    sentence, token : int
        Number of the sentence in the corpus, without empty lines, and of the token in it, both from 0.
    """

    left: str
    keyword: str
    right: str
    sense: str
    probability: float
    sentence: int
    token: int

    @property
    def position(self) -> tuple[int, int]:
        """The numbers of the sentence and of the token in it."""
        return self.sentence, self.token

    def __str__(self) -> str:
        return " ".join(part for part in (self.left, self.keyword, self.right) if part)


class Concordance(ResultTable[Line]):
    """The uses of a word or sense, in an order; a sequence of `Line`, of which a slice is a concordance too.

    It prints as text and shows as a table in a notebook. Words are read from the index as lines are asked for.

    Attributes
    ----------
    key : str
        What was asked for: ``"bank#1"`` or ``"bank"``.
    n_uses : int
        Uses of the word in the corpus.
    counts : dict of str to int
        How many uses each of the word's senses is selected for, of those that were looked at.

    Examples
    --------
    >>> for line in model.concordance("bank#1", "text.txt", sort="right")[:2]:  # doctest: +SKIP
    ...     print(line.left, "|", line.keyword, "|", line.right, line.position)
    """

    columns = Line._fields

    def __init__(self, asked: Asked, index: CorpusIndex, uses: SensedUses, rows: Integers, window: int | None) -> None:
        self.key, self.n_uses, self.counts = asked.key, uses.total, uses.counts
        self._asked, self._index, self._uses, self._rows, self._window = asked, index, uses, rows, window
        self._sense = uses.selected

    @classmethod
    def of(
        cls, asked: Asked, index: CorpusIndex, uses: SensedUses, min_probability: float, window: int | None
    ) -> Concordance:
        """The uses of what was asked for, in the order of the text."""
        selected = uses.selected
        keep = uses.probabilities[np.arange(len(selected)), selected] >= min_probability
        if asked.number is not None:
            keep &= uses.numbers[selected] == asked.number
        return cls(asked, index, uses, np.flatnonzero(keep), window)

    # -- order -------------------------------------------------------------------------------------------------------

    def sort(self, by: str = "sureness", *, seed: int = 1) -> Concordance:
        """The same lines in another order.

        Parameters
        ----------
        by : {"sureness", "position", "left", "right", "random"}
            The most probable first; as in the text; by the words before the keyword, the nearest first; by those after
            it; at random. Where that leaves it open, as in the text. Capitals do not count.
        seed : int
            For "random".

        Returns
        -------
        Concordance

        Raises
        ------
        ValueError
            For another order.
        """
        Choice(*SORTS)("sort", by)
        rows = np.sort(self._rows)
        if by == "random":
            rows = np.random.default_rng(integer(0)("seed", seed)).permutation(rows)
        elif by == "sureness":
            rows = rows[np.argsort(-self._probabilities(rows), kind="stable")]
        elif by in ("left", "right"):
            rows = rows[np.lexsort(self._ranks(rows, -1 if by == "left" else 1)[::-1])]
        return self._with(rows)

    def _ranks(self, rows: Integers, step: int) -> Integers:
        """The alphabetical rank of the words beside each line, the nearest first, (words, N); -1 for none."""
        uses = self._uses
        places = uses.places[rows] + step * np.arange(1, _SORTED_BY_WORDS + 1)[:, None]
        inside = (places >= uses.first[rows]) & (places < uses.last[rows])
        words, found = np.unique(self._index.read(places[inside]), return_inverse=True)
        spelt = [self._index.words[word] for word in words.tolist()]
        order = sorted(range(len(spelt)), key=lambda i: (spelt[i].casefold(), spelt[i]))
        alphabetical = np.empty(len(spelt), np.int64)
        alphabetical[order] = np.arange(len(spelt))
        ranks = np.full(places.shape, -1, np.int64)
        ranks[inside] = alphabetical[found]
        return ranks

    def _with(self, rows: Integers) -> Concordance:
        return Concordance(self._asked, self._index, self._uses, rows, self._window)

    def _probabilities(self, rows: Integers) -> Floats:
        found: Floats = self._uses.probabilities[rows, self._sense[rows]]
        return found

    # -- a sequence --------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> Concordance: ...
    def __getitem__(self, index: int | slice) -> Line | Concordance:
        if isinstance(index, slice):
            return self._with(self._rows[index])
        place = operator.index(index)
        if not -len(self) <= place < len(self):
            raise IndexError(f"line {place} of {len(self)}")
        return next(self._lines(self._rows[place : place + 1 or None]))

    def __iter__(self) -> Iterator[Line]:
        for first in range(0, len(self), _AT_ONCE):
            yield from self._lines(self._rows[first : first + _AT_ONCE])

    def _lines(self, rows: Integers) -> Iterator[Line]:
        uses, index = self._uses, self._index
        places, first, last = uses.places[rows], uses.first[rows], uses.last[rows]
        low = first if self._window is None else np.maximum(first, places - self._window)
        high = last if self._window is None else np.minimum(last, places + self._window + 1)
        where, offsets = spans(low, high)
        words, found = np.unique(index.read(where), return_inverse=True)
        spelt = [index.words[word] for word in words.tolist()]
        tokens = [spelt[i] for i in found.tolist()]
        columns = (offsets, places - low, uses.numbers[self._sense[rows]], self._probabilities(rows),
                   uses.sentences[rows], places - first)  # fmt: skip
        starts, before, numbers, probabilities, sentences, positions = (column.tolist() for column in columns)
        for i in range(len(rows)):
            at = starts[i] + before[i]
            left, right = " ".join(tokens[starts[i] : at]), " ".join(tokens[at + 1 : starts[i + 1]])
            sense = f"{uses.word}#{numbers[i]}"
            yield Line(left, tokens[at], right, sense, probabilities[i], sentences[i], positions[i])

    # -- shown -------------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<Concordance of {self.key!r}: {len(self)} lines, {self.n_uses} uses of {self._asked.word!r}>"

    def _title(self, most: int) -> str:
        lines, uses = _counted(len(self), "line"), _counted(self.n_uses, "use")
        first = f", the first {most}" if len(self) > most else ""
        return f"{self.key}: {lines}{first}; {self._asked.word} has {uses} in the corpus"

    def __str__(self) -> str:
        return self.to_text(_PRINTED)

    def to_text(self, lines: int | None = None) -> str:
        """The first lines, or all, below a title, as wide as the terminal.

        Parameters
        ----------
        lines : int, optional
            How many; all, if not given.
        """
        most = len(self) if lines is None else integer(0)("lines", lines)
        return "\n".join([shown(self._title(most)), *self._aligned(list(self[:most]))])

    @staticmethod
    def _aligned(lines: list[Line]) -> Iterator[str]:
        if not lines:
            return
        keywords = max(width(shown(line.keyword)) for line in lines)
        senses = max(width(shown(line.sense)) for line in lines)
        columns = max(_NARROWEST, shutil.get_terminal_size((120, 20)).columns)
        side = max(8, (columns - keywords - senses - 11) // 2)
        for line in lines:
            left = aligned(clipped(shown(line.left), side, end=True), side, right=True)
            right = aligned(clipped(shown(line.right), side), side)
            keyword, sense = aligned(shown(line.keyword), keywords), aligned(shown(line.sense), senses)
            yield f"{left}  {keyword}  {right}  {sense} {line.probability:.2f}"

    def _repr_html_(self) -> str:
        rows = (
            (html_text(line.left), f"<b>{html_text(line.keyword)}</b>", html_text(line.right),
             html_text(line.sense), f"{line.probability:.2f}", f"{line.sentence}:{line.token}")
            for line in self[:_IN_NOTEBOOK]
        )  # fmt: skip
        heads = ("left", "keyword", "right", "sense", "probability", "position")
        return html_rows(self._title(_IN_NOTEBOOK), heads, rows, numeric=(0, 4))  # the keywords stand below each other

    # -- files -------------------------------------------------------------------------------------------------------

    def to_vertical(self, path: str | PathLike[str] | None = None) -> str | None:
        """Write the sentences of the lines in the vertical format of corpus tools: a token a line, with its sense.

        A line is ``token<TAB>sense<TAB>probability``, the latter two ``_`` for tokens that are not of the concordance;
        ``<s n="12">`` and ``</s>`` stand around sentence number 12. The characters ``&``, ``<`` and ``>`` of tokens are
        written as XML has them. Without a path, the text is given. Errors are those of `to_csv`.
        """
        return written(path, self._vertical())

    def _vertical(self) -> Iterator[str]:
        uses, rows = self._uses, np.sort(self._rows)
        numbers, begin = np.unique(uses.sentences[rows], return_index=True)
        end = np.append(begin[1:], len(rows))
        for block in range(0, len(numbers), _AT_ONCE):
            some = slice(block, block + _AT_ONCE)
            first, last = uses.first[rows[begin[some]]], uses.last[rows[begin[some]]]
            where, offsets = spans(first, last)
            words, found = np.unique(self._index.read(where), return_inverse=True)
            spelt = [_for_vertical(self._index.words[word]) for word in words.tolist()]
            tokens = [f"{spelt[i]}\t_\t_\n" for i in found.tolist()]
            mine = rows[begin[block] : end[some][-1]]
            tagged = np.repeat(offsets[:-1], end[some] - begin[some]) + uses.places[mine] - uses.first[mine]
            for row, place in zip(mine.tolist(), tagged.tolist(), strict=True):
                tokens[place] = self._tagged(spelt[found[place]], row)
            for i, number in enumerate(numbers[some].tolist()):
                yield f'<s n="{number}">\n{"".join(tokens[offsets[i] : offsets[i + 1]])}</s>\n'

    def _tagged(self, token: str, row: int) -> str:
        number, probability = self._uses.numbers[self._sense[row]], self._uses.probabilities[row, self._sense[row]]
        return f"{token}\t{token}#{number}\t{probability:.6g}\n"

    def to_key(self, path: str | PathLike[str] | None = None) -> str | None:
        """Write the senses of the lines as a key of SemEval, which `muse.readers.keys.read_key` and scorers read.

        A line is ``word word.SENTENCE.TOKEN sense/weight ...`` with the probabilities of the senses that have at least
        one percent. Without a path, the text is given.

        Raises
        ------
        ValueError
            For a word that such a file cannot hold: with a space, ``/`` or ``!!`` in it; also as of `to_csv`.
        """
        return written(path, key_lines(self._key()))

    def _key(self) -> Key:
        uses, found = self._uses, {}
        for row in self._rows.tolist():
            weights = uses.probabilities[row].tolist()
            senses = {
                f"{uses.word}#{number}": weight
                for number, weight in zip(uses.numbers.tolist(), weights, strict=True)
                if weight >= _LEAST_WEIGHT
            }
            token = int(uses.places[row] - uses.first[row])
            found[f"{uses.word}.{int(uses.sentences[row])}.{token}"] = senses
        return {uses.word: found} if found else {}


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _for_vertical(text: str) -> str:
    """Text as one column of a vertical file."""
    return html.escape(" ".join(text.split()), quote=False) or "_"
