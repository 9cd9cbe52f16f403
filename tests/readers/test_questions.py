"""Synonym questions: the TOEFL layout, one a line, columns that are named, and what is refused."""

import pytest

from muse.evaluation import SynonymQuestion, read_synonyms, read_toefl

QUESTIONS = {
    "the answer last": "question,a,b,answer\nking,war,queen,queen\nwar,army,king,army\n",
    "the answer by its letter": "question,a,b,answer\nking,war,queen,B\nwar,army,king,a\n",
    "the answer among the others": "Question,Answer,candidate1,candidate2\nking,queen,war,queen\nwar,army,army,king\n",
    "the answer beside candidates": "answer,candidate1,question\nqueen,war,king\narmy,king,war\n",
    "semicolons": "king;queen;war\nwar;army;king\n",
    "bars": "king | queen | war\nwar | army | king\n",
    "a semicolon in quotes": '"king","queen","war"\nwar,army,king\n',
}


@pytest.mark.parametrize("layout", list(QUESTIONS))
def test_known_layouts_of_questions_are_read_as_they_are(tmp_path, layout):
    (tmp_path / "q.csv").write_text(QUESTIONS[layout])
    found = [(q.word, q.candidates[q.answer], sorted(q.candidates)) for q in read_synonyms(tmp_path / "q.csv")]
    assert found == [("king", "queen", ["queen", "war"]), ("war", "army", ["army", "king"])]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("question,a,b,answer\nking,war,queen,2\n", "line 2: the answer '2' is none of the candidates war, queen"),
        ("question,a,b,answer\nking,war,queen,city\n", "line 2: the answer 'city' is none of the candidates"),
        ("question,answer,candidate\nking,b,war\n", "line 2: the answer 'b' is none of the candidates war"),
        ("question,answer,candidate\nk,,w\n", "line 2: expected a question, its answer and one"),
        ("question,a,answer\nk,q,q\n", "line 2: the question 'k' has only one candidate"),
        ("question,answer,c1,pos\nk,q,w,N\n", r"line 1: is this a header\? There are .*'c1', 'pos'\. Name the columns"),
        ("id,question,answer,candidate\n1,k,q,w\n", r"line 1: is this a header\?"),
        ("Frage,Antwort,Wort1,Wort2\nk,q,w,c\n", r"line 1: is this a header\? .* columns=\('question', 'answer'"),
        ("question,choice1,choice2\nk,q,w\n", r"line 1: is this a header\?"),
        ("word,answer,Option A,Option B\nking,b,war,queen\n", r"line 1: is this a header\?"),
        ("stem,a,b\nking,queen,war\n", r"line 1: is this a header\?"),
    ],
)
def test_questions_whose_columns_are_not_clear_are_refused(tmp_path, text, message):
    (tmp_path / "q.csv").write_text(text)
    with pytest.raises(ValueError, match=rf"q\.csv, {message}"):
        read_synonyms(tmp_path / "q.csv")


def test_columns_of_questions_are_named_or_numbered(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("Nr;Frage;Antwort;Falsch;Wortart\n1;könig;herrscher;krieg;N\n", encoding="utf-8")
    expected = [SynonymQuestion("könig", ("herrscher", "krieg"), 0)]
    assert read_synonyms(path, columns=("Frage", "Antwort", "Falsch")) == expected
    assert read_synonyms(path, columns=["Frage", 2, 3]) == expected
    path.write_text("herrscher;könig;krieg\n", encoding="utf-8")
    assert read_synonyms(path, columns=(1, 0, 2)) == expected
    with pytest.raises(ValueError, match="'Fragen' in columns names no column"):
        read_synonyms(path, columns=("Fragen", "Antwort", "Falsch"))
    with pytest.raises(TypeError, match="columns must be a question, an answer and one or more candidates"):
        read_synonyms(path, columns=("Frage", "Antwort"))


TOEFL = "1.\tbank\na.\tloan\nb.\triver\nc.\tmoney\nd.\tzero\n\n2.\tmoney\na.\tabsent\nb.\triver\nc.\tloan\nd.\tzero\n"
ANSWERS = "1 (a,a,-) 1 b\n2 (a,a,-) 1 c\n"


def test_toefl_layout(tmp_path):
    (tmp_path / "q").write_text(TOEFL)
    (tmp_path / "a").write_text(ANSWERS)
    got = read_toefl(tmp_path / "q", tmp_path / "a")
    assert got[0] == SynonymQuestion("bank", ("loan", "river", "money", "zero"), 1)
    assert got[1].candidates[got[1].answer] == "loan"
    for question, answer, message in (
        ("1. bank\nhm\n", ANSWERS, r"q, line 2: neither a question"),
        ("a. bank\n", ANSWERS, r"q, line 1: neither a question"),
        ("1. a\na. x\nb. y\n1. a\n", ANSWERS, "line 4: question 1 occurs twice"),
        ("1. a\na. x\nA. z\nb. y\n", ANSWERS, "q, line 3: the question has a candidate A already: 'A. z'"),
        (TOEFL, "1 b\n2 c\n1 c\n", "a, line 3: question 1 has an answer already: '1 c'"),
        ("1" * 5000 + ". bank\n", ANSWERS, r"q, line 1: neither a question .*\(5,006 characters\)"),
        ("1. a\na. x\n", "1 a\n", r"q: question 1 \('a'\) has only one candidate"),
        (TOEFL, "one b\n", r"a, line 1: no answer such as"),
        (TOEFL, "1 b\n", r"the answer to question 2 \('money'\) is None"),
        (TOEFL, "1 b\n2 e\n", "is 'e'; its candidates are a, b, c, d"),
        ("", ANSWERS, "holds no questions"),
    ):
        (tmp_path / "q").write_text(question)
        (tmp_path / "a").write_text(answer)
        with pytest.raises(ValueError, match=message):
            read_toefl(tmp_path / "q", tmp_path / "a")


def test_one_question_a_line(tmp_path):
    path = tmp_path / "q"
    expected = [SynonymQuestion("bank", ("river", "loan"), 0), SynonymQuestion("money", ("loan", "hot dog", "zero"), 0)]
    for text in (
        "# ours\nbank | river | loan\nmoney | loan | hot dog | zero\n",
        "question,answer,candidate,candidate\nbank,river,loan,\nmoney,loan,hot dog,zero\n",
        "question | answer | candidate 2\nbank | river | loan\nmoney | loan | hot dog | zero\n",
        "bank\triver\tloan\nmoney\tloan\thot dog\tzero\n",
        'bank,"river",loan\nmoney,loan,hot dog,zero\n',
    ):
        path.write_text(text)
        assert read_synonyms(path) == expected
    for text, message in (
        ("bank\n", "line 1: no fields"),
        ("a | b | c\nd | e\n", "line 2: expected a question, its answer"),
        ("a | | c\n", "line 1: expected"),
        ("# only\n", "holds no questions"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            read_synonyms(path)


def test_a_question_about_a_question_is_no_header(tmp_path):
    (tmp_path / "q").write_text("question,query,loan\nword,term,loan\n")
    assert [asked.word for asked in read_synonyms(tmp_path / "q")] == ["question", "word"]
