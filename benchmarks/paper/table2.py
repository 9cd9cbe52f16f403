"""Table 2: synonym questions by strategy.

ESL-50, RD-300 and TOEFL-80 may not be redistributed, so this package has none of them: ask their owners, and name your
copies, for example ``--questions TOEFL-80=toefl.qst,toefl.ans --questions RD-300=rd.csv``. Layouts are those of
`muse.evaluation.read_synonyms` (CSV) and, for two files, `muse.evaluation.read_toefl`. A word's answer is the candidate
with the closest pair of senses (MaxSim); questions with unknown words are counted apart.

``--simlex`` asks questions of the same form that are made here from SimLex-999: which of four words is the one that
people found similar? They are easier or harder than the paper's, so only the order of the models can be compared.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import common
from benchmarks.paper import report
from benchmarks.paper.published import TABLE2
from benchmarks.paper.recipes import RECIPES, STRATEGIES, grid, title
from benchmarks.paper.runs import Runs, cases
from muse import MUSE
from muse.evaluation import SynonymQuestion, SynonymTask

NO_QUESTIONS = """\
Table 2 needs synonym questions, and none are here: ESL-50, RD-300 and TOEFL-80 may not be redistributed.
Ask their owners for them (muse/evaluation/synonyms.py cites the sources), then name your copies:
  --questions TOEFL-80=toefl.qst,toefl.ans --questions ESL-50=esl.csv --questions RD-300=rd.csv
or take --simlex, which makes questions of the same form from SimLex-999.
"""
SIMLEX = "from SimLex-999"
SIMILAR = 7.0  # rating from which on a pair of SimLex-999 makes a question
DISTRACTORS = 3


def read_questions(named: list[str]) -> dict[str, SynonymTask]:
    """Tasks from ``NAME=FILE`` or ``NAME=QUESTIONS,ANSWERS``."""
    tasks = {}
    for entry in named:
        name, equals, paths = entry.partition("=")
        files = paths.split(",")
        if not equals or not name or len(files) > 2 or not all(files):
            raise ValueError(f"--questions takes NAME=FILE or NAME=QUESTIONS,ANSWERS; got {entry!r}")
        if name in tasks:
            raise ValueError(f"--questions gives the name {name!r} twice; each set of questions needs its own")
        tasks[name] = SynonymTask(files[0] if len(files) == 1 else (files[0], files[1]))
    return tasks


def simlex_questions(path: Path, seed: int = 0) -> SynonymTask:
    """A question for each pair of SimLex-999 rated `SIMILAR` or more: its words, and others of the part of speech.

    The distractors are drawn from the words of other pairs; none is rated `SIMILAR` with the word asked for.
    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    pools: dict[str, list[str]] = {}
    alike: dict[str, set[str]] = {}
    for row in rows:
        pair = row["word1"], row["word2"]
        pools.setdefault(row["POS"], []).extend(pair)
        if float(row["SimLex999"]) >= SIMILAR:
            for one, other in (pair, pair[::-1]):
                alike.setdefault(one, {one}).add(other)
    rng = np.random.default_rng(seed)
    questions = []
    for row in rows:
        word, answer = row["word1"], row["word2"]
        if float(row["SimLex999"]) < SIMILAR:
            continue
        others = sorted(set(pools[row["POS"]]) - alike[word] - alike[answer])
        drawn = rng.choice(others, min(DISTRACTORS, len(others)), replace=False).tolist()
        candidates = rng.permutation([answer, *drawn]).tolist()
        questions.append(SynonymQuestion(word, tuple(candidates), candidates.index(answer)))
    return SynonymTask(questions)


def measure(corpus: Path, tasks: dict[str, SynonymTask], settings: dict[str, Any]) -> dict[str, Any]:
    """One model; accuracy in %, and coverage, of each set."""
    model = MUSE(corpus_file=corpus, **settings)
    found = {name: task(model).summary for name, task in tasks.items()}
    return {
        "accuracy": {name: 100 * one["accuracy"] for name, one in found.items()},
        "answered": {name: f"{one['answered']} of {one['questions']}" for name, one in found.items()},
    }


def summarise(rows: list[dict[str, Any]], names: list[str]) -> list[dict[str, Any]]:
    """A line for each model, with columns for each set and the paper's figure beside."""
    table = []
    for model in dict.fromkeys((row["recipe"], row["strategy"]) for row in rows):
        same = [row for row in rows if (row["recipe"], row["strategy"]) == model]
        theirs = TABLE2.get("skip-gram" if same[0]["recipe"] == "word" else same[0]["strategy"], {})
        line: dict[str, Any] = {"name": title(*model), "recipe": same[0]["recipe"], "strategy": same[0]["strategy"]}
        for questions in names:
            scores = [row["accuracy"][questions] for row in same]
            line[f"{questions} accuracy"] = common.mean_sd(scores, digits=1)
            line[f"{questions} mean"] = float(np.mean(scores))
            line[f"{questions} paper"] = f"{theirs[questions]:.1f}" if questions in theirs else None
            line[f"{questions} answered"] = same[0]["answered"][questions]
        table.append(line)
    return table


def draw(figure: Any, table: list[dict[str, Any]], names: list[str]) -> None:
    """One plot a set."""
    for axes, questions in zip(np.atleast_1d(figure.subplots(1, len(names), sharey=True)), names, strict=True):
        series: dict[str, list[float | None]] = {
            "paper, 1,000M tokens": [TABLE2.get(strategy, {}).get(questions) for strategy in STRATEGIES]
        }
        for name in RECIPES:
            of = {line["strategy"]: line[f"{questions} mean"] for line in table if line["recipe"] == name}
            series[title(name)] = [of.get(strategy) for strategy in STRATEGIES]
        report.draw_bars(axes, [strategy.replace("_", "\n") for strategy in STRATEGIES], series)
        axes.set_title(f"{questions}, accuracy in %")


def main(argv: list[str] | None = None) -> None:
    parser = report.parser_of("table2", __doc__)
    parser.add_argument("--strategies", nargs="+", choices=STRATEGIES, default=list(STRATEGIES), help="default: all")
    parser.add_argument(
        "--questions", action="append", default=[], metavar="NAME=FILE[,ANSWERS]", help="may be repeated"
    )
    parser.add_argument("--simlex", action="store_true", help="also questions made from SimLex-999, see above")
    arguments: argparse.Namespace = parser.parse_args(argv)
    tasks = read_questions(arguments.questions)
    if arguments.simlex:
        if SIMLEX in tasks:
            raise ValueError(f"--simlex makes questions named {SIMLEX!r}; give yours another name")
        tasks[SIMLEX] = simlex_questions(common.evaluation_file("SimLex-999"))
    if not tasks:
        raise ValueError(NO_QUESTIONS)
    corpus = common.plain_corpus(arguments.corpus, arguments.limit_tokens)
    scale = report.scale_of(arguments)
    names = list(tasks)
    head = report.stamp("table2", arguments, scale, questions=", ".join(names))
    asked = {name: repr(task.questions) for name, task in tasks.items()}
    run = Runs("table2", corpus, scale, arguments.workers, questions=asked)
    rows = run(cases(scale, grid(arguments.strategies)), lambda settings: measure(corpus, tasks, settings))
    table = summarise(rows, names)
    columns = {"name": "model"}
    for name in names:
        columns |= {f"{name} accuracy": name, f"{name} paper": f"paper's {name}", f"{name} answered": "answered"}
    body = [common.markdown_table(table, columns)]
    result = {**head, "table": table, "runs": rows}
    report.publish("table2", __doc__, arguments, result, body, lambda figure: draw(figure, table, names))


if __name__ == "__main__":
    common.command(main)
