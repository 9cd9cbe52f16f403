"""Rated word pairs: the published layouts, columns that are named, and what is refused."""

import pytest

from muse.evaluation import read_word_pairs

EXPECTED = [("king", "queen", 8.5), ("war", "army", 7.0)]
PAIRS = {
    "wordsim.csv": "Word 1,Word 2,Human (mean)\nking,queen,8.5\nwar,army,7.0\n",
    "wordsim.tab": "Word 1\tWord 2\tHuman (mean)\t1\t2\t\r\nking\tqueen\t8.5\t9\t6\t\r\nwar\tarmy\t7.0\t9\t7\t\r\n",
    "simlex": "word1\tword2\tPOS\tSimLex999\tconc\nking\tqueen\tN\t8.5\t1\nwar\tarmy\tN\t7.0\t2\n",
    "men": "king queen 8.5\nwar army 7.0\n",
    "men_lemma": "king-n queen-n 8.5\nwar-n army-n 7.0\n",
    "simverb": "king\tqueen\tV\t8.5\tNONE\nwar\tarmy\tV\t7.0\tNONE\n",
    "triples": "# a comment\nking\tqueen\t8.5\n\nwar\tarmy\t7.0\n",
    "triples with more behind them": "king\tqueen\t8.5\tx\nwar\tarmy\t7\n",
    "commas": "king,queen,8.5\nwar,army,7\n",
    "our header": "word1,word2,score\nking,queen,8.5\nwar,army,7\n",
    "our header with a number of the row": ",word1,word2,score\n0,king,queen,8.5\n1,war,army,7\n",
    "our header in another order": "score\tword2\tword1\n8.5\tqueen\tking\n7\tarmy\twar\n",
    "our header among others": "word1,word2,lemma1,lemma2,score\nking,queen,k,q,8.5\nwar,army,w,a,7\n",
    "quotes": '"word1"\t"word2"\t"score"\n"king"\t"queen"\t8.5\nwar\tarmy\t7.0\n',
    "semicolons": "king;queen;8.5\nwar;army;7\n",
    "decimal commas": "king;queen;8,5\nwar;army;7,0\n",
    "decimal commas, tabs": "king\tqueen\t8,5\nwar\tarmy\t7\n",
    "decimal commas, spaces": "king queen 8,5\nwar army 7,0\n",
    "decimal commas, quotes": 'king,queen,"8,5"\nwar,army,"7,0"\n',
}


@pytest.mark.parametrize("layout", list(PAIRS))
def test_known_layouts_of_word_pairs_are_read_as_they_are(tmp_path, layout):
    (tmp_path / "p.csv").write_bytes(PAIRS[layout].encode())
    assert read_word_pairs(tmp_path / "p.csv") == EXPECTED


def test_columns_of_word_pairs_are_named_or_numbered(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("cue,response,topic,similarity,relatedness\nking,queen,x,1,8.5\nwar,army,x,2,7\n")
    assert read_word_pairs(path, columns=("cue", "response", "relatedness")) == EXPECTED
    assert read_word_pairs(path, columns=["cue", 1, 4]) == EXPECTED
    path.write_text("x\tking\t1\tqueen\t8.5\ny\twar\t2\tarmy\t7\n")
    assert read_word_pairs(path, columns=(1, 3, 4)) == EXPECTED
    path.write_text("king,queen,8,5\n")
    assert read_word_pairs(path, columns=(0, 1, 2)) == [("king", "queen", 8.0)]
    path.write_text("word1,word2,mean,mean\na,b,1,2\n")
    for columns, kind, message in (
        (("word1", "word2", "mean"), ValueError, "'mean' in columns names several columns; there are 'word1', 'word2'"),
        (("word1", "word2", "Mean"), ValueError, "'Mean' in columns names no column"),
        ((0, 1, 4), ValueError, "columns holds 4, but they are 0 to 3"),
        ((0, 1, 1.5), TypeError, "columns must be names of columns, or their numbers from 0; got 1.5"),
        ((0, 1, True), TypeError, "columns must be names of columns, or their numbers from 0; got True"),
        ((0, 2, 2), ValueError, "names a column twice"),
        ("word", TypeError, "columns must be three, as"),
        (("word1", "word2"), TypeError, "columns must be three, as"),
    ):
        with pytest.raises(kind, match=message):
            read_word_pairs(path, columns=columns)


@pytest.mark.parametrize(
    "text",
    [
        "word1,word2,similarity,relatedness\na,b,1,2\n",
        "cue,response,rater1,rater2,mean\na,b,1,2,1.5\n",
        "Wort1,Wort2,Urteil\nking,queen,8\n",
        "Word1,Word2,Score\nking,queen,8\n",
        "word1,word2,\na,b,1\n",
        "word1,word2,1,2,mean\nking,queen,8,9,8.5\n",
        "Mann,Frau,3,5\n",
        "king queen N/A\n",
    ],
)
def test_other_first_lines_are_refused_with_how_to_say_the_columns(tmp_path, text):
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(ValueError, match=r"p\.csv, line 1: neither two words and a rating nor .* columns=\('word1', "):
        read_word_pairs(tmp_path / "p.csv")


def test_damaged_word_pairs(tmp_path):
    path = tmp_path / "pairs"
    for text, message in (
        ("a b\n", "line 1: expected two words and a rating"),
        ("a b 1\nc d\n", "line 2: no rating in field 3"),
        ("a b 1\nc d nan\n", "line 2: no rating"),
        ("Mann,Frau,3\nHaus,Tor,4,1\n", "line 2: 4 fields where the first line has 3"),
        ('"word1"\t"word2"\t"score"\n"1"\t"king"\t"queen"\t8.5\n', "line 2: 4 fields where the first line has 3"),
        ("Mann;Frau;3,5\nHaus;Tor;4.1\n", "line 2: ratings with decimal points and ratings with decimal commas"),
        ("word1,word2,score\na,b\n", r"line 2: no rating in field 3 of 'a,b'$"),
        ("a,,1\n", "line 1: a word is missing in 'a,,1'"),
        ("", "holds no word pairs"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            read_word_pairs(path)


PUBLISHED = {
    "wordsim353/combined.csv": (353, ("love", "sex", 6.77)),
    "wordsim353/combined.tab": (353, ("love", "sex", 6.77)),
    "SimLex-999/SimLex-999.txt": (999, ("old", "new", 1.58)),
    "MEN/MEN_dataset_natural_form_full": (3000, ("sun", "sunlight", 50.0)),
    "MEN/MEN_dataset_lemma_form_full": (3000, ("sun", "sunlight", 50.0)),
    "faruqui/EN-RG-65.txt": (65, ("gem", "jewel", 3.94)),
    "faruqui/EN-MC-30.txt": (30, ("car", "automobile", 3.92)),
    "faruqui/EN-RW-STANFORD.txt": (2034, ("squishing", "squirt", 5.88)),
    "faruqui/EN-MTurk-287.txt": (287, ("episcopal", "russia", 2.75)),
    "faruqui/EN-YP-130.txt": (130, ("brag", "boast", 4.0)),
    "faruqui/EN-VERB-143.txt": (144, ("happen", "say", 0.19)),
}


@pytest.mark.parametrize("name", list(PUBLISHED))
def test_published_word_pairs(eval_data, name):
    pairs = read_word_pairs(eval_data / "word_similarity" / name)
    assert (len(pairs), pairs[0]) == PUBLISHED[name]


def test_fields_that_are_too_long_are_said_with_their_line(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("a,b,1\nc," + "d" * 200_000 + ",2\n")
    with pytest.raises(ValueError, match=r"pairs\.csv, line 2: no valid CSV \(field larger than"):
        read_word_pairs(path)
