"""Files that were cut, flipped or overwritten somewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from muse import MUSE, ModelFileError

from .processes import require
from .scenario import CORPUS, bytes_of, new_model, train_or_resume, unbroken


def damaged_file(rng: np.random.Generator, folder: Path) -> str:
    """A model with a flipped bit, a piece of zeros or a missing end: an error, or the very same model."""
    whole, path = unbroken()[0], folder / "model"
    content = bytearray(whole)
    at = int(rng.integers(len(whole))) if rng.random() < 0.5 else int(rng.integers(6000))
    kind = ("flip", "zeros", "cut")[int(rng.integers(3))]
    if kind == "flip":
        content[at] ^= 1 << int(rng.integers(8))
    elif kind == "zeros":
        content[at : at + 64] = bytes(len(content[at : at + 64]))
    else:
        del content[at:]
    path.write_bytes(content)
    try:
        model = MUSE.load(path)
    except ModelFileError:
        return f"{kind}: ModelFileError"
    require(bytes_of(model) == whole, "a damaged file loaded as another model")
    return f"{kind}: harmless, the same model" if content != whole else f"{kind}: changed nothing"


def damaged_checkpoint(rng: np.random.Generator, folder: Path) -> str:
    """A checkpoint with a wrong number in it is refused, and training is not resumed from it."""
    model = new_model(1, epochs=1, checkpoint_dir=folder, checkpoint_every=4000)
    model.build_vocab(CORPUS.sentences)
    model.train()
    path = next(folder.iterdir())
    content = bytearray(path.read_bytes())
    at = int(rng.integers(len(content)))
    before = content[at]
    content[at] = int(rng.integers(256))
    path.write_bytes(content)
    try:
        train_or_resume(folder)
    except ModelFileError:
        return "ModelFileError"
    if content[at] == before:
        return "changed nothing"
    path.write_bytes(content)
    model = MUSE.load(path)
    content[at] = before
    path.write_bytes(content)
    require(bytes_of(model) == bytes_of(MUSE.load(path)), "a damaged checkpoint loaded as another model")
    return "harmless, the same model"
