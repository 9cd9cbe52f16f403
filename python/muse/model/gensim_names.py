"""What a model has under the names that gensim's `Word2Vec` gives it, so that scripts find them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from muse.base.checks import integer
from muse.data.settings import CONSTANT_RATE, Settings
from muse.data.snapshot import Snapshot
from muse.model.first import first_arrays
from muse.model.guard import Model, changes
from muse.model.naming import lose_all
from muse.vectors.read_only import read_only

__all__ = [
    "Setting",
    "effective_min_count",
    "firsts_of_calls",
    "get_latest_training_loss",
    "no_attribute",
    "predict_output_word",
    "reset_from",
    "set_attribute",
    "syn1neg",
]

T = TypeVar("T")

_BEFORE_GENSIM_4 = {"iter": "epochs", "size": "vector_size"}
_OF_ONE_CALL = ("epochs", "callbacks")


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

    Settings that say how to run (`workers`, `progress`, `device`, ...) can be set, and so can the learning rates of
    trainings to come, `alpha` and `min_alpha`.
    """
    setting = _BEFORE_GENSIM_4.get(name, name)
    if name in ("alpha", "min_alpha"):
        set_rate(self, name, value)
    elif setting in Settings.runtime_names() and setting not in _OF_ONE_CALL:
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


@changes
def set_rate(self: Model, name: str, value: Any) -> None:
    """Another learning rate of trainings to come, see `with_rates`."""
    self.publish(with_rates(self.snapshot, name, value))


def with_rates(snapshot: Snapshot, name: str, value: Any) -> Snapshot:
    """The snapshot with another `alpha` or `min_alpha` for trainings to come.

    A `min_alpha` above a new `alpha` is lowered to it, and the rate of the selection module keeps its proportion.

    Raises
    ------
    TypeError, ValueError
        For what is no rate, or a `min_alpha` above `alpha`.
    """
    settings = snapshot.settings
    if name == "min_alpha":
        return snapshot.replace(settings=settings.replace(min_alpha=None if value == CONSTANT_RATE else value))
    alpha = Settings(alpha=value, min_alpha=None).alpha  # checked
    rates: dict[str, float] = {"alpha": alpha}
    if settings.min_alpha is not None:
        rates["min_alpha"] = min(settings.min_alpha, alpha)
    if settings.init != "trees" and settings.selection_alpha is not None:
        rates["selection_alpha"] = settings.selection_alpha * alpha / settings.alpha
    return snapshot.replace(settings=settings.replace(**rates))


def _said(name: str, setting: str) -> str:
    if setting in _OF_ONE_CALL:
        return f"{name} of a model cannot be set; give train({setting}=...) what one call is to have"
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
    "load": "it makes a new model and would leave this one as it is; call it of the class: model = MUSE.load(path)",
    "accuracy": "it is model.wv.evaluate_word_analogies",
    "wmdistance": "it is model.wv.to_gensim().wmdistance",
    "load_word2vec_format": "it is muse.load_vectors(path)",
    "intersect_word2vec_format": "the selector could not follow vectors of others",
    "lifecycle_events": "model.history has a row an epoch, and is stored",
    "hashfxn": "random numbers depend on the seed alone",
    "delete_temporary_training_data": "it is not needed: nothing is kept that queries or training do not use",
    "score": "it needs hierarchical softmax; history has the loss",
    "make_cum_table": "it is not needed: model.cum_table is made of counts and ns_exponent when it is asked for",
    "random": "random numbers are functions of the seed, not a state",
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
    if not self.history:
        return 0.0
    return float(sum(row["loss"] * row["pairs"] for row in self.history[firsts_of_calls(self.history)[-1] :]))


def firsts_of_calls(history: Sequence[Mapping[str, Any]]) -> list[int]:
    """The places in `history` of the first row of each training; row 0 is one in any case."""
    firsts, before = [], (0, "")
    for place, row in enumerate(history):
        now = (row.get("epoch", 0), row.get("stage", ""))
        halves = before[0] == 1 and (before[1], now[1]) in (("words", "senses"), ("words", "trees"))
        if not place or (now[0] == 1 and not halves):
            firsts.append(place)
        before = now
    return firsts


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
    snapshot = lose_all(self.snapshot, "the model has the words of another and no senses")
    form = other_model.snapshot.text_form
    self.publish(snapshot.replace(words=words, numbers=None, training_state={}, forest=None, text_form=form))


def syn1neg(self: Model) -> NDArray[np.float32]:
    """The collocation vectors, under gensim's name: ``model.arrays.collocation_vectors``."""
    return read_only(first_arrays(self.snapshot).collocation_vectors)


def effective_min_count(self: Model) -> int:
    """The count below which words were dropped: `min_count`, or what `max_final_vocab` raised it to."""
    return self.snapshot.vocabulary.effective_min_count
