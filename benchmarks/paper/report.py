"""Where the experiments' results go: JSON, a markdown page and a plot, all of the experiment's name."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import common
from benchmarks.paper.recipes import Scale

Draw = Callable[[Any], None]  # takes a matplotlib figure


def parser_of(name: str, description: str | None) -> argparse.ArgumentParser:
    """The options that all experiments have."""
    assert description is not None
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.paper.{name}", description=description.split("\n\n", 1)[0]
    )
    common.add_arguments(parser)
    parser.add_argument("--full", action="store_true", help="the paper's dimension and negatives, three seeds")
    parser.add_argument("--epochs", type=common.at_least(1), help="passes over the corpus")
    parser.add_argument("--seeds", type=common.at_least(1), help="models of each kind")
    parser.add_argument("--vector-size", type=common.at_least(1), help="dimension, in place of the scale's")
    return parser


def scale_of(arguments: argparse.Namespace) -> Scale:
    """The scale that the options name."""
    return Scale.of(arguments.full, epochs=arguments.epochs, seeds=arguments.seeds, vector_size=arguments.vector_size)


def stamp(name: str, arguments: argparse.Namespace, scale: Scale, **settings: Any) -> dict[str, Any]:
    """Head of a result."""
    return common.stamp(
        f"python -m benchmarks.paper.{name}", corpus=Path(arguments.corpus).name, full=arguments.full,
        limit_tokens=arguments.limit_tokens, vector_size=scale.vector_size, negative=scale.negative,
        epochs=scale.epochs, seeds=scale.seeds, workers=arguments.workers, **settings,
    )  # fmt: skip


def publish(
    name: str,
    heading: str,
    arguments: argparse.Namespace,
    result: dict[str, Any],
    body: Sequence[str],
    draw: Draw | None,
) -> None:
    """Print the page, and write it beside the JSON and the plot; the heading is the first line of `heading`."""
    settings = ", ".join(f"{key} {value}" for key, value in result["settings"].items())
    machine = result["machine"]
    head = f"`{result['command']}`, {result['date']}: {settings}. {machine['cpu']}, {machine['cores']} cores."
    parts = [f"# {heading.splitlines()[0].rstrip('.')}", head, *body]
    folder = common.results_dir(arguments, "paper")
    if folder is not None and draw is not None and _plot(folder / f"{name}.svg", draw):
        parts.append(f"![{name}]({name}.svg)")
    page = "\n\n".join(parts) + "\n"
    print(page)
    if folder is not None:
        common.write_json(folder / f"{name}.json", result)
        (folder / f"{name}.md").write_text(page, encoding="utf-8")


def _plot(path: Path, draw: Draw) -> bool:
    """Draw to an SVG file, if matplotlib is installed."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        print("no plot: matplotlib is not installed (extra [plot])")
        return False
    matplotlib.rcParams["svg.hashsalt"] = "muse"  # the same figures give the same file
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    draw(figure)
    figure.savefig(path, metadata={"Date": None})
    return True


def draw_bars(axes: Any, groups: Sequence[str], series: Mapping[str, Sequence[float | None]]) -> None:
    """Bars side by side: one group a label, one colour a series; None leaves a gap."""
    width = 0.8 / len(series)
    places = np.arange(len(groups))
    for number, (label, values) in enumerate(series.items()):
        heights = [np.nan if value is None else value for value in values]
        axes.bar(places + (number - (len(series) - 1) / 2) * width, heights, width, label=label)
    axes.set_xticks(places, groups)
    axes.legend(fontsize="small")
    axes.grid(axis="y", alpha=0.3)
