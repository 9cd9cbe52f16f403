"""Convergence: how soon each reward reaches a given score (section 4.2).

The paper rewards a selected sense by the collocation likelihood alone, L̂ = σ(U·V), instead of the sampled likelihood L̄
with its negatives, and reports that a MaxSimC of 67.0 is then reached 2.3 times sooner with ε-greedy and 1.3 times
sooner with Boltzmann selection. Here both are trained side by side and scored after each epoch. The score to reach is a
share of the lower of the two curves' best, so that both reach it; the speed-up is the ratio of the training times, by
linear interpolation between epochs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from benchmarks import common
from benchmarks.paper import report
from benchmarks.paper.published import SPEEDUP
from benchmarks.paper.recipes import RECIPES, title
from benchmarks.paper.runs import Runs, cases
from benchmarks.paper.watched import Tasks

REWARDS = {"likelihood": "L̂", "sampled_likelihood": "L̄"}
STRATEGIES = ("eps_greedy", "boltzmann")
MEASURES = ("MaxSimC", "V")
SHARES = (0.9, 0.95, 1.0)
EPOCHS = 12


def reach(points: Sequence[dict[str, Any]], score: str, goal: float, cost: str) -> float:
    """What it cost to reach the goal, interpolated between points; that of the first point if it is above."""
    before: dict[str, Any] | None = None
    for point in points:
        if point[score] >= goal:
            if before is None:
                return float(point[cost])
            part = (goal - before[score]) / (point[score] - before[score])
            return float(before[cost] + part * (point[cost] - before[cost]))
        before = point
    raise ValueError(f"{score} never reaches {goal}")


def compare(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each recipe, strategy, measure and share of the lower best: cost under both rewards, and their ratio."""
    found: dict[tuple[Any, ...], list[dict[str, float]]] = {}
    for run in runs:
        if run["reward"] != "likelihood":
            continue
        same = ("recipe", "strategy", "seed")
        peer = next(r for r in runs if r["reward"] != run["reward"] and all(r[name] == run[name] for name in same))
        for score in MEASURES:
            best = min(max(point[score] for point in one["points"]) for one in (run, peer))
            for share in SHARES:
                costs: dict[str, float] = {"goal": share * best}
                costs["at once"] = all(one["points"][0][score] >= share * best for one in (run, peer))
                for cost in ("cpu_seconds", "tokens"):
                    for one in (run, peer):
                        costs[f"{cost} {one['reward']}"] = reach(one["points"], score, share * best, cost)
                found.setdefault((run["recipe"], run["strategy"], score, share), []).append(costs)
    rows = []
    for (name, strategy, score, share), seeds in found.items():
        mean = {key: float(np.mean([one[key] for one in seeds])) for key in seeds[0]}
        ratios = [one["cpu_seconds sampled_likelihood"] / one["cpu_seconds likelihood"] for one in seeds]
        tokens = [one["tokens sampled_likelihood"] / one["tokens likelihood"] for one in seeds]
        if mean["at once"] == 1:  # after the first epoch both are above: nothing to compare
            ratios = tokens = []
        rows.append({
            "recipe": name, "strategy": strategy, "name": title(name, strategy), "measure": score, "share": share,
            "speedup": common.mean_sd(ratios, digits=2) if ratios else "both at once",
            "token speedup": common.mean_sd(tokens, digits=2) if tokens else None,
            "paper": str(SPEEDUP[strategy]) if score == "MaxSimC" else None, **mean,
        })  # fmt: skip
    return rows


def draw(figure: Any, runs: list[dict[str, Any]], recipes: Sequence[str]) -> None:
    """A plot for each recipe and strategy: MaxSimC drawn through, V dashed, mean over seeds."""
    figure.set_size_inches(9, 4 * len(recipes))
    plots = np.reshape(figure.subplots(len(recipes), len(STRATEGIES)), (len(recipes), len(STRATEGIES)))
    for i, name in enumerate(recipes):
        for j, strategy in enumerate(STRATEGIES):
            for colour, (reward, label) in enumerate(REWARDS.items()):
                wanted = (name, strategy, reward)
                same = [r["points"] for r in runs if (r["recipe"], r["strategy"], r["reward"]) == wanted]
                seconds = np.mean([[point["cpu_seconds"] for point in points] for points in same], axis=0)
                for score, style in zip(MEASURES, ("-", "--"), strict=True):
                    values = np.mean([[point[score] for point in points] for points in same], axis=0)
                    plots[i, j].plot(seconds, values, style, color=f"C{colour}", label=f"{score}, {label}")
            plots[i, j].set_title(title(name, strategy))
            plots[i, j].set_xlabel("training, processor seconds")
            plots[i, j].grid(alpha=0.3)
            plots[i, j].legend(fontsize="x-small")


def main(argv: list[str] | None = None) -> None:
    parser = report.parser_of("convergence", __doc__)
    parser.add_argument("--recipes", nargs="+", choices=RECIPES, default=list(RECIPES))
    parser.add_argument("--pairs", type=common.at_least(1), default=80, help="pseudo-words")
    parser.set_defaults(epochs=EPOCHS)
    arguments = parser.parse_args(argv)
    corpus = common.plain_corpus(arguments.corpus, arguments.limit_tokens)
    scale = report.scale_of(arguments)
    head = report.stamp("convergence", arguments, scale, pseudo_words=arguments.pairs)
    tasks = Tasks(corpus, arguments.pairs)
    wanted = cases(scale, product(arguments.recipes, STRATEGIES), reward=tuple(REWARDS))
    run = Runs("convergence", corpus, scale, arguments.workers, **tasks.measured)
    runs = run(wanted, lambda settings: {"points": tasks.curve(settings)})
    table = compare(runs)
    columns = {
        "name": "model", "measure": "measure", "share": "share of the lower best", "goal": "score",
        "cpu_seconds likelihood": "CPU s, L̂", "cpu_seconds sampled_likelihood": "CPU s, L̄", "speedup": "times sooner",
        "token speedup": "by tokens", "paper": "paper's",
    }  # fmt: skip
    body = [common.markdown_table(table, columns)]
    result = {**head, "table": table, "runs": runs}
    report.publish("convergence", __doc__, arguments, result, body, lambda f: draw(f, runs, arguments.recipes))


if __name__ == "__main__":
    common.command(main)
