"""The models that are explored together: what they are called, and which words of theirs begin with some letters."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from muse.change.temporal import TemporalMUSE
from muse.data.vocabulary import Vocabulary
from muse.files.lines import shown
from muse.model.muse import MUSE

__all__ = ["ExploredModel", "ModelOrPath", "explored", "letters_key"]

ModelOrPath: TypeAlias = "MUSE | TemporalMUSE | str | os.PathLike[str]"

_START_WORDS = 24  # that the first page offers
_FREQUENT = 6_000  # words among which these are sought
_FUNCTION_WORDS = 300  # that are not offered
_LEAST_COUNT = 200  # uses of those that are
_PREFIX_END = "\U0010ffff"


class ExploredModel:
    """A model, its name on the page, and its words in alphabetical order.

    Parameters
    ----------
    model : MUSE
        A trained model.
    name : str
        What it is called.
    slices : TemporalMUSE, optional
        Slices of time that the model has tagged.
    """

    def __init__(self, model: MUSE, name: str, slices: TemporalMUSE | None = None) -> None:
        _ = model.arrays  # or it is not trained
        self.model, self.name, self.slices = model, name, slices
        self._sorted: tuple[Vocabulary, list[str], NDArray[np.int64]] | None = None

    def suggest(self, prefix: str, most: int = 10) -> list[tuple[str, int]]:
        """The most frequent words that begin with `prefix`, whatever the case, and their counts."""
        words, keys, rows = self._alphabet()
        key = letters_key(prefix)
        found = rows[bisect_left(keys, key) : bisect_left(keys, key + _PREFIX_END)] if key else rows[:0]
        counts = words.counts[found]
        if len(found) > most:
            chosen = np.argpartition(-counts, most)[:most]
            found, counts = found[chosen], counts[chosen]
        other = np.array([letters_key(words.words[row]) != key for row in found.tolist()], bool)
        order = np.lexsort((found, -counts, other))
        return [(words.words[row], int(words.counts[row])) for row in found[order].tolist()]

    def _alphabet(self) -> tuple[Vocabulary, list[str], NDArray[np.int64]]:
        """The words, their sorted keys, and the row of each; made anew when the model has other words."""
        now = self.model.vocabulary
        if self._sorted is None or self._sorted[0] is not now:
            keyed = sorted((letters_key(word), row) for row, word in enumerate(now.words) if word)
            self._sorted = (now, [key for key, _ in keyed], np.array([row for _, row in keyed], np.int64))
        return self._sorted

    @cached_property
    def start(self) -> list[str]:
        """Words to begin with: frequent ones whose uses fall into parts that are far apart, else the most frequent."""
        snapshot = self.model.snapshot
        words, forest = snapshot.vocabulary, snapshot.forest
        if forest is None:
            several = np.flatnonzero(np.diff(snapshot.arrays.sense_offset) > 1)
            order = (
                several[np.argsort(-words.counts[several], kind="stable")] if len(several) else np.arange(len(words))
            )
        else:
            leaves = forest.trees.n_leaves
            grown = np.flatnonzero(leaves > 0)
            widest = forest.trees.auto_strengths[np.cumsum(leaves[grown] - 1) - 1]  # the last join is the root's
            often = np.argsort(-words.counts[grown], kind="stable")[min(_FUNCTION_WORDS, len(grown) // 10) : _FREQUENT]
            order = grown[often[np.argsort(-widest[often], kind="stable")]]
        found: list[str] = []
        for row in order.tolist():
            word = words.words[row]
            if len(word) > 2 and word.isalpha() and (words.counts[row] >= _LEAST_COUNT or len(words) < _FREQUENT):
                found.append(word)
            if len(found) == _START_WORDS:
                break
        return found

    def info(self) -> dict[str, Any]:
        """What the first page says of the model."""
        arrays = self.model.arrays
        return {
            "name": self.name,
            "words": len(self.model),
            "senses": int(arrays.n_senses),
            "dimension": int(arrays.sense_vectors.shape[1]),
            "tokens": int(self.model.vocabulary.raw_words),
            "trees": self.model.snapshot.forest is not None,
            "slices": [] if self.slices is None else list(self.slices.slices),
        }


def letters_key(text: str) -> str:
    """What words are sorted and sought by: their letters without case."""
    return text.casefold()


def explored(models: Sequence[ModelOrPath], names: Sequence[str] | None = None) -> list[ExploredModel]:
    """The models that are given, opened where they are paths, each with a name of its own.

    Parameters
    ----------
    models : sequence of MUSE, TemporalMUSE or path
        Trained models, with their slices of time or without, or files of such.
    names : sequence of str, optional
        One for each. By default the name of its file, or "model" and its number.

    Raises
    ------
    TypeError, ValueError
        For what is no model, or if there are not as many names as models.
    OSError, ModelFileError
        For a file that cannot be read.
    NotTrainedError
        For a model without senses.
    """
    if names is not None and (isinstance(names, str) or len(names) != len(models)):
        raise ValueError(f"names must be a list with one name for each of {len(models)} models; got {names!r:.80}")
    found: list[ExploredModel] = []
    for place, given in enumerate(models):
        name = f"model {place + 1}"
        slices = given if isinstance(given, TemporalMUSE) else None
        if isinstance(given, TemporalMUSE):
            given = given.model
        if isinstance(given, str | os.PathLike):
            given, name = MUSE.load(given, mmap=True), shown(Path(given).name).removesuffix(".safetensors")
        elif not isinstance(given, MUSE):
            raise TypeError(f"the explorer shows models (MUSE, TemporalMUSE) or files of them; got {given!r:.80}")
        if names is not None:
            name = str(names[place])
        taken = {other.name for other in found}
        found.append(ExploredModel(given, name if name not in taken else f"{name} ({place + 1})", slices))
    return found
