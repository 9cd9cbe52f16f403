"""How a model comes by its words: from a corpus or a table of counts, at first or later.

`build_vocab` and `build_vocab_from_freq` are methods of `MUSE`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from muse import _core
from muse.base.checks import integer
from muse.base.checks import trim_rule as check_trim_rule
from muse.corpus.encoding import encode_corpus
from muse.data.memory import check_memory
from muse.data.settings import Settings
from muse.data.snapshot import Snapshot
from muse.data.text_form import TextForm
from muse.data.training_state import with_other_senses
from muse.data.trimming import TrimRule, VocabularyRules
from muse.data.vocabulary import Vocabulary, counts_of
from muse.errors import NotTrainedError
from muse.model.guard import Model, changes
from muse.training.initial import added_senses, grown_arrays

__all__ = ["Sentences", "build_vocab", "build_vocab_from_freq", "encode", "prepare_vocab", "same_corpus", "scan_vocab"]

logger = logging.getLogger("muse")

Sentences = Iterable[Sequence[str]]

_NEEDLESS = ("progress_per", "keep_raw_vocab")  # of gensim's build_vocab


@changes
def build_vocab(
    self: Model,
    sentences: Sentences | None = None,
    corpus_file: str | PathLike[str] | None = None,
    *,
    update: bool = False,
    trim_rule: TrimRule | None = None,
    corpus_iterable: Sentences | None = None,
    **needless: Any,
) -> None:
    """Read a corpus and decide on the words. The same pass encodes it, so that `train` need not read it again.

    Parameters
    ----------
    sentences, corpus_file
        The corpus, as in the constructor.
    update : bool
        Add the new words of this corpus to those already known. In a trained model these keep all their values, and
        new words start afresh; with the recipes `Trees` and `Split` they have one sense each, since senses are made
        once, and do not count in contexts. Training that was interrupted can be resumed on its corpus,
        unless words that were too rare in it before are known now, which would change its tokens.
    trim_rule : callable, optional
        Which words stay, in place of the setting.
    corpus_iterable
        gensim's name of `sentences` here.
    **needless
        ``progress_per`` and ``keep_raw_vocab``, which gensim takes; ignored.

    Raises
    ------
    ValueError
        If the model has a vocabulary and `update` is not given, or no word is left.
    NotTrainedError
        If there is none that `update` could add to.
    RuntimeError
        In a callback of training, in the corpus that is being read, and while another call changes the model.

    Examples
    --------
    >>> from muse import MUSE
    >>> model = MUSE(min_count=1, vector_size=8)
    >>> model.build_vocab([["a", "rose", "is", "a", "rose"]])
    >>> list(model.vocabulary), model.corpus_total_words
    (['a', 'rose', 'is'], 5)
    """
    _check_update(self.snapshot, "build_vocab", update, needless)
    sentences = same_corpus(sentences, corpus_iterable)
    self._corpus = None
    snapshot, corpus = _with_words_of_corpus(self.snapshot, sentences, corpus_file, trim_rule)
    self.publish(snapshot)
    self._corpus, self.corpus_count = corpus, corpus.raw_sentences


@changes
def build_vocab_from_freq(
    self: Model,
    word_freq: Mapping[str, int],
    *,
    corpus_count: int | None = None,
    update: bool = False,
    trim_rule: TrimRule | None = None,
) -> None:
    """Decide on the words from a table of their counts; `min_count` and the other limits apply.

    Parameters
    ----------
    word_freq : mapping of str to int
        How often each word occurs.
    corpus_count : int, optional
        How many sentences they come from; kept as the attribute of that name.
    update, trim_rule
        As in `build_vocab`.

    Raises
    ------
    TypeError, ValueError
        If the table is empty, a key is no string, or a count no integer of at least 0; else as in `build_vocab`.

    Examples
    --------
    >>> from muse import MUSE
    >>> model = MUSE(min_count=2)
    >>> model.build_vocab_from_freq({"a": 9, "rose": 3, "is": 1})
    >>> list(model.vocabulary)
    ['a', 'rose']
    """
    _check_update(self.snapshot, "build_vocab_from_freq", update)
    if corpus_count is not None:
        corpus_count = integer(0, 2**62)("corpus_count", corpus_count)
    self.publish(_with_words_of_table(self.snapshot, word_freq, trim_rule))
    if corpus_count is not None:
        self.corpus_count = corpus_count


@changes
def scan_vocab(
    self: Model, sentences: Sentences | None = None, corpus_file: str | PathLike[str] | None = None, **needless: Any
) -> tuple[int, int]:
    """Count the words of a corpus, for `prepare_vocab`; `build_vocab` does both in one pass, and encodes the text too.

    Parameters
    ----------
    sentences, corpus_file
        The corpus, as in the constructor; gensim's name `corpus_iterable` will do.
    **needless
        ``progress_per`` and ``trim_rule``, which gensim takes; ignored here, where nothing is dropped yet.

    Returns
    -------
    total_words, corpus_count : int
        Tokens and sentences.

    Raises
    ------
    TypeError
        For another argument.

    Examples
    --------
    >>> from muse import MUSE
    >>> MUSE().scan_vocab([["a", "rose", "is", "a", "rose"]])
    (5, 1)
    """
    for name in needless:
        if name not in ("progress_per", "trim_rule", "corpus_iterable", "workers"):
            raise TypeError(f"{name!r} is not an argument of scan_vocab")
    text = same_corpus(sentences, needless.get("corpus_iterable"))
    most = self.snapshot.settings.max_vocab_size
    vocabulary, corpus = encode(self.snapshot, text, corpus_file, min_count=0, max_vocab_size=most)
    self._scanned = dict(zip(vocabulary.words, vocabulary.counts.tolist(), strict=True))
    self.corpus_count = corpus.raw_sentences
    return vocabulary.raw_words, corpus.raw_sentences


@changes
def prepare_vocab(self: Model, *, update: bool = False, trim_rule: TrimRule | None = None) -> dict[str, float]:
    """Decide on the words that `scan_vocab` has counted.

    Parameters
    ----------
    update, trim_rule
        As in `build_vocab`.

    Returns
    -------
    dict of str to number
        ``num_retained_words``, ``retain_total`` (their tokens), ``drop_unique``, ``downsample_unique`` and
        ``downsample_total`` (what subsampling will leave), as gensim reports them.

    Raises
    ------
    NotTrainedError
        If nothing was counted yet.
    ValueError
        If no word is left.

    Examples
    --------
    >>> from muse import MUSE
    >>> model = MUSE(min_count=2, sample=0)
    >>> _ = model.scan_vocab([["a", "rose", "is", "a", "rose"]])
    >>> model.prepare_vocab()["num_retained_words"]
    2
    """
    counted: dict[str, int] | None = getattr(self, "_scanned", None)
    if counted is None:
        raise NotTrainedError("no words were counted yet; call scan_vocab first, or build_vocab, which does both")
    _check_update(self.snapshot, "prepare_vocab", update)
    self.publish(_with_words_of_table(self.snapshot, counted, trim_rule))
    vocabulary, settings = self.snapshot.vocabulary, self.snapshot.settings
    keep = _core.keep_probabilities(vocabulary.counts, settings.sample)
    return {
        "drop_unique": sum(word not in vocabulary for word in counted),
        "retain_total": sum(count for word, count in counted.items() if word in vocabulary),
        "num_retained_words": len(vocabulary), "downsample_unique": int((keep < 1).sum()),
        "downsample_total": int(keep @ vocabulary.counts),
    }  # fmt: skip


def _check_update(snapshot: Snapshot, what: str, update: bool, needless: Iterable[str] = ()) -> None:
    """Raise an error unless there are words to `update`, or none yet; `needless` are arguments that gensim takes."""
    for name in needless:
        if name not in _NEEDLESS:
            raise TypeError(f"{name!r} is not an argument of {what}; settings are given to MUSE(...)")
    if snapshot.words is not None and not update:
        raise ValueError("the model has a vocabulary already; give update=True to add words, or make a new model")
    if snapshot.words is None and update:
        raise NotTrainedError(f"there is no vocabulary to update yet; call {what} without update=True")


def _with_words_of_corpus(
    snapshot: Snapshot, sentences: Sentences | None, corpus_file: Any, trim_rule: TrimRule | None
) -> tuple[Snapshot, _core.Corpus]:
    """The snapshot with the words of a corpus, added to those that it has, and the encoded corpus."""
    chosen = ("min_count", "max_vocab_size", "max_final_vocab", "trim_rule", "sorted_vocab")
    rules = {name: getattr(snapshot.settings, name) for name in chosen}
    if trim_rule is not None:
        rules["trim_rule"] = trim_rule
    known = snapshot.words
    vocabulary, corpus = encode(snapshot, sentences, corpus_file, vocab=known, extend=known is not None, **rules)
    return _with_vocabulary(snapshot, vocabulary, getattr(sentences, "text_form", None)), corpus


def _with_words_of_table(snapshot: Snapshot, word_freq: Mapping[str, int], trim_rule: TrimRule | None) -> Snapshot:
    """The snapshot with the words of a table of counts, added to those that it has."""
    known, settings = snapshot.words, snapshot.settings
    counts = counts_of(word_freq, 0 if known is None else max(known.raw_words, int(known.counts.sum())))
    rule = settings.trim_rule if trim_rule is None else check_trim_rule("trim_rule", trim_rule)
    rules = VocabularyRules(settings.min_count, settings.max_final_vocab, rule, settings.sorted_vocab)
    vocabulary, _ = rules.select(list(word_freq), counts, int(counts.sum()), known)
    return _with_vocabulary(snapshot, vocabulary)


def _with_vocabulary(snapshot: Snapshot, vocabulary: Vocabulary, form: TextForm | None = None) -> Snapshot:
    """The snapshot with a vocabulary that begins with its own; where it is trained, its arrays grow with it.

    How the first text was made into tokens is remembered: in the `form` that it says, or as its words look.
    """
    if snapshot.words is None:
        form = form if isinstance(form, TextForm) else TextForm.measured(vocabulary.words)
        snapshot = snapshot.replace(text_form=form)
    snapshot = snapshot.replace(settings=_with_lemmas(snapshot.settings, vocabulary))
    old, settings, state = snapshot.numbers, snapshot.settings, snapshot.training_state
    _say_unknown(settings, vocabulary)
    if old is None:
        return snapshot.replace(words=vocabulary)
    senses = added_senses(settings, vocabulary.words[old.n_words :])
    check_memory(settings, vocabulary.counts, old.n_senses + int(senses.sum()))
    if "corpus" in state:  # what is to be resumed has as many words now
        tokens, sentences, _ = state["corpus"]
        state = {**state, "corpus": [tokens, sentences, len(vocabulary)]}
        state = with_other_senses(state, lambda counts: np.append(counts, np.zeros(int(senses.sum()), np.int64)))
    numbers, forest = grown_arrays(old, vocabulary, settings), snapshot.forest
    if forest is not None:  # a new word's vector is where it begins
        new = numbers.sense_vectors[numbers.sense_offset[old.n_words : -1]]
        forest = forest.grown(new, numbers.context_vectors)
    return snapshot.replace(words=vocabulary, numbers=numbers, training_state=state, forest=forest)


def _with_lemmas(settings: Settings, vocabulary: Vocabulary) -> Settings:
    """The settings, where a function tells lemmas with what it says of all words: files keep no functions."""
    if not callable(settings.forms):
        return settings
    found: dict[str, str] = {}
    for word in vocabulary:
        lemma = settings.forms(word)
        if lemma is not None and not isinstance(lemma, str):
            raise TypeError(f"forms must tell the lemma of a word (str) or None; of {word!r:.80} it said {lemma!r:.80}")
        if lemma is not None and lemma != word:
            found[word] = lemma
    return settings.replace(forms=found)


def _say_unknown(settings: Settings, vocabulary: Vocabulary) -> None:
    """Warn of words with senses of their own that are not in the vocabulary."""
    unknown = (
        [word for word in settings.senses if word not in vocabulary] if isinstance(settings.senses, Mapping) else []
    )
    if unknown:
        near = vocabulary.nearest_spellings(unknown[0]) if isinstance(unknown[0], str) else []
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        logger.warning(
            "senses={...} names %d words that are not in the vocabulary, and has no effect on them: %s%s",
            len(unknown), ", ".join(map(repr, unknown[:10])), hint,
        )  # fmt: skip


def encode(
    snapshot: Snapshot, sentences: Sentences | None, corpus_file: str | PathLike[str] | None, **rules: Any
) -> tuple[Vocabulary, _core.Corpus]:
    """`encode_corpus` with what the settings say of how to run it."""
    run = {name: getattr(snapshot.settings, name) for name in ("max_ram", "workers", "progress")}
    return encode_corpus(sentences, corpus_file, **rules, **run)


def same_corpus(sentences: Sentences | None, corpus_iterable: Sentences | None) -> Sentences | None:
    """The corpus under whichever of its two names it is given."""
    if sentences is not None and corpus_iterable is not None:
        raise ValueError("corpus_iterable is another name of sentences; give one of them")
    return corpus_iterable if sentences is None else sentences
