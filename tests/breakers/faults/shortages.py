"""Disks that are full and memory that runs out, at random limits."""

from __future__ import annotations

import contextlib
import re
import resource
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from muse import MUSE
from muse.corpus.encoding import encode_corpus
from muse.training.checkpoints import CHECKPOINT_NAME

from .processes import Child, killed_at_the_end, require
from .scenario import (
    CORPUS,
    bytes_of,
    digest,
    new_model,
    require_no_leftovers,
    train_or_resume,
    two_models,
    unbroken,
)

FAILED_CLEANLY, WENT_WELL = 10, 11


@contextlib.contextmanager
def _small_disk(folder: Path, size: int) -> Iterator[bool]:
    """Yields whether `folder` is a file system of `size` bytes now; if we may not mount one, limit files instead."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, check=False
    )
    try:
        yield mounted.returncode == 0
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", str(folder)], check=True)


def _limit_files(size: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def full_disk_while_saving(rng: np.random.Generator, folder: Path) -> str:
    """One model is saved over another, with room for a part of it."""
    models, digests = two_models()
    size = len(bytes_of(models[1]))
    disk, path = folder / "disk", folder / "disk" / "model"
    disk.mkdir()
    room = int(rng.integers(0, size + size // 10))
    with _small_disk(disk, size + room) as mounted:
        models[0].save(path)

        def save() -> int:
            if not mounted:
                _limit_files(room)
            try:
                models[1].save(path)
            except OSError as error:
                print(error)
                return FAILED_CLEANLY
            return WENT_WELL

        child = Child(save)
        with killed_at_the_end(child):
            code = child.wait()
        require(code in (FAILED_CLEANLY, WENT_WELL), f"saving ended with {code}: {child.said()}")
        require_no_leftovers(disk, "model")
        found = digests.get(digest(path.read_bytes()))
    require(found == (0 if code == FAILED_CLEANLY else 1), "the file is not the one that it should be")
    return "OSError, the old file is whole" if code == FAILED_CLEANLY else "it had room"


def full_disk_while_checkpointing(rng: np.random.Generator, folder: Path) -> str:
    """A training goes on without the checkpoints for which there is no room, and ends with the same bytes."""
    expected, _ = unbroken()
    disk = folder / "disk"
    disk.mkdir()
    room = int(rng.integers(1, 2 * len(expected)))
    with _small_disk(disk, max(room, 8192)) as mounted:

        def train() -> int:
            if not mounted:
                _limit_files(room)
            model = train_or_resume(disk)
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            return 0 if bytes_of(model) == expected else 1

        child = Child(train)
        with killed_at_the_end(child):
            code = child.wait()
        said = child.said()
        require(code == 0, f"the training ended with {code}: {said}")
        require_no_leftovers(disk, CHECKPOINT_NAME)
        checkpoint = disk / CHECKPOINT_NAME
        if checkpoint.exists():
            MUSE.load(checkpoint)
    failed = "the checkpoint could not be written, and training goes on without it" in said
    return "some checkpoints left out, result exact" if failed else "it had room, result exact"


def full_disk_while_spilling(rng: np.random.Generator, folder: Path) -> str:
    """A corpus that is larger than `max_ram` finds no room on the disk."""
    disk = folder / "disk"
    disk.mkdir()
    room = int(rng.integers(1, 100_000))
    sentences = CORPUS.sentences * 3

    def read(mounted: bool) -> int:
        if not mounted:
            _limit_files(room)
        for _ in range(3):  # the process goes on
            try:
                vocabulary, corpus = encode_corpus(sentences, min_count=1, max_ram=3000, spill_dir=disk)
            except OSError as error:
                require("cannot spill the corpus (free some space, or set spill_dir" in str(error), str(error))
                code = FAILED_CLEANLY
            else:
                require(corpus.spilled and corpus.n_tokens == vocabulary.counts.sum(), "the counts are wrong")
                code = WENT_WELL
        return code

    with _small_disk(disk, max(room, 4096)) as mounted:
        child = Child(lambda: read(mounted))
        with killed_at_the_end(child):
            code = child.wait()
        require(code in (FAILED_CLEANLY, WENT_WELL), f"reading ended with {code}: {child.said()}")
        require_no_leftovers(disk)
    return "OSError, nothing is left" if code == FAILED_CLEANLY else "it had room"


def memory_limit(rng: np.random.Generator, folder: Path) -> str:
    """RLIMIT_AS a little above what the process has: reading, training or saving runs out of memory, or does not."""
    extra = int(10 ** rng.uniform(5, 9))  # 100 kB to 1 GB
    size = int(rng.choice([20, 400, 4000]))

    def build_and_train() -> int:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + extra
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
        try:
            model = new_model(vector_size=size, epochs=1, workers=int(rng.integers(1, 4)))
            model.build_vocab(CORPUS.sentences)
            model.train()
            model.save(folder / "model")
            code = WENT_WELL
        except MemoryError as error:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            print(f"{type(error).__name__}: {error}")
            code = FAILED_CLEANLY
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        require(new_model(epochs=1).settings.epochs == 1, "the interpreter is not alive")
        return code

    child = Child(build_and_train)
    with killed_at_the_end(child):
        code = child.wait()
    said = child.said()
    require(code in (FAILED_CLEANLY, WENT_WELL), f"it ended with {code}: {said}")
    if code == WENT_WELL:
        MUSE.load(folder / "model").arrays.check_finite()
        return "it had room"
    require_no_leftovers(folder)
    require(re.search(r"[\d.]+ (GB|MB|[MGK]iB|bytes|tokens)", said), f"the message has no figure: {said}")
    return "MemoryError with the figure"
