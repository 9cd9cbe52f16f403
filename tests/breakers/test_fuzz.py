"""Hostile files for every loader: the committed seeds and a few hundred changes of them.

``python -m tests.breakers.fuzz run`` goes on for as long as one likes, guided by coverage where atheris is installed.
"""

from __future__ import annotations

import pytest
from fuzz.__main__ import check_input, fuzz_randomly
from fuzz.loaders import LOADERS


@pytest.mark.parametrize("name", LOADERS)
def test_seeds_and_random_changes(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where a failing input is left
    outcomes = fuzz_randomly(name, lambda number: number < 150)
    assert sum(outcomes.values()) == 150


@pytest.mark.parametrize("name", LOADERS)
def test_seeds_are_valid_files(name, tmp_path):
    """Or fuzzing would not get beyond the first check."""
    outcomes = []
    for number, data in enumerate(LOADERS[name].seed_files(name)):
        folder = tmp_path / str(number)
        folder.mkdir()
        outcomes.append(check_input(name, data, folder))
    assert "loaded" in outcomes
