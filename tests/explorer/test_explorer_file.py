"""The page as one file: what is inside, and that hostile text stays text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from muse import MUSE, UnknownWordError
from muse.change import TemporalMUSE
from muse.explorer import write_html
from muse.explorer.document import json_text
from muse.explorer.models import ExploredModel
from muse.explorer.slices import change_view
from muse.explorer.words import word_view


def data_of(path: Path) -> Any:
    found = re.findall(
        r'<script type="application/json" id="data">(.*?)</script>', path.read_text(encoding="utf-8"), re.S
    )
    assert len(found) == 1
    return json.loads(found[0])


def test_a_file_holds_what_the_server_would_answer(model: MUSE, other: MUSE, text: Path, tmp_path: Path):
    path = tmp_path / "senses.html"
    sentence = "the bank lends money"
    write_html(
        model,
        ["bank", "spring", "bank"],
        path,
        other,
        corpus=text,
        sentences=[sentence],
        names=["one", "two"],
        title="Title",
    )
    data = data_of(path)
    assert data["info"]["title"] == "Title"
    assert data["info"]["start"] == ["bank", "spring"]
    assert data["models"][0]["words"]["bank"] == json.loads(json.dumps(word_view(ExploredModel(model, "one"), "bank")))
    assert data["models"][1]["uses"]["spring"]["read"] > 10
    assert [token["text"] for token in data["models"][0]["sentences"][sentence]["tokens"]] == sentence.split()
    assert data["models"][0]["reasons"][sentence]["1"]["token"] == 1
    assert set(data["compare"]) == {"0-1", "1-0"}
    page = path.read_text(encoding="utf-8")
    for asked in ("src=", '<link rel="stylesheet"', "explorer.js", "explorer.css"):
        assert asked not in page.replace("img-src data:", "").partition('id="data"')[0]


def test_a_file_holds_slices_of_time(slices: TemporalMUSE, tmp_path: Path):
    path = tmp_path / "time.html"
    write_html(slices, ["bank", "spring"], path)
    data = data_of(path)
    assert data["info"]["models"][0]["slices"] == ["1900s", "2000s"]
    (model,) = data["models"]
    assert model["change"] == json.loads(json.dumps(change_view(slices)))
    assert set(model["over"]) == {"bank", "spring"}


def test_its_policy_allows_its_own_script_and_style_alone(model: MUSE, tmp_path: Path):
    path = tmp_path / "senses.html"
    write_html(model, ["bank"], path)
    page = path.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]  # type: ignore[index]
    assert "unsafe" not in policy
    for kind, tag in (("script", "<script>"), ("style", "<style>")):
        (content,) = re.findall(rf"{tag}(.*?)</{kind}>", page, re.S)
        hashed = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{hashed}'" in policy
    assert page.index("Content-Security-Policy") < page.index("<style>")


HOSTILE = ["</script><script>alert(1)</script>", "<!--<script>", "a\u2028b", "&amp;", "\ud800", '"', "<!-- data -->"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(model: MUSE, tmp_path: Path, text: str):
    path = tmp_path / "senses.html"
    write_html(model, ["bank"], path, sentences=[text + " bank"], names=[text], title=text)
    data = data_of(path)
    assert data["info"]["title"] == text
    assert data["info"]["models"][0]["name"] == text
    page = path.read_text(encoding="utf-8")
    assert page.count("</script>") == 2
    assert page.count("<script") == 2


def test_hostile_words_stay_text(tmp_path: Path):
    words = ["</script>", "<img", "__proto__", "constructor", "'); drop"]
    model = MUSE([words * 3] * 60, vector_size=4, workers=1, epochs=1, min_count=1)
    path = tmp_path / "senses.html"
    write_html(model, words, path)
    assert set(data_of(path)["models"][0]["words"]) == set(words)
    assert path.read_text(encoding="utf-8").count("</script>") == 2


def test_json_in_a_page_reads_as_it_was():
    value = {"a": ["<", ">", "&", "\u2028", "\u2029", "é", 1.5, None, True]}
    written = json_text(value)
    assert json.loads(written) == value
    assert not set(written) & set("<>&\u2028\u2029")
    with pytest.raises(ValueError, match="Out of range"):
        json_text(float("nan"))


def test_wrong_arguments_leave_no_file(model: MUSE, tmp_path: Path):
    path = tmp_path / "senses.html"
    with pytest.raises(UnknownWordError, match="bank"):
        write_html(model, ["bannk"], path)
    with pytest.raises(ValueError, match="name at least one word"):
        write_html(model, [], path)
    with pytest.raises(TypeError, match="must be a list of strings"):
        write_html(model, "bank", path)
    with pytest.raises(TypeError, match="must be strings"):
        write_html(model, ["bank", 3], path)  # type: ignore[list-item]
    with pytest.raises(TypeError, match="sentences must be a list"):
        write_html(model, ["bank"], path, sentences="the bank")
    with pytest.raises(FileNotFoundError):
        write_html(model, ["bank"], tmp_path / "none" / "senses.html")
    with pytest.raises(FileNotFoundError):
        write_html(model, ["bank"], path, corpus=tmp_path / "missing.txt")
    assert not path.exists()


def test_a_word_that_one_model_knows_is_enough(model: MUSE, tmp_path: Path):
    small = MUSE([["river", "bank"]] * 20, vector_size=4, workers=1, epochs=1, min_count=1)
    path = tmp_path / "senses.html"
    write_html(small, ["bank", "spring"], path, model)
    data = data_of(path)
    assert [set(each["words"]) for each in data["models"]] == [{"bank"}, {"bank", "spring"}]
    assert set(data["compare"]["0-1"]) == {"bank"}
