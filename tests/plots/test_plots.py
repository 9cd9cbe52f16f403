"""Plots and pages for notebooks: what is drawn, that nothing in a word can spoil it, and what is needed for it."""

from __future__ import annotations

import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from muse import MUSE, Paper, UnknownWordError
from muse.datasets import make_ambiguous_corpus
from toy import WORDS, toy_model

pytestmark = pytest.mark.filterwarnings("ignore:Glyph")  # of a font that lacks it: the drawing is none the worse

CORPUS = make_ambiguous_corpus(2000, 300, seed=0)
HOSTILE = ("<script>alert(1)</script>", "$\\frac{", "a&b", "\"'", "line\nbreak", "_under", "", "x" * 300, "\x07", "🎉")


@pytest.fixture(scope="module")
def model() -> MUSE:
    return MUSE(CORPUS.sentences, vector_size=16, epochs=2, workers=1, min_count=1)


@pytest.fixture
def axes():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    yield axes
    pyplot.close(figure)


def hostile() -> MUSE:
    """Every word of it could harm a drawing or a page, and has two senses."""
    model = toy_model(words=HOSTILE, senses=(2,) * len(HOSTILE))
    for word in HOSTILE:
        model.name_sense((word, 1), "$\\alpha <i>&" + word[:3].strip().replace("\n", "").replace("\x07", ""))
    return model


def texts(axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


# -- senses ------------------------------------------------------------------------------------------------------------


def test_senses_and_their_neighbours(model, axes):
    assert model.plot_senses("bank", topn=5, ax=axes) is axes
    shown = texts(axes)
    keys = [f"bank#{number}" for number in model.sense_numbers("bank")]
    assert shown[: len(keys)] == keys
    near = shown[len(keys) :]
    assert 0 < len(near) <= 5 * len(keys)
    assert len(set(near)) == len(near)
    assert not {"bank", *keys} & set(near)
    assert "bank" in axes.get_title()
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert [entry.partition(",")[0] for entry in legend] == keys
    colours = {text.get_text(): text.get_color() for text in axes.texts}
    assert len({colours[key] for key in keys}) == len(keys)
    assert {colours[word] for word in near} <= {colours[key] for key in keys}


def test_neighbours_have_the_colour_of_the_sense_that_they_are_nearest_to(model, axes):
    model.plot_senses("bank", topn=5, ax=axes)
    from muse.plots.senses import map_of_senses

    found = map_of_senses(model.snapshot, "bank", 5, "pca")
    senses = model.n_senses("bank")
    for key, owner in zip(found.keys[senses:], found.owners[senses:], strict=True):
        cosines = [model.sv.similarity(key, own) for own in found.keys[:senses]]
        assert owner == int(np.argmax(cosines))
    assert found.points.shape == (len(found.keys), 2)
    assert found.points.std(axis=0)[0] >= found.points.std(axis=0)[1] > 0
    np.testing.assert_array_equal(found.points, map_of_senses(model.snapshot, "bank", 5, "pca").points)


def test_labels_lie_beside_each_other(model, axes):
    model.plot_senses("bank", ax=axes)
    boxes = [text.get_window_extent() for text in axes.texts if text.get_visible()]
    areas = [box.width * box.height for box in boxes]
    over = 0.0
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            wide, high = min(one.x1, other.x1) - max(one.x0, other.x0), min(one.y1, other.y1) - max(one.y0, other.y0)
            over += max(0.0, wide) * max(0.0, high)
    assert over < 0.1 * sum(areas)
    frame = axes.get_window_extent()
    assert all(frame.x0 - 2 <= box.x0 and box.x1 <= frame.x1 + 2 for box in boxes)


def test_names_are_drawn(axes):
    model = toy_model()
    model.name_sense("head#1", "chief")
    model.plot_senses("head", ax=axes)
    assert "head#1 chief" in texts(axes)
    assert any("head#1 chief, " in text.get_text() for text in axes.get_legend().get_texts())


@pytest.mark.parametrize("word", WORDS)
def test_words_with_one_sense_and_odd_ones(word, axes):
    toy_model().plot_senses(word, topn=3, ax=axes).figure.canvas.draw()


def test_a_model_of_one_word(axes):
    model = toy_model(words=("alone",), senses=(2,))
    assert texts(model.plot_senses("alone", ax=axes)) == ["alone#0", "alone#1"]


@pytest.mark.parametrize("word", HOSTILE)
def test_no_word_spoils_a_drawing(word, axes, tmp_path):
    model = hostile()
    for plot in (model.plot_senses, model.plot_tree):
        axes.clear()
        plot(word, ax=axes)
        axes.figure.savefig(tmp_path / "x.png")
        assert all(len(text) <= 150 and text.isprintable() for text in texts(axes))
    assert any("$" in text for text in texts(axes))


def test_zero_vectors_are_drawn(axes):
    zeros = np.zeros((13, 7), np.float32)
    toy_model(sense_vectors=zeros).plot_senses("head", ax=axes).figure.canvas.draw()


def test_wrong_arguments(model, axes):
    with pytest.raises(UnknownWordError):
        model.plot_senses("banks", ax=axes)
    with pytest.raises(ValueError, match="method must be one of 'pca', 'umap'; got 'tsne'"):
        model.plot_senses("bank", method="tsne", ax=axes)
    with pytest.raises(ValueError, match="topn must be at least 1"):
        model.plot_senses("bank", topn=0, ax=axes)
    with pytest.raises(UnknownWordError):
        model.plot_tree("banks", ax=axes)


def test_what_is_not_installed_is_named(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ImportError, match="needs umap-learn; install it with: pip install umap-learn"):
        model.plot_senses("bank", method="umap", ax=object())
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for plot in (lambda: model.plot_senses("bank"), model.plot_history, lambda: model.plot_tree("bank")):
        with pytest.raises(ImportError, match=r"needs matplotlib; install it with: pip install 'muse-senses\[plot\]'"):
            plot()


def test_a_figure_of_its_own(model):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    for axes in (model.plot_senses("bank", 3), model.plot_tree("bank"), model.plot_history()):
        assert len(axes.figure.axes) == 1
        pyplot.close(axes.figure)


# -- trees and history -------------------------------------------------------------------------------------------------


def test_trees(model, axes):
    assert model.plot_tree("bank", ax=axes) is axes
    tree = model.sense_tree("bank")
    assert len(axes.texts) == len(tree.nodes)
    assert len(axes.lines) == 3 * len(tree.joins)
    bold = {text.get_text().split()[0].rstrip(":") for text in axes.texts if text.get_fontweight() == "bold"}
    assert bold == {f"bank#{number}" for number in tree.senses}
    colours = {text.get_text().split()[0]: text.get_color() for text in axes.texts}
    assert len({colours[f"bank#{number}"] for number in tree.senses}) == len(tree.senses)
    assert colours[f"bank#{tree.root}"] == "0.35"


def test_a_tree_without_joins(axes):
    toy_model().plot_tree("head", ax=axes)
    assert len(axes.texts) == 3
    axes.clear()
    toy_model().plot_tree("army", 0, ax=axes)
    assert len(axes.texts) == 1


def test_history(model, axes):
    assert model.plot_history(ax=axes) is axes
    words, trees = axes.lines
    assert list(words.get_ydata()) == [row["loss"] for row in model.history[:2]]
    assert list(trees.get_xdata()) == [3]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["words", "making the senses"]


def test_history_of_several_trainings(axes):
    model = MUSE(CORPUS.sentences, vector_size=8, epochs=2, workers=1, recipe=Paper(), senses=2)
    model.train(CORPUS.sentences[:50], epochs=2)
    model.plot_history("reward", ax=axes)
    assert len(axes.lines) == 2  # and one where another call begins
    assert axes.lines[1].get_xdata()[0] == 2.5
    with pytest.raises(ValueError, match=r"measure must be one of .*'loss'.*; got 'accuracy'"):
        model.plot_history("accuracy", ax=axes)
    with pytest.raises(ValueError, match="there is no history to draw yet"):
        MUSE().plot_history(ax=axes)
    model.history = [{"epoch": 1, "stage": "words", "loss": None}, {"epoch": 2, "stage": "words", "loss": 1.0}]
    axes.clear()
    model.plot_history(ax=axes)
    assert list(axes.lines[0].get_xdata()) == [2]


# -- notebooks ---------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Checks that tags are closed in order, and gathers them and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read(html: str) -> Page:
    page = Page()
    page.feed(html)
    page.close()
    assert not page.open
    assert page.seen <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "b", "br", "div", "p", "ul", "li"}
    return page


@pytest.mark.parametrize("word", HOSTILE)
def test_nothing_in_a_word_reaches_the_page(word):
    model = hostile()
    for thing in (model.describe(word), model.describe(word, corpus=[[word, "a&b"]] * 30), model.sense_tree(word)):
        page = read(thing._repr_html_())
        assert (word if word.isprintable() else repr(word)) in page.text
        assert "<i>&" in page.text


def test_pages_of_models(model):
    assert "not trained" in read(MUSE()._repr_html_()).text
    page = read(model._repr_html_())
    assert f"{len(model):,}" in page.text
    assert f"{model.arrays.n_senses:,}" in page.text
    assert "names of senses" not in page.text
    assert "names of senses" in read(hostile()._repr_html_()).text
    named = MUSE()
    named.build_vocab(CORPUS.sentences)
    assert f"{len(named):,}" in read(named._repr_html_()).text


def test_pages_of_trees(model):
    page = read(model.sense_tree("bank")._repr_html_())
    assert all(f"bank#{node.number}" in page.text for node in model.sense_tree("bank", 0).nodes)
