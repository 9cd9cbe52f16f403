"""The application of docs/web-service.md runs, and answers as the page says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest

from muse import MUSE
from muse.datasets import make_ambiguous_corpus

PAGE = Path(__file__).parents[2] / "docs" / "web-service.md"


@pytest.fixture(scope="module")
def application(tmp_path_factory) -> Callable[..., Any]:
    path = tmp_path_factory.mktemp("service") / "model.safetensors"
    sentences = make_ambiguous_corpus(1500, 200, seed=0).sentences
    MUSE(sentences, vector_size=12, min_count=2, epochs=2, workers=1).save(path)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    scope: dict[str, Any] = {}
    exec(code.replace('"model.safetensors"', repr(str(path))), scope)
    return validator(scope["app"])


def get(application: Callable[..., Any], **query: str) -> tuple[str, dict[str, Any]]:
    """The status and what the body says."""
    environ: dict[str, Any] = {"QUERY_STRING": urlencode(query)}
    setup_testing_defaults(environ)
    said: list[Any] = []
    body = application(environ, lambda status, headers: said.extend([status, dict(headers)]))
    text = b"".join(body)
    body.close()
    assert said[1]["Content-Length"] == str(len(text))
    return said[0], json.loads(text)


def test_a_word_in_a_sentence(application):
    status, answer = get(application, word="bank", context="money in the bank")
    assert status == "200 OK"
    assert answer["sense"].startswith("bank#")
    assert answer["has_context"]
    assert len(answer["neighbours"]) == 10
    assert not any(key.startswith("bank#") for key, _ in answer["neighbours"])


def test_a_word_alone_and_one_that_nobody_knows(application):
    assert get(application, word="bank")[1]["has_context"] is False
    status, answer = get(application, word="bnak", context="money in the bnak")
    assert status == "404 Not Found"
    assert "bank" in answer["near"]
    assert get(application)[0] == "404 Not Found"
    assert get(application, word="東京", context="\x00")[0] == "404 Not Found"
