"""The benchmark commands run, on texts of seconds, and count and compare correctly."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from muse import MUSE
from muse.datasets import make_ambiguous_corpus

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.paper import (  # noqa: E402
    convergence,
    policy_gradient,
    published,
    recipes,
    report,
    sides,
    table1,
    table2,
    table3,
)

from benchmarks import common, real_text, word2vec_parity  # noqa: E402

SMALL = ["--epochs", "2", "--vector-size", "16", "--workers", "1"]
ONE = ["--strategies", "boltzmann"]


@pytest.fixture(scope="session")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text with the words of the paper's third table, and those that a benchmark looks for."""
    path = tmp_path_factory.mktemp("text") / "text.txt"
    corpus = make_ambiguous_corpus(3000, 300, seed=0)
    contexts = [context.replace("*", "").split() for _, context, _ in published.TABLE3]
    common.write_sentences(path, [*corpus.sentences, *(20 * contexts)])
    return path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MUSE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Evaluation files about the words of `text`, in the published layouts."""
    words = list(dict.fromkeys(word for _, context, _ in published.TABLE3 for word in context.replace("*", "").split()))
    rng = np.random.default_rng(0)
    for name in common.SIMILARITY_SETS:
        path = tmp_path / "data" / "eval" / common.EVALUATION_FILES[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"{words[i]} {words[-1 - i]} {rng.integers(10)}" for i in range(12)]
        if name == "SimLex-999":
            lines = ["word1\tword2\tSimLex999", *(line.replace(" ", "\t") for line in lines)]
        path.write_text("\n".join(lines) + "\n")
    scws = tmp_path / "data" / "eval" / common.EVALUATION_FILES["SCWS"]
    scws.parent.mkdir(parents=True)
    rows = []
    for number in range(8):
        fields = []
        for which in (number % 7, (number + 3) % 7):
            word, context, _ = published.TABLE3[which]
            fields.append((word, context.replace(f"*{word}*", f"<b>{word}</b>")))
        (first, one), (second, two) = fields
        ratings = ["5.0"] * 9 + [str(float(number))]
        mean = (45 + number) / 10
        rows.append("\t".join([str(number), first, "n", second, "n", one, two, str(mean), *ratings]))
    scws.write_text("\n".join(rows) + "\n")
    monkeypatch.setenv("MUSE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def read(folder: Path, name: str) -> dict[str, Any]:
    """A result, after a check that its page is there and names its command."""
    assert f"`python -m benchmarks.{'' if name in TOP else 'paper.'}{name}`" in (folder / f"{name}.md").read_text()
    found: dict[str, Any] = json.loads((folder / f"{name}.json").read_text())
    assert found["machine"]["cores"] >= 1
    return found


TOP = ("word2vec_parity", "real_text")

# ------------------------------------------------------------------------------------------------------------- common


def test_a_limited_corpus_ends_with_the_sentence_that_reaches_the_limit(tmp_path: Path, text: Path) -> None:
    path = common.plain_corpus(text, 100)
    sentences = common.read_sentences(path)
    assert sentences == common.read_sentences(text)[: len(sentences)]
    assert sum(map(len, sentences[:-1])) < 100 <= sum(map(len, sentences))
    assert common.plain_corpus(text) == text
    with pytest.raises(FileNotFoundError, match="no such corpus"):
        common.plain_corpus(tmp_path / "none.txt")


def test_compressed_corpora_are_decompressed_once(tmp_path: Path) -> None:
    import gzip

    packed = tmp_path / "a.txt.gz"
    packed.write_bytes(gzip.compress(b"a b c\nd e\n"))
    assert common.plain_corpus(packed).read_text() == "a b c\nd e\n"
    assert common.plain_corpus(packed) == common.plain_corpus(packed)


def test_results_of_limited_runs_do_not_replace_full_ones(tmp_path: Path) -> None:
    arguments = report.parser_of("table1", "x").parse_args(["--corpus", "c", "--limit-tokens", "10"])
    assert common.results_dir(arguments) is None
    arguments.out = tmp_path / "here"
    assert common.results_dir(arguments) == tmp_path / "here"


def test_the_machine_is_described_without_names_of_hosts_or_paths() -> None:
    import platform

    described = json.dumps(common.machine())
    assert "/home" not in described
    assert "/tmp" not in described
    assert not platform.node() or platform.node() not in described


def test_pseudo_words_are_scored_at_the_places_where_words_were_merged(tmp_path: Path) -> None:
    counts = {"apple": 20, "brick": 22, "cloud": 38, "dance": 40, "eagle": 65, "flute": 67, "grape": 110, "horse": 112}
    counts["ivory"] = 41
    tokens = np.random.default_rng(0).permutation(np.repeat(list(counts), list(counts.values()))).tolist()
    path = tmp_path / "even.txt"
    common.write_sentences(path, [tokens[i : i + 10] for i in range(0, len(tokens), 10)])
    merged = common.pseudo_word_corpus(path, 4, exclude=["ivory"], max_occurrences=None)
    original, new = common.read_sentences(path), common.read_sentences(merged.corpus)
    assert {word for pair in merged.pairs for word in pair} == counts.keys() - {"ivory"}
    members = {word: ("_".join(pair), i) for pair in merged.pairs for i, word in enumerate(pair)}
    assert new == [[members[w][0] if w in members else w for w in sentence] for sentence in original]
    truth = [members[w][1] for sentence in original for w in sentence if w in members]
    assert merged.task.occurrences.truth.tolist() == truth


# ------------------------------------------------------------------------------------- parity with word2vec, real text


def test_word2vec_parity_compares_with_gensim(tmp_path: Path, text: Path, data: Path) -> None:
    pytest.importorskip("gensim")
    pytest.importorskip("scipy")
    arguments = ["--corpus", str(text), "--seeds", "2", "--out", str(tmp_path), *SMALL]
    word2vec_parity.main(arguments)
    result = read(tmp_path, "word2vec_parity")
    assert len(result["runs"]) == 2 * 4
    gensim = [row for row in result["runs"] if row["system"] == "gensim"]
    word2vec_parity.main([*arguments, "--only", "defaults"])
    again = read(tmp_path, "word2vec_parity")
    assert len(again["runs"]) == 2 * 4
    assert [row for row in again["runs"] if row["system"] == "gensim"] == gensim
    with pytest.raises(ValueError, match="other settings"):
        word2vec_parity.main([*arguments, "--only", "defaults", "--epochs", "3"])
    assert {row["data"] for row in result["table"]} == set(common.SIMILARITY_SETS)
    assert all(row["within_noise"] is not None for row in result["table"] if row["system"] != "gensim")


def test_a_difference_beyond_seed_noise_is_found() -> None:
    pytest.importorskip("scipy")
    rows = [
        {"system": s, "MEN": m + e}
        for s, m in (("gensim", 0.5), ("same", 0.5), ("worse", 0.4))
        for e in (0, 0.001, 0.002)
    ]
    verdict = {row["system"]: row["within_noise"] for row in word2vec_parity.compare(rows, ["MEN"])}
    assert verdict == {"gensim": None, "same": True, "worse": False}


def test_real_text_reports_all_models_between_their_bounds(tmp_path: Path, text: Path) -> None:
    pytest.importorskip("sklearn")
    real_text.main(["--corpus", str(text), "--pairs", "4", "--out", str(tmp_path), *SMALL, *ONE])
    result = read(tmp_path, "real_text")
    names = {row["name"] for row in result["table"]}
    assert {recipes.title(*pair) for pair in recipes.grid(["boltzmann"])} <= names
    assert any(name.startswith("majority") for name in names)
    assert any(name.startswith("supervised") for name in names)
    assert any("default selector's contexts" in name for name in names)
    cards = {card["word"]: card for card in result["cards"]}
    assert list(cards) == list(real_text.WORDS)
    assert sum(sense["share"] for sense in cards["head"]["senses"]) == pytest.approx(1, abs=1e-4)


# ---------------------------------------------------------------------------------------------------------- the paper


@pytest.mark.parametrize("strategy", recipes.STRATEGIES)
def test_the_paper_recipe_is_the_paper(strategy: str) -> None:
    full = recipes.recipe("paper", strategy, recipes.Scale.of(True))
    expected = {**MUSE.paper_defaults(), "strategy": strategy, "epochs": 3, "seed": 1}
    assert full == expected
    reward = "sampled_likelihood" if strategy == "policy" else "likelihood"
    assert MUSE(**full).settings.reward == reward
    small = recipes.recipe("paper", strategy, recipes.Scale.of(False, epochs=7))
    assert (small["vector_size"], small["epochs"], small["negative"]) == (100, 7, 25)


def test_table1(tmp_path: Path, text: Path, data: Path) -> None:
    table1.main(["--corpus", str(text), "--out", str(tmp_path), *SMALL, *ONE])
    table = read(tmp_path, "table1")["table"]
    assert [row["name"] for row in table] == [recipes.title(*pair) for pair in recipes.grid(["boltzmann"])]
    assert all(-100 <= row["MaxSimC mean"] <= 100 for row in table)
    assert "67.9" in (tmp_path / "table1.md").read_text()


def test_table2_asks_for_questions_and_runs_on_those_of_the_user(
    tmp_path: Path, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError, match="may not be redistributed"):
        table2.main(["--corpus", str(text)])
    questions = tmp_path / "own.csv"
    questions.write_text("tie,army,head,season,dodgers,army\nhead,lice,army,tie,federal,lice\n")
    table2.main(["--corpus", str(text), "--questions", f"own={questions}", "--out", str(tmp_path), *SMALL, *ONE])
    table = read(tmp_path, "table2")["table"]
    assert all(row["own answered"] == "2 of 2" for row in table)
    with pytest.raises(ValueError, match="NAME=FILE"):
        table2.main(["--corpus", str(text), "--questions", "nothing"])
    with pytest.raises(ValueError, match="gives the name 'own' twice"):
        table2.main(["--corpus", str(text), *(2 * ["--questions", f"own={questions}"])])


def test_table2_keeps_figures_by_the_names_of_their_questions(tmp_path: Path, text: Path) -> None:
    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    small.write_text("tie,army,head,season\n")
    large.write_text("tie,army,head,season\nhead,lice,army,tie\n")
    for files in ({"A": small, "recipe": large}, {"recipe": small, "A": large}, {"answered": small, "name": large}):
        asked = [f"--questions={name}={path}" for name, path in files.items()]
        table2.main(["--corpus", str(text), *asked, "--out", str(tmp_path), *SMALL, *ONE, "--epochs", "1"])
        for row in read(tmp_path, "table2")["table"]:
            assert row["name"].count(",") == (row["strategy"] is not None)
            assert [row[f"{name} answered"] for name in files] == ["1 of 1", "2 of 2"]
        page = (tmp_path / "table2.md").read_text()
        assert "| model | " + " | ".join(f"{name} | paper's {name} | answered" for name in files) + " |" in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seeds", "0"], "--seeds: must be a whole number of at least 1; got '0'"),
        (["--seeds", "two"], "--seeds: must be a whole number of at least 1; got 'two'"),
        (["--limit-tokens", "-5"], "--limit-tokens: must be a whole number of at least 0; got '-5'"),
        (["--epochs", "0"], "--epochs: must be a whole number of at least 1"),
        (["--out", "{file}"], "--out: .*own.csv is a file; name a folder for the results"),
        (["--out", "{file}/below"], "--out: .*own.csv is a file"),
        (["--corpus", "nothing.txt"], "error: no such corpus: nothing.txt$"),
        (["--questions", "b"], "error: --questions takes NAME=FILE"),
        (["--questions", "b=nothing"], "error: no such evaluation file: nothing"),
    ],
)
def test_mistakes_are_said_before_training(
    tmp_path: Path,
    text: Path,
    cache: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    message: str,
) -> None:
    monkeypatch.setattr(table2, "measure", lambda *_: pytest.fail("it trains"))
    questions = tmp_path / "own.csv"
    questions.write_text("tie,army,head,season\n")
    given = ["--corpus", str(text), "--questions", f"own={questions}", *options]
    with pytest.raises(SystemExit) as caught:
        common.command(lambda: table2.main([option.replace("{file}", str(questions)) for option in given]))
    assert caught.value.code == 2
    assert re.search(message, capsys.readouterr().err, re.MULTILINE)
    assert not list(cache.glob("text-*"))


def test_figures_are_kept_by_the_data_that_they_are_of(tmp_path: Path, text: Path, data: Path) -> None:
    arguments = ["--corpus", str(text), "--out", str(tmp_path), *SMALL, *ONE]
    table1.main(arguments)
    ratings = data / "eval" / common.EVALUATION_FILES["SCWS"]
    ratings.write_text("".join(ratings.read_text().splitlines(keepends=True)[:5]))
    before = read(tmp_path, "table1")["runs"]
    table1.main(arguments)
    assert [row["scored"] for row in before] == [8] * len(before)
    assert [row["scored"] for row in read(tmp_path, "table1")["runs"]] == [5] * len(before)
    with pytest.raises(ValueError, match="at least 0; got -5"):
        common.plain_corpus(text, -5)


def test_table3_reads_the_marked_occurrence(tmp_path: Path, text: Path) -> None:
    table3.main(["--corpus", str(text), "--out", str(tmp_path), *SMALL])
    models = read(tmp_path, "table3")["models"]
    assert len(models) == len(table3.MODELS)
    for row in models[0]["contexts"]:
        assert row["context"].count(f"*{row['word']}*") == 1
        assert len(row["collocates"]) == 8
    assert set(models[0]["told_apart"]) == {"tie", "blackberry", "head"}


def test_senses_chosen_by_chance_tell_nothing_apart() -> None:
    def verdict(*chosen: tuple[int, float]) -> str:
        rows = [{"word": "tie", "sense": sense, "probability": pi, "senses": 3} for sense, pi in chosen]
        return table3.told_apart(rows)["tie"]

    assert verdict((0, 0.9), (1, 0.6)) == "yes"
    assert verdict((0, 0.9), (0, 0.9)) == "no"
    assert verdict((0, 0.34), (1, 0.9)).startswith("by chance")


def test_convergence_and_sides(tmp_path: Path, text: Path, data: Path) -> None:
    common_options = ["--corpus", str(text), "--recipes", "start", "--pairs", "4", "--out", str(tmp_path), *SMALL]
    convergence.main(common_options)
    result = read(tmp_path, "convergence")
    assert len(result["runs"]) == 4
    assert {row["paper"] for row in result["table"] if row["measure"] == "MaxSimC"} == {"2.3", "1.3"}
    sides.main(common_options)
    table = read(tmp_path, "sides")["table"]
    assert [row["paper"] for row in table if row["paper"]] == ["+4%"]


def test_cost_of_a_score_is_interpolated() -> None:
    points = [{"V": v, "seconds": s} for v, s in ((0.1, 10.0), (0.3, 20.0), (0.2, 30.0), (0.5, 40.0))]
    assert convergence.reach(points, "V", 0.05, "seconds") == 10
    assert convergence.reach(points, "V", 0.2, "seconds") == pytest.approx(15)
    assert convergence.reach(points, "V", 0.4, "seconds") == pytest.approx(30 + 10 * 2 / 3)
    with pytest.raises(ValueError, match="never reaches"):
        convergence.reach(points, "V", 0.6, "seconds")


def test_policy_gradient_lowers_and_its_smooth_twin_raises_the_chosen_sense(tmp_path: Path, text: Path) -> None:
    policy_gradient.main(["--corpus", str(text), "--updates", "150", "--out", str(tmp_path), *SMALL])
    single = {
        row["strategy"]: row for row in read(tmp_path, "policy_gradient")["table"] if row["update"] == "of one target"
    }
    assert single["policy"]["updates"] == 150
    assert single["policy"]["negative_log_reward"] == 1
    assert single["policy"]["lowered"] > 0.99
    assert single["smooth_policy"]["raised"] > 0.99


def test_a_policy_that_rounds_to_zero_has_a_logarithm() -> None:
    """After an epoch at a high rate π of a sense can be less than the smallest number; its change is finite still."""
    bench = object.__new__(policy_gradient.Bench)
    bench.window = 1
    bench.corpus = SimpleNamespace(offsets=np.array([0, 2]), tokens=np.array([0, 1]))  # type: ignore[assignment]
    bench.arrays = SimpleNamespace(  # type: ignore[assignment]
        context_vectors=np.eye(2, dtype=np.float32),
        selection_vectors=np.array([[0, 0], [-3000, 1000], [0, 0]], np.float32),
        sense_offset=np.array([0, 2, 3]),
    )
    before = bench.log_policy(0)
    np.testing.assert_allclose(before, [0, -2000], atol=1e-9)
    bench.arrays.selection_vectors[1, 0] -= 7
    found = policy_gradient.share_lowered(before[1:], bench.log_policy(0)[1:])
    assert (found["lowered"], found["mean_change"]) == (1, -7)
    with pytest.raises(ValueError, match="no update of a word with several senses to watch"):
        policy_gradient.share_lowered(np.empty(0), np.empty(0))
