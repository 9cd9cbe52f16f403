"""How a model comes by its words: from a corpus or a table of counts, at first or later."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

from muse import _core
from muse.base.checks import integer
from muse.base.checks import trim_rule as check_trim_rule
from muse.base.interrupts import HeldInterrupts
from muse.corpus.encoding import encode_corpus
from muse.data.arrays import Arrays
from muse.data.memory import check_memory
from muse.data.settings import Settings
from muse.data.trimming import TrimRule, VocabularyRules
from muse.data.vocabulary import Vocabulary, counts_of
from muse.errors import NotTrainedError
from muse.model.changes import changes
from muse.model.parts import ModelPart
from muse.training.initial import added_senses, grown_arrays

__all__ = ["Sentences", "VocabularyBuilding", "same_corpus"]

Sentences = Iterable[Sequence[str]]

_NEEDLESS = ("progress_per", "keep_raw_vocab")  # of gensim's build_vocab


class VocabularyBuilding(ModelPart):
    """The part of `MUSE` that reads a corpus and decides on the words."""

    _settings: Settings
    _vocabulary: Vocabulary | None
    _arrays: Arrays | None
    _corpus: _core.Corpus | None
    corpus_count: int
    training_state: dict[str, Any]

    @changes
    def build_vocab(
        self,
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
            new words start afresh; with the recipe `Split` they have one sense each, since words are split into senses
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
        for name in needless:
            if name not in _NEEDLESS:
                raise TypeError(f"{name!r} is not an argument of build_vocab; settings are given to MUSE(...)")
        self._check_update("build_vocab", update)
        chosen = ("min_count", "max_vocab_size", "max_final_vocab", "trim_rule", "sorted_vocab")
        rules = {name: getattr(self._settings, name) for name in chosen}
        if trim_rule is not None:
            rules["trim_rule"] = trim_rule
        sentences = same_corpus(sentences, corpus_iterable)
        self._corpus = None
        vocabulary, corpus = self._encode(sentences, corpus_file, vocab=self._vocabulary, extend=update, **rules)
        self._use_vocabulary(vocabulary)
        self._corpus, self.corpus_count = corpus, corpus.raw_sentences

    @changes
    def build_vocab_from_freq(
        self,
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
        self._check_update("build_vocab_from_freq", update)
        if corpus_count is not None:
            corpus_count = integer(0, 2**62)("corpus_count", corpus_count)
        known = self._vocabulary
        counts = counts_of(word_freq, 0 if known is None else max(known.raw_words, int(known.counts.sum())))
        settings = self._settings
        rule = settings.trim_rule if trim_rule is None else check_trim_rule("trim_rule", trim_rule)
        rules = VocabularyRules(settings.min_count, settings.max_final_vocab, rule, settings.sorted_vocab)
        vocabulary, _ = rules.select(list(word_freq), counts, int(counts.sum()), self._vocabulary)
        self._use_vocabulary(vocabulary)
        if corpus_count is not None:
            self.corpus_count = corpus_count

    @abstractmethod
    def _replace(self, vocabulary: Vocabulary | None, arrays: Arrays | None) -> None:
        """Take words and numbers at once."""

    def _check_update(self, what: str, update: bool) -> None:
        if self._vocabulary is not None and not update:
            raise ValueError("the model has a vocabulary already; give update=True to add words, or make a new model")
        if self._vocabulary is None and update:
            raise NotTrainedError(f"there is no vocabulary to update yet; call {what} without update=True")

    def _use_vocabulary(self, vocabulary: Vocabulary) -> None:
        if self._arrays is None:
            self._replace(vocabulary, None)
        else:
            senses = added_senses(self._settings, vocabulary.words[self._arrays.n_words :])
            check_memory(self._settings, len(vocabulary), self._arrays.n_senses + int(senses.sum()))
            arrays = grown_arrays(self._arrays, vocabulary, self._settings)
            state = self.training_state
            if "corpus" in state:  # what is to be resumed has as many words now
                tokens, sentences, _ = state["corpus"]
                state = {**state, "corpus": [tokens, sentences, len(vocabulary)]}
            with HeldInterrupts():
                self._replace(vocabulary, arrays)
                self.training_state = state

    def _encode(self, sentences: Any, corpus_file: Any, **rules: Any) -> tuple[Vocabulary, _core.Corpus]:
        run = {name: getattr(self._settings, name) for name in ("max_ram", "workers", "progress")}
        return encode_corpus(sentences, corpus_file, **rules, **run)


def same_corpus(sentences: Sentences | None, corpus_iterable: Sentences | None) -> Sentences | None:
    """The corpus under whichever of its two names it is given."""
    if sentences is not None and corpus_iterable is not None:
        raise ValueError("corpus_iterable is another name of sentences; give one of them")
    return corpus_iterable if sentences is None else sentences
