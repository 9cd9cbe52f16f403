"""Hashes of what training makes with one worker, for the defaults, each strategy and the paper: did a change alter it?

``python -m benchmarks.bits`` prints them as JSON, to be compared with those of another commit on the same machine:
the kernels of another processor may round in another way.
"""

from __future__ import annotations

import hashlib
import json
import logging
from typing import Any, get_args

import numpy as np

from muse import MUSE, Engine, Paper, Settings, Split
from muse.data.recipes import StrategyName
from muse.datasets import make_ambiguous_corpus

__all__ = ["cases", "digest"]

_SMALL: dict[str, Any] = {"vector_size": 24, "epochs": 3, "seed": 7, "workers": 1, "min_count": 1}


def cases() -> dict[str, dict[str, Any]]:
    """Arguments of MUSE by a name; between them they go through every way of training."""
    found: dict[str, dict[str, Any]] = {
        "trees": {}, "default": {"recipe": Split()}, "senses3": {"senses": 3, "recipe": Split()},
        "k1": {"senses": 1, "recipe": Split()},
        "random": Settings(init="random").arguments(),  # the package's values for all but the start
    }  # fmt: skip
    for strategy in get_args(StrategyName):
        found[f"strategy={strategy}"] = {"senses": 3, "strategy": strategy}
    found["split from trees"] = {"senses": 3, "recipe": Split(start="trees")}
    found["paper from trees"] = {"recipe": Paper(start="trees")}
    for strategy in ("eps_greedy", "boltzmann", "policy"):
        found[f"paper {strategy}"] = MUSE.paper_defaults(strategy)
    found["two_sided"] = {"recipe": Paper(formulation="two_sided")}
    found["factorized"] = {"recipe": Paper(formulation="factorized")}
    found["update paper"] = {"senses": 3, "strategy": "eps_greedy", "recipe": Split(selection_update="paper")}
    found["unshared"] = {"recipe": Split(engine=Engine(group_size=1))}
    found["one collocate"] = {"negative": 25, "recipe": Split(collocates="one")}
    return found


def digest(model: MUSE) -> str:
    """Of the arrays that training writes."""
    arrays, found = model.arrays, hashlib.sha256()
    for array in (arrays.sense_vectors, arrays.collocation_vectors, arrays.context_vectors, arrays.selection_vectors,
                  arrays.sense_offset, arrays.sense_counts):  # fmt: skip
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def main() -> None:
    """Train all cases and print their hashes."""
    logging.disable(logging.CRITICAL)
    sentences = make_ambiguous_corpus(1500, 300, seed=0).sentences
    print(json.dumps({name: digest(MUSE(sentences, **{**case, **_SMALL})) for name, case in cases().items()}, indent=1))


if __name__ == "__main__":
    main()
