"""Training: the schedule of epochs around the core's trainer, and how to go on after a stop."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import time
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.base import cuda
from muse.base.interrupts import HeldInterrupts
from muse.base.limits import usable_cores
from muse.base.progress import Bar, progress_bar
from muse.data.arrays import Arrays
from muse.data.counts import with_text
from muse.data.forest import Forest
from muse.data.memory import short_of_memory
from muse.data.sense_names import NO_NAMES, warn_of_lost
from muse.data.settings import Settings
from muse.data.snapshot import Publisher, Snapshot
from muse.data.training_state import sense_rows
from muse.errors import DivergenceError, InsufficientMemoryError
from muse.selector.selection import context_weights
from muse.training.checkpoints import Checkpoints
from muse.training.counting import digest, sense_uses, word_uses
from muse.training.epochs import EpochTotals, Warnings, log_row
from muse.training.growing import grow, growth_row, names_from_words
from muse.training.initial import initial_arrays, without_selector
from muse.training.options import core_options
from muse.training.plan import Plan, place_training, settings_of_run
from muse.training.resuming import NO_SENSES_YET, resumable, say_nothing_is_left, size_of, with_senses
from muse.training.schedule import Stage, schedule
from muse.training.split import split_arrays
from muse.training.tree_start import arrays_from_trees

__all__ = ["Trainee", "TrainingRun", "check_device", "train_model"]

logger = logging.getLogger("muse")


class Trainee(Publisher, Protocol):
    """What training asks of a model: a snapshot to begin with, and to take those that it publishes."""

    history: list[dict[str, Any]]
    stop_training: bool

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, for checkpoints."""


def train_model(model: Trainee, corpus: _core.Corpus, **asked: Any) -> tuple[int, int]:
    """Train `model` on an encoded corpus as `asked` (see `Plan`); `MUSE.train` is the way to call it, and says more.

    Returns how many tokens were trained, and how many were read for that.

    Raises
    ------
    ValueError
        If `resume` is given and `model` was not in training, or not on this corpus for as many epochs.
    DivergenceError
        If scores grow beyond bounds. The model keeps its last finite values.
    KeyboardInterrupt
        On Ctrl-C, within a second but for extreme settings; the model can be used as it is then, and training resumed.
    InsufficientMemoryError
        If memory runs out; the model can be used as it is then.
    """
    check_device(model.snapshot.settings)
    plan = Plan(**asked)
    run, callbacks = TrainingRun(model, corpus, plan), plan.callbacks
    model.stop_training = False
    if plan.resume and run.stage == len(run.stages) and not run.split_due:
        say_nothing_is_left(plan.epochs)
    _call(callbacks, "on_train_begin", model)
    try:
        with run.senses_after_errors():
            run.train(callbacks)
            run.count_senses()
    except KeyboardInterrupt:
        logger.info("training was interrupted; train(resume=True) goes on from here")
        run.say_that_there_are_no_senses()
        _call(callbacks, "on_train_end", model)
        raise
    except InsufficientMemoryError:
        raise
    except MemoryError as error:
        raise short_of_memory(run.settings, run.snapshot.vocabulary.counts, run.arrays.n_senses) from error
    run.checkpoints.write(model.save)
    _call(callbacks, "on_train_end", model)
    return run.targets, run.tokens


def check_device(settings: Settings) -> None:
    """Raise a RuntimeError where `device` asks for what is not there, which is one of build, driver and device."""
    if settings.device == "cuda":
        cuda.backend_for(settings.device, "training")


class TrainingRun:
    """One call of `train_model`.

    Where it stands is always in a snapshot that the model has: what a resumed run begins with.

    Attributes
    ----------
    snapshot : Snapshot
        The last one published. The core trains its matrices in place.
    stages : list of Stage
        All of the schedule.
    stage, batch : int
        The stage that is next or under way, and the next batch of its epoch.
    split_due : bool
        The arrays are those of words, from which senses are still to be made.
    warm : bool
        This training makes senses anew; else it goes on with those that there are.
    earlier, use : int64 (Z,)
        Counts of the senses before this text, and their last known use in it; see `with_text`.
    text : int64 (V,)
        Uses of each word in the text.
    targets, tokens : int
        What this call has trained: tokens that subsampling left with a collocate, and all.
    """

    def __init__(self, model: Trainee, corpus: _core.Corpus, plan: Plan) -> None:
        self.model, self.corpus, self.epochs = model, corpus, plan.epochs
        self.snapshot = before = model.snapshot
        self.digest = digest(corpus)
        unfinished = resumable(before, corpus, self.digest, plan.epochs) if plan.resume else {}
        self.alphas = plan.alphas or tuple(unfinished.get("alphas", ()))
        self.settings = settings = settings_of_run(before.settings, self.alphas, unfinished.get("workers"))
        self.workers = settings.workers or usable_cores()
        self.trainer_type, self.batches_at_once = place_training(settings, self.workers)
        self.wanted = settings.senses_of(before.vocabulary.words)
        self.stage, self.batch = int(unfinished.get("stage", 0)), int(unfinished.get("batch", 0))
        self.split_due, self.warm = self._senses_to_make(before, unfinished)
        self.stages = schedule(settings, plan.epochs, warm=self.warm)
        if plan.senses_now and self.stages[self.stage : self.stage + 1] and self.stages[self.stage].words:
            after = [i for i, stage in enumerate(self.stages) if not stage.words]
            self.stage, self.batch = after[0] if after else len(self.stages), 0
        self.checkpoints = Checkpoints(settings, resumed=plan.resume)
        if before.is_trained:
            arrays = before.arrays.for_training()
            if before.forest is not None and self.split_due:
                arrays = before.forest.words(arrays)
                self.snapshot = before.replace(
                    forest=dataclasses.replace(before.forest, word_vectors=arrays.sense_vectors)
                )
            elif self.split_due:
                arrays = without_selector(arrays)
        else:
            first = np.ones_like(self.wanted) if self.split_due else self.wanted
            arrays = initial_arrays(settings, first, before.vocabulary.counts, of_words=self.split_due)
        self.totals = EpochTotals(arrays.n_senses)
        if self.batch > 0:
            self.totals = EpochTotals(
                arrays.n_senses, unfinished["sums"], sense_rows(unfinished, "sense_use", arrays.sense_counts)
            )
        self.forget = float(unfinished.get("forget", plan.forget))
        self.text = word_uses(corpus, arrays.n_words)
        self.earlier, self.use = arrays.sense_counts, np.zeros(arrays.n_senses, np.int64)
        self.senses_before = before.arrays.sense_counts if before.is_trained else self.earlier
        if plan.resume and before.forest is not None and self.split_due:  # words are in training, senses will follow
            self.earlier, self.use = np.zeros_like(self.use), arrays.sense_counts
            self.senses_before = np.array(unfinished.get("earlier", ()), np.int64)
        elif plan.resume:
            self.earlier, self.use = sense_rows(unfinished, "earlier", np.zeros_like(self.use)), arrays.sense_counts
        self.targets = self.tokens = 0
        self.is_counted = False
        self.warnings = Warnings(settings)
        self.warnings.begin(arrays)
        self._publish(arrays)

    def _senses_to_make(self, before: Snapshot, unfinished: dict[str, Any]) -> tuple[bool, bool]:
        """Whether senses are still to be made from words, and whether anew."""
        several = bool((self.wanted > 1).any())
        if self.settings.init == "trees":
            anew = bool(unfinished.get("warm", several and before.forest is None))
            more = self.stage < self.epochs or bool(unfinished.get("split_due"))
            return more and (anew or before.forest is not None), anew
        several = several and self.settings.from_words
        due = several and (not before.is_trained or bool(before.training_state.get("split_due")))
        return due, bool(unfinished.get("warm", due))

    @property
    def arrays(self) -> Arrays:
        """What is trained."""
        return self.snapshot.arrays

    # -- the schedule ------------------------------------------------------------------------------------------------

    def train(self, callbacks: Sequence[Any]) -> None:
        """Run the stages that are left, or until a callback sets ``model.stop_training``."""
        size, done = self.corpus.n_tokens, sum(stage.size for stage in self.stages[: self.stage])
        with progress_bar(
            total=round(sum(stage.size for stage in self.stages) * size), desc="training", unit=" tokens",
            show=self.settings.progress, initial=round(done * size + self.totals.sums["tokens"]),
        ) as bar:  # fmt: skip
            while self.stage < len(self.stages) and not self.model.stop_training:
                stage = self.stages[self.stage]
                if self.split_due and not stage.words:
                    self._split(bar)
                _call(callbacks, "on_epoch_begin", self.model)
                self._finish_epoch(self._train_stage(stage, bar))
                _call(callbacks, "on_epoch_end", self.model)
        if self.split_due and self.settings.init == "trees" and (self.stage or not self.warm):
            self._make_senses(callbacks)
        if self.model.stop_training:
            done = self.stages[self.stage - 1].epoch + 1 if self.stage else 0
            logger.info("a callback stopped training after epoch %d of %d", done, self.epochs)
            self.say_that_there_are_no_senses()

    def say_that_there_are_no_senses(self) -> None:
        """Warn where training has ended before there were senses."""
        if self.split_due and not self.has_senses:
            logger.warning(NO_SENSES_YET)

    @contextlib.contextmanager
    def senses_after_errors(self) -> Iterator[None]:
        """What may break off: the senses that the model had before are there again then."""
        try:
            yield
        except BaseException:
            if self.split_due and self.has_senses:
                self._show(with_senses(self.snapshot, self.senses_before))
            raise

    @property
    def has_senses(self) -> bool:
        """Whether the model had senses by trees before this training, and has numbers still."""
        return not self.warm and self.snapshot.forest is not None

    def _split(self, bar: Bar) -> None:
        start = time.perf_counter()
        logger.info("splitting %d words into senses", len(self.wanted))
        bar.set_postfix_str("splitting")
        make = split_arrays if self.settings.start is None else arrays_from_trees
        split = make(self.arrays, self.corpus, self.settings, self.wanted, self.workers)
        named = self.snapshot.replace(names=names_from_words(self.snapshot, split, None))
        with HeldInterrupts():
            self.split_due, self.totals, self.snapshot = False, EpochTotals(split.n_senses), named
            self.earlier, self.use = np.zeros(split.n_senses, np.int64), split.sense_counts
            self._publish(split)
        self.warnings.begin(split)
        _core.give_back_memory()
        bar.set_postfix_str()
        logger.info("the split took %.1f s", time.perf_counter() - start)

    def _make_senses(self, callbacks: Sequence[Any]) -> None:
        """Senses by trees from the words as they stand: new trees, or new vectors of those that there are."""
        start = time.perf_counter()
        _call(callbacks, "on_epoch_begin", self.model)
        forest, loss, names = self.snapshot.forest, 0.0, self.snapshot.names
        if self.warm or forest is None:
            words = self.snapshot.vocabulary.words
            forest, arrays, loss = grow(self.arrays, self.corpus, self.settings, words, self.workers)
            names = names_from_words(self.snapshot, arrays, forest)
        else:
            arrays = forest.arrays(self.arrays.collocation_vectors, self.arrays.word_counts)
        made = self.snapshot.replace(numbers=arrays, forest=forest)
        use = sense_uses(made, self.corpus, self.text if self.warm else None)
        totals = EpochTotals(arrays.n_senses, None, use)
        row = growth_row(totals.row(max(self.stage, 1), "trees", (0.0, 0.0), arrays), self.corpus, loss,
                         time.perf_counter() - start)  # fmt: skip
        with HeldInterrupts():
            self.split_due, self.totals = False, EpochTotals(arrays.n_senses)
            self.snapshot = self.snapshot.replace(forest=forest, names=names)
            self.earlier, self.use, self.is_counted = self._earlier_uses(forest, arrays), use, True
            self.model.history.append(row)
            self._publish(arrays)
        _core.give_back_memory()
        logger.info("senses of words by sense trees: %.1f s", row["seconds"])
        _call(callbacks, "on_epoch_end", self.model)

    def _earlier_uses(self, forest: Forest, arrays: Arrays) -> NDArray[np.int64]:
        """Counts of the senses before this text: none of new trees; else those that the model had, or, where a resumed
        training does not know them, those of the words by the shares of their nodes."""
        if self.warm:
            return np.zeros(arrays.n_senses, np.int64)
        known = self.senses_before
        return known if len(known) == arrays.n_senses else forest.spread(self.snapshot.vocabulary.counts)

    def _train_stage(self, stage: Stage, bar: Bar) -> dict[str, Any]:
        trainer = self._trainer(stage)
        first, last = (round(share * trainer.num_batches) for share in stage.share)
        alpha = trainer.alpha_at(stage.epoch, first)
        self.batch = max(first, self.batch)
        while self.batch < last:
            self._run_batches(trainer, stage, last, bar)
            if self.batch < last and self.checkpoints.is_due():
                self._check_finite(stage)
                self.checkpoints.write(self.model.save)
        self._check_finite(stage)
        alphas = alpha, trainer.alpha_at(stage.epoch, last)
        return self.totals.row(stage.epoch + 1, "words" if stage.words else "senses", alphas, self.arrays)

    def _run_batches(self, trainer: _core.Trainer, stage: Stage, last: int, bar: Bar) -> None:
        """Run batches until a checkpoint is due or the stage ends."""
        shown = 0

        def tick(tokens: int) -> bool:
            nonlocal shown
            held.let_through()
            bar.update(tokens - shown)
            shown = tokens
            return not self.checkpoints.is_due()

        stop = self.batch + self.checkpoints.batches(last - self.batch)
        with HeldInterrupts() as held:
            try:
                stats = trainer.run(stage.epoch, self.batch, stop, self.batches_at_once, tick)
            except BaseException:  # of a thread: which batches are done is unknown
                self._give_up()
                raise
            if stats["diverged"]:
                raise self._divergence(stage, "scores grew beyond all bounds")
            self.batch = stats["next_batch"]
            self.totals.add(stats)
            self._publish()
            self.checkpoints.trained(stats["tokens"])
            bar.update(stats["tokens"] - shown)
            if stats["cut"]:
                logger.warning("a batch was cut short, so what a resumed training makes of it is not exactly the same; "
                               "lower batch_tokens (%d) to avoid that", self.settings.batch_tokens)  # fmt: skip
            if stats["error"] is not None:  # Ctrl-C, or an exception of the progress bar
                raise stats["error"]

    def _finish_epoch(self, row: dict[str, Any]) -> None:
        with HeldInterrupts():
            self.use, self.targets = self.totals.sense_use, self.targets + int(self.totals.sums["targets"])
            self.stage, self.batch, self.totals = self.stage + 1, 0, EpochTotals(self.arrays.n_senses)
            self.model.history.append(row)
            self.tokens += row["tokens"]
            self._publish()
        log_row(row, self.epochs)
        self.warnings.say(row)
        if self.checkpoints.is_due(epoch_ends=True) and (self.stage < len(self.stages) or self.split_due):
            self.checkpoints.write(self.model.save)

    def _trainer(self, stage: Stage) -> _core.Trainer:
        arrays, settings = self.arrays, self.settings
        arrays.check()  # a callback may have given others
        trainer: _core.Trainer = self.trainer_type(
            context_vectors=arrays.context_vectors, selection_vectors=arrays.selection_vectors,
            sense_vectors=arrays.sense_vectors, collocation_vectors=arrays.collocation_vectors,
            sense_offset=arrays.sense_offset, word_counts=self.snapshot.vocabulary.counts, corpus=self.corpus,
            options=core_options(settings, self.epochs, words=stage.words), sample=settings.sample,
            ns_exponent=settings.ns_exponent, context_weights=self._training_weights(),
            forward_values=arrays.forward_values, backward_values=arrays.backward_values,
        )  # fmt: skip
        if self.trainer_type is not _core.Trainer:
            trainer.bfloat16 = settings.device_storage == "bfloat16"  # type: ignore[attr-defined]
        return trainer

    def _training_weights(self) -> NDArray[np.float32]:
        """Subsampling has already thinned out the frequent words of a context that is not read in full."""
        if not self.settings.full_text:
            return np.empty(0, np.float32)
        return context_weights(self.settings, self.snapshot.vocabulary.counts)

    def _check_finite(self, stage: Stage) -> None:
        try:
            self.arrays.check_finite()
        except ValueError as error:
            raise self._divergence(stage, str(error)) from None

    def _divergence(self, stage: Stage, sign: str) -> DivergenceError:
        settings = self.settings
        try:
            self.arrays.check_finite()
            self._give_up()
            left = "keeps its last finite values"
        except ValueError:  # threads can be faster than the check of the scores
            before = self.snapshot
            self._show(before.replace(numbers=None, training_state={}, forest=None, names=NO_NAMES))
            warn_of_lost(before.names.keys_and_names(), "the model has no senses any more")
            left = "is left without values"
        if self.checkpoints.last is not None:
            left += f" (the last checkpoint is {str(self.checkpoints.last)!r})"
        return DivergenceError(
            f"training diverged in epoch {stage.epoch + 1} ({sign}) and stopped; the model {left}. Make a new one with "
            f"a lower alpha ({settings.alpha:g}), selection_alpha ({settings.selection_alpha:g}), negative "
            f"({settings.negative}) or group_size ({settings.group_size}), or with max_norm ({settings.max_norm:g}) at "
            "a bound such as 30"
        )

    def _give_up(self) -> None:
        """Let the model have the arrays as they are, from where training cannot be resumed."""
        self._show(self._with(self.arrays).replace(training_state={}))

    # -- what the model shows ----------------------------------------------------------------------------------------

    def _publish(self, arrays: Arrays | None = None) -> None:
        """Let the model show the arrays as they are now, or others, with what a resumed run needs to know."""
        self._show(self._with(self.arrays if arrays is None else arrays))

    def _with(self, arrays: Arrays) -> Snapshot:
        """The next snapshot. Its matrices are the same, so that training goes on in them; its counts are its own."""
        counts = self.snapshot.vocabulary.counts
        senses = with_text(self.earlier, self.use, self.text, counts, arrays.sense_offset, self.forget)
        numbers = dataclasses.replace(arrays, sense_counts=senses, word_counts=counts)
        state = {
            "epochs": self.epochs, "stage": self.stage, "batch": self.batch, "warm": self.warm,
            "split_due": self.split_due, "corpus": size_of(self.snapshot, self.corpus), "digest": self.digest,
            "sums": dict(self.totals.sums), **self._rest_to_resume(arrays),
        }  # fmt: skip
        return self.snapshot.replace(numbers=numbers, training_state=state)

    def _rest_to_resume(self, arrays: Arrays) -> dict[str, Any]:
        """What was asked for, and what `with_text` and the epoch under way need, where it cannot be found out again."""
        rest: dict[str, Any] = {}
        if self.forget:
            rest["forget"] = self.forget
        if self.settings.workers is not None or self.workers == 1:  # not all of the cores, which differ
            rest["workers"] = self.workers
        if self.alphas:
            rest["alphas"] = list(self.alphas)
        if self.batch:
            rest["sense_use"] = self.totals.sense_use.tolist()
        if self.snapshot.forest is not None and self.split_due:
            rest["earlier"] = self.senses_before.tolist()
        elif self.earlier[np.repeat(np.diff(arrays.sense_offset) > 1, np.diff(arrays.sense_offset))].any():
            rest["earlier"] = self.earlier.tolist()
        return rest

    def _show(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.model.publish(snapshot)

    def count_senses(self) -> None:
        """Count how often each sense is used in the whole text: the senses' priors."""
        if self.is_counted or (self.split_due and self.snapshot.forest is not None):  # made just now, or not yet again
            return
        self.use = sense_uses(self.snapshot, self.corpus, self.text if self.warm else None)
        self._publish()


def _call(callbacks: Sequence[Any], hook: str, model: Trainee) -> None:
    for callback in callbacks:
        method = getattr(callback, hook, None)
        if callable(method):
            method(model)
