"""Training: the schedule of epochs around the core's trainer, and what is watched on the way."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from muse import _core
from muse.arrays import Arrays, Floats
from muse.errors import DivergenceError
from muse.initial import initial_arrays
from muse.selection import context_weights, selection_options
from muse.settings import Settings
from muse.split import split_arrays

if TYPE_CHECKING:
    from muse.model import MUSE

__all__ = ["core_options", "train_model"]

logger = logging.getLogger("muse")

_WATCHED_USES = 20  # words used less often in an epoch say nothing about collapse
_COLLAPSED_SHARE = 0.95  # of one sense in a word's uses
_MANY_COLLAPSED = 0.5  # share of words: then it is the training, not the words
_LARGE_NORM = 100.0  # rows of P and Q in healthy runs stay below a few tens


def train_model(
    model: MUSE, corpus: _core.Corpus, *, epochs: int, callbacks: Sequence[Any] = (), resume: bool = False
) -> None:
    """Train `model` on an encoded corpus; `MUSE.train` is the way to call it.

    Raises
    ------
    DivergenceError
        If a loss or reward is no longer a finite number.
    KeyboardInterrupt
        On Ctrl-C, within a second; the model can be used as it is then.
    """
    if model.settings.device == "cuda":
        raise RuntimeError(
            "device='cuda' is not available: this build of muse has no CUDA backend; use device='cpu' or 'auto'"
        )
    run = _Run(model, corpus, epochs, resume)
    _call(callbacks, "on_train_begin", model)
    try:
        run.train(callbacks)
    finally:
        run.finish()
    _call(callbacks, "on_train_end", model)


def core_options(settings: Settings, epochs: int, *, words: bool = False) -> _core.Options:
    """The core's options from a model's settings; `words` for the word-level warm start."""
    options = _core.Options()
    for name in ("strategy", "formulation", "reward", "collocates", "selection_update"):
        kind = getattr(_core, "".join(part.title() for part in name.split("_")))
        setattr(options, name, kind[getattr(settings, name)])
    same = (
        "window", "shrink_windows", "negative", "group_size", "alpha", "selection_alpha", "epsilon", "temperature",
        "batch_tokens", "posterior_weight", "posterior_selects", "train_context_vectors", "sibling_share", "max_norm",
        "seed",
    )  # fmt: skip
    for name in same:
        setattr(options, name, getattr(settings, name))
    options.selection = selection_options(settings)
    options.shrink_selection = settings.selection_window is None
    options.selection_mean = settings.selection_reduction == "mean"
    options.group_negatives = settings.group_negatives or 0
    options.min_alpha = settings.alpha if settings.min_alpha is None else settings.min_alpha
    options.epochs = epochs
    if words:  # nothing to select
        options.selection_update = _core.SelectionUpdate.none
        options.formulation = _core.Formulation.one_sided
    return options


@dataclass
class _Stage:
    """Batches of one epoch that are trained in one way."""

    epoch: int
    words: bool  # at word level, before the split
    share: tuple[float, float] = (0.0, 1.0)  # of the epoch's batches


def _schedule(settings: Settings, epochs: int, *, warm: bool) -> list[_Stage]:
    """All stages; the word level takes `warmup_epochs`, but never more than half of the training."""
    if not warm:
        return [_Stage(epoch, False) for epoch in range(epochs)]
    if epochs == 1:
        return [_Stage(0, True, (0.0, 0.5)), _Stage(0, False, (0.5, 1.0))]
    warmup = min(settings.warmup_epochs, epochs // 2)
    return [_Stage(epoch, epoch < warmup) for epoch in range(epochs)]


class _Run:
    """One call of `train_model`."""

    def __init__(self, model: MUSE, corpus: _core.Corpus, epochs: int, resume: bool) -> None:
        self.model, self.corpus, self.epochs = model, corpus, epochs
        self.settings = model.settings
        self.workers = self.settings.workers or os.cpu_count() or 1
        self.wanted = self.settings.senses_of(model.vocabulary.words)
        warm = self.settings.init == "split" and (not model.is_trained or resume) and bool((self.wanted > 1).any())
        self.stages = _schedule(self.settings, epochs, warm=warm)
        self.first_batch = 0
        if resume:
            self._skip_done()
        if model.is_trained:
            self.arrays = model.arrays.for_training()
        else:
            first = np.ones_like(self.wanted) if warm else self.wanted
            self.arrays = initial_arrays(self.settings, first, model.vocabulary.counts)
        self.words_only = not model.is_trained and warm or bool(model.training_state.get("words_only")) and resume
        self.checkpoints = _Checkpoints(self.settings)

    def _skip_done(self) -> None:
        done = self.model.training_state
        if done.get("epochs") != self.epochs:
            raise ValueError(
                f"the model was being trained for {done.get('epochs')} epochs; resume needs the same number, "
                f"not {self.epochs}"
            )
        stage = int(done.get("stage", 0))
        self.stages = self.stages[stage:]
        self.first_batch = int(done.get("batch", 0))
        self.stage_number = stage

    stage_number = 0

    def train(self, callbacks: Sequence[Any]) -> None:
        self.model.stop_training = False
        total = sum(share[1] - share[0] for share in (stage.share for stage in self.stages))
        with tqdm(total=round(total * self.corpus.n_tokens), unit="token", unit_scale=True,
                  disable=not self.settings.progress) as bar:  # fmt: skip
            for number, stage in enumerate(self.stages, self.stage_number):
                if self.words_only and not stage.words:
                    self._split()
                _call(callbacks, "on_epoch_begin", self.model)
                row = self._epoch(number, stage, bar)
                self.model.history.append(row)
                self._publish(row["sense_use"])
                del row["sense_use"]
                self._note(number + 1, 0)
                self.checkpoints.write(self.model)
                _log(row, self.epochs)
                _warn(row)
                _call(callbacks, "on_epoch_end", self.model)
                if self.model.stop_training:
                    logger.info("a callback stopped training after epoch %d", row["epoch"])
                    break

    def _split(self) -> None:
        start = time.perf_counter()
        self.arrays = split_arrays(self.arrays, self.corpus, self.settings, self.wanted, self.workers)
        self.words_only = False
        logger.info("the split took %.1f s", time.perf_counter() - start)

    # -- one epoch ---------------------------------------------------------------------------------------------------

    def _epoch(self, number: int, stage: _Stage, bar: Any) -> dict[str, Any]:
        trainer = self._trainer(stage)
        batches = trainer.num_batches
        first, last = (round(share * batches) for share in stage.share)
        first, self.first_batch = max(first, self.first_batch), 0
        start, total = time.perf_counter(), _Totals(self.arrays.n_senses)
        alpha = trainer.alpha_at(stage.epoch, first)
        while first < last:
            began, shown = time.perf_counter(), 0

            def tick(tokens: int, began: float = began) -> bool:
                nonlocal shown
                bar.update(tokens - shown)
                shown = tokens
                return not self.checkpoints.due(began)

            stop = min(last, first + self.checkpoints.batches(self.settings.batch_tokens, last))
            stats = trainer.run(stage.epoch, first, stop, self.workers, tick)
            bar.update(stats["tokens"] - shown)
            if stats["diverged"]:
                self._diverged(stage)
            total.add(stats)
            first = stats["next_batch"]
            if first < last:
                self._publish(total.sense_use)
                self._note(number, first)
                self.checkpoints.write(self.model)
        return self._row(stage, total, time.perf_counter() - start, alpha)

    def _trainer(self, stage: _Stage) -> _core.Trainer:
        arrays, settings = self.arrays, self.settings
        return _core.Trainer(
            context_vectors=arrays.context_vectors, selection_vectors=arrays.selection_vectors,
            sense_vectors=arrays.sense_vectors, collocation_vectors=arrays.collocation_vectors,
            sense_offset=arrays.sense_offset, word_counts=self.model.vocabulary.counts, corpus=self.corpus,
            options=core_options(settings, self.epochs, words=stage.words), sample=settings.sample,
            ns_exponent=settings.ns_exponent, context_weights=self._training_weights(),
            forward_values=arrays.forward_values, backward_values=arrays.backward_values,
        )  # fmt: skip

    def _training_weights(self) -> NDArray[np.float32]:
        """Subsampling has already thinned out the frequent words of a context that is not read in full."""
        if not self.settings.full_text:
            return np.empty(0, np.float32)
        return context_weights(self.settings, self.model.vocabulary.counts)

    def _row(self, stage: _Stage, total: _Totals, seconds: float, alpha: float) -> dict[str, Any]:
        arrays = self.arrays
        return {
            "epoch": stage.epoch + 1,
            "stage": "words" if stage.words else "senses",
            "tokens": total.sums["tokens"],
            "pairs": total.sums["pairs"],
            "seconds": seconds,
            "tokens_per_second": total.sums["tokens"] / max(seconds, 1e-9),
            "pairs_per_second": total.sums["pairs"] / max(seconds, 1e-9),
            "alpha": alpha,
            "loss": total.mean("loss", "loss_pairs"),
            "reward": total.mean("reward", "pairs"),
            "selection_entropy": total.mean("entropy", "entropy_targets"),
            **_sense_use(total.sense_use, arrays.sense_offset),
            "context_norm": _largest_norm(arrays.context_vectors),
            "selection_norm": _largest_norm(arrays.selection_vectors),
            "sense_use": total.sense_use,
        }

    def _diverged(self, stage: _Stage) -> None:
        settings = self.settings
        raise DivergenceError(
            f"training diverged in epoch {stage.epoch + 1}: a loss was no longer a finite number; lower alpha "
            f"({settings.alpha:g}) or selection_alpha ({settings.selection_alpha:g}), or set max_norm "
            f"({settings.max_norm:g}) to a bound such as 30"
        )

    # -- what the model shows ----------------------------------------------------------------------------------------

    def _publish(self, sense_use: NDArray[np.int64]) -> None:
        """Give the model the arrays as they are now."""
        self.arrays.sense_counts = sense_use.astype(np.int64)
        self.arrays.word_counts = self.model.vocabulary.counts
        self.model.set_arrays(self.arrays)

    def _note(self, stage: int, batch: int) -> None:
        self.model.training_state = {
            "epochs": self.epochs, "stage": stage, "batch": batch, "words_only": self.words_only,
        }  # fmt: skip

    def finish(self) -> None:
        """Count how often the selector takes each sense in the whole text: the senses' priors."""
        arrays, settings = self.arrays, self.settings
        if not all(np.isfinite(matrix).all() for matrix in (arrays.sense_vectors, arrays.selection_vectors)):
            return  # diverged: the model keeps what it had
        senses, _ = _core.select_senses(
            arrays.context_vectors, arrays.selection_vectors, arrays.sense_offset,
            context_weights(settings, self.model.vocabulary.counts), selection_options(settings), self.corpus.tokens,
            self.corpus.offsets, settings.temperature, self.workers,
        )  # fmt: skip
        rows = arrays.sense_offset[self.corpus.tokens] + senses
        self._publish(np.bincount(rows, minlength=arrays.n_senses))


class _Totals:
    """Sums over the runs of an epoch."""

    def __init__(self, senses: int) -> None:
        self.sums: dict[str, float] = {}
        self.sense_use = np.zeros(senses, np.int64)

    def add(self, stats: dict[str, Any]) -> None:
        for name in ("tokens", "targets", "pairs", "reward", "loss", "loss_pairs", "entropy", "entropy_targets"):
            self.sums[name] = self.sums.get(name, 0) + stats[name]
        self.sense_use += stats["sense_use"]

    def mean(self, value: str, count: str) -> float:
        return float(self.sums[value] / self.sums[count]) if self.sums[count] else 0.0


class _Checkpoints:
    """When to write the model to `checkpoint_dir`, and where."""

    def __init__(self, settings: Settings) -> None:
        self.folder = None if settings.checkpoint_dir is None else Path(settings.checkpoint_dir)
        every = settings.checkpoint_every if self.folder is not None else None
        self.tokens = every if isinstance(every, int) else None
        self.seconds = int(every[:-1]) if isinstance(every, str) else None
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)

    def batches(self, batch_tokens: int, most: int) -> int:
        """Batches to run before the next checkpoint."""
        return most if self.tokens is None else max(1, self.tokens // batch_tokens)

    def due(self, began: float) -> bool:
        return self.seconds is not None and time.perf_counter() - began >= self.seconds

    def write(self, model: MUSE) -> None:
        if self.folder is not None:
            model.save(self.folder / "checkpoint.safetensors")


# -- watching -------------------------------------------------------------------------------------------------------------


def _sense_use(use: NDArray[np.int64], offset: NDArray[np.int64]) -> dict[str, float]:
    """How the words with a choice use their senses: mean effective number (exp of entropy), and share collapsed."""
    senses = np.diff(offset)
    totals = np.add.reduceat(use, offset[:-1])
    watched = (senses > 1) & (totals >= _WATCHED_USES)
    if not watched.any():
        return {"senses_used": 1.0, "collapsed": 0.0}
    share = use / np.repeat(np.maximum(totals, 1), senses)
    logs = np.log(share, out=np.zeros(len(share)), where=share > 0)
    entropy = np.add.reduceat(-share * logs, offset[:-1])
    most = np.maximum.reduceat(share, offset[:-1])
    return {
        "senses_used": float(np.exp(entropy[watched]).mean()),
        "collapsed": float((most[watched] > _COLLAPSED_SHARE).mean()),
    }


def _largest_norm(matrix: Floats) -> float:
    squares = [float(np.einsum("ij,ij->i", block, block).max()) for block in _blocks(matrix)]
    return float(np.sqrt(max(squares, default=0.0)))


def _blocks(matrix: Floats, rows: int = 1 << 14) -> Iterable[Floats]:
    return (matrix[first : first + rows] for first in range(0, len(matrix), rows))


def _log(row: dict[str, Any], epochs: int) -> None:
    logger.info(
        "epoch %d of %d (%s): %.0f thousand tokens/s, loss %.4f, reward %.3f, senses used %.2f, collapsed %.0f%%, "
        "|P| %.1f, |Q| %.1f",
        row["epoch"], epochs, row["stage"], row["tokens_per_second"] / 1e3, row["loss"], row["reward"],
        row["senses_used"], 100 * row["collapsed"], row["context_norm"], row["selection_norm"],
    )  # fmt: skip


def _warn(row: dict[str, Any]) -> None:
    """Say what looks like success in a loss curve and is not."""
    largest = max(row["context_norm"], row["selection_norm"])
    if largest > _LARGE_NORM:
        logger.warning(
            "epoch %d: vectors of the selection module have grown to length %.0f, which ends in one sense taking "
            "everything; lower selection_alpha, or bound them with max_norm (30, say)", row["epoch"], largest
        )  # fmt: skip
    if row["stage"] == "senses" and row["collapsed"] > _MANY_COLLAPSED:
        logger.warning(
            "epoch %d: in %.0f%% of the words with several senses one sense takes more than %.0f%% of the uses; "
            "try init='split', selection_update='posterior', or a lower selection_alpha",
            row["epoch"], 100 * row["collapsed"], 100 * _COLLAPSED_SHARE,
        )  # fmt: skip


def _call(callbacks: Sequence[Any], hook: str, model: MUSE) -> None:
    for callback in callbacks:
        method = getattr(callback, hook, None)
        if callable(method):
            method(model)
