"""Rows of text, as Hugging Face ``datasets`` gives them, as a corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from muse.corpus.columns import Column
from muse.corpus.tokenizer import tokenize
from muse.corpus.tokens import Tokenizer

__all__ = ["DatasetSentences"]


class DatasetSentences(Column):
    """`muse.corpus.Column` for datasets and streams of Hugging Face, whose usual column is "text".

    Parameters
    ----------
    dataset : iterable of mappings
        ``datasets.load_dataset(..., split="train", streaming=True)``, a ``Dataset``, or any other iterable of rows.
    column : str
        The column that holds text, each line of which is a sentence, or lists of tokens, each of which is one.
    tokenizer : callable
        ``tokenizer(line)`` gives the tokens of a line of text. By default `muse.corpus.tokenize`: lower-case words.

    Raises
    ------
    TypeError
        While iterating, where a row is no mapping, or the column holds neither text nor tokens.
    KeyError
        While iterating, where a row lacks the column; the message names those that it has.

    Examples
    --------
    >>> from muse import MUSE
    >>> rows = [{"text": "The bank of the river.\\nThe bank's money."}] * 20
    >>> sentences = DatasetSentences(rows)
    >>> next(iter(sentences))
    ['the', 'bank', 'of', 'the', 'river']
    >>> len(MUSE(sentences, vector_size=8, epochs=1))
    6
    """

    _table_is = "the dataset"

    def __init__(
        self, dataset: Iterable[Mapping[str, Any]], column: str = "text", *, tokenizer: Tokenizer = tokenize
    ) -> None:
        if isinstance(dataset, Mapping):
            splits = ", ".join(map(repr, dataset))
            raise TypeError(f"this is a dict of splits, {splits}; give one of them, such as dataset['train']")
        if isinstance(dataset, (str, bytes)) or not isinstance(dataset, Iterable):
            raise TypeError(f"dataset must be an iterable of rows; got {type(dataset).__name__}")
        super().__init__(dataset, column, tokenizer=tokenizer)
