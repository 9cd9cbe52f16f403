"""What benchmarks/gpu_check.sh measures on a CUDA device; each part adds its figures to one JSON as it finds them.

``decisions``: two runs on the device and one on the CPU take the same random decisions. ``throughput``: tokens and
pairs a second over dimension, negatives, group size and storage, the bytes that a run must move at least, and the share
of the bound (benchmarks/gpu_limits.py). ``inference``: senses of a text and nearest neighbours, right and how fast.
``quality``: a generated text of ambiguous words, scored as on the CPU. ``trees``: the default recipe likewise, whose
words are trained on the device, with the seconds of each stage. ``sanitized`` and ``profile`` are runs for
compute-sanitizer and ncu. ``--small`` is for trying all this without a device, on the emulation.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from benchmarks import common
from benchmarks.gpu_limits import H100, Case
from muse import MUSE, Engine, Paper, Split, _core, cuda
from muse.base.limits import usable_cores
from muse.data.settings import Settings
from muse.datasets import AmbiguousCorpus, make_ambiguous_corpus
from muse.evaluation.clustering import v_measure
from muse.training.options import core_options

ROW_PAD = 16
Note = Callable[[Any], None]  # called with what a part has found so far


class Size(NamedTuple):
    """How much is run."""

    words: int
    tokens: int
    text: int  # sentences of the generated text
    queries: tuple[int, ...]


FULL = Size(words=100_000, tokens=8_000_000, text=6000, queries=(1, 64, 1024))
SMALL = Size(words=500, tokens=10_000, text=300, queries=(1, 8))


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
    """The paper's settings with some changed, by their resolved names."""
    return Settings.of(recipe=Paper()).replace(**changes)


def default(**changes: Any) -> Settings:
    """The package's defaults with three senses a word."""
    return Settings.of(senses=3).replace(**changes)


# --- parts ------------------------------------------------------------------------------------------------------------


def decisions(size: Size, note: Note) -> None:
    """Counts that depend on random draws alone, on both; the model hardly moves."""
    words = size.words // 20
    tokens, offsets = zipf_tokens(size.tokens // 20, words)
    settings = paper(vector_size=64, alpha=1e-8, min_alpha=None, selection_update="none", group_size=16)
    runs = []
    for trainer_type in (_core.Trainer, cuda.load().Trainer, cuda.load().Trainer):
        trainer = make_trainer(tokens, offsets, words, settings, trainer_type)
        runs.append(trainer.run(0, 0, trainer.num_batches, 8))
    exact = ("targets", "pairs", "loss_pairs", "entropy_targets", "tokens")
    same = {name: [run[name] for run in runs] for name in exact}
    use = [run["sense_use"] for run in runs]
    moved = [int(np.abs(use[0] - other).sum()) // 2 for other in use[1:]]
    note({"counts": same, "senses_chosen_differently": moved, "rewards": [run["reward"] for run in runs]})
    assert all(len(set(values)) == 1 for values in same.values()), same
    assert max(moved) <= 1e-4 * runs[0]["targets"], moved  # senses that rounding tips
    assert np.isclose(runs[0]["reward"], runs[1]["reward"], rtol=1e-4)


def cells() -> Iterator[tuple[str, Settings, bool]]:
    """What is timed: a name, the settings, and whether U and V are bfloat16."""
    for group in (1, 32, 64):
        yield "paper", paper(group_size=group), False
    yield "paper", paper(group_size=16), False
    yield "paper", paper(group_size=16), True
    yield "paper", paper(), True
    for dim in (100, 500):
        yield "paper", paper(vector_size=dim, group_size=16), False
    for negative in (5, 10):
        yield "paper", paper(negative=negative, group_size=16), False
    yield "paper, all collocates", paper(collocates="all", group_size=16), False
    for dim in (100, 300):
        yield "defaults", default(vector_size=dim), False


def group_negatives(settings: Settings) -> int:
    """Negatives that a group shares."""
    return core_options(settings, 1).shared_negatives()


def least_bytes(settings: Settings, stats: dict[str, Any], number_bytes: int) -> int:
    """Bytes of rows of U and V that the representation step reads and adds to, each once."""
    row = number_bytes * (-(-settings.vector_size // ROW_PAD) * ROW_PAD)
    if settings.group_size == 1:
        columns = stats["pairs"] * (1 + settings.negative)
    else:
        columns = stats["targets"] * (1 + group_negatives(settings) / settings.group_size)
    return int(2 * row * (stats["targets"] + columns))


def share_of_bound(settings: Settings, bfloat16: bool, targets_per_second: float) -> float | None:
    """Of what an H100 could do at most without a cache, in the setting that the bound is for; else None."""
    if settings.vector_size != 300 or settings.negative != 25:
        return None
    case = Case("", settings.group_size, group_negatives(settings), settings.collocates == "all",
                number_bytes=2 if bfloat16 else 4)  # fmt: skip
    return targets_per_second / 1e6 / case.bound(H100)


def throughput(size: Size, note: Note) -> None:
    """One wave to warm up, then the rest of an epoch; model transfers are timed apart."""
    tokens, offsets = zipf_tokens(size.tokens, size.words)
    report: dict[str, Any] = {"corpus": f"{size.tokens:,} Zipfian tokens, {size.words:,} words", "rows": []}
    for name, settings, bfloat16 in cells():
        trainer = make_trainer(tokens, offsets, size.words, settings, cuda.load().Trainer)
        trainer.bfloat16 = bfloat16
        batches = max(1, (1 << 16) // settings.batch_tokens)
        first = min(trainer.num_batches // 2, batches)
        start = time.perf_counter()
        trainer.run(0, 0, first, batches)
        transfer = time.perf_counter() - start  # the model there and back, and one wave
        start = time.perf_counter()
        stats = trainer.run(0, first, trainer.num_batches, batches)
        seconds = max(time.perf_counter() - start - transfer, 1e-9)
        report["rows"].append({
            "recipe": name, "dim": settings.vector_size, "negative": settings.negative, "group": settings.group_size,
            "group_negatives": group_negatives(settings) if settings.group_size > 1 else 0,
            "storage": "bfloat16" if bfloat16 else "float32", "seconds": seconds, "transfer": transfer,
            "tokens_per_second": stats["tokens"] / seconds, "targets_per_second": stats["targets"] / seconds,
            "pairs_per_second": stats["pairs"] / seconds,
            "row_gb_per_second": least_bytes(settings, stats, 2 if bfloat16 else 4) / seconds / 1e9,
            "share_of_h100_bound": share_of_bound(settings, bfloat16, stats["targets"] / seconds),
            "reward": stats["reward"] / max(1, stats["pairs"]), "diverged": stats["diverged"],
        })  # fmt: skip
        note(report)


def inference(size: Size, note: Note) -> None:
    """Senses and neighbours of a random model of ten times as many words, against the core's on a part of the work."""
    rng, words, dim = np.random.default_rng(1), 10 * size.words, 300
    selection, vectors = (_core.aligned_zeros(3 * words, dim) for _ in range(2))
    context = _core.aligned_zeros(words, dim)
    for matrix in (context, selection, vectors):
        for first in range(0, len(matrix), 1 << 14):
            block = matrix[first : first + (1 << 14)]
            block[:] = rng.random(block.shape, np.float32) - 0.5
    tokens, offsets = zipf_tokens(size.tokens, words)
    options = _core.SelectionOptions()
    parts = (context, selection, np.arange(words + 1) * 3, np.empty(0, np.float32), options)
    report: dict[str, Any] = {"senses": len(vectors), "dim": dim}
    start = time.perf_counter()
    selector = cuda.load().Selector(*parts)
    report["selector_upload"] = time.perf_counter() - start
    selector.select(tokens[: offsets[4]], offsets[:5])
    start = time.perf_counter()
    senses, probabilities = selector.select(tokens, offsets)
    report["select_tokens_per_second"] = len(tokens) / (time.perf_counter() - start)
    note(report)
    some = min(len(offsets) - 1, 8000)
    expected = _core.select_senses(*parts, tokens[: offsets[some]], offsets[: some + 1], workers=usable_cores())
    report["same_senses"] = float((senses[: offsets[some]] == expected[0]).mean())
    report["probability_error"] = float(np.abs(probabilities[: offsets[some]] - expected[1]).max())
    note(report)
    del selector
    scale = (1 / np.linalg.norm(vectors, axis=1)).astype(np.float32)
    start = time.perf_counter()
    search = cuda.load().Search(vectors, scale=scale)
    report["search_upload"] = time.perf_counter() - start
    for count in size.queries:
        queries = vectors[:count] * scale[:count, None]
        search.top_k(queries, 10)
        start = time.perf_counter()
        found, cosines = search.top_k(queries, 10)
        report[f"queries_per_second_{count}"] = count / (time.perf_counter() - start)
        note(report)
    known, expected_cosines = _core.top_k(vectors, queries[:4], 10, scale=scale)
    report["same_neighbours"] = float((found[:4] == known).mean())
    report["cosine_error"] = float(np.abs(cosines[:4] - expected_cosines).max())
    note(report)
    assert report["same_senses"] > 0.999, report
    assert report["cosine_error"] < 1e-4, report


def quality(size: Size, note: Note) -> None:
    """V-measure of selected senses on a generated text, on the CPU and on the device in both storages, of two seeds."""
    corpus = make_ambiguous_corpus(size.text, size.text // 15, seed=0)
    places: dict[str, dict[str, Any]] = {
        "cpu": {"device": "cpu", "recipe": Split()}, "cuda": {"device": "cuda", "recipe": Split()},
        "cuda, bfloat16": {"device": "cuda", "recipe": Split(engine=Engine(device_storage="bfloat16"))},
    }  # fmt: skip
    scores: dict[str, list[float]] = {place: [] for place in places}
    for place, options in places.items():
        for seed in (1, 2):
            scores[place].append(_score(MUSE(corpus.sentences, vector_size=32, seed=seed, **options), corpus))
            note(scores)
    if size is FULL:
        for place in ("cuda", "cuda, bfloat16"):
            assert np.mean(scores[place]) > np.mean(scores["cpu"]) - 0.06, scores


def _score(model: MUSE, corpus: AmbiguousCorpus) -> float:
    """The mean V-measure of the senses that a model selects for the ambiguous words."""
    selected = list(model.disambiguate_batch(corpus.sentences))
    found = [
        v_measure([sense for _, _, sense in uses], [int(selected[s][p]) for s, p, _ in uses])[2]
        for uses in corpus.occurrences().values()
    ]
    return float(np.mean(found))


class _Stages(logging.Handler):
    """The seconds that a training logs of each part of the sense trees."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.seconds: dict[str, float] = {}

    def emit(self, record: logging.LogRecord) -> None:
        if found := re.fullmatch(r"sense trees, (\w+): ([\d.]+) s", record.getMessage()):
            self.seconds[found[1]] = float(found[2])


def trees(size: Size, note: Note) -> None:
    """The default recipe, on the CPU and with words that are trained on the device: contexts and clusters of the sense
    trees grow from these on the CPU. Scores, senses and seconds by stage, of two seeds."""
    corpus = make_ambiguous_corpus(size.text, size.text // 15, seed=0)
    report: dict[str, dict[str, Any]] = {}
    logger = logging.getLogger("muse")
    for place in ("cpu", "cuda"):
        found = report[place] = {"scores": [], "senses": [], "seconds": []}
        for seed in (1, 2):
            stages, level = _Stages(), logger.level
            logger.addHandler(stages)
            logger.setLevel(logging.INFO)
            model = MUSE(corpus.sentences, vector_size=32, min_count=1, seed=seed, device=place)
            logger.removeHandler(stages)
            logger.setLevel(level)
            words = sum(row["seconds"] for row in model.history if row["stage"] == "words")
            found["scores"].append(_score(model, corpus))
            found["senses"].append(model.arrays.n_senses)
            found["seconds"].append({"words": words, **stages.seconds})
            note(report)
            assert model.history[-1]["stage"] == "trees"
            assert model.snapshot.forest is not None
            assert {"encoder", "trees"} <= stages.seconds.keys()
    few, many = sorted(sum(report[place]["senses"]) for place in report)
    assert few > 0.9 * many, report  # the same words have trees; of how many senses depends on uses alone
    if size is FULL:
        assert np.mean(report["cuda"]["scores"]) > np.mean(report["cpu"]["scores"]) - 0.06, report


def sanitized(size: Size, note: Note) -> None:
    """Every kernel once, on little: for compute-sanitizer, under which all is a hundred times slower."""
    tokens, offsets = zipf_tokens(2_000, 200)
    recipes = (
        paper(vector_size=40),
        paper(vector_size=40, formulation="two_sided", group_size=4, max_norm=1.0),
        paper(vector_size=40, formulation="factorized", group_size=4, max_norm=1.0),
        default(vector_size=40),
    )
    pairs = []
    for bfloat16 in (False, True):
        for settings in recipes:
            trainer = make_trainer(tokens, offsets, 200, settings, cuda.load().Trainer)
            trainer.bfloat16 = bfloat16
            pairs.append(trainer.run(0, 0, trainer.num_batches, 2)["pairs"])
            note({"pairs": pairs})
    rows = np.random.default_rng(0).normal(size=(6000, 40)).astype(np.float32)
    search = cuda.load().Search(rows, panel=20_000)
    hits = [int(search.top_k(rows[:count].copy(), k)[0][0, 0]) for count, k in ((1, 10), (9, 300))]
    parts = (rows[:200], rows[:600], np.arange(201) * 3, np.empty(0, np.float32), _core.SelectionOptions())
    senses, _ = cuda.load().Selector(*parts, chunk=300).select(tokens, offsets)
    note({"pairs": pairs, "hits": hits, "senses": np.bincount(senses).tolist()})


def profile(size: Size, note: Note) -> None:
    """A few waves of the paper's setting, for ncu."""
    tokens, offsets = zipf_tokens(size.tokens // 20, size.words)
    trainer = make_trainer(tokens, offsets, size.words, paper(group_size=16), cuda.load().Trainer)
    note({"targets": trainer.run(0, 0, trainer.num_batches, 32)["targets"]})


PARTS = {part.__name__: part for part in (decisions, throughput, inference, quality, trees, sanitized, profile)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--small", action="store_true", help="little of everything")
    parser.add_argument("--out", type=common.out_file, help="JSON to add the figures to")
    arguments = parser.parse_args()
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)

    def note(figures: Any) -> None:
        print(json.dumps(figures), flush=True)
        if arguments.out:
            report = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
            report[arguments.part] = {"device": cuda.describe_device(), **figures}
            unfinished = arguments.out.with_suffix(".unfinished")  # a time limit may end this process at any moment
            unfinished.write_text(json.dumps(report, indent=1) + "\n")
            unfinished.replace(arguments.out)

    PARTS[arguments.part](SMALL if arguments.small else FULL, note)


if __name__ == "__main__":
    common.command(main)
