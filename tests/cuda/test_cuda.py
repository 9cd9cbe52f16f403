"""The CUDA kernels against the plain implementation of the paper in tests/reference.py, and against the core.

Without a device they run emulated (tests/emulation/): ``MUSE_CUDA_EMULATION`` names the folder of that build, which
``cmake --workflow --preset emulation`` makes. On a device blocks run at the same time, so that groups of a batch no
longer step one after another; there, only what does not depend on their order is compared closely.
"""

from __future__ import annotations

import os
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import muse.base.cuda
from muse import MUSE, _core
from muse.datasets import make_ambiguous_corpus
from reference import Config
from resolved import arguments
from step_cases import CHOICES, MATRICES, PAPER, Case, compare, core_options, make_case, make_trainer

EMULATED = os.environ.get("MUSE_CUDA_EMULATION")

# --- the whole of a step, emulated, as in tests/training/test_step.py ---


@pytest.mark.parametrize(("strategy", "formulation", "reward", "collocates", "group_size"), PAPER)
def test_the_paper_and_shared_negatives(emulated, strategy, formulation, reward, collocates, group_size):
    config = Config(
        strategy=strategy, formulation=formulation, reward=reward, collocates=collocates, group_size=group_size
    )
    moved, _ = compare(config, trainer_type=emulated.Trainer)
    expected = set("PQUVFB") if formulation == "factorized" else set("PQUV")
    assert {name for name, distance in moved.items() if distance > 1e-3} == expected


@pytest.mark.parametrize("number", range(len(CHOICES)))
def test_every_pair_of_extensions(emulated, number):
    choice = dict(CHOICES[number])
    words_collocate = choice.pop("words_collocate")
    config = Config(**choice, selection_alpha=1.0 if choice["selection_mean"] else 0.02)
    compare(config, words_collocate=words_collocate, seed=number, trainer_type=emulated.Trainer)


@pytest.mark.parametrize("order", ["forward", "reversed", "shuffled"])
@pytest.mark.parametrize("collocates", ["one", "all"])
def test_groups_with_large_scores_take_smaller_steps(emulated, collocates, order):
    emulated.set_order(order)
    compare(Config(collocates=collocates, group_size=7), scale=1.7, trainer_type=emulated.Trainer)


@pytest.mark.parametrize(("order", "seed"), [("reversed", 0), ("shuffled", 1), ("shuffled", 2), ("shuffled", 3)])
@pytest.mark.parametrize(
    "choice",
    [
        {"formulation": "two_sided", "collocates": "all", "reward": "sampled_likelihood"},
        {"selection_update": "posterior", "collocates": "all", "full_text": True},
        {"formulation": "factorized", "max_norm": 1.8},
    ],
    ids=["two_sided", "posterior", "factorized"],
)
def test_no_result_hangs_on_the_order_of_threads(emulated, order, seed, choice):
    """A missing barrier shows where lanes and warps take turns in another order."""
    emulated.set_order(order, seed=seed)
    compare(Config(**choice, group_size=4), trainer_type=emulated.Trainer)


@pytest.mark.parametrize(
    "choice",
    [
        {"formulation": "two_sided", "full_text": True, "selection_window": 6, "shrink_selection": False},
        {"selection_update": "posterior", "collocates": "all", "max_norm": 1.8},
        {"formulation": "factorized", "full_text": True, "mean": True},
    ],
    ids=["two_sided", "posterior", "factorized"],
)
@pytest.mark.parametrize("group_size", [1, 4])
def test_batches_of_a_slice_step_as_those_of_many_runs(emulated, choice, group_size):
    config = Config(**choice, group_size=group_size, batch_tokens=16)
    one, many = make_case(), make_case()
    trainer = make_trainer(one, config, emulated.Trainer)
    trainer.run(0, 0, trainer.num_batches, 1)
    trainer = make_trainer(many, config, emulated.Trainer)
    for batch in range(trainer.num_batches):
        trainer.run(0, batch, batch + 1, 1)
    for name in MATRICES.values():
        np.testing.assert_array_equal(one.arrays[name], many.arrays[name], err_msg=name)


# --- on any device ----------------------------------------------------------------------------------------------------


def both(backend: ModuleType, config: Config, *, workers: int = 1, slice_tokens: int | None = None, **case: Any) -> Any:
    """The core and the backend over one epoch: arrays and statistics of each."""
    results = []
    for trainer_type in (_core.Trainer, backend.Trainer):
        made = make_case(**case)
        trainer = make_trainer(made, config, trainer_type)
        if slice_tokens is not None and trainer_type is backend.Trainer:
            trainer.slice_tokens = slice_tokens
        results.append((made.arrays, trainer.run(0, 0, trainer.num_batches, workers)))
    return results


STILL = {"alpha": 1e-7, "selection_update": "none"}  # nothing moves that a decision could hang on


@pytest.mark.parametrize("group_size", [1, 4])
@pytest.mark.parametrize("strategy", ["greedy", "eps_greedy", "boltzmann"])
@pytest.mark.parametrize("slice_tokens", [1, 100, None])
def test_decisions_are_those_of_the_core(backend, strategy, group_size, slice_tokens):
    """Any number of batches at once, any slice: the same tokens, pairs, senses, rewards."""
    config = Config(strategy=strategy, group_size=group_size, batch_tokens=16, **STILL)
    (_, core), (_, ours) = both(backend, config, workers=3, slice_tokens=slice_tokens)
    exact = ("targets", "pairs", "loss_pairs", "entropy_targets", "tokens", "next_batch", "stopped", "diverged")
    assert {name: ours[name] for name in exact} == {name: core[name] for name in exact}
    assert ours["sense_use"].tolist() == core["sense_use"].tolist()
    for name in ("reward", "loss", "entropy"):
        assert ours[name] == pytest.approx(core[name], rel=1e-4), name


@pytest.mark.parametrize("group_size", [1, 8])
@pytest.mark.parametrize("reward", ["likelihood", "sampled_likelihood"])
def test_one_group_a_batch_steps_as_the_core_does(backend, group_size, reward):
    """With one group a batch and one batch at once nothing runs beside anything else, on any device."""
    batch_tokens = 1 if group_size == 1 else group_size // 2  # shorter than twice that, where sentences are cut
    config = Config(group_size=group_size, batch_tokens=batch_tokens, sample=0.0, collocates="all",
                    selection_alpha=0.02, reward=reward)  # fmt: skip
    (core, _), (ours, _) = both(backend, config)
    for name in MATRICES.values():
        np.testing.assert_allclose(ours[name], core[name], rtol=0, atol=2e-4 * np.abs(core[name]).max(), err_msg=name)


@pytest.mark.parametrize("dim", [1, 127, 130, 300, 400, 520, 769, 1024])
@pytest.mark.parametrize("group_size", [1, 5])
def test_rows_of_every_length(backend, dim, group_size):
    config = Config(group_size=group_size, alpha=0.01, selection_alpha=0.01, collocates="all", max_norm=3.0)
    (core, core_stats), (ours, stats) = both(backend, config, dim=dim, selection_size=dim, scale=0.1)
    assert stats["pairs"] == core_stats["pairs"]
    for name in ("context_vectors", "selection_vectors", "sense_vectors", "collocation_vectors"):
        # Groups run side by side on a device: what they add is the same to the first order of the learning rate.
        np.testing.assert_allclose(ours[name], core[name], rtol=0, atol=2e-3 * np.abs(core[name]).max(), err_msg=name)
        assert np.abs(core[name] - make_case(dim=dim, selection_size=dim, scale=0.1).arrays[name]).max() > 1e-6


def test_batches_at_once_add_up(backend):
    """In a wave P and Q move by what each batch alone, from the same start, would move them by."""
    config = Config(alpha=1e-7, batch_tokens=32)
    start, ours = make_case().arrays, make_case()
    trainer = make_trainer(ours, config, backend.Trainer)
    trainer.run(0, 0, trainer.num_batches, trainer.num_batches)
    names = ("context_vectors", "selection_vectors")
    expected = {name: np.zeros_like(start[name]) for name in names}
    for batch in range(trainer.num_batches):
        alone = make_case()
        make_trainer(alone, config).run(0, batch, batch + 1, 1)
        for name in names:
            expected[name] += alone.arrays[name] - start[name]
    for name in names:
        moved = ours.arrays[name] - start[name]
        assert np.abs(moved).max() > 0.01
        np.testing.assert_allclose(moved, expected[name], rtol=0, atol=1e-4 * np.abs(moved).max())


@pytest.mark.parametrize(("order", "seed"), [("reversed", 0), ("shuffled", 1), ("shuffled", 2)])
def test_no_decision_hangs_on_the_order_of_blocks(emulated, order, seed):
    emulated.set_order(order, order, seed)
    test_decisions_are_those_of_the_core(emulated, "boltzmann", 4, 100)
    test_decisions_are_those_of_the_core(emulated, "eps_greedy", 1, None)
    test_batches_at_once_add_up(emulated)
    test_one_group_a_batch_steps_as_the_core_does(emulated, 1, "sampled_likelihood")


# --- U and V as bfloat16 ----------------------------------------------------------------------------------------------


def to_bfloat16(array: np.ndarray) -> np.ndarray:
    """The nearest bfloat16 numbers, ties to even, as float32."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    rounded: np.ndarray = ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)
    return rounded


def run_bfloat16(backend: ModuleType, case: Case, config: Config) -> Any:
    trainer = make_trainer(case, config, backend.Trainer)
    trainer.bfloat16 = True
    return trainer.run(0, 0, trainer.num_batches, 1)


STORED = ("sense_vectors", "collocation_vectors")


@pytest.mark.parametrize("group_size", [1, 4])
@pytest.mark.parametrize(
    "choice",
    [
        {"formulation": "two_sided"},
        {"selection_update": "posterior", "collocates": "all", "sibling_share": 0.3},
    ],
    ids=["two_sided", "posterior"],
)
def test_bfloat16_steps_as_floats_do_but_for_rounding(emulated, choice, group_size):
    config = Config(**choice, group_size=group_size, batch_tokens=16)
    floats, halves = make_case(), make_case()
    for case in (floats, halves):
        for name in STORED:
            case.arrays[name][:] = to_bfloat16(case.arrays[name])
    trainer = make_trainer(floats, config, emulated.Trainer)
    expected = trainer.run(0, 0, 2, 1)
    trainer = make_trainer(halves, config, emulated.Trainer)
    trainer.bfloat16 = True
    stats = trainer.run(0, 0, 2, 1)
    assert (stats["pairs"], stats["targets"]) == (expected["pairs"], expected["targets"])
    assert stats["reward"] == pytest.approx(expected["reward"], rel=0.01)
    for name in STORED:
        ours, wanted = halves.arrays[name], floats.arrays[name]
        np.testing.assert_array_equal(ours, to_bfloat16(ours))
        assert np.abs(ours - wanted).max() <= 0.02 * np.abs(wanted).max()
        assert np.abs(ours - wanted).max() > 0
        assert np.abs(ours - make_case().arrays[name]).max() > 0.05  # by training, not by rounding


@pytest.mark.parametrize("group_size", [1, 4])
def test_steps_too_small_for_bfloat16_add_up(emulated, group_size):
    """Rounded to the nearest, numbers would stay where they are; at random they move as far on average."""
    config = Config(group_size=group_size, alpha=2e-4, selection_update="none", collocates="all", sample=0.0)
    start, floats, halves = make_case(dim=128), make_case(dim=128), make_case(dim=128)
    for case in (start, floats, halves):
        for name in STORED:
            case.arrays[name][:] = to_bfloat16(case.arrays[name])
    trainer = make_trainer(floats, config, emulated.Trainer)
    trainer.run(0, 0, trainer.num_batches, 1)
    run_bfloat16(emulated, halves, config)
    for name in STORED:
        wanted = (floats.arrays[name] - start.arrays[name]).ravel()
        moved = (halves.arrays[name] - start.arrays[name]).ravel()
        assert moved @ wanted / (wanted @ wanted) == pytest.approx(1, abs=0.1)
        assert (to_bfloat16(start.arrays[name].ravel() + wanted / 100) == start.arrays[name].ravel()).mean() > 0.9


def test_bfloat16_rounds_to_the_nearest_at_the_start_and_takes_half_the_memory(backend):
    rng = np.random.default_rng(0)
    words = 9000
    matrices = {name: _core.aligned_zeros(words, 20) for name in (*STORED, "context_vectors", "selection_vectors")}
    for name in STORED:
        matrices[name][:] = rng.normal(size=(words, 20))
    expected = {name: to_bfloat16(matrices[name]) for name in STORED}
    trainer = backend.Trainer(
        **matrices, sense_offset=np.arange(words + 1), word_counts=np.ones(words, np.int64),
        corpus=_core.Corpus.from_arrays(np.zeros(1, np.int32), np.array([0, 1])), options=core_options(Config()),
        sample=0.0, ns_exponent=1.0, context_weights=np.empty(0, np.float32),
    )  # fmt: skip
    trainer.bfloat16 = True
    assert trainer.run(0, 0, 1, 1)["pairs"] == 0  # a word alone
    for name in STORED:
        np.testing.assert_array_equal(matrices[name], expected[name])
    if EMULATED:
        need = []
        for bfloat16 in (False, True):
            trainer.bfloat16 = bfloat16
            backend.set_memory(1000)
            with pytest.raises(MemoryError) as error:
                trainer.run(0, 0, 1, 1)
            need.append(float(str(error.value).split(" needs ")[1].split()[0]))
        backend.set_memory(1 << 40)
        assert need[0] - need[1] == pytest.approx(9000 * 32 * 2 * 2 / 1e6 - 4096 * 32 * 4 / 1e6, abs=0.1)


# --- limits and errors ------------------------------------------------------------------------------------------------


def test_a_model_too_large_for_the_device_is_refused_with_the_figure(emulated):
    emulated.set_memory(300_000)
    trainer = make_trainer(make_case(dim=1024, selection_size=1024), Config(), emulated.Trainer)
    with pytest.raises(MemoryError, match=r"needs \d\.\d MB of the device.s memory, of which 0\.3 MB are free"):
        trainer.run(0, 0, 1, 1)


def test_rows_too_long_and_groups_too_large_are_refused(backend):
    case = make_case(dim=1025)
    with pytest.raises(ValueError, match="vector_size and selection_size can be at most 1024"):
        make_trainer(case, Config(), backend.Trainer).run(0, 0, 1, 1)
    with pytest.raises(ValueError, match="lower group_size, negative, window or vector_size"):
        make_trainer(make_case(dim=1024), Config(group_size=128), backend.Trainer).run(0, 0, 1, 1)
    with pytest.raises(ValueError, match="batches out of range"):
        make_trainer(make_case(), Config(), backend.Trainer).run(0, 1, 0, 1)


def test_a_tick_stops_between_slices(backend):
    trainer = make_trainer(make_case(), Config(batch_tokens=8), backend.Trainer)
    trainer.slice_tokens = 1
    calls = []

    def tick(tokens: int) -> bool:
        calls.append(tokens)
        return False

    stats = trainer.run(0, 0, trainer.num_batches, 1, tick)
    if calls:  # a device may be done before the first is due
        assert stats["stopped"]
    done = stats["next_batch"]
    rest = trainer.run(0, done, trainer.num_batches, 1)
    assert stats["tokens"] + rest["tokens"] == len(make_case().tokens)


def test_divergence_is_seen(backend):
    case = make_case()
    case.arrays["sense_vectors"][:] = np.nan
    assert make_trainer(case, Config(), backend.Trainer).run(0, 0, 1, 1)["diverged"]


# --- models -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("device", "storage"), [("cuda", "float32"), ("auto", "float32"), ("cuda", "bfloat16")])
def test_models_train_on_the_device(on_device, device, storage):
    corpus = make_ambiguous_corpus(200, 100, seed=0).sentences
    options: dict[str, Any] = {"vector_size": 16, "epochs": 3, "min_count": 1, "workers": 1, "batch_tokens": 512}
    ours = MUSE(corpus, **arguments(device=device, device_storage=storage, **options))
    core = MUSE(corpus, **arguments(**options))
    for a, b in zip(ours.history, core.history, strict=True):
        assert (a["tokens"], a["pairs"], a["alpha"]) == (b["tokens"], b["pairs"], b["alpha"])
        assert a["reward"] == pytest.approx(b["reward"], rel=0.02)
    assert ours.training_state["stage"] == core.training_state["stage"]
    vectors = ours.arrays.sense_vectors
    assert np.array_equal(vectors, to_bfloat16(vectors)) == (storage == "bfloat16")


# --- what is missing --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lacks", "says"),
    [("driver", "there is no NVIDIA driver here"), ("device", "no CUDA device is visible here")],
)
def test_errors_say_what_is_missing(monkeypatch, lacks, says):
    monkeypatch.setattr(muse.base.cuda, "load", lambda: SimpleNamespace(missing=lambda: lacks))
    assert not muse.base.cuda.is_available()
    with pytest.raises(RuntimeError, match=f"no CUDA device can be used: {says}"):
        muse.base.cuda.describe_device()
    with pytest.raises(RuntimeError, match=f"device='cuda' is not available: {says}.*; use device='cpu' or 'auto'"):
        MUSE([["a", "b"]], device="cuda")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ModuleNotFoundError("No module named 'muse._cuda'"), "this build of muse has no CUDA backend"),
        (ImportError("libcuda.so.1: no such file"), r"cannot be loaded \(libcuda.so.1: no such file\)"),
    ],
)
def test_a_backend_that_cannot_be_loaded_is_missing(monkeypatch, error, says):
    def load():
        raise error

    monkeypatch.setattr(muse.base.cuda, "load", load)
    with pytest.raises(RuntimeError, match=says):
        muse.base.cuda.describe_device()


def test_a_working_backend_lacks_nothing(monkeypatch):
    working = SimpleNamespace(missing=lambda: "", describe_device=lambda: "a device")
    monkeypatch.setattr(muse.base.cuda, "load", lambda: working)
    assert muse.base.cuda.is_available()
    assert muse.base.cuda.describe_device() == "a device"
