"""The soak, shortened; ``python -m tests.breakers.soak`` runs for an hour."""

from __future__ import annotations

import sys

import pytest

from muse.data.training_state import SUMS
from muse.training.epochs import EpochTotals

if sys.platform != "linux":
    pytest.skip("reads /proc", allow_module_level=True)

from soak import soak


def test_memory_files_and_threads_stay_what_they_were():
    report = soak(cycles=10)
    assert report["cycles"] == 10
    assert report["tokens"] > 10 * 2 * 5000


def test_totals_beyond_32_bits_are_exact():
    totals = EpochTotals(2)
    stats = {**dict.fromkeys(SUMS, 0), "tokens": 2**31 + 1, "pairs": 2**33 + 1, "sense_use": 0}
    for _ in range(1000):
        totals.add(stats)
    assert totals.sums["tokens"] == 1000 * (2**31 + 1)
    assert totals.sums["pairs"] == 1000 * (2**33 + 1)
