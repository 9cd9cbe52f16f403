"""MUSE: several vectors a word, learned from plain text, and a selector that says which sense a context means.

>>> from muse import MUSE
>>> model = MUSE(corpus_file="wiki.txt", senses=3)  # doctest: +SKIP
>>> model.sense_vectors("head", "the head of the new army")  # doctest: +SKIP
"""

from muse import datasets, evaluation, formats
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
from muse.formats.keyed_vectors import KeyedVectors
from muse.formats.loaded import LoadedVectors, load_vectors
from muse.model.muse import MUSE
from muse.vectors.model_vectors import SenseVectors, WordVectors

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
