"""The throughput benchmark runs on texts of seconds, and counts and compares correctly."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse import MUSE, Split, _core
from muse.datasets import make_ambiguous_corpus

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.throughput import __main__ as command  # noqa: E402
from benchmarks.throughput import (  # noqa: E402
    native,
    parts,
    picture,
    plan,
    prediction,
    queries,
    reading,
    report,
    rounds,
    stages,
    systems,
    whole,
    work,
)

from benchmarks import common  # noqa: E402


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUSE_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "text.txt"
    common.write_sentences(path, make_ambiguous_corpus(3000, 300, seed=0).sentences)
    return path


def test_expected_pairs_are_those_that_training_makes(text: Path) -> None:
    expected = work.expected_pairs(text, 5, 1e-2, 5)
    settings = {"vector_size": 8, "sample": 1e-2, "epochs": 10, "workers": 1}
    model = MUSE(corpus_file=text, senses=1, window=5, **settings)
    assert model.history[0]["tokens"] == expected.tokens
    assert np.mean([row["pairs"] for row in model.history]) == pytest.approx(expected.pairs, rel=0.01)
    one = MUSE(corpus_file=text, senses=1, window=5, recipe=Split(collocates="one"), **settings)
    assert np.mean([row["pairs"] for row in one.history]) == pytest.approx(expected.targets, rel=0.01)


def test_negatives_of_a_group_are_as_many_as_the_core_draws() -> None:
    run = {"vector_size": 10, "negative": 25, "pairs": 600.0, "targets": 100.0}
    assert work.step_flops({**run, "group_size": 1}) == 60 * 600 * 26
    assert work.step_flops({**run, "group_size": 16}) == 60 * (600 + 100 * 80)
    assert work.step_flops(run) == work.step_flops({**run, "group_size": 1})  # a peer
    assert [work.shared_negatives(16, n) for n in (0, 1, 5, 6, 25)] == [0, 16, 16, 20, 80]
    assert [work.shared_negatives(16, n, one=True) for n in (0, 1, 5, 6, 25)] == [0, 16, 16, 16, 25]


def test_the_command_compares_with_gensim_in_one_run(
    tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("gensim")
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    ours = "muse, one sense, shared negatives"
    command.main([
        "--corpus", str(text), "--limit-tokens", "5000", "--settings", "8x2", "--workers", "1",
        "--repeats", "1", "--systems", ours, systems.REFERENCE, "--parts", "table", "tagging", "--out", str(tmp_path),
    ])  # fmt: skip
    assert "`python -m benchmarks.throughput`" in (tmp_path / "throughput.md").read_text()
    result: dict[str, Any] = json.loads((tmp_path / "throughput.json").read_text())
    table = {row["system"]: row for row in result["table"]}
    assert table[systems.REFERENCE]["ratio"] == 1
    assert table[ours]["kpairs_per_second"] > 0
    assert table[ours]["memory_mb"] > 10
    assert {row["call"] for row in result["tagging"]} >= {"tag_corpus", "disambiguate_batch"}
    if result["limits"]:
        assert 0 < table[ours]["peak_share"] < 1


def test_the_c_program_is_timed_by_the_difference_of_two_runs(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a program of the same options in its place: the real one may not be fetched by a test."""
    program = tmp_path / "word2vec"
    program.write_text("#!/bin/sh\nwhile [ $# -gt 1 ]; do [ $1 = -iter ] && sleep 0.$(($2 * 4)); shift; done\n")
    program.chmod(0o755)
    monkeypatch.setattr(systems, "word2vec_program", lambda flags: program)
    settings = {"vector_size": 8, "negative": 2, "window": 5, "sample": 0.0, "workers": 1, "min_count": 5, "seed": 1}
    job = {"system": "word2vec.c, -Ofast", "corpus": str(text), **settings}
    found = systems.run_here(job)
    assert 0.05 < found["seconds"] < 5
    assert found["memory_mb"] > 0


def test_a_peer_that_cannot_be_had_is_left_out_with_the_reason(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(job: dict[str, Any]) -> dict[str, Any]:
        raise native.NotAvailableError("no such thing")

    monkeypatch.setattr(rounds, "run_job", refuse)
    found = rounds.Rounds(str(text))
    job = {"system": "fastText", "vector_size": 8, "negative": 5, "workers": 1}
    assert found.run([rounds.Planned(job, 1000, 2)]) == []
    assert found.left_out == {"fastText": "no such thing"}


def test_runs_are_kept_and_not_run_again(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[dict[str, Any]] = []

    def run(job: dict[str, Any]) -> dict[str, Any]:
        ran.append(job)
        return {"seconds": 1.0, "cpu_seconds": 2.0, "memory_mb": 3.0}

    monkeypatch.setattr(rounds, "run_job", run)
    jobs = [{"system": name, "vector_size": 8, "negative": 5, "workers": 1} for name in ("a", "b")]
    twice = [rounds.Planned(job, 1000, count) for job, count in zip(jobs, (2, 1), strict=True)]
    first = rounds.Rounds(str(text), tmp_path / "runs").run(twice)
    assert [job["system"] for job in ran] == ["a", "b", "a"]  # in turn
    assert "corpus" not in first[0]
    assert rounds.Rounds(str(text), tmp_path / "runs").run(twice) == first
    assert len(ran) == 3


def test_a_program_with_the_options_of_word2vec_is_a_system(text: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    systems.add_programs({"pWord2Vec": str(program)})
    try:
        job = {"system": "pWord2Vec", "vector_size": 8, "negative": 2, "workers": 1}
        [found] = rounds.Rounds(str(text)).run([rounds.Planned(job, 1000, 1)])
    finally:
        systems.RUNNERS.pop("pWord2Vec")
    assert found["seconds"] > 0
    assert str(program) not in json.dumps(found)  # no path of this machine in the results


def test_the_plan_fits_the_settings() -> None:
    planned = plan.table(1000, [(100, 5), (300, 25)], 3, None)
    assert {p.tokens for p in planned if p.job["vector_size"] == 100} == {1000}
    assert {p.repeats for p in planned if p.job["system"] == "fastText"} == {1, 3}
    scaled = plan.scaling(1000, [(100, 5)], 3, [1, 2])
    assert [p.job["workers"] for p in scaled] == [1, 2] * len(plan.SCALED)
    assert all(p.job["value"] in p.job.values() for p in plan.sweeps(1000, 1))


def test_quick_takes_the_headline_rows_unless_told_otherwise() -> None:
    quick = command.parse(["--quick", "--program", "pWord2Vec=/none", "--repeats", "1"])
    assert quick.parts == ["table", "scaling", "tagging"]
    assert quick.systems == [*plan.QUICK["systems"], "pWord2Vec"]
    assert (quick.limit_tokens, quick.repeats) == (400_000, 1)
    assert quick.tagging.tokens == 400_000
    assert set(plan.QUICK["systems"]) <= set(systems.RUNNERS)
    assert command.parse([]).parts == list(command.PARTS)


def test_the_default_recipe_is_timed_with_its_trees(text: Path) -> None:
    common_settings = {"window": 5, "sample": 1e-2, "min_count": 5, "seed": 1, "workers": 1, "negative": 2}
    job = {"system": "muse, default recipe", "vector_size": 8, "corpus": str(text), **common_settings}
    found = systems.run_here(job)
    assert found["epochs"] == 5  # all of them, and what made the senses
    one = systems.run_here({**job, "system": "muse, one sense, shared negatives"})
    assert found["tokens"] == 5 * one["tokens"]
    assert found["pairs"] == pytest.approx(5 * one["pairs"], rel=0.05)
    split = systems.run_here({**job, "system": prediction.SYSTEM})
    assert (split["epochs"], split["tokens"]) == (1, one["tokens"])
    assert split["pairs"] > 0


def test_targets_count_for_all_epochs(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        rounds, "run_job", lambda job: {"seconds": 1.0, "cpu_seconds": 2.0, "memory_mb": 3.0, "epochs": 5}
    )
    job = {"system": "muse, default recipe", "vector_size": 8, "negative": 5, "workers": 1}
    fives, ones = rounds.Rounds(str(text)), rounds.Rounds(str(text))
    [found] = fives.run([rounds.Planned(job, 1000, 1)])
    expected = ones.expected(ones.text(1000), {**rounds.COMMON, **job})
    assert found["targets"] == 5 * expected["targets"]


def test_limits_of_the_machine_are_in_the_table() -> None:
    limits = {"1": {"gflops": 117.0, "triad_gb_per_second": 19.4, "rows_gb_per_second": {"16": 51.7}}}
    rows = report.limit_rows({"limits": limits})
    assert [row["measured"] for row in rows] == [117.0, 19.4, 51.7]
    assert report.limit_rows({"limits": {}}) == []


def test_why_a_peer_cannot_be_had_is_one_line() -> None:
    with pytest.raises(native.NotAvailableError, match=r"^python.* failed: first second$"):
        native._run([sys.executable, "-c", "import sys; sys.exit('first\\n\\nsecond\\n')"])
    pip = "   error: invalid command 'bdist_wheel'\n   [end of output]\nerror: metadata-generation-failed\nhint: ..."
    with pytest.raises(native.NotAvailableError, match=r"failed: error: invalid command 'bdist_wheel'$"):
        native._run([sys.executable, "-c", f"import sys; sys.exit({pip!r})"])


def test_scaling_is_relative_to_one_thread() -> None:
    base = {"system": "a", "vector_size": 8, "negative": 5, "tokens": 10, "pairs": 10, "memory_mb": 1.0}
    runs = [{**base, "workers": n, "seconds": 1 / n, "cpu_seconds": 1.0} for n in (1, 2, 1, 2)]
    one, two = report.scaling_rows(runs)
    assert (one["scaling"], two["scaling"]) == (1.0, 2.0)
    assert two["cpu_seconds_per_wall"] == 2.0


def test_medians_and_ratios() -> None:
    base = {"vector_size": 8, "negative": 5, "workers": 1, "tokens": 1000, "pairs": 3000, "memory_mb": 50.0}
    times = {"gensim corpus_file": (1, 2, 9), "fastText": (1, 1, 5)}
    runs = [{**base, "system": name, "seconds": t, "cpu_seconds": 2 * t} for name, each in times.items() for t in each]
    gensim, fasttext = report.summarise(runs)
    assert gensim["kpairs_per_second"] == 1.5
    assert (fasttext["ratio"], fasttext["cpu_ratio"]) == (2.0, 2.0)
    one = next(run for run in runs if run["seconds"] == 1)
    assert report.summarise([{**one, "targets": 1.0}], 1e-3)[0]["peak_share"] == pytest.approx(6 * 8 * 18000 / 2 / 1e6)


def test_limits_are_those_of_the_instruction_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUSE_ISA", "baseline")
    try:
        found = native.machine_limits(1)
    except native.NotAvailableError as error:
        pytest.skip(str(error))
    assert found["lanes"] == 4
    assert found["gflops"] > 0.1
    assert found["triad_gb_per_second"] > 0.01
    assert _core.isa() == "baseline"


def test_the_plot_shows_each_quantity(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    base = {"system": "a", "tokens": 10, "pairs": 10, "seconds": 1.0, "cpu_seconds": 1.0}
    sweeps = report.sweep_rows([{**base, "swept": "window", "value": v} for v in (1, 2, 2)])
    assert [row["value"] for row in sweeps["window"]] == [1, 2]
    scaling = [{"system": "a", "vector_size": 8, "workers": v, "scaling": v} for v in (1, 2)]
    report.plot(sweeps, scaling, tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").stat().st_size > 1000


def test_samples_are_counted_by_stage() -> None:
    lines = [
        "# comment",
        "    30.00%  python   [.] muse::(anonymous namespace)::score_tile<4, 4>",
        "    10.00%  python   [.] muse::Step::add_negatives",
        "    10.00%  python   [.] something",
    ]
    assert stages.shares(lines) == {
        "scores (A Bᵀ, or a row at a time)": 0.6, "drawing negatives": 0.2, "other": 0.2,
    }  # fmt: skip
    assert stages.stage_of("muse::BatchBuilder::kept") == "subsampling and batches"


def test_predictions_scale_the_speed_of_one_core() -> None:
    run = {
        "system": prediction.SYSTEM, "vector_size": 100, "negative": 5, "window": 5, "workers": 1, "sample": 1e-4,
        "group_size": 16, "tokens": 1000, "targets": 500.0, "cpu_seconds": 0.001,
    }  # fmt: skip
    one, sixteen, _ = prediction.prediction_rows([run, {**run, "workers": 2}, {**run, "sample": 0.0}])
    assert one["mtokens_per_second"] == pytest.approx(1.0)
    assert one["gb_per_second"] == pytest.approx(1e6 * 0.5 * 2 * 4 * 100 * (2 * 16 + 10 + 16) / 16 / 1e9)
    assert one["minutes_per_billion"] == pytest.approx(1000 / 60)
    assert sixteen["cores"] == 16
    assert sixteen["mtokens_per_second"] == pytest.approx(16.0)


def test_text_is_read_from_a_file_and_from_lists(
    tmp_path: Path, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reading.main(["--corpus", str(text), "--workers", "2", "--runs", "1", "--out", str(tmp_path)])
    rows = json.loads((tmp_path / "reading.json").read_text())["rows"]
    assert [(row["source"], row["threads"]) for row in rows] == [("file", 1), ("file", 2), ("lists", 1)]
    assert all(row["mb"] > 0 and row["mtokens"] > 0 for row in rows)
    assert (tmp_path / "reading.md").read_text() in capsys.readouterr().out


def test_whole_runs_are_compared_with_those_of_one_sense(tmp_path: Path, text: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(whole, "SYSTEMS", whole.SYSTEMS[:2])  # gensim need not be here
    monkeypatch.setitem(whole.SHARED, "epochs", 1)
    result = whole.main(
        ["--corpus", str(text), "--dims", "8", "--workers", "1", "--repeats", "2", "--out", str(tmp_path)]
    )
    one, senses = result["rows"]
    assert (one["to_one_sense"], one["cpu_to_one_sense"], one["to_gensim"], one["runs"]) == (1, 1, None, 2)
    runs = [run["cpu_seconds"] for run in result["runs"] if run["system"] == senses["system"]]
    assert min(runs) <= senses["cpu"] <= max(runs)
    assert min(senses["cpu"], one["cpu"]) > 0
    kept = json.loads((tmp_path / "whole.json").read_text())["rows"]
    assert [row["cpu"] for row in kept] == pytest.approx([one["cpu"], senses["cpu"]], rel=1e-4)
    assert (tmp_path / "whole.md").read_text().count("\n| ") == 4
    with pytest.raises(RuntimeError, match="failed"):
        whole.apart("one sense", tmp_path / "missing.txt", 8, 1)


def test_parts_of_a_whole_run_are_all_there_and_add_up(tmp_path: Path, text: Path) -> None:
    parts.main(["--corpus", str(text), "--dims", "8", "--threads", "1", "--runs", "2", "--out", str(tmp_path)])
    (row,) = json.loads((tmp_path / "parts.json").read_text())["rows"]
    assert list(row["seconds"]) == list(parts.PARTS)
    assert min(row["seconds"][part] for part in ("read", "encode", "words", "encoder", "trees")) > 0
    assert row["with_senses"] == pytest.approx(sum(row["seconds"].values()), rel=1e-4)
    assert row["ratio"] > 1
    assert row["senses"] > 300
    assert row["peak_mb"] >= row["peak_mb_one_sense"]
    lines = (tmp_path / "parts.md").read_text().splitlines()
    assert [line for line in lines if line.startswith("| trees: encoder")]


def test_queries_are_measured_alone_and_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "machine_limits", lambda threads: {"triad_gb_per_second": 20.0, "gflops": 100.0})
    asked = ["--rows", "2000", "--dims", "8", "20", "--queries", "1", "9", "--rounds", "2", "--out", str(tmp_path)]
    queries.main(asked)
    rows = json.loads((tmp_path / "queries.json").read_text())["rows"]
    assert [(row["dim"], row["by"], row["queries"]) for row in rows] == [
        (dim, by, count) for dim in (8, 20) for by in ("floats", "bytes") for count in (1, 9)
    ]
    assert all(row["ms"] > 0 and ("bandwidth" in row) == (row["queries"] == 1) for row in rows)
    assert rows[0]["bandwidth"] == pytest.approx(rows[0]["gb"] / 20, rel=1e-4)
    one, search = queries.make_rows(2000, 20), None
    for by, size, ask in queries.ways(one, np.ones(2000, np.float32)):
        assert size == 2000 * (128 if by == "floats" else 32)
        found = ask(one[:5])[0]
        search = found if search is None else search
        np.testing.assert_array_equal(found, search)  # the same by floats and by bytes


def test_the_picture_has_three_panels_of_measured_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    ran: list[dict[str, Any]] = []

    def run(job: dict[str, Any]) -> dict[str, Any]:
        ran.append(job)
        if job["system"] == systems.REFERENCE:
            raise native.NotAvailableError("no gensim")
        return {"seconds": 0.5, "cpu_seconds": 1.0, "memory_mb": 3.0, "pairs": 2e6, "tokens": 100, "words": 77}

    monkeypatch.setattr(rounds, "run_job", run)
    asked = ["--dims", "8", "16", "--threads", "1", "2", "--words", "50", "500", "--tokens", "1000", "--repeats", "2",
             "--runs", str(tmp_path / "runs"), "--out", str(tmp_path)]  # fmt: skip
    picture.main(asked)
    result = json.loads((tmp_path / "throughput-picture.json").read_text())
    assert result["left_out"] == {systems.REFERENCE: "no gensim"}
    assert {(row["swept"], row["x"], row["mpairs"]) for row in result["rows"]} == {
        ("vector_size", 8, 2.0), ("vector_size", 16, 2.0), ("workers", 1, 4.0), ("workers", 2, 4.0), ("words", 77, 2.0),
    }  # fmt: skip
    assert {(job["vector_size"], job["workers"]) for job in ran} == {(8, 1), (16, 1), (100, 1), (100, 2)}
    drawn = (tmp_path / "throughput-picture.svg").read_bytes()
    assert len(drawn) > 5000
    before = len(ran)
    picture.main(asked)
    assert len([job for job in ran[before:] if job["system"] != systems.REFERENCE]) == 0  # kept, and not run again
    assert (tmp_path / "throughput-picture.svg").read_bytes() == drawn
