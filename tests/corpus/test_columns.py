"""Tables as a corpus: rows are never read as their column names; frames and series are understood."""

from __future__ import annotations

import csv
import io
from collections import OrderedDict
from types import MappingProxyType

import numpy as np
import pytest

from muse import MUSE
from muse.corpus import Column, encode_corpus
from muse.datasets import pseudo_words
from toy import toy_model

TEXT = "the bank of the river"
TABLE = "id,text\n" + f"7,{TEXT}\n" * 20
ROWS = [{"id": 7, "text": TEXT}] * 20


def words_of(sentences):
    return set(encode_corpus(sentences, min_count=1)[0].words)


class Records:
    """Rows as a dataset gives them: a new mapping each time, as often as asked."""

    def __iter__(self):
        return (MappingProxyType({"label": 1, "content": TEXT}) for _ in range(3))


@pytest.mark.parametrize(
    ("rows", "columns", "column"),
    [
        (lambda: csv.DictReader(io.StringIO(TABLE)), "'id', 'text'", "'text'"),
        (lambda: ROWS, "'id', 'text'", "'text'"),
        (lambda: (row for row in ROWS), "'id', 'text'", "'text'"),
        (lambda: [{"tokens": ["the", "bank"]}] * 20, "'tokens'", "'tokens'"),
        (lambda: [OrderedDict(a="x", b="y z")], "'a', 'b'", "'b'"),
        (Records, "'label', 'content'", "'content'"),
        (lambda: [{}], "", "'text'"),
    ],
)
def test_rows_are_refused_with_the_column_to_name(rows, columns, column):
    with pytest.raises(TypeError) as refused:
        MUSE(rows(), vector_size=8, workers=1)
    assert f"sentence 1 is a row with the columns {columns}," in str(refused.value)
    assert f"muse.corpus.Column(rows, {column})" in str(refused.value)


def test_a_row_after_sentences_is_refused_too():
    with pytest.raises(TypeError, match="sentence 3 is a row with the columns 'id', 'text'"):
        encode_corpus([["a", "b"], ("c",), ROWS[0]])


@pytest.mark.parametrize(
    "table", [{"text": [TEXT] * 20, "id": list(range(20))}, {"train": Records(), "test": Records()}]
)
def test_a_dict_is_refused_with_what_it_may_be(table):
    first = next(iter(table))
    with pytest.raises(
        TypeError, match=rf"with the keys '{first}', '\w+'; .*Column\(table, '{first}'\).*table\['train'\]"
    ):
        MUSE(table, vector_size=8, workers=1)


class Splits(dict):
    """As a DatasetDict of Hugging Face, which has the methods of its datasets, too."""

    column_names = property(lambda self: {name: ["label", "text"] for name in self})

    def select_columns(self, names):
        raise ValueError("Column name ['train'] not in the dataset")


def test_a_dict_of_splits_is_a_dict():
    with pytest.raises(
        TypeError, match=r"sentences is a Splits with the keys 'train', 'test'; .*give one: table\['train'\]"
    ):
        MUSE(Splits(train=[], test=[]), vector_size=8, workers=1)
    with pytest.raises(KeyError, match="the Splits has no column 'text'; it has 'train', 'test'"):
        Column(Splits(train=[], test=[]), "text")


class Scalar:
    def __init__(self, value):
        self.value = value

    def as_py(self):
        return self.value


class ArrowTable:
    """As a table of pyarrow, whose columns hold scalars."""

    column_names = ("id", "text")
    columns = ()
    __arrow_c_stream__ = None

    def __getitem__(self, name):
        return [Scalar(7 if name == "id" else value) for value in (TEXT, None)]


def test_cells_of_arrow():
    assert list(Column(ArrowTable(), "text")) == [TEXT.split()]
    with pytest.raises(TypeError, match=r"ArrowTable has the columns 'id', 'text'; .*Column\(table, 'text'\)"):
        MUSE(ArrowTable(), vector_size=8, workers=1)


def test_a_reader_of_csv_is_refused():
    with pytest.raises(TypeError, match=r"sentences is a csv\.reader.*Column\(csv\.DictReader\(file\), 'text'\)"):
        MUSE(csv.reader(io.StringIO(TABLE)), vector_size=8, workers=1)


@pytest.mark.parametrize("sentences", [list(csv.reader(io.StringIO(TABLE))), [[TEXT]] * 9, [(TEXT, TEXT)]])
def test_prose_as_a_token_is_said_once(sentences):
    with pytest.warns(UserWarning, match=r"holds the token 'the bank of the river', which is several words") as said:
        encode_corpus(sentences, min_count=1)
    assert [warning.filename for warning in said] == [__file__]
    assert words_of([["new york city", "is", "big"]]) == {"new york city", "is", "big"}  # a phrase is a word


def test_what_is_asked_of_rows_is_refused():
    model = toy_model()
    for ask in (
        lambda: list(model.disambiguate_batch(ROWS)),
        lambda: model.disambiguate(ROWS[0]),
        lambda: model.sense_probabilities("head", ROWS[0]),
        lambda: model.describe("head", corpus=ROWS),
        lambda: pseudo_words(ROWS, [("the", "bank")]),
    ):
        with pytest.raises(TypeError, match=r"is a row with the columns 'id', 'text'.*Column\(rows, 'text'\)"):
            ask()
    with pytest.raises(TypeError, match="not a table with the columns 'id', 'text'; give one of them"):
        model.disambiguate_batch({"id": [1], "text": [TEXT]})


# -- Column ------------------------------------------------------------------------------------------------------------


def test_a_column_is_read_as_often_as_its_table():
    column = Column(ROWS[:2], "text")
    assert list(column) == list(column) == [TEXT.split()] * 2
    assert words_of(column) == {"the", "bank", "of", "river"}
    assert repr(column) == "Column(list, 'text')"
    assert list(Column({"text": [TEXT, "A b"], "id": [1, 2]}, "text")) == [TEXT.split(), ["a", "b"]]
    once = Column(csv.DictReader(io.StringIO(TABLE)), "text")
    assert len(list(once)) == 20
    with pytest.raises(ValueError, match=r"these rows \(DictReader\) can be read once, and were; give list\(rows\)"):
        list(once)


def test_cells_are_texts_token_lists_or_empty():
    cells = ["A b.\n\nC-d", None, "", float("nan"), ["E", "f g"], ("h",), np.array(["i", "j"]), []]
    rows = [{"text": cell} for cell in cells]
    assert list(Column(rows, "text")) == [["a", "b"], ["c", "d"], ["E", "f g"], ["h"], ["i", "j"]]
    assert list(Column([{"text": "A b."}], "text", tokenizer=str.split)) == [["A", "b."]]
    for wrong in (3, b"x", {"a": 1}, [1]):
        with pytest.raises(TypeError, match=r"row 1 of the table holds a \w+ in 'text'; it must be text"):
            list(Column([{"text": "a"}, {"text": wrong}], "text"))
    with pytest.raises(TypeError, match="a tokenizer must give a list of strings"):
        list(Column(ROWS, "text", tokenizer=str.lower))


def test_what_is_no_column():
    with pytest.raises(KeyError, match="row 0 of the table has no column 'txt'; it has id, text"):
        list(Column(ROWS, "txt"))
    with pytest.raises(KeyError, match="the dict has no column 'txt'; it has 'text'"):
        Column({"text": []}, "txt")
    with pytest.raises(TypeError, match="row 1 of the table is a str, not a mapping of columns"):
        list(Column([ROWS[0], "b"], "text"))
    with pytest.raises(TypeError, match=r"name the column that holds the text: Column\(list, 'text'\)"):
        Column(ROWS)
    for wrong in (b"x", 3, None):
        with pytest.raises(TypeError, match="a Column needs a data frame, a series, rows or a file; got"):
            Column(wrong, "text")


# -- pandas and polars -------------------------------------------------------------------------------------------------


@pytest.fixture(params=["pandas", "polars"])
def library(request):
    return pytest.importorskip(request.param)


def test_series_and_frames_of_one_column_are_understood(library):
    texts = [TEXT, "A Bank, too", None]
    for column in (texts, [TEXT.split(), ["a", "bank", "too"], None]):
        expected = [TEXT.split(), ["a", "bank", "too"]]
        frame = library.DataFrame({"text": column})
        for table in (frame, frame["text"]):
            assert list(Column(table)) == list(Column(table)) == expected
            assert words_of(table) == {"the", "bank", "of", "river", "a", "too"}
    model = MUSE(library.Series([TEXT] * 20), vector_size=4, epochs=1, workers=1)
    assert set(model.vocabulary.words) == {"the", "bank", "of", "river"}
    assert len(list(model.disambiguate_batch(library.Series([TEXT, "river"])))) == 2


def test_frames_of_several_columns_are_refused_by_their_own_name(library):
    frame = library.DataFrame({"id": [1, 2], "text": [TEXT, TEXT]})
    message = r"this DataFrame has the columns 'id', 'text'; name the one that holds the text: muse\.corpus\.Column"
    with pytest.raises(TypeError, match=message + r"\(table, 'text'\)"):
        MUSE(frame, vector_size=8, workers=1)
    assert list(Column(frame, "text")) == [TEXT.split()] * 2
    with pytest.raises(KeyError, match="the DataFrame has no column 'txt'; it has 'id', 'text'"):
        Column(frame, "txt")
    with pytest.raises(TypeError, match="row 0 of the table holds a int in 'id'"):
        list(Column(frame, "id"))
    with pytest.raises(TypeError, match="not a table with the columns 'id', 'text'"):
        toy_model().disambiguate_batch(frame)


def test_pandas_has_more_ways_to_say_nothing():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(["a b", pandas.NA, float("nan"), None, "c"], dtype=object)
    assert list(Column(series)) == [["a", "b"], ["c"]]
    with pytest.raises(TypeError, match="sentence 1 is a row with the columns 'id', 'text'"):
        encode_corpus(pandas.DataFrame(ROWS).to_dict("records"))
