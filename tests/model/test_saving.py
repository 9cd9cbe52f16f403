"""Saving: files appear whole or not at all, keep their mode, and hold only what can be loaded again."""

from __future__ import annotations

import os

import numpy as np
import pytest

from muse import MUSE
from muse.files import replacing as replacing_module
from muse.files import tensor_file
from muse.files.replacing import replacing
from toy import WORDS, toy_arrays, toy_model


def test_a_failed_save_leaves_the_old_file(saved, monkeypatch):
    old = saved.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tensor_file, "_write_rows", fail)
    with pytest.raises(OSError, match="No space left"):
        toy_model(seed=1).save(saved)
    assert saved.read_bytes() == old
    assert list(saved.parent.iterdir()) == [saved]


def has_no_nameless_files(*_, **__):
    raise OSError(95, "Operation not supported")


@pytest.mark.parametrize("nameless", [True, False])
def test_an_interrupted_write_leaves_nothing(tmp_path, nameless, monkeypatch):
    if not nameless:
        monkeypatch.setattr(replacing_module.os, "open", has_no_nameless_files)

    def write_half():
        with replacing(tmp_path / "m") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_named_is_copied(tmp_path, monkeypatch):
    monkeypatch.setattr(replacing_module.os, "link", has_no_nameless_files)
    with replacing(tmp_path / "m") as file:
        file.write(b"whole")
    assert (tmp_path / "m").read_bytes() == b"whole"
    assert len(list(tmp_path.iterdir())) == 1


def test_what_killed_writers_left_is_removed_and_living_ones_keep_theirs(tmp_path, monkeypatch):
    (tmp_path / ".m.0123456789ab.tmp").write_bytes(b"half")
    (tmp_path / ".other.0123456789ab.tmp").write_bytes(b"half")
    monkeypatch.delattr(replacing_module.os, "O_TMPFILE")
    with replacing(tmp_path / "m") as first:
        first.write(b"first")
        with replacing(tmp_path / "m") as second:
            second.write(b"second")
        assert (tmp_path / "m").read_bytes() == b"second"
    assert (tmp_path / "m").read_bytes() == b"first"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.0123456789ab.tmp", "m"]


def test_folders_are_not_overwritten(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; give the name of a file in it"):
        toy_model().save(tmp_path)
    with pytest.raises(FileNotFoundError, match="the folder does not exist; make it first"):
        toy_model().save(tmp_path / "no" / "m")


def test_a_link_stays_a_link(tmp_path, saved):
    link = tmp_path / "link"
    link.symlink_to(saved)
    toy_model(seed=1).save(link)
    assert link.is_symlink()
    np.testing.assert_array_equal(MUSE.load(saved).arrays.sense_vectors, toy_arrays(seed=1).sense_vectors)


def test_a_new_file_obeys_the_umask(tmp_path):
    if os.name != "posix":
        pytest.skip("permissions of POSIX")
    old = os.umask(0o027)
    try:
        toy_model().save(tmp_path / "m")
    finally:
        os.umask(old)
    assert (tmp_path / "m").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("way", ["nameless", "named", "copied"])
def test_a_file_that_is_replaced_keeps_its_mode(way, tmp_path, monkeypatch):
    if os.name != "posix":
        pytest.skip("permissions of POSIX")
    if way == "named":
        monkeypatch.delattr(replacing_module.os, "O_TMPFILE")
    elif way == "copied":
        monkeypatch.setattr(replacing_module.os, "link", has_no_nameless_files)
    for mode in (0o600, 0o640, 0o664):
        (tmp_path / "m").write_bytes(b"before")
        (tmp_path / "m").chmod(mode)
        with replacing(tmp_path / "m") as file:
            file.write(b"after")
        assert (tmp_path / "m").stat().st_mode & 0o777 == mode
        assert (tmp_path / "m").read_bytes() == b"after"


def test_a_file_that_may_not_be_written_stays(saved, monkeypatch):
    before = saved.read_bytes()
    saved.chmod(0o400)
    if os.access(saved, os.W_OK):  # root may write all
        monkeypatch.setattr(replacing_module.os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="is write-protected; make it writable, or give another name") as caught:
        toy_model(seed=1).save(saved)
    assert caught.value.filename == str(saved)
    with pytest.raises(PermissionError, match="is write-protected"):
        toy_model().tag_corpus(__file__, saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_words_that_are_not_text_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="holds a lone surrogate, which is not text"):
        toy_model(words=("\ud800", *WORDS[1:]))
    changed = toy_model()
    changed.vocabulary.words[0] = "\ud800"
    with pytest.raises(ValueError, match="holds a lone surrogate, which is not valid Unicode; decode the text"):
        changed.save(tmp_path / "m")


BROKEN = {
    "a word occurs twice": lambda m: m.vocabulary.words.__setitem__(0, m.vocabulary.words[1]),
    "its vocabulary does not have the right type or size": lambda m: m.vocabulary.words.append("z"),
    "impossible value of 'stage'": lambda m: m.training_state.update(stage="x"),
    "word_counts must not hold negative": lambda m: m.arrays.word_counts.__setitem__(0, -1),
    "sense_counts must not hold negative": lambda m: m.arrays.sense_counts.__setitem__(0, -1),
    "sense_offset must rise": lambda m: setattr(m.arrays, "sense_offset", m.arrays.sense_offset[::-1].copy()),
    "its history is not a list of rows": lambda m: m.history.append("note"),
    "holds a word that is no string": lambda m: m.vocabulary.words.__setitem__(0, 7),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_model_that_could_not_be_loaded_is_not_saved(what, tmp_path):
    model = MUSE([["head", "army", "tail"]] * 9, min_count=1, vector_size=4, epochs=1, workers=1)
    model.save(tmp_path / "m")
    before = (tmp_path / "m").read_bytes()
    BROKEN[what](model)
    with pytest.raises((ValueError, TypeError), match="the model is not saved.*" + what):
        model.save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == before
    assert len(MUSE.load(tmp_path / "m")) == 3
