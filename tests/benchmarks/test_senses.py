"""The senses study: its shortcuts are exact, and one small run goes through every step of the command."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse import MUSE, Paper
from muse.datasets import make_ambiguous_corpus, pseudo_words
from muse.evaluation import PseudoWordTask
from muse.training.run import train_model

pytest.importorskip("sklearn")
PAIRS = 6


@pytest.fixture(scope="module", autouse=True)
def _benchmarks() -> Iterator[None]:
    """`benchmarks` is imported from the root of the repository, as its commands are run from there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).resolve().parents[2]))
        yield


@pytest.fixture(scope="module")
def sentences() -> list[list[str]]:
    return make_ambiguous_corpus(2500, 500, seed=3).sentences


@pytest.fixture
def path(sentences: list[list[str]], tmp_path: Path) -> Path:
    file = tmp_path / "made.up.txt"
    file.write_text("".join(" ".join(sentence) + "\n" for sentence in sentences), encoding="utf-8")
    return file


def _run(path: Path, *more: str) -> list[dict[str, Any]]:
    from benchmarks.senses.__main__ import main
    from benchmarks.senses.runner import read_records

    out = path.with_name("out.jsonl")
    options = ["--counts", "20", "400", "--max-cosine", "1", "--pairs", str(PAIRS), "--no-eval", "--threads", "1"]
    where = ["--corpus", str(path), "--cache", str(path.parent / "cache"), "--out", str(out)]
    assert main(["run", *where, *options, "--set", "vector_size=12", "epochs=2", *more]) == 0
    return read_records(out)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--jobs", "0"], "--jobs: must be a whole number of at least 1; got '0'"),
        (["--tokens", "-5"], "--tokens: must be at least 1; got '-5'"),
        (["--tokens", "inf"], "--tokens: must be at least 1; got 'inf'"),
        (["--out", "."], "--out: . is a folder; name a file for the results"),
    ],
)
def test_options_are_checked_first(path: Path, capsys: Any, options: list[str], message: str) -> None:
    with pytest.raises(SystemExit) as caught:
        _run(path, *options)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_merging_ids_is_merging_words(path: Path, sentences: list[list[str]], tmp_path: Path) -> None:
    from benchmarks.senses.draws import DrawRules, make_draw
    from benchmarks.senses.texts import Text, merge

    text = Text.load(path, tmp_path)
    again = Text.load(path, tmp_path)
    np.testing.assert_array_equal(text.tokens, again.tokens)
    draw = make_draw(text, 11, DrawRules(PAIRS, (20, 400), max_cosine=1), tmp_path)
    assert len(draw.pairs) == PAIRS
    assert draw.to_json()["set"] == "confirm"
    merged = merge(text, draw.pairs)
    expected = pseudo_words(sentences, draw.pairs)
    assert merged.sentences(range(len(sentences))) == expected.sentences

    # A model from the ids is the model that a user gets from the sentences, and so are its scores.
    options: dict[str, Any] = {"vector_size": 12, "epochs": 2, "senses": 2, "workers": 1}
    from_words = MUSE(expected.sentences, **options)
    from_ids = MUSE(**options)
    from_ids.build_vocab_from_freq(merged.text.by_word())
    encoded = merged.encode(from_ids.vocabulary)
    train_model(from_ids, encoded.corpus, epochs=2)
    assert from_ids.vocabulary.words == from_words.vocabulary.words
    np.testing.assert_array_equal(from_ids.arrays.sense_vectors, from_words.arrays.sense_vectors)

    from benchmarks.senses.measure import pseudo_words as score

    task = PseudoWordTask.from_corpus(expected, reliability=False)
    assert score(from_ids, merged, encoded).summary == task(from_words).summary


def test_neighbours_are_those_of_the_merged_words(path: Path, tmp_path: Path) -> None:
    from benchmarks.senses.draws import DrawRules, make_draw
    from benchmarks.senses.measure import neighbours
    from benchmarks.senses.texts import Text, merge, plain_vectors

    text = Text.load(path, tmp_path)
    merged = merge(text, make_draw(text, 1, DrawRules(PAIRS, (20, 400), max_cosine=1), tmp_path).pairs)
    model = MUSE(vector_size=100, senses=dict.fromkeys(merged.names, 2), epochs=1, recipe=Paper(), workers=1)
    model.build_vocab_from_freq(merged.text.by_word())
    train_model(model, merged.encode(model.vocabulary).corpus, epochs=1)
    plain = plain_vectors(text, 5, tmp_path)
    for word, row in plain.ids.items():  # what a perfect model would hold
        if word in model:
            model.arrays.sense_vectors[model.arrays.sense_offset[model.vocabulary.index(word)]] = plain.vectors[row]
    for name in merged.names:
        rows = [plain.ids[part] for part in name.split("_")]
        model.arrays.sense_vectors[model.arrays.sense_offset[model.vocabulary.index(name)] :][:2] = plain.vectors[rows]
    chosen = merged.member.astype(np.int32)
    assert neighbours(model, merged, chosen, plain) == 1.0
    assert neighbours(model, merged, 1 - chosen, plain) < 0.5  # each word's vector at the other one's uses


def test_thinned_occurrences_are_some_of_all(path: Path, tmp_path: Path) -> None:
    from benchmarks.senses.draws import DrawRules, make_draw
    from benchmarks.senses.texts import Text, merge

    text = Text.load(path, tmp_path, limit=10_000)
    assert 9_900 < len(text.tokens) <= 10_000
    pairs = make_draw(text, 1, DrawRules(PAIRS, (5, 200), max_cosine=1), tmp_path).pairs
    every, some = merge(text, pairs), merge(text, pairs, occurrences=15)
    assert set(some.places) < set(every.places)
    sizes = np.minimum(np.bincount(every.pair), 15)
    np.testing.assert_array_equal(np.bincount(some.pair), sizes)


def test_unrelated_pairs_and_their_controls(path: Path, tmp_path: Path) -> None:
    from benchmarks.senses.draws import DrawRules, make_draw
    from benchmarks.senses.texts import Text

    text = Text.load(path, tmp_path)
    draw = make_draw(text, 1, DrawRules(4, (20, 400), max_cosine=0.3), tmp_path)
    assert draw == make_draw(text, 1, DrawRules(4, (20, 400), max_cosine=0.3), tmp_path)
    assert len(draw.pairs) == 4
    words = [word for pair in draw.pairs for word in pair]
    assert not set(words) & set(draw.controls)
    assert len(set(draw.controls)) == len(draw.controls) > 0
    with pytest.raises(ValueError, match="--max-cosine"):
        make_draw(text, 1, DrawRules(4, (20, 400), max_cosine=-1), tmp_path)


def test_uneven_pairs_are_of_a_rare_and_a_frequent_word(path: Path, tmp_path: Path) -> None:
    from benchmarks.senses.draws import DrawRules, make_draw
    from benchmarks.senses.texts import Text

    text = Text.load(path, tmp_path)
    draw = make_draw(text, 11, DrawRules(PAIRS, (20, 400), max_cosine=1, uneven=True), tmp_path)
    counts = text.by_word()
    assert len(draw.pairs) == PAIRS
    assert draw.set == "confirm, uneven"
    for rare, frequent in draw.pairs:
        assert 20 <= counts[rare] <= 40
        assert 100 <= counts[frequent] <= 300


def test_a_run_resumes_and_is_reported(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid = path.with_name("grid.json")
    rows = [
        {"options": {}, "extras": ["context", "trace"]},
        {"label": "frozen", "options": {"selection_update": "none"}},
    ]
    grid.write_text(json.dumps(rows))
    options = ["--grid", str(grid), "--seeds", "1", "2", "--draws", "1"]
    records = _run(path, *options)
    own = [record for record in records if "settings" in record]
    assert [record["seed"] for record in own] == [1, 1, 2, 2]
    assert {record["draws"] for record in own} == {"dev"}
    first = own[0]
    assert first["text"] == "made"
    assert 0 <= first["scores"]["v_measure"] <= 1
    assert 0 <= first["scores"]["neighbours"] <= 1
    assert [row["epoch"] for row in first["trace"]] == [1, 2]
    assert first["trace"][-1]["v_measure"] == pytest.approx(first["scores"]["v_measure"])
    assert sum(first["senses"]["pseudo"]["has"].values()) == PAIRS
    limits = [record for record in records if record.get("label", "").startswith("supervised on context")]
    assert len(limits) == 2

    out = path.with_name("out.jsonl")
    out.write_text(out.read_text() + '{"record": "cell", "key')  # a crash while writing
    capsys.readouterr()
    assert _run(path, *options) == records
    assert "4 of them done before" in capsys.readouterr().out

    from benchmarks.senses.__main__ import main

    assert main(["table", str(out), "--against", "frozen [vector_size=12, epochs=2]"]) == 0
    table = capsys.readouterr().out
    assert "split [vector_size=12, epochs=2]" in table
    assert "±" in table


needs_compiler = pytest.mark.skipif(
    not (os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler for AdaGram"
)


@needs_compiler
def test_adagram_finds_senses(tmp_path: Path) -> None:
    from benchmarks.senses.adagram import AdaGram, AdaGramModel

    from muse import Settings
    from muse.corpus.encoding import encode_corpus

    made = make_ambiguous_corpus(3000, 200, seed=0)
    vocabulary, corpus = encode_corpus(made.sentences, min_count=5)
    settings = Settings(senses=3, vector_size=16, window=4, sample=0.0, epochs=8, workers=1)
    trained = AdaGram(vocabulary, settings, 1.0, tmp_path)
    task = PseudoWordTask(made.sentences, made.occurrences())
    assert task(AdaGramModel(trained))["v_measure"] == 0  # before training the first sense has nearly all of the stick
    trained.train(corpus)
    np.testing.assert_allclose(trained.shares().sum(axis=1), 1)
    model = AdaGramModel(trained)
    assert task(model)["v_measure"] > 0.1
    word = next(iter(made.ambiguous_words))
    alone = model.sense_probabilities(word, [word], 0)  # with no context the posterior is the prior
    np.testing.assert_allclose(alone, model.sense_prior(word), rtol=1e-6)
    sentence = made.sentences[0]
    chosen = next(iter(model.disambiguate_batch([sentence])))
    each = [model.select_sense(token, sentence, at) if token in model else -1 for at, token in enumerate(sentence)]
    assert chosen.tolist() == each


@needs_compiler
def test_peers(path: Path) -> None:
    pytest.importorskip("gensim")
    records = _run(path, "--grid", "peers", "--seeds", "1", "--draws", "1")
    scores = {record["label"].split(" [")[0]: record["scores"] for record in records if record["record"] == "cell"}
    assert scores["majority"]["v_measure"] == 0
    assert scores["supervised on windows of gensim word2vec"]["v_measure"] > 0.2
    assert scores["MSSG-style, K=2"]["effective_senses"] > 1
    assert scores["AdaGram, K=3"]["effective_senses"] >= 1
    timed = next(record for record in records if record.get("aimed_at_seconds"))
    assert timed["epochs"] >= 1


def test_every_grid_is_valid() -> None:
    from benchmarks.senses.grids import GRIDS, load_grids

    for name in GRIDS:
        assert load_grids([name])
    assert len(load_grids(["strategies", "strategies"])) == len(load_grids(["strategies"]))
    with pytest.raises(ValueError, match="neither a grid"):
        load_grids(["nothing"])


def test_a_setting_that_takes_the_time_of_another_brings_it_along(path: Path, capsys: Any) -> None:
    from benchmarks.senses.__main__ import main
    from benchmarks.senses.grids import load_grids, select

    labels = [s.label for s in select(load_grids(["peers"]), ["wall time"])]
    assert labels == ["default", "gensim word2vec, wall time of default"]
    assert [s.label for s in select(load_grids(["peers"]), ["MSSG"])] == ["MSSG-style, K=3", "MSSG-style, K=2"]
    for grid in ("peers", "headline"):
        assert "default" in [s.label for s in select(load_grids([grid]), [])]
    own = path.with_name("grid.json")
    own.write_text(json.dumps([{"label": "timed", "kind": "gensim", "options": {}, "seconds_of": "mine"}]))
    assert main(["run", "--corpus", str(path), "--grid", str(own), "--dry-run"]) == 2
    assert "'timed' is to take as long as 'mine', which is in none of these grids" in capsys.readouterr().err
    with pytest.raises(ValueError, match="no setting is left"):
        select(load_grids(["peers"]), ["nothing"])


def test_shares_of_the_limit_are_of_the_same_draws() -> None:
    from benchmarks.senses.report import share

    def cell(pairs: str, v: float | None) -> dict[str, Any]:
        return {"pairs": pairs, "scores": {} if v is None else {"v_measure": v}}

    limits = [cell("a", 0.8), cell("a", 0.6), cell("b", 0.1)]
    assert share([cell("a", 0.35)], limits) == "50%"
    assert share([cell("a", 0.35), cell("b", 0.05), cell("c", 0.9)], limits) == "50%"
    assert share([cell("c", 0.9), cell("a", None)], limits) == "-"
