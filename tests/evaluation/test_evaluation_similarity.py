"""SCWS, word similarity and synonym questions on files made here, and on the published ones where they are."""

import numpy as np
import pytest

from muse import MUSE, Paper
from muse.evaluation import (
    ScwsTask,
    SenseKeyedVectors,
    SynonymQuestion,
    SynonymTask,
    WordSimilarityTask,
    evaluate_scws,
    evaluate_synonyms,
    evaluate_word_similarity,
    read_key,
    read_scws,
    read_synonyms,
    read_table,
    read_toefl,
    read_word_pairs,
    spearman,
)

ANGLES = {"bank#0": 0, "bank#1": 90, "river#0": 10, "river#1": 40, "money#0": 80, "loan#0": 60, "zero#0": None}


def unit(angle):
    return [0.0, 0.0] if angle is None else [np.cos(np.radians(angle)), np.sin(np.radians(angle))]


def by_cue(word, tokens, position):
    """Three quarters for sense 1 where the context says "cash" and one quarter for the other, else the other way."""
    return [0.25, 0.75] if "cash" in tokens else [0.75, 0.25]


@pytest.fixture
def model():
    return SenseKeyedVectors.from_word2vec_keys(ANGLES, [unit(a) for a in ANGLES.values()], by_cue)


def scws_line(number, word1, word2, context1, context2, rating):
    fields = [number, word1, "n", word2, "n", context1, context2, rating, *[rating] * 10]
    return "\t".join(str(field) for field in fields) + "\n"


LINES = [
    scws_line(1, "Bank", "money", "cash at the <b> Bank </b> .", "<b>money</b> talks", 9.0),
    scws_line(2, "bank", "river", "the <b>bank</b> , green", "a <b>river</b>", 8.0),
    scws_line(3, "river", "loan", "<b>river</b>", "a <b>loan</b>", 1.0),
    scws_line(4, "well-known", "loan", "a <b>well-known</b> man", "a <b>loan</b>", 1.0),
    scws_line(5, "loan", "absent", "a <b>loan</b>", "an <b>absent</b> one", 1.0),
]


@pytest.fixture
def ratings(tmp_path):
    path = tmp_path / "ratings.txt"
    path.write_text("".join(LINES), encoding="utf-8")
    return path


def cos(a, b):
    return np.cos(np.radians(a - b))


def test_scws_is_its_formulas(model, ratings):
    result = evaluate_scws(model, ratings, resamples=200)
    first, second, third = result.items[:3]
    assert first["MaxSimC"] == pytest.approx(cos(90, 80))
    assert first["AvgSimC"] == pytest.approx(0.25 * cos(0, 80) + 0.75 * cos(90, 80))
    assert second["MaxSimC"] == pytest.approx(cos(0, 10))
    mixed = [0.75 * 0.75 * cos(0, 10), 0.75 * 0.25 * cos(0, 40), 0.25 * 0.75 * cos(90, 10), 0.25 * 0.25 * cos(90, 40)]
    assert second["AvgSimC"] == pytest.approx(sum(mixed))
    assert second["MaxSim"] == pytest.approx(cos(0, 10))
    assert second["AvgSim"] == pytest.approx(np.mean([cos(a, b) for a in (0, 90) for b in (10, 40)]))
    assert third["globalSim"] == pytest.approx(cos(25, 60))
    assert (
        result.score == result["MaxSimC"] == pytest.approx(spearman([9, 8, 1], [cos(90, 80), cos(0, 10), cos(10, 60)]))
    )
    assert result.table[0]["low"] <= result.table[0]["rho"] <= result.table[0]["high"]


def test_scws_asks_a_model_about_all_contexts_at_once(ratings):
    model = MUSE([pair.contexts[k] for pair in read_scws(ratings) for k in (0, 1)] * 60, senses=2, vector_size=8,
                 min_count=1, sample=0, epochs=2, workers=1, recipe=Paper(), window=2)  # fmt: skip
    calls = []

    class OneByOne:
        wv, sense_vectors, n_senses = model.wv, model.sense_vectors, model.n_senses

        def __contains__(self, word):
            return word in model

        def sense_probabilities(self, *asked):
            calls.append(asked)
            return model.sense_probabilities(*asked)

    assert ScwsTask(ratings, resamples=0)(model).items == ScwsTask(ratings, resamples=0)(OneByOne()).items
    assert len(calls) == 8
    words, contexts = ["bank", "the", "bank", "a"], ["cash at the bank", "the bank", "qwerty", ["a", "loan"]]
    for word, context, found in zip(words, contexts, model.sense_probabilities_batch(words, contexts), strict=True):
        np.testing.assert_array_equal(found, model.sense_probabilities(word, context))
    assert model.sense_probabilities_batch([], []) == []


def test_scws_reports_what_it_skipped(model, ratings):
    result = ScwsTask(ratings)(model)
    assert (result["pairs"], result["scored"], result["skipped"]) == (5, 3, 2)
    assert [item["skipped"] for item in result.items[3:]] == [
        "not one token: well-known",
        "not in the vocabulary: absent",
    ]
    assert result.items[3]["MaxSimC"] is None
    assert result.notes[-1] == "2 of 5 pairs skipped: not in the vocabulary: absent; not one token: well-known"
    assert "not one token: well-known" in str(result)
    assert result.settings["data"] == "ratings.txt"


def test_scws_position_is_that_of_the_tokenised_target(ratings):
    pair = read_scws(ratings)[0]
    assert pair.contexts[0] == ["cash", "at", "the", "bank"]
    assert pair.positions == (3, 0)
    assert pair.words == ("bank", "money")


def test_scws_without_a_selector(ratings):
    vectors = SenseKeyedVectors.from_word2vec_keys(ANGLES, [unit(a) for a in ANGLES.values()])
    with pytest.raises(ValueError, match="MaxSimC needs a model that selects senses"):
        ScwsTask(ratings)(vectors)
    result = ScwsTask(ratings, score="MaxSim", resamples=0)(vectors)
    assert result["MaxSimC"] is None
    assert result.table[0] == {"measure": "MaxSimC", "rho": None, "low": None, "high": None, "pairs": 0}
    assert result.score == pytest.approx(spearman([9, 8, 1], [cos(90, 80), cos(0, 10), cos(40, 60)]))


def test_scws_with_one_vector_a_word_is_the_same_by_all_measures(ratings):
    words = ["bank", "river", "money", "loan"]
    result = ScwsTask(ratings, resamples=0)(
        SenseKeyedVectors.from_word2vec_keys(words, [unit(a) for a in (0, 9, 50, 70)])
    )
    assert len({result[name] for name in ("MaxSimC", "AvgSimC", "MaxSim", "AvgSim", "globalSim")}) == 1


def test_scws_with_constant_scores_reports_zero_and_says_so(ratings):
    words = ["bank", "river", "money", "loan"]
    result = ScwsTask(ratings)(SenseKeyedVectors.from_word2vec_keys(words, np.zeros((4, 2))))
    assert result.score == 0
    assert "MaxSimC: all scores are equal; reported as 0" in result.notes


DAMAGE = {
    "fields": (LINES[0][:100] + "\n", "line 2: expected 18 tab-separated fields"),
    "mark": (LINES[0].replace("<b> Bank </b>", "Bank"), "line 2: context 1 must mark its word once"),
    "marks": (LINES[0].replace("talks", "<b>talks</b>"), "line 2: context 2 must mark its word once .* found 2"),
    "number": (LINES[0].replace("9.0\n", "nine\n"), "line 2: the rating 'nine' is not a number"),
    "range": (LINES[0].replace("9.0\n", "11\n"), "line 2: the rating '11' is outside"),
    "mean": (LINES[0].replace("9.0\n", "0.0\n"), "line 2: the mean rating 9.0 is not the mean"),
}


@pytest.mark.parametrize("damage", list(DAMAGE))
def test_damaged_scws_names_file_and_line(tmp_path, damage):
    line, message = DAMAGE[damage]
    path = tmp_path / "damaged.txt"
    path.write_text(LINES[0] + line, encoding="utf-8")
    with pytest.raises(ValueError, match=r"damaged\.txt, " + message):
        read_scws(path)


def test_scws_needs_pairs(tmp_path, ratings):
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(ValueError, match="holds no pairs"):
        read_scws(tmp_path / "empty")
    with pytest.raises(ValueError, match="only 0 of 5 SCWS pairs can be scored"):
        ScwsTask(ratings)(SenseKeyedVectors.from_word2vec_keys(["else"], [[1.0]]))
    with pytest.raises(ValueError, match="score must be one of MaxSimC"):
        ScwsTask(ratings, score="maxsimc")


def test_scws_as_published(eval_data):
    pairs = read_scws(eval_data / "scws" / "ratings.txt")
    assert len(pairs) == 2003
    assert sum(None in pair.words for pair in pairs) == 8
    assert all(p.contexts[k][p.positions[k]] == p.words[k] for p in pairs for k in (0, 1) if p.words[k] is not None)


def test_damaged_word_pairs(tmp_path):
    path = tmp_path / "pairs"
    for text, message in (
        ("a b\n", "line 1: expected two words and a rating"),
        ("a b 1\nc d\n", "line 2: no rating in field 3"),
        ("a b 1\nc d nan\n", "line 2: no rating"),
        ("king queen N/A\ncar bus 6\n", "line 1: no rating in field 3 of 'king queen N/A'; a header names its columns"),
        ("a,,1\n", "line 1: a word is missing in 'a,,1'"),
        ("", "holds no word pairs"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            read_word_pairs(path)


PAIRS = [("bank", "river", 9.0), ("money", "loan", 8.0), ("River", "money", 5.0), ("loan", "absent", 1.0)]


def test_word_similarity_through_words_and_senses(model):
    result = WordSimilarityTask(PAIRS, which=["wv", "max", "avg"])(model)
    by_which = {row["which"]: row for row in result.table}
    assert by_which["wv"]["rho"] == pytest.approx(spearman([9, 8, 5], [cos(45, 25), cos(80, 60), cos(25, 80)]))
    assert by_which["max"]["rho"] == pytest.approx(spearman([9, 8, 5], [cos(0, 10), cos(80, 60), cos(40, 80)]))
    assert by_which["avg"]["pairs"] == 3
    assert by_which["avg"]["of"] == 4
    assert result.score == by_which["wv"]["rho"]
    assert result["pairs coverage"] == 0.75
    assert "1 of 4 pairs skipped, unknown words: absent" in result.notes[0]
    assert all(row["low"] <= row["rho"] <= row["high"] for row in result.table)


def test_word_similarity_over_several_sets_is_their_mean(model, tmp_path):
    path = tmp_path / "RG.txt"
    path.write_text("bank river 2\nmoney loan 3\nriver money 1\n")
    result = evaluate_word_similarity(model, {"own": PAIRS, "RG": path}, which="max", resamples=0)
    assert result.score == pytest.approx((result["own max"] + result["RG max"]) / 2)
    assert [row["low"] for row in result.table] == [None, None]


def test_every_pair_has_a_row_and_skipped_ones_say_why(model):
    pairs = [("money", "loan", 1.0), ("river", "loan", 2.0), ("nope", "loan", 3.0), ("nope", "nada", 4.0)]
    result = WordSimilarityTask(pairs, which=["wv", "max"])(model)
    assert [(item["which"], item["word1"], item["skipped"]) for item in result.items] == [
        (which, word, reason)
        for which in ("wv", "max")
        for word, reason in [
            ("money", None), ("river", None), ("nope", "not in the vocabulary: nope"),
            ("nope", "not in the vocabulary: nope, nada"),
        ]
    ]  # fmt: skip
    assert [item["similarity"] is None for item in result.items] == [False, False, True, True] * 2


def test_word_similarity_of_constants_and_unknown_words(model):
    zero = WordSimilarityTask([("zero", "bank", 1.0), ("zero", "loan", 2.0)])(model)
    assert zero.score == 0
    assert "all scores are equal; reported as 0" in zero.notes[0]
    flat = WordSimilarityTask([("money", "loan", 1.0), ("river", "loan", 1.0)])(model)
    assert flat.score == 0
    assert "all ratings are equal" in flat.notes[0]
    with pytest.raises(ValueError, match="only 1 of 2 pairs are in the vocabulary"):
        WordSimilarityTask([("bank", "loan", 1.0), ("x", "y", 2.0)])(model)
    with pytest.raises(ValueError, match="only 0 of 4 pairs"):
        WordSimilarityTask([(a.upper(), b.upper(), r) for a, b, r in PAIRS], lowercase=False)(model)
    with pytest.raises(ValueError, match="which must be one or more of wv, max, avg"):
        WordSimilarityTask(PAIRS, which="vw")
    with pytest.raises(ValueError, match="no data sets"):
        WordSimilarityTask({})


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


QUESTIONS = (
    "1.\tbank\na.\tloan\nb.\triver\nc.\tmoney\nd.\tzero\n\n2.\tmoney\na.\tabsent\nb.\triver\nc.\tloan\nd.\tzero\n"
)
ANSWERS = "1 (a,a,-) 1 b\n2 (a,a,-) 1 c\n"


def test_toefl_layout(tmp_path):
    (tmp_path / "q").write_text(QUESTIONS)
    (tmp_path / "a").write_text(ANSWERS)
    got = read_toefl(tmp_path / "q", tmp_path / "a")
    assert got[0] == SynonymQuestion("bank", ("loan", "river", "money", "zero"), 1)
    assert got[1].candidates[got[1].answer] == "loan"
    assert SynonymTask((tmp_path / "q", tmp_path / "a")).questions == got
    for question, answer, message in (
        ("1. bank\nhm\n", ANSWERS, r"q, line 2: neither a question"),
        ("a. bank\n", ANSWERS, r"q, line 1: neither a question"),
        ("1. a\na. x\nb. y\n1. a\n", ANSWERS, "line 4: question 1 occurs twice"),
        ("1. a\na. x\nA. z\nb. y\n", ANSWERS, "q, line 3: the question has a candidate A already: 'A. z'"),
        (QUESTIONS, "1 b\n2 c\n1 c\n", "a, line 3: question 1 has an answer already: '1 c'"),
        ("1" * 5000 + ". bank\n", ANSWERS, r"q, line 1: neither a question .*\(5,006 characters\)"),
        ("1. a\na. x\n", "1 a\n", r"q: question 1 \('a'\) has only one candidate"),
        (QUESTIONS, "one b\n", r"a, line 1: no answer such as"),
        (QUESTIONS, "1 b\n", r"the answer to question 2 \('money'\) is None"),
        (QUESTIONS, "1 b\n2 e\n", "is 'e'; its candidates are a, b, c, d"),
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
        "question,answer,other,other\nbank,river,loan,\nmoney,loan,hot dog,zero\n",
        "word,answer,b,c\nbank,river,loan,\nmoney,loan,hot dog,zero\n",
        "question | answer | candidate 2\nbank | river | loan\nmoney | loan | hot dog | zero\n",
        'Word\t"Right answer"\tWrong 1\nbank\triver\tloan\nmoney\tloan\t"hot dog"\tzero\n',
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


def test_synonym_accuracy_lists_the_unanswerable(model):
    questions = [
        SynonymQuestion("Bank", ("loan", "river", "zero"), 1),  # 10 degrees: right
        SynonymQuestion("money", ("bank", "loan"), 1),  # the second sense of bank is nearer: wrong
        SynonymQuestion("money", ("absent", "loan"), 1),
        SynonymQuestion("zero", ("bank", "loan"), 0),  # all cosines are 0: half a point
    ]
    result = evaluate_synonyms(model, questions)
    assert result.score == pytest.approx(1.5 / 3)
    assert result["accuracy_all"] == pytest.approx(1.5 / 4)
    assert result["chance"] == pytest.approx((1 / 3 + 1 / 2 + 1 / 2) / 3)
    assert (result["questions"], result["answered"], result["unanswerable"]) == (4, 3, 1)
    assert result.notes == ["unanswerable: money (unknown: absent)"]
    assert [item["chosen"] for item in result.items] == ["river", "bank", None, "bank"]
    assert [item["tied"] for item in result.items] == [1, 1, None, 2]


def test_a_question_about_a_question_is_no_header(tmp_path):
    (tmp_path / "q").write_text("question,query,loan\nword,term,loan\n")
    assert [asked.word for asked in read_synonyms(tmp_path / "q")] == ["question", "word"]


def test_a_candidate_that_is_given_twice_counts_once(model):
    asked = SynonymQuestion("bank", ("loan", "River", "river", "river"), 2)
    result = evaluate_synonyms(model, [asked])
    assert (result.score, result["chance"], result.items[0]["chosen"]) == (1, 0.5, "River")
    assert result.notes == ["questions with a candidate that is given twice, which counts once: bank"]
    with pytest.raises(ValueError, match="the candidates of 'bank' are one word: 'River'"):
        SynonymTask([SynonymQuestion("bank", ("River", "river"), 0)])


LONG = "x" * 1_000_000


@pytest.mark.parametrize(
    ("read", "line"),
    [
        (read_word_pairs, f"a b {LONG}"),
        (read_word_pairs, f"a,{LONG},1"),
        (read_synonyms, LONG),
        (read_synonyms, f"a | | {LONG}"),
        (read_key, LONG),
        (read_key, f"a 1 s/{LONG}"),
        (read_key, f"a 1 /{LONG}"),
        (read_scws, LONG),
        (read_scws, LINES[0].replace("9.0\n", f"{LONG}\n")),
        (read_table, LONG),
        (read_table, f'"{LONG}" x\t'),
    ],
)
def test_long_lines_are_shortened_in_messages(tmp_path, read, line):
    (tmp_path / "long").write_text(f"{line}\n")
    with pytest.raises(ValueError, match="long, line 1") as caught:
        read(tmp_path / "long")
    assert len(str(caught.value)) < 600


def test_synonym_questions_are_checked(model):
    with pytest.raises(ValueError, match="needs 2 or more"):
        SynonymQuestion("a", ("b",), 0)
    with pytest.raises(ValueError, match="candidate 2 of 2"):
        SynonymQuestion("a", ("b", "c"), 2)
    with pytest.raises(ValueError, match="none of the 1 questions can be answered: unknown words absent, gone"):
        SynonymTask([SynonymQuestion("absent", ("gone", "loan"), 0)])(model)
    with pytest.raises(TypeError, match="questions, item 0: must be"):
        SynonymTask([("a", "b")])


def test_fields_that_are_too_long_are_said_with_their_line(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("a,b,1\nc," + "d" * 200_000 + ",2\n")
    with pytest.raises(ValueError, match=r"pairs\.csv, line 2: no valid CSV \(field larger than"):
        read_word_pairs(path)


@pytest.mark.parametrize(
    ("pairs", "kind", "message"),
    [
        ([("bank", "river", "x")], TypeError, "the rating of pair 0 must be a number; got 'x'"),
        ([("bank", "river", 1), ("bank", "money", np.nan)], ValueError, "rating of pair 1 must be a finite number"),
        (("bank", "river", 1.0), TypeError, r"pair 0 must be \(word, word, rating\), in a list of such; got 'bank'"),
        ([("bank", 3, 1.0)], TypeError, "with words that are strings"),
        (5, TypeError, r"a path or a list of \(word, word, rating\); got 5"),
        ([("bank", "river", 1.0)], ValueError, "pairs: a correlation needs at least two rated pairs; got 1"),
    ],
)
def test_pairs_in_memory_are_checked(model, pairs, kind, message):
    with pytest.raises(kind, match=message):
        evaluate_word_similarity(model, pairs)


def test_a_folder_of_data_is_no_file_of_it(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; give the file in it"):
        read_scws(tmp_path)
    with pytest.raises(ValueError, match="/dev/null is a device; give a file"):
        read_scws("/dev/null")
