"""The text column of a table as a corpus: rows, data frames, series and datasets."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

from muse.base.checks import flag
from muse.base.tables import column_of_text, frame_columns, is_missing, is_series, named, refuse_row
from muse.corpus.paragraphs import paragraphs
from muse.corpus.sentences import SentenceSplitter
from muse.corpus.tokenizer import tokenize
from muse.corpus.tokens import Tokenizer, tokens_of
from muse.corpus.tokens import tokenize as tokenize_wiki
from muse.data.text_form import TextForm
from muse.errors import warn_at_caller
from muse.files.table_files import TableFile

__all__ = ["Column", "sentences_of"]

_CSV_READER = type(csv.reader(()))
_LOOKED_AT = 20  # sentences at the start in which a token of several words is looked for
_MANY_WORDS = 4


class CellError(TypeError, ValueError):
    """A cell that is neither text nor tokens: a wrong type, in data."""


class Column:
    """The sentences of a text column, as lists of tokens; can be iterated as often as the table can.

    Parameters
    ----------
    table : data frame, series, dataset, iterable of mappings, or path
        A frame or series of pandas or polars, a table of pyarrow, a dataset of Hugging Face, ``csv.DictReader``,
        ``frame.to_dict("records")``, a dict of columns, or any other iterable of rows; or a file of a table, which is
        streamed: .csv, .tsv, .jsonl (compressed or not), .parquet.
    name, text_column : str, optional
        The column, by either of two names: of text, each line of which is a sentence, or of lists of tokens, each of
        which is one. It may be left out for a series, and for a frame with one column. Empty cells (None, NaN) are
        skipped.
    tokenizer : callable
        ``tokenizer(line)`` gives the tokens of a line of text. By default `muse.corpus.tokenize`: lower-case words.
    by : str, optional
        Another column, such as the year, whose values part the table: see `slices`.
    prose : bool
        Whether cells are prose, of several sentences a line or several lines a sentence, which are found as `Prose`
        finds them.
    language : str, optional
        That of prose.
    encoding : str, optional
        That of a file, as of `muse.LineSentence`.

    Raises
    ------
    TypeError
        For a table that is none; while iterating, where a row is no mapping, or a cell neither text nor tokens.
    KeyError
        If there is no such column; the message names those that there are.
    ValueError
        Where rows that can be read once, such as those of ``csv.DictReader``, are read again; for a damaged file.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> from muse import MUSE
    >>> rows = [{"year": 1990, "text": "The bank of the river.\\nThe bank lends."}] * 20
    >>> list(Column(rows[:1], "text"))
    [['the', 'bank', 'of', 'the', 'river'], ['the', 'bank', 'lends']]
    >>> MUSE(Column(rows, "text"), vector_size=8, epochs=1).vocabulary.words[:2]
    ['the', 'bank']
    >>> [(year, len(list(part))) for year, part in Column(rows, "text", by="year").slices()]
    [(1990, 40)]
    """

    _table_is = "the table"

    def __init__(
        self,
        table: Any,
        name: Any = None,
        *,
        text_column: Any = None,
        tokenizer: Tokenizer = tokenize,
        by: Any = None,
        prose: bool = False,
        language: str | None = None,
        encoding: str | None = None,
    ) -> None:
        if isinstance(table, (str, PathLike)):
            table = TableFile(table, encoding)
            self._table_is = "the table"
        elif encoding is not None:
            raise ValueError("encoding is for a table in a file; this one is in memory")
        elif isinstance(table, bytes) or not (isinstance(table, Iterable) or hasattr(table, "__getitem__")):
            raise TypeError(f"a Column needs a data frame, a series, rows or a file; got {type(table).__name__}")
        if name is not None and text_column is not None:
            raise ValueError("name and text_column are the same; give one of them")
        name = text_column if name is None else name
        self._table, self._tokenizer = table, tokenizer
        self._splitter = SentenceSplitter(language) if flag("prose", prose) else None
        self._read = self._was_split = self._was_tokens = False
        self._columns = (
            table.columns if isinstance(table, TableFile)
            else list(table) if isinstance(table, Mapping) else frame_columns(table)
        )  # fmt: skip
        self._name = name if is_series(table) else self._chosen(name)
        self._by = by
        if by is not None and (is_series(table) or (self._columns is not None and by not in self._columns)):
            raise KeyError(f"there is no column {by!r} to part the table by; it has {named(self._columns or ())}")

    @property
    def text_form(self) -> TextForm | None:
        """How text was made into tokens, for a model to remember; known once it was read."""
        known = self._tokenizer in (tokenize, tokenize_wiki) and self._was_split and not self._was_tokens
        return TextForm("muse" if self._tokenizer is tokenize else "wiki", lower=True) if known else None

    def slices(self) -> Iterator[tuple[Any, Iterable[list[str]]]]:
        """The parts of the table that have the same value in the column `by`, as (value, sentences), in its order.

        Sentences can be iterated as often as the table can, which is read once for the values, and once for each
        iteration of a part. Rows without a value are left out.

        Raises
        ------
        ValueError
            If the column `by` was not given, or the rows can be read only once.

        Examples
        --------
        >>> rows = [{"year": 1990, "text": "a bank"}, {"year": 1890, "text": "a river bank"}]
        >>> {year: list(part) for year, part in Column(rows, "text", by="year").slices()}
        {1890: [['a', 'river', 'bank']], 1990: [['a', 'bank']]}
        """
        if self._by is None:
            raise ValueError("give the column that parts the table, as Column(table, 'text', by='year')")
        if self._columns is None and iter(self._table) is self._table:
            kind = type(self._table).__name__
            raise ValueError(f"these rows ({kind}) can be read once, and parts need more; give list(rows)")
        try:
            labels = {_plain(label) for (label,) in self._rows((self._by,))}
        except TypeError as error:
            if "unhashable" not in str(error):
                raise
            raise TypeError(f"the column {self._by!r} holds lists; a table is parted by numbers or text") from None
        known = [label for label in labels if not is_missing(label) and label != ""]
        try:
            known.sort()
        except TypeError:  # of several types
            known.sort(key=str)
        for label in known:
            yield label, _Slice(self, label)

    def _of(self, label: Any) -> Iterator[list[str]]:
        """The sentences of the rows with a value."""
        for number, (found, cell) in enumerate(self._rows((self._by, self._name))):
            if _plain(found) == label:
                yield from self._sentences(cell, number)

    def _chosen(self, name: Any) -> Any:
        """The name of the column, after a check that it is there, where that can be seen."""
        kind = "file" if isinstance(self._table, TableFile) else type(self._table).__name__
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
        for number, (cell,) in enumerate(self._rows((self._name,))):
            yield from self._sentences(cell, number)

    def _rows(self, names: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        """The cells of some columns, row by row."""
        table = self._table
        if is_series(table):
            yield from ((cell,) for cell in table)
        elif isinstance(table, TableFile):
            for number, row in enumerate(table.rows(names)):
                yield tuple(self._cell(row, name, number) for name in names)
        elif self._columns is not None and not hasattr(table, "select_columns"):
            yield from zip(*(table[name] for name in names), strict=False)
        else:
            if iter(table) is table:
                if self._read:
                    raise ValueError(f"these rows ({type(table).__name__}) can be read once, and were; give list(rows)")
                self._read = True
            rows = table if self._columns is None else table.select_columns(list(names))
            for number, row in enumerate(rows):
                yield tuple(self._cell(row, name, number) for name in names)

    def _cell(self, row: Any, name: Any, number: int) -> Any:
        where = f"row {number} of {self._table_is}"
        if not isinstance(row, Mapping):
            raise TypeError(f"{where} is a {type(row).__name__}, not a mapping of columns")
        if name not in row:
            raise KeyError(f"{where} has no column {name!r}; it has {', '.join(map(str, row))}")
        return row[name]

    def _sentences(self, cell: Any, number: int) -> Iterator[list[str]]:
        cell = _plain(cell)
        if is_missing(cell):
            return
        if isinstance(cell, str):
            self._was_split = True
            for line in self._lines(cell):
                if tokens := tokens_of(self._tokenizer, line):
                    yield tokens
        elif isinstance(cell, (list, tuple)) and all(isinstance(token, str) for token in cell):
            if cell:
                self._was_tokens = True
                yield list(cell)
        else:
            where = "" if self._name is None else f" in {self._name!r}"
            raise CellError(
                f"row {number} of {self._table_is} holds a {type(cell).__name__}{where}; "
                "it must be text or a list of tokens"
            )

    def _lines(self, cell: str) -> list[str]:
        """The sentences of a cell, as text."""
        if self._splitter is None:
            return cell.splitlines()
        return [line for paragraph in paragraphs([cell]) for line in self._splitter.split(paragraph)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({type(self._table).__name__}, {self._name!r})"


class _Slice:
    """The sentences of a part of a table."""

    def __init__(self, column: Column, label: Any) -> None:
        self._column, self._label = column, label

    @property
    def text_form(self) -> TextForm | None:
        """See `Column.text_form`."""
        return self._column.text_form

    def __iter__(self) -> Iterator[list[str]]:
        return self._column._of(self._label)

    def __repr__(self) -> str:
        return f"<the sentences of {self._column!r} for {self._label!r}>"


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
