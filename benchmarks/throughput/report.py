"""Medians, ratios, the page and the plot."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import common
from benchmarks.throughput import prediction
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
SCALING_COLUMNS = {
    "system": "system",
    "vector_size": "dim",
    "negative": "neg.",
    "workers": "threads",
    "kpairs_per_second": "10³ pairs/s",
    "scaling": "to one thread",
    "cpu_seconds_per_wall": "cores at work",
}
PREDICTION_COLUMNS = {
    "vector_size": "dim",
    "negative": "neg.",
    "cores": "cores",
    "mtokens_per_second": "10⁶ tokens/s",
    "gb_per_second": "GB/s at most",
    "minutes_per_billion": "minutes for 10⁹ tokens",
}
TAGGING_COLUMNS = {"recipe": "settings", "call": "call", "ktokens_per_cpu_second": "10³ tokens/CPU-s"}
NOTES = {  # by what the name of a system holds
    "": "What tokens, pairs and the share of peak are: see the head of benchmarks/throughput/__init__.py.",
    "default recipe": "The default recipe is timed as a whole, five epochs with the growth of sense trees, whose work "
    "does not count towards the share of peak: pairs/s to gensim is what senses leave of the speed.",
    "senses that are trained": "Split, whose senses are trained, is timed in its epoch with senses; its selection "
    "module's work does not count towards the share of peak.",
    "paper's recipe": "The paper's recipe trains one collocate a token, the others all: compare pairs, not tokens.",
    "gensim": "Rates are those of an epoch; reading the text and counting its words are left out.",
    "fastText": "fastText is `fasttext-wheel`, built for any x86-64; built for the machine it is faster.",
    "pWord2Vec": "pWord2Vec is IntelLabs' program (github.com/IntelLabs/pWord2Vec), without its vocabulary files and "
    "progress output, compiled for this machine with MKL "
    "and given by --program; it shares the negatives of a window.",
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


def scaling_rows(runs: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Medians, and how many times faster than with one thread."""
    runs = list(runs)
    busy: dict[tuple[Any, ...], list[float]] = {}
    for run in runs:
        key = (run["system"], run["vector_size"], run["negative"], run["workers"])
        busy.setdefault(key, []).append(run["cpu_seconds"] / run["seconds"])
    rows = summarise(runs)
    ones = {(row["system"], row["vector_size"], row["negative"]): row for row in rows if row["workers"] == 1}
    found = []
    for row in rows:
        key = (row["system"], row["vector_size"], row["negative"])
        one = ones.get(key)
        row["scaling"] = row["kpairs_per_second"] / one["kpairs_per_second"] if one else None
        row["cpu_seconds_per_wall"] = median(busy[(*key, row["workers"])])
        found.append(row)
    return sorted(found, key=lambda row: (row["vector_size"], row["system"], row["workers"]))


def sweep_rows(runs: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """For each quantity the medians of each of its values."""
    groups: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for run in runs:
        groups.setdefault((run["swept"], run["system"], run["value"]), []).append(run)
    found: dict[str, list[dict[str, Any]]] = {}
    for (name, system, value), same in groups.items():
        middle = {key: median(run[key] for run in same) for key in ("tokens", "pairs", "seconds", "cpu_seconds")}
        found.setdefault(name, []).append({"system": system, "value": value, **middle})
    return found


def targets(result: dict[str, Any]) -> list[dict[str, Any]]:
    """What was aimed at beside what was measured, as far as it was."""
    ours, shared, alone = (
        "muse, one sense",
        "muse, one sense, shared negatives",
        "muse, one sense, negatives of each pair",
    )
    table = {(row["system"], row["vector_size"], row["negative"]): row for row in result["table"]}
    rows: list[dict[str, Any]] = []

    def add(what: str, target: str, row: dict[str, Any] | None, key: str, scale: float = 1.0) -> None:
        if row is not None and row.get(key) is not None:
            rows.append({"what": what, "target": target, "measured": row[key] * scale})

    for key, target in (((100, 5), "3.5"), ((300, 25), "6")):
        name = f"dimension {key[0]}, {key[1]} negatives"
        add(f"pairs/s to gensim, {name}, shared negatives", target, table.get((shared, *key)), "ratio")
        add(f"pairs/s to gensim, {name}, negatives of each pair", "2", table.get((alone, *key)), "ratio")
    add("share of FMA peak, dimension 300, groups of 16", "0.35", table.get((shared, 300, 25)), "peak_share")
    add("share of FMA peak, dimension 300, groups of 64", "0.5", table.get((f"{ours}, shared by 64", 300, 25)),
        "peak_share")  # fmt: skip
    for row in (row for row in result["table"] if row["system"] == "muse, default recipe"):
        add(f"MB beyond arrays and corpus, default recipe, dimension {row['vector_size']}", "100", row, "beyond_mb")
    paper = {row["system"]: row for row in result["paper"]}
    mine = "muse, paper's recipe"
    add("tokens/s in the paper's setting to gensim's words/s in its own", "2.5", paper.get(mine), "ratio")
    add("10³ tokens/s in the paper's setting", "200", paper.get(mine), "ktokens_per_second")
    add("10³ tokens/s in the paper's setting, shared negatives", "500", paper.get(f"{mine}, shared negatives"),
        "ktokens_per_second")  # fmt: skip
    for row in result["scaling"]:
        if row["workers"] == 2 and row["system"].startswith("muse"):
            add(f"two threads to one, {row['system'].removeprefix('muse, ')}, dimension {row['vector_size']}", "1.9",
                row, "scaling")  # fmt: skip
    for row in result["tagging"]:
        if row["recipe"] == "defaults":
            add(f"10⁶ tokens/CPU-s of {row['call']}, dimension 300, 3 senses", "2", row, "tokens_per_cpu_second", 1e-6)
    return rows


def limit_rows(result: dict[str, Any]) -> list[dict[str, Any]]:
    """What the machine can do with one thread, as rows of that table."""
    if (one := result["limits"].get("1")) is None:
        return []
    found = {"GFLOP/s of fused multiply-adds": one["gflops"], "GB/s of memory (triad)": one["triad_gb_per_second"]}
    found |= {f"GB/s of random rows of 1.2 KB in {size} MB": rate for size, rate in one["rows_gb_per_second"].items()}
    return [{"what": f"limit: {name}, one thread", "target": None, "measured": rate} for name, rate in found.items()]


def page(result: dict[str, Any]) -> str:
    """The markdown page."""
    settings, machine = result["settings"], result["machine"]
    where = (
        f"`{result['command']}`, {result['date']}, {result['minutes']:.0f} minutes: {settings['tokens']:,} tokens of "
        f"{settings['text']} text (two fifths of it where a pair costs much and in the paper's setting, several times "
        f"as much for scaling), window {settings['window']}, subsampling {settings['sample']:g}, min_count "
        f"{settings['min_count']}; medians of {settings['repeats']} rounds, peers that take minutes once. "
        f"{machine['cpu']}, {machine['cores']} cores, {machine['isa']}, load before {machine['load_before']}; gensim "
        f"{machine['gensim']}; {machine['compiler']}."
    )
    parts = ["# Throughput", where]
    if result["limits"]:
        told = "; ".join(
            f"{threads} thread{'s' * (threads != '1')}: {each['gflops']:.0f} GFLOP/s of fused multiply-adds, "
            f"{each['triad_gb_per_second']:.1f} GB/s of memory (triad), "
            + " and ".join(f"{rate:.1f} GB/s in {size} MB" for size, rate in each["rows_gb_per_second"].items())
            + " of random rows of 1.2 KB that are read and written (GB/s read)"
            for threads, each in result["limits"].items()
        )
        parts.append(f"Limits measured in the same run. {told}.")
    if aims := limit_rows(result) + targets(result):
        parts.append(common.markdown_table(aims, ["what", "target", "measured"]))
    if result["table"]:
        parts += ["## Training, one thread", common.markdown_table(result["table"], COLUMNS)]
    if result["scaling"]:
        parts += ["## More threads", common.markdown_table(result["scaling"], SCALING_COLUMNS)]
    if result["paper"]:
        parts.append(
            "## The paper's setting\n\nThree senses, one collocate a token, 25 negatives, dimension "
            f"{result['paper'][0]['vector_size']}, no subsampling, beside gensim in its usual setting: 5 negatives, "
            "all pairs of the window."
        )
        parts.append(common.markdown_table(result["paper"], PAPER_COLUMNS))
    if result["tagging"]:
        parts.append(
            "## Selecting senses\n\nDimension 300, up to four senses a word with the defaults, which are sense trees, "
            "else three, one thread; reading and writing the text count (benchmarks/tagging.py)."
        )
        tagged = [{**row, "ktokens_per_cpu_second": row["tokens_per_cpu_second"] / 1e3} for row in result["tagging"]]
        parts.append(common.markdown_table(tagged, TAGGING_COLUMNS))
    if estimated := prediction.prediction_rows(result["runs"]):
        parts += ["## Larger machines", common.markdown_table(estimated, PREDICTION_COLUMNS), prediction.NOTE]
    if result["stages"]:
        parts += ["## Where the cycles go\n\nShare of the samples in the extension.", stage_table(result["stages"])]
    if result["sweeps"]:
        parts.append("## What cost depends on\n\n![Cost](throughput.svg)")
    systems = [row["system"] for row in (*result["table"], *result["paper"])]
    notes = [f"- {note}" for part, note in NOTES.items() if any(part in system for system in systems)]
    notes += [f"- {name} is left out: {reason}." for name, reason in sorted(result["left_out"].items())]
    return "\n\n".join([*parts, "\n".join(notes)]) + "\n"


def stage_table(found: dict[str, dict[str, float]]) -> str:
    """Stages as rows, settings as columns."""
    stages = dict.fromkeys(stage for each in found.values() for stage in each)
    rows = [
        {"stage": stage, **{name: f"{100 * each.get(stage, 0):.0f}%" for name, each in found.items()}}
        for stage in stages
    ]
    return common.markdown_table(rows, ["stage", *found])


def plot(sweeps: dict[str, list[dict[str, Any]]], scaling: list[dict[str, Any]], path: Path) -> None:
    """One panel a quantity, processor time of a token; and the speed of more threads relative to one."""
    if not sweeps and not scaling:
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    count = len(sweeps) + bool(scaling)
    figure, panels = pyplot.subplots(1, count, figsize=(3.2 * count, 3.2), squeeze=False)
    for panel, (name, rows) in zip(panels[0], sweeps.items(), strict=False):
        for system in dict.fromkeys(row["system"] for row in rows):
            mine = sorted((row for row in rows if row["system"] == system), key=lambda row: row["value"])
            times = [1e6 * row["cpu_seconds"] / row["tokens"] for row in mine]
            panel.plot([row["value"] for row in mine], times, marker="o", label=system)
        panel.set_xlabel({"vector_size": "dimension"}.get(name, name))
        panel.set_ylabel("CPU µs a token")
        panel.set_ylim(bottom=0)
    if scaling:
        for system, dim in dict.fromkeys((row["system"], row["vector_size"]) for row in scaling):
            mine = [row for row in scaling if (row["system"], row["vector_size"]) == (system, dim)]
            panels[0][-1].plot(
                [row["workers"] for row in mine], [row["scaling"] for row in mine], marker="o",
                label=f"{system}, {dim}",
            )  # fmt: skip
        panels[0][-1].set_xlabel("threads")
        panels[0][-1].set_ylabel("speed to one thread")
        panels[0][-1].set_ylim(bottom=0)
    for panel in {panels[0][0], panels[0][-1]}:
        panel.legend(fontsize=6)
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
