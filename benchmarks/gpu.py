"""What benchmarks/gpu_check.sh measures on a CUDA device; each part adds its figures to one JSON.

``decisions``: two runs on the device and one on the CPU take the same random decisions. ``throughput``: tokens and
pairs a second over dimension, negatives and group size, and the bytes that a run must move at least. ``quality``: a
generated text of ambiguous words, scored as on the CPU. ``small`` and ``profile`` are runs for compute-sanitizer and
ncu.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from muse import MUSE, _core, cuda
from muse.datasets import make_ambiguous_corpus
from muse.evaluation.clustering import v_measure
from muse.settings import Settings
from muse.training import core_options

WORDS = 100_000
ROW_PAD = 16


def zipf_tokens(count: int, words: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Token ids of a Zipfian text without meaning, in sentences of 25: for speed, not for quality."""
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, words + 1)
    cumulative = np.cumsum(share / share.sum())
    tokens = np.minimum(np.searchsorted(cumulative, rng.random(count)), words - 1).astype(np.int32)
    return tokens, np.append(np.arange(0, count, 25), count).astype(np.int64)


def make_trainer(tokens: np.ndarray, offsets: np.ndarray, words: int, settings: Settings, trainer_type: Any) -> Any:
    """A trainer of a random model with `settings.senses` senses a word."""
    rng = np.random.default_rng(1)
    senses, dim = int(settings.senses), settings.vector_size  # type: ignore[arg-type]

    def matrix(rows: int) -> np.ndarray:
        array = _core.aligned_zeros(rows, dim)
        array[:] = (rng.random((rows, dim), np.float32) - 0.5) / np.sqrt(dim)
        return array

    columns = words if settings.collocation == "word" else words * senses
    return trainer_type(
        context_vectors=matrix(words), selection_vectors=matrix(words * senses),
        sense_vectors=matrix(words * senses), collocation_vectors=_core.aligned_zeros(columns, dim),
        sense_offset=np.arange(words + 1, dtype=np.int64) * senses,
        word_counts=np.bincount(tokens, minlength=words).astype(np.int64),
        corpus=_core.Corpus.from_arrays(tokens, offsets), options=core_options(settings, 1), sample=settings.sample,
        ns_exponent=settings.ns_exponent, context_weights=np.empty(0, np.float32),
        forward_values=_core.aligned_zeros(words, dim) if settings.formulation == "factorized" else None,
        backward_values=_core.aligned_zeros(words, dim) if settings.formulation == "factorized" else None,
    )  # fmt: skip


def paper(**changes: Any) -> Settings:
    """The paper's settings with some changed."""
    return Settings.from_options({**MUSE.paper_defaults(), "senses": 3, **changes})


def default(**changes: Any) -> Settings:
    """The package's defaults with three senses a word."""
    return Settings.from_options({"senses": 3, **changes})


# --- parts ------------------------------------------------------------------------------------------------------------


def decisions() -> dict[str, Any]:
    """Counts that depend on random draws alone, on both; the model hardly moves."""
    tokens, offsets = zipf_tokens(400_000, 5_000)
    settings = paper(vector_size=64, alpha=1e-8, min_alpha=None, selection_update="none", group_size=16)
    runs = []
    for trainer_type in (_core.Trainer, cuda.load().Trainer, cuda.load().Trainer):
        trainer = make_trainer(tokens, offsets, 5_000, settings, trainer_type)
        runs.append(trainer.run(0, 0, trainer.num_batches, 8))
    exact = ("targets", "pairs", "loss_pairs", "entropy_targets", "tokens")
    same = {name: [run[name] for run in runs] for name in exact}
    use = [run["sense_use"] for run in runs]
    moved = [int(np.abs(use[0] - other).sum()) // 2 for other in use[1:]]
    assert all(len(set(values)) == 1 for values in same.values()), same
    assert max(moved) <= 1e-4 * runs[0]["targets"], moved  # senses that rounding tips
    assert np.isclose(runs[0]["reward"], runs[1]["reward"], rtol=1e-4)
    return {"counts": same, "senses_chosen_differently": moved, "rewards": [run["reward"] for run in runs]}


def cells() -> Iterator[tuple[str, Settings]]:
    """What is timed."""
    for group in (1, 8, 16, 32, 64):
        yield "paper", paper(group_size=group, group_negatives=None if group == 1 else max(32, group))
    for dim in (100, 500):
        yield "paper", paper(vector_size=dim, group_size=16)
    for negative in (5, 10):
        yield "paper", paper(negative=negative, group_size=16)
    yield "paper, all collocates", paper(collocates="all", group_size=16)
    for dim in (100, 300):
        yield "defaults", default(vector_size=dim)


def least_bytes(settings: Settings, stats: dict[str, Any]) -> int:
    """Bytes of rows of U and V that the representation step reads and adds to, each once."""
    row = 4 * (-(-settings.vector_size // ROW_PAD) * ROW_PAD)
    options = core_options(settings, 1)
    if settings.group_size == 1:
        columns = stats["pairs"] * (1 + settings.negative)
    else:
        columns = stats["targets"] * (1 + options.shared_negatives() / settings.group_size)
    return int(2 * row * (stats["targets"] + columns))


def throughput(count: int = 8_000_000) -> dict[str, Any]:
    """One warm-up slice, then the rest of an epoch; model transfers are timed apart."""
    tokens, offsets = zipf_tokens(count, WORDS)
    rows = []
    for name, settings in cells():
        trainer = make_trainer(tokens, offsets, WORDS, settings, cuda.load().Trainer)
        batches = max(1, (1 << 16) // settings.batch_tokens)
        first = min(trainer.num_batches, batches)
        start = time.perf_counter()
        trainer.run(0, 0, first, batches)
        transfer = time.perf_counter() - start  # the model there and back, and one wave
        start = time.perf_counter()
        stats = trainer.run(0, first, trainer.num_batches, batches)
        seconds = max(time.perf_counter() - start - transfer, 1e-9)
        rows.append({
            "recipe": name, "dim": settings.vector_size, "negative": settings.negative, "group": settings.group_size,
            "group_negatives": core_options(settings, 1).group_negatives, "seconds": seconds, "transfer": transfer,
            "tokens_per_second": stats["tokens"] / seconds, "targets_per_second": stats["targets"] / seconds,
            "pairs_per_second": stats["pairs"] / seconds,
            "row_gb_per_second": least_bytes(settings, stats) / seconds / 1e9,
            "reward": stats["reward"] / max(1, stats["pairs"]), "diverged": stats["diverged"],
        })  # fmt: skip
        print(json.dumps(rows[-1]))
    return {"device": cuda.describe_device(), "corpus": f"{count:,} Zipfian tokens, {WORDS:,} words", "rows": rows}


def quality() -> dict[str, Any]:
    """V-measure of selected senses on a generated text, on the device and on the CPU, two seeds each."""
    corpus = make_ambiguous_corpus(6000, 400, seed=0)
    scores: dict[str, list[float]] = {}
    for device in ("cpu", "cuda"):
        for seed in (1, 2):
            model = MUSE(corpus.sentences, vector_size=32, seed=seed, device=device)
            selected = list(model.disambiguate_batch(corpus.sentences))
            found = [
                v_measure([sense for _, _, sense in places], [int(selected[s][p]) for s, p, _ in places])
                for places in corpus.occurrences().values()
            ]
            scores.setdefault(device, []).append(float(np.mean(found)))
            print(device, seed, scores[device][-1])
    assert np.mean(scores["cuda"]) > np.mean(scores["cpu"]) - 0.06, scores
    return scores


def small() -> dict[str, Any]:
    """Every kernel once, on little: for compute-sanitizer."""
    tokens, offsets = zipf_tokens(2_000, 200)
    recipes = (
        paper(vector_size=40),
        paper(vector_size=40, formulation="two_sided", group_size=4, max_norm=1.0),
        paper(vector_size=40, formulation="factorized", group_size=4, max_norm=1.0),
        default(vector_size=40),
    )
    for settings in recipes:
        trainer = make_trainer(tokens, offsets, 200, settings, cuda.load().Trainer)
        print(trainer.run(0, 0, trainer.num_batches, 2)["pairs"], "pairs")
    return {}


def profile() -> dict[str, Any]:
    """A few waves of the paper's setting, for ncu."""
    tokens, offsets = zipf_tokens(400_000, WORDS)
    trainer = make_trainer(tokens, offsets, WORDS, paper(group_size=16), cuda.load().Trainer)
    trainer.run(0, 0, trainer.num_batches, 32)
    return {}


PARTS = {part.__name__: part for part in (decisions, throughput, quality, small, profile)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--out", type=Path, help="JSON to add the figures to")
    arguments = parser.parse_args()
    figures = PARTS[arguments.part]()
    print(json.dumps(figures, indent=1))
    if arguments.out:
        report = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
        report[arguments.part] = figures
        arguments.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
