"""Lines of a concordance: their senses, order, and forms."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from muse import MUSE, Paper, Split, UnknownSenseError, UnknownWordError
from muse.concordance import Concordance, index_corpus
from muse.datasets import make_ambiguous_corpus
from muse.readers.keys import read_key
from toy import WORDS, toy_model

RNG = np.random.default_rng(5)
TOKENS = ["head", "army", "the", "bank", "c#", "xyzzy", "unknown", "🎉"]
TOYS = [RNG.choice(TOKENS, size=n).tolist() for n in RNG.integers(1, 30, 80)]
TOY = toy_model()
CORPUS = make_ambiguous_corpus(500, 200, seed=0).sentences


@pytest.fixture(scope="module")
def trees():
    return MUSE(CORPUS, senses=3, vector_size=16, epochs=2, min_count=2, workers=1)


def as_disambiguated(model, sentences, lines):
    """Whether each line says what `disambiguate` does of its place."""
    told = list(model.disambiguate_batch(sentences, probabilities=True, margin=1e-5))
    for line in lines:
        senses, probabilities, equal = told[line.sentence]
        assert sentences[line.sentence][line.token] == line.keyword
        assert line.sense == f"{line.keyword}#{senses[line.token]}" or equal[line.token]  # but for rounding
        assert line.probability == pytest.approx(probabilities[line.token], abs=1e-5)
        assert line.position == (line.sentence, line.token)
    return True


# -- senses ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"selection_window": 1}, {"context": "mean", "temperature": 0.3}])
def test_each_use_has_the_sense_that_disambiguate_selects(settings):
    model = toy_model(settings)
    for word in ("head", "bank", "the"):
        lines = model.concordance(word, TOYS)
        assert len(lines) == lines.n_uses == sum(sentence.count(word) for sentence in TOYS)
        assert as_disambiguated(model, TOYS, lines)


@pytest.mark.parametrize("recipe", [Split(), Paper()])
def test_the_same_with_other_recipes(recipe):
    model = MUSE(CORPUS, recipe=recipe, senses=2, vector_size=16, epochs=1, workers=1)
    lines = model.concordance("bank", CORPUS)
    assert len(lines) > 10
    assert as_disambiguated(model, CORPUS, lines)


def test_the_same_with_trees_before_and_after_they_are_cut_anew(trees, tmp_path):
    index = index_corpus(CORPUS, tmp_path / "index")
    assert as_disambiguated(trees, CORPUS, trees.concordance("bank", index))
    trees.recut(5)
    lines = trees.concordance("bank", index)
    assert as_disambiguated(trees, CORPUS, lines)
    assert list(lines.counts) == [f"bank#{number}" for number in trees.sense_numbers("bank")]
    key = max(lines.counts, key=lines.counts.__getitem__)
    assert {line.sense for line in trees.concordance(key, index)} == {key}


def test_contexts_reach_over_any_number_of_unknown_words(trees):
    """The selector sees the known words of the sentence, however far they are."""
    long = []
    for sentence in [sentence for sentence in CORPUS if "bank" in sentence][:6]:
        for token in sentence:
            long += [token, *["?"] * int(RNG.integers(0, 300))]
    sentences = [long, ["?"] * 5000 + ["bank"], ["bank", *["?"] * 5000, "money"]]
    for model in (trees, MUSE(CORPUS, recipe=Split(), senses=2, vector_size=16, epochs=1, workers=1)):
        lines = model.concordance("bank", sentences)
        assert len(lines) > 3
        assert as_disambiguated(model, sentences, lines)


def test_answers_do_not_depend_on_the_number_of_threads():
    tokens = RNG.integers(0, len(WORDS), 6000)
    offsets, positions = np.arange(0, 6001, 6), RNG.integers(-1, 6, 1000)
    words = np.where(positions < 0, 0, tokens.reshape(-1, 6)[np.arange(1000), positions])
    asked = [part.tolist() for part in (tokens, offsets, positions, words)]
    one, three = (TOY.selector._selector.probabilities(*asked, workers) for workers in (1, 3))
    assert one.tolist() == three.tolist()


def test_one_sense():
    lines, of_word = TOY.concordance("head#2", TOYS), TOY.concordance("head", TOYS)
    assert list(lines) == [line for line in of_word if line.sense == "head#2"]
    assert len(lines) == lines.counts["head#2"] == of_word.counts["head#2"]
    assert list(TOY.concordance(("head", 2), TOYS)) == list(lines)
    assert sum(lines.counts.values()) == lines.n_uses == len(of_word)


def test_a_word_with_a_mark_in_it():
    assert {line.sense for line in TOY.concordance("c#", TOYS)} == {"c##0"}
    assert len(TOY.concordance("c##0", TOYS)) == len(TOY.concordance("c#", TOYS)) > 0


def test_words_that_are_not_there():
    with pytest.raises(UnknownWordError):
        TOY.concordance("xyzzy", TOYS)
    with pytest.raises(UnknownWordError):
        TOY.concordance("xyzzy#0", TOYS)
    with pytest.raises(UnknownSenseError, match="there is no sense 3 of 'head', which has senses 0 to 2"):
        TOY.concordance("head#3", TOYS)
    lines = TOY.concordance("new york", TOYS)  # of the model, and not of the corpus
    assert (len(lines), lines.n_uses, list(lines)) == (0, 0, [])
    assert str(lines) == "new york: 0 lines; new york has 0 uses in the corpus"
    for form in (lines.to_vertical, lines.to_key, lines.to_json_lines):
        assert form() == ""
    assert lines.to_csv() == "left,keyword,right,sense,probability,sentence,token\n"
    assert "<table>" in lines._repr_html_()
    for sort in ("left", "right", "random", "position"):
        assert len(lines.sort(sort)) == 0


# -- which lines, in which order ---------------------------------------------------------------------------------------


def test_orders():
    lines = TOY.concordance("head", TOYS, sort="position")
    plain = list(lines)
    assert [line.position for line in plain] == sorted(line.position for line in plain)
    by_sureness = TOY.concordance("head", TOYS)
    assert list(by_sureness) == sorted(plain, key=lambda line: -line.probability)
    known = [sentence.index("head") for sentence in TOYS if "head" in sentence]
    assert known  # the order by words, by hand:
    words = {line: TOYS[line.sentence] for line in plain}
    left = sorted(plain, key=lambda line: [w.casefold() for w in words[line][: line.token][::-1][:5]])
    assert list(lines.sort("left")) == left
    right = sorted(plain, key=lambda line: [w.casefold() for w in words[line][line.token + 1 :][:5]])
    assert list(lines.sort("right")) == right
    drawn = lines.sort("random", seed=4)
    assert sorted(drawn) == sorted(plain)
    assert list(drawn) != plain
    assert list(drawn) == list(TOY.concordance("head", TOYS, sort="random", seed=4))
    assert list(drawn) != list(lines.sort("random", seed=5))
    assert list(drawn.sort("position")) == plain


def test_a_part_of_the_lines():
    lines = TOY.concordance("head", TOYS)
    assert list(TOY.concordance("head", TOYS, limit=3)) == list(lines)[:3] == list(lines[:3])
    assert isinstance(lines[2:5], Concordance)
    assert lines[-1] == list(lines)[-1] == lines[len(lines) - 1]
    assert list(lines[::-2]) == list(lines)[::-2]
    with pytest.raises(IndexError, match="line 1000 of"):
        lines[1000]
    assert len(TOY.concordance("head", TOYS, limit=0)) == 0
    sure = TOY.concordance("head", TOYS, min_probability=0.7)
    assert list(sure) == [line for line in lines if line.probability >= 0.7]
    few = TOY.concordance("head", TOYS, max_uses=5, sort="position")
    assert len(few) == 5
    assert few.n_uses == lines.n_uses
    assert set(few) < set(lines)
    assert list(few) != list(TOY.concordance("head", TOYS, max_uses=5, sort="position", seed=2))


def test_windows():
    for line in TOY.concordance("head", TOYS, window=None):
        assert str(line).split(" ") == TOYS[line.sentence]
    for line in TOY.concordance("head", TOYS, window=2):
        sentence, at = TOYS[line.sentence], line.token
        assert line.left.split() == sentence[max(0, at - 2) : at]
        assert line.right.split() == sentence[at + 1 : at + 3]
    assert {(line.left, line.right) for line in TOY.concordance("head", TOYS, window=0)} == {("", "")}


@pytest.mark.parametrize(
    "options",
    [{"limit": -1}, {"limit": 1.5}, {"sort": "up"}, {"window": -1}, {"window": "all"}, {"min_probability": 2},
     {"max_uses": 0}, {"seed": -1}],
)  # fmt: skip
def test_options_out_of_range(options):
    with pytest.raises((TypeError, ValueError)) as told:
        TOY.concordance("head", TOYS, **options)
    assert str(told.value).startswith(next(iter(options)))


def test_keys_that_are_none():
    for key in (7, None, ("head", "0"), ["head", 0]):
        with pytest.raises(TypeError):
            TOY.concordance(key, TOYS)


def test_corpora(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(map(" ".join, TOYS)), encoding="utf-8")
    lines = list(TOY.concordance("head", TOYS))
    assert list(TOY.concordance("head", path)) == lines
    assert list(TOY.concordance("head", f"{path}.muse-index")) == lines
    assert list(TOY.concordance("head", index_corpus(path))) == lines
    with pytest.raises(TypeError, match="the corpus must be a path"):
        TOY.concordance("head", 5)


# -- forms -------------------------------------------------------------------------------------------------------------


def test_text_is_aligned_and_fits_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    sentences = [["日本", "the", "head", "é", "cafe\u0301"], ["head"], [*["army"] * 40, "head", *["the"] * 40]]
    printed = str(TOY.concordance("head", sentences, sort="position")).split("\n")
    assert printed[0] == "head: 3 lines; head has 3 uses in the corpus"
    assert [line.index("  head  ") for line in printed[1:]] == [17, 19, 19]  # two letters take two columns each
    assert all(len(line) <= 60 for line in printed)
    many = str(TOY.concordance("head", [["head"]] * 99)).split("\n")
    assert len(many) == 21
    assert many[0] == "head: 99 lines, the first 20; head has 99 uses in the corpus"
    assert repr(TOY.concordance("head", sentences)) == "<Concordance of 'head': 3 lines, 3 uses of 'head'>"


HOSTILE = [["<script>", "\x1b[31m", "head", "a\tb\nc", "&lt;", '",=1+1', "\u202e", ""]]


def test_no_text_of_a_corpus_steers_a_terminal_or_a_page():
    lines = TOY.concordance("head", HOSTILE)
    assert not {"\x1b", "\t", "\u202e"} & set(str(lines))
    assert str(lines).count("\n") == 1
    page = lines._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "&amp;lt;" in page


def test_csv_and_json_lines_are_read_back(tmp_path):
    lines = TOY.concordance("head", [*HOSTILE, *TOYS])
    rows = list(csv.reader(io.StringIO(lines.to_csv(), newline="")))
    assert rows[0] == ["left", "keyword", "right", "sense", "probability", "sentence", "token"]
    assert [row[:4] for row in rows[1:]] == [list(line[:4]) for line in lines]
    found = [json.loads(row) for row in lines.to_json_lines().splitlines()]
    assert [tuple(row.values())[:4] for row in found] == [line[:4] for line in lines]
    assert [(row["sentence"], row["token"]) for row in found] == [line.position for line in lines]
    assert found[0]["probability"] == pytest.approx(lines[0].probability, abs=1e-6)
    for form in ("csv", "json_lines", "vertical", "key"):
        path = tmp_path / form
        write = getattr(lines, f"to_{form}")
        assert write(path) is None
        assert path.read_bytes().decode() == write()
        with pytest.raises(ValueError, match=r"does not end in \.gz"):
            write(tmp_path / "x.gz")
        with pytest.raises(TypeError):
            write(5)


def test_vertical_file():
    lines = TOY.concordance("head", [["army"], ["head", "the", "head"], *HOSTILE], sort="sureness")
    rows = [row.split("\t") for row in lines.to_vertical().splitlines()]
    assert [row for row in rows if len(row) == 1] == [['<s n="1">'], ["</s>"], ['<s n="2">'], ["</s>"]]
    tokens = [row for row in rows if len(row) == 3]
    assert [row[0] for row in tokens[:3]] == ["head", "the", "head"]
    assert tokens[1] == ["the", "_", "_"]
    told = {line.position: line for line in lines}
    assert tokens[2][1:] == [told[1, 2].sense, f"{told[1, 2].probability:.6g}"]
    assert [row[0] for row in tokens[3:]] == [
        "&lt;script&gt;",
        "\x1b[31m",
        "head",
        "a b c",
        "&amp;lt;",
        '",=1+1',
        "\u202e",
        "_",
    ]
    assert len(TOY.concordance("head", TOYS)[:1].to_vertical().split("<s ")) == 2


def test_key_of_semeval(tmp_path):
    lines = TOY.concordance("head", TOYS, sort="random")
    lines.to_key(tmp_path / "key")
    key = read_key(tmp_path / "key")
    assert list(key) == ["head"]
    assert list(key["head"]) == [f"head.{line.sentence}.{line.token}" for line in lines]
    for line in lines:
        weights = key["head"][f"head.{line.sentence}.{line.token}"]
        assert max(weights, key=weights.__getitem__) == line.sense
        assert weights[line.sense] == pytest.approx(line.probability, abs=1e-5)
        assert sum(weights.values()) == pytest.approx(1, abs=0.03)
    with pytest.raises(ValueError, match="must not contain spaces"):
        TOY.concordance("new york", [["new york"]]).to_key()


def test_pandas():
    pandas = pytest.importorskip("pandas")
    lines = TOY.concordance("head", TOYS, limit=4)
    frame = lines.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.columns.tolist() == ["left", "keyword", "right", "sense", "probability", "sentence", "token"]
    assert frame["sense"].tolist() == [line.sense for line in lines]


def test_a_sense_is_asked_for_by_its_name():
    model = toy_model()
    model.name_sense("head#2", "chief")
    assert list(model.concordance("head:chief", TOYS)) == list(model.concordance("head#2", TOYS))
    with pytest.raises(UnknownWordError, match="head:chef"):
        model.concordance("head:chef", TOYS)
