"""The file of SCWS as it is published, and with each kind of damage."""

import pytest

from muse.evaluation import read_scws
from published import scws_line

LINE = scws_line(1, "Bank", "money", "cash at the <b> Bank </b> .", "<b>money</b> talks", 9.0)
DAMAGE = {
    "fields": (LINE[:100] + "\n", "line 2: expected 18 tab-separated fields"),
    "mark": (LINE.replace("<b> Bank </b>", "Bank"), "line 2: context 1 must mark its word once"),
    "marks": (LINE.replace("talks", "<b>talks</b>"), "line 2: context 2 must mark its word once .* found 2"),
    "number": (LINE.replace("9.0\n", "nine\n"), "line 2: the rating 'nine' is not a number"),
    "range": (LINE.replace("9.0\n", "11\n"), "line 2: the rating '11' is outside"),
    "mean": (LINE.replace("9.0\n", "0.0\n"), "line 2: the mean rating 9.0 is not the mean"),
}


@pytest.mark.parametrize("damage", list(DAMAGE))
def test_damaged_scws_names_file_and_line(tmp_path, damage):
    line, message = DAMAGE[damage]
    path = tmp_path / "damaged.txt"
    path.write_text(LINE + line, encoding="utf-8")
    with pytest.raises(ValueError, match=r"damaged\.txt, " + message):
        read_scws(path)


def test_scws_as_published(eval_data):
    pairs = read_scws(eval_data / "scws" / "ratings.txt")
    assert len(pairs) == 2003
    assert sum(None in pair.words for pair in pairs) == 8
    assert all(p.contexts[k][p.positions[k]] == p.words[k] for p in pairs for k in (0, 1) if p.words[k] is not None)
