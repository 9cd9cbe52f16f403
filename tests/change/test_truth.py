"""Published answers and annotated uses: how they are read, and what is measured against them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from muse import MUSE
from muse.change import (
    ChangeTable,
    evaluate_change,
    evaluate_use_pairs,
    evaluate_uses,
    read_annotated_uses,
    read_change,
    read_use_pairs,
)
from muse.datasets import make_ambiguous_corpus

pytest.importorskip("scipy")
DATA = Path(os.environ.get("MUSE_DATA", "no data")) / "change" / "semeval2020"


@pytest.mark.skipif(not DATA.is_dir(), reason="the answers of SemEval-2020 are not here")
@pytest.mark.parametrize("language", ["english_pos", "english_nopos", "german", "latin", "swedish"])
def test_the_published_files(language: str) -> None:
    binary, graded = (DATA / task / f"{language}.txt" for task in ("task1", "task2"))
    truth = read_change(graded)
    assert set(truth) == set(read_change(binary))
    result = evaluate_change(truth, graded, binary)
    assert result["rho"] == pytest.approx(1)
    assert result["auc"] > 0.7
    assert result["binary words"] == len(truth) > 30
    assert result["low"] <= result["rho"] <= result["high"]


@pytest.mark.skipif(not DATA.is_dir(), reason="the answers of SemEval-2020 are not here")
def test_tags_are_taken_off() -> None:
    truth = read_change(DATA / "task2" / "english_nopos.txt")
    tagged = DATA / "task2" / "english_pos.txt"
    assert evaluate_change(truth, tagged, strip_tags=True)["rho"] == pytest.approx(1)
    with pytest.raises(ValueError, match="only 0 of the 37"):
        evaluate_change(truth, tagged)


def table(scores: dict[str, float], changed: set[str]) -> ChangeTable:
    return ChangeTable("", [{"word": w, "excess": s, "changed": w in changed} for w, s in scores.items()])


def test_accuracy_is_of_what_is_called_changed() -> None:
    truth = {"a": 1, "b": 1, "c": 0, "d": 0, "e": 0, "f": 1}
    found = table({"a": 0.9, "b": 0.2, "c": 0.3, "d": 0.1, "e": 0.0}, {"a", "c"})
    result = evaluate_change(found, binary=truth)
    assert result["accuracy"] == pytest.approx(3 / 5)
    assert result["majority"] == pytest.approx(3 / 5)
    assert result["auc"] == pytest.approx(5 / 6)
    assert any("1 of 6" in note and "f" in note for note in result.notes)
    assert "accuracy" not in evaluate_change(found.scores(), binary=truth)


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "no answers"), ("a 1\n", "line 1"), ("a\t1\nb\tx\n", "line 2"), ("a\t1\na\t2\n", "comes twice"),
     ("a\tnan\n", "line 1"), ("\t1\n", "line 1"), ("a\t1\t2\n", "line 1")],
)  # fmt: skip
def test_damaged_answers(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "graded.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_change(path)


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="published answers"):
        evaluate_change({"a": 1.0})
    with pytest.raises(TypeError, match="mapping of words"):
        evaluate_change([1, 2], {"a": 1.0})  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        evaluate_change({"a": 1.0}, "no such file")


def write_dwug(root: Path, word: str, uses: list[tuple[str, int, str]]) -> None:
    (root / "data" / word).mkdir(parents=True)
    (root / "clusters" / "opt").mkdir(parents=True, exist_ok=True)
    lines = ["lemma\tpos\tdate\tgrouping\tidentifier\tdescription\tcontext\tindexes_target_token"]
    clusters = ["identifier\tcluster"]
    for number, (context, start, cluster) in enumerate(uses):
        lines.append(f'{word}\tnn\t1810\t{number % 2 + 1}\t{word}-{number}\t"\t{context}\t{start}:{start + len(word)}')
        clusters.append(f"{word}-{number}\t{cluster}")
    (root / "data" / word / "uses.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (root / "clusters" / "opt" / f"{word}.csv").write_text("\n".join(clusters) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def model() -> MUSE:
    return MUSE(CORPUS.sentences, vector_size=16, senses=2, workers=1)


CORPUS = make_ambiguous_corpus(4000, 300, seed=0, n_senses=2)


def uses_of(word: str, count: int) -> list[tuple[str, int, str]]:
    """Contexts with a word, where it stands, and its sense."""
    uses = []
    for sentence, senses in zip(CORPUS.sentences, CORPUS.true_senses, strict=True):
        if word in sentence and len(uses) < count:
            at = sentence.index(word)
            uses.append((" ".join(sentence), len(" ".join([*sentence[:at], ""])), str(senses[at])))
    return uses


def test_annotated_uses(tmp_path: Path, model: MUSE) -> None:
    uses = uses_of("bank", 80)
    write_dwug(tmp_path, "bank", [*uses, (uses[0][0], uses[0][1], "-1")])
    write_dwug(tmp_path, "unheard", [("unheard of", 0, "0"), ("as unheard", 3, "0")])
    read = read_annotated_uses(tmp_path)
    assert len(read) == len(uses) + 2
    assert read[0].context[read[0].start : read[0].end] == "bank"
    assert {use.slice for use in read} == {"1", "2"}
    result = evaluate_uses(model, read)
    assert result["ari"] > 0.3
    assert result["words"] == 1
    assert any("unheard" in note for note in result.notes)
    with pytest.raises(ValueError, match="knows none"):
        evaluate_uses(model, read[-2:])


def write_judgments(root: Path, word: str, rows: list[tuple[int, int, str]]) -> None:
    lines = ["identifier1\tidentifier2\tannotator\tjudgment\tcomment\tlemma"]
    lines += [f"{word}-{one}\t{word}-{two}\ta\t{value}\t \t{word}" for one, two, value in rows]
    (root / "data" / word / "judgments.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_judged_pairs_of_uses(tmp_path: Path, model: MUSE) -> None:
    uses = uses_of("bank", 40)
    write_dwug(tmp_path, "bank", uses)
    rows = [(one, two, "4.0" if uses[one][2] == uses[two][2] else "1") for one in range(40) for two in range(one)]
    write_judgments(tmp_path, "bank", [*rows, (1, 0, "2"), (0, 1, "3.0"), (2, 3, "0.0"), (3, 2, "nan"), (39, 39, "-")])
    write_dwug(tmp_path, "unheard", [("unheard of", 0, "0"), ("as unheard", 3, "0")])
    write_judgments(tmp_path, "unheard", [(0, 1, "2")])
    pairs = read_use_pairs(tmp_path)
    assert len(pairs) == len(rows) + 1
    (twice,) = [pair for pair in pairs if pair.annotators == 3]
    assert twice.judgment == pytest.approx((5 + (4 if uses[0][2] == uses[1][2] else 1)) / 3)
    result = evaluate_use_pairs(model, pairs)
    assert result["rho"] > 0.4
    assert result["low"] < result["rho"] < result["high"]
    assert result["rho, of a word"] == pytest.approx(result["rho"])
    assert (result["pairs"], result["words"]) == (len(rows), 1)
    assert any("1 pairs" in note and "unheard" in note for note in result.notes)
    with pytest.raises(ValueError, match="only 0 of 1 pairs"):
        evaluate_use_pairs(model, pairs[-1:])
    with pytest.raises(TypeError, match="usage_similarity"):
        evaluate_use_pairs({"bank": 1}, pairs)


def test_damaged_judgments(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="folder 'data'"):
        read_use_pairs(tmp_path)
    write_dwug(tmp_path, "bank", [("the bank", 4, "0"), ("bank it", 0, "0")])
    with pytest.raises(ValueError, match="no judgments"):
        read_use_pairs(tmp_path)
    for row, message in (
        ((0, 7, "2"), "'bank-7'"),
        ((0, 1, "good"), "'good' is no judgment"),
        ((0, 1, "-3"), "no jud"),
    ):
        write_judgments(tmp_path, "bank", [row])
        with pytest.raises(ValueError, match=message):
            read_use_pairs(tmp_path)
    (tmp_path / "data" / "bank" / "judgments.csv").write_text("identifier1\tjudgment\nx\t1\n")
    with pytest.raises(ValueError, match="lacks the columns"):
        read_use_pairs(tmp_path)


def test_damaged_uses(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="folder 'data'"):
        read_annotated_uses(tmp_path)
    write_dwug(tmp_path, "bank", [("the bank", 40, "0")])
    with pytest.raises(ValueError, match="no place"):
        read_annotated_uses(tmp_path)
    (tmp_path / "data" / "bank" / "uses.csv").write_text("lemma\tcontext\nbank\tx\n", encoding="utf-8")
    with pytest.raises(ValueError, match="lacks the columns"):
        read_annotated_uses(tmp_path)
