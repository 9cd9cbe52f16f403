"""The models of an experiment, trained and measured one after another; each one's figures are kept as they come."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks import common
from benchmarks.paper.recipes import Scale, recipe, title
from benchmarks.senses.cells import code_version

__all__ = ["Runs", "cases"]

Case = dict[str, Any]
_NAMES = ("recipe", "strategy", "seed")


def cases(scale: Scale, models: Iterable[tuple[str, str | None]], **options: Sequence[Any]) -> list[Case]:
    """Every seed with every (recipe, strategy) and every value of the options, seed by seed."""
    seeds = range(1, scale.seeds + 1)
    return [
        {**dict(zip(_NAMES, (*model, seed), strict=True)), **dict(zip(options, values, strict=True))}
        for seed, model, values in product(seeds, list(models), list(product(*options.values())))
    ]


class Runs:
    """Trains and measures cases.

    A case that an earlier run of the same code, corpus and settings has finished is not run again: each one's figures
    are appended to a file in the cache as soon as they are known, so that a command goes on where it was stopped.

    Parameters
    ----------
    name : str
        Of the experiment.
    corpus : Path
        The text.
    scale : Scale
        Dimension, negatives and epochs.
    workers : int
        Threads, on which times depend, and figures a little.
    measured : dict
        What else the figures depend on, such as the number of pseudo-words, and a digest of the evaluation data.
    """

    def __init__(self, name: str, corpus: Path, scale: Scale, workers: int, **measured: Any) -> None:
        self._scale, self._workers = scale, workers
        stat = corpus.stat()
        self._what = [name, corpus.name, stat.st_size, stat.st_mtime_ns, code_version(), workers, measured]
        self._file = common.cache_dir() / f"paper-{name}.jsonl"
        self._done: dict[str, Case] = {}
        if self._file.exists():
            for line in self._file.read_text(encoding="utf-8").splitlines():
                if line.endswith("}"):  # a crash may have cut the last one off
                    record = json.loads(line)
                    self._done[record["key"]] = record["found"]

    def __call__(
        self, wanted: Iterable[Case], measure: Callable[[dict[str, Any]], Case], **changes: Any
    ) -> list[dict[str, Any]]:
        """A row for each case: the case, and what `measure` finds, given the settings of its model.

        `changes` are settings that all cases have on top of their recipe.
        """
        rows = []
        for case in wanted:
            options = {name: value for name, value in case.items() if name not in _NAMES}
            model = recipe(case["recipe"], case["strategy"], self._scale, seed=case["seed"], **{**options, **changes})
            what = json.dumps([self._what, common.plain(model)], sort_keys=True)
            key = hashlib.sha256(what.encode()).hexdigest()[:16]
            if key not in self._done:
                self._keep(key, measure({**model, "workers": self._workers}))
            found = self._done[key]
            rows.append({**case, **found})
            named = (title(case["recipe"], case["strategy"]), case["seed"], *options.values())
            flat = {**found, **(found["accuracy"] if isinstance(found.get("accuracy"), dict) else {})}
            shown = {name: round(value, 4) for name, value in flat.items() if isinstance(value, float)}
            print(*named, shown or "", flush=True)
        return rows

    def _keep(self, key: str, found: Case) -> None:
        line = json.dumps({"key": key, "found": common.plain(found)}, ensure_ascii=False, allow_nan=False)
        with self._file.open("a", encoding="utf-8") as file:
            file.write(f"\n{line}\n")  # a fresh line, whatever a crash left behind
        self._done[key] = json.loads(line)["found"]
