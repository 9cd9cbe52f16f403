"""Where the cycles of training go, by stage: ``python -m benchmarks.throughput.stages``.

Needs Linux ``perf`` and an extension with symbols, which a release build has not: ``CXXFLAGS=-g1 pip install
--no-build-isolation -C cmake.build-type=None -C cmake.args=-DCMAKE_CXX_FLAGS='-O3 -g1 -DNDEBUG' -e .``
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import common
from benchmarks.throughput.report import stage_table
from benchmarks.throughput.rounds import COMMON
from muse import _core

STAGES = {  # the first whose pattern is found in a symbol; the split's clusters use the kernels of other stages, too
    "the split: samples and clusters": r"SphericalKMeans|Splitter|split_senses|sample_occurrences",
    "selection: sums, scores, gradients": r"axpy|add_row|::dot|score_row_tile<3>|blend|WindowSums|score_position"
    r"|score_until|[sS]elect|slide_contexts|Step::(step|read)_contexts|step_senses|input_gradient|moved|collect_terms|Step::ahead"
    r"|Step::cap|memmove|memset",
    "scores (A Bᵀ, or a row at a time)": r"score_tile|score_some|score_row|::scores",
    "updates of U and V": r"combine_|step_row|step_columns|scatter_add|combine",
    "reading rows, asking for the next": r"::gather|foresee|RowPrefetch|represent_|UniqueRows|GroupProducts",
    "drawing negatives": r"add_negatives|plan_group|add_collocates",
    "labels, sigmoid, rewards, loss": r"fill_|sigmoid|weigh_rows|count_used|Step::learn|sample_loss|reward_of"
    r"|choose_targets|log1p|expf|logf",
    "subsampling and batches": r"BatchBuilder|Batch::",
    "reading and counting the text": r"WordTable|[Ee]ncode|[Ss]can|TextBlock|NegativeSampler",
}
SETTINGS: dict[str, dict[str, Any]] = {
    "shared negatives, dimension 100, 5 negatives": {
        "system": "muse, one sense, shared negatives", "vector_size": 100, "negative": 5,
    },
    "shared negatives, dimension 300, 25 negatives": {
        "system": "muse, one sense, shared negatives", "vector_size": 300, "negative": 25,
    },
    "negatives of each pair, dimension 100, 5 negatives": {
        "system": "muse, one sense, negatives of each pair", "vector_size": 100, "negative": 5,
    },
    "senses that are trained, dimension 100, 5 negatives": {
        "system": "muse, senses that are trained", "vector_size": 100, "negative": 5,
    },
    "the paper's setting, dimension 300, 25 negatives": {
        "system": "muse, paper's recipe", "vector_size": 300, "negative": 25, "sample": 0.0,
    },
    "the paper's setting, shared negatives, dimension 300, 25 negatives": {
        "system": "muse, paper's recipe, shared negatives", "vector_size": 300, "negative": 25, "sample": 0.0,
    },
}  # fmt: skip


def stage_of(symbol: str) -> str:
    """The stage to which a function belongs."""
    return next((name for name, pattern in STAGES.items() if re.search(pattern, symbol)), "other")


def shares(lines: list[str]) -> dict[str, float]:
    """Share of each stage in the samples of the extension, from lines of ``percent% ... [.] symbol``."""
    totals: dict[str, float] = {}
    for line in lines:
        if found := re.match(r"\s*([\d.]+)%.*\[\.\]\s+(.*)", line):
            stage = stage_of(found.group(2))
            totals[stage] = totals.get(stage, 0.0) + float(found.group(1))
    total = sum(totals.values())
    return {stage: share / total for stage, share in sorted(totals.items(), key=lambda item: -item[1])}


def profile(job: dict[str, Any]) -> dict[str, float]:
    """Run a job under perf and count its samples by stage."""
    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder) / "perf.data")
        run = [sys.executable, "-m", "benchmarks.throughput", "--job", json.dumps(job)]
        record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "2000", "-o", data, "--", *run]
        subprocess.run(record, cwd=common.ROOT, check=True, stdout=subprocess.DEVNULL)
        read = subprocess.run(
            ["perf", "report", "-i", data, "--no-children", "--stdio", "--dso", Path(_core.__file__).name],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    return shares(read.stdout.splitlines())


def has_symbols() -> bool:
    """Whether the extension in use tells its functions apart."""
    read = subprocess.run(["nm", _core.__file__], capture_output=True, text=True, check=False)
    return "represent_group" in read.stdout


def measure(text: Path) -> dict[str, dict[str, float]]:
    """Share of each stage, in the order of `STAGES`, for each of `SETTINGS`."""
    same = {**COMMON, "workers": 1, "corpus": str(text)}
    found = {}
    for name, setting in SETTINGS.items():
        each = profile({**same, **setting})
        found[name] = {stage: each.get(stage, 0.0) for stage in (*STAGES, "other")}
    return found


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.throughput.stages", description=__doc__)
    common.add_arguments(parser, corpus_required=False)
    arguments = parser.parse_args(argv)
    if not has_symbols():
        parser.error("the extension has no symbols: build it as this module's documentation says")
    limit = arguments.limit_tokens or 500_000
    corpus = common.zipf_corpus(limit) if arguments.corpus is None else common.plain_corpus(arguments.corpus, limit)
    found = measure(corpus)
    stamp = common.stamp("python -m benchmarks.throughput.stages", tokens=limit)
    head = f"`{stamp['command']}`, {stamp['date']}, {stamp['machine']['cpu']}. Share of the samples in the extension."
    text = f"# Stages of training\n\n{head}\n\n{stage_table(found)}\n"
    print(text)
    if (folder := common.results_dir(arguments)) is not None:
        common.write_page(folder, "stages", text, {**stamp, "stages": found})


if __name__ == "__main__":
    common.command(main)
