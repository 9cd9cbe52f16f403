"""What a shell is told when it asks how a line can go on."""

from __future__ import annotations

import pytest
from command_lines import run


def told(monkeypatch, folder, words, incomplete):
    """The answers to bash, of kind and value."""
    monkeypatch.setenv("_MUSE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", f"muse {words} {incomplete}".rstrip() if incomplete else f"muse {words}")
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) + 1))
    done = run([], folder)
    monkeypatch.delenv("_MUSE_COMPLETE")
    assert (done.status, done.err) == (0, "")
    return [tuple(line.split(",", 1)) for line in done.out.splitlines() if line]


def test_commands_and_options(made, monkeypatch):
    assert told(monkeypatch, made, "", "tra") == [("plain", "train")]
    assert ("plain", "--context") in told(monkeypatch, made, "senses", "--")
    assert told(monkeypatch, made, "evaluate", "w") == [("plain", "wic")]
    assert told(monkeypatch, made, "convert --to", "par") == [("plain", "parquet")]


def test_files_and_words_of_the_model(made, monkeypatch):
    assert told(monkeypatch, made, "senses", "mo") == [("file", "mo")]
    words = [word for _, word in told(monkeypatch, made, "senses model.safetensors", "ban")]
    assert "bank" in words
    assert all(word.startswith("ban") for word in words)
    assert told(monkeypatch, made, "senses nowhere", "ban") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_what_makes_a_shell_ask(made, shell):
    done = run(["completion", shell], made)
    assert done.status == 0
    assert f"_MUSE_COMPLETE={shell}_complete" in done.out
