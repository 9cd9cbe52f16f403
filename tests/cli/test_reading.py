"""Text as people have it: prose, folders, patterns, tables, other encodings, a pipe."""

from __future__ import annotations

import json
import re

import pytest
from command_lines import run

from muse import MUSE
from muse.corpus import Prose

PROSE = (
    "Dr. Grey’s house stood on the\nriver bank. “Is the wa-\nter cold?” he asked.\n\nThe bank lends money, at 5%!\n"
    * 20
)
QUICK = "--save m --vector-size 8 --epochs 1 --workers 1 --sample 0"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "1890.txt").write_text(PROSE, encoding="utf-8")
    (tmp_path / "letters" / "old.txt").write_bytes(PROSE.encode("cp1252"))
    (tmp_path / "table.csv").write_text("year,text\n" + '1890,"The bank of the river."\n' * 50)
    (tmp_path / "tokens.txt").write_text("the bank of the river\nthe bank lends money\n" * 50)
    return tmp_path


def words(folder, line):
    done = run(f"muse train {line} {QUICK}", folder)
    assert done.status == 0, done.err
    return set(MUSE.load(folder / "m").vocabulary.words), done


def test_prose_is_recognised_and_said(folder):
    found, done = words(folder, "letters/1890.txt")
    assert {"bank", "water", "grey's"} <= found
    assert "bank." not in found
    assert done.err == "this looks like prose, and is split into sentences and words; --tokens takes it as it is\n"
    found, done = words(folder, "letters/1890.txt --tokens")
    assert "bank." in found
    assert "looks like prose" in done.err  # the library's warning
    found, done = words(folder, "tokens.txt")
    assert found == {"the", "bank", "of", "river", "lends", "money"}
    assert done.err == ""


@pytest.mark.parametrize("line", ["letters", "'letters/*.txt'", "letters/1890.txt letters/old.txt"])
def test_a_folder_of_several_encodings(folder, line):
    done = run(f"muse train {line} {QUICK}", folder)
    assert done.status == 1
    assert "letters/old.txt is not UTF-8" in done.err
    assert "give --encoding cp1252 if it comes from Windows, --encoding auto" in done.err
    found, done = words(folder, f"{line} --encoding auto")
    assert found == set(
        MUSE(Prose(folder / "letters" / "1890.txt"), vector_size=8, epochs=1, workers=1).vocabulary.words
    )
    assert "old.txt" in done.err


def test_prose_of_a_pipe_is_asked_for(folder):
    found, _ = words(folder, "letters/1890.txt")
    done = run(f"cat letters/1890.txt | muse train - --prose --language en {QUICK}", folder)
    assert done.status == 0
    assert set(MUSE.load(folder / "m").vocabulary.words) == found


def test_the_column_of_a_table(folder):
    found, done = words(folder, "table.csv --text-column text")
    assert found == {"the", "bank", "of", "river"}
    assert done.err == ""
    for line, status, said in (
        ("table.csv --text-column txt", 1, "no column 'txt'"),
        ("table.csv table.csv --text-column text", 2, "--text-column reads one table; got 2"),
        ("tokens.txt --encoding nonsense", 2, "nonsense"),
    ):
        done = run(f"muse train {line} {QUICK}", folder)
        assert (done.status, said in done.err) == (status, True), done.err


def test_a_model_of_prose_is_asked_in_prose(folder):
    words(folder, "letters/1890.txt")
    assert run(["select", "m", "bank", "The Bank, in Water."], folder).out.startswith("bank#")
    done = run(["senses", "m", "bank", "--context", "Water!", "--corpus", "letters/1890.txt"], folder)
    assert done.status == 0
    assert "no word of it is known" not in done.out
    assert "as in" in done.out


def test_prose_and_other_encodings_are_tagged(folder):
    words(folder, "letters --encoding auto")
    assert run("muse tag m letters/1890.txt utf8 --prose", folder).status == 0
    assert run("muse tag m letters/old.txt old --prose --encoding cp1252", folder).status == 0
    assert (folder / "old").read_text() == (folder / "utf8").read_text()
    assert re.search(r"(?m)^dr#\d .* river#\d bank#\d$", (folder / "utf8").read_text())
    piped = run("cat letters/1890.txt | muse tag m - - --prose", folder)
    assert piped.out == (folder / "utf8").read_text()
    assert piped.err.startswith("tagged ")
    lines = run("muse tag m letters/1890.txt - --prose --json", folder).out.splitlines()
    assert len(lines) == (folder / "utf8").read_text().count("\n")
    assert run("muse tag m letters/1890.txt out --prose --resume", folder).status == 2


@pytest.mark.parametrize("more", ["", "--prose --encoding cp1252"])
def test_prose_of_the_commands_that_show_uses(folder, more):
    words(folder, "letters/1890.txt")
    text = f"letters/{'old' if more else '1890'}.txt {more}"
    shown = run(f"muse senses m bank --corpus {text}", folder)
    assert (shown.status, "looks like prose" in shown.err) == (0, not more), shown.err
    assert re.search(r"is the water cold|the bank lends money at|river bank", shown.out)
    page = run(f"muse explore m --html page.html --words bank,river --corpus {text} --json", folder)
    assert json.loads(page.out)["words"] == ["bank", "river"]
    uses = (folder / "page.html").read_text(encoding="utf-8")
    assert "grey's" in uses
    assert "money," not in uses
    served = run(f"muse explore m --corpus {text} --port 0 --no-browser", folder)
    assert (served.status, "muse.corpus.Prose" in served.err) == (0, False)
    demo = run(f"muse demo --corpus {text} --words bank --epochs 1 --vector-size 8 --workers 1", folder)
    assert demo.status == 0, demo.err
    assert re.search('as in ".*bank', demo.out)


def test_a_table_can_be_taken_as_it_is(folder):
    found, _ = words(folder, "table.csv --tokens")
    assert '1890,"The' in found
    assert run("muse tag m table.csv out", folder).status == 0
