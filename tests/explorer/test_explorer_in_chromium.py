"""The explorer in a real Chromium, headless, the net off: what a person does with it, and whether everybody can.

``MUSE_SCREENSHOTS=folder`` keeps pictures of the views; with ``MUSE_SCREENSHOT_MODELS=one.safetensors:two.safetensors``
and ``MUSE_SCREENSHOT_CORPUS=text.txt`` they are of these models in place of small ones.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import threading
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, chromium

from muse import MUSE
from muse.change import TemporalMUSE
from muse.explorer import ExplorerServer, write_html
from muse.explorer.uses import ScannedText

pytestmark = [
    pytest.mark.skipif(chromium() is None, reason="no Chromium: apt install chromium, or name one in $MUSE_CHROMIUM"),
    pytest.mark.skipif(os.name != "posix", reason="the browser is driven over a pipe of POSIX"),
]

SENTENCE = "Interest on the money in the bank"
AXES = ("axe_core_python", "axe_playwright_python", "axe_selenium_python")  # packages that hold axe.min.js


@pytest.fixture(scope="module")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def browser(downloads: Path) -> Iterator[Browser]:
    with Browser(downloads) as started:
        started.look(1280, dark=False)
        yield started


@pytest.fixture
def page(browser: Browser, server: ExplorerServer) -> Iterator[Browser]:
    browser.open("about:blank")
    browser.errors.clear()
    browser.requests.clear()
    browser.open(server.url)
    yield browser
    assert browser.errors == []
    assert all(url.startswith((server.url, "blob:", "data:", "about:")) for url in browser.requests)


def downloaded(folder: Path, name: str) -> str:
    path, end = folder / name, time.monotonic() + 30
    while not path.exists() or path.stat().st_size == 0:
        assert time.monotonic() < end, f"{name} was not saved; there are {sorted(folder.iterdir())}"
        time.sleep(0.02)
    return path.read_text(encoding="utf-8-sig")


def test_a_word_is_typed_and_a_neighbour_followed(page: Browser):
    page.press("/")
    assert page.run("document.activeElement.id") == "search"
    page.type("ban")
    page.wait("document.querySelectorAll('[role=option]').length > 0")
    assert page.run("document.querySelector('#search').getAttribute('aria-expanded')") == "true"
    page.press("ArrowDown")
    assert page.run("document.querySelector('[aria-selected=true]').id") == page.run(
        "document.querySelector('#search').getAttribute('aria-activedescendant')"
    )
    page.press("Enter")
    page.wait("location.hash === '#/word/bank' && document.querySelectorAll('.card').length > 1")
    assert page.text("h1") == "bank"
    assert page.run("document.title").startswith("bank")
    assert page.run("document.activeElement.tagName") == "H1"
    page.wait("document.querySelectorAll('.uses mark').length > 2")
    followed = page.text(".near a.chip")
    page.click(".near a.chip")
    page.wait(f"document.querySelector('h1').innerText === {followed!r}")
    page.run("history.back()")
    page.wait("document.querySelector('h1').innerText === 'bank'")
    page.run("history.forward()")
    page.wait(f"document.querySelector('h1').innerText === {followed!r}")


def test_the_number_of_senses_is_changed_at_once_and_is_in_the_address(page: Browser, server: ExplorerServer):
    page.open(server.url + "#/word/bank")
    page.wait("document.querySelectorAll('.card').length === 4")
    asked = len(page.requests)
    page.run("document.querySelector('#level').focus()")
    page.press("ArrowRight")
    page.wait("document.querySelectorAll('.card').length === 5 && location.hash === '#/word/bank?level=5'")
    page.click(".level [aria-label='Fewer senses']")
    page.click(".level [aria-label='Fewer senses']")
    page.wait("document.querySelectorAll('.card').length === 3")
    assert page.run("document.querySelectorAll('.map .centre').length") == 3
    assert page.text("#level-told") == "3 senses"
    assert [url for url in page.requests[asked:] if "/api/word" in url] == []
    page.run("history.back()")
    page.wait("document.querySelectorAll('.card').length === 4")
    page.open(server.url + "#/word/bank?level=2")
    page.wait("document.querySelectorAll('.card').length === 2")
    split = page.run("document.querySelectorAll('.parts button').length")
    assert split > 0
    page.click(".parts button")
    page.wait("document.querySelectorAll('.card').length > 2")


def test_labels_of_the_map_do_not_overlap(page: Browser, server: ExplorerServer):
    page.open(server.url + "#/word/bank")
    page.wait("document.querySelectorAll('.map-word').length > 10")
    overlapping = page.run("""(() => {
        const boxes = [...document.querySelectorAll('.map-word')].map((word) => word.getBoundingClientRect());
        return boxes.flatMap((a, at) => boxes.slice(at + 1).filter((b) =>
            a.left + 1 < b.right && b.left + 1 < a.right && a.top + 4 < b.bottom && b.top + 4 < a.bottom)).length;
    })()""")
    assert overlapping == 0


def test_a_sentence_is_typed_and_shows_what_decides(page: Browser):
    page.click("[data-view=sentence]")
    page.wait("document.activeElement.id === 'sentence'")
    page.type(SENTENCE)
    page.press("Enter")
    page.wait("document.querySelectorAll('.token').length === 7")
    page.click("[data-token='6']")
    page.wait("document.querySelector('.detail h2') && document.querySelector('.detail h2').innerText.includes('bank')")
    page.wait("document.querySelector('[data-token=\"6\"]').getAttribute('aria-pressed') === 'true'")
    told = page.run("[...document.querySelectorAll('.effects tbody th')].map((word) => word.innerText)")
    assert {"money", "Interest"} & set(told[:3])
    assert "at=6" in page.run("location.hash")
    assert page.run("document.querySelectorAll('.detail .bars')[0].rows.length") == 4


def test_a_use_leads_to_the_words_that_decide_it(page: Browser, server: ExplorerServer):
    page.open(server.url + "#/word/bank")
    page.click("a.use")
    page.wait("location.hash.startsWith('#/sentence?') && document.querySelector('.detail h2')")
    assert "bank" in page.text(".detail h2")
    assert page.run("document.querySelector('[aria-pressed=true]').innerText").startswith("bank")


def test_two_models_are_compared(page: Browser, server: ExplorerServer):
    page.open(server.url + "#/word/bank")
    page.click(".word-head .button")
    page.wait("location.hash.startsWith('#/compare/bank') && document.querySelectorAll('.side').length === 2")
    assert page.run("[...document.querySelectorAll('.side h2')].map((name) => name.innerText)") == ["one", "two"]
    assert page.run("document.querySelectorAll('.tie-table tbody tr').length") >= 2
    assert page.run("document.querySelectorAll('.chip.common').length") > 0
    page.click("[aria-label='two'] [aria-label='Fewer senses']")
    page.wait("document.querySelectorAll('.side')[1].querySelectorAll('.card').length === 3")
    assert "lb=3" in page.run("location.hash")
    page.press("/")
    page.type("cell")
    page.press("Enter")
    page.wait("location.hash.startsWith('#/compare/cell')")


def test_slices_of_time_are_side_by_side(page: Browser):
    page.wait("!document.querySelector('[data-view=change]').hidden")
    page.click("[data-view=change]")
    page.wait("document.querySelector('.facts-table a')")
    assert page.text("h1") == "Words that changed"
    page.run("location.hash = '#/change/bank'")
    page.wait("document.querySelectorAll('.change-view .side').length > 3")
    assert page.text("h1") == "bank over time"
    lines = page.run("document.querySelectorAll('.over .shares').length")
    assert lines == page.run("document.querySelectorAll('.change-view article').length") > 1
    assert page.run("document.querySelectorAll('.change-view article .two .side').length") == 2 * lines
    assert page.run("[...document.querySelectorAll('.change-view mark')].every((mark) => mark.innerText === 'bank')")
    assert page.run("document.querySelectorAll('.over [d*=NaN]').length") == 0
    page.run("location.hash = '#/change/bank?model=1'")
    page.wait("document.querySelector('h1').innerText === 'Senses over time'")


def test_a_file_shows_slices_of_time(browser: Browser, slices: TemporalMUSE, tmp_path: Path):
    write_html(slices, ["bank", "spring"], tmp_path / "time.html")
    browser.errors.clear()
    browser.open((tmp_path / "time.html").as_uri() + "#/change")
    browser.wait("document.querySelector('.facts-table a[href=\"#/change/bank\"]')")
    browser.click("a[href='#/change/bank']")
    browser.wait("document.querySelectorAll('.over .band').length > 1")
    assert browser.errors == []


def test_what_is_shown_is_exported(page: Browser, server: ExplorerServer, downloads: Path, model: MUSE):
    page.open(server.url + "#/word/spring?level=2")
    page.wait("document.querySelectorAll('.uses mark').length > 0")
    for kind in ("json", "csv", "svg"):
        page.click(f"[data-export={kind}]")
    told = json.loads(downloaded(downloads, "spring.json"))
    numbers = model.sense_numbers("spring", level=2).tolist()
    assert {sense["sense"] for sense in told["senses"]} == {f"spring#{number}" for number in numbers}
    assert told["senses"][0]["neighbours"][0]["cosine"] > 0
    rows = list(csv.DictReader(downloaded(downloads, "spring.csv").splitlines()))
    assert {row["kind"] for row in rows} == {"neighbour", "use"}
    assert {row["sense"] for row in rows} == {sense["sense"] for sense in told["senses"]}
    drawing = ET.fromstring(downloaded(downloads, "spring.svg"))
    texts = [text for element in drawing.iter("{http://www.w3.org/2000/svg}text") if (text := element.text)]
    assert {str(number) for number in numbers} <= set(texts)
    assert len(texts) > 5
    assert not any("class" in element.attrib for element in drawing.iter())


def test_uses_that_come_late_take_the_focus_from_nothing(page: Browser, model: MUSE, text: Path):
    wanted = threading.Event()

    class Late:
        def find(self, words: Any, limit: int) -> Any:
            assert wanted.wait(60)
            return ScannedText(text).find(words, limit)

    with ExplorerServer(model, corpus=Late(), port=0) as slow:
        page.open(slow.url + "#/word/bank")
        page.wait("document.body.innerText.includes('Looking for uses')")
        page.run("document.querySelector('.near a').focus()")
        wanted.set()
        page.wait("document.querySelectorAll('.uses mark').length > 0")
        assert page.run("document.activeElement === document.querySelector('.near a')")
        page.requests.clear()


ODD = [
    "<img/src=x/onerror=alert(1)>", "__proto__", "constructor", "a?b#c&d=e", "100%", "%2F..%2F", "../..", "x" * 400,
    "שלום", "\u202eevil", "=1+1", "'\"`${1}", "🎉", "new/york",
]  # fmt: skip


def test_odd_words_are_words(browser: Browser, tmp_path: Path):
    odd = MUSE([ODD * 2] * 40, vector_size=6, workers=1, epochs=1, min_count=1)
    path = tmp_path / "odd.html"
    write_html(odd, ODD, path)
    with ExplorerServer(odd, odd, port=0) as server:
        browser.open("about:blank")
        browser.errors.clear()
        for base in (server.url, path.as_uri()):
            browser.open(base)
            for view in ("word", "compare"):
                for word in ODD if base == server.url or view == "word" else []:
                    browser.run(f"location.hash = '#/{view}/' + encodeURIComponent({json.dumps(word)})")
                    browser.wait(f"document.querySelector('h1').textContent.startsWith({json.dumps(word)})")
                    browser.wait("document.querySelectorAll('.card').length > 0")
                    content, window = browser.size()
                    assert content <= window, word
            browser.press("/")
            browser.type("__")
            browser.wait("document.querySelectorAll('[role=option]').length === 1")
            browser.press("Escape")
        assert browser.run("document.querySelectorAll('main img').length") == 0
        assert browser.errors == []


def test_a_word_that_is_not_known_leads_to_those_like_it(browser: Browser, server: ExplorerServer):
    browser.open("about:blank")
    browser.open(server.url + "#/word/bannk")
    browser.wait("document.querySelector('[role=alert]')")
    browser.click("[role=alert] a.chip")
    browser.wait("document.querySelectorAll('.card').length > 0")


def test_the_look_is_chosen_and_kept(page: Browser, server: ExplorerServer):
    paper = "getComputedStyle(document.body).backgroundColor"
    page.look(1280, dark=True)
    dark = page.run(paper)
    page.look(1280, dark=False)
    light = page.run(paper)
    assert dark != light
    page.click("#theme")
    page.click("#theme")
    assert page.run(paper) == dark
    page.open("about:blank")
    page.open(server.url)
    assert page.run(paper) == dark
    page.click("#theme")
    assert page.run(paper) == light


def test_everything_is_reached_with_the_tab_key_and_seen(page: Browser, server: ExplorerServer):
    page.open("about:blank")
    page.open(server.url + "#/word/bank")
    page.wait("document.querySelectorAll('.card').length > 1")
    reached = []
    for _ in range(14):
        page.press("Tab")
        reached.append(page.run("document.activeElement.id || document.activeElement.className"))
        assert page.run("getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert reached[0] == "skip"
    assert {"brand", "search", "model", "theme", "level"} <= set(reached)


def test_one_file_shows_the_same_without_a_server(
    browser: Browser, model: MUSE, other: MUSE, text: Path, tmp_path: Path, downloads: Path
):
    path = tmp_path / "senses.html"
    write_html(model, ["bank", "spring"], path, other, corpus=text, sentences=[SENTENCE], names=["one", "two"])
    browser.open("about:blank")
    browser.errors.clear()
    browser.requests.clear()
    browser.open(path.as_uri())
    browser.press("/")
    browser.type("ban")
    browser.press("Enter")
    browser.wait("document.querySelector('[role=alert] a.chip')")  # no such word, but those of the file
    browser.click("[role=alert] a.chip")
    browser.wait(
        "document.querySelectorAll('.card').length === 4 && document.querySelectorAll('.uses mark').length > 2"
    )
    browser.click(".level [aria-label='Fewer senses']")
    browser.wait("document.querySelectorAll('.card').length === 3")
    browser.click("[data-export=svg]")
    downloaded(downloads, "bank.svg")
    browser.click("[data-view=sentence]")
    browser.click(".examples a")
    browser.wait("document.querySelectorAll('.effects tbody tr').length > 1")
    browser.open(path.as_uri() + "#/compare/bank")
    browser.wait("document.querySelectorAll('.side .card').length > 3")
    assert browser.errors == []
    assert all(url.startswith(("file:", "blob:", "data:")) for url in browser.requests)


def axe() -> str | None:
    """The text of axe, where some package has it."""
    for name in AXES:
        found = importlib.util.find_spec(name)
        for folder in [] if found is None else found.submodule_search_locations or []:
            for path in Path(folder).rglob("axe.min.js"):
                return path.read_text(encoding="utf-8")
    return None


ADDRESSES = {
    "start": "",
    "word": "#/word/bank",
    "sentence": "#/sentence?text=" + SENTENCE.replace(" ", "+") + "&at=6",
    "compare": "#/compare/bank?a=0&b=1",
    "changed": "#/change",
    "over time": "#/change/bank",
    "unknown": "#/word/bannk",
}


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)], ids=["desktop", "phone"])
def test_no_view_has_faults_of_accessibility_or_scrolls_sideways(
    browser: Browser, server: ExplorerServer, width: int, dark: bool
):
    script = axe()
    browser.look(width, dark=dark)
    try:
        for name, address in ADDRESSES.items():
            browser.open("about:blank")
            browser.open(server.url + address)
            browser.wait("document.querySelector('main h1')")
            browser.wait("!document.body.innerText.includes('Looking for uses')")
            content, window = browser.size()
            assert content <= window, name
            if script is not None:
                browser.run(f"{script};0")
                faults = browser.run(
                    "axe.run().then((found) => found.violations.map((fault) => [fault.impact, fault.id, "
                    "fault.nodes.slice(0, 3).map((node) => node.html.slice(0, 200) + node.failureSummary)]))"
                )
                assert faults == [], name
    finally:
        browser.look(1280, dark=False)
    if script is None:
        pytest.skip("the widths are right, but axe was not run: pip install axe-core-python")


@pytest.mark.skipif("MUSE_SCREENSHOTS" not in os.environ, reason="MUSE_SCREENSHOTS names no folder for pictures")
def test_pictures_are_taken(browser: Browser, server: ExplorerServer):
    folder = Path(os.environ["MUSE_SCREENSHOTS"])
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as opened:
        shown: Any = server
        if named := os.environ.get("MUSE_SCREENSHOT_MODELS"):
            corpus = os.environ.get("MUSE_SCREENSHOT_CORPUS")
            shown = opened.enter_context(ExplorerServer(*named.split(os.pathsep), corpus=corpus, port=0))
        said = "She sat on the bank of the river and watched the boats".replace(" ", "+")
        addresses = {**ADDRESSES, "sentence": f"#/sentence?text={said}&word=bank"}
        for width in (1280, 390):
            for dark in (False, True):
                browser.look(width, dark=dark, height=1000 if width > 500 else 844)
                for name in ("start", "word", "sentence", "compare"):
                    browser.open("about:blank")
                    browser.open(shown.url + addresses[name])
                    browser.wait("document.querySelector('main h1')")
                    browser.wait("!document.body.innerText.includes('Looking for uses')")
                    path = folder / f"explorer-{name}-{width}-{'dark' if dark else 'light'}.png"
                    browser.picture(path, whole=False)
                    assert path.stat().st_size > 5000
    browser.look(1280, dark=False)
