"""How a training makes senses of words by sense trees: new trees, or new vectors for the nodes of those that it has."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.base.progress import Bar, progress_bar
from muse.data.arrays import Arrays
from muse.data.forest import Forest
from muse.data.sense_names import NO_NAMES, SenseNames, warn_of_lost
from muse.data.settings import Settings
from muse.data.snapshot import Snapshot
from muse.training.forms import shared_senses
from muse.training.trees import Grown, TreeSettings, grow_trees

__all__ = ["Parts", "grow", "growth_row", "names_from_words", "tree_settings"]

logger = logging.getLogger("muse")

_UNITS = {"encoder": " tokens", "trees": " uses", "senses": " words"}


def tree_settings(settings: Settings) -> TreeSettings:
    """How trees are grown, from a model's settings."""
    measured: dict[str, Any] = {} if settings.shrinkage is None else {"shrinkage": settings.shrinkage}
    return TreeSettings(
        encoder_window=settings.order_window, negative=settings.negative, encoder_size=settings.order_size,
        sample=settings.sample, topic_window=settings.topic_window, topic_power=settings.topic_power,
        order_weight=settings.order_weight, whitening=settings.whitening, uses=settings.uses, leaves=settings.leaves,
        uses_a_leaf=settings.uses_a_leaf, least_uses=settings.least_uses, share_power=settings.share_power,
        prior_weight=settings.prior_weight, seed=settings.seed & 0x7FFFFFFFFFFFFFFF,
        **measured,
    )  # fmt: skip


def grow(
    arrays: Arrays,
    corpus: _core.Corpus,
    settings: Settings,
    words: Sequence[str],
    workers: int,
) -> tuple[Forest, Arrays, float]:
    """Grow the sense trees of a word-level model.

    Parameters
    ----------
    arrays : Arrays
        One sense a word.
    corpus : _core.Corpus
        What it was trained on.
    settings : Settings
        Those of the model.
    words : sequence of V str
        The words.
    workers : int
        Threads.

    Returns
    -------
    forest : Forest
    arrays : Arrays
        Of the default cut.
    loss : float
        Of the encoder at the end.
    """
    logger.info("growing sense trees of %d words", arrays.n_words)
    with Parts(settings.progress) as parts:
        lemmas = shared_senses(words, arrays.sense_vectors, settings.forms)
        grown = grow_trees(arrays, corpus, tree_settings(settings), workers, parts.tick, lemmas)
        for part, seconds in grown.seconds.items():
            logger.info("sense trees, %s: %.1f s", part, seconds)
        parts.tick("cut", 0, 1)
        forest = _cut(grown, arrays, settings, words, lemmas)
        _core.give_back_memory()  # before the largest matrices of all are made
        made = forest.arrays(arrays.collocation_vectors, arrays.word_counts)
        parts.tick("cut", 1, 1)
    senses = np.diff(made.sense_offset)
    logger.info("%d words have %d senses; %d words have more than one", made.n_words, made.n_senses,
                int((senses > 1).sum()))  # fmt: skip
    return forest, made, grown.loss


def _cut(
    grown: Grown, arrays: Arrays, settings: Settings, words: Sequence[str], lemmas: NDArray[np.int64] | None
) -> Forest:
    """The default cut: what the settings say of the number of senses."""
    wanted = settings.senses_of(words)
    if lemmas is not None and isinstance(settings.senses, Mapping):
        named = np.array([word in settings.senses for word in words])
        wanted = np.where(named, wanted, wanted[lemmas])
    chosen = grown.trees.senses_of("auto" if settings.senses == "auto" else wanted)
    trees = dataclasses.replace(grown.trees, default_senses=chosen)
    if settings.kept_leaves is not None:
        trees = trees.coarsest(np.maximum(settings.kept_leaves, chosen))
    return Forest(grown.space, trees, arrays.sense_vectors, *trees.nodes_of(chosen), lemmas)


def names_from_words(before: Snapshot, arrays: Arrays, forest: Forest | None) -> SenseNames:
    """The names of senses after these were made of words, each of which was one sense before.

    Such a name belongs to the word as a whole: the root of its tree. Without a tree it is gone, which a warning says,
    where the word has several senses now.
    """
    names, lost = NO_NAMES, {}
    for word, numbered in before.names.items():
        row = before.vocabulary.get(word)
        for number, name in numbered.items():
            if row < 0:  # a file that was mapped may hold names of none
                lost[f"{word}#{number}"] = name
            elif forest is not None and forest.trees.n_leaves[row]:
                names = names.with_name(word, forest.trees.tree(row, word).root, name)
            elif len(arrays.numbers_of(row)) == 1:
                names = names.with_name(word, int(arrays.numbers_of(row)[0]), name)
            else:
                lost[f"{word}#{number}"] = name
    warn_of_lost(lost, "their words were split into senses")
    return names


def growth_row(row: dict[str, Any], corpus: _core.Corpus, loss: float, seconds: float) -> dict[str, Any]:
    """The row of ``model.history`` for the trees, from one that says how their senses are used."""
    rate = corpus.n_tokens / max(seconds, 1e-9)
    return {**row, "seconds": seconds, "loss": loss, "tokens_per_second": rate, "pairs_per_second": 0.0}


class Parts:
    """A progress bar for each part, one after another.

    Parameters
    ----------
    show : bool
        Whether they are seen.
    """

    def __init__(self, show: bool) -> None:
        self._show, self._part = show, ""
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            self._bar = None

    def tick(self, part: str, done: int, total: int) -> None:
        """Show how far a part has come."""
        if part != self._part:
            self._close()
            self._part = part
            bar = progress_bar(total=total, desc=part, unit=_UNITS.get(part, ""), show=self._show)
            self._bar = bar.__enter__()
        if self._bar is not None:
            self._bar.update(done - self._bar.n)
