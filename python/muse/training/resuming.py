"""Whether a training can be resumed: on the same text, for as many epochs, and if there is something left."""

from __future__ import annotations

import dataclasses
import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.data.snapshot import Snapshot
from muse.data.training_state import STATE_FIELDS, check_state

__all__ = ["NO_SENSES_YET", "resumable", "say_nothing_is_left", "size_of", "with_senses"]

logger = logging.getLogger("muse")

NO_SENSES_YET = (
    "training was stopped before senses were made, so that each word has one; train(the same text, resume=True) goes "
    "on to the end, and with senses_now=True makes the senses first, from the words as they are"
)


def resumable(snapshot: Snapshot, corpus: _core.Corpus, checksum: int, epochs: int) -> dict[str, Any]:
    """Where the training of a model stands, if it can be resumed on a corpus of this checksum for so many epochs.

    Raises
    ------
    ValueError
        If the model was not in training, or for other epochs, or on another text; the message says which.
    """
    state = snapshot.training_state
    if not STATE_FIELDS.issubset(state) or not snapshot.is_trained:
        raise ValueError("there is no training to resume: load a checkpoint, or call train without resume=True")
    check_state(state)
    if "reduced" in state:
        raise ValueError(
            f"the model is from a file that was saved with dtype={state['reduced']!r}, and a training is resumed from "
            "the numbers that it stopped with: load a checkpoint or a file of float32, or call train without "
            "resume=True, which goes on from the rounded numbers"
        )
    if state["epochs"] != epochs:
        raise ValueError(
            f"the model was in training for {state['epochs']} epochs; leave epochs out to resume that, or call "
            f"train without resume=True for {epochs} more"
        )
    if state["corpus"] != size_of(snapshot, corpus):
        tokens, sentences, words = state["corpus"]
        forgot = ""
        if snapshot.settings.max_vocab_size is not None:
            forgot = (
                " (with max_vocab_size, uses of words that were forgotten for a while differ when a text is read "
                "again: only the process that built the vocabulary can resume)"
            )
        raise ValueError(
            f"the model was in training on {tokens:,} tokens in {sentences:,} sentences, with {words:,} words; "
            f"this corpus has {corpus.n_tokens:,} tokens in {corpus.n_sentences:,} sentences, with "
            f"{len(snapshot.vocabulary):,} words: resume on the same corpus, or call train without resume=True" + forgot
        )
    if state.get("digest", checksum) != checksum:
        raise ValueError(
            "the model was in training on another text, of as many tokens and sentences as this: resume on the "
            "same corpus, or call train without resume=True"
        )
    return state


def size_of(snapshot: Snapshot, corpus: _core.Corpus) -> list[int]:
    """Tokens and sentences of a corpus, and the words that a model knows: what a training state holds of the text."""
    return [corpus.n_tokens, corpus.n_sentences, len(snapshot.vocabulary)]


def say_nothing_is_left(epochs: int) -> None:
    """Log that a training that was to be resumed had come to its end."""
    logger.info("nothing is left to resume: all %d epochs are done; train without resume=True adds more", epochs)


def with_senses(snapshot: Snapshot, known: NDArray[np.int64]) -> Snapshot:
    """The snapshot of words in training, whose senses by trees wait, with these senses around the words as they are.

    What a resumed training needs is still there.

    Parameters
    ----------
    snapshot : Snapshot
        With a forest, and arrays of words.
    known : int64 (Z,)
        Counts of the senses before; where they do not fit the words (new ones have come), shares of nodes count.
    """
    forest = snapshot.forest
    assert forest is not None
    words = snapshot.arrays
    arrays = forest.arrays(words.collocation_vectors, words.word_counts)
    if len(known) == arrays.n_senses and np.array_equal(
        np.add.reduceat(known, arrays.sense_offset[:-1]), words.word_counts
    ):
        arrays = dataclasses.replace(arrays, sense_counts=known)
    return snapshot.replace(numbers=arrays)
