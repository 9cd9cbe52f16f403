"""tag_corpus and its files: no other file is lost, and a resumed call never writes a wrong one."""

from __future__ import annotations

import os

import pytest

from toy import toy_model

TEXT = "the head army\nbank xyzzy the\n" * 50


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text"
    path.write_text(TEXT)
    return path


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
