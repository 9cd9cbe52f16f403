"""MUSE: several vectors a word, learned from plain text, and a selector that says which sense a context means.

>>> from muse import MUSE
>>> model = MUSE(corpus_file="wiki.txt", senses=3)  # doctest: +SKIP
>>> model.sense_vectors("head", "the head of the new army")  # doctest: +SKIP
"""

from muse import datasets, evaluation, formats
from muse._core import __version__
from muse.arrays import Arrays
from muse.callbacks import Callback
from muse.corpus import LineSentence, encode_corpus
from muse.errors import (
    DivergenceError,
    FormatWarning,
    InsufficientMemoryError,
    ModelFileError,
    NotTrainedError,
    UnknownSenseError,
    UnknownWordError,
)
from muse.loaded import LoadedVectors, load_vectors
from muse.model import MUSE
from muse.settings import Settings
from muse.vectors import SenseVectors, WordVectors
from muse.vocabulary import Vocabulary

__all__ = [
    "MUSE",
    "Arrays",
    "Callback",
    "DivergenceError",
    "FormatWarning",
    "InsufficientMemoryError",
    "LineSentence",
    "LoadedVectors",
    "ModelFileError",
    "NotTrainedError",
    "SenseVectors",
    "Settings",
    "UnknownSenseError",
    "UnknownWordError",
    "Vocabulary",
    "WordVectors",
    "__version__",
    "datasets",
    "encode_corpus",
    "evaluation",
    "formats",
    "load_vectors",
]
