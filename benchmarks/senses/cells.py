"""One cell of the study: one setting, text, draw and seed, trained and measured."""

from __future__ import annotations

import ast
import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import muse
from benchmarks.senses import measure, peers
from benchmarks.senses.adagram import AdaGramModel, chosen_senses, train_adagram
from benchmarks.senses.draws import Draw
from benchmarks.senses.grids import Setting
from benchmarks.senses.texts import Encoded, Merged, PlainVectors, Text, merge, plain_vectors
from muse import MUSE, DivergenceError, _core
from muse.evaluation import EvaluationCallback, EvaluationResult
from muse.training.run import train_model

__all__ = ["Cell", "code_version", "execute"]

_HARNESS = 1  # raise it when the same cell would give other figures
# What a run learns depends on these; comments and layout do not count. The core counts as the binary that was loaded.
_SOURCES = (
    "corpus/encoding", "data/forest", "data/recipes", "data/sense_trees", "data/settings", "data/trimming",
    "data/use_space", "selector/selection", "training/counting", "training/growing", "training/initial",
    "training/options", "training/run", "training/schedule", "training/split", "training/tree_start",
    "training/trees",
)  # fmt: skip


@cache
def code_version(*more: str) -> str:
    """A digest of the code that trains, and of `more` modules of the package, such as ``"evaluation/*"``."""
    digest = hashlib.sha256(Path(_core.__file__).read_bytes())
    root = Path(muse.__file__).parent
    for path in [root / f"{name}.py" for name in _SOURCES] + [
        p for name in more for p in sorted(root.glob(f"{name}.py"))
    ]:
        digest.update(ast.dump(ast.parse(path.read_bytes())).encode())
    return digest.hexdigest()[:12]


@dataclass(frozen=True)
class Cell:
    """What to train, on what, and how to measure it; all that a worker process needs."""

    setting: Setting
    path: str
    limit: int | None  # tokens of the text
    draw: Draw
    seed: int
    occurrences: int | None  # scored of each pseudo-word, at most
    evaluate: bool  # on SCWS and word similarity too
    cache: Path
    threads: int
    seconds: float | None = None  # what `setting.seconds_of` took

    @property
    def key(self) -> str:
        """The same for the same figures: a cell with the key of a finished one is not run again."""
        what = {
            "harness": _HARNESS, "code": code_version(), "text": [self.draw.text, self.draw.tokens],
            "draw": self.draw.digest, "occurrences": self.occurrences, "seed": self.seed, "kind": self.setting.kind,
            "settings": self.setting.settings().to_json() | {"seed": self.seed}, "extras": sorted(self.setting.extras),
            "seconds_of": self.setting.seconds_of, "evaluate": self.evaluate,
        }  # fmt: skip
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def place(self) -> tuple[Any, ...]:
        """Cells that differ in nothing but the setting share it."""
        return self.draw.text, self.draw.tokens, self.draw.digest, self.seed

    def __str__(self) -> str:
        return f"{self.setting.label} | {self.draw.text}, draw {self.draw.number}, seed {self.seed}"


def execute(cell: Cell) -> list[dict[str, Any]]:
    """Train and measure: a record for each baseline that was measured along with the setting, then its own."""
    merged = _merged(cell.path, cell.limit, tuple(cell.draw.pairs), cell.occurrences, cell.cache)
    start = time.perf_counter()
    try:
        found = _KINDS[cell.setting.kind](cell, merged)
    except DivergenceError as error:  # a finding, too
        found = {cell.setting.label: {"error": str(error)}}
    wall = time.perf_counter() - start
    common = {
        "record": "cell", "key": cell.key, "code": code_version(), "text": cell.draw.text, "tokens": cell.draw.tokens,
        "draw": cell.draw.number, "draws": cell.draw.set, "pairs": cell.draw.digest, "seed": cell.seed,
        "kind": cell.setting.kind,
    }  # fmt: skip
    own = {"settings": cell.setting.settings(seed=cell.seed).to_json(), "threads": cell.threads, "wall": wall}
    return [
        {**common, "label": label, **(own if label == cell.setting.label else {}), **measured}
        for label, measured in reversed(found.items())
    ]


@lru_cache(maxsize=1)
def _merged(
    path: str, limit: int | None, pairs: tuple[tuple[str, str], ...], occurrences: int | None, folder: Path
) -> Merged:
    return merge(Text.load(path, folder, limit), pairs, occurrences)


@lru_cache(maxsize=1)
def _plain(path: str, limit: int | None, min_count: int, folder: Path) -> PlainVectors:
    return plain_vectors(Text.load(path, folder, limit), min_count, folder)


def _muse(cell: Cell, merged: Merged) -> dict[str, dict[str, Any]]:
    settings = cell.setting.settings(seed=cell.seed, workers=cell.threads)
    model = MUSE(**settings.arguments())
    model.build_vocab_from_freq(merged.text.by_word())
    encoded = merged.encode(model.vocabulary)
    watch = EvaluationCallback(lambda m: measure.pseudo_words(m, merged, encoded), keep_best=False)
    callbacks = [watch] if "trace" in cell.setting.extras else []
    start = time.perf_counter()
    train_model(model, encoded.corpus, epochs=settings.epochs, callbacks=callbacks)
    seconds = time.perf_counter() - start - sum(row["seconds"] for row in watch.history)
    found = {cell.setting.label: _measured(cell, model, merged, encoded, seconds)}
    if callbacks:
        names = ("epoch", "v_measure", "ari", "purity", "effective_senses", "collapsed")
        found[cell.setting.label]["trace"] = [{name: row[name] for name in names} for row in watch.history]
    if "windows" in cell.setting.extras:
        found |= _windows(cell, merged, model.wv)
    if "context" in cell.setting.extras:
        bounds = measure.bounds_of_context(model, merged, encoded, cell.seed)
        found |= {f"{method} on context of {cell.setting.label}": {"scores": row} for method, row in bounds.items()}
    return found


def _measured(cell: Cell, model: MUSE, merged: Merged, encoded: Encoded, seconds: float) -> dict[str, Any]:
    trained = sum(row["tokens"] for row in model.history)
    chosen = measure.chosen_senses(model, encoded)
    found = merged.task.score(chosen)
    scores = _scores(cell, model, merged, found)
    if "calibration" in cell.setting.extras:
        merged.task.with_reliability(found, model)
        names = ("calibration_error", "calibration_words")
        scores["calibration"] = {name: found[name] for name in names} | {"curve": next(iter(found.curves.values()), [])}
    plain = _plain(cell.path, cell.limit, cell.draw.counts[0], cell.cache)
    scores["scores"]["neighbours"] = measure.neighbours(model, merged, chosen, plain)
    return {**scores, "history": model.history, **_speed(trained, seconds)}


def _scores(cell: Cell, model: Any, merged: Merged, found: EvaluationResult) -> dict[str, Any]:
    return {
        "scores": {name: found[name] for name in measure.SCORES} | _words(cell, model),
        "senses": {
            "pseudo": measure.sense_numbers(model, merged.names),
            "control": measure.sense_numbers(model, cell.draw.controls),
        },
    }


def _words(cell: Cell, model: Any) -> dict[str, float]:
    """What is measured on the words of evaluation sets."""
    if not cell.evaluate:
        return {}
    return measure.word_scores(model) | (measure.task_scores(model) if "tasks" in cell.setting.extras else {})


def _speed(tokens: int, seconds: float) -> dict[str, float]:
    return {"seconds": seconds, "tokens_per_second": tokens / max(seconds, 1e-9)}


def _windows(cell: Cell, merged: Merged, vectors: Any) -> dict[str, dict[str, Any]]:
    settings = cell.setting.settings()
    options: dict[str, Any] = {"window": settings.window, "sample": settings.sample, "seed": cell.seed}
    bounds = measure.bounds_of_windows(merged.task, vectors, **options)
    labels = {method: f"{method} on windows of {cell.setting.label}" for method in bounds} | {"majority": "majority"}
    return {labels[method]: {"scores": row} for method, row in bounds.items()}


def _gensim(cell: Cell, merged: Merged) -> dict[str, dict[str, Any]]:
    settings = cell.setting.settings(seed=cell.seed)
    model, seconds, epochs = peers.train_gensim(merged, settings, cell.threads, cell.cache, cell.seconds)
    measured = {
        # One vector a word finds no senses in the pseudo-words, and has no more than these to say about SCWS.
        "scores": _words(cell, peers.one_vector(model)),
        "epochs": epochs,
        **_speed(epochs * sum(model.wv.get_vecattr(w, "count") for w in model.wv.index_to_key), seconds),
        "aimed_at_seconds": cell.seconds,
    }
    found = {cell.setting.label: measured}
    return found | (_windows(cell, merged, model.wv) if "windows" in cell.setting.extras else {})


def _mssg(cell: Cell, merged: Merged) -> dict[str, dict[str, Any]]:
    settings = cell.setting.settings(seed=cell.seed, workers=cell.threads)
    model, encoded, seconds = peers.train_mssg(merged, settings, merged.text.by_word())
    return {cell.setting.label: _measured(cell, model, merged, encoded, seconds)}


def _adagram(cell: Cell, merged: Merged) -> dict[str, dict[str, Any]]:
    settings = cell.setting.settings(seed=cell.seed, workers=cell.threads)
    trained, encoded, seconds = train_adagram(merged, settings, merged.text.by_word(), cell.cache)
    found = merged.task.score(chosen_senses(trained, encoded))
    scores = _scores(cell, AdaGramModel(trained), merged, found)
    return {cell.setting.label: {**scores, **_speed(encoded.corpus.n_tokens * settings.epochs, seconds)}}


_KINDS: Mapping[str, Any] = {"muse": _muse, "gensim": _gensim, "mssg": _mssg, "adagram": _adagram}
