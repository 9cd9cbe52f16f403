"""`muse tag` in pipelines: standard input and output, pipes and devices."""

from __future__ import annotations

import bz2
import gzip
import os
import subprocess
import sys
import threading

import pytest

import muse
from toy import toy_model

TEXT = "the head army\nbank xyzzy the\n" * 500
REPORT = b"tagged    "


@pytest.fixture
def model(tmp_path):
    toy_model().save(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text"
    path.write_text(TEXT)
    return path


@pytest.fixture
def expected(text, tmp_path):
    toy_model().tag_corpus(text, tmp_path / "expected")
    return (tmp_path / "expected").read_bytes()


def run(line, folder, **options):
    """What a shell does with a line in which `muse` is the command line of this package."""
    path = os.pathsep.join([os.path.dirname(os.path.dirname(muse.__file__)), os.environ.get("PYTHONPATH", "")])
    line = line.replace("muse ", f'"{sys.executable}" -m muse ')
    return subprocess.run(line, shell=True, cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True,
                          timeout=60, **options)  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "cat text | muse tag model - -",
        "muse tag model - - < text",
        "muse tag model - - < text | cat",
        "muse tag model text - | cat",
        "muse tag model text -",
        "muse tag model text /dev/stdout | cat",
        "muse tag model /dev/stdin /dev/stdout < text | cat",
        "cat text | muse tag model /dev/stdin - | cat",
        "muse tag model text /dev/fd/1 | cat",
    ],
)
def test_text_goes_through_and_the_count_to_standard_error(line, model, text, expected, tmp_path):
    done = run(line, tmp_path)
    assert done.stdout == expected
    assert done.stderr.startswith(REPORT)
    assert done.returncode == 0
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize("source", ["-", "/dev/stdin"])
@pytest.mark.parametrize(
    ("target", "opener"), [("out", lambda b: b), ("out.gz", gzip.decompress), ("out.bz2", bz2.decompress)]
)
def test_standard_input_to_a_file(source, target, opener, model, text, expected, tmp_path):
    done = run(f"cat text | muse tag model {source} {target}", tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(REPORT)
    assert opener((tmp_path / target).read_bytes()) == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["expected", "model", "text", target])


def test_a_line_is_tagged_when_it_comes(model, tmp_path):
    """As behind `tail -f`: without waiting for more."""
    path = os.path.dirname(os.path.dirname(muse.__file__))
    with subprocess.Popen([sys.executable, "-m", "muse", "tag", str(model), "-", "-"], stdin=subprocess.PIPE, bufsize=0,
                          stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}) as process:  # fmt: skip
        timer = threading.Timer(60, process.kill)
        timer.start()
        for line in (b"the army\n", b"xyzzy head\n"):
            process.stdin.write(line)
            assert process.stdout.readline().replace(b"#0", b"").replace(b"#1", b"").replace(b"#2", b"") == line
        process.stdin.write(b"the end without a newline, army")
        process.stdin.close()
        assert process.stdout.readline().startswith(b"the#")
        assert process.wait() == 0
        timer.cancel()


def test_pipes_and_devices_are_written_by_python_too(text, expected, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    report = toy_model().tag_corpus(text, pipe)
    reader.join()
    assert read == [expected]
    assert report == toy_model().tag_corpus(text, os.devnull)
    assert report.tokens == 3000
    with pytest.raises(ValueError, match="is a pipe or a device; resume needs a file"):
        toy_model().tag_corpus(text, os.devnull, resume=True)


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ("muse tag model - - --resume < text", 2, b"--resume goes on with a file"),
        ("printf 'ok\\n\\377 x\\n' | muse tag model - -", 1, b"standard input, line 2: invalid UTF-8 (byte 0xff)"),
        ("muse tag model nowhere -", 1, b"no such file"),
        ("muse tag model - - --margin 7 < text", 2, b"margin must be a number from 0 to 1"),
        ("muse tag model - nowhere/out < text", 1, b"the folder does not exist"),
        ("muse tag model - - < text <&-", 1, b"standard input is closed"),
        ("muse tag model text - >&-", 1, b"standard output is closed"),
    ],
)
def test_what_cannot_be_done_is_said(line, status, said, model, text, tmp_path):
    done = run(line, tmp_path)
    assert done.returncode == status
    assert said in done.stderr
    assert b"Traceback" not in done.stderr


def test_nobody_reads_on(model, tmp_path):
    (tmp_path / "text").write_text(TEXT * 200)
    done = run("muse tag model text - | head -n 1", tmp_path)
    assert done.stdout.count(b"\n") == 1
    assert b"Traceback" not in done.stderr
