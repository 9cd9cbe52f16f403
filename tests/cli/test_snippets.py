"""What the pages of the documentation show runs: each page's Python from top to bottom, and its commands.

A block that cannot run everywhere stands behind a comment ``<!-- needs ... -->``, which says what it needs. Pages
that need files or answers of their own have tests elsewhere, which `ELSEWHERE` names.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from command_lines import run

import muse
from muse import MUSE
from muse.datasets import make_ambiguous_corpus

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "docs").is_dir():
    pytest.skip("the documentation is not here: this is an installed package", allow_module_level=True)

PAGES = {
    path.relative_to(ROOT).as_posix(): path for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
}
BLOCK = re.compile(
    r"(?:<!-- needs (?P<needs>[^>]*) -->\n)?^```(?P<kind>python|sh|bash)\n(?P<code>.*?)^```", re.M | re.S
)
ELSEWHERE = {
    "docs/concordance.md": "tests/concordance/test_concordance_page.py",
    "docs/distributed.md": "tests/distributed/test_page_of_clusters.py",
    "docs/evaluation.md": "tests/evaluation/test_page.py",
    "docs/explorer.md": "tests/explorer/test_page_of_explorer.py",
    "docs/gensim.md": "tests/model/test_gensim_names.py",
    "docs/names.md": "tests/model/test_page_of_names.py",
    "docs/plots.md": "tests/plots/test_page_of_plots.py",
    "docs/reading-text.md": "tests/corpus/test_reading_page.py",
    "docs/tutorial.md": "tests/cli/test_command_page.py",
    "docs/web-service.md": "tests/whole/test_web_service.py",
    "docs/wordnet.md": "tests/lexicon/test_page_of_wordnet.py",
}
SETTING_UP = ("pip install ", "python3 -m venv ", ". .venv/bin/activate", "mkdocs ", "python -m ", "cmake ", "#")
EXTRAS = {
    "docs/how-to/scikit-learn.md": "sklearn", "docs/neighbours.md": "usearch", "docs/file-format.md": "safetensors",
}  # fmt: skip


def blocks(page: str, *kinds: str) -> list[tuple[str, str | None]]:
    """Code of the kinds, with what it needs that is not here."""
    found = BLOCK.finditer(PAGES[page].read_text(encoding="utf-8"))
    return [(match["code"], match["needs"]) for match in found if match["kind"] in kinds]


RUN_HERE = [page for page in PAGES if page not in ELSEWHERE and any(not needs for _, needs in blocks(page, "python"))]
SHELLS = [page for page in PAGES if blocks(page, "sh", "bash")]


@pytest.fixture
def folder(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that the pages name."""
    shutil.copytree(workspace / "chapters", workspace / "letters")
    shutil.copy(workspace / "ratings.csv", workspace / "wordsim353.csv")
    muse.load_vectors(workspace / "senses.vec").export(workspace / "senses.w2v", "sensegram")
    monkeypatch.chdir(workspace)
    return workspace


def text() -> list[list[str]]:
    """Sentences in which "banks" and "head" are, too."""
    other = {"rock": "head"}
    made = make_ambiguous_corpus(8000, 200, seed=0).sentences
    return [
        [("banks" if place % 3 == 0 and word == "bank" else other.get(word, word)) for word in words]
        for place, words in enumerate(made)
    ]


@pytest.mark.parametrize("page", RUN_HERE)
def test_the_python_of_a_page_runs(page, folder, capsys, monkeypatch):
    if page in EXTRAS:
        pytest.importorskip(EXTRAS[page])
    names: dict[str, Any] = {name: getattr(muse, name) for name in muse.__all__}
    small = {"vector_size": 16, "epochs": 1, "workers": 1}
    if page in ("docs/senses.md", "docs/formats.md"):
        names["sentences"] = text()
        names["model"] = MUSE(names["sentences"], **small)
        names["MUSE"] = lambda *given, **settings: MUSE(*given, **(small | settings))
    else:
        names["model"] = MUSE.load("model.safetensors")
    if page == "docs/formats.md":
        monkeypatch.setattr("warnings.warn", lambda *given, **named: None)
    for code, needs in blocks(page, "python"):
        if not needs:
            exec(compile(code, page, "exec"), names)
    assert not capsys.readouterr().err


@pytest.mark.parametrize("page", SHELLS)
def test_the_commands_of_a_page_run(page, folder):
    for code, needs in blocks(page, "sh", "bash"):
        for line in [] if needs else code.replace("\\\n", " ").splitlines():
            if line.startswith("muse "):
                done = run(line, folder)
                assert done.status == 0, done.err
            else:
                assert not line.strip() or line.startswith(SETTING_UP), f"{page}: {line} is run by no test"


def test_what_does_not_run_says_what_it_needs():
    needed = [needs for page in PAGES for _, needs in blocks(page, "python", "sh", "bash") if needs]
    assert all(len(needs) > 3 for needs in needed)
    assert len(needed) < 10


def test_tests_of_other_pages_are_there():
    for page, test in ELSEWHERE.items():
        assert blocks(page, "python")
        assert Path(page).name in (ROOT / test).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "benchmarks/README.md"])
def test_links_of_pages_outside_the_site_lead_somewhere(page):
    """Those of the site are checked where it is built."""
    links = re.findall(r"\]\(([^)\s#]+)", (ROOT / page).read_text(encoding="utf-8"))
    assert links
    gone = [link for link in links if "://" not in link and not (ROOT / page).parent.joinpath(link).exists()]
    assert not gone


def test_the_readme_is_a_screen():
    text = PAGES["README.md"].read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 80
    assert len(re.findall(r"```sh\n", text)) == 2
    (code,) = [code for code, _ in blocks("README.md", "python")]
    assert sum(bool(line) for line in code.splitlines()) == 6
