"""Accuracy against workers, interval, rule and rate, with simulated workers: one process trains all stretches in turn.

What a cluster makes of the same plan is the same, bit for bit (tests/distributed), so that one process can say what 128
workers would make of a text.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.distributed import frequent
from benchmarks.senses import measure
from benchmarks.senses.draws import DrawRules, make_draw
from benchmarks.senses.texts import Merged, Text, merge
from muse import MUSE, DivergenceError, _core
from muse.data.arrays import Arrays
from muse.data.settings import Settings
from muse.data.vocabulary import Vocabulary
from muse.distributed.changes import Rule, Wire
from muse.distributed.plan import Plan, ShardSize
from muse.distributed.replica import Work
from muse.distributed.simulating import simulate
from muse.training.growing import grow
from muse.training.initial import initial_arrays

__all__ = ["GRIDS", "Config", "run", "run_all"]


@dataclass(frozen=True)
class Config:
    """One row of the table."""

    parts: int = 1
    interval: int = 100_000
    rule: Rule = "agreement"
    rate: float = 1.0
    warm_up: int = 0
    wire: Wire = "int16"
    seed: int = 1
    senses: bool = False  # trees too, which V needs
    epochs: int = 5
    dim: int = 100
    frequent: int = 0  # rows that are put together in every round, all in each `often`-th; 0: all always
    often: int = 1


def grid() -> list[Config]:
    """All rows, the most telling first."""
    seeds = [Config(seed=seed, rate=rate, interval=1 << 40) for rate in (1.0, 2.0) for seed in (1, 2, 3)]
    best: dict[str, Any] = {"rate": 2.0, "warm_up": 2_000_000}
    rows = [
        seeds[0],
        Config(16, 30_000, **best),
        Config(4, 100_000, **best),
        Config(16, 30_000, "average"),
        seeds[1],
        seeds[2],
        seeds[3],
        Config(4, 400_000, **best),
        Config(16, 100_000, "sum"),
        Config(16, 100_000, "average"),
        Config(16, 100_000, **best),
        Config(4, 100_000, wire="float32", **best),
        Config(4, 100_000, "average"),
        Config(2, 400_000, **best),
        Config(64, 20_000, **best),
        Config(128, 10_000, **best),
        Config(16, 100_000, "adasum"),
        Config(16, 100_000, "agreement"),
        Config(16, 100_000, "changed"),
        seeds[4],
        seeds[5],
        *(
            Config(parts, interval, seed=seed, **best)
            for parts, interval in ((4, 100_000), (16, 30_000))
            for seed in (2, 3)
        ),
        Config(16, 100_000, "adasum", **best),
        Config(2, 1_000_000, **best),
        Config(2, 2_000_000, **best),
        Config(16, 15_000, **best),
        Config(16, 30_000, wire="float32", **best),
        Config(4, 30_000, **best),
        Config(4, 100_000, rate=1.0),
        Config(16, 30_000, rate=3.0, warm_up=2_000_000),
        Config(16, 30_000, rate=2.0),
        Config(16, 30_000, frequent=2000, often=10, **best),
        Config(16, 10_000, frequent=500, often=30, **best),
        Config(16, 10_000, frequent=2000, often=10, **best),
    ]
    several = [
        Config(senses=True, interval=1 << 40),
        Config(4, 100_000, senses=True, **best),
        Config(16, 30_000, senses=True, **best),
    ]
    return [*rows[:4], *several, *rows[4:]]


def large_grid() -> list[Config]:
    """Rows for a text of tens of millions of tokens."""
    best: dict[str, Any] = {"rate": 2.0, "warm_up": 2_000_000}
    return [
        Config(rate=2.0, interval=1 << 40),
        Config(2, 3_300_000, **best),
        Config(2, 6_600_000, **best),
        Config(4, 1_600_000, **best),
        Config(4, 3_300_000, **best),
        Config(16, 400_000, **best),
        Config(4, 1_600_000, "average"),
        Config(rate=2.0, interval=1 << 40, seed=2),
        Config(rate=2.0, interval=1 << 40, seed=3),
        Config(4, 1_600_000, seed=2, **best),
        Config(4, 1_600_000, seed=3, **best),
        Config(rate=2.0, interval=1 << 40, senses=True),
        Config(4, 1_600_000, senses=True, **best),
        Config(16, 100_000, **best),
    ]


GRIDS = {"small": grid(), "large": large_grid()}


@cache
def _text(path: str, limit: int | None, folder: Path) -> tuple[Merged, Any]:
    text = Text.load(path, folder, limit)
    return merge(text, make_draw(text, 1, DrawRules(spare=True), folder).pairs, None), text


def run(config: Config, path: str, limit: int | None, folder: Path) -> dict[str, Any]:
    """Train and measure one row."""
    merged, _ = _text(path, limit, folder)
    settings = Settings.of(vector_size=config.dim, seed=config.seed, epochs=config.epochs, workers=1)
    model = MUSE(**settings.arguments())
    model.build_vocab_from_freq(merged.text.by_word())
    encoded, vocabulary = merged.encode(model.vocabulary), model.vocabulary
    corpus = encoded.corpus
    size = ShardSize(corpus.n_tokens, len(_core.batch_boundaries(corpus, settings.batch_tokens)) - 1)
    plan = Plan([size], config.epochs, config.interval, config.warm_up)
    work = Work(settings, vocabulary, config.epochs, config.rate, 1, config.wire)
    row: dict[str, Any] = {**asdict(config), "tokens": corpus.n_tokens}
    start = time.perf_counter()
    try:
        if config.frequent:
            done = frequent.simulate(work, [corpus], plan, config.parts, config.frequent, config.often)
        else:
            done = simulate(work, [corpus], plan, config.parts, config.rule)
    except DivergenceError as error:
        return {**row, "error": str(error)}
    assert done.tokens == [corpus.n_tokens] * config.epochs
    row |= {
        "rounds": done.rounds, "moved": float(np.mean(done.moved)), "seconds": time.perf_counter() - start,
        "loss": done.sums[-1]["loss"] / max(done.sums[-1]["loss_pairs"], 1),
    }  # fmt: skip
    if not all(np.isfinite(values).all() for values in done.values.values()):
        return {**row, "error": "values that are not finite"}
    arrays = _arrays(settings, vocabulary, done.values)
    if not config.senses:
        plain = Settings.of(vector_size=config.dim, senses=1, seed=config.seed)
        return {**row, "scores": measure.word_scores(MUSE.from_arrays(vocabulary, arrays, plain))}
    forest, made, _ = grow(arrays, corpus, settings, vocabulary.words, os.cpu_count() or 1)
    several = MUSE.from_arrays(vocabulary, made, settings, forest=forest)
    found = measure.pseudo_words(several, merged, encoded)
    return {**row, "scores": {**measure.word_scores(several), "V": found["v_measure"], "ARI": found["ari"]}}


def _arrays(settings: Settings, vocabulary: Vocabulary, values: dict[str, Any]) -> Arrays:
    arrays = initial_arrays(settings, np.ones(len(vocabulary), np.int64), vocabulary.counts)
    for name, matrix in values.items():
        getattr(arrays, name)[:] = matrix
    arrays.sense_counts[:] = vocabulary.counts
    return arrays


def run_all(grid: str, path: str, limit: int | None, folder: Path, out: Path) -> None:
    """Append a row for each of a grid that `out` does not hold yet."""
    rows = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    default = {**asdict(Config()), "grid": "small"}
    known = [{name: row.get(name, default[name]) for name in default} for row in rows if row.get("record") == "study"]
    for config in GRIDS[grid]:
        if {**asdict(config), "grid": grid} in known:
            continue
        row = {"record": "study", "grid": grid, **run(config, path, limit, folder)}
        with out.open("a") as file:
            file.write(json.dumps(row) + "\n")
        shown = {k: round(v, 3) for k, v in row.get("scores", {}).items() if k in
                 ("SCWS MaxSimC", "SCWS AvgSimC", "WordSim-353", "MEN", "V")}  # fmt: skip
        print(config, shown or row.get("error"), f"{row.get('seconds', 0):.0f} s", flush=True)
