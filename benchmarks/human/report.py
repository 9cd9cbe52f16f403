"""The table of a results file: means and spreads over seeds, and gains over one sense a word on the same seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import common
from benchmarks.human.settings import BASELINE

__all__ = ["page"]

Record = Mapping[str, Any]
SCORES = {  # of a cell: heading, digits
    "graded": ("SemEval-2013, √(fuzzy NMI · fuzzy B³)", 1),
    "fuzzy_nmi": ("fuzzy NMI", 3),
    "fuzzy_b_cubed": ("fuzzy B³", 3),
    "v_measure": ("V", 3),
    "ari": ("ARI", 3),
    "WiC accuracy": ("WiC by senses", 3),
    "WiC usage, dev": ("WiC by usage", 3),
    "WiC usage, train": ("threshold from train", 3),
    "WiC usage, dev, known words": ("of known words alone", 3),
    "SCWS MaxSimC": ("MaxSimC", 3),
    "SCWS AvgSimC": ("AvgSimC", 3),
    "SCWS AvgSimC + contexts": ("with contexts", 3),
    **{name: (f"{name}, wv", 3) for name in common.SIMILARITY_SETS},
}
GAINS = {  # heading: the score and that of the baseline's words which it is above
    "MaxSimC − one vector": ("SCWS MaxSimC", "SCWS globalSim"),
    "AvgSimC − one vector": ("SCWS AvgSimC", "SCWS globalSim"),
    "with contexts − one vector": ("SCWS AvgSimC + contexts", "SCWS globalSim"),
    "similarity − one vector": ("similarity", "similarity"),
}
NOTE = (
    "Mean ± standard deviation over seeds; gains and times against one sense a word with the same seed. Times are of "
    "the whole run, from the text file to the model. senses: of the words of SemEval-2013, as the model has them."
)
MERGED = (
    "Merged words, whose true senses are known, at a cut of two: `python -m benchmarks.senses run --corpus TEXT --grid "
    "senses --draws confirm`, and with `--uneven`."
)


def _score(record: Record, name: str) -> float:
    scores = record["scores"]
    if name == "similarity":
        return float(sum(scores[one] for one in common.SIMILARITY_SETS) / len(common.SIMILARITY_SETS))
    return float(scores[name])


def _latest(records: Iterable[Record]) -> dict[tuple[Any, ...], Record]:
    """Cells by what they are; of those that were run more than once, by other code, the last."""
    place = ("text", "digest", "tokens", "dims", "threads", "label", "seed")
    return {tuple(record[name] for name in place): record for record in records if record["record"] == "cell"}


def _row(label: str, cells: Mapping[int, Record], base: Mapping[int, Record]) -> dict[str, Any]:
    """A row of the table; `cells` and `base` by seed."""
    done = {seed: cell for seed, cell in cells.items() if "scores" in cell}
    failed = len(cells) - len(done)
    row: dict[str, Any] = {"setting": label, "seeds": f"{len(cells)}" + (f" ({failed} diverged)" if failed else "")}
    if not done:
        return row
    row["senses"] = common.mean_sd([cell["senses"]["mean_has"] for cell in done.values()], 1)
    for name, (heading, digits) in SCORES.items():
        if all(name in cell["scores"] for cell in done.values()):  # without vectors of contexts there are fewer
            row[heading] = common.mean_sd([_score(cell, name) for cell in done.values()], digits)
    both = [(cell, base[seed]) for seed, cell in done.items() if seed in base and "scores" in base[seed]]
    if not both:
        return row
    for heading, (mine, theirs) in GAINS.items():
        if mine != "similarity" and not all(mine in cell["scores"] for cell, _ in both):
            continue
        gains = [_score(cell, mine) - _score(other, theirs) for cell, other in both]
        row[heading] = ("+" if sum(gains) >= 0 else "") + common.mean_sd(gains)
    times = [cell["seconds"] / other["seconds"] for cell, other in both if cell["seconds"] and other["seconds"]]
    if times:  # those of cuts of trees that another cell has grown are that cell's
        row["time / one-sense"] = common.mean_sd(times, 2)
    return row


def _one_sense(records: Iterable[Record]) -> dict[str, Any]:
    scores = next((record["one sense a word"] for record in records if "one sense a word" in record), {})
    row: dict[str, Any] = {"setting": "one sense for every use", "senses": "1.0"}
    return row | {SCORES[name][0]: f"{scores[name]:.{SCORES[name][1]}f}" for name in SCORES if name in scores}


def page(records: Sequence[Record], source: Path) -> str:
    """All tables of a file as Markdown.

    Raises
    ------
    ValueError
        If the file holds no cells.
    """
    groups: dict[tuple[Any, ...], dict[str, dict[int, Record]]] = {}
    for place, record in _latest(records).items():
        groups.setdefault(place[:-2], {}).setdefault(record["label"], {})[record["seed"]] = record
    if not groups:
        raise ValueError(f"{source} holds no cells: run `python -m benchmarks.human run` first")
    parts = []
    for (text, _, tokens, dims, threads), cells in groups.items():
        base = cells.get(BASELINE, {})
        rows = [_one_sense(base.values()), *(_row(label, found, base) for label, found in cells.items())]
        columns = list(dict.fromkeys(name for row in reversed(rows) for name in row))
        title = f"### {text}, {f'{tokens:,} tokens' if tokens else 'all of it'}, dimension {dims}, {threads} threads"
        parts.append(f"{title}\n\n{common.markdown_table(rows, columns)}\n")
    notes = [NOTE, MERGED]
    if len({record["code"] for record in _latest(records).values()}) > 1:
        notes.append("Note: these cells come from more than one version of the code.")
    return "\n".join([*parts, "\n\n".join(notes)])
