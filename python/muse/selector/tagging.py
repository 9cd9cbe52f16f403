"""Senses of running text: sentences, streams of sentences, and files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, repeat
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.base.checks import number
from muse.base.tables import frame_columns, named
from muse.data.arrays import Floats
from muse.model.changes import answers, uses
from muse.model.parts import ModelPart
from muse.selector.context import Context, as_contexts, as_tokens
from muse.selector.selection import SenseBlock, TokenSense
from muse.selector.tag_file import TagReport, fingerprint, tag_file

__all__ = ["SenseTagging"]

_SIF = 1e-3  # Arora, Liang & Ma (2017): a word of this share weighs half


@answers
class SenseTagging(ModelPart):
    """The part of `MUSE` that tells the senses of running text."""

    def disambiguate(self, sentence: Context) -> list[TokenSense]:
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
        tokens = as_tokens(sentence)
        block = next(self.selector.blocks([tokens]))
        known = (None if sense < 0 else sense for sense in block.senses.tolist())
        return list(map(TokenSense, tokens, known, block.probabilities.tolist()))

    def disambiguate_batch(
        self, sentences: Iterable[Context], *, probabilities: bool = False, margin: float | None = None
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
        limit = None if margin is None else number(0, 1)("margin", margin)
        blocks = self.disambiguate_blocks(sentences)
        return _by_sentence(blocks, probabilities, limit)

    def disambiguate_blocks(self, sentences: Iterable[Context]) -> Iterator[SenseBlock]:
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
        if isinstance(sentences, (str, bytes)) or not isinstance(sentences, Iterable):
            raise TypeError("disambiguate_batch takes an iterable of sentences; for a single one use disambiguate")
        columns = list(sentences) if isinstance(sentences, Mapping) else frame_columns(sentences)
        if columns is not None:
            raise TypeError(f"disambiguate_batch takes an iterable of sentences, not a table with the columns "
                            f"{named(columns)}; give one of them, as muse.corpus.Column(table, name)")  # fmt: skip
        return self.selector.blocks(sentences)

    @uses
    def tag_corpus(
        self,
        input: str | PathLike[str],
        output: str | PathLike[str],
        *,
        margin: float = 0.0,
        resume: bool = False,
        progress: bool | None = None,
    ) -> TagReport:
        """Write a text with the sense of each word behind it: ``head`` becomes ``head#2``.

        All else stays as it is: unknown words, white space, and lines, each of which is a sentence. The work is done in
        C++ on all threads; a file of any size is streamed.

        Parameters
        ----------
        input : path-like
            UTF-8 text, one sentence a line, plain or compressed (.gz, .bz2, .xz, .zst).
        output : path-like
            Where it goes, compressed if the name says so. The file appears when it is complete. A pipe or a device
            (``/dev/stdout``) takes each piece as it is ready.
        margin : float
            Leave words bare whose sense is less than this more probable than the next best one.
        resume : bool
            Go on where an earlier call with the same arguments was stopped or killed; a file ``output.partial`` holds
            what it had done.
        progress : bool, optional
            Show a progress bar; the model's setting, if not given.

        Returns
        -------
        TagReport
            ``tokens`` and ``tagged``, how many there are of each.

        Raises
        ------
        FileNotFoundError, OSError
            If a file cannot be read or written, or `input` changes meanwhile; `BlockingIOError` while another process
            tags to the same output; `FileExistsError` if ``output.partial`` or ``output.partial.json``, which are
            written meanwhile, are there and no earlier call left them.
        ValueError
            If the text is not valid UTF-8 (with the line), `input` is also `output` or a file beside it that is written
            meanwhile (``output.partial``, ``output.partial.json``), or the text, the model, the margin or those files
            have changed since the call that is to be resumed.

        Notes
        -----
        A line of more than 64 MB is cut at a space, and contexts do not reach over the cut; with
        ``cross_sentences=True`` they do not reach from one piece of the file, about 4 MB of lines, into the next.

        Examples
        --------
        >>> model.tag_corpus("text.txt", "tagged.txt.gz")  # doctest: +SKIP
        TagReport(tokens=8000064, tagged=7761204)
        """
        arrays, selector = self.arrays, self.selector

        def identify() -> str:
            stored = {**self.settings.to_json(), "words": list(self.vocabulary.words)}
            return fingerprint(stored, arrays.context_vectors, arrays.selection_vectors, arrays.sense_offset)

        return tag_file(
            selector.tagger, identify, input, output,
            margin=number(0, 1)("margin", margin), workers=selector.workers, resume=bool(resume),
            progress=self.settings.progress if progress is None else bool(progress),
        )  # fmt: skip

    def sentence_vector(self, sentence: Context | Sequence[Context], *, weights: str | None = None) -> Floats:
        """The mean of the vectors of the senses that are selected for the words of a sentence.

        Each sense vector has length one before the mean is taken. Unknown words are skipped.

        Parameters
        ----------
        sentence : str, list of str, or list of sentences
            As the contexts of `sense_vectors`: a list of strings is the tokens of one sentence, unless one of them
            holds white space.
        weights : {None, "sif"}
            Weigh all words alike, or a word of share p in the training text by 0.001 / (0.001 + p), so that frequent
            words count less (smooth inverse frequency; Arora, Liang & Ma 2017).

        Returns
        -------
        float32 (D,)
            Zeros where no word is known.
        float32 (N, D)
            With a list of N sentences.

        Raises
        ------
        ValueError
            For other `weights`.

        Examples
        --------
        >>> model.sentence_vector("the head of the army", weights="sif").shape  # doctest: +SKIP
        (300,)
        """
        if weights not in (None, "sif"):
            raise ValueError(f"weights must be None or 'sif'; got {weights!r:.80}")
        contexts, single = as_contexts(sentence, self.vocabulary)
        sentences = [as_tokens(context) for context in contexts]
        vectors = np.zeros((len(sentences), self.arrays.vector_size), np.float32)
        for row, (tokens, senses) in enumerate(zip(sentences, self.disambiguate_batch(sentences), strict=True)):
            known = senses >= 0
            ids = np.fromiter(map(self.vocabulary.ids.get, tokens, repeat(-1)), np.int64, len(tokens))[known]
            if len(ids):
                vectors[row] = self._mean(ids, senses[known], weights)
        return vectors[0] if single else vectors

    def _mean(self, words: NDArray[np.int64], senses: NDArray[np.int32], weights: str | None) -> NDArray[np.float64]:
        arrays = self.arrays
        vectors = arrays.sense_vectors[arrays.sense_offset[words] + senses].astype(np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        units = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
        if weights is None:
            return np.asarray(units.mean(axis=0))
        shares = arrays.word_counts[words] / max(int(arrays.word_counts.sum()), 1)
        return np.average(units, axis=0, weights=_SIF / (_SIF + shares))


def _by_sentence(blocks: Iterator[SenseBlock], probabilities: bool, margin: float | None) -> Iterator[Any]:
    for block in blocks:
        columns: list[NDArray[Any]] = [block.senses]
        if probabilities:
            columns.append(block.probabilities)
        if margin is not None:
            columns.append((block.margins < margin) & (block.senses >= 0))
        ends = block.offsets.tolist()
        if len(columns) == 1:
            yield from (block.senses[a:b] for a, b in pairwise(ends))
        else:
            for a, b in pairwise(ends):
                yield tuple(column[a:b] for column in columns)
