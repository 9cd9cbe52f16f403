"""Models that come as packages: found by entry points, and the one in this repository, where it lies."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

import click
import pytest

import muse
from muse import MUSE, ModelFileError
from muse.cli.kinds import WORD
from muse.cli.main import main
from muse.datasets import load_pretrained
from muse.integrations.pretrained import GROUP, PACKAGES
from toy import toy_model

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package that brings a model, as pip would install it."""
    package = tmp_path / "toy_senses"
    package.mkdir()
    toy_model().save(package / "toy.safetensors", dtype="int8")
    (package / "__init__.py").write_text(
        "from pathlib import Path\nMODEL = Path(__file__).with_name('toy.safetensors')\nNONE = None\n"
    )
    about = tmp_path / "toy_senses-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-senses\nVersion: 1\n")
    names = {
        "toy": "toy_senses:MODEL",
        "none": "toy_senses:NONE",
        "lost": "toy_senses:LOST",
        "gone": "gone_senses:MODEL",
    }
    lines = [f"{name} = {where}" for name, where in names.items()]
    (about / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines]))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield package
    sys.modules.pop("toy_senses", None)


@pytest.mark.parametrize("mmap", [False, True])
def test_a_package_that_is_installed_is_found(installed, mmap):
    model = load_pretrained("toy", mmap=mmap, workers=3)
    assert isinstance(model, MUSE)
    assert model.settings.workers == 3
    assert model.sense_vectors("head").shape == (3, 7)


@pytest.mark.parametrize("name", ["none", "lost", "gone"])
def test_a_damaged_package_is_named(installed, name):
    with pytest.raises(ModelFileError, match=rf"the pretrained model '{name}' \(toy-senses\) is damaged: .*install it"):
        load_pretrained(name)


def test_a_package_without_its_file(installed):
    (installed / "toy.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"toy\.safetensors"):
        load_pretrained("toy")


def test_what_is_missing_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [])
    for name, package in PACKAGES.items():
        with pytest.raises(ModuleNotFoundError, match=rf"install it with: pip install {package} .*pip install \./data"):
            load_pretrained(name)
    with pytest.raises(ModuleNotFoundError):
        load_pretrained()


@pytest.mark.parametrize("name", ["wiki-en-large", "", None, 3, "../wiki-en-small", ["wiki-en-small"]])
def test_other_names(name):
    with pytest.raises(ValueError, match=r"there is no pretrained model .*; there are .*'wiki-en-small'"):
        load_pretrained(name)


def test_a_command_takes_the_name_of_a_package_for_a_model(installed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for line in (["senses", "toy", "head"], ["neighbors", "toy", "head#0"]):
        assert main(line) == 0
        assert "head#0" in capsys.readouterr().out
    assert complete("toy", "he") == ["head"]
    toy_model(words=tuple("abcdefghi")).save(tmp_path / "toy")  # a file of that name comes first
    assert main(["senses", "toy", "head"]) == 1
    assert complete("toy", "he") == []


def complete(model: str, begun: str) -> list[str]:
    context = click.Context(click.Command("senses"))
    context.params["model"] = model
    return [item.value for item in WORD.shell_complete(context, click.Argument(["words"]), begun)]


def test_a_command_says_how_to_install_a_model(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [])
    monkeypatch.chdir(tmp_path)
    assert main(["info", "wiki-en-small"]) == 1
    assert "pip install muse-senses-wiki-en-small" in capsys.readouterr().err


def test_settings_that_are_of_the_model(installed):
    with pytest.raises(TypeError, match="'senses' is part of the model"):
        load_pretrained("toy", senses=2)


# -- the package in this repository ------------------------------------------------------------------------------------

in_repository = pytest.mark.skipif(
    not (DATA / "pyproject.toml").exists(), reason="the package of the model is not here"
)


@in_repository
def test_the_package_says_what_this_one_looks_for():
    described = tomllib.loads((DATA / "pyproject.toml").read_text(encoding="utf-8"))
    for name, where in described["project"]["entry-points"][GROUP].items():
        assert PACKAGES[name] == described["project"]["name"]
        module, _, attribute = where.partition(":")
        source = (DATA / module / "__init__.py").read_text(encoding="utf-8")
        assert re.search(rf'^{attribute} = .*"{name}\.safetensors"', source, re.MULTILINE)
        assert (DATA / module / f"{name}.safetensors").is_file()
    assert described["project"]["license"]["text"] == "CC-BY-SA-4.0"
    main = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "/data" in main["tool"]["scikit-build"]["sdist"]["exclude"]
    assert described["project"]["dependencies"][0].startswith(main["project"]["name"])


@in_repository
def test_the_model_in_this_repository():
    (path,) = DATA.glob("*/wiki-en-small.safetensors")
    assert path.stat().st_size < 15_000_000
    model = MUSE.load(path, mmap=True)
    about = json.loads(path.with_name("about.json").read_text(encoding="utf-8"))
    assert about["sizes"]["bytes"] == path.stat().st_size
    assert about["sizes"]["words"] == len(model) >= 19_500
    assert about["sizes"]["senses"] == model.arrays.n_senses
    river, money = "the river burst its bank and flooded the fields", "he took a loan from the bank to pay his debts"
    assert model.select_sense("bank", river) != model.select_sense("bank", money)
    for word in ("bank", "java", "crane", "mouse", "cell"):
        assert model.n_senses(word) > 1
    model.recut(senses=2)
    assert model.n_senses("bank") == 2
    page = (DATA / "README.md").read_text(encoding="utf-8")
    assert f"| bytes | {path.stat().st_size:,} |" in page


@in_repository
def test_it_is_not_in_the_main_package():
    assert not list(Path(muse.__file__).parent.rglob("wiki-en-small*"))
