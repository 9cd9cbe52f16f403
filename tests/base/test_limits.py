"""How many cores and how much memory a process may use, in containers of both kinds of control groups."""

import os
import sys

import pytest

from muse.base import limits
from muse.base.optional import needed


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """Writes the files of control groups, of which this process is in ``/outer/inner``."""
    (tmp_path / "membership").write_text("3:cpuset:/\n0::/outer/inner\n")
    monkeypatch.setattr(limits, "_GROUPS", tmp_path)
    monkeypatch.setattr(limits, "_MEMBERSHIP", tmp_path / "membership")
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(16)), raising=False)

    def write(name, text):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    return write


def test_cores_are_those_that_the_process_is_bound_to(groups, monkeypatch):
    assert limits.usable_cores() == 16
    monkeypatch.delattr(os, "sched_getaffinity")
    assert limits.usable_cores() == os.cpu_count()


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"cpu.max": "max 100000\n"}, 16),
        ({"cpu.max": "200000 100000\n"}, 2),
        ({"cpu.max": "250000 100000\n"}, 3),
        ({"cpu.max": "5000 100000\n"}, 1),
        ({"cpu.max": "3200000 100000\n"}, 16),
        ({"cpu.max": "max 100000\n", "outer/cpu.max": "400000 100000\n", "outer/inner/cpu.max": "max 100000\n"}, 4),
        ({"outer/inner/cpu.max": "300000 100000\n", "outer/cpu.max": "400000 100000\n"}, 3),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 16),
        ({"cpu/cpu.cfs_quota_us": "150000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 2),
        ({"cpu.max": "no limit that is known\n"}, 16),
    ],
)
def test_cores_are_no_more_than_a_container_allows_time_for(groups, files, cores):
    for name, text in files.items():
        groups(name, text)
    assert limits.usable_cores() == cores


def test_memory_is_that_of_the_tightest_group(groups):
    assert limits.memory_limit() is None
    groups("memory.max", "max\n")
    assert limits.memory_limit() is None
    groups("outer/memory.max", "5000\n")
    groups("outer/inner/memory.max", "7000\n")
    assert limits.memory_limit() == 5000


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.delitem(sys.modules, "sklearn.metrics", raising=False)  # which another test may have imported
    with pytest.raises(
        ImportError, match=r"this needs scikit-learn; install it with: pip install 'muse-senses\[eval\]'"
    ):
        needed("sklearn.metrics", "this", "eval")
    with pytest.raises(ImportError, match=r"this needs scikit-learn; install it with: pip install scikit-learn$"):
        needed("sklearn", "this")
