"""docs/reliability.md says what is so: each error of its table is raised with that message, each command exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from faults.__main__ import FAULTS, table
from faults.record import read_results

from error_cases import CASES

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "reliability.json"
PAGE = ROOT / "docs" / "reliability.md"
if not PAGE.exists():
    pytest.skip("the tests run away from the tree", allow_module_level=True)
TEXT = PAGE.read_text(encoding="utf-8")
ROWS = {
    name: (kind, message.replace("\\|", "|"))
    for name, kind, message in re.findall(r"^\| ([^|]+) \| `(\w+(?:Error))` \| (.+) \|$", TEXT, re.MULTILINE)
}


def test_the_table_and_the_cases_are_the_same():
    assert list(ROWS) == list(CASES)


@pytest.mark.parametrize("name", CASES)
def test_errors_are_those_of_the_table(name, tmp_path):
    kind, message = ROWS[name]
    pattern = ".*".join(map(re.escape, message.split("…")))
    with pytest.raises(Exception, match=f"^{pattern}$") as caught:
        CASES[name](tmp_path)
    assert caught.type.__name__ == kind
    assert not (tmp_path / "no").exists()


def test_the_table_of_faults_is_that_of_the_results():
    rows = read_results(RESULTS)["faults"]
    assert table(rows) in TEXT
    assert [row["fault"] for row in rows] == list(FAULTS)
    assert all(row["failures"] == [] for row in rows)


def test_the_long_run_is_that_of_the_results():
    run = read_results(RESULTS)["soak"]
    assert run["seconds"] >= 3600
    assert (
        f"{run['cycles']:,} cycles, {run['tokens']:,} tokens, all accounted for; memory {run['resident_mb']:g} MB, "
        f"at most {run['largest_growth_mb']:g} MB more than after six cycles; "
        f"{run['open_files']} open files from first to last"
    ) in TEXT.replace("\n", " ")


def test_commands_of_the_page_name_modules_that_are_there():
    for module in re.findall(r"python -m (tests[.\w]*)", TEXT):
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists()
