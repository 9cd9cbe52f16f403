"""Text for training and for questions: sentences, tokens, and how they are encoded."""

from muse.corpus.columns import Column
from muse.corpus.encoding import RULE_DEFAULT, RULE_DISCARD, RULE_KEEP, LineSentence, encode_corpus
from muse.corpus.prose import Prose
from muse.corpus.sentences import SentenceSplitter
from muse.corpus.tokenizer import tokenize
from muse.corpus.tokens import tokenize as tokenize_wiki
from muse.files.looks import looks_like_prose

__all__ = [
    "RULE_DEFAULT",
    "RULE_DISCARD",
    "RULE_KEEP",
    "Column",
    "LineSentence",
    "Prose",
    "SentenceSplitter",
    "encode_corpus",
    "looks_like_prose",
    "tokenize",
    "tokenize_wiki",
]
