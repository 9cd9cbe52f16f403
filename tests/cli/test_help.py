"""Help fits a screen, says what there is, and its examples work."""

from __future__ import annotations

import sys

import click
import pytest
from command_lines import run

from muse.cli.command import Helpful
from muse.cli.main import program

COLUMNS, LINES = 100, 40


def commands(command, context, path="muse"):
    """Every command with its name and its context."""
    yield path, command, context
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        inner = command.get_command(context, name)
        yield from commands(
            inner, inner.make_context(name, [], parent=context, resilient_parsing=True), f"{path} {name}"
        )


ROOT = program.make_context("muse", [], resilient_parsing=True)
ALL = {path: command for path, command, _ in commands(program, ROOT)}
EXAMPLES = [(path, example) for path, command in ALL.items() for example in command.examples]


@pytest.mark.parametrize("path", ALL)
def test_help_is_a_screen_with_an_example(path, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    done = run([*path.split()[1:], "--help"], tmp_path)
    lines = done.out.splitlines()
    assert done.status == 0
    assert lines[0].startswith(f"Usage: {path} ")
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= COLUMNS
    command = ALL[path]
    assert isinstance(command, Helpful)
    assert len(command.summary) <= 85
    assert path == "muse" or command.examples
    for example in command.examples:
        assert example in done.out
        assert path in example


@pytest.mark.parametrize("path", ALL)
def test_help_is_readable_on_a_narrow_screen(path, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    done = run([*path.split()[1:], "-h"], tmp_path)
    examples = [line for command in ALL.values() for line in command.examples]
    assert max(len(line) for line in done.out.splitlines() if line.strip() not in examples) <= 80


@pytest.mark.parametrize(("path", "example"), EXAMPLES, ids=[example for _, example in EXAMPLES])
def test_examples_of_help_run(path, example, workspace, monkeypatch):
    monkeypatch.setattr(sys.modules["muse.cli.commands.demo"], "SENTENCES", 3000)
    if ".parquet" in example:
        pytest.importorskip("pyarrow")
    done = run(example, workspace)
    assert done.status == 0, done.err
    assert "Traceback" not in done.err
    assert done.bytes or ">" in example


def test_the_commands_are_all_listed(tmp_path):
    out = run(["--help"], tmp_path).out
    for name in program.list_commands(ROOT):
        assert f"\n  {name} " in out
