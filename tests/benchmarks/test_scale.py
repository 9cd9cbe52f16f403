"""The text of the scale run is like a longer real one, and a run that is killed goes on and says what it took."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.scale import __main__ as command  # noqa: E402
from benchmarks.scale.report import beyond, page, summary  # noqa: E402
from benchmarks.scale.run import measure, read_log  # noqa: E402
from benchmarks.scale.text import NewWords, lengthen, name_of, read_base  # noqa: E402


@pytest.fixture(scope="module")
def base_file(tmp_path_factory):
    """Sentences of words that follow Zipf's law, in which new words come for as long as one reads."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("scale") / "base.txt"
    ranks = np.floor(np.exp(rng.random(20_000) * 9.5)).astype(int)
    path.write_text("\n".join(" ".join(f"w{word}" for word in row) for row in ranks.reshape(-1, 10)) + "\n")
    return path


def test_the_text_begins_as_it_is_and_goes_on_in_another_order(base_file, tmp_path):
    base = read_base(base_file)
    made = lengthen(base, 60_000, tmp_path / "long.txt")
    lines, given = (path.read_text().splitlines() for path in (tmp_path / "long.txt", base_file))
    assert lines[: len(given)] == given
    tokens = [word for line in lines for word in line.split()]
    assert made.tokens == len(tokens) == 60_000
    assert made.bytes == (tmp_path / "long.txt").stat().st_size
    assert made.words >= len(set(tokens))
    rest = lines[len(given) :]
    assert rest[: len(given)] != given
    old = Counter(w for line in rest[: len(given)] for w in line.split() if "-" not in w)
    assert old.total() > 0.5 * 20_000  # the same text but for its rare words
    assert all(len(line.split()) == 10 for line in lines)


def test_the_vocabulary_grows_as_in_the_text(base_file, tmp_path):
    base = read_base(base_file)
    made = lengthen(base, 160_000, tmp_path / "long.txt")
    power = np.log(made.words / len(base.words)) / np.log(made.tokens / len(base.tokens))
    assert base.discount * 0.7 < power < base.discount * 1.2
    counts = Counter((tmp_path / "long.txt").read_text().split())
    new = [count for word, count in counts.items() if "-" in word]
    assert max(new) > 3  # new words come again, a few of them often
    assert 0.3 < sum(count == 1 for count in new) / len(new) < 0.9


def test_new_words_are_repeated_more_the_more_they_are():
    rng, new = np.random.default_rng(1), NewWords(1000, 0.6)
    drawn = np.concatenate([new.draw(500, rng) for _ in range(40)])
    assert drawn.min() == 1000
    assert len(np.unique(drawn)) == new.words < 20_000
    assert np.bincount(drawn - 1000).max() > 10


def test_names_are_new_and_differ():
    words = ["the", "of", "rare"]
    names = [name_of(words, number) for number in range(3000)]
    assert len(set(names)) == 3000
    assert not set(names) & set(words)


def test_what_cannot_be_made_is_said(base_file, tmp_path):
    base = read_base(base_file)
    with pytest.raises(ValueError, match="at least one token"):
        lengthen(base, 0, tmp_path / "none.txt")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def run(base_file, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    job = {
        "corpus": str(base_file), "every": 4096, "tell_every": 0.0, "log": str(folder / "lines.jsonl"),
        "settings": {"vector_size": 16, "epochs": 20, "min_count": 2, "workers": 1, "max_ram": 10_000},
        "checkpoints": str(folder),
    }  # fmt: skip
    return job, measure(job, 0.2)


def test_a_run_is_killed_and_resumed(run):
    _, lines = run
    events = [line["event"] for line in lines]
    assert events[0] == "start"
    assert events.count("resume") == 1
    assert events[-1] == "done"
    cut = events.index("resume")
    before = [line["done"] for line in lines[:cut] if line.get("part") == "training"]
    after = [line["done"] for line in lines[cut:] if line.get("part") == "training"]
    total = next(line["total"] for line in lines if line.get("part") == "training")
    assert 0 < after[0] <= max(before)  # from the last checkpoint on
    assert after[-1] == pytest.approx(total, rel=0.01)


def test_the_summary_says_what_it_took(run):
    job, lines = run
    row = summary(lines, job)
    assert row["finished"]
    assert row["killed"] == 1
    assert row["words"] == lines[-1]["words"]
    assert {"reading", "training", "encoder", "trees"} <= set(row["seconds"])
    assert all(seconds >= 0 for seconds in row["seconds"].values())
    assert 0 < row["most_gb"] < row["estimate_gb"] < 0.2  # of which the interpreter is most
    assert row["wall_rate"] > 0
    text = page([row], {"command": "x", "date": "2000-01-01", "machine": {"cpu": "c", "cores": 2}}, 0.6)
    assert "10 billion" in text
    assert "Killed and resumed." in text


def test_more_tokens_take_more(run):
    job, lines = run
    row = summary(lines, job)
    more = beyond(row, 100 * row["tokens"], 0.5)
    assert more["words"] == pytest.approx(10 * row["words"])
    assert more["memory_gb"] == pytest.approx(10 * row["most_gb"])
    cpu = sum(row["cpu_seconds"].values()) / 3600
    assert 10 * cpu < more["cpu_hours"] < 100 * cpu


def test_a_line_that_a_kill_has_cut_is_left_out(tmp_path):
    (tmp_path / "lines").write_text('{"event": "start"}\n{"event": "pro')
    assert [line["event"] for line in read_log(tmp_path / "lines")] == ["start"]
    assert list(read_log(tmp_path / "none")) == []


def test_a_training_that_fails_is_an_error(base_file, tmp_path):
    job = {"corpus": str(tmp_path / "none.txt"), "every": 10, "log": str(tmp_path / "l"), "checkpoints": str(tmp_path),
           "settings": {"workers": 1, "vector_size": 0}}  # fmt: skip
    with pytest.raises(FileNotFoundError, match="no such text"):
        measure(job, None)
    with pytest.raises(ChildProcessError, match="ended with status 2"):
        measure({**job, "corpus": str(base_file)}, None)


@pytest.mark.parametrize("share", ["0", "1", "nan", "half", "-1", "2"])
def test_a_share_is_between_none_and_all(share, capsys):
    with pytest.raises(SystemExit):
        command.main(["run", "--corpus", "x", f"--kill-at={share}"])
    assert "between 0 and 1" in capsys.readouterr().err


def test_the_command_makes_a_text(base_file, tmp_path, capsys):
    command.main(["text", "--corpus", str(base_file), "--tokens", "30000", "--text", str(tmp_path / "long.txt")])
    assert capsys.readouterr().out.startswith("30,000 tokens, ")
    with pytest.raises(SystemExit):
        command.main(["text", "--corpus", str(base_file), "--tokens", "none", "--text", "x"])
    assert json.loads(json.dumps(vars(command.make_parser().parse_args(["run", "--corpus", "x"])), default=str))
