"""A few tries of each fault; ``python -m tests.breakers.faults run`` makes hundreds."""

from __future__ import annotations

import sys

import pytest

if sys.platform != "linux":
    pytest.skip("fork, RLIMIT_AS and /proc as Linux has them", allow_module_level=True)

from faults.__main__ import FAULTS, run_fault


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("name", FAULTS)
def test_fault(name):
    result = run_fault(name, tries=3, seed=0)
    assert result["failures"] == []
    assert sum(result["outcomes"].values()) >= 3
