"""What the commands answer: text for people, JSON with keys that stay, and the same as the library says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from command_lines import run

import muse
from muse import MUSE, load_vectors
from toy import toy_model

KEYS = {
    "muse info model.safetensors": {
        "file", "bytes", "format", "words", "senses", "vector_size", "senses_of_ambiguous_words", "has_trees", "tokens",
        "trained", "recipe", "settings", "history",
    },
    "muse info senses.vec": {
        "file", "bytes", "format", "words", "senses", "vector_size", "senses_of_ambiguous_words", "has_selector",
        "has_counts",
    },
    "muse senses model.safetensors bank": {"word", "count", "senses"},
    "muse describe model.safetensors bank --context loan": {"word", "count", "senses", "context"},
    "muse senses model.safetensors bank --tree": {"word", "count", "root", "senses", "nodes"},
    "muse neighbors model.safetensors bank#0": {"of", "neighbours"},
    "muse select model.safetensors bank loan": {
        "word", "sense", "probability", "has_context", "probabilities", "text",
    },
    "muse similarity model.safetensors bank money": {"first", "second", "similarity"},
    "muse tag model.safetensors text.txt out.txt": {"tagged", "tokens", "output"},
    "muse merge model.safetensors out": {"senses_before", "senses", "words_changed", "senses_changed", "saved"},
    "muse convert model.safetensors out.vec": {"words", "senses", "format", "output"},
    "muse evaluate similarity model.safetensors ratings.csv --resamples 0": {
        "task", "score_name", "score", "summary", "table", "settings", "notes", "curves",
    },
    "muse concordance model.safetensors bank#1 text.txt -n 1": {
        "left", "keyword", "right", "sense", "probability", "sentence", "token",
    },
    "muse concordance model.safetensors bank text.txt -o bank.csv": {"lines", "uses", "format", "output"},
    "muse collocates model.safetensors bank#1 text.txt -n 1": {
        "collocate", "near", "total", "score", "share", "word_score",
    },
    "muse name model.safetensors out.safetensors bank#1=river": {"named", "names", "saved"},
    "muse settings senses": {"name", "meaning", "default"},
    "muse train chapters --save out --vector-size 8 --epochs 1 --workers 1": {
        "text", "words", "senses", "vector_size", "epochs", "tokens", "seconds", "reading_seconds", "split_seconds",
        "trees_seconds", "tokens_per_second", "ambiguous_words", "senses_used", "collapsed", "saved",
    },
}  # fmt: skip


@pytest.fixture
def model(made) -> MUSE:
    return MUSE.load(made / "model.safetensors")


def records(done):
    assert done.status == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


@pytest.mark.parametrize("line", KEYS)
def test_keys_of_json_stay(line, workspace):
    (record,) = records(run(f"{line} --json", workspace))
    assert set(record) == KEYS[line]
    text = run(line, workspace)
    assert text.status == 0
    assert text.out
    assert not text.out.startswith("{")


def test_senses_are_those_of_the_model(made, model):
    (record,) = records(run("muse senses model.safetensors bank --context 'a loan' --json -n 3", made))
    card = model.describe("bank", topn=3)
    assert record["count"] == card.count
    assert [sense["sense"] for sense in record["senses"]] == [sense.key for sense in card.senses]
    assert [[tuple(pair) for pair in sense["neighbours"]] for sense in record["senses"]] == [
        list(sense.neighbours) for sense in card.senses
    ]
    assert record["context"]["sense"] == f"bank#{model.select_sense('bank', 'a loan')}"
    assert record["context"]["has_context"]


def test_other_numbers_of_senses_leave_the_file(made):
    before = (made / "model.safetensors").read_bytes()
    (record,) = records(run("muse senses model.safetensors bank --senses 3 --json", made))
    assert len(record["senses"]) == 3
    assert (made / "model.safetensors").read_bytes() == before


def test_neighbours_of_words_senses_and_contexts(made, model):
    near = model.sv.neighbours_of("bank", 4, exclude_same_word=True)
    found = records(run("muse neighbors model.safetensors bank -n 4 --json", made))
    assert [[(item["key"], item["cosine"]) for item in record["neighbours"]] for record in found] == near
    (one,) = records(run("muse neighbours model.safetensors bank --context 'loan money' -n 1 --json", made))
    assert one["of"] == f"bank#{model.select_sense('bank', 'loan money')}"
    (word,) = records(run("muse neighbors senses.vec bank --by-word -n 2 --json", made))
    vectors = load_vectors(made / "senses.vec")
    assert [(item["key"], item["cosine"]) for item in word["neighbours"]] == vectors.wv.most_similar("bank", topn=2)
    siblings = records(run("muse neighbors model.safetensors bank#0 -n 400 --siblings --json", made))[0]
    assert "bank#1" in {item["key"] for item in siblings["neighbours"]}


def test_selection_of_lines_as_they_come(made, model):
    given = "a loan of money\n\nthe boat on the water\nxyzzy\n"
    found = records(run(["select", "model.safetensors", "bank", "-", "--json"], made, given.encode()))
    texts = [line for line in given.splitlines() if line]
    assert [record["text"] for record in found] == texts
    assert [record["sense"] for record in found] == [f"bank#{model.select_sense('bank', text)}" for text in texts]
    np.testing.assert_allclose(
        [list(record["probabilities"].values()) for record in found], model.sense_probabilities("bank", contexts=texts)
    )
    assert [record["has_context"] for record in found] == [True, True, False]
    text = run(["select", "model.safetensors", "bank"], made, given.encode()).out
    assert re.search(r"(?m)^bank#\d +\d+%\? xyzzy$", text)
    finer = records(run("muse select model.safetensors bank loan --senses 3 --json", made))[0]
    assert len(finer["probabilities"]) == 3


def test_similarity_of_words_senses_and_uses(made, model):
    def value(line):
        return records(run(f"muse similarity {line} --json", made))[0]["similarity"]

    assert value("model.safetensors bank money") == model.similarity("bank", "money")
    assert value("model.safetensors bank#1 money#0") == pytest.approx(float(model.sv.similarity("bank#1", "money#0")))
    assert value("model.safetensors bank money --how avg") == model.similarity("bank", "money", how="avg")
    contexts = ("a loan", "the boat")
    assert value("model.safetensors bank bank --uses 'a loan' 'the boat'") == model.usage_similarity("bank", *contexts)
    assert value("model.safetensors bank rock --contexts 'a loan' 'the boat'") == model.similarity(
        "bank", "rock", *contexts
    )
    assert value("senses.vec bank money") == pytest.approx(model.similarity("bank", "money", how="max"), abs=1e-6)
    table = run("muse similarity model.safetensors - < pairs.tsv", made).out
    assert [line.split("\t")[:2] for line in table.splitlines()] == [["bank", "money"], ["rock", "guitar"]]


def test_tags_as_json_are_those_of_sentences(made, model):
    done = run(["tag", "model.safetensors", "-", "-", "--json"], made, b"the bank xyzzy\nrock song\n")
    first, second = records(done)
    keys = [None if token.sense is None else token.key for token in model.disambiguate("the bank xyzzy")]
    assert [token["sense"] for token in first["tokens"]] == keys
    assert [token["token"] for token in second["tokens"]] == ["rock", "song"]


def test_a_margin_leaves_tokens_bare_in_json_too(made):
    text = run(["tag", "model.safetensors", "-", "-", "--margin", "0.9"], made, b"the bank of it\n").out.split()
    (record,) = records(
        run(["tag", "model.safetensors", "-", "-", "--margin", "0.9", "--json"], made, b"the bank of it\n")
    )
    assert [token["sense"] or token["token"] for token in record["tokens"]] == text


def test_changed_models_are_those_of_the_library(workspace, model):
    model.recut(1)
    assert run("muse recut model.safetensors one --senses 1 --map map.jsonl", workspace).status == 0
    again = MUSE.load(workspace / "one")
    np.testing.assert_array_equal(again.arrays.sense_offset, model.arrays.sense_offset)
    np.testing.assert_array_equal(again.arrays.sense_vectors, model.arrays.sense_vectors)
    lines = [json.loads(line) for line in (workspace / "map.jsonl").read_text().splitlines()]
    (root,) = again.sense_numbers("bank").tolist()
    assert {"sense": "bank#1", "now": [f"bank#{root}"]} in lines
    pruned = run("muse prune model.safetensors pruned --min-share 0.4 --json", workspace)
    assert records(pruned)[0]["senses"] == MUSE.load(workspace / "pruned").arrays.n_senses
    assert run("muse merge model.safetensors merged --threshold -1", workspace).status == 0
    assert MUSE.load(workspace / "merged").n_senses("bank") == 1


def test_a_model_goes_through_pipes(workspace):
    done = run("muse recut model.safetensors - --senses 1 | muse prune - - | muse info - --json", workspace)
    (record,) = records(done)
    assert record["senses"] == record["words"]
    trained = run(
        "cat text.txt | muse train - --save - --vector-size 8 --epochs 1 --workers 1 | muse info -", workspace
    )
    assert trained.status == 0
    assert "dimension           8" in trained.out
    assert "training  300 words" in trained.err


def test_conversion_there_and_back(workspace):
    assert run("muse convert senses.vec back.bin -O binary=true -I limit=50", workspace).status == 0
    assert load_vectors(workspace / "back.bin").table.n_senses == 50
    done = run("cat senses.vec | muse convert - - --to glove | head -n 1", workspace)
    assert done.out.split()[1:] == (workspace / "senses.vec").read_text().splitlines()[1].split()[1:]
    formats = records(run("muse convert --formats --json", workspace))
    assert {"word2vec", "projector", "parquet", "adagram"} <= {record["format"] for record in formats}


@pytest.mark.parametrize("recipe", ["split", "paper"])
def test_models_without_trees(workspace, recipe):
    line = f"muse train text.txt --save m --recipe {recipe} --vector-size 8 --epochs 3 --workers 1 --senses 2"
    assert run(line, workspace).status == 0
    assert run("muse senses m bank --tree", workspace).status == 0
    done = run("muse recut m out --senses 2", workspace)
    assert done.status == 1
    assert "trees" in done.err
    assert not (workspace / "out").exists()


def test_what_a_terminal_would_obey_is_spelt_out(tmp_path):
    words = ("he\x1b[31mad", "army", "the", "bank", "e", "f", "c", "g", "h")
    toy_model(words=words).save(tmp_path / "m")
    for line in ("senses m e", "neighbors m e -n 9", "senses m e --tree", "select m e army", "info m"):
        assert "\x1b" not in run(line.split(), tmp_path).out
    (record,) = records(run(["senses", "m", words[0], "--json"], tmp_path))
    assert record["word"] == words[0]


@pytest.mark.parametrize("line", ["senses model.safetensors bank", "neighbors model.safetensors bank -n 2"])
def test_a_terminal_gets_colours_and_the_same_words(line, made):
    """In a process, since a terminal is one of the system's."""
    controller, terminal = os.openpty()
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(muse.__file__)), "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    with open(controller, "rb", buffering=0) as read, open(terminal, "wb", buffering=0) as write:
        subprocess.run(
            [sys.executable, "-m", "muse", *line.split()], stdout=write, cwd=made, env=environment, check=True
        )
        shown = read.read(1 << 16).decode()
    assert "\x1b[" in shown
    bare = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    plain = run(line.split(), made).out
    assert sorted(set(re.findall(r"\w+#\d", bare))) == sorted(set(re.findall(r"\w+#\d", plain)))
    assert "\x1b" not in plain


def test_concordances_are_those_of_the_model(workspace, model):
    lines = model.concordance("bank#1", workspace / "text.txt", limit=7, sort="right", window=3, min_probability=0.6)
    options = "--sort right --window 3 --min-probability 0.6 -n 7"
    found = records(run(f"muse concordance model.safetensors bank#1 text.txt {options} --json", workspace))
    assert found == [line._asdict() for line in lines]
    piped = run(f"muse concordance model.safetensors bank#1 - {options} --json < text.txt", workspace)
    assert records(piped) == found
    again = run(f"muse concordance model.safetensors bank#1 text.txt.muse-index {options} --json", workspace)
    assert records(again) == found
    shown = run(f"muse concordance model.safetensors bank#1 text.txt {options}", workspace).out
    assert shown.splitlines()[0] == "bank#1: 7 lines; bank has 246 uses in the corpus"
    assert len(shown.splitlines()) == 8
    every = run("muse concordance model.safetensors bank text.txt -n 0", workspace).out
    assert len(every.splitlines()) == 247


@pytest.mark.parametrize(
    ("ending", "form", "written"),
    [("csv", "csv", "to_csv"), ("jsonl", "jsonl", "to_json_lines"), ("vert", "vertical", "to_vertical"),
     ("key", "key", "to_key")],
)  # fmt: skip
def test_concordances_go_to_files_and_pipes(ending, form, written, workspace, model):
    expected = getattr(model.concordance("bank", workspace / "text.txt", limit=5), written)()
    done = run(f"muse concordance model.safetensors bank text.txt -n 5 -o out.{ending}", workspace)
    assert done.out == f"written   5 lines as {form}: out.{ending}\n"
    assert (workspace / f"out.{ending}").read_text(encoding="utf-8") == expected
    assert run(f"muse concordance model.safetensors bank text.txt -n 5 --to {form}", workspace).out == expected


def test_an_index_is_kept_where_it_is_said(workspace):
    line = "muse concordance model.safetensors bank chapters more.txt.gz --index kept.muse-index -n 2"
    assert run(line, workspace).status == 0
    assert (workspace / "kept.muse-index").exists()
    assert not list((workspace / "chapters").glob("*.muse-index"))


def test_collocates_are_those_of_the_model(workspace, model):
    text = workspace / "text.txt"
    found = records(run("muse collocates model.safetensors bank#1 text.txt --measure t -n 4 --json", workspace))
    assert found == [row._asdict() for row in model.collocates("bank#1", text, measure="t", topn=4)]
    found = records(run("muse collocates model.safetensors bank#0 text.txt --other bank#1 -n 3 --json", workspace))
    assert found == [row._asdict() for row in model.collocate_difference("bank#0", "bank#1", text, topn=3)]
    shown = run("muse collocates model.safetensors bank#1 text.txt -n 3 --weighted --window 2", workspace).out
    rows = model.collocates("bank#1", text, topn=3, weighted=True, window=2)
    assert shown.splitlines()[0] == rows.title
    assert [line.split()[0] for line in shown.splitlines()[2:]] == [row.collocate for row in rows]


def test_names_are_given_listed_and_taken(workspace):
    done = run("muse name model.safetensors one.safetensors --names names.tsv bank#0=a=b", workspace)
    assert done.status == 0
    names = {"bank#0": "a=b", "bank#1": "river", "rock#0": "stone"}
    assert MUSE.load(workspace / "one.safetensors").sense_names() == names
    listed = run("muse name one.safetensors", workspace)
    assert listed.out == "".join(f"{key}\t{name}\n" for key, name in names.items())
    given = run("muse name one.safetensors | muse name model.safetensors two.safetensors --names -", workspace)
    assert given.status == 0
    assert MUSE.load(workspace / "two.safetensors").sense_names() == names
    taken = run("muse name two.safetensors - bank#0= | muse name - --json", workspace)
    assert records(taken) == [{"sense": key, "name": name} for key, name in list(names.items())[1:]]


def test_entries_of_wordnet_are_those_of_the_model(workspace, model):
    links = model.link_wordnet("bank", workspace / "wordnet", pos="n").to_dict()
    found = records(run("muse link model.safetensors bank --lexicon wordnet --pos n --json", workspace))
    assert {record["sense"]: record["link"] for record in found} == links
    assert any(link is not None for link in links.values())
    every = records(run("muse link model.safetensors --lexicon wordnet --json", workspace))
    assert len(every) > 500
    shown = run("muse link model.safetensors spring --lexicon wordnet", workspace).out
    assert [line.split() for line in shown.splitlines()[1:]] == [["spring#0", *"----"], ["spring#1", *"----"]]


def test_names_stand_in_tagged_text(workspace):
    named = MUSE.load(workspace / "named.safetensors")
    named.tag_corpus(workspace / "text.txt", workspace / "expected.txt", names=True)
    expected = (workspace / "expected.txt").read_bytes()
    assert b" bank:river " in expected
    assert run("muse tag named.safetensors text.txt file.txt --names", workspace).status == 0
    assert (workspace / "file.txt").read_bytes() == expected
    assert run("muse tag named.safetensors - - --names < text.txt", workspace).bytes == expected
    tagged = records(run("muse tag named.safetensors - - --names --json < text.txt", workspace))
    shown = {(token["sense"], token["name"]) for row in tagged for token in row["tokens"] if token["token"] == "bank"}
    assert shown == {("bank#0", "money"), ("bank#1", "river")}


def test_senses_are_named_by_their_names(workspace):
    assert run("muse name model.safetensors named.safetensors bank#1=river", workspace).status == 0
    for line in ("muse neighbors named.safetensors {} --json", "muse similarity named.safetensors {} rock --json",
                 "muse concordance named.safetensors {} text.txt --json"):  # fmt: skip
        by_name, by_key = (run(line.format(key), workspace) for key in ("bank:river", "bank#1"))
        assert (by_name.status, by_key.status) == (0, 0), by_name.err
        assert by_name.out.replace("bank:river", "bank#1") == by_key.out
    done = run("muse neighbors named.safetensors bank:rivers", workspace)
    assert (done.status, "bank:rivers" in done.err) == (1, True)
