"""Are the senses real? The measures of the field as one-line calls.

==============================  ====================================================================
:func:`evaluate_scws`           similarity of words in context (SCWS): MaxSimC, AvgSimC, MaxSim, AvgSim
:func:`evaluate_word_similarity`  WordSim-353, SimLex-999, MEN, RG-65, ...: Spearman with intervals
:func:`evaluate_synonyms`       TOEFL, ESL, RD and your own synonym questions
:func:`evaluate_induction`      word-sense induction: SemEval-2010 task 14 and 2013 task 13, RUSSE, TWSI
:func:`score_key`               any induced key against any gold key; :func:`make_key` of a table
:func:`evaluate_wic`            word in context
:func:`evaluate_pseudo_words`   merged words of your own corpus, with bounds: :class:`PseudoWordTask`
==============================  ====================================================================

Each is a task (``ScwsTask``, ...) called with a model; a task is made once and used for many models, or during
training by :class:`EvaluationCallback`. A model is anything with the methods of :class:`SenseModel`;
:class:`SenseKeyedVectors` makes one of any ``word#k`` vectors. Each task returns an :class:`EvaluationResult`, which
prints as a table and converts to a dict, JSON or pandas. scipy and scikit-learn come with the extra
``muse-senses[eval]``.

Evaluation data does not ship with muse; the readers take the files as published.
"""

from muse.corpus.tokens import tokenize
from muse.evaluation import clustering
from muse.evaluation.callback import EvaluationCallback
from muse.evaluation.induction import InductionTask, evaluate_induction, score_key
from muse.evaluation.protocol import SenseModel, WordLookup
from muse.evaluation.pseudoword_pairs import draw_pairs
from muse.evaluation.pseudowords import PseudoWordTask, evaluate_pseudo_words
from muse.evaluation.results import EvaluationResult
from muse.evaluation.scws import ScwsTask, evaluate_scws
from muse.evaluation.similarity import WordSimilarityTask, evaluate_word_similarity
from muse.evaluation.stats import bootstrap_spearman, spearman
from muse.evaluation.synonyms import SynonymTask, evaluate_synonyms
from muse.evaluation.wic import WicTask, evaluate_wic
from muse.readers.analogies import Analogy, read_analogies
from muse.readers.instances import read_instances
from muse.readers.key_tables import read_table
from muse.readers.keys import Key, Occurrence, make_key, read_key, write_key
from muse.readers.questions import SynonymQuestion, read_synonyms, read_toefl
from muse.readers.scws import ScwsPair, read_scws
from muse.readers.wic import WicPair, read_wic
from muse.readers.word_pairs import WordPair, read_word_pairs
from muse.vectors.sense_keyed import SenseKeyedVectors

__all__ = [
    "Analogy",
    "EvaluationCallback",
    "EvaluationResult",
    "InductionTask",
    "Key",
    "Occurrence",
    "PseudoWordTask",
    "ScwsPair",
    "ScwsTask",
    "SenseKeyedVectors",
    "SenseModel",
    "SynonymQuestion",
    "SynonymTask",
    "WicPair",
    "WicTask",
    "WordPair",
    "WordSimilarityTask",
    "WordLookup",
    "bootstrap_spearman",
    "clustering",
    "draw_pairs",
    "evaluate_induction",
    "evaluate_pseudo_words",
    "evaluate_scws",
    "evaluate_synonyms",
    "evaluate_wic",
    "evaluate_word_similarity",
    "make_key",
    "read_analogies",
    "read_instances",
    "read_key",
    "read_scws",
    "read_synonyms",
    "read_table",
    "read_toefl",
    "read_wic",
    "read_word_pairs",
    "score_key",
    "spearman",
    "tokenize",
    "write_key",
]
