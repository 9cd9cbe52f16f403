"""What installs the package says the same in each place: pyproject.toml, the workflows, the conda recipe."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import muse

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / ".github").exists():
    pytest.skip("the tests run away from the tree", allow_module_level=True)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WHEELS, TESTS, RECIPE = (
    (ROOT / path).read_text(encoding="utf-8")
    for path in (".github/workflows/wheels.yml", ".github/workflows/tests.yml", "conda/recipe.yaml")
)
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


def test_the_same_pythons_everywhere():
    assert PROJECT["project"]["requires-python"] == f">={PYTHONS[0]}"
    listed = [c.rpartition(" ")[2] for c in PROJECT["project"]["classifiers"] if re.search(r"Python :: 3\.\d+$", c)]
    assert listed == PYTHONS
    tags = [f"cp{version.replace('.', '')}-*" for version in PYTHONS]
    assert PROJECT["tool"]["cibuildwheel"]["build"] == [*tags, "cp314t-*"]
    quoted = ", ".join(f'"{version}"' for version in PYTHONS)
    assert f"python: [{quoted}]" in TESTS


@pytest.mark.parametrize("archs", ["x86_64", "aarch64", "universal2", "AMD64"])
def test_wheels_for_each_system(archs):
    assert re.search(rf"runner: \S+, archs: {archs}\b", WHEELS)


def test_the_recipe_needs_what_the_package_needs():
    name, version = PROJECT["project"]["name"], PROJECT["project"]["version"]
    assert f"  name: {name}\n" in RECIPE
    assert f'  version: "{version}"\n' in RECIPE
    run = RECIPE[RECIPE.index("  run:\n") : RECIPE.index("\ntests:")]
    assert set(re.findall(r"- (\S+) >=(\S+)", run)) == {
        ("python", PYTHONS[0]),
        *(tuple(needed.split(">=")) for needed in PROJECT["project"]["dependencies"]),
    }
    host = RECIPE[RECIPE.index("  host:\n") : RECIPE.index("  run:\n")]
    assert set(re.findall(r"- (\S+) >=(\S+)", host)) == {
        tuple(needed.split(">=")) for needed in PROJECT["build-system"]["requires"]
    }
    assert f"muse = {PROJECT['project']['scripts']['muse']}" in RECIPE


def test_the_oldest_packages_are_those_of_the_project(capsys):
    runpy.run_path(str(ROOT / ".github" / "oldest.py"))
    listed = capsys.readouterr().out.split()
    needed = [*PROJECT["build-system"]["requires"], *PROJECT["project"]["dependencies"]]
    assert listed == [item.replace(">=", "==") for item in needed]
    assert all("==" in item for item in listed)


def test_folders_that_the_workflows_test_are_there():
    command = PROJECT["tool"]["cibuildwheel"]["overrides"][0]["test-command"]
    folders = re.findall(r"\{project\}/(tests/\w+)", command) + re.findall(r" (tests/\w+)", TESTS)
    assert len(folders) > 5
    assert all((ROOT / folder).is_dir() for folder in folders)


def in_a_fresh_python(program: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_importing_muse_imports_little():
    """What few programs need is imported when it is asked for: that is a third of the time of `import muse`."""
    loaded = in_a_fresh_python("import sys, muse; print(*sys.modules)")
    ours = [name for name in loaded if name.partition(".")[0] == "muse"]
    later = "change cli concordance datasets evaluation explorer formats integrations lexicon plots".split()
    assert [name for name in ours if name.split(".")[1:2] and name.split(".")[1] in later] == []
    assert not {"email.message", "importlib.metadata", "sqlite3", "xml.etree.ElementTree"} & set(loaded)
    assert 50 < len(ours) < 150


def test_what_is_imported_later_is_there_when_asked_for():
    names = "align change concordance datasets evaluation formats integrations lexicon load_vectors plots".split()
    listed, *asked = in_a_fresh_python(
        f"import muse; print(set({names}) <= set(dir(muse))); [print(getattr(muse, name).__name__) for name in {names}]"
    )
    assert listed == "True"
    assert [name.removeprefix("muse.") for name in asked] == names
    assert in_a_fresh_python("from muse import *; print(KeyedVectors.__name__, LoadedVectors.__name__)") == [
        "KeyedVectors", "LoadedVectors",
    ]  # fmt: skip
    with pytest.raises(AttributeError, match="no attribute 'concordances'"):
        muse.concordances  # noqa: B018


def test_a_package_in_use_needs_no_optional_library():
    """Importing muse imports nothing that is not a dependency, and not even regex before text needs it."""
    others = "{'regex', 'pandas', 'sklearn', 'polars', 'pyarrow', 'click', 'rich', 'dask', 'distributed', 'fsspec'}"
    code = f"import sys, muse; print(*{others} & sys.modules.keys())"
    assert in_a_fresh_python(code) == []
