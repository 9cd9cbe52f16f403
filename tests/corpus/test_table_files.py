"""Tables in files as a corpus, and their slices by a column."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
import threading

import pytest

from muse import MUSE
from muse.corpus import Column, tokenize_wiki

ROWS = [
    {"year": "1990", "text": "The bank lends. It pays\n\nwell."},
    {"year": "1890", "text": "The river; the “naïve” bank."},
    {"year": "", "text": "Nobody knows when."},
    {"year": "1990", "text": ""},
]
SLICES = {
    "1890": [["the", "river", "the", "naïve", "bank"]],
    "1990": [["the", "bank", "lends", "it", "pays"], ["well"]],
}


def separated(rows, delimiter=","):
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "encoding"),
    [
        ("a.csv", separated(ROWS).encode(), None),
        ("a.csv", separated(ROWS, ";").encode("utf-8-sig"), None),
        ("a.CSV", separated(ROWS, "|").encode("cp1252"), "cp1252"),
        ("a.tsv", separated(ROWS, "\t").encode("utf-16"), None),
        ("a.csv.gz", gzip.compress(separated(ROWS, "\t").encode()), None),
        ("a.jsonl", "\n\n".join(map(json.dumps, ROWS)).encode(), None),
        ("a.ndjson.gz", gzip.compress("\n".join(map(json.dumps, ROWS)).encode()), None),
    ],
)
def test_slices_of_a_file(name, content, encoding, tmp_path):
    (tmp_path / name).write_bytes(content)
    column = Column(tmp_path / name, text_column="text", by="year", encoding=encoding)
    slices = dict(column.slices())
    assert list(slices) == list(SLICES)
    for _ in range(2):
        assert {year: list(sentences) for year, sentences in slices.items()} == SLICES
    assert len(list(column)) == 4
    prose = Column(str(tmp_path / name), "text", prose=True, encoding=encoding)
    assert list(prose)[:3] == [["the", "bank", "lends"], ["it", "pays"], ["well"]]
    model = MUSE(slices["1990"], vector_size=4, min_count=1, epochs=1, workers=1)
    assert model.snapshot.text_form.tokenizer == "muse"


def test_parquet(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [{"n": 7, "year": int(row["year"] or 0) or None, "text": row["text"] or None} for row in ROWS]
    parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    column = Column(tmp_path / "a.parquet", "text", by="year")
    assert {str(year): list(sentences) for year, sentences in column.slices()} == SLICES
    (tmp_path / "b.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(ValueError, match=r"b\.parquet is not Parquet, or damaged"):
        Column(tmp_path / "b.parquet", "text")


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_slices_of_frames(frame):
    table = pytest.importorskip(frame).DataFrame([{**row, "year": int(row["year"] or 0)} for row in ROWS])
    slices = {year: list(sentences) for year, sentences in Column(table, "text", by="year").slices()}
    assert slices == {0: [["nobody", "knows", "when"]], **{int(year): rows for year, rows in SLICES.items()}}


def test_slices_of_rows_and_columns():
    for table in (ROWS, {name: [row[name] for row in ROWS] for name in ("year", "text")}):
        assert {year: list(part) for year, part in Column(table, "text", by="year").slices()} == SLICES
    mixed = [{"year": 1, "text": "a"}, {"year": "b", "text": "c"}, {"year": None, "text": "d"}]
    assert [year for year, _ in Column(mixed, "text", by="year").slices()] == [1, "b"]
    with pytest.raises(ValueError, match=r"can be read once, and parts need more; give list\(rows\)"):
        list(Column(iter(ROWS), "text", by="year").slices())
    with pytest.raises(TypeError, match="the column 'year' holds lists"):
        list(Column([{"year": [1], "text": "a"}], "text", by="year").slices())
    with pytest.raises(ValueError, match="give the column that parts the table"):
        list(Column(ROWS, "text").slices())
    with pytest.raises(KeyError, match="row 0 of the table has no column 'day'"):
        list(Column(ROWS, "text", by="day").slices())
    with pytest.raises(KeyError, match="there is no column 'day' to part the table by; it has 'text'"):
        Column({"text": []}, "text", by="day")


def test_a_long_cell(tmp_path):
    (tmp_path / "a.csv").write_text("text\n" + "word " * 50_000)
    assert [len(sentence) for sentence in Column(tmp_path / "a.csv")] == [50_000]


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("a.txt", "a", ValueError, r"must end in \.csv, \.tsv, \.jsonl or \.parquet"),
        ("a.csv", "", ValueError, r"a\.csv is empty, or has no names of columns"),
        ("a.csv", "id,body\n1,a", KeyError, "the file has no column 'text'; it has 'id', 'body'"),
        ("a.csv", "text,text\n1,a", ValueError, "has several columns 'text'"),
        ("a.jsonl", "", ValueError, r"a\.jsonl holds no row"),
        ("a.jsonl", '{"text": "a"}\n{"te', ValueError, r"a\.jsonl, line 2 is not JSON"),
        ("a.jsonl", '{"text": "a"}\n[1]', ValueError, r"line 2 is no object with columns; got \[1\]"),
        ("a.jsonl", '{"text": "a"}\n{"b": "c"}', KeyError, "row 1 of the table has no column 'text'; it has b"),
        ("a.jsonl", '{"text": "a"}\n{"text": 7}', TypeError, "row 1 of the table holds a int in 'text'"),
        ("a.csv", b"text\n\xff", ValueError, r"a\.csv is not UTF-8: byte 0xff at 5; give encoding="),
    ],
)
def test_what_is_no_table(name, content, error, message, tmp_path):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(error, match=message):
        list(Column(tmp_path / name, "text"))


def test_what_a_column_refuses(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no such table"):
        Column(tmp_path / "a.csv", "text")
    with pytest.raises(ValueError, match="encoding is for a table in a file"):
        Column(ROWS, "text", encoding="cp1252")
    with pytest.raises(ValueError, match="name and text_column are the same"):
        Column(ROWS, "text", text_column="text")


def test_how_text_was_made_into_tokens():
    text, tokens = [{"text": "A bank."}], [{"text": ["a", "bank"]}]
    for rows, tokenizer, expected in (
        (text, None, "muse"), (text, tokenize_wiki, "wiki"), (text, str.split, None), (tokens, None, None),
        (text + tokens, None, None),
    ):  # fmt: skip
        column = Column(rows, "text") if tokenizer is None else Column(rows, "text", tokenizer=tokenizer)
        assert column.text_form is None
        list(column)
        assert (column.text_form.tokenizer if column.text_form else None) == expected


def test_the_limit_of_cells_stays_what_it_was(tmp_path):
    (tmp_path / "t.csv").write_text("text,year\n" + "word " * 60_000 + ",1999\n")
    before = csv.field_size_limit()
    (row,) = Column(tmp_path / "t.csv", "text")
    assert len(row) == 60_000
    assert csv.field_size_limit() == before


def test_threads_read_long_cells_at_once(tmp_path):
    (tmp_path / "a.csv").write_text("text\n" + f"{'a ' + 'b' * 140_000}\n" * 10)
    before, faults = csv.field_size_limit(), []

    def read():
        try:
            assert len(list(Column(tmp_path / "a.csv", "text"))) == 10
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=read) for _ in range(6)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert (faults, csv.field_size_limit()) == ([], before)


def test_a_cell_of_a_file_that_is_no_text_is_a_fault_of_the_data(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": [1]}\n')
    with pytest.raises(ValueError, match="row 0 of the table holds a list in 'text'"):
        list(Column(tmp_path / "a.jsonl", "text"))
