"""Rows of text, as Hugging Face ``datasets`` gives them, as a corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from muse.corpus.tokenizer import tokenize

__all__ = ["DatasetSentences"]


class DatasetSentences:
    """The sentences of a dataset, as lists of tokens; iterates a stream as it comes.

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

    def __init__(
        self,
        dataset: Iterable[Mapping[str, Any]],
        column: str = "text",
        *,
        tokenizer: Callable[[str], list[str]] = tokenize,
    ) -> None:
        if isinstance(dataset, Mapping):
            splits = ", ".join(map(repr, dataset))
            raise TypeError(f"this is a dict of splits, {splits}; give one of them, such as dataset['train']")
        if isinstance(dataset, (str, bytes)) or not isinstance(dataset, Iterable):
            raise TypeError(f"dataset must be an iterable of rows; got {type(dataset).__name__}")
        self._dataset = dataset
        self._column = column
        self._tokenizer = tokenizer

    def __iter__(self) -> Iterator[list[str]]:
        for number, row in enumerate(self._dataset):
            yield from self._sentences(row, number)

    def _sentences(self, row: Mapping[str, Any], number: int) -> Iterator[list[str]]:
        if not isinstance(row, Mapping):
            raise TypeError(f"row {number} of the dataset is a {type(row).__name__}, not a mapping of columns")
        if self._column not in row:
            raise KeyError(f"row {number} of the dataset has no column {self._column!r}; it has {', '.join(row)}")
        value = row[self._column]
        if value is None:
            return
        if isinstance(value, str):
            for line in value.splitlines():
                if tokens := self._tokenizer(line):
                    yield tokens
        elif isinstance(value, list) and all(isinstance(token, str) for token in value):
            if value:
                yield value
        else:
            raise TypeError(
                f"row {number} of the dataset holds a {type(value).__name__} in {self._column!r}; "
                "it must be text or a list of tokens"
            )
