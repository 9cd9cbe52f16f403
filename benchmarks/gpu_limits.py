"""What a GPU could do at most, by counting: bytes and float operations a token, and the bounds that follow.

    python -m benchmarks.gpu_limits            # the table of docs/cuda.md

A *token* is one that subsampling keeps, of a word with `SENSES` senses. A *transfer* is a row of the model that is read
or written; a row that is added to and was read by the same kernel is one more, any other is two. Three cases are
counted: no row is found in a cache; a row that neighbouring tokens read at almost the same time is read once for all
of them; and, besides, the most used rows of a Zipfian text stay in the L2 cache, as many as it holds. The last is the
best that a cache can do, since it assumes that nothing else passes through it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchmarks.common import markdown_table

WORDS = 100_000
SENSES = 3
DIM = 300
NEGATIVE = 25
NEAR = 7.0  # mean number of words in a shrunk window of 5, the target among them
SAMPLE = 1e-4
ROW_PAD = 16
GOAL = 50.0  # million tokens a second on an H100, one collocate


class Device(NamedTuple):
    name: str
    bytes_per_second: float
    flops: float  # float32, outside the tensor cores
    l2: float


H100 = Device("H100", 3.35e12, 67e12, 50e6)
H200 = Device("H200", 4.8e12, 67e12, 50e6)


@dataclass(frozen=True)
class Case:
    """A way to train in the paper's setting."""

    name: str
    group: int = 1
    shared: int = 0  # negatives of a group
    all_collocates: bool = False
    train_context: bool = True
    number_bytes: int = 4  # of U and V on the device

    @property
    def pairs(self) -> float:
        """Pairs a target."""
        return NEAR - 1 if self.all_collocates else 1.0

    @property
    def columns(self) -> float:
        """Columns that a target is scored against."""
        if self.group == 1:
            return self.pairs * (1 + NEGATIVE)
        return self._collocates() + self.shared

    @property
    def collocation_rows(self) -> tuple[float, float]:
        """Rows of V a target, those of collocates and those of negatives; each is read and added to."""
        if self.group == 1:
            return self.pairs, self.pairs * NEGATIVE
        return self._collocates() / self.group, self.shared / self.group

    def _collocates(self) -> float:
        return self.group + (NEAR - 1 if self.all_collocates else 0)  # the group's positions, and those around them

    def flops(self) -> tuple[float, float]:
        """Float operations a token: those of the representation step, and of selection."""
        context = 2 * NEAR * DIM * (2 if self.train_context else 1)
        scores = 2 * SENSES * DIM * (2 if self.train_context else 1)
        return 6 * DIM * self.columns, context + scores + 2 * DIM

    def bytes_per_token(self, *, shared: bool = False, l2: float = 0.0) -> float:
        """Bytes that cross the memory bus for a token; `shared`: what neighbours read together is read once."""
        row = -(-DIM // ROW_PAD) * ROW_PAD
        wide, stored = 4 * row, self.number_bytes * row
        near = 1.0 if shared else NEAR
        collocates, negatives = self.collocation_rows
        streams = 2.0  # a context is written and read
        if self.train_context:
            streams += 1 + near  # its gradient is written, and gathered by the words around
        text, noise = _text_shares(), _noise_shares()
        # Bytes of rows that a token touches, by word; and what these rows take.
        context = wide * text * (near + (2 if self.train_context else 0))
        selection = wide * text * (SENSES * (2 if self.train_context else 1) + 2)
        sense = stored * text * 2
        collocation = stored * 2 * (text * collocates + noise * negatives)
        touched = np.concatenate([context, selection, sense, collocation])
        sizes = np.repeat([wide, SENSES * wide, SENSES * stored, SENSES * stored], WORDS).astype(float)
        order = np.argsort(-touched / sizes, kind="stable")
        beyond = np.cumsum(sizes[order]) > l2
        return float(wide * streams + touched[order][beyond].sum())

    def bound(self, device: Device, *, shared: bool = False, l2: bool = False) -> float:
        """Million tokens a second, of memory and arithmetic the lower."""
        memory = device.bytes_per_second / self.bytes_per_token(shared=shared, l2=device.l2 if l2 else 0.0)
        return min(memory, device.flops / sum(self.flops())) / 1e6


def _zipf() -> np.ndarray:
    share = 1.0 / np.arange(1, WORDS + 1)
    return np.asarray(share / share.sum())


def _text_shares() -> np.ndarray:
    """Of each word among the tokens that subsampling keeps."""
    share = _zipf()
    kept = share * np.minimum(1.0, np.sqrt(SAMPLE / share) + SAMPLE / share)
    return np.asarray(kept / kept.sum())


def _noise_shares() -> np.ndarray:
    """Of each word among negatives."""
    share = _zipf() ** 0.75
    return np.asarray(share / share.sum())


CASES = (  # with as many shared negatives as the package takes by default, but for the third
    Case("own negatives"),
    Case("16, 25 shared", group=16, shared=25),
    Case("32, 80 shared", group=32, shared=80),
    Case("16, 25, P fixed", group=16, shared=25, train_context=False),
    Case("16, 25, bfloat16", group=16, shared=25, number_bytes=2),
    Case("16, 80, all collocates", group=16, shared=80, all_collocates=True),
)


def _goal(case: Case) -> str:
    """The goal in percent of the three bounds of an H100."""
    bounds = (case.bound(H100), case.bound(H100, shared=True), case.bound(H100, shared=True, l2=True))
    return " / ".join(f"{100 * GOAL / bound:.0f}" for bound in bounds)


def table() -> str:
    """The bounds as the table in docs/cuda.md."""
    lines: list[tuple[str, list[str]]] = [
        ("pairs", [f"{case.pairs:.0f}" for case in CASES]),
        ("kB, no cache", [f"{case.bytes_per_token() / 1e3:.0f}" for case in CASES]),
        ("kB, neighbours share", [f"{case.bytes_per_token(shared=True) / 1e3:.0f}" for case in CASES]),
        ("kB, and the L2 holds 50 MB", [f"{case.bytes_per_token(shared=True, l2=50e6) / 1e3:.0f}" for case in CASES]),
        ("k float operations", [f"{sum(case.flops()) / 1e3:.0f}" for case in CASES]),
        ("bound by arithmetic", [f"{H100.flops / sum(case.flops()) / 1e6:,.0f}" for case in CASES]),
    ]
    for device in (H100, H200):
        lines += [
            (f"{device.name}: no cache", [f"{case.bound(device):.0f}" for case in CASES]),
            (f"{device.name}: neighbours share", [f"{case.bound(device, shared=True):.0f}" for case in CASES]),
            (f"{device.name}: and L2", [f"{case.bound(device, shared=True, l2=True):.0f}" for case in CASES]),
        ]
    lines.append((f"{GOAL:.0f} on an H100, % of these", [_goal(case) for case in CASES]))
    names = [case.name for case in CASES]
    rows = [{"a token": name, **dict(zip(names, cells, strict=True))} for name, cells in lines]
    return markdown_table(rows, ["a token", *names])


if __name__ == "__main__":
    print(table())
