"""Evaluation files as users have them: compressed, in other encodings, with lines of a million letters."""

import bz2
import gzip
import lzma

import pytest

from muse.evaluation import (
    SynonymQuestion,
    WordSimilarityTask,
    read_analogies,
    read_instances,
    read_key,
    read_scws,
    read_synonyms,
    read_table,
    read_toefl,
    read_wic,
    read_word_pairs,
    write_key,
)
from muse.readers.lines import read_lines
from published import RUSSE_HEADER, scws_line

SCWS = scws_line(1, "bank", "loan", "a <b>bank</b>", "a <b>loan</b>", 5)
XML = (
    '<contexts><instance id="1" lemma="bank" partOfSpeech="n" tokenStart="2" tokenEnd="6">a bank</instance></contexts>'
)

FILES = {
    "pairs.csv": ("word1,word2,score\nking,queen,8.5\n", read_word_pairs),
    "questions.txt": ("king | queen | war\n", read_synonyms),
    "ratings.txt": (SCWS, read_scws),
    "gold.key": ("bank.n 1 a/1\n", read_key),
    "analogies.txt": (": all\na b c d\n", read_analogies),
    "table.tsv": (f"{RUSSE_HEADER}1\tbank\t1\t\t2-6\ta bank\n", read_table),
    "contexts.xml": (XML, read_instances),
}
PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("name", list(FILES))
def test_every_reader_reads_compressed_files(tmp_path, name):
    text, read = FILES[name]
    (tmp_path / name).write_text(text)
    plain = read(tmp_path / name)
    for ending, pack in PACKERS.items():
        path = tmp_path / f"{name}{ending}"
        path.write_bytes(pack(text.encode()))
        assert read(path) == plain
        path.write_bytes(pack(text.encode())[:-4])
        with pytest.raises(ValueError, match="the compressed data is damaged or cut off"):
            read(path)
    (tmp_path / name).write_bytes(gzip.compress(text.encode()))
    with pytest.raises(ValueError, match=r"holds compressed data, which its name must say: .* ends in \.gz"):
        read(tmp_path / name)
    (tmp_path / name).write_bytes(b"PK\3\4" + text.encode())
    with pytest.raises(ValueError, match="is a zip archive; unpack it"):
        read(tmp_path / name)


def test_files_in_pairs_and_folders_may_be_compressed_too(tmp_path):
    for name, text in (("q", "1. king\na. queen\nb. war\n"), ("a", "1 a\n"), ("dev.gold.txt", "T\n")):
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "dev.data.txt.gz").write_bytes(gzip.compress(b"bank\tN\t0-0\tbank\tbank\n"))
    assert read_toefl(tmp_path / "q.gz", tmp_path / "a.gz") == [SynonymQuestion("king", ("queen", "war"), 0)]
    assert read_wic(tmp_path / "dev.data.txt.gz")[0].same
    with pytest.raises(ValueError, match=r"a key is written as plain text; .* does not end in \.gz"):
        write_key({"bank.n": {"1": {"a": 1.0}}}, tmp_path / "k.gz")
    (tmp_path / "MEN.txt.gz").write_bytes(gzip.compress(b"a b 1\n"))
    assert WordSimilarityTask(tmp_path / "MEN.txt.gz").settings["data"] == ["MEN"]
    (tmp_path / "contexts").mkdir()
    (tmp_path / "contexts" / "bank.xml.gz").write_bytes(gzip.compress(XML.encode()))
    assert [item.name for item in read_instances(tmp_path / "contexts")] == ["1"]


@pytest.mark.parametrize("name", [name for name in FILES if name != "contexts.xml"])
def test_utf16_is_named(tmp_path, name):
    text, read = FILES[name]
    path = tmp_path / name
    path.write_bytes(text.encode("utf-16"))
    with pytest.raises(ValueError, match=r"line 1: invalid UTF-8 .* `iconv -f utf-16 -t utf-8`"):
        read(path)
    path.write_bytes(text.encode("utf-16-le"))
    with pytest.raises(ValueError, match="line 1: a NUL character, as in UTF-16 text"):
        read(path)


def test_xml_says_its_encoding_itself(tmp_path):
    (tmp_path / "c.xml").write_bytes(f'<?xml version="1.0" encoding="utf-16"?>{XML}'.encode("utf-16"))
    assert read_instances(tmp_path / "c.xml")[0].form == "bank"


LONG = "x" * 1_000_000


@pytest.mark.parametrize(
    ("read", "line"),
    [
        (read_word_pairs, f"a b {LONG}"),
        (read_word_pairs, f"a,{LONG},1"),
        (read_synonyms, LONG),
        (read_synonyms, f"a | | {LONG}"),
        (read_key, LONG),
        (read_key, f"a 1 s/{LONG}"),
        (read_key, f"a 1 /{LONG}"),
        (read_scws, LONG),
        (read_scws, SCWS.replace("5\n", f"{LONG}\n")),
        (read_table, LONG),
        (read_table, f'"{LONG}" x\t'),
    ],
)
def test_long_lines_are_shortened_in_messages(tmp_path, read, line):
    (tmp_path / "long").write_text(f"{line}\n")
    with pytest.raises(ValueError, match="long, line 1") as caught:
        read(tmp_path / "long")
    assert len(str(caught.value)) < 600


def test_a_folder_of_data_is_no_file_of_it(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; give the file in it"):
        read_scws(tmp_path)
    with pytest.raises(ValueError, match="/dev/null is a device; give a file"):
        read_scws("/dev/null")


def test_read_lines_splits_at_line_feeds_only_and_names_a_bad_line(tmp_path):
    path = tmp_path / "t.txt"
    path.write_bytes("\ufeffa\x85b\r\nc\n".encode())
    assert list(read_lines(path)) == [(1, "a\x85b"), (2, "c")]
    path.write_bytes(b"ok\n\xff\n")
    with pytest.raises(ValueError, match=r"t\.txt, line 2: invalid UTF-8"):
        list(read_lines(path))
    with pytest.raises(FileNotFoundError, match="no such evaluation file"):
        list(read_lines(tmp_path / "absent"))
