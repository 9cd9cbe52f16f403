"""Medians, ratios, the page and the plot."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import common
from benchmarks.throughput.systems import REFERENCE
from benchmarks.throughput.work import step_flops

COLUMNS = {
    "system": "system",
    "vector_size": "dim",
    "negative": "neg.",
    "workers": "threads",
    "ktokens_per_second": "10³ tokens/s",
    "kpairs_per_second": "10³ pairs/s",
    "kpairs_per_cpu_second": "10³ pairs/CPU-s",
    "ratio": "pairs/s to gensim",
    "cpu_ratio": "pairs/CPU-s to gensim",
    "peak_share": "share of FMA peak",
    "memory_mb": "peak MB",
    "beyond_mb": "MB beyond arrays and corpus",
}
PAPER_COLUMNS = {
    "system": "system",
    "negative": "neg.",
    "workers": "threads",
    "ktokens_per_second": "10³ tokens/s",
    "ktokens_per_cpu_second": "10³ tokens/CPU-s",
    "ratio": "tokens/s to gensim",
    "cpu_ratio": "tokens/CPU-s to gensim",
}
INFERENCE_COLUMNS = {
    "call": "call",
    "context": "context",
    "vector_size": "dim",
    "senses": "senses",
    "ktokens_per_cpu_second": "10³ tokens/CPU-s",
}
NOTES = {  # by what the name of a system holds
    "": "What tokens, pairs and the share of peak are: see the head of benchmarks/throughput/__init__.py.",
    "default recipe": "The default recipe is timed in its epoch with senses; its selection module's work does not "
    "count towards the share of peak.",
    "paper's recipe": "The paper's recipe trains one collocate a token, the others all: compare pairs, not tokens.",
    "fastText": "fastText is `fasttext-wheel`, built for any x86-64; built for the machine it is faster.",
    "word2vec.c": "word2vec.c is the original C program, from the PyPI package `word2vec`, compiled for this machine "
    "with its own flags and with -Ofast.",
}


def summarise(runs: Iterable[dict[str, Any]], peak_gflops: float | None = None) -> list[dict[str, Any]]:
    """A row for each system and setting: medians over rounds, and ratios to gensim of tokens and pairs."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for run in runs:
        groups.setdefault((run["vector_size"], run["negative"], run["workers"], run["system"]), []).append(run)
    rows = {key: _medians(same, peak_gflops) for key, same in groups.items()}
    for key, row in rows.items():
        peer = rows.get((*key[:3], REFERENCE))
        row["ratio"] = row["kpairs_per_second"] / peer["kpairs_per_second"] if peer else None
        row["cpu_ratio"] = row["kpairs_per_cpu_second"] / peer["kpairs_per_cpu_second"] if peer else None
    return list(rows.values())


def _medians(same: list[dict[str, Any]], peak_gflops: float | None) -> dict[str, Any]:
    def of(what: str, per: str) -> float:
        return median(run[what] / run[per] for run in same) / 1e3

    first = same[0]
    row = {
        **{name: first[name] for name in ("system", "vector_size", "negative", "workers")},
        "ktokens_per_second": of("tokens", "seconds"),
        "ktokens_per_cpu_second": of("tokens", "cpu_seconds"),
        "kpairs_per_second": of("pairs", "seconds"),
        "kpairs_per_cpu_second": of("pairs", "cpu_seconds"),
        "memory_mb": median(run["memory_mb"] for run in same),
        "beyond_mb": median(run["beyond_mb"] for run in same) if "beyond_mb" in first else None,
        "peak_share": None,
    }
    if peak_gflops and "targets" in first:
        row["peak_share"] = median(step_flops(run) / run["cpu_seconds"] for run in same) / 1e9 / peak_gflops
    return row


def paper_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tokens of the paper's setting beside words of gensim's usual one, with the same threads."""
    peers = {row["workers"]: row for row in rows if row["system"] == REFERENCE}
    found = []
    for row in rows:
        peer = peers.get(row["workers"])
        ratios = {
            "ratio": row["ktokens_per_second"] / peer["ktokens_per_second"] if peer else None,
            "cpu_ratio": row["ktokens_per_cpu_second"] / peer["ktokens_per_cpu_second"] if peer else None,
        }
        found.append({**row, **ratios})
    return found


def page(result: dict[str, Any]) -> str:
    """The markdown page."""
    settings, machine = result["settings"], result["machine"]
    where = (
        f"`{result['command']}`, {result['date']}: {settings['corpus_tokens']:,} tokens of {settings['text']} text, "
        f"window {settings['window']}, subsampling {settings['sample']:g}, min_count {settings['min_count']}; medians "
        f"of {settings['repeats']} rounds. {machine['cpu']}, {machine['cores']} cores, {machine['isa']}, load before "
        f"{machine['load_before']}; gensim {machine['gensim']}; {machine['compiler']}."
    )
    parts = ["# Throughput", where]
    if result["limits"]:
        limits = result["limits"]
        parts.append(
            f"Limits measured in the same run, a core: {limits['gflops']:.0f} GFLOP/s of fused multiply-adds, "
            f"{limits['triad_gb_per_second']:.1f} GB/s of memory (triad)."
        )
    parts.append(common.markdown_table(result["table"], COLUMNS))
    if result["paper"]:
        parts.append(
            "## The paper's setting\n\nThree senses, one collocate a token, 25 negatives, dimension "
            f"{result['paper'][0]['vector_size']}, no subsampling, beside gensim in its usual setting: 5 negatives, "
            "all pairs of the window."
        )
        parts.append(common.markdown_table(result["paper"], PAPER_COLUMNS))
    if result["inference"]:
        parts.append("## Selecting senses\n\nEvery token of the text, one thread.")
        parts.append(common.markdown_table(result["inference"], INFERENCE_COLUMNS))
    if result["sweeps"]:
        parts.append("## What cost depends on\n\n![Cost](throughput.svg)")
    systems = [row["system"] for row in (*result["table"], *result["paper"])]
    notes = [f"- {note}" for part, note in NOTES.items() if any(part in system for system in systems)]
    notes += [f"- {name} is left out: {reason}." for name, reason in sorted(result["left_out"].items())]
    return "\n\n".join([*parts, "\n".join(notes)]) + "\n"


def plot_sweeps(sweeps: dict[str, list[dict[str, Any]]], path: Path) -> None:
    """One panel a quantity: processor time of a token, and for threads the speed relative to one."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(sweeps), figsize=(3.2 * len(sweeps), 3.2), squeeze=False)
    for panel, (name, rows) in zip(panels[0], sweeps.items(), strict=True):
        for system in dict.fromkeys(row["system"] for row in rows):
            mine = sorted((row for row in rows if row["system"] == system), key=lambda row: row["value"])
            values = [row["value"] for row in mine]
            if name == "workers":
                shown = [row["tokens"] / row["seconds"] for row in mine]
                shown = [rate / shown[0] for rate in shown]
            else:
                shown = [1e6 * row["cpu_seconds"] / row["tokens"] for row in mine]
            panel.plot(values, shown, marker="o", label=system)
        panel.set_xlabel({"workers": "threads", "vector_size": "dimension"}.get(name, name))
        panel.set_ylabel("speed to one thread" if name == "workers" else "CPU µs a token")
        panel.set_ylim(bottom=0)
    panels[0][0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
