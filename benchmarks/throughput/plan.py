"""What the command runs: which systems, with which settings, on how much text. All of it takes about 15 minutes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.throughput.rounds import Planned
from benchmarks.throughput.systems import OURS, REFERENCE, RUNNERS

SETTINGS = [(100, 5), (300, 25)]  # dimension and negatives
TOKENS = 500_000  # of the text, with the first of these settings
PAPER = ("muse, paper's recipe", "muse, paper's recipe, shared negatives", "muse, senses that are trained")
SCALED = ("muse, one sense, negatives of each pair", "muse, one sense, shared negatives", REFERENCE)
SWEEPS: dict[str, list[int]] = {
    "vector_size": [50, 100, 200, 300],
    "senses": [1, 2, 3, 5],
    "negative": [1, 5, 15, 25],
    "window": [2, 5, 10],
}
QUICK: dict[str, Any] = {  # what the command runs with --quick, unless its other options say otherwise
    "limit_tokens": 400_000,
    "repeats": 2,
    "parts": ["table", "scaling", "tagging"],
    "systems": [
        "muse, one sense, negatives of each pair", "muse, one sense, shared negatives", "muse, default recipe",
        REFERENCE, "word2vec.c, -Ofast", "fastText",
    ],
}  # fmt: skip
SWEPT = ("muse, one sense, shared negatives", "muse, paper's recipe, shared negatives")


def is_heavy(dim: int, negative: int) -> bool:
    """Whether a pair costs so much that a shorter text does."""
    return dim * (1 + negative) > 2000


def table(tokens: int, settings: Sequence[tuple[int, int]], repeats: int, only: Sequence[str] | None) -> list[Planned]:
    """Every system, one thread. What is slow and heavy at once is run once."""
    plan = []
    for dim, negative in settings:
        heavy = is_heavy(dim, negative)
        for system in only or RUNNERS:
            if only is None and (system in PAPER[:2] or (system == "muse, one sense, shared by 64" and not heavy)):
                continue  # the one has a part of its own, the other is there for its share of the peak
            slow = heavy and system not in OURS and not system.startswith("gensim")
            job = {"system": system, "vector_size": dim, "negative": negative, "workers": 1}
            plan.append(Planned(job, tokens * 2 // 5 if heavy else tokens, 1 if slow else repeats))
    return plan


def scaling(tokens: int, settings: Sequence[tuple[int, int]], repeats: int, workers: Sequence[int]) -> list[Planned]:
    """The same with more and more threads, in turn, on a longer text: a run should take seconds."""
    return [
        Planned(
            {"system": system, "vector_size": dim, "negative": negative, "workers": threads},
            tokens * (2 if is_heavy(dim, negative) else 4), repeats,
        )
        for dim, negative in settings
        for system in SCALED
        if system != REFERENCE or not is_heavy(dim, negative)
        for threads in workers
    ]  # fmt: skip


def paper(tokens: int, repeats: int) -> list[Planned]:
    """Three senses and one collocate, and gensim as it is usually run, on all of the text: nothing is left out."""
    same: dict[str, Any] = {"vector_size": 300, "workers": 1, "sample": 0.0}
    jobs = [{"system": REFERENCE, "negative": 5, **same}]
    jobs += [{"system": name, "negative": 25 if "paper" in name else 5, **same} for name in PAPER]
    return [Planned(job, tokens * 2 // 5, repeats) for job in jobs]


def sweeps(tokens: int, repeats: int) -> list[Planned]:
    """One quantity at a time around dimension 100, five negatives, window 5, one thread."""
    usual = {"vector_size": 100, "negative": 5, "workers": 1}
    return [
        Planned(
            {"system": system, **usual, "swept": name, "value": value,
             **({"options": {"senses": value}} if name == "senses" else {name: value})},
            tokens * 2 // 5, repeats,
        )
        for name, values in SWEEPS.items()
        for value in values
        for system in SWEPT
        if name != "senses" or "one sense" not in system
    ]  # fmt: skip
