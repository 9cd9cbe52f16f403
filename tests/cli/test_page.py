"""docs/command-line.md: its commands run and print what it shows, apart from numbers and from which senses are near.

``python tests/cli/test_page.py`` writes what they print into the page.
"""

from __future__ import annotations

import re
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest
from command_lines import make_workspace, run

from muse.cli.main import program

PAGE = Path(__file__).resolve().parents[2] / "docs" / "command-line.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def printed(line: str, folder: Path) -> str:
    """What a terminal would show of a command: standard output, then the report that tag writes to standard error."""
    done = run(line, folder)
    assert done.status == 0, done.err
    return done.out + "".join(row + "\n" for row in done.err.splitlines() if ": note: " not in row)


def commands(block: str) -> list[str]:
    return [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]


def shape(text: str) -> list[str]:
    """Lines without what differs between machines and runs: numbers, senses, and words that are chosen by them."""
    lines = []
    for line in text.splitlines():
        if re.match(r"  (like|near|as in) ", line):
            line = line[:8]
        elif re.search(r"  bank  .*bank#\d 0\.", line):
            line = "a line of a concordance"
        line = re.sub(r"\w+#\d+\*?", "w#0", line)
        line = re.sub(r"-?\d[\d,.]*(e-\d+)?%?", "0", line)
        lines.append(re.sub(r"( w#0,?)+", " w#0", re.sub(r"\s+", " ", line)).strip())
    lines = [re.sub(r"^[a-z]+((?: -?0){5})$", r"a collocate\1", line) for line in lines]
    return [re.sub(r"^(w#0 0) [a-z, ]+$", r"\1", line) for line in lines]


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here: this is an installed package")
def test_the_page_shows_what_the_commands_print(workspace):
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) > 10
    for block in blocks:
        shown = "".join(f"$ {line}\n{printed(line, workspace)}" for line in commands(block))
        lines = 2 if "--tree" in block else None  # how many nodes a tree has differs between machines
        assert shape(shown)[:lines] == shape(block)[:lines]


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here: this is an installed package")
def test_the_page_has_every_command_and_its_toml_is_good(workspace):
    text = PAGE.read_text(encoding="utf-8")
    names = program.list_commands(program.make_context("muse", [], resilient_parsing=True))
    headings = " ".join(re.findall(r"(?m)^### (.*)$", text))
    missing = [name for name in names if name not in headings and name != "completion"]
    assert not missing
    (toml,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    tomllib.loads(toml)
    (workspace / "page.toml").write_text(toml)
    done = run("muse tag model.safetensors text.txt out --config page.toml", workspace)
    assert done.status == 0, done.err


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_workspace(folder)
        text = BLOCK.sub(
            lambda found: (
                "```console\n" + "".join(f"$ {line}\n{printed(line, folder)}" for line in commands(found[1])) + "```"
            ),
            PAGE.read_text(encoding="utf-8"),
        )
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
