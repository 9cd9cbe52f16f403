"""Two models that were trained apart, laid over each other: their spaces by a rotation, their senses one by one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse.base.checks import integer, number
from muse.base.numeric import unit_rows
from muse.base.optional import needed
from muse.change.slices import Source
from muse.change.tables import Table
from muse.data.arrays import Arrays
from muse.data.snapshot import Snapshot
from muse.errors import UnknownWordError, quote
from muse.model.muse import MUSE
from muse.selector.context import as_tokens
from muse.selector.selection import selector_of

__all__ = ["Alignment", "SenseMatch", "align"]

_LEAST = 0.5  # similarity of two senses that are taken for one
_FEWEST_ANCHORS = 2

Numbers = NDArray[np.float64]


class SenseMatch(NamedTuple):
    """A sense of one model and its partner in the other; None on one side where there is no partner.

    Attributes
    ----------
    first, second : str or None
        Keys, ``"cell#2"``.
    similarity : float or None
        From -1 to 1.
    share : float
        Of the uses of the word, in the model of the sense (the first, where both have it).
    """

    first: str | None
    second: str | None
    similarity: float | None
    share: float


class Alignment:
    """What `align` finds.

    Attributes
    ----------
    rotation : float64 (Da, Db)
        Takes a vector of the first model, ``vector @ rotation``, to the space of the second.
    anchors : list of str
        The words it was fitted to.

    Examples
    --------
    >>> alignment = align(old, new)  # doctest: +SKIP
    >>> alignment.senses("cell")  # doctest: +SKIP
    """

    def __init__(
        self, models: tuple[Snapshot, Snapshot], rotation: Numbers, anchors: list[str], uses: dict[Any, int] | None
    ) -> None:
        self.rotation, self.anchors = rotation, anchors
        self._first, self._second = models
        self._uses = uses

    def similarity(self, word: str) -> float:
        """The cosine of the vectors of a word in both models; how far it is below 1 is the usual measure of change.

        Raises
        ------
        UnknownWordError
            A KeyError, if one of the models does not know it.
        """
        a, b = (one.arrays.word_vector(one.vocabulary.index(word)) for one in (self._first, self._second))
        return float(unit_rows(a @ self.rotation) @ unit_rows(b))

    def similarities(self, word: str) -> Numbers:
        """How alike the senses of a word are, those of the first model in rows, float64 (Ka, Kb).

        The cosine of what each sense adds to its word; where a text was given to `align`, the mean of that and of how
        many uses two senses share (their number over the geometric mean of those that each has).

        Raises
        ------
        UnknownWordError
            A KeyError, if one of the models does not know it.
        """
        one, two = self._first.arrays, self._second.arrays
        rows = one.rows_of(self._first.vocabulary.index(word)), two.rows_of(self._second.vocabulary.index(word))
        found = unit_rows(_offsets(one, rows[0]) @ self.rotation) @ unit_rows(_offsets(two, rows[1])).T
        if self._uses is None:
            return np.asarray(found)
        shared = np.array(
            [[self._uses.get((a, b), 0) for b in range(rows[1].start, rows[1].stop)]
             for a in range(rows[0].start, rows[0].stop)], np.float64,
        )  # fmt: skip
        if not shared.any():
            return np.asarray(found)
        scale = np.sqrt(shared.sum(axis=1, keepdims=True) * shared.sum(axis=0, keepdims=True))
        return np.asarray((found + shared / np.maximum(scale, 1)) / 2)

    def senses(self, word: str, *, least: float = _LEAST) -> list[SenseMatch]:
        """Which sense of one model is which of the other: the assignment with the largest similarities in all.

        Parameters
        ----------
        word : str
            A word that both models know.
        least : float
            Senses that are less alike are no partners: each is listed alone then.

        Returns
        -------
        list of SenseMatch
            Every sense of both models once; those of the first model in their order, then those of the second alone.

        Raises
        ------
        UnknownWordError
            A KeyError, if one of the models does not know it.
        ImportError
            If scipy is not installed.
        """
        least = number(-1, 1)("least", least)
        found = self.similarities(word)
        pairs = _assign(found, least)
        keys, priors = zip(*(_keys(one, word) for one in (self._first, self._second)), strict=True)
        matches = [
            SenseMatch(key, None, None, priors[0][a]) if a not in pairs
            else SenseMatch(key, keys[1][pairs[a]], float(found[a, pairs[a]]), priors[0][a])
            for a, key in enumerate(keys[0])
        ]  # fmt: skip
        taken = set(pairs.values())
        alone = [SenseMatch(None, key, None, priors[1][b]) for b, key in enumerate(keys[1]) if b not in taken]
        return matches + alone

    def stability(self, words: str | Iterable[str] | None = None, *, least: float = _LEAST, most: int = 1000) -> Table:
        """How many of the senses of each word the other model has too, such as one of another seed.

        Parameters
        ----------
        words : str or iterable of str, optional
            A word that both models know, or several; if not given, the most frequent ones that have several senses in
            both.
        least : float
            As of `senses`.
        most : int
            So many words without `words`.

        Returns
        -------
        Table
            With the keys ``word``, ``stable`` (share of its uses whose sense has a partner) and ``similarity`` (mean
            of those of partners, by shares; None without any), the least stable first.
        """
        most = integer(1)("most", most)
        if words is None:
            shared = (word for word in self._first.vocabulary.words if word in self._second.vocabulary)
            words = [word for word in shared if min(len(_keys(one, word)[0]) for one in
                     (self._first, self._second)) > 1][:most]  # fmt: skip
        words = [words] if isinstance(words, str) else words
        if not isinstance(words, Iterable):
            raise TypeError(f"words must be a word or a list of words; got {words!r:.80}")
        rows = []
        for word in words:
            matched = [match for match in self.senses(word, least=least) if match.similarity is not None]
            stable = sum(match.share for match in matched)
            mean = sum(match.share * (match.similarity or 0.0) for match in matched) / stable if stable > 0 else None
            rows.append({"word": word, "stable": stable, "similarity": mean})
        rows.sort(key=lambda row: (row["stable"], row["similarity"] or 0.0))
        return Table("senses that the other model has, too", rows)

    def __repr__(self) -> str:
        return f"<Alignment: fitted to {len(self.anchors)} words>"


def align(model_a: MUSE, model_b: MUSE, *, anchors: int = 5000, text: Any = None) -> Alignment:
    """Lay two models that were trained apart over each other.

    Parameters
    ----------
    model_a, model_b : MUSE
        Trained models.
    anchors : int
        The rotation is fitted to so many words that both know, those of which the model that has fewer uses has most
        (orthogonal Procrustes).
    text : path-like, list of paths, or iterable of lists of str, optional
        Sentences that both models tag; then senses are also compared by the uses that they share.

    Returns
    -------
    Alignment

    Raises
    ------
    TypeError, NotTrainedError
        For what is no trained model.
    ValueError
        If the models share fewer than two words.

    Examples
    --------
    >>> from muse.datasets import make_ambiguous_corpus
    >>> sentences = make_ambiguous_corpus(2000, 300, seed=0).sentences
    >>> one, two = (MUSE(sentences, vector_size=16, senses=2, seed=seed, workers=1) for seed in (1, 2))
    >>> [match.second is not None for match in align(one, two, text=sentences).senses("bank")]
    [True, True]
    """
    anchors = integer(_FEWEST_ANCHORS)("anchors", anchors)
    snapshots = []
    for name, model in (("model_a", model_a), ("model_b", model_b)):
        if not isinstance(model, MUSE):
            raise TypeError(f"{name} must be a muse.MUSE; got {type(model).__name__}")
        _ = model.snapshot.arrays  # or it is not trained
        snapshots.append(model.snapshot)
    one, two = snapshots
    shared = [word for word in one.vocabulary.words if word in two.vocabulary]
    if len(shared) < _FEWEST_ANCHORS:
        raise ValueError("the models share fewer than two words, and cannot be aligned")
    rows = [np.array([snapshot.vocabulary.ids[word] for word in shared]) for snapshot in snapshots]
    common = np.minimum(*(snapshot.arrays.word_counts[mine] for snapshot, mine in zip(snapshots, rows, strict=True)))
    best = np.sort(np.argsort(-common, kind="stable")[:anchors])
    first, second = (
        unit_rows(snapshot.arrays.word_vectors()[mine[best]]) for snapshot, mine in zip(snapshots, rows, strict=True)
    )
    left, _, right = np.linalg.svd(first.T @ second, full_matrices=False)
    uses = None if text is None else _shared_uses(one, two, Source(text, "text"))
    return Alignment((one, two), left @ right, [shared[place] for place in best.tolist()], uses)


def _offsets(arrays: Arrays, rows: slice[int, int, None]) -> Numbers:
    """What each sense of a word adds to its vector; the vector itself where there is one sense."""
    vectors = arrays.sense_vectors[rows].astype(np.float64)
    return vectors if len(vectors) == 1 else vectors - vectors.mean(axis=0)


def _keys(snapshot: Snapshot, word: str) -> tuple[list[str], list[float]]:
    """Keys and shares of the senses of a word."""
    if word not in snapshot.vocabulary:
        raise UnknownWordError(f"{quote(word)} is not a word of both models")
    row = snapshot.vocabulary.index(word)
    numbers = snapshot.arrays.numbers_of(row).tolist()
    return [f"{word}#{number_of}" for number_of in numbers], snapshot.arrays.prior(row).tolist()


def _assign(similarities: Numbers, least: float) -> dict[int, int]:
    """Partners of rows among columns: the largest sum, where a row without a partner counts `least`."""
    solve = needed("scipy.optimize", "matching senses", "eval").linear_sum_assignment
    rows, columns = similarities.shape
    alone = np.full((rows, rows), least)
    chosen = zip(*solve(np.hstack((similarities, alone)), maximize=True), strict=True)
    return {int(a): int(b) for a, b in chosen if b < columns and similarities[a, b] >= least}


def _shared_uses(one: Snapshot, two: Snapshot, source: Source) -> dict[tuple[int, int], int]:
    """How many tokens of a text are of which sense (row) in both models."""
    sentences = [as_tokens(sentence) for sentence in source]
    tokens = [token for sentence in sentences for token in sentence]
    found = []
    for snapshot in (one, two):
        ids = np.fromiter((snapshot.vocabulary.ids.get(token, -1) for token in tokens), np.int64, len(tokens))
        blocks = [block.senses for block in selector_of(snapshot).blocks(sentences)]
        senses = np.concatenate(blocks) if blocks else np.zeros(0, np.int32)
        known = (ids >= 0) & (senses >= 0)
        rows = np.full(len(tokens), -1)
        rows[known] = snapshot.arrays.rows_at(ids[known], senses[known].astype(np.int64))
        found.append(rows)
    both = (found[0] >= 0) & (found[1] >= 0)
    pairs, counts = np.unique(np.stack([rows[both] for rows in found], axis=1), axis=0, return_counts=True)
    return {(int(a), int(b)): int(count) for (a, b), count in zip(pairs, counts, strict=True)}
