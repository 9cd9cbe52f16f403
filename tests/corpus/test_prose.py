"""Prose as a corpus: paragraphs, sentences, encodings, and how prose is told from tokenised text."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muse import MUSE, LineSentence
from muse.corpus import Prose, SentenceSplitter, encode_corpus, looks_like_prose, tokenize, tokenize_wiki
from muse.corpus.abbreviations import LANGUAGES, abbreviations_of
from muse.corpus.paragraphs import paragraphs
from muse.files.encodings import decoded
from muse.files.looks import text_looks_like_prose

# Sentences are divided by a bar.
SENTENCES = {
    "en": [
        "Mr. Smith met Dr. Jones on Jan. 5.|They spoke at 3 p.m. in Washington, D.C.|The U.S. Army came.",
        '"Really?" she said.|"Yes!"|Then... nothing.|J. R. R. Tolkien wrote it.|See Fig. 3 and No. 7.|(He left.)|OK.',
        "Is it St. Mary?|No.|It is not.|He said no.|They, e.g. Anna, stayed etc.|The end.|Apple Inc. in Cupertino won.",
        "It was 1990.|Then he left.|I have a Ph.D.|He has none.|Wait!!|What?!|It costs 3.5 or more.|See www.x.org.",
        "1. First item.|2. Second item.|It was good. but small letters go on.",
    ],
    "de": [
        "Am 3. Mai kam z. B. Herr Dr. Müller, d.h. niemand.|Er wohnt in der Hauptstr. 5.|Das 19. Jahrhundert begann.",
        "„Warum?“, fragte er.|„Darum.“|Ludwig XIV. war König.|Es gab Äpfel usw.|Der Rest fehlt.",
    ],
    "fr": ["M. Dupont est là.|« Où ? » dit-elle.|C’est fini !|Voir p. 5.|J.-J. Rousseau écrit."],
    "es": ["¿Dónde está el Sr. García?|¡Aquí!|Vive en EE. UU. desde 1990.|Ud. lo sabe."],
    "ru": ["Он жил в г. Москве на ул. Ленина.|А. С. Пушкин родился в 1799 г. в Москве.|Это было давно."],
    "pl": ["Np. prof. Kowalski.|W 1990 r. wyjechał.|Był to 3. dzień."],
    "el": ["Πού είναι;|Εδώ.|Ναι!"],
    "zh": ["他坐在河边。|水很冷！|“你好吗？”|她问。|走吧"],
    "ja": ["彼は川岸に座った。|本当？|はい！"],
    "hi": ["वह नदी के किनारे बैठा।|पानी ठंडा था।|क्या?"],
    "ar": ["جلس على ضفة النهر.|هل الماء بارد؟|نعم!"],
    "ur": ["وہ بیٹھا۔|پانی ٹھنڈا تھا۔"],
    "hy": ["Նա նստեց։|Ջուրը սառն էր։"],
    "am": ["እሱ ተቀመጠ።|ውሃው ቀዝቃዛ ነበር።"],
    "my": ["သူထိုင်တယ်။|ရေအေးတယ်။"],
}
PROSE = "He sat on the bank, by the river. The water was cold; nobody swam in it, though.\n\n"


@pytest.mark.parametrize("language", SENTENCES)
def test_sentences_end_where_they_do(language):
    for text in SENTENCES[language]:
        space = "" if language in ("zh", "ja") else " "
        for known in {language, None} if language != "pl" else {language}:
            assert SentenceSplitter(known).split(text.replace("|", space)) == text.split("|")


def test_abbreviations_of_ones_own():
    text = "It took approximat. Ten days."
    assert SentenceSplitter().split(text) == ["It took approximat.", "Ten days."]
    assert SentenceSplitter("en", ["approximat."]).split(text) == [text]
    for language in LANGUAGES:
        assert "" not in abbreviations_of(language).always | abbreviations_of(language).numbers


@given(st.text(alphabet=st.sampled_from('aB1.!?… \n\t"“”«)(。।;’-\u00ad\u2028\r')))
def test_nothing_is_lost(text):
    def bare(lines):
        return "".join("".join(lines).split()).replace("-", "").replace("\u00ad", "")

    found = list(paragraphs([text[:5], text[5:]]))
    assert bare(found) == bare([text])
    for paragraph in found:
        sentences = SentenceSplitter().split(paragraph)
        assert bare(sentences) == bare([paragraph])
        assert all(sentence == sentence.strip() != "" for sentence in sentences)


# -- paragraphs --------------------------------------------------------------------------------------------------------


def test_broken_lines_become_one():
    text = ("A TITLE\nThe embed-\nding of a word that\nis a vec\u00ad\ntor of the Anglo-\nSaxon. Ein-\nund Ausgang are "
            "HAP-\nPY.\n\n\nNew para-\r\ngraph here.\n")  # fmt: skip
    expected = [
        "A TITLE", "The embedding of a word that is a vector of the Anglo-Saxon. Ein- und Ausgang are HAPPY.",
        "New paragraph here.",
    ]  # fmt: skip
    for size in (1, 7, len(text)):
        assert list(paragraphs(text[i : i + size] for i in range(0, len(text), size))) == expected
    assert list(paragraphs(["他坐在河\n边，水很\n冷。他们走\n了很久。\n"])) == ["他坐在河边，水很冷。他们走了很久。"]


def test_lines_that_are_paragraphs_stay():
    lines = ["One whole paragraph here. It has two.", "Another one, long or short.", "A headline", "The end."]
    assert list(paragraphs(["\n".join(lines)])) == lines
    assert list(paragraphs([])) == list(paragraphs(["", "\n \n"])) == []


def test_a_file_of_one_line_is_read_in_parts():
    text = "word " * 200_000
    parts = list(paragraphs(text[i : i + 9999] for i in range(0, len(text), 9999)))
    assert len(parts) > 3
    assert " ".join(parts).split() == text.split()


# -- files and encodings -----------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    text = "The naïve “bank” lends.\nIt’s by the river – Dr. Grey’s."
    root = tmp_path / "texts"
    (root / "b" / ".hidden").mkdir(parents=True)
    (root / "a.txt").write_bytes(text.encode("utf-8-sig"))
    (root / "b" / "c.txt.gz").write_bytes(gzip.compress(text.encode("utf-16")))
    (root / "b" / "d.TEXT").write_bytes(text.encode("cp1252"))
    (root / "b" / ".hidden" / "e.txt").write_text("never")
    (root / "README.md").write_text("never")
    return root


TOKENS = [["the", "naïve", "bank", "lends"], ["it's", "by", "the", "river", "dr", "grey's"]]


def test_a_folder_of_files_in_several_encodings(folder):
    with pytest.raises(ValueError, match=r"d\.TEXT is not UTF-8: byte 0xef at 6; give encoding='cp1252'.*'auto'"):
        list(Prose(folder))
    prose = Prose(folder, encoding="auto")
    for _ in range(2):
        with pytest.warns(UserWarning, match=r"d\.TEXT is not UTF-8 .* is read as Windows-1252") as said:
            assert list(prose) == TOKENS * 3
        assert len(said) == 1
    assert list(Prose([folder / "b" / "d.TEXT"], encoding="windows-1252")) == TOKENS
    assert list(Prose(folder / "*.txt")) == list(Prose(str(folder / "**" / "a.txt"))) == TOKENS
    assert next(iter(Prose(folder / "a.txt", lower=False)))[0] == "The"
    assert list(Prose(folder / "a.txt", tokenizer=str.split))[1][0] == "It’s"


def test_lines_of_tokens_in_several_encodings(folder):
    lines = [line.split() for line in (folder / "a.txt").read_text("utf-8-sig").splitlines()]
    file = folder / "b" / "d.TEXT"
    assert list(LineSentence(file, encoding="cp1252")) == lines
    assert list(LineSentence(folder / "b" / "c.txt.gz", encoding="utf-16")) == lines
    assert list(LineSentence(file, encoding="cp1252").holding(["naïve"])) == lines[:1]
    with pytest.warns(UserWarning, match="is read as Windows-1252"):
        words = encode_corpus(LineSentence(folder, encoding="auto"), min_count=1)[0].words
    assert set(words) == {word for line in lines for word in line}
    with pytest.raises(ValueError, match=r"or read it with muse\.LineSentence\(path, encoding='cp1252'\)"):
        encode_corpus(corpus_file=file)
    with pytest.raises(ValueError, match=r"d\.TEXT: byte 0xef at 6 is not ascii; give the right encoding="):
        list(LineSentence(file, encoding="ascii"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a \xff b", None),
        (b"a\x81\x8d", "neither UTF-8 nor Windows-1252: byte 0x81 at 1"),
        ("é über ".encode() * 9 + b"\xff" + "é ".encode() * 9, "though the rest seems to be; clean the file"),
        (b"\xff" + "é ".encode() * 9, "though the rest seems to be"),
        ("bank ".encode("utf-16-le") * 9, "many zero bytes.*encoding='utf-16-le'"),
        ("bank".encode("utf-16") + b"x", "begins as utf-16, and byte 0x78 at 10 is not"),
        (b"a\xe9", None),
    ],
)
def test_what_auto_takes_for_windows_1252(data, message):
    for size in (1, 3, len(data)):
        pieces = [data[i : i + size] for i in range(0, len(data), size)]
        if message is None:
            with pytest.warns(UserWarning, match="read as Windows-1252"):
                assert "".join(decoded(pieces, "auto", "x")) == data.decode("cp1252")
        else:
            with pytest.raises(ValueError, match=message):
                list(decoded(pieces, "auto", "x"))


@given(st.text(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]), st.integers(1, 9))
def test_what_marks_say(text, encoding, size):
    if "\0" in text or text.startswith("\ufeff"):
        return
    data = text.encode(encoding)
    assert "".join(decoded([data[i : i + size] for i in range(0, len(data), size)], None, "x")) == text


@pytest.mark.parametrize("make", [Prose, LineSentence])
def test_what_is_no_encoding(make, folder):
    for wrong in ("latin-77", "rot13", "hex", "undefined", "", "a\0b"):
        with pytest.raises(ValueError, match="encoding must be one that Python knows"):
            make(folder, encoding=wrong)
    with pytest.raises(TypeError, match="encoding must be the name"):
        make(folder, encoding=7)


@pytest.mark.parametrize("make", [Prose, LineSentence, lambda path: encode_corpus(corpus_file=path)])
def test_what_names_no_file(make, tmp_path):
    for path, message in (
        (tmp_path, "there is no file in this folder"), (tmp_path / "*.txt", "no file matches this pattern"),
        (tmp_path / "a", "no such file"),
    ):  # fmt: skip
        with pytest.raises(FileNotFoundError, match=message):
            make(path)
    with pytest.raises(ValueError, match="names standard input twice"):
        make(["-", "-"])


def test_odd_names_and_a_folder_without_txt(tmp_path):
    (tmp_path / "a[1].md").write_text("b a\n")
    (tmp_path / ".a").write_text("never")
    assert list(LineSentence(tmp_path)) == list(LineSentence(tmp_path / "a[1].md")) == [["b", "a"]]


def test_standard_input():
    script = (
        "import sys; from muse import LineSentence, encode_corpus; from muse.corpus import Prose\n"
        "kind = sys.argv[1]\n"
        "if kind == 'encode': print(encode_corpus(corpus_file='-', min_count=1)[0].words); sys.exit()\n"
        "text = Prose('-') if kind == 'prose' else LineSentence('-')\n"
        "print([word for line in text for word in line])\n"
        "try: list(text)\n"
        "except ValueError as error: print(error)"
    )
    told = "standard input can be read once, and was; write the text into a file"
    for kind, expected in (("encode", "['The', 'bank.']"), ("prose", "['the', 'bank']"), ("lines", "['The', 'bank.']")):
        done = subprocess.run([sys.executable, "-c", script, kind], input=b"The bank.\n", capture_output=True)
        assert done.stderr == b""
        assert done.stdout.decode().splitlines() == [expected, told][: 1 if kind == "encode" else 2]


def test_what_prose_refuses(folder):
    for wrong, error, message in (
        ({"language": 7}, TypeError, "language must be the code"), ({"nlp": 7}, TypeError, "nlp must be a pipeline"),
        ({"tokenizer": "x"}, TypeError, "tokenizer must be a function"),
        ({"lower": 1}, TypeError, "lower must be True"),
        ({"abbreviations": "ca."}, TypeError, "abbreviations must be a list"),
        ({"nlp": Pipeline(), "tokenizer": str.split}, ValueError, "either tokenizer or nlp"),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            Prose(folder, **wrong)
    with pytest.raises(TypeError, match="a tokenizer must give a list"):
        list(Prose(folder / "a.txt", tokenizer=str.lower))


# -- spaCy -------------------------------------------------------------------------------------------------------------


class Token(str):
    """As a token of spaCy."""

    text = property(str)
    lower_ = property(str.lower)
    is_space = False
    is_punct = property(lambda self: not self.isalnum())


class Pipeline:
    """As a pipeline of spaCy that finds words, and no sentences."""

    pipe_names = ("tagger",)

    def pipe(self, texts):
        return ([Token(word) for word in text.replace(".", " .").split()] for text in texts)


def test_a_pipeline_finds_words(tmp_path):
    (tmp_path / "a.txt").write_text("He sat. She ran.")
    assert list(Prose(tmp_path, nlp=Pipeline())) == [["he", "sat"], ["she", "ran"]]
    assert next(iter(Prose(tmp_path, nlp=Pipeline(), lower=False))) == ["He", "sat"]
    assert Prose(tmp_path, nlp=Pipeline()).text_form is None


def test_a_pipeline_of_spacy(tmp_path):
    spacy = pytest.importorskip("spacy")
    (tmp_path / "a.txt").write_text("He sat. She\nran, fast.\n")
    nlp = spacy.blank("en")
    expected = [["he", "sat"], ["she", "ran", "fast"]]
    assert list(Prose(tmp_path, nlp=nlp)) == expected
    nlp.add_pipe("sentencizer")
    assert list(Prose(tmp_path, nlp=nlp)) == expected


# -- recognition -------------------------------------------------------------------------------------------------------


def test_prose_is_known_from_tokens(tmp_path):
    prose = PROSE * 4
    tagged = " ".join(f"{word}_NN" for word in prose.split())
    for text, expected in (
        (prose, True), (prose.lower(), True),
        ("".join(SENTENCES["zh"]).replace("|", "") * 30, True), (" ".join(SENTENCES["ru"]).replace("|", " ") * 3, True),
        (prose.replace(",", " ,").replace(".", " .").replace(";", " ;"), False), (" ".join(tokenize(prose)), False),
        ("do n't say `` U.S. '' , Mr. Grey 's students ' -rrb- e.g. 3,000 ." * 20, False), ("", False), (PROSE, False),
        (tagged, False),
    ):  # fmt: skip
        assert text_looks_like_prose(text) is expected
        (tmp_path / "a.txt").write_text(text)
        assert looks_like_prose(tmp_path / "a.txt") is expected
    (tmp_path / "a.txt").write_bytes(("é" * 40000).encode()[1:] + prose.encode())  # no UTF-8, cut in a letter
    assert looks_like_prose(tmp_path) is False
    assert looks_like_prose("-") is False


def test_prose_that_is_read_as_tokens_is_said_once(tmp_path):
    for name in ("a.txt", "b.txt", "c.txt.gz"):
        data = (PROSE * 4).encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    for read in (
        lambda: list(LineSentence(tmp_path)), lambda: encode_corpus(corpus_file=tmp_path, min_count=1),
        lambda: list(LineSentence(tmp_path / "c.txt.gz")), lambda: encode_corpus(corpus_file=[tmp_path / "c.txt.gz"]),
    ):  # fmt: skip
        with pytest.warns(
            UserWarning, match=r"looks like prose, .* 'it,' is a word of its own; muse\.corpus\.Prose"
        ) as said:
            read()
        assert len(said) == 1
        assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(Prose(tmp_path))


def test_a_folder_of_prose_is_trained_on_and_asked(folder, tmp_path):
    with pytest.warns(UserWarning, match="Windows-1252"):
        model = MUSE(Prose(folder, encoding="auto"), vector_size=8, min_count=2, epochs=1, workers=1, sample=0)
    assert model.tokenize("The Naïve—Bank, by") == ["the", "naïve", "bank", "by"]
    assert model.snapshot.text_form.to_json() == {"tokenizer": "muse", "lower": True}
    assert Prose(folder, tokenizer=tokenize_wiki).text_form.to_json() == {"tokenizer": "wiki", "lower": True}
    assert Prose(folder, tokenizer=str.split).text_form is None
    assert Prose(folder, lower=False).text_form.lower is False
    with io.StringIO() as file, pytest.raises(TypeError, match="needs the path of a file"):
        Prose(file)
    assert os.path.basename(repr(Prose(folder / "a.txt"))).startswith("a.txt")


@pytest.mark.parametrize("piece", [".", "a.", '."', ") ", "。", "－", "a", "'", "-", "\u00ad\n", "I. "])
def test_odd_texts_take_no_longer(piece):
    """A pattern that goes back and forth would take hours."""
    text = "a" + piece * 50_000 + "x"
    assert not any(map(text_looks_like_prose, (text[:40_000], "b " * 99 + text[:40_000])))
    for paragraph in paragraphs([text]):
        assert "".join(SentenceSplitter().split(paragraph)).replace(" ", "") == paragraph.replace(" ", "")
