"""Tables of contexts with their senses: the layouts of RUSSE and TWSI."""

import pytest

from muse.evaluation import read_table
from published import RUSSE, RUSSE_HEADER, TWSI


def test_sentences_of_twsi_may_begin_with_a_quote(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        TWSI.replace("the banks there", '"A banks"').replace("4,9", "3,8") + "8\tbank\tn\t0,4\tb\t\t\tbank\n"
    )
    assert [item.form for item in read_table(path)] == ["banks", "bank"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\n", "line 1: the header lacks the tab-separated column"),
        (RUSSE.replace("4-8", "4:8"), "line 3: no position start-end inside"),
        (RUSSE.replace("4-8", "1" * 5000 + "-8"), r"line 3: no position .*\(5,002 characters\)"),
        (RUSSE + '3\tb\t1\t\t0-1\t"b" x\n', "line 4: a field that begins with a quote must end with one"),
        (RUSSE + '3\tb\t1\t\t0-1\t"b x\ny\n', "line 4: a field that begins with a quote must end with one"),
        (RUSSE + "2\tbank\t1\t\t4-8\tthe bank there\n", "line 4: the occurrence '2' of 'bank' .* 3 with other senses"),
        (
            RUSSE + "2\tbank\t2\t\t4-8\tthe bank here\n",
            "line 4: the occurrence '2' of 'bank' .* 3 with another context",
        ),
        (RUSSE + "\tbank\t2\t\t4-8\tthe bank here\n", "line 4: the context_id is missing"),
        (RUSSE + "4\t\t2\t\t4-8\tthe bank here\n", "line 4: the word is missing"),
        (RUSSE.replace("4-8", "4-80"), "line 3: no position start-end inside"),
        (RUSSE + "3\tbank\n", "line 4: 2 fields"),
        (RUSSE.split("\n")[0], "holds no contexts"),
    ],
)
def test_damaged_tables(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_table(path)


@pytest.mark.parametrize(
    ("positions", "text", "form", "tokens"),
    [
        ("4-7", "the war is", "war", 3),
        ("4-6", "the war is", "war", 3),  # the end is that of the last letter, as in RUSSE_HEADER's bts-rnc
        ("5-7", "the war is", "war", 3),
        ("0-4", "замки стоят", "замки", 2),
        ("4-6", "the war-time is", "war", 4),
        ("2-4", "这是战争的", "战争", 3),  # no spaces between words: nothing is cut
    ],
)
def test_an_offset_inside_a_word_means_the_whole_word(tmp_path, positions, text, form, tokens):
    (tmp_path / "t.tsv").write_text(f"{RUSSE_HEADER}1\twar\t1\t\t{positions}\t{text}\n", encoding="utf-8")
    (found,) = read_table(tmp_path / "t.tsv")
    assert (found.form, found.tokens[found.position], len(found.tokens)) == (form, form, tokens)
