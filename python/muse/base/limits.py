"""What this process may use of the machine: cores and memory, within the limits of its container."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["memory_limit", "usable_cores"]

_GROUPS = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")


def usable_cores() -> int:
    """How many threads of this process can run at once, at least 1.

    The cores of the machine, or those that the process is bound to (``taskset``), or fewer where the limit of a control
    group (``docker run --cpus=2``) allows less time than these would take.
    """
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux has it
        cores = os.cpu_count() or 1
    shares = [_share(folder) for folder in _groups()]
    return max(1, math.ceil(min([float(cores), *shares])))


def memory_limit() -> int | None:
    """The bytes that the control group of this process may take; None where there is no such limit."""
    limits = [int(text) for folder in _groups() if (text := _read(folder / "memory.max")).isdecimal()]
    return min(limits, default=None)


def _groups() -> Iterator[Path]:
    """The folders of this process's control group and of those above it; in a container, that of the root alone."""
    folder = _GROUPS
    yield folder
    for line in _read(_MEMBERSHIP).splitlines():
        if line.startswith("0::"):  # version 2
            for part in Path(line[3:]).parts[1:]:
                folder /= part
                yield folder
    yield _GROUPS / "cpu"  # version 1


def _share(folder: Path) -> float:
    """The cores' worth of time of a control group."""
    quota, _, period = _read(folder / "cpu.max").partition(" ")
    if not quota:
        quota, period = _read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us")
    return int(quota) / int(period) if quota.isdecimal() and period.isdecimal() and int(period) else math.inf


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
