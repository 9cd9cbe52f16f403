"""Published answers and annotated uses: how they are read, and what is measured against them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from muse import MUSE
from muse.change import ChangeTable, evaluate_change, evaluate_uses, read_annotated_uses, read_change
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


def test_annotated_uses(tmp_path: Path) -> None:
    corpus = make_ambiguous_corpus(4000, 300, seed=0, n_senses=2)
    model = MUSE(corpus.sentences, vector_size=16, senses=2, workers=1)
    uses = []
    for sentence, senses in zip(corpus.sentences, corpus.true_senses, strict=True):
        if "bank" in sentence and len(uses) < 80:
            at = sentence.index("bank")
            uses.append((" ".join(sentence), len(" ".join([*sentence[:at], ""])), str(senses[at])))
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


def test_damaged_uses(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="folder 'data'"):
        read_annotated_uses(tmp_path)
    write_dwug(tmp_path, "bank", [("the bank", 40, "0")])
    with pytest.raises(ValueError, match="no place"):
        read_annotated_uses(tmp_path)
    (tmp_path / "data" / "bank" / "uses.csv").write_text("lemma\tcontext\nbank\tx\n", encoding="utf-8")
    with pytest.raises(ValueError, match="lacks the columns"):
        read_annotated_uses(tmp_path)
