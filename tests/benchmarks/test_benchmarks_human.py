"""The study on human sets: a tiny release of each set, and one small run through every step of the command."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from muse.datasets import AmbiguousCorpus, make_ambiguous_corpus

pytest.importorskip("sklearn")
USES = 20  # of each ambiguous word in the tiny sets


@pytest.fixture(scope="module", autouse=True)
def _benchmarks() -> Iterator[None]:
    """`benchmarks` is imported from the root of the repository, as its commands are run from there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).resolve().parents[2]))
        yield


@pytest.fixture(scope="module")
def text() -> AmbiguousCorpus:
    return make_ambiguous_corpus(2500, 300, seed=3)


def _uses(text: AmbiguousCorpus) -> dict[str, list[tuple[list[str], int, int]]]:
    """Of each ambiguous word some sentences, the place where it stands, and its sense there."""
    found: dict[str, list[tuple[list[str], int, int]]] = {word: [] for word in text.ambiguous_words}
    for tokens, senses in zip(text.sentences, text.true_senses, strict=True):
        for place, (word, sense) in enumerate(zip(tokens, senses, strict=True)):
            if sense >= 0 and tokens.count(word) == 1 and len(found[word]) < USES:
                found[word].append((tokens, place, sense))
    return {word: uses for word, uses in found.items() if len(uses) == USES}


def _marked(tokens: list[str], place: int) -> str:
    return " ".join([*tokens[:place], f"<b>{tokens[place]}</b>", *tokens[place + 1 :]])


def _write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture(scope="module")
def data(text: AmbiguousCorpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sets as released, with the true senses of a made-up text as what people said."""
    root, uses = tmp_path_factory.mktemp("data"), _uses(text)
    key = []
    for word, found in uses.items():
        lines = ['<?xml version="1.0"?>', f'<instances lemma="{word}" partOfSpeech="n">']
        for number, (tokens, place, sense) in enumerate(found):
            start = len(" ".join([*tokens[:place], ""]))
            at = f'token="{word}" tokenStart="{start}" tokenEnd="{start + len(word)}"'
            name = f"{word}.n.{number}"
            lines.append(f'<instance id="{name}" lemma="{word}" partOfSpeech="n" {at}>{" ".join(tokens)}</instance>')
            key.append(f"{word}.n {name} {word}%{sense}")
        _write(root / "eval/semeval2013_task13/contexts/xml-format" / f"{word}.n.xml", [*lines, "</instances>"])
    _write(root / "eval/semeval2013_task13/keys/gold/all.key", key)
    pairs = [(word, first, second) for word, found in uses.items() for first, second in combinations(found[:6], 2)]
    for part, chosen in (("dev", pairs[::2]), ("train", pairs), ("test", pairs[1::2])):
        rows = [f"{word}\tN\t{a[1]}-{b[1]}\t{' '.join(a[0])}\t{' '.join(b[0])}" for word, a, b in chosen]
        _write(root / "eval/wic" / part / f"{part}.data.txt", rows)
        _write(root / "eval/wic" / part / f"{part}.gold.txt", ["T" if a[2] == b[2] else "F" for _, a, b in chosen])
    rated = [
        "\t".join([str(i), word, "n", word, "n", _marked(*a[:2]), _marked(*b[:2]), *[str(10.0 * (a[2] == b[2]))] * 11])
        for i, (word, a, b) in enumerate(pairs)
    ]
    _write(root / "eval/scws/ratings.txt", rated)
    names = list(uses)
    similar = [(first, second, i % 11) for i, (first, second) in enumerate(combinations(names, 2))]
    folder = root / "eval/word_similarity"
    _write(folder / "wordsim353/combined.csv", ["Word 1,Word 2,Human (mean)", *(f"{a},{b},{r}" for a, b, r in similar)])
    head = "word1\tword2\tPOS\tSimLex999\tconc(w1)\tconc(w2)\tconcQ\tAssoc(USF)\tSimAssoc333\tSD(SimLex)"
    _write(folder / "SimLex-999/SimLex-999.txt", [head, *(f"{a}\t{b}\tN\t{r}" + "\t1" * 6 for a, b, r in similar)])
    _write(folder / "MEN/MEN_dataset_natural_form_full", [f"{a} {b} {r}" for a, b, r in similar])
    return root


@pytest.fixture
def corpus(text: AmbiguousCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MUSE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MUSE_DATA", "nowhere")  # what --data names counts
    path = tmp_path / "made.up.txt"
    _write(path, [" ".join(sentence) for sentence in text.sentences])
    return path


def _run(corpus: Path, data: Path, *more: str) -> tuple[int, list[dict[str, Any]]]:
    from benchmarks.human.__main__ import main
    from benchmarks.senses.runner import read_records

    out = corpus.with_name("human.jsonl")
    where = ["--corpus", str(corpus), "--data", str(data), "--out", str(out), "--threads", "1", "--dims", "16"]
    return main(["run", *where, *more]), read_records(out)


def test_a_run_measures_every_set_once(corpus: Path, data: Path, capsys: Any) -> None:
    from benchmarks.human.__main__ import main

    wanted = ["--seeds", "2", "--settings", "one-sense", "senses=3"]
    code, records = _run(corpus, data, *wanted)
    assert code == 0
    assert [(record["label"], record["seed"]) for record in records] == [
        ("one-sense", 1), ("senses=3", 1), ("one-sense", 2), ("senses=3", 2)
    ]  # fmt: skip
    one, three = records[:2]
    assert one["scores"]["fuzzy_nmi"] == one["scores"]["v_measure"] == one["one sense a word"]["v_measure"] == 0
    assert one["scores"]["fuzzy_b_cubed"] == pytest.approx(one["one sense a word"]["fuzzy_b_cubed"])
    assert one["scores"]["SCWS MaxSimC"] == pytest.approx(one["scores"]["SCWS globalSim"])
    assert one["senses"]["mean_has"] == 1
    assert three["senses"]["mean_has"] > 1
    assert three["scores"]["graded"] > 20  # the made-up topics are easy to tell
    assert three["scores"]["WiC accuracy"] > three["scores"]["WiC majority"]
    fuzzy = three["scores"]["fuzzy_nmi"] * three["scores"]["fuzzy_b_cubed"]
    assert three["scores"]["graded"] == pytest.approx(100 * fuzzy**0.5, rel=1e-4)
    assert all(record["seconds"] > 0 for record in records)

    code, again = _run(corpus, data, *wanted)  # what is there is not run again
    assert (code, again) == (0, records)
    capsys.readouterr()
    assert main(["report", "--out", str(corpus.with_name("human.jsonl"))]) == 0
    said = capsys.readouterr().out
    rows = {line.split(" | ")[0].lstrip("| "): line for line in said.splitlines() if line.startswith("| ")}
    assert {"one sense for every use", "one-sense", "senses=3"} < rows.keys()
    heads = [name.strip() for name in rows["setting"].strip("| ").split("|")]
    cells = dict(zip(heads, (cell.strip() for cell in rows["senses=3"].strip("| ").split("|")), strict=True))
    gains = [b["scores"]["SCWS AvgSimC"] - a["scores"]["SCWS globalSim"] for a, b in (records[:2], records[2:])]
    assert float(cells["AvgSimC − one vector"].split(" ")[0]) == pytest.approx(sum(gains) / 2, abs=6e-4)
    ratios = [b["seconds"] / a["seconds"] for a, b in (records[:2], records[2:])]
    assert float(cells["time / one-sense"].split(" ")[0]) == pytest.approx(sum(ratios) / 2, abs=6e-3)
    assert "benchmarks.senses" in said


def test_a_cut_of_trees_is_what_training_gives(corpus: Path, data: Path) -> None:
    _, (alone,) = _run(corpus, data, "--seeds", "1", "--settings", "senses=3")
    corpus.with_name("human.jsonl").unlink()
    _, (default, cut) = _run(corpus, data, "--seeds", "1", "--settings", "default", "senses=3")
    assert ("cut of" in default, cut["cut of"], cut["seconds"]) == (False, "default", None)
    assert cut["scores"] == pytest.approx(
        alone["scores"], abs=0.01
    )  # words are means of senses, which are counted once
    assert cut["senses"]["mean_has"] == alone["senses"]["mean_has"]


def test_models_with_vectors_of_contexts_are_measured_by_them(
    corpus: Path, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    from benchmarks.human.__main__ import main

    from muse import MUSE

    def usage_vector(self: MUSE, word: str, context: list[str], position: int | None = None) -> Any:
        return self.wv[[token for token in context if token in self and token != word]].mean(axis=0)

    _run(corpus, data, "--seeds", "1", "--settings", "one-sense", "split")
    monkeypatch.setattr(MUSE, "usage_vector", usage_vector, raising=False)
    monkeypatch.setattr(MUSE, "usage_vector_batch", None, raising=False)
    monkeypatch.setattr(MUSE, "has_usage_vectors", True, raising=False)
    monkeypatch.setattr(MUSE, "sense_temperature", 0.15, raising=False)
    corpus.with_name("human.jsonl").rename(corpus.with_name("before.jsonl"))
    code, (one, three) = _run(corpus, data, "--seeds", "1", "--settings", "one-sense", "senses=3")
    assert code == 0
    scores = three["scores"]
    assert min(scores["WiC usage, dev"], scores["WiC usage, train"]) > scores["WiC majority"]
    assert -1 <= scores["SCWS contexts"] <= 1
    assert {name for name in one["scores"] if "usage" in name and "known" not in name} == {
        "WiC usage, dev",
        "WiC usage, train",
    }
    assert main(["report", "--out", str(corpus.with_name("human.jsonl"))]) == 0
    with_them = capsys.readouterr().out
    assert main(["report", "--out", str(corpus.with_name("before.jsonl"))]) == 0
    without = capsys.readouterr().out
    for heading in ("WiC by usage", "threshold from train", "| with contexts |", "with contexts − one vector"):
        assert heading in with_them
        assert heading not in without


def test_other_data_or_code_is_another_cell(corpus: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.human import cells
    from benchmarks.human.settings import SETTINGS

    monkeypatch.setenv("MUSE_DATA", str(data))
    found = cells.Data()

    def cell(name: str = "senses=3", seed: int = 1, digest: str = "a") -> cells.Cell:
        return cells.Cell(name, corpus, "made", digest, 0, 16, seed, 1, found)

    keys = [cell(name).key for name in SETTINGS] + [cell(seed=2).key, cell(digest="b").key]
    assert len(set(keys)) == len(keys)
    before = cell().key
    monkeypatch.setattr(cells, "code_version", lambda *more: "other code")
    assert cell().key != before
    monkeypatch.undo()
    monkeypatch.setenv("MUSE_DATA", str(data))
    assert cell().key == before
    changed = data / "eval/word_similarity/MEN/MEN_dataset_natural_form_full"
    whole = changed.read_text(encoding="utf-8")
    try:
        changed.write_text(whole + "more words 1\n", encoding="utf-8")
        assert cells.Data().digest != found.digest
    finally:
        changed.write_text(whole, encoding="utf-8")


def test_what_fails_is_said(corpus: Path, data: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.human import cells
    from benchmarks.human.__main__ import main

    empty = corpus.with_name("none.jsonl")
    assert main(["report", "--out", str(empty)]) == 2
    assert "holds no cells" in capsys.readouterr().err
    assert main(["run", "--corpus", str(corpus), "--data", str(corpus.parent), "--out", str(empty)]) == 2
    assert "no evaluation data in" in capsys.readouterr().err

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("no room left")

    monkeypatch.setattr(cells, "MUSE", broken)
    code, records = _run(corpus, data, "--seeds", "1", "--settings", "one-sense")
    assert (code, records) == (1, [])
    assert "no room left" in capsys.readouterr().err


def test_dry_run_trains_nothing(corpus: Path, data: Path, capsys: Any) -> None:
    from benchmarks.human.settings import SETTINGS

    code, records = _run(corpus, data, "--dry-run", "--seeds", "1")
    assert (code, records) == (0, [])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ", 1)[1].split(" | ")[0] for line in lines] == list(SETTINGS)
