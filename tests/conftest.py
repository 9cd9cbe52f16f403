"""Fixtures for all tests."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def eval_data() -> Path:
    """The directory of evaluation data: ``$MUSE_DATA/eval`` or ``../shared/data/eval`` beside the repository."""
    named = os.environ.get("MUSE_DATA")
    root = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not (root / "eval").is_dir():
        pytest.skip(f"no evaluation data in {root / 'eval'}: set MUSE_DATA to the directory that holds eval/")
    return root / "eval"
