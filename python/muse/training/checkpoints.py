"""When training writes the model to ``checkpoint_dir``."""

from __future__ import annotations

import errno
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path

from muse.data.settings import Settings

__all__ = ["CHECKPOINT_NAME", "PREVIOUS_NAME", "Checkpoints", "check_checkpoint_dir"]

logger = logging.getLogger("muse")

CHECKPOINT_NAME = "checkpoint.safetensors"
PREVIOUS_NAME = "checkpoint.previous.safetensors"


def check_checkpoint_dir(settings: Settings) -> None:
    """Make the folder for checkpoints, if there is to be one; an OSError unless files can be written there."""
    if settings.checkpoint_dir is None:
        return
    folder = Path(settings.checkpoint_dir)
    if folder.exists() and not folder.is_dir():
        message = "checkpoint_dir is a file; give the name of a folder"
        raise NotADirectoryError(errno.ENOTDIR, message, str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        message = "no checkpoint can be written to checkpoint_dir; make the folder writable, or give another"
        raise PermissionError(errno.EACCES, message, str(folder))


class Checkpoints:
    """Writes a model every so many tokens or seconds, or after each epoch; nothing where there is no folder.

    There is one file, `CHECKPOINT_NAME`, which is replaced only when the new one is complete. The first checkpoint of a
    training that is not `resumed` replaces nothing: it leaves one that it finds there under `PREVIOUS_NAME`.

    Raises
    ------
    OSError
        See `check_checkpoint_dir`.
    """

    def __init__(self, settings: Settings, *, resumed: bool = False) -> None:
        # A callback may change the working directory.
        self._folder = None if settings.checkpoint_dir is None else Path(settings.checkpoint_dir).absolute()
        every = None if self._folder is None else settings.checkpoint_every
        self._every_tokens = every if isinstance(every, int) else None
        self._every_seconds = int(every[:-1]) if isinstance(every, str) else None
        self._each_epoch = every is None
        self._batch_tokens = settings.batch_tokens
        self._tokens, self._written = 0, time.monotonic()
        self._resumed = resumed
        self.last: Path | None = None  # what this training wrote
        check_checkpoint_dir(settings)

    def batches(self, most: int) -> int:
        """How many batches may run before the next checkpoint, at least one and at most `most`."""
        if self._every_tokens is None:
            return most
        return min(most, max(1, (self._every_tokens - self._tokens) // self._batch_tokens))

    def trained(self, tokens: int) -> None:
        """Take note of tokens that were trained on."""
        self._tokens += tokens

    def is_due(self, *, epoch_ends: bool = False) -> bool:
        """Whether to write now."""
        if self._every_tokens is not None:  # to the nearest batch
            return self._tokens + self._batch_tokens > self._every_tokens
        if self._every_seconds is not None:
            return time.monotonic() - self._written >= self._every_seconds
        return self._folder is not None and self._each_epoch and epoch_ends

    def write(self, save: Callable[[Path], None]) -> None:
        """Write the model with its method `save`. A full disk costs the checkpoint, not the training."""
        self._tokens, self._written = 0, time.monotonic()
        if self._folder is None:
            return
        path = self._folder / CHECKPOINT_NAME
        try:
            if self.last is None and not self._resumed:
                self._keep_previous(path)
            save(path)
            self.last = path
        except OSError as error:
            logger.error("the checkpoint could not be written, and training goes on without it: %s", error)
        self._written = time.monotonic()

    def _keep_previous(self, path: Path) -> None:
        if path.exists():
            previous = path.with_name(PREVIOUS_NAME)
            path.replace(previous)
            logger.warning("%s is of another training, and is now %s; to go on with a training, load its checkpoint "
                           "and call train(resume=True)", path, previous.name)  # fmt: skip
