"""Evaluation files as users have them: compressed, in other encodings, with columns in any order."""

import bz2
import gzip
import lzma

import pytest

from muse.evaluation import (
    SynonymQuestion,
    WordSimilarityTask,
    read_analogies,
    read_instances,
    read_key,
    read_scws,
    read_synonyms,
    read_table,
    read_toefl,
    read_wic,
    read_word_pairs,
    write_key,
)

SCWS = "\t".join(["1", "bank", "n", "loan", "n", "a <b>bank</b>", "a <b>loan</b>", "5", *["5"] * 10]) + "\n"
XML = (
    '<contexts><instance id="1" lemma="bank" partOfSpeech="n" tokenStart="2" tokenEnd="6">a bank</instance></contexts>'
)
RUSSE = "context_id\tword\tgold_sense_id\tpredict_sense_id\tpositions\tcontext\n"
FILES = {
    "pairs.csv": ("word1,word2,score\nking,queen,8.5\n", read_word_pairs),
    "questions.txt": ("king | queen | war\n", read_synonyms),
    "ratings.txt": (SCWS, read_scws),
    "gold.key": ("bank.n 1 a/1\n", read_key),
    "analogies.txt": (": all\na b c d\n", read_analogies),
    "table.tsv": (f"{RUSSE}1\tbank\t1\t\t2-6\ta bank\n", read_table),
    "contexts.xml": (XML, read_instances),
}
PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("name", list(FILES))
def test_every_reader_reads_compressed_files(tmp_path, name):
    text, read = FILES[name]
    (tmp_path / name).write_text(text)
    plain = read(tmp_path / name)
    for ending, pack in PACKERS.items():
        path = tmp_path / f"{name}{ending}"
        path.write_bytes(pack(text.encode()))
        assert read(path) == plain
        path.write_bytes(pack(text.encode())[:-4])
        with pytest.raises(ValueError, match="the compressed data is damaged or cut off"):
            read(path)
    (tmp_path / name).write_bytes(gzip.compress(text.encode()))
    with pytest.raises(ValueError, match=r"holds compressed data, which its name must say: .* ends in \.gz"):
        read(tmp_path / name)
    (tmp_path / name).write_bytes(b"PK\3\4" + text.encode())
    with pytest.raises(ValueError, match="is a zip archive; unpack it"):
        read(tmp_path / name)


def test_files_in_pairs_and_folders_may_be_compressed_too(tmp_path):
    for name, text in (("q", "1. king\na. queen\nb. war\n"), ("a", "1 a\n"), ("dev.gold.txt", "T\n")):
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "dev.data.txt.gz").write_bytes(gzip.compress(b"bank\tN\t0-0\tbank\tbank\n"))
    assert read_toefl(tmp_path / "q.gz", tmp_path / "a.gz") == [SynonymQuestion("king", ("queen", "war"), 0)]
    assert read_wic(tmp_path / "dev.data.txt.gz")[0].same
    with pytest.raises(ValueError, match=r"a key is written as plain text; .* does not end in \.gz"):
        write_key({"bank.n": {"1": {"a": 1.0}}}, tmp_path / "k.gz")
    (tmp_path / "MEN.txt.gz").write_bytes(gzip.compress(b"a b 1\n"))
    assert WordSimilarityTask(tmp_path / "MEN.txt.gz").settings["data"] == ["MEN"]
    (tmp_path / "contexts").mkdir()
    (tmp_path / "contexts" / "bank.xml.gz").write_bytes(gzip.compress(XML.encode()))
    assert [item.name for item in read_instances(tmp_path / "contexts")] == ["1"]


@pytest.mark.parametrize("name", [name for name in FILES if name != "contexts.xml"])
def test_utf16_is_named(tmp_path, name):
    text, read = FILES[name]
    path = tmp_path / name
    path.write_bytes(text.encode("utf-16"))
    with pytest.raises(ValueError, match=r"line 1: invalid UTF-8 .* `iconv -f utf-16 -t utf-8`"):
        read(path)
    path.write_bytes(text.encode("utf-16-le"))
    with pytest.raises(ValueError, match="line 1: a NUL character, as in UTF-16 text"):
        read(path)


def test_xml_says_its_encoding_itself(tmp_path):
    (tmp_path / "c.xml").write_bytes(f'<?xml version="1.0" encoding="utf-16"?>{XML}'.encode("utf-16"))
    assert read_instances(tmp_path / "c.xml")[0].form == "bank"


EXPECTED = [("king", "queen", 8.5), ("war", "army", 7.0)]
PAIRS = {
    "wordsim.csv": "Word 1,Word 2,Human (mean)\nking,queen,8.5\nwar,army,7.0\n",
    "wordsim.tab": "Word 1\tWord 2\tHuman (mean)\t1\t2\t\r\nking\tqueen\t8.5\t9\t6\t\r\nwar\tarmy\t7.0\t9\t7\t\r\n",
    "simlex.txt": "word1\tword2\tPOS\tSimLex999\tconc\nking\tqueen\tN\t8.5\t1\nwar\tarmy\tN\t7.0\t2\n",
    "men": "king queen 8.5\nwar army 7.0\n",
    "men_lemma": "king-n queen-n 8.5\nwar-n army-n 7.0\n",
    "simverb": "king\tqueen\tV\t8.5\tNONE\nwar\tarmy\tV\t7.0\tNONE\n",
    "named": "term1,term2,topic,score\nking,queen,x,8.5\nwar,army,x,7.0\n",
    "numbered": "Wort1 Wort2 Urteil\nking queen 8.5\nwar army 7.0\n",
    "quoted": '"word1"\t"word2"\t"score"\n"king"\t"queen"\t8.5\nwar\tarmy\t7.0\n',
    "triples.txt": "# a comment\nking\tqueen\t8.5\n\nwar\tarmy\t7.0\n",
    "with an id": "id,word1,word2,score\n1,king,queen,8.5\n2,war,army,7\n",
    "as pandas writes it": ",word1,word2,score\n0,king,queen,8.5\n1,war,army,7\n",
    "the rating first": "score\tword1\tword2\n8.5\tking\tqueen\n7\twar\tarmy\n",
    "the second word first": "word2,word1,score\nqueen,king,8.5\narmy,war,7\n",
    "other names": "pair_id,score,first,second\n1,8.5,king,queen\n2,7,war,army\n",
    "another language": "Wort1,Wort2,Urteil\nking,queen,8.5\nwar,army,7\n",
    "a third column of text": "topic,noun,verb,rating\nx,king,queen,8.5\ny,war,army,7\n",
    "numbers of ratings": "word1,word2,n_ratings,similarity\nking,queen,20,8.5\nwar,army,20,7\n",
    "spreads": "w1,w2,human_sd,human_mean\nking,queen,20,8.5\nwar,army,20,7\n",
    "raters by number": "word1,word2,1,2,mean\nking,queen,8,9,8.5\nwar,army,7,7,7\n",
    "semicolons": "king;queen;8.5\nwar;army;7\n",
    "decimal commas": "king;queen;8,5\nwar;army;7,0\n",
    "decimal commas, tabs": "king\tqueen\t8,5\nwar\tarmy\t7\n",
    "decimal commas, spaces": "king queen 8,5\nwar army 7,0\n",
    "decimal commas, quotes": 'king,queen,"8,5"\nwar,army,"7,0"\n',
    "a semicolon in a later field": "king,queen,8.5,a;b;c\nwar,army,7,\n",
    "no header": "king,queen,8.5\nwar,army,7\n",
}


@pytest.mark.parametrize("layout", list(PAIRS))
def test_columns_of_word_pairs_are_taken_by_their_names(tmp_path, layout):
    (tmp_path / "p.csv").write_bytes(PAIRS[layout].encode())
    assert read_word_pairs(tmp_path / "p.csv") == EXPECTED


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "word1,word2,similarity,relatedness\na,b,1,2\n",
            "which column holds the ratings.* 'similarity', 'relat",
        ),
        ("word1,word2,n_ratings\na,b,1\n", "which column holds the ratings.* 'word1', 'word2', 'n_ratings'"),
        ("word1,word2,lemma1,lemma2,score\na,b,c,d,1\n", "which columns hold the words.* 'lemma1', 'lemma2', 'score'"),
        ("cue,response,rater1,rater2,mean\na,b,1,2,1.5\n", "which columns hold the words"),
        ("rater1,rater2,mean\n1,2,1.5\n", "line 2: columns 1 and 2 hold the numbers 1 and 2. Say which hold the words"),
        ('"word1"\t"word2"\t"score"\n"1"\t"king"\t"queen"\t8.5\n', "line 2: 4 fields where the first line has 3"),
        ("word1,word2,\na,b,1\n", "which column holds the ratings.* 'word1', 'word2', ''"),
        ("Mann,Frau,3,5\n", "line 1: is '3,5' a number with a decimal comma, or are these two columns"),
        ("Mann,Frau,3\nHaus,Tor,4,1\n", "line 2: 4 fields where the first line has 3"),
        ("Mann;Frau;3,5\nHaus;Tor;4.1\n", "line 2: ratings with decimal points and ratings with decimal commas"),
        ("word1,word2,score\na,b\n", r"line 2: no rating in field 3 of 'a,b'$"),
    ],
)
def test_word_pairs_whose_columns_are_not_clear_are_refused(tmp_path, text, message):
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(ValueError, match=rf"p\.csv, .*{message}"):
        read_word_pairs(tmp_path / "p.csv")


def test_columns_of_word_pairs_can_be_said(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("cue,response,topic,similarity,relatedness\nking,queen,x,1,8.5\nwar,army,x,2,7\n")
    assert read_word_pairs(path, words=("cue", "response"), rating="relatedness") == EXPECTED
    assert read_word_pairs(path, words=(0, "RESPONSE"), rating=4) == EXPECTED
    path.write_text("x\tking\t1\tqueen\t8.5\ny\twar\t2\tarmy\t7\n")
    assert read_word_pairs(path, words=(1, 3), rating=4) == EXPECTED
    path.write_text("king,queen,8,5\n")
    assert read_word_pairs(path, rating=2) == [("king", "queen", 8.0)]
    path.write_text("word1,word2,score,score\na,b,1,2\n")
    for options, kind, message in (
        ({"rating": "score"}, ValueError, "rating='score' names several columns; the columns are 'word1', 'word2'"),
        ({"rating": "mean"}, ValueError, "rating='mean' names no column"),
        ({"rating": 4}, ValueError, "rating=4, but the columns are 0 to 3"),
        ({"rating": 1.5}, TypeError, "rating must be the name of a column, or its number from 0; got 1.5"),
        ({"words": (0, 2), "rating": 2}, ValueError, "in columns of their own; got 0, 2 and 2"),
        ({"words": "word1"}, TypeError, "words must be two columns"),
    ):
        with pytest.raises(kind, match=message):
            read_word_pairs(path, **options)


QUESTIONS = {
    "the answer last": "question,a,b,answer\nking,war,queen,queen\nwar,army,king,army\n",
    "the answer by its letter": "question,a,b,answer\nking,war,queen,B\nwar,army,king,a\n",
    "the answer by its column": "word,option1,option2,answer\nking,war,queen,option2\nwar,army,king,option1\n",
    "the answer by the letter of its column": "word,answer,Option A,Option B\nking,b,war,queen\nwar,A,army,king\n",
    "the answer by its number": "id,word,c1,c2,answer\n1,king,war,queen,2\n2,war,army,king,1\n",
    "the answer apart": "answer,wrong 1,question\nqueen,war,king\narmy,king,war\n",
    "an id": "id,question,answer,c1\n1,king,queen,war\n2,war,army,king\n",
    "as pandas writes it": ",question,answer,c1\n0,king,queen,war\n1,war,army,king\n",
    "a stem": "stem,correct,a\nking,queen,war\nwar,army,king\n",
    "semicolons": "king;queen;war\nwar;army;king\n",
    "bars": "king | queen | war\nwar | army | king\n",
    "a semicolon in quotes": '"king","queen","war"\nwar,army,king\n',
}


@pytest.mark.parametrize("layout", list(QUESTIONS))
def test_columns_of_questions_are_taken_by_their_names(tmp_path, layout):
    (tmp_path / "q.csv").write_text(QUESTIONS[layout])
    found = [(q.word, q.candidates[q.answer], sorted(q.candidates)) for q in read_synonyms(tmp_path / "q.csv")]
    assert found == [("king", "queen", ["queen", "war"]), ("war", "army", ["army", "king"])]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("question,a,b,answer\nking,war,queen,2\n", "line 2: the answer '2' is none of the candidates war, queen"),
        ("question,a,b,answer\nking,war,queen,city\n", "line 2: the answer 'city' is none of the candidates"),
        ("Frage,Antwort,Wort1,Wort2\nk,q,w,c\n", "line 1: which column holds the question.* 'Frage', 'Antwort'"),
        ("question,choice1,choice2\nk,q,w\n", "line 1: which column holds the answer.* 'question', 'choice1'"),
        ("question,answer,c1,pos\nk,q,w,N\n", r"do the columns 'pos' hold candidates\? .* candidates=\['c1'\]"),
        ("question,answer,c1,c2\nking,b,war,queen\n", "line 2: the answer 'b' is none of the candidates war, queen"),
        ("question,answer,c1\nk,,w\n", "line 2: expected a question, its answer and one"),
        ("question,a,answer\nk,q,q\n", "line 2: the question 'k' has only one candidate"),
    ],
)
def test_questions_whose_columns_are_not_clear_are_refused(tmp_path, text, message):
    (tmp_path / "q.csv").write_text(text)
    with pytest.raises(ValueError, match=rf"q\.csv, .*{message}"):
        read_synonyms(tmp_path / "q.csv")


def test_columns_of_questions_can_be_said(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("Frage;Antwort;Falsch;Wortart\nkönig;herrscher;krieg;N\n", encoding="utf-8")
    expected = [SynonymQuestion("könig", ("herrscher", "krieg"), 0)]
    assert read_synonyms(path, question="Frage", answer=1, candidates=["Falsch"]) == expected
    with pytest.raises(ValueError, match="question='Fragen' names no column"):
        read_synonyms(path, question="Fragen", answer="Antwort")


def test_table_columns_that_are_named_twice_are_refused(tmp_path):
    (tmp_path / "t.tsv").write_text(f"target\t{RUSSE}bank\t1\tbank\t1\t\t0-4\tbank\n")
    with pytest.raises(ValueError, match=r"line 1: which column is meant by word or target.* 'target', 'word'"):
        read_table(tmp_path / "t.tsv")


@pytest.mark.parametrize(
    ("positions", "text", "form", "tokens"),
    [
        ("4-7", "the war is", "war", 3),
        ("4-6", "the war is", "war", 3),  # the end is that of the last letter, as in RUSSE's bts-rnc
        ("5-7", "the war is", "war", 3),
        ("0-4", "замки стоят", "замки", 2),
        ("4-6", "the war-time is", "war", 4),
        ("2-4", "这是战争的", "战争", 3),  # no spaces between words: nothing is cut
    ],
)
def test_an_offset_inside_a_word_means_the_whole_word(tmp_path, positions, text, form, tokens):
    (tmp_path / "t.tsv").write_text(f"{RUSSE}1\twar\t1\t\t{positions}\t{text}\n", encoding="utf-8")
    (found,) = read_table(tmp_path / "t.tsv")
    assert (found.form, found.tokens[found.position], len(found.tokens)) == (form, form, tokens)
