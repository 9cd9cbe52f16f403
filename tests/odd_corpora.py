"""Corpora of any kind, and what must hold for each model that comes of them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from muse import MUSE

TOKENS = st.sampled_from(["a", "b", "c", "d", "e", "f", "", " ", "🎉", "a#0", "\n"])
CORPORA = st.lists(st.lists(TOKENS, max_size=30), max_size=20)


def check_file(model: MUSE) -> None:
    """A saved model comes back as it was."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        again = MUSE.load(path, workers=model.settings.workers)
        assert again.settings == model.settings
        assert list(again.vocabulary.words) == list(model.vocabulary.words)
        for name, array in model.arrays.as_dict().items():
            np.testing.assert_array_equal(getattr(again.arrays, name), array)
        again.save(Path(folder) / "again")
        assert (Path(folder) / "again").read_bytes() == path.read_bytes()
