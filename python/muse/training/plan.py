"""What is asked of one call of `MUSE.train`, and the settings that its run has."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Sequence
from typing import Any

from muse import _core
from muse.base import cuda
from muse.data.settings import Settings

__all__ = ["Plan", "place_training", "settings_of_run"]

logger = logging.getLogger("muse")

_TOKENS_AT_ONCE = 1 << 16  # on a device, which is idle with fewer


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is asked of one call of `MUSE.train`, which says what each of these is; `alphas`: start and end, or none."""

    epochs: int
    callbacks: Sequence[Any] = ()
    resume: bool = False
    senses_now: bool = False
    forget: float = 0.0
    alphas: tuple[float, ...] = ()


def settings_of_run(settings: Settings, alphas: tuple[float, ...], workers: int | None) -> Settings:
    """The settings of a run with other learning rates, if any; `workers` is how many one had that is resumed."""
    return _with_alphas(settings, alphas).replace(workers=_workers(settings.workers, workers))


def _with_alphas(settings: Settings, alphas: tuple[float, ...]) -> Settings:
    """The settings with other learning rates; that of the selection module keeps its proportion to the first one."""
    if not alphas:
        return settings
    assert settings.selection_alpha is not None
    selection_alpha = settings.selection_alpha * alphas[0] / settings.alpha
    return settings.replace(alpha=alphas[0], min_alpha=alphas[1], selection_alpha=selection_alpha)


def _workers(asked: int | None, before: int | None) -> int | None:
    """How many workers a training has that began with `before` of them, if it is to be resumed."""
    if before is None or asked == before:
        return asked
    if asked is None:
        logger.info("the training is resumed with the %d workers that it began with", before)
        return before
    logger.warning(
        "the training began with workers=%d, and is resumed with workers=%d: what comes of it is not what would have "
        "come of it without a stop; leave workers out to go on as it began", before, asked
    )  # fmt: skip
    return asked


def place_training(settings: Settings, threads: int) -> tuple[Any, int]:
    """Where `device` has it: the class of the trainer, and how many batches it trains at once."""
    backend = cuda.backend_for(settings.device, "training")
    if backend is None:
        return _core.Trainer, threads
    batches = settings.workers or max(1, _TOKENS_AT_ONCE // settings.batch_tokens)
    logger.info("training on the device, %d batches at once", batches)
    return backend.Trainer, batches
