"""Text for training and for questions: sentences, tokens, and how they are encoded."""

from muse.corpus.columns import Column
from muse.corpus.encoding import RULE_DEFAULT, RULE_DISCARD, RULE_KEEP, LineSentence, encode_corpus
from muse.corpus.tokenizer import tokenize
from muse.corpus.tokens import tokenize as tokenize_wiki

__all__ = [
    "RULE_DEFAULT",
    "RULE_DISCARD",
    "RULE_KEEP",
    "Column",
    "LineSentence",
    "encode_corpus",
    "tokenize",
    "tokenize_wiki",
]
