"""The state of a training on several machines, in one file that appears whole or not at all."""

from __future__ import annotations

import errno
import json
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from muse.data.arrays import Floats
from muse.data.vocabulary import Vocabulary
from muse.distributed.plan import ShardSize
from muse.distributed.replica import MATRICES
from muse.distributed.report import Report
from muse.files.replacing import replacing

__all__ = ["NAME", "Stored", "read", "write"]

NAME = "distributed.npz"


@dataclass
class Stored:
    """Where a training stands.

    Attributes
    ----------
    fingerprint : str
        Of what it was asked for: a call that asks for something else is not a call to go on.
    vocabulary : Vocabulary
    sizes : list of ShardSize
        Of the encoded shards, as far as they are known.
    planned_for : int
        Parts that the length of rounds and the learning rate are for, which stay as they are when the training is taken
        up by another number of workers.
    epoch, round : int
        The next one; rounds are counted in the epoch.
    sums : list of dict
        What was summed over batches, by epoch.
    values : dict of str to float32 array
        U and V; none before the first round.
    report : Report
    """

    fingerprint: str
    vocabulary: Vocabulary
    sizes: list[ShardSize] = field(default_factory=list)
    planned_for: int = 0
    epoch: int = 0
    round: int = 0
    sums: list[dict[str, float]] = field(default_factory=list)
    values: dict[str, Floats] = field(default_factory=dict)
    report: Report = field(default_factory=Report)


def write(folder: Path, stored: Stored) -> None:
    """Write the state to a folder, in place of an earlier one."""
    vocabulary = stored.vocabulary
    about = {
        "fingerprint": stored.fingerprint, "words": list(vocabulary.words), "raw_words": vocabulary.raw_words,
        "min_count": vocabulary.effective_min_count, "sizes": stored.sizes,
        "planned_for": stored.planned_for, "epoch": stored.epoch, "round": stored.round, "sums": stored.sums,
        "report": asdict(stored.report),
    }  # fmt: skip
    text = np.frombuffer(json.dumps(about).encode(), np.uint8)
    with replacing(folder / NAME) as file:
        np.savez(file, about=text, counts=vocabulary.counts, **stored.values)  # type: ignore[arg-type]


def read(folder: str | PathLike[str]) -> Stored | None:
    """The state in a folder; None where there is none yet.

    Raises
    ------
    ValueError
        If the file is none of these, or damaged.
    """
    path = Path(folder) / NAME
    if not path.exists() and not path.is_symlink():
        return None
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            about: dict[str, Any] = json.loads(kept["about"].tobytes())
            counts = kept["counts"]
            values = {name: kept[name] for name in MATRICES if name in kept}
        words = about["words"]
        vocabulary = Vocabulary(words, counts, raw_words=about["raw_words"], effective_min_count=about["min_count"])
        stored = Stored(
            str(about["fingerprint"]), vocabulary, [ShardSize(*size) for size in about["sizes"]],
            about["planned_for"], about["epoch"], about["round"], about["sums"], values, Report(**about["report"]),
        )  # fmt: skip
        fits = _fits(stored)
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, EOFError, OSError, RuntimeError,
            zipfile.BadZipFile, zlib.error) as error:  # fmt: skip
        if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EIO):
            raise
        raise ValueError(
            f"{fspath(path)} is no checkpoint of a distributed training, or damaged ({error}); remove it, or give "
            "another folder as checkpoint="
        ) from error
    if not fits:
        raise ValueError(
            f"{fspath(path)} holds values that do not fit together; remove it, or give another folder as checkpoint="
        )
    return stored


def _fits(stored: Stored) -> bool:
    """Whether all of it is of one training; what has the wrong type may be an error."""
    rows, report, sizes = len(stored.vocabulary), stored.report, stored.sizes
    fits = all(isinstance(word, str) for word in stored.vocabulary.words) and all(
        matrix.ndim == 2 and len(matrix) == rows and matrix.dtype == np.float32 and np.isfinite(matrix).all()
        for matrix in stored.values.values()
    )
    fits &= len({matrix.shape for matrix in stored.values.values()}) < 2
    begun = stored.epoch > 0 or stored.round > 0 or report.rounds > 0
    fits &= len(stored.values) == (len(MATRICES) if begun else 0)
    fits &= min(len(stored.sums), len(report.tokens), len(report.parts)) >= stored.epoch + (stored.round > 0)
    fits &= all(_counts(size) for size in sizes) and sum(size.tokens for size in sizes) == report.corpus_tokens
    fits &= _counts([stored.epoch, stored.round, stored.planned_for, report.rounds, report.corpus_tokens])
    fits &= all(map(_counts, (report.tokens, report.parts, report.moved, report.resumed, [*report.places.values()])))
    fits &= _counts([report.started, report.repeated, report.went_back]) and 0 not in report.parts
    fits &= (stored.planned_for > 0) == bool(sizes)
    fits &= all(isinstance(number, (int, float)) for sums in stored.sums for number in sums.values())
    seconds = [*report.seconds, *report.training, *report.part_seconds.values()]
    return bool(fits) and all(isinstance(number, (int, float)) for number in seconds)


def _counts(numbers: Iterable[Any]) -> bool:
    return all(type(number) is int and number >= 0 for number in numbers)
