"""Tables of contexts with their senses: the layouts of RUSSE'18 WSI, and of TWSI and its SemEval-2013 version."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from muse.corpus.tokens import Tokenizer, tokenize
from muse.errors import quote
from muse.readers.delimited import split_csv
from muse.readers.keys import Occurrence, conflict, occurrence_at, parse_senses
from muse.readers.lines import read_lines

__all__ = ["read_table"]

# Of the published layouts, what each column is called.
_RUSSE = {
    "name": "context_id", "word": "word", "gold": "gold_sense_id", "system": "predict_sense_id",
    "position": "positions", "context": "context",
}  # fmt: skip
_TWSI = {
    "name": "context_id", "word": "target", "part": "target_pos", "gold": "gold_sense_ids",
    "system": "predict_sense_ids", "position": "target_position", "context": "context",
}  # fmt: skip
_OPTIONAL = ("system", "part")
_POSITION = re.compile(r"\s*([0-9]{1,9})\s*[-,]\s*([0-9]{1,9})(?![0-9])")


class _Row(NamedTuple):
    """A row of a table: the place for messages, and its fields by what they are."""

    place: str
    number: int
    fields: dict[str, str]
    graded: bool


def _columns(line: str, place: str) -> tuple[dict[str, int], bool]:
    """The columns of a header by what they hold, and whether it is that of TWSI, with weights of senses."""
    names = [name.strip() for name in split_csv(line, place, "\t")]
    graded = _TWSI["gold"] in names or _TWSI["word"] in names
    layout = _TWSI if graded else _RUSSE
    if lacking := [name for what, name in layout.items() if what not in _OPTIONAL and name not in names]:
        there = quote(", ".join(names), 200)
        raise ValueError(f"{place}: the header lacks the tab-separated column(s) {', '.join(lacking)}; it has {there}")
    return {what: names.index(name) for what, name in layout.items() if name in names}, graded


def _unquoted(line: str, lines: Iterator[tuple[int, str]], place: str) -> list[str]:
    """The fields of a row of CSV with a quote in it, which may go on in the next lines."""
    text = (f"{piece}\n" for piece in chain([line], (following for _, following in lines)))
    try:
        return next(csv.reader(text, delimiter="\t", strict=True))
    except csv.Error as error:
        said = str(error).replace("\t", "tab")
        raise ValueError(
            f"{place}: a field that begins with a quote must end with one, and quotes inside it be doubled ({said}): "
            f"{quote(line)}"
        ) from None


def _rows(path: str | os.PathLike[str]) -> Iterator[_Row]:
    lines = iter(read_lines(path))
    columns: dict[str, int] = {}
    graded = False
    for number, line in lines:
        if not line.strip():
            continue
        place = f"{os.fspath(path)}, line {number}"
        if not columns:
            columns, graded = _columns(line, place)
            continue
        # RUSSE's tables are CSV as pandas writes it. TWSI's are plain text, with sentences that begin with a quote.
        fields = line.split("\t") if graded or '"' not in line else _unquoted(line, lines, place)
        if len(fields) <= max(columns.values()):
            raise ValueError(f"{place}: {len(fields)} fields, the header has more")
        yield _Row(place, number, {what: fields[column] for what, column in columns.items()}, graded)


def read_table(path: str | os.PathLike[str], tokenizer: Tokenizer = tokenize) -> list[Occurrence]:
    """Read a table of contexts with senses: the layout of RUSSE'18 WSI, and that of TWSI and its SemEval-2013 version.

    Tab-separated with a header.

    RUSSE: ``context_id word gold_sense_id predict_sense_id positions context``. Fields that begin with a quote are CSV,
    as pandas writes and reads them; positions count the text without these quotes. A ``gold_sense_id`` is one label,
    taken whole: ``bank/1`` and ``N/A`` are labels.

    TWSI: ``context_id target target_pos target_position gold_sense_ids predict_sense_ids ... context``. Quotes are
    text. The column ``gold_sense_ids`` holds one or more senses, with commas between, and may give each a weight after
    its last ``/``, as keys do: ``add%2:32:01::/4,add%2:30:00::/2``. A sense whose own name has a ``/`` needs a weight
    behind it.

    Positions are character offsets ``start-end`` or ``start,end``, of which the first occurrence counts. An offset
    inside a word means the whole word: in some published tables the end is that of the last character. Where there are
    none, as in some rows of RUSSE, the occurrence has ``form=None``: it is counted, but not answered.

    Returns
    -------
    list of Occurrence
        One for each row, with ``gold`` and ``system`` as the table has them, empty where it has none.

    Raises
    ------
    FileNotFoundError, ValueError
        For a missing or damaged file, and where a context_id of a word occurs again with another context or other
        senses; the message names the file and the line.
    """
    found: list[Occurrence] = []
    first: dict[tuple[str, str], tuple[int, Occurrence]] = {}
    for row in _rows(path):
        item = _occurrence(row, tokenizer)
        number, before = first.setdefault((item.word, item.name), (row.number, item))
        if different := conflict(before, item):
            raise ValueError(
                f"{row.place}: the occurrence {quote(item.name)} of {quote(item.word)} stands in line {number} "
                f"with {different}"
            )
        found.append(item)
    if not found:
        raise ValueError(f"{os.fspath(path)} holds no contexts")
    return found


def _occurrence(row: _Row, tokenizer: Tokenizer) -> Occurrence:
    fields, place = row.fields, row.place
    text, position = fields["context"], fields["position"]
    lemma, name = fields["word"].strip(), fields["name"].strip()
    if not lemma or not name:
        raise ValueError(f"{place}: the {'word' if name else 'context_id'} is missing")
    word = f"{lemma}.{fields['part'].strip()}" if "part" in fields else lemma
    span: tuple[int, int] | None = None
    if position.strip():
        offsets = _POSITION.match(position)
        span = (int(offsets[1]), int(offsets[2])) if offsets else (0, 0)
        if not span[0] < span[1] <= len(text):
            raise ValueError(f"{place}: no position start-end inside the context: {quote(position)}")
    item = occurrence_at(word, name, lemma, text, span, tokenizer)
    item.gold.update(_senses(fields["gold"], row))
    item.system.update(_senses(fields.get("system", ""), row))
    return item


def _senses(field: str, row: _Row) -> dict[str, float]:
    if row.graded:
        return parse_senses([part.strip() for part in field.split(",") if part.strip()], row.place)
    return {field.strip(): 1.0} if field.strip() else {}
