"""What every part of `MUSE` may count on: the parts are mixins, and the model has what they need."""

from __future__ import annotations

from abc import ABC, abstractmethod

from muse.data.arrays import Arrays
from muse.data.settings import Settings
from muse.data.vocabulary import Vocabulary
from muse.model.changes import Derived, Held
from muse.selector.selection import SenseSelector

__all__ = ["ModelPart"]


class ModelPart(Held, Derived, ABC):
    """A part of `MUSE`."""

    @property
    @abstractmethod
    def vocabulary(self) -> Vocabulary:
        """The words, their ids and their counts."""

    @property
    @abstractmethod
    def arrays(self) -> Arrays:
        """The numbers: ``model.arrays.sense_vectors`` and the others."""

    @property
    @abstractmethod
    def settings(self) -> Settings:
        """The settings."""

    @property
    @abstractmethod
    def selector(self) -> SenseSelector:
        """What selects senses."""

    @abstractmethod
    def set_arrays(self, arrays: Arrays | None) -> None:
        """Take new arrays."""
