"""Uses of words and senses in a corpus: its index, lines in context, collocates."""

from muse.concordance.collocates import Collocate, CollocateDifference, Collocates, DifferentCollocate
from muse.concordance.index import CorpusIndex
from muse.concordance.indexing import index_corpus
from muse.concordance.lines import Concordance, Line

__all__ = [
    "Collocate",
    "CollocateDifference",
    "Collocates",
    "Concordance",
    "CorpusIndex",
    "DifferentCollocate",
    "Line",
    "index_corpus",
]
