"""Plots of a results file: the score, the norms of P and Q, and the use of senses as training goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from benchmarks.senses.report import Group

matplotlib.use("Agg")
from matplotlib import pyplot as plt

__all__ = ["write_plots"]

Record = Mapping[str, Any]
_MILLION = 1e6


def _curve(cells: Sequence[Record], rows: str, name: str) -> tuple[Any, Any, Any] | None:
    """Tokens in millions, mean and standard deviation over cells; None where there is nothing to draw."""
    series = [[row[name] for row in cell[rows]] for cell in cells if cell.get(rows)]
    tokens = [np.cumsum([row["tokens"] for row in cell["history"]]) for cell in cells if cell.get(rows)]
    if not series:
        return None
    length = min(map(len, series))
    values = np.array([line[:length] for line in series], dtype=float)
    return tokens[0][:length] / _MILLION, values.mean(axis=0), values.std(axis=0)


def _draw(axes: Any, group: Group, rows: str, name: str, title: str, log: bool) -> bool:
    drawn = False
    colours = plt.get_cmap("tab20")
    for number, (label, cells) in enumerate(group.cells.items()):
        curve = _curve(cells, rows, name)
        if curve is None:
            continue
        tokens, mean, deviation = curve
        if log:  # Q is zero until there are senses
            mean = np.where(mean > 0, mean, np.nan)
        colour = colours((2 * number) % 20 + (number // 10) % 2)
        axes.plot(tokens, mean, marker=".", color=colour, label=label)
        axes.fill_between(tokens, mean - deviation, mean + deviation, color=colour, alpha=0.15, linewidth=0)
        drawn = True
    axes.set_xlabel("tokens read (millions)")
    axes.set_title(title, fontsize=10)
    axes.grid(alpha=0.3)
    return drawn


def _figure(group: Group, path: Path, panels: Sequence[tuple[str, str, str]], log: bool = False) -> list[Path]:
    figure, axes = plt.subplots(1, len(panels), figsize=(5.5 * len(panels), 4.2), squeeze=False)
    drawn = [_draw(ax, group, *panel, log) for ax, panel in zip(axes[0], panels, strict=True)]
    if log:
        for ax in axes[0]:
            ax.set_yscale("log")
    return _finish(figure, axes[0][0], group, path) if any(drawn) else _close(figure)


def _finish(figure: Any, axes: Any, group: Group, path: Path) -> list[Path]:
    handles, labels = axes.get_legend_handles_labels()
    figure.suptitle(f"{group.text}, {group.draws} draws")
    figure.legend(handles, labels, loc="outside lower center", fontsize=8, ncols=2)
    figure.set_layout_engine("constrained")
    figure.savefig(path, dpi=130)
    _close(figure)
    return [path]


def _close(figure: Any) -> list[Path]:
    plt.close(figure)
    return []


def _score(group: Group, path: Path) -> list[Path]:
    panels = [("trace", "v_measure", "V-measure of pseudo-words"), ("trace", "ari", "adjusted Rand index")]
    return _figure(group, path, panels)


def _norms(group: Group, path: Path) -> list[Path]:
    panels = [("history", "context_norm", "longest row of P"), ("history", "selection_norm", "longest row of Q")]
    return _figure(group, path, panels, log=True)


def _use(group: Group, path: Path) -> list[Path]:
    panels = [
        ("history", "senses_used", "effective senses of a word"),
        ("history", "collapsed", "share of words with one sense above 95%"),
        ("history", "selection_entropy", "entropy of the selection"),
    ]
    return _figure(group, path, panels)


def _numbers(group: Group, path: Path) -> list[Path]:
    """How many pseudo-words and control words use 1, 2, 3, ... senses."""
    rows = {label: [c for c in cells if c.get("senses")] for label, cells in group.cells.items()}
    rows = {label: cells for label, cells in rows.items() if cells}
    if not rows:
        return []
    figure, axes = plt.subplots(1, 2, figsize=(11, 1.5 + 0.35 * len(rows)), sharey=True)
    for ax, words, title in zip(
        axes, ("pseudo", "control"), ("pseudo-words (two senses)", "unmerged words"), strict=True
    ):
        left = np.zeros(len(rows))
        most = max(int(k) for cells in rows.values() for cell in cells for k in cell["senses"][words]["uses"])
        for senses in range(1, most + 1):
            counts = [[cell["senses"][words]["uses"].get(str(senses), 0) for cell in cells] for cells in rows.values()]
            totals = [[sum(cell["senses"][words]["uses"].values()) for cell in cells] for cells in rows.values()]
            share = np.array([sum(n) / max(sum(t), 1) for n, t in zip(counts, totals, strict=True)])
            ax.barh(list(rows), share, left=left, label=f"{senses} in use")
            left += share
        ax.set_title(title, fontsize=10)
        ax.set_xlabel("share of words")
    axes[0].invert_yaxis()
    return _finish(figure, axes[0], group, path)


FIGURES: dict[str, Callable[[Group, Path], list[Path]]] = {
    "score": _score,
    "norms": _norms,
    "use": _use,
    "numbers": _numbers,
}


def write_plots(groups: Sequence[Group], results: Path) -> list[Path]:
    """Write the figures beside the results; those for which there is no data are left out."""
    written: list[Path] = []
    for group in groups:
        for name, draw in FIGURES.items():
            written += draw(group, results.with_name(f"{results.stem}-{group.text}-{group.draws}-{name}.png"))
    return written
