"""Dictionaries: both kinds of files say the same, and what is damaged is named."""

from __future__ import annotations

import sys

import pytest

from dictionaries import write_lmf, write_princeton
from muse import ModelFileError
from muse.lexicon.lmf import LmfFile, sense_key
from muse.lexicon.opening import open_lexicon
from muse.lexicon.princeton import PrincetonFiles, is_princeton
from muse.lexicon.synsets import Synset


@pytest.fixture
def database(tmp_path):
    """The library's own database, elsewhere than the user's, with the lexicon in it."""
    wn = pytest.importorskip("wn")
    before = wn.config.data_directory
    wn.config.data_directory = tmp_path / "wn"
    wn.add(write_lmf(tmp_path / "added.xml"), progress_handler=None)
    yield wn
    wn.config.data_directory = before


def said(lexicon, word="bank") -> list[tuple]:
    return [(s.pos, s.gloss, s.examples, s.lemmas, s.broader, s.narrower, s.about) for s in lexicon.synsets(word)]


EXPECTED = [
    ("n", "where loans, deposits and money of investors are kept", ("the bank pays interest on savings",),
     ("bank", "banking company"), ("institution",), (), ("an organisation with money, credit and accounts",)),
    ("n", "the shore beside the water of a river or stream", ("boats and fish near the bank",), ("bank", "riverside"),
     (), (), ()),
    ("v", "lean to one side when turning, as aircraft do", (), ("bank",), (), (), ()),
    ("a", "", (), ("bank",), (), (), ()),
]  # fmt: skip


def test_files_of_princeton(tmp_path):
    lexicon = open_lexicon(write_princeton(tmp_path / "dict"))
    assert said(lexicon) == EXPECTED
    assert [s.sense_key for s in lexicon.synsets("bank")] == [
        "bank%1:14:00::", "bank%1:14:00::", "bank%2:14:00::", "bank%3:14:00::",
    ]  # fmt: skip
    assert said(lexicon, "Banking_Company") == EXPECTED[:1]
    assert lexicon.synsets("nothing") == lexicon.synsets("") == []


def test_files_of_lmf(tmp_path):
    pytest.importorskip("wn")
    lexicon = open_lexicon(write_lmf(tmp_path / "t.xml"))
    assert said(lexicon) == EXPECTED
    assert said(lexicon, "banking_company") == said(lexicon, "Banking Company") == EXPECTED[:1]
    assert lexicon.synsets("nothing") == []


def test_the_database_of_wn(database):
    for given in ("t:1", database.Wordnet("t:1")):
        lexicon = open_lexicon(given)
        found = said(lexicon)  # its parts of speech come in another order
        assert sorted(row[:4] for row in found) == sorted(row[:4] for row in EXPECTED)
        assert [row for row in found if row[0] == "n"] == EXPECTED[:2]
    with pytest.raises(
        ValueError, match=r"wn has no lexicon 'nothing:1'.*: get it with python -m wn download nothing:1"
    ):
        open_lexicon("nothing:1")


def test_a_dictionary_of_ones_own():
    class Own:
        name = "mine"

        def synsets(self, word):
            return [Synset("1", "n", "a thing")]

    assert open_lexicon(Own()).synsets("x")[0].gloss == "a thing"


@pytest.mark.parametrize("given", [None, 3, ["oewn"], object()])
def test_what_is_no_dictionary(given):
    with pytest.raises(TypeError, match="lexicon must be the name of a lexicon"):
        open_lexicon(given)


def test_paths_that_are_none(tmp_path):
    for path in (tmp_path / "nothing", str(tmp_path / "nothing"), "nothing.xml"):
        with pytest.raises(FileNotFoundError, match="there is no file or folder"):
            open_lexicon(path)
    with pytest.raises(ValueError, match=r"is a folder without index\.noun and data\.noun"):
        open_lexicon(tmp_path)
    assert not is_princeton(tmp_path)


def test_without_the_library(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "wn", None)
    monkeypatch.setitem(sys.modules, "wn.lmf", None)
    for given in (write_lmf(tmp_path / "t.xml"), "oewn:2024"):
        with pytest.raises(ImportError, match=r"needs wn; install it with: pip install 'muse-senses\[wordnet\]'"):
            open_lexicon(given)
    assert said(PrincetonFiles(write_princeton(tmp_path / "dict"))) == EXPECTED


@pytest.mark.parametrize("text", ["", "no XML", "<a/>", "<?xml version='1.0'?><LexicalResource/>", "\0" * 100])
def test_damaged_lmf(text, tmp_path):
    pytest.importorskip("wn")
    (tmp_path / "t.xml").write_text(text)
    with pytest.raises(ModelFileError, match=r"t\.xml' is no WN-LMF file, or damaged"):
        LmfFile(tmp_path / "t.xml")


def test_every_cut_of_lmf_is_an_error_or_less(tmp_path):
    pytest.importorskip("wn")
    whole = write_lmf(tmp_path / "t.xml").read_bytes()
    for size in range(0, len(whole) - 20, 97):
        (tmp_path / "cut.xml").write_bytes(whole[:size])
        with pytest.raises(ModelFileError):
            LmfFile(tmp_path / "cut.xml")


def asked(folder) -> str:
    """What is wrong with the files, if anything is noticed."""
    try:
        PrincetonFiles(folder).synsets("bank")
    except ModelFileError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("file", ["index.noun", "data.noun"])
def test_damaged_files_of_princeton(file, tmp_path):
    folder = write_princeton(tmp_path / "dict")
    whole = (folder / file).read_bytes()
    said = set()
    for size in range(1, len(whole), 7):
        (folder / file).write_bytes(whole[:size])
        said.add(asked(folder))
    for place in range(60, len(whole), 5):
        changed = bytearray(whole)
        changed[place] = ord("x")
        (folder / file).write_bytes(changed)
        said.add(asked(folder))
    said.discard("")
    assert said
    assert all("is damaged, or no file of WordNet's database" in error for error in said)


def test_keys_of_senses():
    assert sense_key("oewn-bank__1.17.01..", "bank") == "bank%1:17:01::"
    assert sense_key("oewn-good__5.00.00.advantageous.00", "good") == "good%5:00:00:advantageous:00"
    assert sense_key("omw-en-bank-09213565-n", "bank") is None
