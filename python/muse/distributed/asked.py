"""The arguments of `train`, checked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from muse.base.checks import integer, number
from muse.data.settings import Settings
from muse.distributed.changes import Wire, check_wire
from muse.distributed.plan import Plan, ShardSize
from muse.distributed.sources import Shard

__all__ = ["Asked", "checked"]

_RATE = 2.0  # times the usual learning rate, where there are several workers
_WARM_UP, _WARM_UP_PART = 2_000_000, 20  # tokens; and the part of all that it is at most
_ROUNDS, _FEW, _FEW_PARTS = 6, 3, 3  # of an epoch; and with so many parts at most, which do not go far apart
_LEAST_INTERVAL = 30_000  # tokens


@dataclass(frozen=True)
class Asked:
    """What a training is asked to be; see `muse.distributed.train`, whose arguments these are."""

    settings: Settings
    parts: int | None
    interval: int | None
    warm_up: int | None
    rate: float | None
    wire: Wire
    most_words: int
    most_tokens: int

    def fingerprint(self, shards: Sequence[Shard]) -> str:
        """What must be the same for a call to go on with the training of another."""
        settings = {name: value for name, value in self.settings.to_json().items() if name != "workers"}
        about = [
            settings,
            [repr(shard) for shard in shards],
            self.parts,
            self.interval,
            self.warm_up,
            self.rate,
            self.wire,
            self.most_words,
        ]
        return hashlib.sha256(json.dumps(about, sort_keys=True, default=repr).encode()).hexdigest()[:16]

    def plan(self, sizes: Sequence[ShardSize], parts: int) -> Plan:
        """The rounds, for so many parts or workers."""
        tokens, epochs = sum(size.tokens for size in sizes), self.settings.epochs
        rounds = _ROUNDS if parts > _FEW_PARTS else _FEW
        interval = self.interval or max(tokens // parts // rounds, _LEAST_INTERVAL)
        warm_up = min(_WARM_UP, tokens * epochs // _WARM_UP_PART) if self.warm_up is None else self.warm_up
        return Plan(sizes, epochs, interval, warm_up)

    def rate_for(self, parts: int) -> float:
        """What the learning rate is multiplied by."""
        return self.rate or (_RATE if parts > 1 else 1.0)


def checked(
    settings: dict[str, Any], parts: Any, interval: Any, warm_up: Any, rate: Any, wire: Any, words: Any, tokens: Any
) -> Asked:
    """The arguments, checked; a TypeError or ValueError says what is wrong with them."""
    made = Settings.of(**settings)
    if made.init != "trees" and not (made.senses == 1):
        raise ValueError("muse.distributed.train makes sense trees (the default recipe) or words (senses=1); other "
                         "recipes train senses jointly, on one machine: MUSE(corpus_file=...)")  # fmt: skip
    for name, why in (("trim_rule", "trim the words with min_count"), ("callbacks", "look at report and history"),
                      ("checkpoint_dir", "give checkpoint= the folder")):  # fmt: skip
        if getattr(made, name):
            raise ValueError(f"{name} is not for muse.distributed.train; {why}")
    if made.device != "cpu":
        raise ValueError("muse.distributed.train trains on processors; leave device out")

    def some(check: Any, name: str, value: Any) -> Any:
        return None if value is None else check(name, value)

    return Asked(
        made, some(integer(1), "parts", parts), some(integer(1), "interval", interval),
        some(integer(0), "warm_up", warm_up), some(number(0, 100, above=True), "rate", rate), check_wire(wire),
        integer(1)("most_words", words), integer(1)("most_tokens", tokens),
    )  # fmt: skip
