"""MUSE: several vectors a word, learned from plain text, and a selector that says which sense a context means.

>>> from muse import MUSE
>>> model = MUSE(corpus_file="wiki.txt", senses=3)  # doctest: +SKIP
>>> model.sense_vectors("head", "the head of the new army")  # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING

from muse._core import __version__
from muse.base import cuda
from muse.callbacks import Callback
from muse.corpus.encoding import LineSentence, encode_corpus
from muse.data.arrays import Arrays
from muse.data.recipes import Context, Engine, Paper, Split, Trees
from muse.data.settings import Settings
from muse.data.vocabulary import Vocabulary
from muse.errors import (
    DivergenceError,
    FormatWarning,
    IndexFileError,
    InsufficientMemoryError,
    ModelFileError,
    NotTrainedError,
    UnknownSenseError,
    UnknownWordError,
)
from muse.model.muse import MUSE
from muse.vectors.model_vectors import SenseVectors, WordVectors

if TYPE_CHECKING:
    from muse import datasets, evaluation, formats
    from muse.change import align as align
    from muse.formats.keyed_vectors import KeyedVectors
    from muse.formats.loaded import LoadedVectors, load_vectors

__all__ = [
    "MUSE",
    "Arrays",
    "Callback",
    "Context",
    "DivergenceError",
    "Engine",
    "FormatWarning",
    "IndexFileError",
    "InsufficientMemoryError",
    "KeyedVectors",
    "LineSentence",
    "LoadedVectors",
    "ModelFileError",
    "NotTrainedError",
    "Paper",
    "SenseVectors",
    "Settings",
    "Split",
    "Trees",
    "UnknownSenseError",
    "UnknownWordError",
    "Vocabulary",
    "WordVectors",
    "__version__",
    "cuda",
    "datasets",
    "encode_corpus",
    "evaluation",
    "formats",
    "load_vectors",
]

_LATER = {  # where names stand that few programs need: they are imported when they are asked for
    "KeyedVectors": "muse.formats.keyed_vectors",
    "LoadedVectors": "muse.formats.loaded",
    "align": "muse.change",
    "load_vectors": "muse.formats.loaded",
}
_FOLDERS = "change concordance datasets evaluation formats integrations lexicon plots".split()  # likewise

if not TYPE_CHECKING:  # which would take any name for one of these

    def __getattr__(name: str) -> object:
        """What is imported when it is asked for."""
        if name in _LATER:
            found = getattr(import_module(_LATER[name]), name)
        elif name in _FOLDERS:
            found = import_module(f"muse.{name}")
        else:
            raise AttributeError(f"module 'muse' has no attribute {name!r}")
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        """All names, those too that nobody has asked for yet."""
        return sorted({*globals(), *_LATER, *_FOLDERS})
