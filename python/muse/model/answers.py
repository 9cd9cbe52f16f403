"""The answers of a trained model, as functions of a snapshot; `muse.model.queries` says what each one is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.base.checks import integer
from muse.base.numeric import as_cosines, unit_rows
from muse.data.arrays import Floats
from muse.data.snapshot import Snapshot
from muse.errors import UnknownSenseError, quote
from muse.model.cards import collocates
from muse.selector.context import AskedContexts, Context, asked_contexts
from muse.selector.selection import selector_of, uses_of
from muse.vectors.keyed import check_topn

__all__ = [
    "asked",
    "has_context",
    "predict_collocates",
    "probabilities",
    "probabilities_batch",
    "rows_of",
    "select_sense",
    "sense_numbers",
    "sense_vectors",
    "similarity",
]

SIMILARITIES = ("max_sim_c", "avg_sim_c", "max", "avg")


def rows_of(snapshot: Snapshot, word: str) -> slice[int, int, None]:
    """Rows of the senses of a word."""
    return snapshot.arrays.rows_of(snapshot.vocabulary.index(word))


def asked(
    snapshot: Snapshot, context: Any = None, position: Any = None, contexts: Any = None, positions: Any = None
) -> AskedContexts | None:
    """What the arguments of a question ask about; None: no context."""
    _ = snapshot.arrays  # or there is nothing to ask
    return asked_contexts(context, position, contexts, positions, snapshot.vocabulary.ids)


def sense_vectors(snapshot: Snapshot, word: str, about: AskedContexts | None = None) -> Floats:
    """The sense vectors of a word, or of the senses that contexts mean."""
    vectors = snapshot.arrays.sense_vectors[rows_of(snapshot, word)]
    if about is None:
        return vectors.copy()
    selected: Floats = vectors[probabilities(snapshot, word, about).argmax(axis=-1)]
    return selected


def sense_numbers(snapshot: Snapshot, word: str, level: int | None = None) -> NDArray[np.int64]:
    """The numbers of the senses of a word, in the order of its probabilities; `level` is another cut."""
    row = snapshot.vocabulary.index(word)
    if level is None:
        return snapshot.arrays.numbers_of(row)
    _ = snapshot.arrays  # or it is not trained
    if snapshot.forest is None:
        raise ValueError(
            "level needs sense trees, and this model has none: train it with the recipe Trees, the default, and more "
            "than one sense a word"
        )
    return snapshot.forest.trees.numbers_at(row, integer(1)("level", level))


def select_sense(snapshot: Snapshot, word: str, about: AskedContexts | None, level: int | None = None) -> Any:
    """The number of the sense that a context means, or of each of several."""
    best = probabilities(snapshot, word, about, level).argmax(axis=-1)
    numbers = sense_numbers(snapshot, word, level)[best]
    return int(numbers) if best.ndim == 0 else numbers


def probabilities(
    snapshot: Snapshot, word: str, about: AskedContexts | None = None, level: int | None = None
) -> Floats:
    """The probability of each sense in a context, or in each of several; without one, its share."""
    if level is not None:
        return _at_level(snapshot, word, about, sense_numbers(snapshot, word, level))
    if about is None:
        return snapshot.arrays.prior(snapshot.vocabulary.index(word))
    found = selector_of(snapshot).probabilities(word, about.contexts, about.positions)
    return found[0] if about.single else found


def _at_level(snapshot: Snapshot, word: str, about: AskedContexts | None, nodes: NDArray[np.int64]) -> Floats:
    """The same for other nodes of the word's tree."""
    forest, row = snapshot.forest, snapshot.vocabulary.index(word)
    assert forest is not None
    if np.array_equal(nodes, snapshot.arrays.numbers_of(row)):  # the same cut has the same answer
        return probabilities(snapshot, word, about)
    if about is None:
        uses = forest.trees.node_uses(row)[nodes]
        shares: Floats = (uses / uses.sum()).astype(np.float32)
        return shares
    found = uses_of(snapshot, forest).probabilities_at(word, about.contexts, about.positions, nodes)
    return found[0] if about.single else found


def has_context(snapshot: Snapshot, word: str, about: AskedContexts | None) -> Any:
    """Whether a context holds a known word beside the word itself, or each of several."""
    if about is None:
        snapshot.vocabulary.index(word)
        return False
    found = selector_of(snapshot).has_context(word, about.contexts, about.positions)
    return bool(found[0]) if about.single else found


def probabilities_batch(
    snapshot: Snapshot, words: Sequence[str], contexts: Sequence[Context], positions: Any
) -> list[Floats]:
    """The probabilities of many words, each in a context of its own."""
    if any(isinstance(given, str) or not hasattr(given, "__len__") for given in (words, contexts)):
        raise TypeError("sense_probabilities_batch takes a list of words and a list of as many contexts")
    if len(words) != len(contexts):
        raise ValueError(f"there must be as many contexts as words; got {len(contexts)} for {len(words)}")
    about = asked(snapshot, contexts=contexts, positions=positions)
    assert about is not None  # contexts were given
    return selector_of(snapshot).probabilities_of(words, about.contexts, about.positions)


def similarity(
    snapshot: Snapshot, words: tuple[str, str], contexts: tuple[Context | None, Context | None], how: str | None
) -> float:
    """The similarity of two words, each perhaps in a context."""
    if how is None:
        how = "max" if all(context is None for context in contexts) else "max_sim_c"
    if how not in SIMILARITIES:
        raise ValueError(f"how must be one of {', '.join(map(repr, SIMILARITIES))}; got {how!r:.80}")
    one, other = (unit_rows(sense_vectors(snapshot, word)) for word in words)
    cosines = as_cosines(one @ other.T)
    if how in ("max", "avg"):
        return float(cosines.max() if how == "max" else cosines.mean())
    first, second = (
        probabilities(snapshot, word, asked(snapshot, context)) for word, context in zip(words, contexts, strict=True)
    )
    if how == "max_sim_c":
        return float(cosines[first.argmax(), second.argmax()])
    return float(np.clip(first @ cosines @ second, -1.0, 1.0))  # probabilities add up to one but for rounding


def predict_collocates(
    snapshot: Snapshot,
    word: str,
    context: Context | None,
    *,
    sense: int | None,
    topn: int,
    restrict_vocab: int | None,
) -> list[tuple[str, float]]:
    """The collocates that a sense makes likely."""
    row = snapshot.vocabulary.index(word)
    if sense is None:
        sense = select_sense(snapshot, word, asked(snapshot, context))
    elif context is not None:
        raise ValueError("give either a context, which selects the sense, or sense")
    if isinstance(sense, (bool, np.bool_)) or not isinstance(sense, (int, np.integer)):
        raise TypeError(f"sense must be the number of a sense, an integer; got {sense!r:.80}")
    arrays = snapshot.arrays
    found = arrays.row_of(row, int(sense))
    if found < 0:
        numbers = ", ".join(map(str, arrays.numbers_of(row).tolist()))
        raise UnknownSenseError(f"there is no sense {sense} of {quote(word)}; its senses are {numbers}")
    return collocates(snapshot, arrays.sense_vectors[[found]], check_topn(topn), restrict_vocab)[0]
