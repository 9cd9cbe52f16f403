"""Wikipedia dumps and Hugging Face datasets as corpora."""

from __future__ import annotations

import bz2
import gzip
import itertools
from xml.sax.saxutils import escape

import pytest

from muse import MUSE
from muse.cli.main import main
from muse.integrations.datasets import DatasetSentences
from muse.integrations.wikipedia import WikipediaSentences, is_dump, plain_text

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="de"><siteinfo>
<sitename>Wiki</sitename><dbname>dewiki</dbname><base>b</base><generator>g</generator><case>first-letter</case>
<namespaces><namespace key="0" case="first-letter"/><namespace key="1" case="first-letter">Diskussion</namespace>
<namespace key="6" case="first-letter">Datei</namespace><namespace key="14" case="first-letter">Kategorie</namespace>
</namespaces></siteinfo>"""
ARTICLE = """{{Infobox|name=x|text=never seen}}
A '''bank''' of [[money|cash]] and [[river]]s.<ref name="a">No [[note]].</ref><!-- no comment --> 5&nbsp;km, caf\u00e9
[[File:a.jpg|thumb|No [[caption]]]] [[Datei:b.jpg|mini|No Bild]]
== No heading ==
* First item
* ''Second'' [http://example.org item]
{| class="wikitable"
| No cell
|}
<math>no^2</math> [[Kategorie:No]] [[Category:No]]
"""
SENTENCES = [
    ["a", "bank", "of", "cash", "and", "rivers", "5", "km", "caf\u00e9"], ["first", "item"], ["second", "item"],
]  # fmt: skip


def page(title, text, *, ns=0, model="wikitext", redirect=False, older=""):
    extra = '<redirect title="Bank"/>' if redirect else ""
    writer = "<contributor><username>u</username><id>1</id></contributor>"
    start = f"<revision><id>2</id><timestamp>2020-01-01T00:00:00Z</timestamp>{writer}"
    revision = f"{start}<model>{model}</model><format>f</format><text>%s</text></revision>"
    old = revision % escape(older) if older else ""
    return f"<page><title>{title}</title><ns>{ns}</ns><id>1</id>{extra}{old}{revision % escape(text)}</page>"


def dump_text(*pages):
    return (HEAD + "".join(pages) + "</mediawiki>").encode()


@pytest.fixture
def dump(tmp_path):
    pytest.importorskip("mwxml")
    pytest.importorskip("mwparserfromhell")
    path = tmp_path / "wiki.xml.bz2"
    pages = [
        page("Bank", ARTICLE, older="no old text"), page("Talk", "no talk", ns=1),
        page("Redirect", "#REDIRECT [[Bank]]", redirect=True), page("Data", "{no: json}", model="json"),
        page("Empty", ""), page("Other", "The last bank."),
    ]  # fmt: skip
    content = dump_text(*pages)
    path.write_bytes(bz2.compress(content[:900]) + bz2.compress(content[900:]))  # of several streams, as they come
    return path


def test_articles_become_paragraphs(dump):
    sentences = WikipediaSentences(dump)
    assert list(sentences) == [*SENTENCES, ["the", "last", "bank"]]
    assert list(sentences) == list(sentences)  # again and again
    assert repr(sentences) == f"WikipediaSentences({str(dump)!r})"


def test_options_of_a_dump(dump):
    assert list(WikipediaSentences(dump, min_tokens=3)) == [SENTENCES[0], ["the", "last", "bank"]]
    assert list(WikipediaSentences(dump, namespaces=[1])) == [["no", "talk"]]
    assert list(WikipediaSentences(dump, tokenizer=str.split, min_tokens=3))[-1] == ["The", "last", "bank."]
    with pytest.raises(ValueError, match="workers must be at least 1"):
        WikipediaSentences(dump, workers=0)


def test_several_workers_give_the_same(tmp_path):
    pytest.importorskip("mwxml")
    pages = [page(f"P{i}", f"number {i} of '''many'''\n\nand more") for i in range(40)]
    (tmp_path / "w.xml").write_bytes(dump_text(*pages))
    one, two = (list(WikipediaSentences(tmp_path / "w.xml", workers=workers)) for workers in (1, 2))
    assert one == two
    assert one[0] == ["number", "0", "of", "many"]


def test_a_model_from_a_dump(tmp_path):
    pytest.importorskip("mwxml")
    path = tmp_path / "wiki.xml.gz"
    path.write_bytes(gzip.compress(dump_text(*[page("Bank", ARTICLE)] * 5)))
    model = MUSE(WikipediaSentences(path), vector_size=4, epochs=1, min_count=5)
    assert model.corpus_count == 15
    assert "bank" in model
    assert "infobox" not in model
    assert main(["train", str(path), "--save", str(tmp_path / "m"), "--vector-size", "4", "--epochs", "1"]) == 0
    assert len(MUSE.load(tmp_path / "m")) == len(model)


@pytest.mark.parametrize("content", [b"", b"hello", b"<html></html>", dump_text(page("A", "b"))[:-40]])
def test_damaged_dumps(tmp_path, content):
    pytest.importorskip("mwxml")
    path = tmp_path / "w.xml"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"w\.xml: the dump is damaged, cut off, or no dump of MediaWiki"):
        list(WikipediaSentences(path))


def test_damaged_compression(tmp_path):
    pytest.importorskip("mwxml")
    (tmp_path / "w.xml.bz2").write_bytes(bz2.compress(dump_text(page("A", "b" * 999)))[:-20])
    with pytest.raises(ValueError, match="the dump is damaged, cut off"):
        list(WikipediaSentences(tmp_path / "w.xml.bz2"))
    (tmp_path / "v.xml.bz2").write_bytes(b"no bzip2")
    with pytest.raises(ValueError, match="the compressed data is damaged"):
        list(WikipediaSentences(tmp_path / "v.xml.bz2"))
    with pytest.raises(FileNotFoundError, match="no such file"):
        WikipediaSentences(tmp_path / "none.xml")


def test_names_of_dumps():
    assert all(map(is_dump, ("a.xml", "a.xml.bz2", "a.xml.gz", "a.xml.xz")))
    assert not any(map(is_dump, ("a.txt", "a.bz2", "xml", "a.xml.txt")))


def test_plain_text():
    pytest.importorskip("mwparserfromhell")
    assert plain_text("a <b>[[b]]</b>c<br>d [http://e f] [http://g]").splitlines() == ["a bc", "d f "]
    assert plain_text("") == ""


def test_missing_parsers_are_named(tmp_path, monkeypatch):
    (tmp_path / "w.xml").touch()
    monkeypatch.setitem(__import__("sys").modules, "mwxml", None)
    with pytest.raises(ImportError, match="a Wikipedia dump needs mwxml; install it with: pip install"):
        WikipediaSentences(tmp_path / "w.xml")


# -- rows --------------------------------------------------------------------------------------------------------------


def test_rows_of_text_and_of_tokens():
    rows = [{"text": "A b.\n\nC-d"}, {"text": None}, {"text": ""}, {"text": ["E", "f g"]}, {"text": []}]
    assert list(DatasetSentences(rows)) == [["a", "b"], ["c", "d"], ["E", "f g"]]
    assert next(iter(DatasetSentences(rows, tokenizer=str.split))) == ["A", "b."]


def test_rows_that_are_none():
    with pytest.raises(TypeError, match="this is a dict of splits, 'train', 'test'; give one of them"):
        DatasetSentences({"train": [], "test": []})
    with pytest.raises(TypeError, match="dataset must be an iterable of rows; got str"):
        DatasetSentences("imdb")
    with pytest.raises(TypeError, match="row 1 of the dataset is a str, not a mapping"):
        list(DatasetSentences([{"text": "a"}, "b"]))
    with pytest.raises(KeyError, match="row 0 of the dataset has no column 'text'; it has label, content"):
        list(DatasetSentences([{"label": 1, "content": "a"}]))
    with pytest.raises(TypeError, match="row 0 of the dataset holds a int in 'text'"):
        list(DatasetSentences([{"text": 3}]))


def test_datasets_and_streams_of_hugging_face(tmp_path):
    datasets = pytest.importorskip("datasets")
    texts = [f"the bank number {i} of the river" for i in range(30)]
    stored = datasets.Dataset.from_dict({"text": texts, "label": list(range(30))})
    expected = [text.split() for text in texts]
    assert list(DatasetSentences(stored)) == expected
    stream = stored.to_iterable_dataset(num_shards=3)
    assert list(itertools.islice(DatasetSentences(stream), 5)) == expected[:5]
    model = MUSE(DatasetSentences(stream), vector_size=4, epochs=1)
    assert sorted(model.vocabulary.words) == ["bank", "number", "of", "river", "the"]
    (tmp_path / "a.jsonl").write_text('{"text": "From a File"}\n')
    lines = datasets.load_dataset(
        "json", data_files=str(tmp_path / "a.jsonl"), split="train", streaming=True, cache_dir=str(tmp_path / "cache")
    )
    assert list(DatasetSentences(lines)) == [["from", "a", "file"]]
