"""What a training on several machines tells of itself."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["Report"]


@dataclass
class Report:
    """What was trained, where, and what went wrong on the way.

    Attributes
    ----------
    corpus_tokens : int
        Of the text, without the words that are not in the vocabulary.
    tokens : list of int
        Trained in each epoch, of the model that came out: where the training went back to a checkpoint, tokens that
        were trained again count once.
    parts : list of int
        Workers that each epoch was planned for.
    rounds : int
        How often changes were combined.
    moved : list of int
        Bytes of the changes of all workers, by round.
    seconds : list of float
        That a round took, by round; `training` of them was the slowest worker's.
    training : list of float
    started : int
        Stretches that were begun; `repeated` of them a second time or more often, since a worker was lost or slow.
    repeated : int
    went_back : int
        How often the training went back to its last checkpoint.
    resumed : list of int
        Rounds at which a call took up the training of an earlier one.
    places : dict of str to int
        Tokens by worker that was there at some time: one that was begun anew is another.
    part_seconds : dict of str to float
        Of counting, encoding, training, gathering and growing.
    """

    corpus_tokens: int = 0
    tokens: list[int] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)
    rounds: int = 0
    moved: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    training: list[float] = field(default_factory=list)
    started: int = 0
    repeated: int = 0
    went_back: int = 0
    resumed: list[int] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    part_seconds: dict[str, float] = field(default_factory=dict)

    @property
    def is_exact(self) -> bool:
        """Whether every token was trained once in every epoch."""
        return bool(self.tokens) and all(tokens == self.corpus_tokens for tokens in self.tokens)

    def to_json(self) -> dict[str, Any]:
        """All of it, and whether it `is_exact`."""
        return {**asdict(self), "is_exact": self.is_exact}

    def __str__(self) -> str:
        median = statistics.median(self.moved) if self.moved else 0
        parts = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self.part_seconds.items())
        resumed = f", taken up {len(self.resumed)} times (seconds are of the last call)" if self.resumed else ""
        return (
            f"{len(self.tokens)} epochs of {self.corpus_tokens:,} tokens, each token trained once in each: "
            f"{'yes' if self.is_exact else 'NO'}; {self.rounds} rounds, {median / 1e6:.1f} MB of changes in one; "
            f"{parts or 'nothing timed'}; {len(self.places)} workers seen, "
            f"{self.repeated} stretches repeated, {self.went_back} times back to a checkpoint{resumed}"
        )
