from __future__ import annotations

import numpy as np
from benchmarks.bits import cases, digest

from muse import MUSE, Settings
from toy import toy_model


def test_every_case_is_another_training():
    settings = [MUSE(**case).settings for case in cases().values()]
    distinct = {str(kept.to_json()) for kept in settings}
    assert len(distinct) == len(settings) - 1  # senses3 is strategy=greedy
    assert {kept.strategy for kept in settings} == {"greedy", "eps_greedy", "boltzmann", "policy", "smooth_policy"}
    assert {kept.formulation for kept in settings} == {"one_sided", "two_sided", "factorized"}
    random = Settings.of(**cases()["random"])
    assert (random.init, random.selection_update, random.collocation, random.negative) == (
        "random",
        "posterior",
        "word",
        5,
    )


def test_a_digest_is_of_all_arrays():
    model = toy_model()
    first = digest(model)
    assert digest(toy_model()) == first
    for name in ("sense_vectors", "collocation_vectors", "context_vectors", "selection_vectors", "sense_counts"):
        other = toy_model()
        getattr(other.arrays, name)[0] += np.ones_like(getattr(other.arrays, name)[0])
        assert digest(other) != first, name
