"""What a model has under the names that gensim's `Word2Vec` gives it, so that scripts find them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from muse.base.checks import integer
from muse.data.settings import Settings
from muse.model.first import first_arrays
from muse.model.guard import Model, changes
from muse.vectors.read_only import read_only

__all__ = [
    "Setting",
    "effective_min_count",
    "get_latest_training_loss",
    "no_attribute",
    "predict_output_word",
    "reset_from",
    "set_attribute",
    "syn1neg",
]

T = TypeVar("T")

_BEFORE_GENSIM_4 = {"iter": "epochs", "size": "vector_size"}
_OF_ONE_CALL = {"alpha": "start_alpha", "min_alpha": "end_alpha", "epochs": "epochs", "callbacks": "callbacks"}


class Setting(Generic[T]):
    """A setting, read from the model's settings."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        self.__doc__ = f"The setting `{name}`."

    @overload
    def __get__(self, model: None, owner: type) -> Setting[T]: ...
    @overload
    def __get__(self, model: Model, owner: type) -> T: ...
    def __get__(self, model: Model | None, owner: type) -> Setting[T] | T:
        if model is None:
            return self
        value: T = getattr(model.snapshot.settings, self._name)
        return value


def set_attribute(self: Model, name: str, value: Any) -> None:
    """Set what can be set of a model; for a setting that is a part of it, an AttributeError that says what to do.

    Settings that say how to run (`workers`, `progress`, `device`, ...) can be set.
    """
    setting = _BEFORE_GENSIM_4.get(name, name)
    if setting in Settings.runtime_names() and setting not in _OF_ONE_CALL:
        set_setting(self, setting, value)
    elif name in ("sg", "hs", "cbow_mean"):
        raise AttributeError(f"{name} of a model cannot be set: it is always skip-gram with negative sampling")
    elif setting in Settings.homes():
        raise AttributeError(_said(name, setting))
    else:
        object.__setattr__(self, name, value)


@changes
def set_setting(self: Model, setting: str, value: Any) -> None:
    """Another value of a setting that says how to run."""
    snapshot = self.snapshot
    self.publish(snapshot.replace(settings=snapshot.settings.replace(**{setting: value})))


def _said(name: str, setting: str) -> str:
    if setting in _OF_ONE_CALL:
        return f"{name} of a model cannot be set; give train({_OF_ONE_CALL[setting]}=...) what one call is to have"
    home = Settings.homes()[setting]
    where = f"MUSE({setting}=...)" if home is None else f"{home.owner}({home.name}=...) of the recipe"
    return f"{name} is a part of a model from its start and cannot be set; give it to {where}, and train a new one"


_OF_VECTORS = (
    "most_similar", "most_similar_cosmul", "similarity_by_word", "similar_by_word", "similar_by_vector", "doesnt_match",
    "distance", "n_similarity", "wmdistance", "rank", "closer_than", "evaluate_word_pairs", "evaluate_word_analogies",
    "index2word", "index_to_key", "key_to_index", "get_vector", "save_word2vec_format",
)  # fmt: skip
_HEIRS = {
    **{name: f"ask the vectors of words or senses: model.wv.{name} or model.sv.{name}" for name in _OF_VECTORS},
    "index2word": "it is model.wv.index_to_key",
    "vocab": "it is model.wv.key_to_index, and model.wv.get_vecattr(word, 'count')",
    "syn0": "it is model.wv.vectors",
    "syn1": "it is of hierarchical softmax, which is not here",
    "accuracy": "it is model.wv.evaluate_word_analogies",
    "wmdistance": "it is model.wv.to_gensim().wmdistance",
    "load_word2vec_format": "it is muse.load_vectors(path)",
    "intersect_word2vec_format": "the selector could not follow vectors of others",
    "init_sims": "it is not needed; model.wv.get_normed_vectors() gives unit vectors",
    "delete_temporary_training_data": "it is not needed: nothing is kept that queries or training do not use",
    "score": "it needs hierarchical softmax; history has the loss",
    "running_training_loss": "it is model.get_latest_training_loss(), and history has a row an epoch",
    "batch_words": "it is model.settings.batch_tokens",
    "raw_vocab": "model.vocabulary has the counts of the words that stay",
    "cum_table": "it is inside the C++ core",
    "random": "random numbers are functions of the seed, not a state",
    "total_train_time": "it is the sum of row['seconds'] in model.history",
    "iter": "it is called epochs",
    "size": "it is called vector_size",
}


def no_attribute(model: object, name: str) -> AttributeError:
    """The error for a name that a model does not have."""
    hint = f"; {_HEIRS[name]}" if name in _HEIRS else ""
    return AttributeError(f"{type(model).__name__!r} object has no attribute {name!r}{hint}", name=name, obj=model)


def get_latest_training_loss(self: Model) -> float:
    """The loss of the last call of `train` so far, summed over its pairs; `history` has the mean of each epoch.

    Examples
    --------
    >>> from muse import MUSE
    >>> MUSE().get_latest_training_loss()
    0.0
    """
    total = 0.0
    for row in reversed(self.history):
        total += row["loss"] * row["pairs"]
        if row["epoch"] == 1:  # the first of the call
            break
    return float(total)


def predict_output_word(self: Model, context_words_list: Sequence[Any], topn: int = 10) -> Any:
    """The words that are most likely among given ones, by the mean of their vectors and the words' collocation vectors.

    Parameters
    ----------
    context_words_list : sequence of str or int
        Words, or their indices; unknown ones are skipped. ``predict_collocates`` looks at the sense of one word.
    topn : int
        How many.

    Returns
    -------
    list of (str, float), or None
        Words and their probabilities, best first; None if no word is known.

    Raises
    ------
    NotTrainedError
        If the model is not trained.

    Examples
    --------
    >>> model.predict_output_word(["money", "loan"], topn=2)  # doctest: +SKIP
    [('bank', 0.02), ('credit', 0.015)]
    """
    snapshot, topn = self.snapshot, integer(1)("topn", topn)
    arrays, vocabulary = snapshot.arrays, snapshot.vocabulary
    ids = [item if isinstance(item, (int, np.integer)) else vocabulary.get(item) for item in context_words_list]
    known = [int(i) for i in ids if 0 <= i < arrays.n_words]
    if not known:
        return None
    mean = np.mean([arrays.word_vector(i) for i in known], axis=0, dtype=np.float64)
    scores = np.asarray(arrays.collocation_vectors @ mean.astype(np.float32), np.float64)
    shares = np.exp(scores - scores.max())
    if arrays.has_sense_collocation:
        shares = np.add.reduceat(shares, arrays.sense_offset[:-1])
    best = np.argsort(-shares, kind="stable")[:topn]
    total = shares.sum()
    return [(vocabulary.words[i], float(shares[i] / total)) for i in best.tolist()]


@changes
def reset_from(self: Model, other_model: Any) -> None:
    """Have the words of another model and none of its numbers, as after `build_vocab`; training starts afresh.

    Parameters
    ----------
    other_model : MUSE
        Whose words these are to be.

    Raises
    ------
    TypeError
        For what is no model.

    Examples
    --------
    >>> model.reset_from(other)  # doctest: +SKIP
    """
    words = getattr(getattr(other_model, "snapshot", None), "vocabulary", None)
    if words is None:
        raise TypeError(f"reset_from takes a model of muse; got {type(other_model).__name__}")
    self._corpus, self.corpus_count = None, other_model.corpus_count
    self.history = []
    self.publish(
        self.snapshot.replace(words=words, numbers=None, training_state={}, text_form=other_model.snapshot.text_form)
    )


def syn1neg(self: Model) -> NDArray[np.float32]:
    """The collocation vectors, under gensim's name: ``model.arrays.collocation_vectors``."""
    return read_only(first_arrays(self.snapshot).collocation_vectors)


def effective_min_count(self: Model) -> int:
    """The count below which words were dropped: `min_count`, or what `max_final_vocab` raised it to."""
    return self.snapshot.vocabulary.effective_min_count
