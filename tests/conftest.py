"""Fixtures for all tests."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples each time, whatever the load, so that a failure is of the change under test;
# `pytest --hypothesis-profile=search` looks for new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.register_profile("search", deadline=None, database=None, print_blob=True)
settings.load_profile("repeatable")

# A shell that starts the tests in the background makes them ignore Ctrl-C, which some of them send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def eval_data() -> Path:
    """The directory of evaluation data: ``$MUSE_DATA/eval`` or ``../shared/data/eval`` beside the repository."""
    named = os.environ.get("MUSE_DATA")
    root = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not (root / "eval").is_dir():
        pytest.skip(f"no evaluation data in {root / 'eval'}: set MUSE_DATA to the directory that holds eval/")
    return root / "eval"
