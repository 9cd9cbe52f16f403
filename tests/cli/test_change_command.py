"""``muse change``: texts of two times, words asked for, tables with dates, pages, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command_lines import Done, run, write_slices

QUICK = "--vector-size 16 --senses 2 --workers 1"


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("slices")
    write_slices(folder)
    done = run(f"muse change 1900s.txt 2000s.txt {QUICK} --save time.safetensors --json -n 0", folder)
    assert done.status == 0, done.err
    (folder / "ranked.jsonl").write_bytes(done.bytes)
    return folder


def records(done: Done) -> list[dict[str, Any]]:
    assert done.status == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def test_words_that_changed_come_first(texts: Path) -> None:
    rows = [json.loads(line) for line in (texts / "ranked.jsonl").read_text().splitlines()]
    assert {row["word"] for row in rows[:2]} == {"bank", "cell"}
    assert all(row["changed"] for row in rows[:2])
    assert len(rows) > 100
    assert set(rows[0]) == {
        "word", "value", "expected", "excess", "p", "q", "changed", "uses_before", "uses_after",
    }  # fmt: skip
    told = run("muse change 1900s.txt 2000s.txt --model time.safetensors -n 2", texts).out
    assert re.search(r"^(bank|cell) +0\.\d+", told, re.M)
    assert "words are called changed" in told
    assert re.search(r"^senses of 2000s that 1900s hardly has", told, re.M)
    assert len(re.findall(r"^\w+#\d +\d+% +\d+%", told, re.M)) >= 4


def test_shares_of_words_that_are_asked_for(texts: Path) -> None:
    line = "muse change 1900s.txt 2000s.txt --model time.safetensors --name old --name new --words bank,cell"
    one, two = records(run(f"{line} --json", texts))
    assert [one["word"], two["word"]] == ["bank", "cell"]
    assert one["change"]["changed"]
    assert {row["slice"] for row in one["shares"]} == {"old", "new"}
    told = run(line, texts).out
    assert re.search(r"^sense +old +new +near$", told, re.M)
    assert re.search(r"^bank#0 +\d+% \(\d+% to \d+%\)", told, re.M)


def test_words_of_one_slice(texts: Path) -> None:
    told = run("muse change 1900s.txt --model time.safetensors --words bank", texts).out
    assert "bank: there is one slice" in told
    assert "too few" not in told


def test_a_table_is_parted_by_its_years(texts: Path) -> None:
    line = f"muse change letters.csv --text-column text --by year {QUICK} --json --words bank"
    (binned,) = records(run(f"{line} --bins 1800,1850,1900", texts))
    assert list(dict.fromkeys(row["slice"] for row in binned["shares"])) == ["1800-1850", "1850-1900"]
    (texts / "few.csv").write_text(
        "year,text\n" + "".join(f"{year},the bank lends money\n" for year in (1990, 1991) for _ in range(30))
    )
    (each,) = records(run(line.replace("letters", "few"), texts))
    assert [row["slice"] for row in each["shares"]] == ["1990", "1991"]


def test_a_page_holds_what_was_found(texts: Path) -> None:
    line = "muse change 1900s.txt 2000s.txt --model time.safetensors"
    assert run(f"{line} -n 3 --html all.html", texts).status == 0
    page = (texts / "all.html").read_text(encoding="utf-8")
    data = json.loads(re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[0])
    assert data["info"]["models"][0]["slices"] == ["1900s", "2000s"]
    (model,) = data["models"]
    assert {"bank", "cell"} <= set(model["over"])
    assert {row["word"] for row in model["change"]["rows"][:2]} == {"bank", "cell"}
    assert all(sense["texts"] for slice in model["over"]["bank"]["slices"] for sense in slice["senses"].values())
    assert run(f"{line} --words spring --html one.html", texts).status == 0
    assert '"start":["spring"]' in (texts / "one.html").read_text(encoding="utf-8")


def test_hostile_names_and_words_stay_text(texts: Path) -> None:
    hostile = "</script><script>alert(1)</script>"
    word = "<img/src=x>"
    sentences = (texts / "1900s.txt").read_text().replace("bank", word)
    (texts / "hostile.txt").write_text(sentences)
    done = run(
        ["change", "hostile.txt", "2000s.txt", "--name", hostile, "--name", "b", "--words", word, "--html", "h.html",
         *QUICK.split()], texts,
    )  # fmt: skip
    assert done.status == 0, done.err
    page = (texts / "h.html").read_text(encoding="utf-8")
    assert page.count("</script>") == 2
    assert word not in page


def test_the_explorer_shows_the_slices_that_were_kept(texts: Path) -> None:
    assert run("muse explore time.safetensors --slices --html kept.html --words bank", texts).status == 0
    assert '"slices":["1900s","2000s"]' in (texts / "kept.html").read_text(encoding="utf-8")
    assert run("muse explore time.safetensors --html bare.html --words bank", texts).status == 0
    assert '"slices":[]' in (texts / "bare.html").read_text(encoding="utf-8")
    assert run("muse explore time.safetensors --slices --html time.safetensors.slices --words bank", texts).status == 1


@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        ("1900s.txt -", 2, "name files"),
        ("tiny.txt tinier.txt --html x --workers 1 --epochs 1 --vector-size 8", 1, "no page to write"),
        ("1900s.txt", 2, "two texts or more"), ("1900s.txt 1900s.txt", 2, "two slices are called '1900s'"),
        ("1900s.txt 2000s.txt --name a", 2, "once for each of 2 texts"),
        ("1900s.txt none.txt", 1, "none.txt"), ("1900s.txt 2000s.txt --bins 1,2", 2, "--by names"),
        ("letters.csv --by year", 2, "--text-column"), ("1900s.txt letters.csv", 2, "is a table"),
        ("letters.csv --by date --text-column text", 1, "has no column 'date'"),
        ("letters.csv --by year --text-column text --bins 1900,1800", 1, "rising"),
        ("letters.csv --by year --text-column text --bins 1900,later", 1, "of one kind"),
        ("1900s.txt 2000s.txt --model time.safetensors --epochs 3", 2, "--epochs is for a model that is trained"),
        ("1900s.txt 2000s.txt --model time.safetensors --words bannk", 1, "bank"),
        ("1900s.txt 2000s.txt --html -", 2, "are files"), ("1900s.txt 2000s.txt --html 1900s.txt", 1, "1900s.txt"),
        ("1900s.txt 2000s.txt --save x --html x.slices", 1, "x.slices"),
        ("1900s.txt 2000s.txt --model 1900s.txt", 1, "1900s.txt"),
        (f"1900s.txt 2000s.txt {QUICK} --recipe split", 2, "sense trees"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(line: str, status: int, message: str, texts: Path) -> None:
    for name in ("tiny.txt", "tinier.txt"):
        (texts / name).write_text("the bank lends money\n" * 6)
    before = (texts / "1900s.txt").read_bytes()
    done = run(f"muse change {line}", texts)
    assert (done.status, message in done.err) == (status, True), done.err
    assert (texts / "1900s.txt").read_bytes() == before
    assert not (texts / "x").exists()


def test_texts_of_slices_are_not_written_over(texts: Path, tmp_path: Path) -> None:
    for line, lost in (
        (f"muse change 1900s.txt kept.slices --save kept {QUICK}", "kept.slices"),
        ("muse explore time.safetensors --slices --html 1900s.txt --words bank", "1900s.txt"),
    ):
        for name in ("kept.slices", "1900s.txt"):
            if not (texts / name).exists():
                (texts / name).write_bytes((texts / "2000s.txt").read_bytes())
        before = (texts / lost).read_bytes()
        done = run(line, texts)
        assert done.status == 1, done.err
        assert "is what is to be read" in done.err
        assert (texts / lost).read_bytes() == before


def test_dates_of_a_table_may_have_a_point_and_some_be_missing(tmp_path: Path) -> None:
    text = "the bank lends money to the bank of the river"
    rows = [f"{text},{year}" for year in ["1800.0", "1849.5", "", "nan", "1850.0", "1899"] * 30]
    (tmp_path / "letters.csv").write_text("\n".join(["text,year", *rows]))
    line = f"muse change letters.csv --text-column text --by year {QUICK} --json --words bank"
    (found,) = records(run(f"{line} --bins 1800,1850,1900", tmp_path))
    assert list(dict.fromkeys(row["slice"] for row in found["shares"])) == ["1800-1850", "1850-1900"]
    (tmp_path / "letters.csv").write_text("\n".join(["text,year", *rows, f"{text},about 1812"]))
    done = run(f"{line} --bins 1800,1850,1900", tmp_path)
    assert done.status == 1
    assert "'about 1812' in row 181 of 'year' is no number" in done.err


def test_what_cannot_be_is_said_before_the_training(texts: Path) -> None:
    done = run(f'muse change 1900s.txt 2000s.txt --name "" --name y {QUICK}', texts)
    assert (done.status, "a name that is not empty" in done.err) == (2, True)


def test_a_word_that_is_not_known_loses_no_model(texts: Path) -> None:
    done = run(f"muse change 1900s.txt 2000s.txt --words zzzz --save there.safetensors {QUICK}", texts)
    assert done.status == 1
    assert "zzzz" in done.err
    assert (texts / "there.safetensors.slices").exists()
