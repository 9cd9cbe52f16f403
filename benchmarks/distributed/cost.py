"""Whether several machines pay: seconds of an epoch on one and on N of them, from what was measured on this package."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["CASES", "Cluster", "Cost", "Text", "cost", "table"]

# Measured on one core (benchmarks/distributed speed), in seconds of the processor, which others shared.
TOKENS_A_CORE = 2.7e6 * 100  # a second of the processor, times dimensions
TAKE, JOIN, APPLY = 1.4e-9, 1.7e-9, 0.9e-9  # seconds for a number of a changed row
COPY = 1e-9  # seconds for a byte that leaves a process and enters another, beside what the network takes
HOP = 0.02  # seconds from the end of a task to the beginning of one that needs it
TASK = 5e-4  # seconds that the scheduler has for a task
PIECES = 32  # into which changes are cut, at most
BYTES = 2.0  # of a number on its way
ROUNDS, FEW = 6, 3  # of an epoch; of two machines
THREADS = 0.8  # of a second core of the same process, on a text of many words


@dataclass(frozen=True)
class Cluster:
    """Machines, their cores, and the bandwidth between them in bytes a second."""

    machines: int
    cores: int
    bandwidth: float


@dataclass(frozen=True)
class Text:
    """Tokens, words and dimensions."""

    tokens: float
    words: float
    dim: int


@dataclass(frozen=True)
class Cost:
    """Seconds of an epoch on one machine and on all, and what combining takes of the latter; bytes that a machine
    sends in a round, and that its copies of the model take."""

    one: float
    all: float
    combining: float
    sent: float
    memory: float

    @property
    def gain(self) -> float:
        return self.one / self.all


def changed_rows(words: float, tokens: float) -> float:
    """Rows of both matrices that change while so many tokens are trained: all, but those of words not met."""
    met = words * (1 - math.exp(-2.0 * tokens / (words * math.log(words + 1))))
    return met + words * (1 - math.exp(-5.0 * tokens / words))


def cost(cluster: Cluster, text: Text) -> Cost:
    """One process a machine, with all its cores. Two machines send each other what they changed; of more, each sends a
    piece to each of some that put it together for all, and has the sums from these."""
    rounds = ROUNDS if cluster.machines > 2 else FEW
    speed = TOKENS_A_CORE / text.dim * (1 + THREADS * (cluster.cores - 1))
    one, n = text.tokens / speed, cluster.machines
    memory = 2 * text.words * text.dim * 4 * 2
    if n == 1:
        return Cost(one, one, 0.0, 0.0, memory / 2)
    numbers = changed_rows(text.words, text.tokens / n / rounds) * text.dim
    sent = numbers * BYTES
    if n == 2:
        ways, joins, hops, tasks = 1.0, 0.0, 1, 2
    else:
        pieces = min(n, PIECES)
        ways, joins, hops, tasks = 1.0 + n / pieces, n / pieces, 3, n * pieces + pieces
    computing = numbers * (TAKE + JOIN * joins + APPLY)
    a_round = computing + ways * sent * (1.0 / cluster.bandwidth + COPY) + hops * HOP + tasks * TASK
    return Cost(one, one / n + rounds * a_round, rounds * a_round, sent, memory)


GIGABIT = 125e6
CASES = (
    (Cluster(2, 1, 2e9), Text(8e6, 55e3, 100)),
    (Cluster(2, 1, 2e9), Text(40e6, 135e3, 100)),
    (Cluster(4, 4, 10 * GIGABIT), Text(40e6, 135e3, 100)),
    (Cluster(4, 16, 10 * GIGABIT), Text(1e9, 300e3, 100)),
    (Cluster(4, 16, GIGABIT), Text(1e9, 300e3, 300)),
    (Cluster(16, 16, 10 * GIGABIT), Text(1e9, 300e3, 300)),
    (Cluster(16, 16, 10 * GIGABIT), Text(10e9, 500e3, 300)),
    (Cluster(100, 16, 10 * GIGABIT), Text(10e9, 500e3, 300)),
    (Cluster(100, 16, 10 * GIGABIT), Text(100e9, 1e6, 300)),
    (Cluster(100, 16, 100 * GIGABIT), Text(100e9, 1e6, 300)),
)


def _time(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 100
        else f"{seconds / 60:.0f} min"
        if seconds < 6000
        else f"{seconds / 3600:.1f} h"
    )


def _number(value: float) -> str:
    return f"{value / 1e9:g}G" if value >= 1e9 else f"{value / 1e6:g}M" if value >= 1e6 else f"{value / 1e3:g}k"


def table() -> str:
    """The cases in Markdown."""
    names = (
        "machines × cores, bandwidth", "tokens, words, dimensions", "an epoch on one", "on all", "times as fast",
        "of it combining", "a machine sends a round", "matrices of a worker",
    )  # fmt: skip
    lines = ["| " + " | ".join(names) + " |", "| --- " * len(names) + "|"]
    for cluster, text in CASES:
        found = cost(cluster, text)
        lines.append(
            f"| {cluster.machines} × {cluster.cores}, {cluster.bandwidth * 8 / 1e9:g} Gbit/s "
            f"| {_number(text.tokens)}, {_number(text.words)}, {text.dim} | {_time(found.one)} | {_time(found.all)} "
            f"| {found.gain:.1f} | {found.combining / found.all:.0%} | {found.sent / 1e6:.0f} MB "
            f"| {found.memory / 1e9:.2g} GB |"
        )
    return "\n".join(lines)
