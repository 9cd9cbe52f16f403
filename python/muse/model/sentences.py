"""Senses of whole sentences and of streams of them: questions to a model, which are methods of `MUSE`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from muse.corpus.text_reader import TextReader
from muse.data.arrays import Floats
from muse.data.snapshot import Publisher
from muse.selector import tagging
from muse.selector.context import Context
from muse.selector.selection import SenseBlock, TokenSense, selector_of

__all__ = ["disambiguate", "disambiguate_batch", "disambiguate_blocks", "sentence_vector", "tokenize"]


def tokenize(self: Publisher, text: str) -> list[str]:
    """The tokens of a plain text, made as the model's own text was: what every question makes of a string.

    A word between white space that the model knows is a token. Any other one becomes what the tokenizer of the model's
    text makes of it, or, where that is not remembered, what the model knows best: it is put in small letters, if the
    model has no others, freed of the punctuation around it, or divided at hyphens and apostrophes. A model from a file
    that says nothing of its text, or from `from_arrays`, splits at white space only.

    Parameters
    ----------
    text : str
        A sentence.

    Returns
    -------
    list of str
        Words that the model does not know are among them.

    Raises
    ------
    TypeError
        If it is no string.
    NotTrainedError
        If the model has no words yet.

    Examples
    --------
    >>> from muse import MUSE
    >>> model = MUSE([["on", "the", "bank", "by", "the", "river"]] * 20, vector_size=8, workers=1)
    >>> model.tokenize("On the Bank, by the River.")
    ['on', 'the', 'bank', 'by', 'the', 'river']
    """
    if not isinstance(text, str):
        raise TypeError(f"tokenize takes a string; got {text!r:.80}")
    snapshot = self.snapshot
    reader = selector_of(snapshot).reader if snapshot.is_trained else None
    return (reader or TextReader(snapshot.text_form, snapshot.vocabulary.ids)).tokens(text)


def disambiguate(self: Publisher, sentence: Context) -> list[TokenSense]:
    """The sense of every token of a sentence: (token, sense or None, probability).

    Parameters
    ----------
    sentence : str or list of str
        A string becomes tokens as the model's text did, see `tokenize`; a list is taken as it is.

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
