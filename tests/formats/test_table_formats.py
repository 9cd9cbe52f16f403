"""numpy, TensorBoard's projector, Parquet and SQLite: round trips, whole files or none, damaged and hostile ones."""

from __future__ import annotations

import sqlite3
import warnings

import numpy as np
import pytest

from muse import FormatWarning, ModelFileError, load_vectors
from muse.base import optional
from muse.formats import sqlite
from muse.formats.registry import FORMATS, detect_format, read_sense_table, write_sense_table
from muse.formats.table import SenseTable
from toy import toy_model

WORDS = ("head", "army", "the", "bank", "🎉", "new york", "c#", "a#1", "'; DROP TABLE senses; --")
NAMES = ("numpy", "projector", "parquet", "sqlite")


@pytest.fixture(params=NAMES)
def name(request) -> str:
    if request.param == "parquet":
        pytest.importorskip("pyarrow")
    return request.param


@pytest.fixture
def table() -> SenseTable:
    model = toy_model(words=WORDS)
    table = SenseTable.of_model(model.vocabulary, model.arrays)
    table.lost = []
    return table


def check_same(found: SenseTable, table: SenseTable) -> None:
    assert list(found.words) == list(table.words)
    assert found.keys() == table.keys()
    np.testing.assert_array_equal(found.sense_vectors, table.sense_vectors)
    np.testing.assert_array_equal(found.sense_counts, table.counts_of_senses())
    np.testing.assert_array_equal(found.word_counts, table.counts_of_words())
    np.testing.assert_array_equal(found.priors, table.shares())


def test_all_comes_back(tmp_path, table, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is lost
        write_sense_table(tmp_path / "v", table, name)
    assert detect_format(tmp_path / "v") == name
    check_same(read_sense_table(tmp_path / "v"), table)
    assert [path.name for path in tmp_path.iterdir()] == ["v"]
    vectors = load_vectors(tmp_path / "v")
    model = toy_model(words=WORDS)
    assert vectors.sv.most_similar("head#0") == model.sv.most_similar("head#0")
    assert vectors.sense_prior("head").tolist() == pytest.approx(model.sense_prior("head").tolist())
    vectors.export(tmp_path / "again", name)
    check_same(read_sense_table(tmp_path / "again"), table)


def test_the_model_says_what_is_lost(tmp_path, name):
    with pytest.warns(FormatWarning, match=f"the {name} format does not hold the selector"):
        toy_model(words=WORDS).export(tmp_path / "v", name)


def test_one_word_and_tables_without_counts(tmp_path, name):
    bare = SenseTable(["a"], np.array([[1.5, -2]], np.float32), np.array([0, 1]))
    write_sense_table(tmp_path / "v", bare, name)
    check_same(read_sense_table(tmp_path / "v"), bare)


def test_numbers_of_senses_with_gaps_are_written_and_close_when_read(tmp_path, name, table):
    table.numbers = np.concatenate([np.arange(n) * 3 for n in table.senses])
    write_sense_table(tmp_path / "v", table, name)
    assert read_sense_table(tmp_path / "v").keys()[:3] == ["head#0", "head#1", "head#2"]
    if name == "sqlite":
        with sqlite3.connect(tmp_path / "v") as database:
            keys = database.execute("SELECT key FROM senses WHERE word = 'head' ORDER BY sense").fetchall()
        assert keys == [("head#0",), ("head#3",), ("head#6",)]


def test_what_others_do_with_them(tmp_path, table):
    """Each is read by the tool that it is for, without this package."""
    write_sense_table(tmp_path / "n", table, "numpy")
    mapped = np.load(tmp_path / "n" / "vectors.npy", mmap_mode="r")
    np.testing.assert_array_equal(mapped, table.sense_vectors)
    write_sense_table(tmp_path / "p", table, "projector")
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "p" / "vectors.tsv", np.float32), table.sense_vectors)
    lines = (tmp_path / "p" / "metadata.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0].split("\t")[:2] == ["key", "word"]
    assert [line.split("\t")[0] for line in lines[1:]] == table.keys()
    write_sense_table(tmp_path / "s", table, "sqlite")
    with sqlite3.connect(tmp_path / "s") as database:
        (blob,) = database.execute("SELECT vector FROM senses WHERE word = 'bank' AND sense = 1").fetchone()
    np.testing.assert_array_equal(np.frombuffer(blob, "<f4"), table.sense_vectors[table.keys().index("bank#1")])


def test_pandas_reads_parquet(tmp_path, table):
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    write_sense_table(tmp_path / "v", table, "parquet", compression="none")
    frame = pandas.read_parquet(tmp_path / "v")
    assert frame["key"].tolist() == table.keys()
    np.testing.assert_array_equal(np.stack(frame["vector"]), table.sense_vectors)
    with pytest.raises(ValueError, match="compression must be one of pyarrow's"):
        write_sense_table(tmp_path / "w", table, "parquet", compression="best")
    assert not (tmp_path / "w").exists()


def test_parquet_of_others(tmp_path, table):
    """Rows in another order, in several groups, other types of numbers, lists of any length that is the same."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    write_sense_table(tmp_path / "v", table, "parquet")
    found = parquet.read_table(tmp_path / "v")
    order = np.random.default_rng(0).permutation(found.num_rows)
    found = found.take(order).add_column(0, "more", [found["key"]])
    lists = pyarrow.array(table.sense_vectors[order].tolist(), pyarrow.list_(pyarrow.float64()))
    found = found.set_column(found.schema.get_field_index("vector"), "vector", [lists])
    parquet.write_table(found, tmp_path / "w", row_group_size=4)
    again = read_sense_table(tmp_path / "w")
    assert sorted(again.keys()) == sorted(table.keys())
    for word, row in zip(again.words, again.sense_offset, strict=False):
        start = table.sense_offset[list(table.words).index(word)]
        np.testing.assert_array_equal(again.sense_vectors[row], table.sense_vectors[start])
        assert again.sense_counts[row] == table.sense_counts[start]


def test_neighbours_in_a_database(tmp_path, table):
    write_sense_table(tmp_path / "v", table, "sqlite", neighbours=3)
    wanted = toy_model(words=WORDS).sv.most_similar("head#1", topn=3)
    with sqlite3.connect(tmp_path / "v") as database:
        found = database.execute(
            "SELECT neighbour, cosine FROM neighbours WHERE key = 'head#1' ORDER BY rank"
        ).fetchall()
        assert database.execute("SELECT count(*) FROM neighbours").fetchone() == (3 * table.n_senses,)
    assert [key for key, _ in found] == [key for key, _ in wanted]
    assert [cosine for _, cosine in found] == pytest.approx([cosine for _, cosine in wanted], abs=1e-6)
    check_same(read_sense_table(tmp_path / "v"), table)
    with pytest.raises(ValueError, match="neighbours"):
        write_sense_table(tmp_path / "w", table, "sqlite", neighbours=-1)


@pytest.mark.parametrize("word", ["line\nbreak", "a\tb", "\r"])
@pytest.mark.parametrize("name", ["numpy", "projector"])
def test_tabs_and_line_breaks_in_words(tmp_path, name, word):
    model = toy_model(words=(*WORDS[:-1], word))
    with pytest.raises(ValueError, match=r"a table in text cannot hold the word .*, which has a tab or a line break"):
        model.export(tmp_path / "v", name)
    with pytest.raises(ValueError, match="two words become the same"):
        toy_model(words=(*WORDS[:-2], "x\ty", "x y")).export(tmp_path / "v", name, replace_spaces=" ")
    with pytest.raises(ValueError, match="replace_spaces must be a string without tabs"):
        model.export(tmp_path / "v", name, replace_spaces="\t")
    assert list(tmp_path.iterdir()) == []
    with pytest.warns(FormatWarning):
        model.export(tmp_path / "v", name, replace_spaces="~")
    assert len(load_vectors(tmp_path / "v")) == 9


@pytest.mark.parametrize("name", ["parquet", "sqlite"])
def test_any_word_fits_into_a_table(tmp_path, name):
    if name == "parquet":
        pytest.importorskip("pyarrow")
    words = ("line\nbreak", "a\tb", "\x00", " ", "é" * 3000, "a#0", "##", "NULL", "\ufeff")
    with pytest.warns(FormatWarning):
        toy_model(words=words).export(tmp_path / "v", name)
    assert list(load_vectors(tmp_path / "v").vocabulary) == list(words)


def test_pyarrow_is_named_where_it_is_missing(tmp_path, table, monkeypatch):
    def missing(module):
        raise ImportError(module)

    monkeypatch.setattr(optional.importlib, "import_module", missing)
    (tmp_path / "v").write_bytes(b"PAR1")
    with pytest.raises(ImportError, match=r"Parquet files needs pyarrow; .* pip install 'muse-senses\[parquet\]'"):
        load_vectors(tmp_path / "v")
    with pytest.raises(ImportError, match=r"pip install 'muse-senses\[parquet\]'"):
        write_sense_table(tmp_path / "w", table, "parquet")


# -- whole or not at all -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["numpy", "projector"])
def test_folders_are_never_replaced(tmp_path, name, table):
    (tmp_path / "v").mkdir()
    with pytest.raises(FileExistsError, match="there is something of that name"):
        write_sense_table(tmp_path / "v", table, name)
    with pytest.raises(FileNotFoundError, match="the folder does not exist"):
        write_sense_table(tmp_path / "none" / "v", table, name)


def test_an_interrupted_database_leaves_the_old_one(tmp_path, table, monkeypatch):
    write_sense_table(tmp_path / "v", table, "sqlite")
    before = (tmp_path / "v").read_bytes()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sqlite, "_fill_neighbours", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_sense_table(tmp_path / "v", table, "sqlite", neighbours=1)
    assert (tmp_path / "v").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["v"]


def test_a_database_whose_reader_stays(tmp_path, table):
    """One that is open while another takes its name."""
    write_sense_table(tmp_path / "v", table, "sqlite")
    with sqlite3.connect(tmp_path / "v") as reader:
        write_sense_table(tmp_path / "v", table, "sqlite")
        assert reader.execute("SELECT count(*) FROM senses").fetchone() == (table.n_senses,)


# -- damaged and hostile -----------------------------------------------------------------------------------------------


HUGE_COLUMN = """
ALTER TABLE senses DROP COLUMN share;
ALTER TABLE senses ADD COLUMN share AS (zeroblob(1000000000))
"""


@pytest.mark.parametrize(
    ("statements", "what"),
    [
        ("DROP TABLE senses", "it has no table of the name senses"),
        ("DROP TABLE senses; CREATE VIEW senses AS SELECT 1 AS word", "it has no table of the name senses"),
        ("ALTER TABLE senses RENAME COLUMN share TO part", "its table senses must have the columns word, sense"),
        ("DELETE FROM senses", "are not equally long, or there are none"),
        ("UPDATE senses SET vector = x'00' WHERE word = 'bank'", "are not equally long"),
        ("UPDATE senses SET vector = 'four' ", "has a value of another type"),
        ("UPDATE senses SET vector = x'0000c07f0000c07f0000c07f0000c07f0000c07f0000c07f0000c07f'", "NaN or infinity"),
        ("UPDATE senses SET word = x'00'", "row 1 of its table senses has a value of another type"),
        ("UPDATE senses SET sense = 1.5", "row 1 of its table senses has a value of another type"),
        ("UPDATE senses SET sense = -1", "sense of row 1 cannot be -1"),
        ("UPDATE senses SET count = 9223372036854775807", "count of row 1 cannot be 9223372036854775807"),
        ("UPDATE senses SET share = 2", "share of row 1 cannot be 2.0"),
        ("UPDATE senses SET share = 'x'", "row 1 of its table senses has a value of another type"),
        (HUGE_COLUMN, "must have the columns"),
    ],
)  # fmt: skip
def test_damaged_databases(tmp_path, table, statements, what):
    path = tmp_path / "v"
    write_sense_table(path, table, "sqlite")
    database = sqlite3.connect(path)
    database.executescript(statements)
    database.commit()
    database.close()
    with pytest.raises(ModelFileError, match=r"'.*v'.*: ") as caught:
        load_vectors(path, "sqlite")
    assert what in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [("sqlite", b""), ("sqlite", b"SQLite format 3\0" + b"\xff" * 200), ("parquet", b"PAR1" * 9), ("parquet", b"")],
)
def test_no_files_of_these_formats(tmp_path, name, content):
    if name == "parquet":
        pytest.importorskip("pyarrow")
    (tmp_path / "v").write_bytes(content)
    with pytest.raises(ModelFileError):
        load_vectors(tmp_path / "v", name)
    for other in NAMES[:2]:
        with pytest.raises(FileNotFoundError, match="there is no such folder"):
            load_vectors(tmp_path / "v", other)
    with pytest.raises(FileNotFoundError):
        load_vectors(tmp_path / "none", name)


@pytest.mark.parametrize("cut", [5, 50, 90, 99])
def test_cut_files(tmp_path, table, name, cut):
    write_sense_table(tmp_path / "v", table, name)
    files = [tmp_path / "v"] if (tmp_path / "v").is_file() else sorted((tmp_path / "v").iterdir())
    for path in files:
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) * cut // 100])
        try:
            found = load_vectors(tmp_path / "v", name)
        except ModelFileError:
            pass
        else:  # only digits of the last line of a text may be gone
            assert name in ("projector", "numpy")
            assert path.suffix == ".tsv"
            assert len(found.table.keys()) == table.n_senses
        path.write_bytes(whole)
    check_same(read_sense_table(tmp_path / "v"), table)


def lines_of(change):
    def edited(folder):
        path = folder / "metadata.tsv"
        path.write_bytes(change(path.read_bytes()))

    return edited


def array_of(array):
    return lambda folder: np.save(folder / "vectors.npy", array, allow_pickle=True)


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (lines_of(lambda text: text.partition(b"\n")[2]), "its first line must be the columns key, word, sense"),
        (lines_of(lambda text: text + text.splitlines()[-1] + b"\n"), "14 lines for 13 vectors"),
        (lines_of(lambda text: text.replace(b"army\t0", b"army\tx")), "line 5: expected key, word, sense"),
        (lines_of(lambda text: text.replace(b"army", b"\xff")), "line 5: expected key, word, sense"),
        (lines_of(lambda text: text.replace(b"army\t0", b"army\t" + b"9" * 30)), "a number beyond 2^63"),
        (lines_of(lambda text: b""), "its first line must be the columns"),
        (array_of(np.zeros((13, 7), np.int64)), "it holds no matrix of floating-point numbers"),
        (array_of(np.zeros(13)), "it holds no matrix of floating-point numbers"),
        (array_of(np.zeros((13, 0))), "it is empty"),
        (array_of(np.array([[{}]] * 13, object)), "numpy cannot read it"),
        (array_of(np.full((13, 2), np.inf)), "NaN or infinity"),
        (array_of(np.full((13, 2), 1e300)), "NaN or infinity"),
        (lambda folder: (folder / "vectors.npy").write_bytes(b""), "numpy cannot read it"),
        (lambda folder: (folder / "vectors.npy").write_bytes(b"PK\x05\x06" + bytes(18)), "numpy cannot read it"),
    ],
)
def test_damaged_folders(tmp_path, table, damage, what):
    write_sense_table(tmp_path / "v", table, "numpy")
    damage(tmp_path / "v")
    with pytest.raises(ModelFileError) as caught:
        load_vectors(tmp_path / "v")
    assert what in str(caught.value)


def test_an_array_that_claims_to_be_huge(tmp_path, table):
    write_sense_table(tmp_path / "v", table, "numpy")
    path = tmp_path / "v" / "vectors.npy"
    for shape in (b"(9**13,7), }", b"(999999999, 7), }", b"(-13, 7), }", b"(13, 7"):
        header, _, data = path.read_bytes().partition(b"\n")
        start = header.index(b"(")
        path.write_bytes(header[:start] + shape.ljust(len(header) - start) + b"\n" + data)
        with pytest.raises(ModelFileError, match="numpy cannot read it"):
            load_vectors(tmp_path / "v")


def test_the_docs_name_every_format():
    assert set(NAMES) <= set(FORMATS)


def test_the_projector_may_get_the_first_words_only(tmp_path):
    model = toy_model(words=WORDS)
    with pytest.warns(FormatWarning, match="selector"):
        model.export(tmp_path / "few", "projector", limit=2)
    few = load_vectors(tmp_path / "few")
    assert list(few.wv.index_to_key) == list(model.vocabulary.words)[:2]
    assert len(few.sv) == int(model.arrays.sense_offset[2])
    with pytest.raises(ValueError, match="limit"):
        model.export(tmp_path / "none", "projector", limit=0)
    assert not (tmp_path / "none").exists()


def test_words_of_parquet_that_are_no_text(tmp_path, table):
    pytest.importorskip("pyarrow")
    path = tmp_path / "v.parquet"
    write_sense_table(path, table, "parquet", compression="none")
    word = table.words[0].encode()
    path.write_bytes(path.read_bytes().replace(word, b"\xc4" * len(word)))
    with pytest.raises(ModelFileError):
        read_sense_table(path, "parquet")
