"""The text column of a table as a corpus: rows, data frames, series and datasets."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from muse.base.tables import column_of_text, frame_columns, is_missing, is_series, named, refuse_row
from muse.corpus.tokenizer import tokenize
from muse.corpus.tokens import Tokenizer, tokens_of
from muse.errors import warn_at_caller

__all__ = ["Column", "sentences_of"]

_CSV_READER = type(csv.reader(()))
_LOOKED_AT = 20  # sentences at the start in which a token of several words is looked for
_MANY_WORDS = 4


class Column:
    """The sentences of a text column, as lists of tokens; can be iterated as often as the table can.

    Parameters
    ----------
    table : data frame, series, dataset, or iterable of mappings
        A frame or series of pandas or polars, a table of pyarrow, a dataset of Hugging Face, ``csv.DictReader``,
        ``frame.to_dict("records")``, a dict of columns, or any other iterable of rows.
    name : str, optional
        The column: of text, each line of which is a sentence, or of lists of tokens, each of which is one. It may be
        left out for a series, and for a frame with one column. Empty cells (None, NaN) are skipped.
    tokenizer : callable
        ``tokenizer(line)`` gives the tokens of a line of text. By default `muse.corpus.tokenize`: lower-case words.

    Raises
    ------
    TypeError
        For a table that is none; while iterating, where a row is no mapping, or a cell neither text nor tokens.
    KeyError
        If there is no such column; the message names those that there are.
    ValueError
        Where rows that can be read once, such as those of ``csv.DictReader``, are read again.

    Examples
    --------
    >>> from muse import MUSE
    >>> rows = [{"id": 7, "text": "The bank of the river.\\nThe bank lends."}] * 20
    >>> list(Column(rows[:1], "text"))
    [['the', 'bank', 'of', 'the', 'river'], ['the', 'bank', 'lends']]
    >>> MUSE(Column(rows, "text"), vector_size=8, epochs=1).vocabulary.words[:2]
    ['the', 'bank']
    """

    _table_is = "the table"

    def __init__(self, table: Any, name: Any = None, *, tokenizer: Tokenizer = tokenize) -> None:
        if isinstance(table, (str, bytes)) or not (isinstance(table, Iterable) or hasattr(table, "__getitem__")):
            raise TypeError(f"a Column needs a data frame, a series or rows; got {type(table).__name__}")
        self._table, self._tokenizer = table, tokenizer
        self._read = False
        self._columns = list(table) if isinstance(table, Mapping) else frame_columns(table)
        self._name = name if is_series(table) else self._chosen(name)

    def _chosen(self, name: Any) -> Any:
        """The name of the column, after a check that it is there, where that can be seen."""
        kind = type(self._table).__name__
        if self._columns is None:
            if name is None:
                raise TypeError(f"name the column that holds the text: Column({kind}, 'text')")
            return name
        if name is None:
            if len(self._columns) == 1:
                return self._columns[0]
            raise TypeError(
                f"this {kind} has the columns {named(self._columns)}; name the one that holds the text: "
                f"muse.corpus.Column(table, {self._likely()!r})"
            )
        if name not in self._columns:
            raise KeyError(f"the {kind} has no column {name!r}; it has {named(self._columns)}")
        return name

    def _likely(self) -> Any:
        """The column to name in a message."""
        try:
            return column_of_text({name: _plain(next(iter(self._table[name]))) for name in self._columns or ()})
        except Exception:  # a table of a kind of its own; the message matters more
            return "text"

    def __iter__(self) -> Iterator[list[str]]:
        for number, cell in enumerate(self._cells()):
            yield from self._sentences(cell, number)

    def _cells(self) -> Iterator[Any]:
        table = self._table
        if is_series(table):
            yield from table
        elif self._columns is not None and not hasattr(table, "select_columns"):
            yield from table[self._name]
        else:
            if iter(table) is table:
                if self._read:
                    raise ValueError(f"these rows ({type(table).__name__}) can be read once, and were; give list(rows)")
                self._read = True
            rows = table if self._columns is None else table.select_columns([self._name])
            for number, row in enumerate(rows):
                yield self._cell(row, number)

    def _cell(self, row: Any, number: int) -> Any:
        where = f"row {number} of {self._table_is}"
        if not isinstance(row, Mapping):
            raise TypeError(f"{where} is a {type(row).__name__}, not a mapping of columns")
        if self._name not in row:
            raise KeyError(f"{where} has no column {self._name!r}; it has {', '.join(map(str, row))}")
        return row[self._name]

    def _sentences(self, cell: Any, number: int) -> Iterator[list[str]]:
        cell = _plain(cell)
        if is_missing(cell):
            return
        if isinstance(cell, str):
            for line in cell.splitlines():
                if tokens := tokens_of(self._tokenizer, line):
                    yield tokens
        elif isinstance(cell, (list, tuple)) and all(isinstance(token, str) for token in cell):
            if cell:
                yield list(cell)
        else:
            where = "" if self._name is None else f" in {self._name!r}"
            raise TypeError(
                f"row {number} of {self._table_is} holds a {type(cell).__name__}{where}; "
                "it must be text or a list of tokens"
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({type(self._table).__name__}, {self._name!r})"


def _plain(cell: Any) -> Any:
    """A cell as Python has it: of scalars of pyarrow, lists of polars, arrays."""
    for convert in ("as_py", "to_list", "tolist"):
        if hasattr(cell, convert):
            return getattr(cell, convert)()
    return cell


def sentences_of(given: Any) -> Iterable[Sequence[str]]:
    """The sentences that a user gives: series and frames of one column are read, rows are refused with what to do.

    Raises
    ------
    TypeError
        For a frame of several columns, a mapping, and a reader of CSV; while iterating, where a sentence is a mapping.

    Warns
    -----
    UserWarning
        Where a token at the start of the text is a phrase or a line of prose.
    """
    if isinstance(given, Mapping):
        raise TypeError(
            f"sentences is a {type(given).__name__} with the keys {named(given)}; name the column that holds the text, "
            f"muse.corpus.Column(table, {next(iter(given), 'text')!r}), or, of several texts, give one: table['train']"
        )
    if is_series(given) or frame_columns(given) is not None:
        return Column(given)
    if isinstance(given, _CSV_READER):
        raise TypeError(
            "sentences is a csv.reader, whose rows are the cells of a table; give "
            "muse.corpus.Column(csv.DictReader(file), 'text') with the name of the column that holds the text"
        )
    return _checked(given)


def _checked(sentences: Iterable[Any]) -> Iterator[Any]:
    told = False
    for number, sentence in enumerate(sentences, start=1):
        if type(sentence) is not list and type(sentence) is not tuple:
            refuse_row(f"sentence {number}", sentence)
        elif number <= _LOOKED_AT and not told:
            told = _say_what_is_prose(sentence, number)
        yield sentence


def _say_what_is_prose(sentence: Sequence[Any], number: int) -> bool:
    for token in sentence:
        if isinstance(token, str) and len(token.split(None, _MANY_WORDS)) >= _MANY_WORDS:
            warn_at_caller(
                f"sentence {number} holds the token {token!r:.80}, which is several words; a sentence is a list of "
                "words: split text with muse.corpus.tokenize, and read a table with muse.corpus.Column",
                UserWarning,
            )
            return True
    return False
