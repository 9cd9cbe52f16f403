"""Every instruction set gives the same training; which one runs can be chosen. (Kernel by kernel: tests/cpp.)"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from muse import _core
from reference import Config
from step_cases import Case, make_case, make_trainer

NAMES = ("baseline", "avx2", "avx512", "neon", "dotprod", "sve256", "sve512")
AVAILABLE = [name for name in NAMES if _core.isa_available(name)]
MATRICES = ("context_vectors", "selection_vectors", "sense_vectors", "collocation_vectors")


def test_there_is_always_a_baseline():
    assert "baseline" in AVAILABLE
    assert not _core.isa_available("mmx")


@pytest.mark.parametrize("name", AVAILABLE)
def test_the_environment_chooses(monkeypatch, name):
    monkeypatch.setenv("MUSE_ISA", name)
    assert _core.isa() == name


def test_the_best_is_the_default(monkeypatch):
    monkeypatch.delenv("MUSE_ISA", raising=False)
    assert _core.isa() == AVAILABLE[-1]
    monkeypatch.setenv("MUSE_ISA", "")
    assert _core.isa() == AVAILABLE[-1]


def test_an_unknown_instruction_set_is_refused_with_the_known_ones(monkeypatch):
    monkeypatch.setenv("MUSE_ISA", "mmx")
    with pytest.raises(RuntimeError, match=rf"MUSE_ISA=mmx.*use one of: {', '.join(AVAILABLE)}$"):
        _core.isa()


def test_a_process_takes_it_from_its_environment():
    code = "from muse import _core; print(_core.isa())"
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "MUSE_ISA": "baseline"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "baseline"


def train(config: Config) -> tuple[Case, dict]:
    case = make_case(dim=100, selection_size=37)
    trainer = make_trainer(case, config)
    return case, trainer.run(0, 0, trainer.num_batches, 1)


@pytest.mark.skipif(len(AVAILABLE) < 2, reason="this processor runs the baseline alone")
@pytest.mark.parametrize(
    "config",
    [
        Config(),
        Config(collocates="all", formulation="two_sided", reward="sampled_likelihood", group_size=4),
        Config(strategy="boltzmann", collocates="all", group_size=16, negative=20, alpha=0.02),
        Config(selection_update="posterior", sibling_share=0.2, max_norm=2.0, mean=True, full_text=True),
    ],
)
def test_all_instruction_sets_train_the_same_model(monkeypatch, config):
    runs = {}
    for name in AVAILABLE:
        monkeypatch.setenv("MUSE_ISA", name)
        runs[name] = train(config)
    baseline, expected = runs["baseline"]
    for name, (case, stats) in runs.items():
        assert stats["sense_use"].tolist() == expected["sense_use"].tolist(), name
        assert stats["reward"] == pytest.approx(expected["reward"], rel=1e-5)
        for matrix in MATRICES:
            scale = np.abs(baseline.arrays[matrix]).max()
            np.testing.assert_allclose(case.arrays[matrix], baseline.arrays[matrix], rtol=0, atol=1e-5 * scale)
    start = make_case(dim=100, selection_size=37)
    assert np.abs(baseline.arrays["sense_vectors"] - start.arrays["sense_vectors"]).max() > 1e-3
