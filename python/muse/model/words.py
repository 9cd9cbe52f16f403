"""How a model comes by its words: from a corpus or a table of counts, at first or later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

from muse import _core
from muse.base.checks import trim_rule as check_trim_rule
from muse.corpus.encoding import encode_corpus
from muse.data.memory import check_memory
from muse.data.snapshot import Snapshot
from muse.data.trimming import TrimRule, VocabularyRules
from muse.data.vocabulary import Vocabulary, counts_of
from muse.errors import NotTrainedError
from muse.training.initial import added_senses, grown_arrays

__all__ = ["Sentences", "check_update", "encode", "same_corpus", "with_words_of_corpus", "with_words_of_table"]

Sentences = Iterable[Sequence[str]]

_NEEDLESS = ("progress_per", "keep_raw_vocab")  # of gensim's build_vocab


def check_update(snapshot: Snapshot, what: str, update: bool, needless: Iterable[str] = ()) -> None:
    """Raise an error unless there are words to `update`, or none yet; `needless` are arguments that gensim takes."""
    for name in needless:
        if name not in _NEEDLESS:
            raise TypeError(f"{name!r} is not an argument of {what}; settings are given to MUSE(...)")
    if snapshot.words is not None and not update:
        raise ValueError("the model has a vocabulary already; give update=True to add words, or make a new model")
    if snapshot.words is None and update:
        raise NotTrainedError(f"there is no vocabulary to update yet; call {what} without update=True")


def with_words_of_corpus(
    snapshot: Snapshot, sentences: Sentences | None, corpus_file: Any, trim_rule: TrimRule | None
) -> tuple[Snapshot, _core.Corpus]:
    """The snapshot with the words of a corpus, added to those that it has, and the encoded corpus."""
    chosen = ("min_count", "max_vocab_size", "max_final_vocab", "trim_rule", "sorted_vocab")
    rules = {name: getattr(snapshot.settings, name) for name in chosen}
    if trim_rule is not None:
        rules["trim_rule"] = trim_rule
    known = snapshot.words
    vocabulary, corpus = encode(snapshot, sentences, corpus_file, vocab=known, extend=known is not None, **rules)
    return _with_vocabulary(snapshot, vocabulary), corpus


def with_words_of_table(snapshot: Snapshot, word_freq: Mapping[str, int], trim_rule: TrimRule | None) -> Snapshot:
    """The snapshot with the words of a table of counts, added to those that it has."""
    known, settings = snapshot.words, snapshot.settings
    counts = counts_of(word_freq, 0 if known is None else max(known.raw_words, int(known.counts.sum())))
    rule = settings.trim_rule if trim_rule is None else check_trim_rule("trim_rule", trim_rule)
    rules = VocabularyRules(settings.min_count, settings.max_final_vocab, rule, settings.sorted_vocab)
    vocabulary, _ = rules.select(list(word_freq), counts, int(counts.sum()), known)
    return _with_vocabulary(snapshot, vocabulary)


def _with_vocabulary(snapshot: Snapshot, vocabulary: Vocabulary) -> Snapshot:
    """The snapshot with a vocabulary that begins with its own; where it is trained, its arrays grow with it."""
    old, settings, state = snapshot.numbers, snapshot.settings, snapshot.training_state
    if old is None:
        return snapshot.replace(words=vocabulary)
    senses = added_senses(settings, vocabulary.words[old.n_words :])
    check_memory(settings, len(vocabulary), old.n_senses + int(senses.sum()))
    if "corpus" in state:  # what is to be resumed has as many words now
        tokens, sentences, _ = state["corpus"]
        state = {**state, "corpus": [tokens, sentences, len(vocabulary)]}
    return snapshot.replace(words=vocabulary, numbers=grown_arrays(old, vocabulary, settings), training_state=state)


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
