"""The small training that most faults are injected into, and what it gives when nothing goes wrong."""

from __future__ import annotations

import functools
import hashlib
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from muse import MUSE, Engine, Paper, Split
from muse.datasets import make_ambiguous_corpus
from muse.training.checkpoints import CHECKPOINT_NAME

from .processes import require

CORPUS = make_ambiguous_corpus(600, 200, seed=0)  # 9,000 tokens
ENGINE = Engine(batch_tokens=512)
OPTIONS: dict[str, Any] = {
    "vector_size": 20, "workers": 1, "seed": 3, "min_count": 2, "senses": 2, "epochs": 4,
    "recipe": Split(min_contexts=5, engine=ENGINE),
}  # fmt: skip
# Ways through the code: the split, the paper's update, state values, policies; never one that another covers.
VARIANTS: tuple[dict[str, Any], ...] = (
    {},
    {"strategy": "boltzmann", "recipe": Paper(formulation="factorized", engine=ENGINE), "epochs": 2},
    {"strategy": "policy", "recipe": Split(formulation="two_sided", min_contexts=5, engine=ENGINE), "epochs": 2},
)


def new_model(variant: int = 0, **options: Any) -> MUSE:
    return MUSE(**{**OPTIONS, **VARIANTS[variant], **options})


def bytes_of(model: MUSE) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        return (Path(folder) / "model").read_bytes()


@functools.cache
def unbroken(variant: int = 0) -> tuple[bytes, float]:
    """The file that a training which nothing disturbs ends with, and the seconds that it takes."""
    start = time.perf_counter()
    model = new_model(variant)
    model.build_vocab(CORPUS.sentences)
    model.train()
    return bytes_of(model), time.perf_counter() - start


def train_or_resume(folder: Path, variant: int = 0, **options: Any) -> MUSE:
    """What a user's script does that is started again after each crash."""
    options = {"checkpoint_dir": folder, "checkpoint_every": 1, **options}
    checkpoint = folder / CHECKPOINT_NAME
    if checkpoint.exists():
        model = MUSE.load(checkpoint, workers=1, **options)
        model.train(CORPUS.sentences, resume=True)
    else:
        model = new_model(variant, **options)
        model.build_vocab(CORPUS.sentences)
        model.train()
    return model


def large_model(seed: int) -> MUSE:
    """A model of 6 MB that needs no training."""
    from muse import Arrays

    rng = np.random.default_rng(seed)
    words, senses, dim = 3000, 6000, 100
    matrices = [rng.normal(size=(rows, dim)).astype(np.float32) for rows in (words, senses, senses, senses)]
    arrays = Arrays(*matrices, np.arange(0, senses + 1, 2), np.ones(senses, np.int64), np.ones(words, np.int64))
    return MUSE.from_arrays([f"w{i}" for i in range(words)], arrays)


@functools.cache
def two_models() -> tuple[tuple[MUSE, MUSE], dict[str, int]]:
    """Two models, and which one a file's digest means."""
    models = large_model(0), large_model(1)
    return models, {digest(bytes_of(model)): number for number, model in enumerate(models)}


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def require_no_leftovers(folder: Path, *expected: str) -> None:
    names = {path.name for path in folder.iterdir()}
    require(names <= set(expected), f"files are left: {sorted(names - set(expected))}")
