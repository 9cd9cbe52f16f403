"""A model as it is at one moment, and where the current one is found."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from muse.data.arrays import Arrays
from muse.data.forest import Forest
from muse.data.memory import shortage_said
from muse.data.sense_names import SenseNames, shown_names
from muse.data.settings import Settings
from muse.data.text_form import TextForm
from muse.data.vocabulary import Vocabulary
from muse.errors import NotTrainedError

__all__ = ["Published", "Publisher", "Snapshot", "has_sense"]

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
    text_form : TextForm, optional
        How its text was made into tokens; None where nothing is known of it.
    names : SenseNames
        The names that its senses were given.

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
    text_form: TextForm | None = None
    names: SenseNames = field(default_factory=SenseNames)
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

    @property
    def known_names(self) -> SenseNames:
        """The names of senses, also of the words that share their senses with a word that was given some."""
        if not self.names or self.forest is None or self.forest.lemmas is None:
            return self.names
        return self.once("names of forms", self._names_of_forms)

    def _names_of_forms(self) -> SenseNames:
        names = self.names
        for word, numbered in self.names.items():
            row = self.vocabulary.get(word)
            for form in self.forest.forms_of(row).tolist() if self.forest is not None and row >= 0 else ():
                other = self.vocabulary.words[form]
                for number, name in numbered.items():
                    if number not in names.of(other) and name not in names.of(other).values():
                        names = names.with_name(other, number, name)
        return names

    def shown_names(self, word: str, *, parts: bool = True) -> dict[int, str]:
        """What is shown as the name of each sense of a known word, and of each node of its tree, by number.

        Those that have no name, and nothing that could stand for it, are left out; without `parts` also those that are
        only a part of what has a name.
        """
        names = self.known_names.of(word)
        if not names or self.forest is None:
            return names
        row = self.vocabulary.index(word)
        leaves = self.forest.trees.leaves_of(row) if self.forest.trees.n_leaves[row] else None
        return shown_names(names, leaves, parts=parts)

    def names_by_row(self) -> dict[int, str]:
        """What is shown as the names of senses, by their rows."""
        found: dict[int, str] = {}
        for word in self.known_names:
            row, shown = self.vocabulary.get(word), self.shown_names(word) if word in self.vocabulary else {}
            for place, number in enumerate(self.arrays.numbers_of(row).tolist() if shown else ()):
                if number in shown:
                    found[int(self.arrays.sense_offset[row]) + place] = shown[number]
        return found

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


def has_sense(snapshot: Snapshot, row: int, number: int) -> bool:
    """Whether a word, given by its row, has a sense with this number or, in its tree, a node."""
    if snapshot.forest is not None and snapshot.forest.trees.n_leaves[row]:
        return 0 <= number < 2 * int(snapshot.forest.trees.n_leaves[row]) - 1
    return snapshot.arrays.row_of(row, number) >= 0


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
