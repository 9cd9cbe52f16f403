"""Training on the command line: the corpus that its arguments name, and the report when it is done."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from muse.base.limits import usable_cores
from muse.callbacks import Callback
from muse.cli.output import Output
from muse.cli.streams import is_input, lines
from muse.corpus.encoding import LineSentence
from muse.files.lines import shown, split_words
from muse.integrations.wikipedia import WikipediaSentences, is_dump
from muse.model.muse import MUSE

__all__ = ["Report", "corpus_of", "shows_progress", "train_and_save"]


@dataclasses.dataclass
class Report:
    """What a training was: what `train` prints, and its ``--json``."""

    text: str
    words: int
    senses: int
    vector_size: int
    epochs: int
    tokens: int
    seconds: float
    reading_seconds: float
    split_seconds: float
    trees_seconds: float
    tokens_per_second: float
    ambiguous_words: int
    senses_used: float | None
    collapsed: float | None
    saved: str | None

    @classmethod
    def of(cls, model: MUSE, text: str, reading: float, split: float, seconds: float, path: str | None) -> Report:
        """Of a trained model, with the seconds that it took."""
        last = model.history[-1]
        epoch = next(row for row in reversed(model.history) if row["stage"] != "trees")
        several = bool(last["ambiguous_words"])
        return cls(
            text=shown(text), words=len(model), senses=model.arrays.n_senses, vector_size=model.vector_size,
            epochs=model.epochs, tokens=model.corpus_total_words, seconds=round(seconds, 2),
            reading_seconds=round(reading, 2), split_seconds=round(split, 2),
            trees_seconds=round(last["seconds"], 2) if last["stage"] == "trees" else 0.0,
            tokens_per_second=round(epoch["tokens_per_second"]), ambiguous_words=last["ambiguous_words"],
            senses_used=last["senses_used"] if several else None, collapsed=last["collapsed"] if several else None,
            saved=None if path is None else shown(path),
        )  # fmt: skip

    def __str__(self) -> str:
        parts = f"reading {self.reading_seconds:.1f} s"
        if self.trees_seconds:
            parts += f", sense trees {self.trees_seconds:.1f} s"
        elif self.split_seconds:
            parts += f", split {self.split_seconds:.1f} s"
        sizes = f"{self.words:,} words, {self.senses:,} senses, dimension {self.vector_size}, {self.epochs} epochs"
        speed = f"in {self.seconds:.1f} s ({parts}); last epoch {self.tokens_per_second:,.0f} tokens/s"
        told = [f"text      {self.text}", f"training  {sizes} {speed}"]
        if self.senses_used is None:
            told.append("senses    no word that is frequent enough has several")
        else:
            told.append(
                f"senses    in the {self.ambiguous_words:,} words that have several: {self.senses_used:.2f} in "
                f"effective use a word; one sense takes all in {self.collapsed:.0%}"
            )
        return "\n".join(told if self.saved is None else [*told, f"saved     {self.saved}"])


class _Stopwatch(Callback):
    """The seconds between word level and senses, which the split takes."""

    def __init__(self) -> None:
        self.split, self._split_starts = 0.0, 0.0

    def on_epoch_end(self, model: MUSE) -> None:
        self._split_starts = time.perf_counter() if model.history[-1]["stage"] == "words" else 0.0

    def on_epoch_begin(self, model: MUSE) -> None:
        if self._split_starts:
            self.split += time.perf_counter() - self._split_starts


def shows_progress(wanted: bool | None) -> bool:
    """Whether to show a progress bar: as it is wanted, or where a person looks on."""
    return sys.stderr.isatty() if wanted is None else wanted


def corpus_of(paths: Sequence[str]) -> dict[str, Any]:
    """The text of files, of a Wikipedia dump or of standard input, as the arguments of `MUSE.build_vocab`."""
    if any(map(is_input, paths)):
        return {"sentences": _of_lines(paths)}
    if len(paths) == 1 and is_dump(paths[0]):
        return {"sentences": WikipediaSentences(paths[0], workers=usable_cores())}
    return {"corpus_file": paths[0]} if len(paths) == 1 else {"sentences": LineSentence(paths)}


def _of_lines(paths: Sequence[str]) -> Iterator[list[str]]:
    for path in paths:
        for line in lines(path):
            if words := split_words(line):
                yield words


def train_and_save(text: str, corpus: dict[str, Any], settings: dict[str, Any], path: str | None, out: Output) -> MUSE:
    """Train a model and save it; only then say how long it took, how fast it went and how the senses are used.

    What is printed may find nobody to read it, which must not cost the model.
    """
    start, watch = time.perf_counter(), _Stopwatch()
    model = MUSE(**settings)
    model.build_vocab(**corpus)
    reading = time.perf_counter() - start
    model.train(callbacks=[watch])
    seconds = time.perf_counter() - start
    if path is not None:
        model.save(path)
    report = Report.of(model, text, reading, watch.split, seconds, path)
    out.line(str(report))
    out.record(dataclasses.asdict(report))
    return model
