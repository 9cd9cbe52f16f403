"""A model as it is at one moment, and where the current one is found."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from muse.data.arrays import Arrays
from muse.data.forest import Forest
from muse.data.memory import shortage_said
from muse.data.settings import Settings
from muse.data.vocabulary import Vocabulary
from muse.errors import NotTrainedError

__all__ = ["Published", "Publisher", "Snapshot"]

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The settings, words and numbers of a model, which belong together.

    Its parts are never replaced: who changes a model makes another snapshot and publishes it. A question that has begun
    is answered from the one that it took. Training writes new values into the matrices of the one that it has
    published, as Hogwild does, and publishes another when what was derived from them is out of date.

    Parameters
    ----------
    settings : Settings
        The settings.
    words : Vocabulary, optional
        None before a vocabulary is built.
    numbers : Arrays, optional
        None before training.
    training_state : dict
        Where training stands, from which it can be resumed; see `muse.data.training_state`.
    forest : Forest, optional
        Its sense trees, where it has some: the numbers are those of a cut of them, or of words before senses are made.

    Examples
    --------
    >>> Snapshot(Settings()).is_trained
    False
    """

    settings: Settings
    words: Vocabulary | None = None
    numbers: Arrays | None = None
    training_state: dict[str, Any] = field(default_factory=dict)
    forest: Forest | None = None
    _made: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def vocabulary(self) -> Vocabulary:
        """The words; a NotTrainedError where there are none yet."""
        if self.words is None:
            raise NotTrainedError("the model has no vocabulary yet; give the constructor a corpus, or call build_vocab")
        return self.words

    @property
    def arrays(self) -> Arrays:
        """The numbers; a NotTrainedError where there are none yet."""
        if self.numbers is None:
            raise NotTrainedError(
                "the model is not trained yet; give the constructor a corpus, or call build_vocab and train"
            )
        return self.numbers

    @property
    def is_trained(self) -> bool:
        """Whether there are numbers, so that senses can be asked for."""
        return self.numbers is not None

    def replace(self, **parts: Any) -> Snapshot:
        """Another snapshot with these parts and the rest of this one; nothing that was derived is taken over."""
        return dataclasses.replace(self, **parts)

    def check(self) -> None:
        """Raise a TypeError or ValueError if the numbers do not fit the words and the settings."""
        arrays = self.numbers
        if arrays is None:
            return
        if not isinstance(arrays, Arrays):
            raise TypeError(f"arrays must be muse.Arrays; got {type(arrays).__name__}")
        arrays.check()
        arrays.check_layout()
        arrays.check_fits(self.settings)
        if self.forest is not None:
            self.forest.check_fits(arrays)
        elif arrays.context_size != arrays.selection_size:
            raise ValueError("selection_vectors are wider than context_vectors, and there are no sense trees for them")
        if len(self.vocabulary) != arrays.n_words:
            raise ValueError(
                f"the vocabulary has {len(self.vocabulary)} words, and the arrays are for {arrays.n_words}"
            )

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` derives from this snapshot, kept as long as the snapshot is.

        So floors above this one can keep things here, such as a selector, that this one knows nothing of.
        """
        if name not in self._made:
            with shortage_said(f"making the {name} of a model"):
                self._made.setdefault(name, make())  # of two threads that make it, the first one's counts
        made: T = self._made[name]
        return made

    def made(self, name: str) -> Any:
        """What `once` has made under a name; None, if nothing yet."""
        return self._made.get(name)

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: what was derived is made anew."""
        return {**self.__dict__, "_made": {}}


class Published:
    """Where the current snapshot of a model is: the model replaces it, and its `sv` and `wv` look it up.

    To read or to replace it is one operation of the interpreter, so no thread sees half of a change, and no Ctrl-C
    comes between.
    """

    __slots__ = ("snapshot",)

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot


class Publisher(Protocol):
    """What has a snapshot and takes another: a model, to those who answer from it or change it."""

    @property
    def snapshot(self) -> Snapshot:
        """What it is now."""

    def publish(self, snapshot: Snapshot) -> None:
        """Be this from now on."""
