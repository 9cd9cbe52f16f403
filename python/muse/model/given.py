"""A snapshot of parts that a user gives, which are checked first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from muse.data.arrays import Arrays
from muse.data.forest import Forest
from muse.data.settings import Settings
from muse.data.snapshot import Snapshot
from muse.data.vocabulary import Vocabulary, check_words

__all__ = ["given_snapshot"]


def given_snapshot(
    vocabulary: Vocabulary | Sequence[str],
    arrays: Arrays,
    settings: Settings | None,
    training_state: Mapping[str, Any] | None,
    forest: Forest | None = None,
) -> Snapshot:
    """The snapshot of parts that come from outside; see `MUSE.from_arrays`."""
    if not isinstance(arrays, Arrays):
        raise TypeError(f"arrays must be muse.Arrays; got {type(arrays).__name__}")
    if isinstance(vocabulary, (str, bytes)) or not isinstance(vocabulary, (Vocabulary, Iterable)):
        raise TypeError(f"vocabulary must be a Vocabulary or a list of words; got {vocabulary!r:.60}")
    arrays.check()
    arrays.check_finite()
    if settings is None:
        square = arrays.vector_size == arrays.selection_size
        settings = Settings(
            init="split" if square else "random", vector_size=arrays.vector_size,
            selection_size=None if square else arrays.selection_size, share_weight=0.0,
            formulation="one_sided" if arrays.forward_values is None else "factorized",
            collocation="sense" if arrays.has_sense_collocation else "word",
        )  # fmt: skip
    words = vocabulary.words if isinstance(vocabulary, Vocabulary) else list(vocabulary)
    check_words(words, "the vocabulary")
    if not isinstance(vocabulary, Vocabulary):
        counted = arrays.word_counts if len(words) == arrays.n_words else None  # what is wrong is said by the check
        vocabulary = Vocabulary(words, counted)
    if forest is not None:
        forest.check_finite()
    return Snapshot(settings, vocabulary, arrays, dict(training_state or {}), forest)
