"""Words that stand near a sense more often than chance has it, beside those of the word, and of another sense."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from muse.base.checks import Choice
from muse.base.html import html_rows, html_text
from muse.concordance.index import CorpusIndex, Integers
from muse.concordance.table import ResultTable, aligned, shown, width
from muse.concordance.uses import Asked, SensedUses, spans

__all__ = [
    "MEASURES", "Collocate", "CollocateDifference", "Collocates", "DifferentCollocate", "find_collocates",
    "find_difference",
]  # fmt: skip

Numbers = NDArray[np.float64]
Row = TypeVar("Row", bound=tuple[Any, ...])

_USES_AT_ONCE = 1 << 16


class Collocate(NamedTuple):
    """A word that stands near a sense.

    Attributes
    ----------
    collocate : str
        The word.
    near : float
        How often it stands near the sense; with `weighted`, each time counts as the probability of the sense there.
    total : int
        How often it occurs in the corpus.
    score : float
        How strongly the two go together, by the measure.
    share : float
        Of the times that it stands near the word, the part that is near the sense.
    word_score : float
        The score with the word as a whole.
    """

    collocate: str
    near: float
    total: int
    score: float
    share: float
    word_score: float


class DifferentCollocate(NamedTuple):
    """A word that stands near two senses, or near one of them.

    Attributes
    ----------
    collocate : str
        The word.
    first_near, second_near : float
        How often it stands near the first sense, and near the second.
    first_score, second_score : float
        logDice with each, 0 at least.
    difference : float
        The first score less the second.
    """

    collocate: str
    first_near: float
    second_near: float
    first_score: float
    second_score: float
    difference: float


class _Collocates(ResultTable[Row]):
    """Rows as text and HTML."""

    def __init__(self, title: str, rows: Sequence[Row]) -> None:
        self.title = title
        self._rows = tuple(rows)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        return self._rows[index] if isinstance(index, int) else type(self)(self.title, self._rows[index])

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.title}, {len(self)} words>"

    def __str__(self) -> str:
        cells = [[name.replace("_", " ") for name in self.columns]]
        cells += [[shown(row[0]), *map(_figure, row[1:])] for row in self._rows]
        widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(aligned(cell, widths[i], right=i > 0) for i, cell in enumerate(row)).rstrip() for row in cells
        ]
        return "\n".join([shown(self.title), *lines])

    def _repr_html_(self) -> str:
        rows = ((html_text(row[0]), *map(_figure, row[1:])) for row in self._rows)
        heads = [name.replace("_", " ") for name in self.columns]
        return html_rows(self.title, heads, rows, numeric=range(1, len(heads)))


class Collocates(_Collocates[Collocate]):
    """The collocates of a word or sense, the strongest first; a sequence of `Collocate`."""

    columns = Collocate._fields


class CollocateDifference(_Collocates[DifferentCollocate]):
    """What tells two senses apart, from the first one's own to the second one's; a sequence of `DifferentCollocate`."""

    columns = DifferentCollocate._fields


def _figure(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


# -- measures ----------------------------------------------------------------------------------------------------------


class _Seen(NamedTuple):
    """How often words are seen: near a sense, and at all.

    Attributes
    ----------
    near : float64 (V,)
        Times that each stands near it.
    uses : float
        Uses of it.
    neighbours : float
        All that stands near it: the sum of `near`.
    totals : int64 (V,)
        Times that each occurs in the corpus.
    tokens : int
        Tokens of the corpus.
    """

    near: Numbers
    uses: float
    neighbours: float
    totals: Integers
    tokens: int

    @property
    def expected(self) -> Numbers:
        """`near`, if words stood where they do by chance."""
        return self.neighbours * self.totals / self.tokens


def _log_dice(seen: _Seen) -> Numbers:
    """14 + log2 of Dice's coefficient (Rychlý 2008), which does not depend on the size of the corpus."""
    return 14 + np.log2(2 * seen.near / (seen.uses + seen.totals))


def _pmi(seen: _Seen) -> Numbers:
    """Pointwise mutual information: log2 of how much more often than by chance."""
    return np.log2(seen.near / seen.expected)


def _t_score(seen: _Seen) -> Numbers:
    return (seen.near - seen.expected) / np.sqrt(seen.near)


def _likelihood(seen: _Seen) -> Numbers:
    """The log-likelihood ratio of Dunning (1993), negative for what stands there less often than by chance."""
    near, left = seen.near, np.maximum(seen.totals - seen.near, 0)
    elsewhere = max(seen.tokens - seen.neighbours, 1)
    rate = (near + left) / (seen.neighbours + elsewhere)
    ratio = _pull(near, seen.neighbours * rate) + _pull(seen.neighbours - near, seen.neighbours * (1 - rate))
    ratio += _pull(left, elsewhere * rate) + _pull(np.maximum(elsewhere - left, 0), elsewhere * (1 - rate))
    return np.where(near >= seen.expected, 2 * ratio, -2 * ratio)


def _pull(count: Numbers, expected: Numbers) -> Numbers:
    return np.where(count > 0, count * np.log(count / expected), 0)


MEASURES: dict[str, Callable[[_Seen], Numbers]] = {
    "logdice": _log_dice, "pmi": _pmi, "t": _t_score, "likelihood": _likelihood, "count": lambda seen: seen.near,
}  # fmt: skip


def _scored(seen: _Seen, measure: str) -> Numbers:
    with np.errstate(divide="ignore", invalid="ignore"):
        return MEASURES[measure](seen)


# -- counting ----------------------------------------------------------------------------------------------------------


def find_collocates(
    asked: Asked, index: CorpusIndex, uses: SensedUses, window: int, measure: str, weighted: bool, least: int, topn: int
) -> Collocates:
    """The collocates of a word or sense; see `MUSE.collocates`."""
    Choice(*MEASURES)("measure", measure)
    whole = _seen(index, uses, window, np.ones(len(uses.places)))
    seen = whole if asked.number is None else _seen(index, uses, window, _weights(uses, asked.number, weighted))
    rows = np.flatnonzero((seen.near >= least) & (seen.near > 0))
    scores, of_word = _scored(seen, measure), _scored(whole, measure)
    rows = rows[np.lexsort((rows, -seen.near[rows], -scores[rows]))][:topn]
    title = f"collocates of {asked.key} within {window} words, by {measure}"
    return Collocates(title, [
        Collocate(index.words[row], _count(seen.near[row], weighted), int(seen.totals[row]), float(scores[row]),
                  float(seen.near[row] / whole.near[row]), float(of_word[row]))
        for row in rows.tolist()
    ])  # fmt: skip


def find_difference(
    asked: tuple[Asked, Asked], index: CorpusIndex, uses: tuple[SensedUses, SensedUses], window: int, weighted: bool,
    least: int, topn: int,
) -> CollocateDifference:  # fmt: skip
    """What tells two senses apart; see `MUSE.collocate_difference`."""
    seen = [
        _seen(index, mine, window, np.ones(len(mine.places)) if one.number is None else
              _weights(mine, one.number, weighted))
        for one, mine in zip(asked, uses, strict=True)
    ]  # fmt: skip
    first, second = (np.maximum(_scored(each, "logdice"), 0) for each in seen)
    rows = np.flatnonzero(np.maximum(seen[0].near, seen[1].near) >= max(least, 1))
    difference = first - second
    rows = rows[np.lexsort((rows, -difference[rows]))]
    if len(rows) > 2 * topn:
        rows = np.concatenate((rows[:topn], rows[len(rows) - topn :]))
    title = f"collocates of {asked[0].key} and {asked[1].key} within {window} words, by logdice"
    return CollocateDifference(title, [
        DifferentCollocate(index.words[row], _count(seen[0].near[row], weighted), _count(seen[1].near[row], weighted),
                           float(first[row]), float(second[row]), float(difference[row]))
        for row in rows.tolist()
    ])  # fmt: skip


def _count(near: float, weighted: bool) -> float:
    return round(float(near), 3) if weighted else int(near)


def _weights(uses: SensedUses, number: int, weighted: bool) -> Numbers:
    """What each use counts for a sense: its probability there, or 1 where it is selected."""
    column = int(np.flatnonzero(uses.numbers == number)[0])
    return uses.probabilities[:, column].astype(np.float64) if weighted else (uses.selected == column) * 1.0


def _seen(index: CorpusIndex, uses: SensedUses, window: int, weights: Numbers) -> _Seen:
    near, used = np.zeros(len(index.words)), np.flatnonzero(weights)
    for begin in range(0, len(used), _USES_AT_ONCE):
        rows = used[begin : begin + _USES_AT_ONCE]
        places = uses.places[rows]
        low, high = np.maximum(uses.first[rows], places - window), np.minimum(uses.last[rows], places + window + 1)
        where, _ = spans(low, high)
        weight = np.repeat(weights[rows], high - low)
        weight[where == np.repeat(places, high - low)] = 0  # the word itself
        near += np.bincount(index.read(where), weight, len(near))
    return _Seen(near, float(weights.sum()), float(near.sum()), index.counts, index.n_tokens)
