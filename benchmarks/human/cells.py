"""One cell: one setting, text, dimension and seed, trained from the file and measured on all sets."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks import common
from benchmarks.human.settings import BASELINE, options_of
from benchmarks.senses.cells import code_version
from benchmarks.senses.measure import sense_numbers
from muse import MUSE, DivergenceError, Settings
from muse.evaluation import (
    InductionTask,
    evaluate_induction,
    evaluate_scws,
    evaluate_wic,
    evaluate_word_similarity,
    score_key,
)

__all__ = ["Cell", "Data", "execute", "induction_score"]

_HARNESS = 2  # raise it when the same cell would give other figures
_HARD = ("v_measure", "ari", "paired_f", "b_cubed")
_FUZZY = ("fuzzy_nmi", "fuzzy_b_cubed")
_SCWS = ("MaxSimC", "AvgSimC", "globalSim", "contexts", "AvgSimC + contexts", "scored")  # the contexts' where there are


@dataclass(frozen=True)
class Data:
    """The sets, found in `common.data_dir`."""

    induction: Path = field(default_factory=lambda: common.evaluation_folder("SemEval-2013 task 13"))
    wic: Path = field(default_factory=lambda: common.evaluation_folder("WiC"))
    scws: Path = field(default_factory=lambda: common.evaluation_file("SCWS"))
    similarity: dict[str, Path] = field(default_factory=common.similarity_sets)

    @cached_property
    def digest(self) -> str:
        """A digest of all that the scores are computed from."""
        files = [path for folder in (self.induction, self.wic) for path in sorted(folder.rglob("*")) if path.is_file()]
        return common.digest(*files, self.scws, *self.similarity.values())

    @cached_property
    def one_sense(self) -> dict[str, float]:
        """The scores of one sense a word on the induction set, which no model need be trained for."""
        gold = InductionTask.from_semeval2013(self.induction).gold
        return _induction({word: {name: {"one": 1.0} for name in uses} for word, uses in gold.items()}, gold)

    def scores(self, model: MUSE) -> dict[str, float]:
        """All scores of a model."""
        graded = evaluate_induction(model, self.induction, graded=True)
        hard = evaluate_induction(model, self.induction)
        wic = {"dev": evaluate_wic(model, self.wic)}
        if "usage_accuracy" in wic["dev"]:  # which has two usual thresholds
            wic["train"] = evaluate_wic(model, self.wic, fit="train")
        scws = evaluate_scws(model, self.scws, resamples=0)
        similarity = evaluate_word_similarity(model, self.similarity, resamples=0)
        fuzzy = {name: graded[name] for name in _FUZZY}
        return {
            "graded": induction_score(fuzzy), **fuzzy, "graded senses": graded["senses_per_word"],
            **{name: hard[name] for name in _HARD}, "answered": hard["answered"],
            **{f"WiC {name}": wic["dev"][name] for name in ("accuracy", "sense_match", "majority", "covered")},
            **{f"WiC usage, {part}": one["usage_accuracy"] for part, one in wic.items() if "usage_accuracy" in one},
            **{f"WiC usage, {part}, known words": one["usage_accuracy_covered"] for part, one in wic.items()
               if "usage_accuracy" in one},
            **{f"SCWS {name}": scws[name] for name in _SCWS if name in scws},
            **{name: similarity[f"{name} wv"] for name in self.similarity},
        }  # fmt: skip

    def senses(self, model: MUSE) -> dict[str, Any]:
        """How many senses the words of the induction set have and use."""
        task = InductionTask.from_semeval2013(self.induction)
        return sense_numbers(model, dict.fromkeys(item.lemma for item in task.occurrences))


def induction_score(found: dict[str, float]) -> float:
    """The geometric mean of both fuzzy measures, times 100: each alone is won by many senses, or by one."""
    return float(100 * (max(found["fuzzy_nmi"], 0.0) * found["fuzzy_b_cubed"]) ** 0.5)


def _induction(key: Any, gold: Any) -> dict[str, float]:
    found = score_key(gold, key)
    scores = {name: float(found[name]) for name in (*_FUZZY, *_HARD)}
    return {"graded": induction_score(scores), **scores}


@dataclass(frozen=True)
class Cell:
    """What to train, on what."""

    name: str  # of the setting
    text: Path  # plain, cut to its tokens
    text_name: str
    digest: str  # of the text
    tokens: int  # asked for; 0: all
    dims: int
    seed: int
    threads: int
    data: Data

    @property
    def options(self) -> dict[str, Any]:
        return options_of(self.name, self.dims, self.seed)

    @property
    def key(self) -> str:
        """The same for the same figures: a cell with the key of a finished one is not run again."""
        what = {
            "harness": _HARNESS, "label": self.name, "code": code_version("evaluation/*"), "text": self.digest,
            "data": self.data.digest, "settings": Settings.of(**self.options).to_json(), "threads": self.threads,
        }  # fmt: skip
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]

    def __str__(self) -> str:
        return f"{self.name} | {self.text_name}, {self.dims} dimensions, seed {self.seed}"


def execute(cell: Cell, grown: Grown) -> dict[str, Any]:
    """Train from the file, which is timed as a whole, and measure; or cut the trees that `grown` holds anew.

    What a cut gives depends on the trees alone, so models that differ in the number of senses are trained once.
    """
    record = {
        "record": "cell", "key": cell.key, "code": code_version("evaluation/*"), "data": cell.data.digest,
        "label": cell.name, "text": cell.text_name, "digest": cell.digest, "tokens": cell.tokens, "dims": cell.dims,
        "seed": cell.seed, "threads": cell.threads, "settings": Settings.of(**cell.options).to_json(),
        "machine": common.machine(),
    }  # fmt: skip
    start, worked = time.perf_counter(), time.process_time()
    model, cut_of = grown.cut(cell)
    try:
        model = model or MUSE(corpus_file=cell.text, workers=cell.threads, progress=False, **cell.options)
    except DivergenceError as error:  # a finding, too
        return {**record, "error": str(error)}
    seconds = None if cut_of else time.perf_counter() - start
    work = None if cut_of else time.process_time() - worked  # of all threads, which others on the machine hardly change
    grown.keep(cell, model)
    found = {"scores": cell.data.scores(model), "senses": cell.data.senses(model)}
    if cell.name == BASELINE:
        found["one sense a word"] = cell.data.one_sense
    return {**record, "seconds": seconds, "cpu_seconds": work, **({"cut of": cut_of} if cut_of else {}), **found}


class Grown:
    """The last model with sense trees, for other cuts of them."""

    def __init__(self) -> None:
        self._cell: Cell | None = None
        self._model: MUSE | None = None

    def keep(self, cell: Cell, model: MUSE) -> None:
        """Keep a model, if it has trees, in place of the one before."""
        if model.snapshot.forest is not None:
            self._cell, self._model = cell, model

    def cut(self, cell: Cell) -> tuple[MUSE | None, str]:
        """The kept model with as many senses as a cell asks for, and its setting; None, where training it differs."""
        if self._cell is None or self._model is None:
            return None, ""
        asked, kept = cell.options, self._cell.options
        senses = asked.pop("senses", None)
        kept.pop("senses", None)
        same = (cell.digest, cell.threads) == (self._cell.digest, self._cell.threads)
        if asked != kept or not same or senses == 1:
            self._cell = self._model = None  # the next model is trained beside none
            return None, ""
        self._model.recut(senses)
        return self._model, self._cell.name
