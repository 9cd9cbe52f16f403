"""Exit statuses, messages, and files that stay whole."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from command_lines import run

import muse
from muse import MUSE
from muse.cli.output import Output

USAGE = {
    "muse tran": "there is no command 'tran': did you mean train?",
    "muse xyzzy": "there is no command 'xyzzy': they are",
    "muse train": "Missing argument 'CORPUS...'",
    "muse train text.txt": "Missing option '--save'",
    "muse train nowhere --save m --device cuda": "--device cuda is not available",
    "muse train table.csv --save m": "name the column, of 'year', 'text', that holds its text with --text-column",
    "muse senses model.safetensors bank --corpus table.csv": "with --text-column",
    "muse train text.txt --save m --windw 3": "No such option",
    "muse train text.txt --save m --senses 0": "senses must be",
    "muse train text.txt --save m --recipe forest": "recipe must be one of 'trees', 'split', 'paper'",
    'muse train text.txt --save m --recipe \'{"name": "trees", "leafs": 3}\'': "did you mean leaves?",
    "muse train text.txt --save m --resume": "name its folder with --checkpoint-dir",
    "muse tag model.safetensors text.txt out --margin 2": "margin must be a number from 0 to 1",
    "muse tag model.safetensors - - --resume": "a pipe leaves none",
    "muse tag - - out": "standard input can be read once",
    "muse senses model.safetensors bank -n 0": "topn must be at least 1",
    "muse neighbors senses.vec bank --context x": "--context needs a model",
    "muse similarity model.safetensors bank": "give two words or senses, or -; got 1",
    "muse concordance model.safetensors bank text.txt -o lines.txt": "name the format of lines.txt with --to",
    "muse concordance model.safetensors bank text.txt --sort size": "size",
    "muse concordance model.safetensors bank text.txt --index -": "the index is a file that is kept",
    "muse concordance - bank -": "standard input can be read once",
    "muse concordance model.safetensors bank x.muse-index text.txt": "stands for all of the text",
    "muse collocates model.safetensors bank text.txt --other rock --measure t": "--other compares by logdice, not by t",
    "muse name model.safetensors out.safetensors bank=river": "a name is given as SENSE=NAME",
    "muse name model.safetensors out.safetensors #1": "a name is given as SENSE=NAME",
    "muse name model.safetensors out.safetensors": "say which names",
    "muse name model.safetensors bank#1=river": "name the OUTPUT",
    "muse name model.safetensors bank#1=river bank#0=x": "name the OUTPUT",
    "muse name model.safetensors --names names.tsv": "name the OUTPUT",
    "muse name model.safetensors - bank#1=river --json": "nothing else can",
    "muse link model.safetensors bank --pos x": "x",
    "muse convert model.safetensors out": "name the format of out with --to",
    "muse convert model.safetensors out.vec -O binary": "an option of a format is NAME=VALUE",
    "muse convert model.safetensors": "name INPUT and OUTPUT",
    "muse convert senses.vec out --to muse": "vectors do not make a model",
    "muse convert model.safetensors - --to projector": "more than one file",
    "muse convert model.safetensors - --to sensegram": "more than one file",
    "muse convert senses.vec out.vec -I limit=x": "limit must be an integer",
    "muse convert senses.vec out.vec -O limit=3": "'limit' is no option to write the word2vec format",
    "muse convert model.safetensors out.vec -I limit=3": "a model of ours has no options to read",
    "muse evaluate wicc model.safetensors": "there is no command 'wicc': did you mean wic?",
    "muse --config muse.toml train": "No such option",
    "muse merge model.safetensors - --json": "the model goes to standard output",
    "muse settings sences": "did you mean senses?",
    "muse demo bank": "unexpected argument 'bank'",
    "muse evaluate wic model.safetensors WiC_dataset --how magic": "'magic' is not one of",
}
DATA = {
    "muse info nowhere": "nowhere: ",
    "muse info text.txt": "name it with --from, one of",
    "muse info ''": "the file must be a path",
    "muse train table.csv --text-column body --save m": "table.csv: the file has no column 'body'; it has",
    "muse train rows.jsonl --text-column text --save m": "row 1 of the table holds a int in 'text'",
    "muse train rows.jsonl --text-column year --save m": "year",
    "muse train nowhere.csv --save m": "nowhere.csv",
    "muse train windows.txt --save m": "or read it with --encoding cp1252",
    "muse neighbors model.safetensors ''": "the word '' is not in the vocabulary\n",
    "muse senses nowhere bank": "there is no file 'nowhere'",
    "muse senses model.safetensors bnak": "the nearest known spellings are",
    "muse neighbors model.safetensors bank#7": "bank",
    "muse neighbors model.safetensors xyzzy#0": "'xyzzy'",
    "muse select model.safetensors bank loan --position 3": "position",
    "muse similarity model.safetensors - < text.txt": "standard input, line 1: two words are expected",
    "muse concordance model.safetensors bnak text.txt": "'bnak' is not in the vocabulary",
    "muse concordance model.safetensors bank nowhere.txt": "nowhere.txt",
    "muse concordance model.safetensors bank nowhere.muse-index": "nowhere.muse-index",
    "muse concordance model.safetensors bank text.txt -o nowhere/out.csv": "the folder does not exist",
    "muse concordance model.safetensors bank text.txt --to csv -o text.txt.muse-index": "is what is to be read",
    "muse concordance model.safetensors bank text.txt --to csv -o text.txt": "is what is to be read",
    "muse collocates model.safetensors bank#900 text.txt --index x.muse-index": "bank",
    "muse name model.safetensors out.safetensors bnak#1=river": "bnak",
    "muse name model.safetensors out.safetensors bank#0=x bank#1=x": "bank",
    "muse name model.safetensors out.safetensors --names text.txt": "text.txt",
    "muse name model.safetensors model.safetensors bank#1=river": "is what is to be read",
    "muse link model.safetensors bank --lexicon nowhere/there": "nowhere/there",
    "muse link model.safetensors bnak --lexicon wordnet": "bnak",
    "muse train nowhere*.txt --save m": "no file matches this pattern",
    "muse train text.txt --save text.txt": "is what is to be read",
    "muse train empty --save m": "there is no file in this folder",
    "muse convert model.safetensors model.safetensors --to word2vec": "is what is to be read",
    "muse convert text.txt out.vec": "text.txt",
    "muse merge model.safetensors nowhere/out": "the folder does not exist",
    "muse evaluate scws model.safetensors text.txt": "text.txt, line 1",
    "muse evaluate analogies model.safetensors nowhere": "nowhere",
    "muse evaluate wic model.safetensors nowhere": "nowhere",
}


@pytest.mark.parametrize(
    ("line", "status", "message"),
    [*((line, 2, text) for line, text in USAGE.items()), *((line, 1, text) for line, text in DATA.items())],
)
def test_faults_are_one_line_and_a_status(line, status, message, workspace, monkeypatch):
    monkeypatch.setattr("muse.base.cuda.missing", lambda: "no CUDA device is visible here")
    (workspace / "table.csv").write_text("year,text\n1890,the bank of the river\n")
    (workspace / "rows.jsonl").write_text('{"text": "the bank", "year": 1890}\n{"text": 5}\n')
    (workspace / "empty").mkdir()
    (workspace / "windows.txt").write_bytes("naïve bank\n".encode("cp1252"))
    before = {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()}
    done = run(line, workspace)
    assert (done.status, done.out) == (status, "")
    assert message in done.err
    assert done.err.startswith("muse")
    assert done.err.count("\n") == 1
    assert {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("line", ["muse", "muse evaluate"])
def test_a_group_alone_shows_its_help(line, tmp_path):
    done = run(line, tmp_path)
    assert (done.status, done.out) == (2, "")
    assert done.err == run(f"{line} --help", tmp_path).out


@pytest.mark.parametrize("more", ["", "--by-word"])
def test_an_unknown_word_does_not_end_a_stream(more, made):
    given = b"bnak\nbank\nbank#7\nrock\n"
    done = run(["neighbors", "model.safetensors", "-", *more.split()], made, given)
    assert (done.status, done.err.count("\n")) == (1, 2)
    assert done.err.startswith("muse neighbors: the word 'bnak' is not in the vocabulary; the nearest known spellings")
    assert "rock" in done.out
    done = run(["neighbors", "model.safetensors", "-", "--json", *more.split()], made, given)
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert [row["of"] for row in answers if "error" in row] == ["bnak", "bank#7"]
    assert [row["of"].split("#")[0] for row in answers][-1] == "rock"
    assert done.status == 1


def test_an_unknown_word_of_a_pair_does_not_end_a_stream(made):
    given = b"bank\tbnak\nbank#7\trock\nbank\tmoney\n"
    done = run("muse similarity model.safetensors -".split()[1:], made, given)
    assert (done.status, done.err.count("\n"), done.out.count("\n")) == (1, 2, 1)
    assert done.out.startswith("bank\tmoney\t0.")
    done = run("muse similarity model.safetensors - --json".split()[1:], made, given)
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert [(row["first"], row["second"]) for row in answers] == [
        ("bank", "bnak"),
        ("bank#7", "rock"),
        ("bank", "money"),
    ]
    assert ["error" in row for row in answers] == [True, True, False]
    assert answers[0]["error"] in done.err


def test_the_place_of_a_fault_is_shown_on_demand(made, monkeypatch):
    line = "senses model.safetensors bnak"
    assert "Traceback" not in run(line.split(), made).err
    assert "Traceback" in run([*line.split(), "--debug"], made).err
    assert "Traceback" in run(["--debug", *line.split()], made).err
    monkeypatch.setenv("MUSE_DEBUG", "1")
    assert "Traceback" in run(line.split(), made).err


def test_a_fault_of_ours_is_a_line_too(made, monkeypatch):
    def broken(*args, **kwargs):
        raise ZeroDivisionError("so it goes")

    monkeypatch.setattr(MUSE, "load", broken)
    done = run(["senses", "model.safetensors", "bank"], made)
    assert done.status == 1
    assert done.err == "muse senses: internal fault (ZeroDivisionError: so it goes); MUSE_DEBUG=1 shows where\n"


def test_warnings_and_log_lines_are_notes(workspace):
    done = run("muse convert model.safetensors out.vec", workspace)
    assert done.err.startswith("muse convert: note: the word2vec format does not hold the selector")
    assert done.err.count("\n") == 1


def shell(line, folder, **options):
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(muse.__file__))}
    line = line.replace("muse ", f'"{sys.executable}" -m muse ')
    return subprocess.Popen(["bash", "-c", line], cwd=folder, env=environment, stderr=subprocess.PIPE, **options)


def test_nobody_reads_on(made):
    line = "set -o pipefail; muse settings --json | head -c 1 > /dev/null"
    with shell(f"{line}; exit ${{PIPESTATUS[0]}}", made) as process:
        assert process.stderr.read() == b""
    assert process.returncode in (0, 141)  # 0 where all was written before


def test_interrupted_training_leaves_the_model_of_before(workspace):
    before = (workspace / "model.safetensors").read_bytes()
    text = (workspace / "text.txt").read_text()
    (workspace / "text.txt").write_text(text * 20)
    line = "exec muse train text.txt --epochs 1000 --save model.safetensors --checkpoint-dir folder"
    with shell(line, workspace) as process:
        limit = time.monotonic() + 60
        while not (workspace / "folder" / "checkpoint.safetensors").exists() and time.monotonic() < limit:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        told = process.stderr.read()
    assert process.returncode == 130
    assert told.endswith(b"muse train: interrupted\n")
    assert b"Traceback" not in told
    assert (workspace / "model.safetensors").read_bytes() == before


def test_training_is_resumed(workspace):
    line = "muse train chapters --vector-size 8 --epochs 2 --workers 1 --seed 3 --checkpoint-dir folder --resume"
    assert run(f"{line} --save whole", workspace).status == 0  # no checkpoint is there, so this is from the start
    done = run(f"{line} --save again", workspace)
    assert done.status == 0, done.err
    assert (workspace / "again").read_bytes() == (workspace / "whole").read_bytes()
    other = run(f"{line.replace('--seed 3', '--seed 4')} --save other", workspace)
    assert other.status == 2
    assert "where seed is 3, not 4" in other.err
    assert not (workspace / "other").exists()


def test_words_are_no_commands_for_a_terminal(tmp_path, capsys, monkeypatch):
    words = ["a\x1b[31mb", "[/b]", "[red]x", "b\u202ec", "river", "money"]
    model = MUSE([words] * 30, vector_size=4, epochs=1, sample=0, workers=1, seed=1)
    model.save(tmp_path / "model.safetensors")
    (tmp_path / "text.txt").write_text(" ".join(words) + "\n")
    pair = f"{words[0]} river\n".encode()
    for line, given in (
        (["neighbors", "model.safetensors", words[0]], b""), (["neighbors", "model.safetensors", words[3]], b""),
        (["collocates", "model.safetensors", words[0], "text.txt"], b""),
        (["similarity", "model.safetensors", "-"], pair),
    ):  # fmt: skip
        done = run(line, tmp_path, given)
        assert done.status == 0
        assert "\x1b" not in done.out
        assert "\u202e" not in done.out
    assert r"a\x1b[31mb" in done.out
    monkeypatch.setattr(Output, "is_terminal", True)
    for word in words[1:3]:
        out = Output()
        out.table([{word: "x", "cosine": 1.0}], {word: "", "cosine": ".3f"}, title=word)
        assert capsys.readouterr().out.count(word) == 2
