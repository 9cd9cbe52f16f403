"""docs/command-line.md, docs/tutorial.md: their commands run and print what they show, apart from numbers and words.

``python tests/cli/test_command_page.py`` writes what they print into the pages.
"""

from __future__ import annotations

import re
import sys
import tempfile
import textwrap
import tomllib
from pathlib import Path

import pytest
from command_lines import make_workspace, run

from muse import MUSE
from muse.cli.main import program
from muse.datasets import make_ambiguous_corpus

PAGE = Path(__file__).resolve().parents[2] / "docs" / "command-line.md"
TUTORIAL = PAGE.with_name("tutorial.md")
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def printed(line: str, folder: Path) -> str:
    """What a terminal would show of a command: standard output, then the report that tag writes to standard error."""
    done = run(line, folder)
    assert done.status == 0, done.err
    return done.out + "".join(row + "\n" for row in done.err.splitlines() if ": note: " not in row)


def write_letters(folder: Path) -> None:
    """Prose as somebody's files hold it: capitals, points, broken lines, and one file from Windows."""
    letters = folder / "letters"
    letters.mkdir()
    sentences = [" ".join(words).capitalize() + "." for words in make_ambiguous_corpus(6000, 300, seed=2).sentences]
    for number in range(3):
        prose = textwrap.fill("“So it is,” he said. " + " ".join(sentences[2000 * number : 2000 * (number + 1)]), 72)
        encoding = "cp1252" if number == 1 else "utf-8"
        (letters / f"{1890 + number}.txt").write_bytes(prose.encode(encoding))


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
    lines = [re.sub(r"^[a-z]+((?: -?0){4} yes 0 0)$", r"a word\1", line) for line in lines]
    return [re.sub(r"^(w#0(?: 0| \(0 to 0\))+) [a-z, ]+$", r"\1", line) for line in lines]


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here: this is an installed package")
def test_the_page_shows_what_the_commands_print(workspace):
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) > 10
    for block in blocks:
        shown = "".join(f"$ {line}\n{printed(line, workspace)}" for line in commands(block))
        lines = 2 if "--tree" in block else None  # how many nodes a tree has differs between machines
        assert shape(shown)[:lines] == shape(block)[:lines]


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here: this is an installed package")
def test_the_tutorial_leads_to_a_page_of_senses(tmp_path, monkeypatch):
    text = TUTORIAL.read_text(encoding="utf-8")
    write_letters(tmp_path)
    for block in BLOCK.findall(text):
        shown = "".join(f"$ {line}\n{printed(line, tmp_path)}" for line in commands(block))
        assert shape(shown) == shape(block)
    page = (tmp_path / "senses.html").read_text(encoding="utf-8")
    assert all(word in page for word in ("river", "money", "rock", "spring"))
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    with pytest.warns(UserWarning, match=r"1891\.txt is not UTF-8"):
        exec(compile(code, "docs/tutorial.md", "exec"), {})
    assert MUSE.load("again.safetensors").n_senses("bank") == 2


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
    for page, make in ((PAGE, make_workspace), (TUTORIAL, write_letters)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make(folder)
            text = page.read_text(encoding="utf-8")
            page.write_text(BLOCK.sub(lambda found, at=folder: written(found[1], at), text), encoding="utf-8")


def written(block: str, folder: Path) -> str:
    """A block with what its commands print now."""
    return "```console\n" + "".join(f"$ {line}\n{printed(line, folder)}" for line in commands(block)) + "```"


if __name__ == "__main__":
    sys.exit(main())
