"""What a `TemporalMUSE` answers from counts of senses: shares with intervals, senses that rose, neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse.base.checks import integer, number
from muse.change.confusion import true_shares
from muse.change.permuting import Numbers, Verdict, adjusted, permutation_verdict
from muse.change.slices import Counts
from muse.change.tables import ShareTable, Table
from muse.data.snapshot import Snapshot
from muse.errors import UnknownSenseError, quote
from muse.evaluation.stats import bootstrap_options
from muse.vectors.model_vectors import SenseVectors
from muse.vectors.sense_keys import each_word_once

__all__ = ["nearest", "Errors", "near_words", "resampled", "risen", "shares", "unknown_sense"]

_NEAR = 3  # words that tell what a sense is
_FURTHER = 6  # times as many senses are looked at, since several may be of one word


def unknown_sense(word: str, number_of: int, known: Sequence[int]) -> UnknownSenseError:
    """The error for a sense that there is not."""
    return UnknownSenseError(f"{quote(word)} has no sense {number_of}, but {', '.join(map(str, known))}")


def near_words(snapshot: Snapshot, key: str) -> str:
    """The words nearest to a sense in the compass."""
    own = key.rpartition("#")[0]
    found = SenseVectors(snapshot).most_similar(key, topn=_FURTHER * _NEAR)
    words = dict.fromkeys(near.rpartition("#")[0] for near, _ in found)
    return ", ".join([word for word in words if word != own][:_NEAR])


class Errors(NamedTuple):
    """What is known of the tags of a word.

    Attributes
    ----------
    rates : float64 (K, K)
        Its table of confusions.
    usual : float64 (K,)
        Shares of its senses in the compass.
    """

    rates: Numbers
    usual: Numbers

    def shares(self, counts: Numbers, rng: np.random.Generator | None = None) -> Numbers:
        """See `true_shares`."""
        return true_shares(counts, self.rates, self.usual, rng)


def shares(
    snapshot: Snapshot, row: int, slices: Mapping[str, Counts], errors: Errors, options: tuple[Any, Any, Any]
) -> ShareTable:
    """See `TemporalMUSE.shares`; `options` are resamples, confidence and seed."""
    checked = bootstrap_options(*options)
    arrays, word = snapshot.arrays, snapshot.vocabulary.words[row]
    keys = [f"{word}#{number_of}" for number_of in arrays.numbers_of(row).tolist()]
    near = [near_words(snapshot, key) for key in keys]
    rows = []
    for name, counts in slices.items():
        table = counts.table(arrays.rows_of(row))
        uses = table.sum(axis=0)
        here = int(uses.sum()) > 0
        share = errors.shares(uses[None].astype(np.float64))[0]
        low, high = _interval(table, errors, checked, share)
        for place, key in enumerate(keys):
            rows.append({
                "slice": name, "sense": key, "share": float(share[place]) if here else None,
                "low": None if low is None else float(low[place]), "high": None if high is None else float(high[place]),
                "tagged": float(uses[place] / uses.sum()) if here else None, "uses": int(uses[place]),
                "near": near[place],
            })  # fmt: skip
    return ShareTable(f"senses of {word}", rows)


def resampled(table: NDArray[np.int64], errors: Errors, resamples: int, seed: int) -> Numbers:
    """Shares of samples of the groups with replacement, float64 (B, K)."""
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(len(table), np.full(len(table), 1 / len(table)), size=resamples)
    return errors.shares((weights @ table).astype(np.float64), rng)


def _interval(
    table: NDArray[np.int64], errors: Errors, options: dict[str, Any], share: Numbers
) -> tuple[Numbers | None, Numbers | None]:
    """Percentile intervals of shares, over samples of the groups, that hold the share of all groups."""
    if not len(table) or not options["resamples"]:
        return None, None
    found = resampled(table, errors, options["resamples"], options["seed"])
    tail = (1 - options["confidence"]) / 2
    low, high = np.quantile(found, [tail, 1 - tail], axis=0)
    return np.minimum(low, share), np.maximum(high, share)


def risen(
    snapshot: Snapshot, words: Sequence[int], counts: tuple[Counts, Counts], title: str,
    errors: Callable[[int], Errors], *, least_share: float = 0.1, most_before: float = 0.25, permutations: int = 1000,
    rate: float = 0.05, seed: int = 0,
) -> Table:  # fmt: skip
    """See `TemporalMUSE.new_senses`; `errors` tells those of a word."""
    least, most = number(0, 1)("least_share", least_share), number(0, 1)("most_before", most_before)
    permutations, rate = integer(100)("permutations", permutations), number(0, 1)("rate", rate)
    seed = integer(0)("seed", seed)
    arrays, names = snapshot.arrays, snapshot.vocabulary.words
    tested: list[tuple[str, float, float, Verdict]] = []
    for word in words:
        tables = [one.table(arrays.rows_of(word)).astype(np.float64) for one in counts]
        before, after = errors(word).shares(np.stack([table.sum(axis=0) for table in tables]))
        for place in np.flatnonzero((after >= least) & (after > before)).tolist():
            verdict = _rise(tables, place, permutations, np.random.Generator(np.random.Philox([seed, word, place])))
            key = f"{names[word]}#{arrays.numbers_of(word)[place]}"
            tested.append((key, float(before[place]), float(after[place]), verdict))
    q = adjusted(np.array([verdict.p for *_, verdict in tested])) if tested else np.zeros(0)
    rows = [
        {"sense": key, "before": before, "after": after, "p": verdict.p, "q": float(rate_of),
         "near": near_words(snapshot, key)}
        for (key, before, after, verdict), rate_of in zip(tested, q, strict=True)
        if rate_of <= rate and before <= most * after
    ]  # fmt: skip
    return Table(title, sorted(rows, key=lambda row: (row["before"] - row["after"], row["sense"])))


def _rise(tables: list[Numbers], place: int, permutations: int, rng: np.random.Generator) -> Verdict:
    """Whether chance explains that one sense has a larger share in the second table."""

    def rise(first: Numbers, second: Numbers) -> Numbers:
        a, b = (side[:, place] / np.maximum(side.sum(axis=1), 1e-12) for side in (first, second))
        larger: Numbers = b - a
        return larger

    uses = tables[0].sum(axis=1), tables[1].sum(axis=1)
    return permutation_verdict(tables[0], tables[1], uses, rise, permutations, rng)


def nearest(snapshot: Snapshot, cosines: NDArray[Any], k: int, *, senses: bool) -> list[tuple[str, float]]:
    """The best of some cosines, of words or of senses; those at -2 are left out."""
    wanted = min(k * _FURTHER if senses else k, len(cosines))
    best = np.argpartition(-cosines, wanted - 1)[:wanted]
    ordered = [int(row) for row in best[np.argsort(-cosines[best], kind="stable")] if cosines[row] > -2]
    if not senses:
        return [(snapshot.vocabulary.words[row], float(cosines[row])) for row in ordered]
    arrays, numbers = snapshot.arrays, snapshot.arrays.all_numbers()
    words = (snapshot.vocabulary.words[arrays.word_of(row)] for row in ordered)
    keyed = ((f"{word}#{numbers[row]}", float(cosines[row])) for word, row in zip(words, ordered, strict=True))
    return list(each_word_once(keyed, k))
