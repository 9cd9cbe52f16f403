"""Names of senses, which people give: methods of `MUSE`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.base.checks import number as number_check
from muse.base.numeric import unit_rows
from muse.data.arrays import Arrays, Floats
from muse.data.sense_names import NO_NAMES, SenseNames, check_name, joined_names, warn_of_lost
from muse.data.snapshot import Publisher, Snapshot, has_sense
from muse.errors import UnknownSenseError, quote
from muse.model.guard import Model, changes
from muse.vectors.model_vectors import sense_row
from muse.vectors.sense_keys import SenseKey, parse_sense_key

__all__ = [
    "given_names", "lose_all", "name_sense", "renumbered", "sense_key", "sense_names", "take_names",
    "with_names_that_fit",
]  # fmt: skip

_ANCHORS = 2000  # frequent words to which senses of two models are compared
_FEWEST_ANCHORS = 20  # with fewer, anything is like anything
_ROUNDING = 1e-4  # of cosines


@changes
def name_sense(self: Model, key: SenseKey, name: str | None) -> None:
    """Give a sense a name, another one, or none. It is kept in the model's file, and shown wherever the sense is.

    In a model with sense trees the name belongs to the node: it is there again whenever a cut has the node as a sense,
    a coarser sense shows the names of what it is made of, and a finer one that of what it is a part of.

    Parameters
    ----------
    key : str or (str, int)
        The sense, ``"bank#1"`` or ``("bank", 1)``; any node of the word's tree, whether it is a sense now or not; or,
        for a sense with a name, ``"bank:river"``.
    name : str or None
        One line of at most 100 characters that no other sense of the word has; None takes the name away.

    Raises
    ------
    UnknownWordError, UnknownSenseError
        Both are KeyErrors.
    TypeError, ValueError
        For what cannot be a name: empty, several lines, control characters, too long, that of another sense of the
        word.
    RuntimeError
        In a callback, and while another call changes or writes the model.

    Examples
    --------
    >>> from muse import MUSE
    >>> from muse.datasets import make_ambiguous_corpus
    >>> model = MUSE(make_ambiguous_corpus(2000, 300, seed=0).sentences, senses=2, vector_size=16, workers=1)
    >>> model.name_sense("bank#1", "river")
    >>> model.sense_names("bank"), model.sense_key("bank:river")
    ({'bank#1': 'river'}, 'bank#1')
    """
    snapshot = self.snapshot
    word, number = _sense(snapshot, key)
    self.publish(
        snapshot.replace(names=snapshot.names.with_name(word, number, None if name is None else check_name(name)))
    )


def _sense(snapshot: Snapshot, key: SenseKey) -> tuple[str, int]:
    """The word and number of a sense or node that there is."""
    arrays = snapshot.arrays
    word, number = parse_sense_key(key, snapshot.known_names)
    row = snapshot.vocabulary.index(word)
    if not has_sense(snapshot, row, number):
        sense_row(arrays, word, row, number)  # which raises the error, unless a tree has other numbers
        raise UnknownSenseError(f"there is no sense {number} of {quote(word)}")
    return word, number


def sense_names(self: Publisher, word: str | None = None) -> dict[str, str]:
    """The names of the senses of a word, or all that were given.

    Parameters
    ----------
    word : str, optional
        A known word: what is shown as the name of each of its senses now, those of a coarse sense's parts included.
        Without it, every name that was given, whether its node is a sense now or not.

    Returns
    -------
    dict of str to str
        By keys, ``{"bank#1": "river"}``; senses without a name are left out.

    Raises
    ------
    UnknownWordError
        A KeyError that names the nearest spellings.

    Examples
    --------
    >>> model.sense_names("bank")  # doctest: +SKIP
    {'bank#0': 'money', 'bank#1': 'river'}
    """
    snapshot = self.snapshot
    if word is None:
        return snapshot.names.keys_and_names()
    shown = snapshot.shown_names(word)
    numbers = snapshot.arrays.numbers_of(snapshot.vocabulary.index(word)).tolist()
    return {f"{word}#{number}": shown[number] for number in numbers if number in shown}


def sense_key(self: Publisher, name: SenseKey) -> str:
    """The key of a sense, of its name: ``"bank#1"`` for ``"bank:river"``. A key stays as it is.

    Parameters
    ----------
    name : str or (str, int)
        The word, a colon and the name; or a key.

    Returns
    -------
    str
        Its key, also where that is a node which is no sense under the present cut.

    Raises
    ------
    UnknownWordError, UnknownSenseError
        Both are KeyErrors.

    Examples
    --------
    >>> model.sense_key("bank:river")  # doctest: +SKIP
    'bank#1'
    """
    word, number = _sense(self.snapshot, name)
    return f"{word}#{number}"


# -- names when senses change ------------------------------------------------------------------------------------------


def given_names(snapshot: Snapshot, given: Mapping[str, str] | None) -> SenseNames:
    """Names by keys, as `sense_names` lists them, for the senses of a snapshot."""
    names = NO_NAMES
    for key, name in (given or {}).items():
        names = names.with_name(*_sense(snapshot, key), check_name(name))
    return names


def lose_all(snapshot: Snapshot, why: str) -> Snapshot:
    """The snapshot without names, after a warning that lists them."""
    warn_of_lost(snapshot.names.keys_and_names(), why)
    return snapshot.replace(names=NO_NAMES)


def with_names_that_fit(snapshot: Snapshot) -> Snapshot:
    """The snapshot without the names of senses that it does not have, after a warning that lists them."""
    if snapshot.numbers is None:
        return lose_all(snapshot, "the model has no senses any more") if snapshot.names else snapshot
    gone: dict[str, set[int]] = {}
    for word, numbered in snapshot.names.items():
        row = snapshot.vocabulary.get(word)
        gone[word] = {number for number in numbered if row < 0 or not has_sense(snapshot, row, number)}
    lost = {key: name for key, name in snapshot.names.keys_and_names().items()
            if int(key.rpartition("#")[2]) in gone[key.rpartition("#")[0]]}  # fmt: skip
    warn_of_lost(lost, "the model has no such senses any more")
    return snapshot.replace(names=snapshot.names.without(gone)) if lost else snapshot


def renumbered(snapshot: Snapshot, arrays: Arrays, rows: NDArray[np.int64]) -> SenseNames:
    """The names of the senses of `arrays`, where old row i has gone to row ``rows[i]``, or away (-1)."""
    names, lost = NO_NAMES, {}
    old = snapshot.arrays
    for word, numbered in snapshot.names.items():
        row = snapshot.vocabulary.get(word)
        into: dict[int, list[str]] = {}
        for number, name in numbered.items():
            place = old.row_of(row, number) if row >= 0 else -1  # a file that was mapped may hold names of none
            new = int(rows[place]) if place >= 0 else -1
            if new < 0:
                lost[f"{word}#{number}"] = name
            else:
                into.setdefault(new - int(arrays.sense_offset[row]), []).append(name)
        for place, several in into.items():
            names = names.with_name(word, int(arrays.numbers_of(row)[place]), joined_names(several))
    warn_of_lost(lost, "their senses were dropped")
    return names


# -- names of another model --------------------------------------------------------------------------------------------


@changes
def take_names(self: Model, other: Any, threshold: float = 0.5) -> dict[str, str | None]:
    """Give the senses of this model the names that those of another one have, where they are the same senses.

    For a model that was trained anew. What a sense is near to, among words that both models know, decides: vectors of
    two models cannot be compared, their cosines can. A sense gets the name of the one that it is most like.

    Parameters
    ----------
    other : MUSE
        With names.
    threshold : float
        How like two senses must be, from -1 to 1: the correlation of what sets them apart from their word.

    Returns
    -------
    dict of str to (str or None)
        For the key of each named sense of `other`, the key here of the sense that has its name now, or None.

    Raises
    ------
    TypeError, ValueError
        If `other` is no model, or `threshold` no such number.
    RuntimeError
        In a callback, and while another call changes or writes the model.

    Warns
    -----
    UserWarning
        Lists the names that no sense here was given.

    Examples
    --------
    >>> new_model.take_names(old_model)  # doctest: +SKIP
    {'bank#1': 'bank#0', 'bank#0': 'bank#2'}
    """
    theirs = getattr(other, "snapshot", None)
    if not isinstance(theirs, Snapshot):
        raise TypeError(f"take_names takes a model of muse; got {type(other).__name__}")
    threshold = number_check(-1, 1)("threshold", threshold)
    ours, names = self.snapshot, self.snapshot.names
    known = [word for word in ours.vocabulary.words if word in theirs.vocabulary][: _ANCHORS + 1]
    found: dict[str, str | None] = {}
    for word, numbered in theirs.names.items():
        found |= dict.fromkeys((f"{word}#{number}" for number in numbered), None)
        anchors = [anchor for anchor in known if anchor != word]
        if word not in ours.vocabulary or len(anchors) < _FEWEST_ANCHORS:
            continue
        here, there = _profiles(ours, word, anchors), _profiles(theirs, word, anchors)
        for old, new in _matched(list(numbered), there, here, threshold):
            if new not in names.of(word) and numbered[old] not in names.of(word).values():
                names = names.with_name(word, new, numbered[old])
                found[f"{word}#{old}"] = f"{word}#{new}"
    self.publish(ours.replace(names=names))
    lost = {key: name for key, name in theirs.names.keys_and_names().items() if found[key] is None}
    warn_of_lost(lost, "no sense here is enough like theirs and without a name", "are not taken")
    return found


def _profiles(snapshot: Snapshot, word: str, anchors: list[str]) -> dict[int, Floats]:
    """What sets each sense, or node, of a word apart from the word, as cosines with A words: float32 (A,) by number."""
    arrays, row = snapshot.arrays, snapshot.vocabulary.index(word)
    forest = snapshot.forest
    if forest is not None and forest.trees.n_leaves[row]:
        vectors = forest.node_vectors(row)
        numbers, shares = list(range(len(vectors))), forest.trees.node_uses(row)
        whole = vectors[int(shares.argmax())]
    else:
        vectors, numbers = arrays.sense_vectors[arrays.rows_of(row)], arrays.numbers_of(row).tolist()
        whole = arrays.word_vector(row)
    rows = [snapshot.vocabulary.index(anchor) for anchor in anchors]
    against = unit_rows(np.stack([arrays.word_vector(r) for r in rows]))
    cosines = unit_rows(vectors) @ against.T
    if len(numbers) > 1:
        cosines = cosines - (unit_rows(whole[None]) @ against.T)
    cosines[np.abs(cosines).max(axis=1) < _ROUNDING] = 0
    return dict(zip(numbers, unit_rows(cosines - cosines.mean(axis=1, keepdims=True)), strict=True))


def _matched(
    wanted: Iterable[int], there: dict[int, Floats], here: dict[int, Floats], threshold: float
) -> list[tuple[int, int]]:
    """Pairs of senses (theirs, ours), the most alike first, each sense in one pair at most."""
    alike = [
        (_likeness(there[old], profile), old, new) for old in wanted if old in there for new, profile in here.items()
    ]
    pairs: list[tuple[int, int]] = []
    for cosine, old, new in sorted(alike, key=lambda pair: -pair[0]):
        free = all(old != o and new != n for o, n in pairs)
        if free and cosine >= threshold:
            pairs.append((old, new))
    return pairs


def _likeness(one: Floats, other: Floats) -> float:
    """The correlation of two profiles; those of words as a whole are zeros, and alike."""
    return float(one @ other) if one.any() or other.any() else 1.0
