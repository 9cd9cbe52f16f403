"""Training on the command line: the corpus that its arguments name, and the report when it is done."""

from __future__ import annotations

import dataclasses
import errno
import glob
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from muse.base.limits import usable_cores
from muse.callbacks import Callback
from muse.cli.output import Output
from muse.cli.streams import is_input, is_output, lines, output_file
from muse.corpus.encoding import LineSentence
from muse.data.settings import Settings
from muse.files.lines import shown, split_words
from muse.integrations.wikipedia import WikipediaSentences, is_dump
from muse.model.muse import MUSE
from muse.training.checkpoints import CHECKPOINT_NAME

__all__ = ["Corpus", "Report", "corpus_of", "shows_progress", "train_and_save"]


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
    tokens_per_second: float | None
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
            trees_seconds=round(last.get("seconds", 0.0), 2) if last["stage"] == "trees" else 0.0,
            tokens_per_second=epoch.get("tokens_per_second"), ambiguous_words=last["ambiguous_words"],
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
        speed = f"in {self.seconds:.1f} s ({parts})"
        if self.tokens_per_second is not None:  # not where a training that had ended was resumed
            speed += f"; last epoch {self.tokens_per_second:,.0f} tokens/s"
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


class Corpus(NamedTuple):
    """The text to train on: what to call it, and the argument of `MUSE.build_vocab` that it is."""

    name: str
    argument: dict[str, Any]


def corpus_of(paths: Sequence[str]) -> Corpus:
    """The text of files, folders, patterns of names, of a Wikipedia dump or of standard input."""
    name = ", ".join("standard input" if is_input(path) else shown(path) for path in paths)
    if any(map(is_input, paths)):
        return Corpus(name, {"sentences": _of_lines(paths)})
    if len(paths) == 1 and is_dump(paths[0]):
        return Corpus(name, {"sentences": WikipediaSentences(paths[0], workers=usable_cores())})
    files = [file for path in paths for file in _files(path)]
    return Corpus(name, {"corpus_file": files[0]} if len(files) == 1 else {"sentences": LineSentence(files)})


def _files(path: str) -> list[str]:
    """The files of a folder or of a pattern of names that the shell left as it is; else the path itself."""
    if os.path.isdir(path):
        found = sorted(name for name in os.listdir(path) if not name.startswith("."))
        files = [name for name in (os.path.join(path, name) for name in found) if os.path.isfile(name)]
    elif not os.path.exists(path) and glob.has_magic(path):
        files = sorted(name for name in glob.glob(path, recursive=True) if os.path.isfile(name))
    else:
        return [path]
    if not files:
        raise FileNotFoundError(errno.ENOENT, "no file is there; check the name", path)
    return files


def _of_lines(paths: Sequence[str]) -> Iterator[list[str]]:
    for path in paths:
        for line in lines(path):
            if words := split_words(line):
                yield words


def train_and_save(
    corpus: Corpus, settings: dict[str, Any], path: str | None, out: Output, resume: bool = False
) -> MUSE:
    """Train a model and save it; only then say how long it took, how fast it went and how the senses are used.

    What is printed may find nobody to read it, which must not cost the model. With `resume`, training goes on from the
    checkpoint in the folder of the settings, if there is one.
    """
    start, watch = time.perf_counter(), _Stopwatch()
    checkpoint = _checkpoint(settings) if resume else None
    if checkpoint is None:
        model = MUSE(**settings)
        model.build_vocab(**corpus.argument)
        reading = time.perf_counter() - start
        model.train(callbacks=[watch])
    else:
        model = _loaded(checkpoint, settings)
        reading = time.perf_counter() - start
        model.train(**corpus.argument, callbacks=[watch], resume=True)
    seconds = time.perf_counter() - start
    if path is not None:
        with output_file(path) as target:
            model.save(target)
    report = Report.of(model, corpus.name, reading, watch.split, seconds, path)
    if path is not None and is_output(path):
        print(report, file=sys.stderr)
    else:
        out.line(str(report))
        out.record(dataclasses.asdict(report))
    return model


def _checkpoint(settings: dict[str, Any]) -> Path | None:
    """The checkpoint to go on from, if there is one."""
    folder = settings.get("checkpoint_dir")
    if folder is None:
        raise click.UsageError("--resume goes on from a checkpoint: name its folder with --checkpoint-dir")
    path = Path(folder) / CHECKPOINT_NAME
    return path if path.exists() else None


def _loaded(checkpoint: Path, settings: dict[str, Any]) -> MUSE:
    """The model in a checkpoint, to run as the settings say; a usage error where they would make another model."""
    how = {name: value for name, value in settings.items() if name in Settings.runtime_names()}
    model = MUSE.load(checkpoint, **how)
    wanted = Settings.of(**settings)
    for name in settings.keys() - how.keys():
        now, then = getattr(wanted, name), getattr(model.settings, name)
        if now != then:
            raise click.UsageError(
                f"--resume goes on with the settings of {shown(checkpoint)}, where {name} is {then!r:.80}, not "
                f"{now!r:.80}; leave it out, or train anew without --resume"
            )
    return model
