"""Meaning over time: senses that come, grow and go between slices of a text (docs/change.md).

>>> from muse.change import TemporalMUSE
>>> model = TemporalMUSE({"1810-1860": "old.txt", "1960-2010": "new.txt"})  # doctest: +SKIP
>>> print(model.change())  # doctest: +SKIP
"""

from muse.change.aligning import Alignment, SenseMatch, align
from muse.change.judged import UsePair, evaluate_use_pairs, read_use_pairs
from muse.change.tables import ChangeTable, ShareTable, Table
from muse.change.temporal import TemporalMUSE
from muse.change.truth import AnnotatedUse, evaluate_change, evaluate_uses, read_annotated_uses, read_change

__all__ = [
    "Alignment",
    "AnnotatedUse",
    "ChangeTable",
    "SenseMatch",
    "ShareTable",
    "Table",
    "TemporalMUSE",
    "UsePair",
    "align",
    "evaluate_change",
    "evaluate_use_pairs",
    "evaluate_uses",
    "read_annotated_uses",
    "read_change",
    "read_use_pairs",
]
