"""Command lines as a shell runs them, but in this process; and a folder of files for the examples of help and docs."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

from dictionaries import write_princeton
from muse.cli.main import main
from muse.datasets import make_ambiguous_corpus

WORDS = ("bank", "spring", "rock", "cell")


class Done:
    """What a line of a shell did: exit status of its last part, and what went to standard output and error."""

    def __init__(self, status: int, out: bytes, err: str) -> None:
        self.status, self.bytes, self.err = status, out, err

    @property
    def out(self) -> str:
        return self.bytes.decode()


def run(line: str | list[str], folder: Path, given: bytes = b"") -> Done:
    """Run ``a | muse ... < file > file``; parts that are not muse are processes."""
    if isinstance(line, list):
        return _muse(line, folder, given)
    told, parts = "", _parts(line)
    for words, source, target in parts:
        if source is not None:
            given = (folder / source).read_bytes()
        if words[0] == "muse":
            done = _muse(words[1:], folder, given)
            told += done.err
        else:
            process = subprocess.run(words, cwd=folder, input=given, capture_output=True, check=False)
            done = Done(process.returncode, process.stdout, process.stderr.decode())
        given = done.bytes
        if target is not None:
            (folder / target).write_bytes(given)
            given = b""
    return Done(done.status, given, told)


def _parts(line: str) -> list[tuple[list[str], str | None, str | None]]:
    """Each part of a pipeline: its words, and the files that < and > name."""
    parts: list[tuple[list[str], str | None, str | None]] = []
    for part in _split(_tokens(line), "|"):
        words, files = [], {"<": None, ">": None}
        tokens = iter(part)
        for token in tokens:
            if token in files:
                files[token] = next(tokens)
            else:
                words.append(token)
        parts.append((words, files["<"], files[">"]))
    return parts


def _tokens(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|<>")
    lexer.commenters, lexer.whitespace_split = "", True  # of bank#0 all is a word
    return list(lexer)


def _split(tokens: list[str], mark: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token == mark:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _muse(arguments: list[str], folder: Path, given: bytes) -> Done:
    (folder / ".given").write_bytes(given)
    out, err = io.BytesIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        open(".given", encoding="utf-8") as source,
        io.TextIOWrapper(out, encoding="utf-8", newline="\n") as target,
        mock.patch.object(sys, "stdin", source),
        mock.patch.object(sys, "stdout", target),
        mock.patch.object(sys, "stderr", err),
    ):
        kept = os.dup(0)
        os.dup2(source.fileno(), 0)
        try:
            status = main(arguments)
        finally:
            os.dup2(kept, 0)
            os.close(kept)
        target.flush()
        found = out.getvalue()
    (folder / ".given").unlink()
    return Done(status, found, err.getvalue())


def make_workspace(folder: Path) -> None:
    """Files of the names that the examples use."""
    sentences = [" ".join(words) for words in make_ambiguous_corpus(6000, 300, seed=2).sentences]
    (folder / "text.txt").write_text("".join(line + "\n" for line in sentences), encoding="utf-8")
    (folder / "more.txt.gz").write_bytes(gzip.compress("".join(line + "\n" for line in sentences[:800]).encode()))
    (folder / "chapters").mkdir()
    for number in (1, 2):
        (folder / "chapters" / f"{number}.txt").write_text("".join(line + "\n" for line in sentences[:400]))
    write_slices(folder)
    (folder / "muse.toml").write_text(TOML)
    (folder / "words.txt").write_text("bank\t628\nspring\t604\n")
    (folder / "pairs.tsv").write_text("bank\tmoney\nrock\tguitar\n")
    (folder / "ratings.csv").write_text("word1,word2,score\n" + RATINGS)
    (folder / "ratings.txt").write_text(SCWS)
    (folder / "questions-words.txt").write_text(": capitals\nbank money rock guitar\nbank loan spring rain\n")
    (folder / "questions.txt").write_text("bank | loan | guitar | cell | wheel\nrock | guitar | loan | cell | wheel\n")
    for part in ("dev", "train", "test"):
        (folder / "WiC_dataset" / part).mkdir(parents=True)
        (folder / "WiC_dataset" / part / f"{part}.data.txt").write_text(WIC)
        (folder / "WiC_dataset" / part / f"{part}.gold.txt").write_text("F\nT\nF\n")
    (folder / "contexts.tsv").write_text(CONTEXTS)
    (folder / "toefl.qst").write_text("1.\tbank\na.\tloan\nb.\tguitar\nc.\tsong\nd.\tboat\n")
    (folder / "toefl.ans").write_text("1 (a,a,-) 1 a\n")
    semeval = folder / "semeval2013_task13"
    for part in ("contexts/xml-format", "keys/gold"):
        (semeval / part).mkdir(parents=True)
    (semeval / "contexts" / "xml-format" / "bank.n.xml").write_text(XML)
    (semeval / "keys" / "gold" / "all.key").write_text("bank.n bank.n.1 b%1/4\nbank.n bank.n.2 b%2/4\n")
    options = "--vector-size 32 --workers 1 --epochs 4 --senses 2 --save model.safetensors"
    assert run(f"muse train text.txt {options}", folder).status == 0
    assert run("muse convert model.safetensors senses.vec", folder).status == 0
    assert run("muse name model.safetensors named.safetensors bank#0=money bank#1=river", folder).status == 0
    (folder / "names.tsv").write_text("bank#1\triver\nrock#0\tstone\n")
    write_princeton(folder / "wordnet")
    for name in ("1900s", "2000s"):
        shutil.copy(folder / "model.safetensors", folder / f"{name}.safetensors")


def write_slices(folder: Path) -> None:
    """Texts in which bank and cell change: of two times, and as a table with years."""
    corpus = make_ambiguous_corpus(8000, 300, seed=0, n_senses=2)
    slices: tuple[list[str], list[str]] = ([], [])
    for number, (words, senses) in enumerate(zip(corpus.sentences, corpus.true_senses, strict=True)):
        said = [sense for word, sense in zip(words, senses, strict=True) if word in ("bank", "cell") and sense >= 0]
        usual = number % 2 if not said else said[0] if number % 10 else 1 - said[0]
        slices[usual].append(" ".join(words))
    rows = ["year,text"]
    for start, name, lines in ((1800, "1900s", slices[0]), (1850, "2000s", slices[1])):
        (folder / f"{name}.txt").write_text("".join(line + "\n" for line in lines))
        rows += [f"{start + place % 50},{line}" for place, line in enumerate(lines[:2000])]
    (folder / "letters.csv").write_text("\n".join(rows) + "\n")


TOML = """\
vector_size = 16
epochs = 2
workers = 1

[recipe]
name = "trees"
leaves = 6

[tag]
margin = 0.2
"""
RATINGS = """\
bank,money,7.5
bank,loan,8
rock,guitar,6
rock,wheel,1
spring,rain,5
cell,money,0.5
"""
WIC = """\
bank\tN\t2-2\tmoney in bank loan\tthe river bank water
bank\tN\t2-1\tloan stock bank money\tmoney bank deposit
rock\tN\t1-1\tguitar rock song\tstone rock mountain
"""
SCWS = "\n".join(
    f"{number}\t{one}\tn\t{other}\tn\t{before} <b> {one} </b> .\tthe <b> {other} </b> here" + f"\t{rating}" * 11
    for number, one, other, before, rating in (
        (1, "bank", "money", "a loan of the", 7.5),
        (2, "rock", "guitar", "a song of", 6.0),
        (3, "cell", "rain", "the prison", 1.0),
    )
) + "\n"  # fmt: skip
CONTEXTS = "context_id\tword\tgold_sense_id\tpredict_sense_id\tpositions\tcontext\n" + "".join(
    f"{number}\tbank\t{sense}\t\t{text.index('bank')}-{text.index('bank') + 4}\t{text}\n"
    for number, (sense, text) in enumerate(
        [("money", "the loan of the bank"), ("money", "a bank account"), ("river", "the river bank water")] * 2
    )
)
XML = '<?xml version="1.0" encoding="UTF-8"?>\n<instances lemma="bank" partOfSpeech="n">\n' + "".join(
    f'<instance id="bank.n.{number}" lemma="bank" partOfSpeech="n" token="bank" tokenStart="{text.index("bank")}" '
    f'tokenEnd="{text.index("bank") + 4}">{text}</instance>\n'
    for number, text in ((1, "a loan of the bank"), (2, "the stream and its bank"))
) + "</instances>\n"  # fmt: skip
