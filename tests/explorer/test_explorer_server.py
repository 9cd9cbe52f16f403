"""The server: what it serves, to whom, and what it refuses."""

from __future__ import annotations

import json
import socket
import threading
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from muse import MUSE
from muse.explorer import ExplorerServer, serve
from muse.explorer import server as server_module
from muse.explorer.document import SCRIPTS, STYLES, document, script, static, style


def ask(server: ExplorerServer, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    address = urlsplit(server.url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=60)
    try:
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def test_the_page_and_its_parts_are_served_with_a_strict_policy(server: ExplorerServer):
    for path, kind in (
        ("/", "text/html"),
        ("/explorer.js", "text/javascript"),
        ("/explorer.css", "text/css"),
        ("/icon.svg", "image/svg+xml"),
    ):
        status, headers, content = ask(server, path)
        assert status == 200
        assert headers["Content-Type"].startswith(kind)
        assert len(content) > 100
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "*" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
    assert b"<script src" in ask(server, "/")[2]


def test_answers_are_json(server: ExplorerServer):
    status, headers, content = ask(server, "/api/word?word=bank&model=1")
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert json.loads(content)["word"] == "bank"
    status, headers, content = ask(server, "/api/word?word=bank", "HEAD")
    assert (status, content) == (200, b"")
    assert int(headers["Content-Length"]) > 100


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/../../etc/passwd", 404),
        ("/page/base.js", 404),
        ("/%2e%2e/server.py", 404),
        ("/api/", 404),
        ("/api/word?word=qqqq", 404),
        ("/api/word", 400),
        ("/api/word?word=%ff", 400),
        ("/api/word?" + "&".join(f"a{i}=1" for i in range(100)), 400),
        ("/api/uses?word=bank&model=9", 400),
        ("/api/sentence?text=" + "x" * 5000, 400),
        ("/api/word?word=" + quote("<script>alert(1)</script>"), 404),
    ],
)
def test_what_is_wrong_is_said_and_nothing_else_is_served(server: ExplorerServer, path: str, status: int):
    got, headers, content = ask(server, path)
    assert got == status
    assert json.loads(content)["error"]
    assert headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:1", 200), ("127.0.0.1", 200), ("[::1]:80", 200), ("192.168.0.7:8765", 200),
        ("evil.example", 403), ("127.0.0.1.evil.example", 403), ("localhost.evil.example:8765", 403), ("", 403),
        ("[", 403),
    ],
)  # fmt: skip
def test_other_hosts_are_refused_so_that_no_other_site_can_read(server: ExplorerServer, host: str, status: int):
    assert ask(server, "/", Host=host)[0] == status
    assert ask(server, "/api/info", Host=host)[0] == status


@pytest.mark.parametrize(
    ("site", "status"), [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)]
)
def test_pages_of_other_sites_get_no_answers(server: ExplorerServer, site: str, status: int):
    assert ask(server, "/api/info", Sec_Fetch_Site=site)[0] == status
    assert ask(server, "/", Sec_Fetch_Site=site)[0] == 200  # a link to the page may stand anywhere


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"])
def test_nothing_can_be_changed(server: ExplorerServer, method: str):
    assert ask(server, "/api/info", method)[0] == 501


def test_what_fails_inside_is_logged_and_not_told(server: ExplorerServer, monkeypatch: pytest.MonkeyPatch, caplog: Any):
    def fail(*args: Any) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr("muse.explorer.answers.sentence_view", fail)
    status, _, content = ask(server, "/api/sentence?text=bank")
    assert status == 500
    assert b"secret" not in content
    assert "a secret" in caplog.text


def test_ports_are_tried_one_after_another_or_the_one_that_is_given(model: MUSE, monkeypatch: pytest.MonkeyPatch):
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        taken = busy.getsockname()[1]
        monkeypatch.setattr(server_module, "FIRST_PORT", min(taken, 65500))
        with ExplorerServer(model) as found:
            assert taken <= urlsplit(found.url).port < taken + 20  # type: ignore[operator]
            assert urlsplit(found.url).port != taken
        with pytest.raises(OSError, match="in use; give another port"):
            ExplorerServer(model, port=taken)
    with pytest.raises(ValueError, match="port"):
        ExplorerServer(model, port=70000)
    with pytest.raises(TypeError, match="port"):
        ExplorerServer(model, port="80")  # type: ignore[arg-type]


def test_serve_opens_the_page_and_ends_with_ctrl_c(model: MUSE, monkeypatch: pytest.MonkeyPatch, capsys: Any):
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    alive = threading.Thread.is_alive

    def interrupted(thread: threading.Thread) -> bool:  # as by somebody who has seen enough
        if thread.name == "muse explorer":
            raise KeyboardInterrupt
        return alive(thread)

    monkeypatch.setattr(threading.Thread, "is_alive", interrupted)
    serve(model, port=0)
    assert opened[0] in capsys.readouterr().out
    with pytest.raises(OSError, match=r"refused|reset|not"):
        HTTPConnection("127.0.0.1", urlsplit(opened[0]).port, timeout=10).connect()
    serve(model, port=0, open_browser=False)
    assert len(opened) == 1


def test_the_page_is_small_and_asks_nothing_of_the_net():
    code = {path: content for path, (_, content) in static().items()}
    assert sum(map(len, code.values())) < 150_000
    for content in (document(), script(), style()):
        for scheme in ("https://", "http://", "//cdn", "@import", "url("):
            assert scheme not in content.replace("http://www.w3.org/2000/svg", "")


def test_text_is_never_set_as_html():
    for forbidden in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        ".srcdoc",
    ):
        assert forbidden not in script()
    assert "onclick=" not in document()
    assert " style=" not in document()


def test_every_file_of_the_page_is_used():
    from importlib.resources import files

    there = {file.name for file in (files("muse.explorer") / "page").iterdir() if not file.name.startswith(".")}
    assert there == {*SCRIPTS, *STYLES, "index.html", "icon.svg"}


def test_what_is_no_address_is_answered(server: ExplorerServer):
    assert ask(server, "//[")[0] == 404
