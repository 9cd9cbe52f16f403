"""tag_corpus and its files: no other file is lost, and a resumed call never writes a wrong one."""

from __future__ import annotations

import errno
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import muse.selector.tag_file
from toy import toy_model

TEXT = "the head army\nbank xyzzy the\n" * 50


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text"
    path.write_text(TEXT)
    return path


def stop(*_):
    raise KeyboardInterrupt


def interrupted(text, out, **options):
    """What a call leaves that is stopped after its first piece."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("muse.selector.tag_file._PIECE", 400)
        patch.setattr("muse.files.lines._CHUNK", 256)
        patch.setattr("muse.base.progress._Hidden.update", stop)
        with pytest.raises(KeyboardInterrupt):
            toy_model().tag_corpus(text, out, **options)


@pytest.mark.parametrize("ending", ["", ".partial", ".partial.json"])
@pytest.mark.parametrize("link", [None, os.symlink, os.link])
def test_the_input_is_never_written(ending, link, tmp_path):
    source = tmp_path / f"out{ending}"
    source.write_text(TEXT)
    if link is not None:
        link(source, tmp_path / "link")
        source = tmp_path / "link"
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ValueError, match=r"input and .* are the same file"):
        toy_model().tag_corpus(source, tmp_path / "out")
    assert sorted(tmp_path.iterdir()) == before
    assert source.read_text() == TEXT


@pytest.mark.parametrize("ending", [".partial", ".partial.json"])
def test_nothing_is_written_through_a_link(ending, text, tmp_path):
    (tmp_path / "precious").write_text("precious")
    (tmp_path / f"out{ending}").symlink_to(tmp_path / "precious")
    with pytest.raises(ValueError, match="is a link; remove it"):
        toy_model().tag_corpus(text, tmp_path / "out")
    (tmp_path / f"other{ending}").symlink_to(text)
    with pytest.raises(ValueError, match="are the same file"):
        toy_model().tag_corpus(text, tmp_path / "other")
    os.mkfifo(tmp_path / f"third{ending}")
    with pytest.raises(OSError, match="is not a regular file"):
        toy_model().tag_corpus(text, tmp_path / "third")
    assert (tmp_path / "precious").read_text() == "precious"
    assert text.read_text() == TEXT


def test_an_output_that_is_replaced_keeps_its_mode(text, tmp_path):
    (tmp_path / "out").write_text("before")
    (tmp_path / "out").chmod(0o600)
    toy_model().tag_corpus(text, tmp_path / "out")
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "out").read_text().startswith("the#0 head#")


def test_two_processes_do_not_write_one_output(text, tmp_path, monkeypatch):
    pytest.importorskip("fcntl", reason="the system has no locks")
    model, out = toy_model(), tmp_path / "out"
    update, errors = "muse.base.progress._Hidden.update", []
    code = f"""
import sys
sys.path.append({str(Path(__file__).parents[1])!r})
from toy import toy_model
try:
    toy_model().tag_corpus({str(text)!r}, {str(out)!r}, resume=True)
except BlockingIOError as error:
    print(error.filename, error.strerror)
"""

    def meanwhile(*_):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        errors.append(done.stdout + done.stderr)

    with monkeypatch.context() as patch:
        patch.setattr(update, meanwhile)
        model.tag_corpus(text, out)
    assert errors == [
        f"{out}.partial another process is writing this file; wait for it, or give the output another name\n"
    ]
    expected = out.read_bytes()
    model.tag_corpus(text, out)  # the lock is gone
    assert out.read_bytes() == expected


def test_a_lock_on_a_file_that_has_moved_is_none(tmp_path, monkeypatch):
    """One process ends between another's opening of the partial output and its lock."""
    fcntl = pytest.importorskip("fcntl", reason="the system has no locks")
    flock, partial = fcntl.flock, tmp_path / "out.partial"
    partial.write_text("whole")

    def late(file, how):
        if not (tmp_path / "out").exists():
            partial.rename(tmp_path / "out")
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with muse.selector.tag_file._alone(partial):
        assert not partial.samefile(tmp_path / "out")


def test_a_partial_output_that_is_replaced_is_not_taken(text, tmp_path, monkeypatch):
    def replace(*_):
        (tmp_path / "new").write_text("another")
        (tmp_path / "new").replace(tmp_path / "out.partial")

    monkeypatch.setattr("muse.base.progress._Hidden.update", replace)
    with pytest.raises(OSError, match="was replaced by another process"):
        toy_model().tag_corpus(text, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("change", ["shorter", "longer", "rewritten"])
def test_a_text_that_changes_meanwhile_is_not_taken(change, text, tmp_path, monkeypatch):
    def meanwhile(*_):
        if change == "shorter":
            os.truncate(text, 100)
        elif change == "longer":
            text.write_text(TEXT * 2)
        else:
            text.write_text(TEXT.upper())
            os.utime(text, ns=(0, 0))

    (tmp_path / "out").write_text("before")
    monkeypatch.setattr("muse.base.progress._Hidden.update", meanwhile)
    with pytest.raises(OSError, match="changed while it was tagged") as caught:
        toy_model().tag_corpus(text, tmp_path / "out")
    assert caught.value.filename == str(text)
    assert (tmp_path / "out").read_text() == "before"
    assert (tmp_path / "out.partial").exists()


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("ending", [".partial", ".partial.json"])
def test_files_of_others_beside_the_output_stay(ending, resume, text, tmp_path):
    theirs = tmp_path / f"out{ending}"
    theirs.write_text("precious")
    with pytest.raises((FileExistsError, ValueError), match=r"would be lost; remove it|is damaged; delete it"):
        toy_model().tag_corpus(text, tmp_path / "out", resume=resume)
    assert theirs.read_text() == "precious"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("left", ["both", "notes", "an empty output"])
def test_what_a_killed_call_left_is_ours(left, resume, text, tmp_path):
    out, partial, notes = tmp_path / "out", tmp_path / "out.partial", tmp_path / "out.partial.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("muse.selector.tag_file._note", stop)  # killed before it could note how far it had come
        interrupted(text, out)
    assert partial.stat().st_size > 0
    if left == "notes":
        partial.unlink()
    elif left == "an empty output":  # locked, and nothing else
        partial.write_bytes(b"")
        notes.unlink()
    toy_model().tag_corpus(text, out, resume=resume)
    toy_model().tag_corpus(text, tmp_path / "whole")
    assert out.read_bytes() == (tmp_path / "whole").read_bytes()
    assert not partial.exists()
    assert not notes.exists()


def test_notes_of_a_call_before_the_last_are_not_followed(text, tmp_path, monkeypatch):
    out, whole = tmp_path / "out", tmp_path / "whole"
    toy_model().tag_corpus(text, whole, margin=0.5)
    interrupted(text, out, margin=0.5)
    old = (tmp_path / "out.partial.json").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("muse.selector.tag_file._note", stop)  # as if it were killed
        interrupted(text, out)
    assert json.loads((tmp_path / "out.partial.json").read_text())["read"] == 0
    (tmp_path / "out.partial.json").write_bytes(old)  # a disk that lost the removal in a power cut
    with pytest.raises(ValueError, match=r"out\.partial has been changed"):
        toy_model().tag_corpus(text, out, margin=0.5, resume=True)
    toy_model().tag_corpus(text, out, margin=0.5)
    assert out.read_bytes() == whole.read_bytes()


def test_old_notes_go_before_the_old_output(text, tmp_path, monkeypatch):
    """They tell of nothing when the partial output is opened, so that no kill leaves both."""
    interrupted(text, tmp_path / "out")
    read = []

    def watched(path, mode, **options):
        if Path(path).name == "out.partial" and mode == "wb":
            read.append(json.loads((tmp_path / "out.partial.json").read_text())["read"])
        return open(path, mode, **options)

    monkeypatch.setattr("muse.selector.tag_file.open", watched, raising=False)
    toy_model().tag_corpus(text, tmp_path / "out")
    assert read == [0]


COUNTS = ["read", "written", "lines", "tokens", "tagged", "crc"]


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("value", [-7, 10**12, "7", 7.0, True, None, [], {}])
@pytest.mark.parametrize("forged", [False, True])
def test_notes_that_are_wrong_are_not_followed(name, value, forged, text, tmp_path):
    """Neither those that were changed, nor those that were made so with a checksum that fits."""
    out, notes = tmp_path / "out", tmp_path / "out.partial.json"
    interrupted(text, out)
    fields = json.loads(notes.read_text())
    fields[name] = value
    if forged:
        del fields["check"]
        fields["check"] = muse.selector.tag_file.fingerprint(fields)
    notes.write_text(json.dumps(fields))
    with pytest.raises(ValueError, match=r"is damaged; delete it|is missing or too short|has been changed"):
        toy_model().tag_corpus(text, out, resume=True)
    assert not out.exists()
    notes.unlink()
    with pytest.raises(FileExistsError, match="is no file that tag_corpus left") as caught:
        toy_model().tag_corpus(text, out, resume=True)
    assert caught.value.filename == f"{out}.partial"
    (tmp_path / "out.partial").unlink()
    toy_model().tag_corpus(text, out, resume=True)  # from the start
    toy_model().tag_corpus(text, tmp_path / "whole")
    assert out.read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("notes", [b"", b"{}", b"[" * 100_000, b"null", b'{"check": 3}', b"\xff", b"1" * 5000])
def test_notes_that_are_none(notes, text, tmp_path):
    interrupted(text, tmp_path / "out")
    (tmp_path / "out.partial.json").write_bytes(notes)
    with pytest.raises(ValueError, match="is damaged; delete it"):
        toy_model().tag_corpus(text, tmp_path / "out", resume=True)


def test_notes_of_more_than_a_compressed_text_holds(tmp_path):
    out, notes = tmp_path / "out", tmp_path / "out.partial.json"
    (tmp_path / "text.gz").write_bytes(gzip.compress(TEXT.encode()))
    interrupted(tmp_path / "text.gz", out)
    fields = {**json.loads(notes.read_text()), "read": 10**12}
    del fields["check"]
    notes.write_text(json.dumps({**fields, "check": muse.selector.tag_file.fingerprint(fields)}))
    with pytest.raises(ValueError, match="ends before the place where an earlier call stopped"):
        toy_model().tag_corpus(tmp_path / "text.gz", out, resume=True)
    assert not out.exists()


def test_an_output_too_large_for_the_disk_is_named(tmp_path):
    """A limit on the size of files stands in for a full disk: write() fails in the same way."""
    pytest.importorskip("resource", reason="the system has no limits")
    (tmp_path / "text").write_text(TEXT * 200)
    code = f"""
import resource, signal, sys
sys.path.append({str(Path(__file__).parents[1])!r})
import muse.selector.tag_file
from toy import toy_model
model = toy_model()
muse.selector.tag_file._PIECE = int(sys.argv[1])
muse.selector.tag_file._SAVE_SECONDS = float(sys.argv[2])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
try:
    model.tag_corpus({str(tmp_path / "text")!r}, {str(tmp_path / "out")!r}, resume=True)
except OSError as error:
    print(error.errno, error.filename)
"""
    toy_model().tag_corpus(tmp_path / "text", tmp_path / "whole")
    for piece, save, limit, name in [
        (1 << 22, 5, 100_000, "out.partial"),  # in write
        (3000, 5, 100_000, "out.partial"),  # in write or in flush, of a small piece
        (1 << 22, 5, 1, "out.partial"),
        (1000, -1, 100, "out.partial"),  # while noting
    ]:
        arguments = [sys.executable, "-c", code, str(piece), str(save), str(limit)]
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        assert done.stdout == f"{errno.EFBIG} {tmp_path / name}\n", done
    toy_model().tag_corpus(tmp_path / "text", tmp_path / "out", resume=True)
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("name", ["text", "out.partial.json"])
def test_errors_of_the_other_files_are_named_too(name, text, tmp_path, monkeypatch):
    def fails(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    if name == "text":
        monkeypatch.setattr("muse.selector.tag_file.read_chunks", fails)
    else:
        monkeypatch.setattr("muse.selector.tag_file._PIECE", 400)
        monkeypatch.setattr("muse.selector.tag_file._SAVE_SECONDS", -1)
        monkeypatch.setattr("muse.files.replacing._create", fails)
    with pytest.raises(OSError, match="Input/output error") as caught:
        toy_model().tag_corpus(text, tmp_path / "out")
    assert caught.value.filename == str(tmp_path / name)
