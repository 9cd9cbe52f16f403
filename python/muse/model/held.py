"""The parts of a model in use: its words and numbers, which are replaced at once, and what is derived from them."""

from __future__ import annotations

import time
from typing import Any, TypeVar

from muse.base.interrupts import HeldInterrupts
from muse.data.arrays import Arrays
from muse.data.settings import Settings
from muse.data.vocabulary import Vocabulary
from muse.errors import NotTrainedError
from muse.model.changes import changed, part_of_a_change
from muse.model.parts import ModelPart
from muse.selector.selection import SenseSelector
from muse.vectors.model_vectors import SenseVectors, WordVectors

__all__ = ["HeldParts"]

View = TypeVar("View", SenseVectors, WordVectors)
_ATTEMPTS = 1000  # to make a view while other threads change the model


class HeldParts(ModelPart):
    """The part of `MUSE` that holds the others' words and numbers."""

    _settings: Settings
    _vocabulary: Vocabulary | None
    _arrays: Arrays | None
    _views: dict[str, Any]
    training_state: dict[str, Any]

    @property
    def settings(self) -> Settings:
        """The settings; they never change."""
        return self._settings

    @property
    def vocabulary(self) -> Vocabulary:
        """The words, their ids and their counts."""
        if self._vocabulary is None:
            raise NotTrainedError("the model has no vocabulary yet; give the constructor a corpus, or call build_vocab")
        return self._vocabulary

    @property
    def arrays(self) -> Arrays:
        """The numbers: ``model.arrays.sense_vectors`` and the others."""
        if self._arrays is None:
            raise NotTrainedError(
                "the model is not trained yet; give the constructor a corpus, or call build_vocab and train"
            )
        return self._arrays

    @property
    def is_trained(self) -> bool:
        """Whether there are arrays, so that senses can be asked for."""
        return self._arrays is not None

    @part_of_a_change
    def set_arrays(self, arrays: Arrays | None) -> None:
        """Take new arrays, or the same after their values changed, and forget what was derived from the old ones.

        None: have no values, as before training; the words stay.

        Raises
        ------
        TypeError, ValueError
            If they do not fit the model's words and settings.
        """
        if arrays is not None:
            self._check_arrays(arrays)
        self._replace(self._vocabulary, arrays)
        if arrays is None:
            self.training_state = {}

    def _replace(self, vocabulary: Vocabulary | None, arrays: Arrays | None) -> None:
        """Take words and numbers at once: a thread that asks meanwhile is told so, and no Ctrl-C comes between."""
        with HeldInterrupts():
            self._derived = None
            try:
                self._vocabulary, self._arrays = vocabulary, arrays
                for view in list(self._views.values()):
                    view.refresh(vocabulary, arrays)
            finally:
                self._derived = {}

    def _check_arrays(self, arrays: Arrays) -> None:
        if not isinstance(arrays, Arrays):
            raise TypeError(f"arrays must be muse.Arrays; got {type(arrays).__name__}")
        arrays.check()
        arrays.check_layout()
        arrays.check_fits(self._settings)
        if len(self.vocabulary) != arrays.n_words:
            raise ValueError(
                f"the vocabulary has {len(self.vocabulary)} words, and the arrays are for {arrays.n_words}"
            )

    @property
    def sv(self) -> SenseVectors:
        """Sense vectors with keys such as ``"head#0"``, and their nearest neighbours."""
        _ = self.arrays  # or there are none
        return self._view("sv", SenseVectors)

    @property
    def wv(self) -> WordVectors:
        """Word vectors, the means of sense vectors weighted by their priors, and their nearest neighbours.

        Before training it has the words and their counts.
        """
        return self._view("wv", WordVectors)

    def _view(self, name: str, kind: type[View]) -> View:
        for _ in range(_ATTEMPTS):
            before, vocabulary, arrays = self._derived, self.vocabulary, self._arrays
            view: View | None = self._views.get(name)
            if view is None:
                view = self._views.setdefault(name, kind(vocabulary, arrays, device=self._settings.device))
            if not view.is_of(vocabulary, arrays):  # a thread changed the model while this one made the view
                view.refresh(vocabulary, arrays)
            if before is not None and self._derived is before:  # whoever changes the model later refreshes the view
                return view
            time.sleep(0)
        raise changed(name)

    @property
    def selector(self) -> SenseSelector:
        """What selects senses."""
        return self._once("selector", lambda: SenseSelector(self.vocabulary, self.arrays, self._settings))
