"""How a model learns from a text: `train` is a method of `MUSE`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from os import PathLike
from typing import Any, Protocol

from muse.base.checks import callbacks as check_callbacks
from muse.base.checks import number
from muse.data.memory import check_memory, expected_senses
from muse.data.names import reject_unknown_in_train
from muse.data.settings import Settings
from muse.model.gensim_training import say_that_rates_rise
from muse.model.guard import Model, changes
from muse.model.words import Sentences, encode, same_corpus
from muse.training.resuming import say_nothing_is_left
from muse.training.run import Trainee, check_device, train_model
from muse.training.schedule import given_alphas, is_finished

__all__ = ["Learner", "train"]

logger = logging.getLogger("muse")


class Learner(Model, Trainee, Protocol):
    """What `train` asks of a model: to be one that no other call changes, and to take what training publishes."""


@changes
def train(
    self: Learner,
    sentences: Sentences | None = None,
    corpus_file: str | PathLike[str] | None = None,
    *,
    corpus_iterable: Sentences | None = None,
    total_examples: int | None = None,
    epochs: int | None = None,
    callbacks: Sequence[Any] | None = None,
    resume: bool = False,
    senses_now: bool = False,
    forget: float = 0.0,
    start_alpha: float | None = None,
    end_alpha: float | None = None,
    **needless: Any,
) -> tuple[int, int]:
    """Train on a corpus; without one, on that which `build_vocab` read.

    A model that is trained already is trained further, from its first learning rate on if no other is given, here or
    as ``model.alpha = ...``. To adapt it to a little text, a lower one is better, such as ``start_alpha=0.001``.

    Parameters
    ----------
    sentences, corpus_file
        The corpus, as in the constructor; words that are not in the vocabulary are skipped.
    corpus_iterable
        gensim's name of `sentences` here.
    total_examples : int, optional
        Accepted for the sake of gensim's scripts; the number of sentences is known here without it.
    epochs : int, optional
        Passes over the corpus; the setting, if not given.
    callbacks : sequence, optional
        Callbacks for this call, after those of the settings.
    resume : bool
        Go on where training was stopped, on the same corpus: ``MUSE.load("folder/checkpoint.safetensors").train(
        corpus_file=..., resume=True)``. With one worker the outcome is, bit for bit, that of a training that was
        never stopped; the number of workers is that which it began with, if the model (``load(..., workers=)``)
        has no other, which is a warning. Where nothing is left to do, a log line says so.
    senses_now : bool
        With `resume`, leave out the epochs of words that are left, and go on with the split into senses: for a
        training that was stopped because the words were good enough, or the time was up.
    forget : float
        What earlier text is to count less for the shares of the senses of words in this one: 0, all text seen
        counts alike; 1, this text alone does; in between, earlier text fades.
    start_alpha, end_alpha : float, optional
        Learning rates of this call, linear in between, in place of the settings `alpha` and `min_alpha`. The rate
        of the selection module keeps its proportion to them.
    **needless
        ``total_words``, ``compute_loss`` and what else gensim's scripts pass; ignored. Any other name is an error.

    Returns
    -------
    trained, raw : int
        Tokens in all epochs that were trained (which subsampling left with another word in their window), and that
        were read for it.

    Raises
    ------
    NotTrainedError
        If there is no vocabulary yet.
    TypeError
        For an argument that means nothing here; the message says what to do.
    ValueError
        If there is no corpus, or `resume` does not fit the model or the corpus.
    RuntimeError
        In a callback, and while another call changes or writes the model.
    InsufficientMemoryError
        If the model does not fit into memory, which is said before training, or memory runs out in it.
    DivergenceError
        If scores grow beyond all bounds. Training stops before that harms the model, which keeps its last finite
        values.
    KeyboardInterrupt
        On Ctrl-C, within a second (windows of thousands of positions take longer, and the split of vectors of a
        thousand numbers, whose covariance numpy takes apart in one piece). The model is as training left it: it can
        be asked, saved, and trained with ``resume=True`` (without a corpus, if it is still the same process). A
        batch that would take longer is cut short, which a warning says, since what is resumed then is not exactly
        the same.

    Notes
    -----
    Each epoch adds a row to `history`, a dict with

    - ``epoch`` (from 1, in this call) and ``stage``: ``"words"`` before senses are made, then ``"senses"``
      with the recipes that train them; with `Trees` the last row, ``"trees"``, is of making them, and its loss that
      of the encoder;
    - ``tokens``, ``pairs``, ``seconds``, ``tokens_per_second``, ``pairs_per_second``;
    - ``alpha`` and ``end_alpha``, the learning rates at its start and end;
    - ``loss``, the mean of -log of the sampled likelihood of a pair (of a sample of pairs), and ``reward``, the
      mean likelihood of a pair;
    - ``selection_entropy``, the mean over tokens of ambiguous words of the entropy of the policy, in nats;
    - ``ambiguous_words``, how many words have several senses (and 20 uses or more); of these alone
      ``senses_used``, the mean of the effective number of senses (exp of the entropy of their use), and
      ``collapsed``, the share of which one sense takes more than 95 %;
    - ``context_norm`` and ``selection_norm``, the longest vectors of P and Q: zeros until there are senses.

    `sense_counts` belong to all text that the model has seen, and add up to the counts of the words. Here each word
    has as many of its uses counted as the corpus has; the others are those of before. While training goes on, the
    use of senses in the corpus is estimated from the last epoch; at the end all of it is counted.

    Examples
    --------
    >>> from muse import MUSE
    >>> model = MUSE(vector_size=16, epochs=3, min_count=1, workers=1)
    >>> model.build_vocab([["a", "rose", "is", "a", "rose"]] * 20)
    >>> trained, raw = model.train()
    >>> [(row["epoch"], row["stage"]) for row in model.history]
    [(1, 'words'), (2, 'words'), (3, 'words'), (3, 'trees')]
    """
    settings = self.snapshot.settings
    check_device(settings)
    for name in reject_unknown_in_train(needless, Settings.homes()):
        logger.debug("train does not need %s, and ignores it", name)
    sentences, vocabulary = same_corpus(sentences, corpus_iterable), self.snapshot.vocabulary
    forget, alphas = number(0, 1)("forget", forget), given_alphas(settings, start_alpha, end_alpha)
    if senses_now and not resume:
        raise ValueError("senses_now=True goes on with a training that was stopped; give it with resume=True")
    if resume and (alphas or forget):
        raise ValueError("a training that is resumed goes on as it began; leave forget and the learning rates out")
    added = check_callbacks("callbacks", () if callbacks is None else callbacks)
    if epochs is None:
        epochs = self.snapshot.training_state.get("epochs", settings.epochs) if resume else settings.epochs
    run = settings.replace(epochs=epochs, callbacks=(*settings.callbacks, *added))
    if sentences is not None or corpus_file is not None:
        self._corpus = None  # before the new one is read: never two at once
        _, self._corpus = encode(self.snapshot, sentences, corpus_file, vocab=vocabulary)
    if self._corpus is None and resume and is_finished(self.snapshot, epochs):
        say_nothing_is_left(epochs)
        return 0, 0
    if self._corpus is None:
        raise ValueError("there is no text to train on; give train the sentences or a corpus_file")
    if total_examples is not None and total_examples != self._corpus.raw_sentences:
        logger.warning("total_examples=%s, but the corpus has %d sentences", total_examples, self._corpus.raw_sentences)
    if not self.snapshot.is_trained:
        check_memory(run, vocabulary.counts, expected_senses(run, vocabulary))
    if not resume:
        say_that_rates_rise(self, alphas[0] if alphas else settings.alpha)
    trained = train_model(
        self, self._corpus, epochs=run.epochs, callbacks=run.callbacks, resume=resume, senses_now=senses_now,
        forget=forget, alphas=alphas,
    )  # fmt: skip
    self._corpus = None
    return trained
