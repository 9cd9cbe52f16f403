"""Senses of whole sentences and of streams of them: questions to a model, which are methods of `MUSE`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from muse.data.arrays import Floats
from muse.data.snapshot import Publisher
from muse.selector import tagging
from muse.selector.context import Context
from muse.selector.selection import SenseBlock, TokenSense

__all__ = ["disambiguate", "disambiguate_batch", "disambiguate_blocks", "sentence_vector"]


def disambiguate(self: Publisher, sentence: Context) -> list[TokenSense]:
    """The sense of every token of a sentence: (token, sense or None, probability).

    Parameters
    ----------
    sentence : str or list of str
        A string is split at white space, and nothing else is done to it.

    Returns
    -------
    list of TokenSense
        One for each token; its `key` is ``"word#k"``.

    Raises
    ------
    TypeError
        If it is neither a string nor a list of strings.

    Examples
    --------
    >>> [t.key for t in model.disambiguate("the head of the army")]  # doctest: +SKIP
    ['the#0', 'head#2', 'of#0', 'the#0', 'army#1']
    """
    return tagging.sentence_senses(self.snapshot, sentence)


def disambiguate_batch(
    self: Publisher, sentences: Iterable[Context], *, probabilities: bool = False, margin: float | None = None
) -> Iterator[Any]:
    """The senses of every token of many sentences, on all threads.

    Parameters
    ----------
    sentences : iterable of str or list of str
        Read as it comes, a few hundred thousand tokens at a time; it may be endless.
    probabilities : bool
        Whether to give the probabilities too.
    margin : float, optional
        Whether to say, too, which tokens the selector is unsure of: those whose sense is less than `margin` more
        probable than the next best one.

    Yields
    ------
    int32 (tokens,)
        For each sentence the number of each token's sense, -1 for words that the model does not know. With
        `probabilities` or `margin` a tuple of this and what was asked for, in that order: float32 (tokens,), and
        bool (tokens,), false for words with one sense or none.

    Raises
    ------
    TypeError
        If a sentence is neither a string nor a list of strings, or `sentences` is a single string.

    Examples
    --------
    >>> for senses, unsure in model.disambiguate_batch(corpus, margin=0.2):  # doctest: +SKIP
    ...     sure = senses[~unsure]
    """
    return tagging.stream_senses(self.snapshot, sentences, probabilities, margin)


def disambiguate_blocks(self: Publisher, sentences: Iterable[Context]) -> Iterator[SenseBlock]:
    """`disambiguate_batch` in arrays of many sentences: no Python object a token or sentence.

    Parameters
    ----------
    sentences : iterable of str or list of str
        As in `disambiguate_batch`.

    Yields
    ------
    SenseBlock
        Arrays of the next few hundred thousand tokens: ``senses``, ``probabilities``, ``margins`` and ``offsets``.

    Raises
    ------
    TypeError
        As `disambiguate_batch`.

    Examples
    --------
    >>> from muse import MUSE
    >>> from muse.datasets import make_ambiguous_corpus
    >>> text = make_ambiguous_corpus(2000, 300, seed=0).sentences
    >>> model = MUSE(text, senses=2, vector_size=16, epochs=2, workers=1)
    >>> sure = [float((block.margins > 0.5).mean()) for block in model.disambiguate_blocks(text)]
    """
    return tagging.sense_blocks(self.snapshot, sentences)


def sentence_vector(
    self: Publisher,
    sentence: Context | None = None,
    *,
    sentences: Iterable[Context] | None = None,
    weights: str | None = None,
) -> Floats:
    """The mean of the vectors of the senses that are selected for the words of a sentence.

    Each sense vector has length one before the mean is taken. Unknown words are skipped.

    Parameters
    ----------
    sentence : str or list of str, optional
        One sentence: text, or tokens.
    sentences : iterable of sentences, optional
        In its place: several.
    weights : {None, "sif"}
        Weigh all words alike, or a word of share p in the training text by 0.001 / (0.001 + p), so that frequent
        words count less (smooth inverse frequency; Arora, Liang & Ma 2017).

    Returns
    -------
    float32 (D,)
        Zeros where no word is known.
    float32 (N, D)
        With N `sentences`.

    Raises
    ------
    ValueError
        For other `weights`.

    Examples
    --------
    >>> model.sentence_vector("the head of the army", weights="sif").shape  # doctest: +SKIP
    (300,)
    """
    return tagging.sentence_vectors(self.snapshot, sentence, sentences, weights)
