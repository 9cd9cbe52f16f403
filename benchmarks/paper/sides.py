"""Sides: training the target's selection only, or the collocate's too (section 3.2.1, footnote).

The paper trains the selection of the target word only and reports a loss of about 4% where that of the collocate is
trained too, since the skip-gram likelihood has a direction. Everything else is equal here, with one collocation vector
a sense, without which a collocate has nothing to select.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from benchmarks import common
from benchmarks.paper import report
from benchmarks.paper.published import TWO_SIDED_LOSS
from benchmarks.paper.recipes import RECIPES, title
from benchmarks.paper.runs import Runs, cases
from benchmarks.paper.watched import MEASURES, Tasks

FORMULATIONS = ("one_sided", "two_sided")
STRATEGIES = ("policy", "eps_greedy", "boltzmann")


def summarise(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A line for each recipe, strategy and measure: both formulations, and the loss of the two-sided one in %."""
    table = []
    for name, strategy in dict.fromkeys((row["recipe"], row["strategy"]) for row in rows):
        for score in MEASURES:
            of = {
                side: [
                    r[score] for r in rows if (r["recipe"], r["strategy"], r["formulation"]) == (name, strategy, side)
                ]
                for side in FORMULATIONS
            }
            one, two = (float(np.mean(of[side])) for side in FORMULATIONS)
            table.append({
                "name": title(name, strategy), "recipe": name, "strategy": strategy, "measure": score,
                **{side: common.mean_sd(values) for side, values in of.items()},
                "one_sided mean": one, "two_sided mean": two,
                "loss": f"{100 * (one - two) / one:+.1f}%" if one > 0 else None,
                "paper": f"{TWO_SIDED_LOSS:+.0f}%" if (score, strategy) == ("MaxSimC", "policy") else None,
            })  # fmt: skip
    return table


def draw(figure: Any, table: list[dict[str, Any]]) -> None:
    """A plot a measure."""
    figure.set_size_inches(12, 4.5)
    for axes, score in zip(figure.subplots(1, len(MEASURES)), MEASURES, strict=True):
        lines = [line for line in table if line["measure"] == score]
        labels = [line["name"].replace(", ", "\n").replace("'s ", "'s\n") for line in lines]
        report.draw_bars(axes, labels, {side: [line[f"{side} mean"] for line in lines] for side in FORMULATIONS})
        axes.tick_params(axis="x", labelsize=6)
        axes.set_title(score)


def main(argv: list[str] | None = None) -> None:
    parser = report.parser_of("sides", __doc__)
    parser.add_argument("--recipes", nargs="+", choices=RECIPES, default=list(RECIPES))
    parser.add_argument("--pairs", type=common.at_least(1), default=80, help="pseudo-words")
    arguments = parser.parse_args(argv)
    corpus = common.plain_corpus(arguments.corpus, arguments.limit_tokens)
    scale = report.scale_of(arguments)
    head = report.stamp("sides", arguments, scale, pseudo_words=arguments.pairs)
    tasks = Tasks(corpus, arguments.pairs)
    wanted = cases(scale, product(arguments.recipes, STRATEGIES), formulation=FORMULATIONS)
    run = Runs("sides", corpus, scale, arguments.workers, **tasks.measured)
    rows = run(wanted, lambda settings: tasks.curve(settings, every=scale.epochs)[-1], collocation="sense")
    table = summarise(rows)
    columns = {"name": "model", "measure": "measure", "one_sided": "one-sided", "two_sided": "two-sided",
               "loss": "loss of two-sided", "paper": "paper's"}  # fmt: skip
    body = [common.markdown_table(table, columns)]
    report.publish("sides", __doc__, arguments, {**head, "table": table, "runs": rows}, body, lambda f: draw(f, table))


if __name__ == "__main__":
    common.command(main)
