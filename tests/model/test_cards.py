"""Cards of senses: labels, example uses from a text, and how they look."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from muse import MUSE, Paper, UnknownWordError
from muse.cli.main import main
from muse.corpus.encoding import LineSentence
from muse.datasets import make_ambiguous_corpus
from muse.selector.uses import Uses, find_uses
from toy import WORDS, toy_model


@pytest.fixture(scope="module")
def corpus():
    return make_ambiguous_corpus(6000, 400, seed=0)


@pytest.fixture(scope="module")
def model(corpus) -> MUSE:
    return MUSE(corpus.sentences, senses=2, vector_size=32, workers=1)


@pytest.fixture(scope="module")
def text(corpus, tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("\n".join(map(" ".join, corpus.sentences)) + "\n", encoding="utf-8")
    return path


def test_examples_are_sure_uses_of_their_sense(model, corpus):
    card = model.describe("bank", corpus=corpus.sentences, n_examples=4)
    assert len(card.senses) == 2
    for sense in card.senses:
        number = int(sense.key.rpartition("#")[2])
        assert 1 <= len(sense.examples) <= 4
        assert len({str(example) for example in sense.examples}) == len(sense.examples)
        margins = [example.margin for example in sense.examples]
        assert margins == sorted(margins, reverse=True)
        for example in sense.examples:
            before = example.before.split()
            tokens = [*before, example.word, *example.after.split()]
            assert tokens[len(before)] == "bank"
            assert any(" ".join(tokens) in " ".join(sentence) for sentence in corpus.sentences)
        first = sense.examples[0]
        assert model.select_sense("bank", str(first), position=len(first.before.split())) == number


def test_examples_show_the_true_senses(model, corpus):
    """The contexts of bank are of two topics, which the generator knows."""
    uses = find_uses(model.snapshot, ["bank"], corpus.sentences)["bank"]
    truth = {
        " ".join(s): t[s.index("bank")]
        for s, t in zip(corpus.sentences, corpus.true_senses, strict=True)
        if "bank" in s
    }
    found = []
    for sense in (0, 1):
        true = [value for use in uses.examples(sense, 5) for text, value in truth.items() if str(use) in text]
        found.append(set(true))
    assert found in ([{0}, {1}], [{1}, {0}])


def test_labels_tell_senses_apart(model, corpus):
    for given in (None, corpus.sentences):
        labels = [sense.label.split(", ") for sense in model.describe("bank", corpus=given).senses]
        assert all(1 <= len(label) <= 3 for label in labels)
        assert not set(labels[0]) & set(labels[1])
        assert all(word in model and word != "bank" for label in labels for word in label)


@pytest.mark.parametrize("form", ["path", "str", "list", "lines", "gz", "generator"])
def test_a_corpus_may_be_files_or_sentences(form, model, corpus, text, tmp_path):
    if form == "gz":
        (tmp_path / "text.gz").write_bytes(gzip.compress(text.read_bytes()))
    given = {
        "path": text, "str": str(text), "list": [text], "lines": LineSentence(text), "gz": tmp_path / "text.gz",
        "generator": (sentence for sentence in corpus.sentences),
    }[form]  # fmt: skip
    assert model.describe("bank", corpus=given) == model.describe("bank", corpus=corpus.sentences)


def test_how_many_uses_a_text_has(model, corpus):
    uses = find_uses(model.snapshot, ["bank", "rock"], corpus.sentences)
    for word in ("bank", "rock"):
        assert sum(uses[word].counts) == sum(sentence.count(word) for sentence in corpus.sentences)
        rows = model.disambiguate_batch(corpus.sentences)
        chosen = [
            int(row[i]) for s, row in zip(corpus.sentences, rows, strict=True) for i, w in enumerate(s) if w == word
        ]
        assert uses[word].counts == np.bincount(chosen, minlength=2).tolist()


def test_evidence_is_what_stands_near_one_sense_alone():
    uses = Uses("bank", 3)
    for _ in range(10):
        uses.add("the bank lends money".split(), 1, 0, 0.9)
        uses.add("the bank of the river".split(), 1, 1, 0.9)
        uses.add("the bank holds gold".split(), 1, 0, 0.1)  # not sure: no evidence
    assert set(uses.evidence(0, 9)) == {"lends", "money"}
    assert set(uses.evidence(1, 9)) == {"of", "river"}
    assert uses.evidence(2, 9) == []
    assert uses.counts == [20, 10, 0]
    assert len(uses.examples(0, 9)) == 2
    assert str(uses.examples(1, 1)[0]) == "the bank of the river"


def test_the_card_in_print_and_in_a_notebook(model, corpus):
    card = model.describe("bank", topn=3, corpus=corpus.sentences, n_examples=2)
    printed = str(card)
    assert printed.count("\n  as in ") == 4
    assert all(f"{sense.key}  {sense.share:.0%}  {sense.label}\n" in printed for sense in card.senses)
    html = card._repr_html_()
    assert html.count("<b>bank</b>") == 4
    assert "<th>as in</th>" in html
    plain = model.describe("bank")
    assert "as in" not in str(plain) + plain._repr_html_()


def test_a_card_of_tokens_that_are_no_words():
    toy = toy_model()
    lines = [["line\nbreak", "<b>", "head", "🎉"], ["c#", "line\nbreak", "new york"]]
    card = toy.describe("line\nbreak", corpus=lines)
    assert len(card.senses[0].examples) == 2
    assert all(line.startswith(("'line", "  ")) or not line for line in str(card).splitlines())
    assert "<b> head" not in card._repr_html_()
    for word in WORDS:
        assert str(toy.describe(word, corpus=lines))


def test_a_text_without_the_word_gives_no_examples(model):
    card = model.describe("bank", corpus=[["nothing", "here"]])
    assert all(sense.examples == () and sense.label for sense in card.senses)


def test_what_is_refused(model, tmp_path):
    with pytest.raises(FileNotFoundError):
        model.describe("bank", corpus=tmp_path / "nowhere")
    with pytest.raises(UnknownWordError):
        model.describe("bnak", corpus=[])


def test_the_command_line_shows_uses_and_tags(model, text, tmp_path, capsys):
    saved = str(tmp_path / "model")
    model.save(saved)
    assert main(["senses", saved, "bank", "--corpus", str(text)]) == 0
    printed = capsys.readouterr().out
    assert printed.count("  as in ") == 6
    tagged = tmp_path / "tagged.txt.gz"
    assert main(["tag", saved, str(text), str(tagged), "--margin", "0.1"]) == 0
    assert "tagged    " in capsys.readouterr().out
    model.tag_corpus(text, tmp_path / "again.txt", margin=0.1)
    assert gzip.decompress(tagged.read_bytes()) == (tmp_path / "again.txt").read_bytes()
    assert main(["tag", saved, "nowhere", str(tagged)]) == 1
    assert "no such file" in capsys.readouterr().err


def test_sentences_that_hold_a_word(tmp_path):
    path = tmp_path / "text"
    path.write_bytes("\ufeffbank one\nembankment\n\nthe bänk\nriver  bank\r\n".encode())
    lines = LineSentence(path)
    assert list(lines.holding(["bank"])) == [["bank", "one"], ["river", "bank"]]
    assert list(lines.holding(["bänk", "embankment"])) == [["embankment"], ["the", "bänk"]]
    assert list(lines.holding([])) == []


def test_a_card_of_the_only_word():
    card = MUSE([["bank", "bank"]], min_count=1, senses=2, recipe=Paper(), vector_size=4).describe("bank")
    assert [sense.label for sense in card.senses] == ["", ""]


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"topn": 2.5}, TypeError, "topn must be an integer of at least 1; got 2.5"),
        ({"topn": 0}, ValueError, "topn must be at least 1; got 0"),
        ({"n_examples": -1}, ValueError, "n_examples must be at least 0; got -1"),
        ({"corpus": 5}, TypeError, "must be a path, a list of paths, or an iterable of lists of str; got 5"),
        ({"corpus": [None]}, TypeError, "iterable of lists of str; one of its sentences is None"),
        ({"corpus": [["head", 3]]}, TypeError, "iterable of lists of str; one of its sentences is"),
    ],
)
def test_bad_arguments_of_describe(options, kind, message):
    with pytest.raises(kind, match=message):
        toy_model().describe("head", **options)
