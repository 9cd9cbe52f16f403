"""Serves the page and its answers on this machine."""

from __future__ import annotations

import errno
import ipaddress
import json
import logging
import socket
import threading
import webbrowser
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from muse.base.checks import integer, optional
from muse.explorer.answers import Answers, NoSuchWordError
from muse.explorer.document import SERVED_POLICY, static
from muse.explorer.models import ModelOrPath, explored
from muse.explorer.uses import use_source

__all__ = ["ExplorerServer", "serve"]

_log = logging.getLogger("muse.explorer")

HOST = "127.0.0.1"  # so that only this machine reaches it
FIRST_PORT, _PORTS = 8765, 20  # tried one after another
_TAKEN = (errno.EADDRINUSE, getattr(errno, "WSAEADDRINUSE", errno.EADDRINUSE))
_PATIENCE = 30  # seconds that a connection may say nothing
_PULSE = 0.1  # seconds after which it is seen that the server is to be closed
_HEADERS = {
    "Content-Security-Policy": SERVED_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


class ExplorerServer:
    """The explorer of some models, which answers from when it is made to when it is closed.

    Parameters
    ----------
    model_or_path, *others : MUSE, or path of a model file
        Trained models; all of them can be compared.
    corpus : path, list of paths, iterable of lists of str, CorpusIndex or UseSource, optional
        A text from which example uses are taken, or its index (``*.muse-index``). A path whose index lies beside it is
        looked up there; without one the text is read through for each word.
    host : str
        Where to listen. Others on the network reach the page only with another host than the default.
    port : int, optional
        Without it, the first free one from 8765 on; 0 is any.
    names : sequence of str, optional
        What the models are called; by default as their files.

    Attributes
    ----------
    url : str
        The address of the page.

    Raises
    ------
    OSError
        If the port is taken, or a file cannot be read.
    TypeError, ValueError, NotTrainedError
        For what is no trained model, no text, or no port.

    Examples
    --------
    >>> with ExplorerServer(model) as server:  # doctest: +SKIP
    ...     print(server.url)
    """

    def __init__(
        self,
        model_or_path: ModelOrPath,
        *others: ModelOrPath,
        corpus: Any = None,
        host: str = HOST,
        port: int | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        port = optional(integer(0, 65535))("port", port)
        models = explored([model_or_path, *others], names)
        answers = Answers(models, use_source(corpus), " · ".join(model.name for model in models))
        self._http = _listening(host, port, answers)
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self._http.server_address[1]}/"
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(_PULSE,), name="muse explorer", daemon=True
        )
        self._thread.start()

    def wait(self) -> None:
        """Wait until another thread closes the server, or for Ctrl-C."""
        try:
            while self._thread.is_alive():
                self._thread.join(1.0)
        except KeyboardInterrupt:
            print()  # the shell's ^C stays on its line

    def close(self) -> None:
        """Stop answering."""
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<ExplorerServer: {self.url}>"


def serve(
    model_or_path: ModelOrPath,
    *others: ModelOrPath,
    corpus: Any = None,
    host: str = HOST,
    port: int | None = None,
    open_browser: bool = True,
    names: Sequence[str] | None = None,
) -> None:
    """Serve the explorer of some models until Ctrl-C, and open it in the browser.

    Parameters
    ----------
    model_or_path, *others, corpus, host, port, names
        As of an `ExplorerServer`, which does the same without waiting.
    open_browser : bool
        Whether the page opens by itself.

    Raises
    ------
    OSError, TypeError, ValueError, NotTrainedError
        As `ExplorerServer`.

    Examples
    --------
    >>> muse.explorer.serve("wiki.safetensors", corpus="wiki.txt")  # doctest: +SKIP
    """
    with ExplorerServer(model_or_path, *others, corpus=corpus, host=host, port=port, names=names) as server:
        print(f"the explorer is at {server.url} (Ctrl-C ends it)", flush=True)
        if open_browser:
            webbrowser.open(server.url)
        server.wait()


def _listening(host: str, port: int | None, answers: Answers) -> _Server:
    ports = range(FIRST_PORT, FIRST_PORT + _PORTS) if port is None else [port]
    for tried in ports:
        try:
            return _Server(host, tried, answers)
        except OSError as error:
            if error.errno not in _TAKEN:
                raise
    raise OSError(errno.EADDRINUSE, f"port {ports[0]} is in use; give another port, or 0 for any that is free")


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, host: str, port: int, answers: Answers) -> None:
        if ":" in host:
            self.address_family = socket.AF_INET6
        self.allow_reuse_address = hasattr(socket, "SO_REUSEADDR") and not hasattr(socket, "SO_EXCLUSIVEADDRUSE")
        self.answers, self.host, self.static = answers, host.lower(), static()
        super().__init__((host, port), _Handler)

    def is_ours(self, host: str) -> bool:
        """Whether a Host header names this machine by address, as localhost, or as it was asked to listen.

        A page of another site can make its own name mean this machine (DNS rebinding), but must name itself here.
        """
        try:
            name = (urlsplit(f"//{host}").hostname or "").lower()
        except ValueError:
            return False
        if name in ("localhost", self.host):
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nobody reads on, as when a page is left while it loads."""
        _log.debug("a connection ended", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    server_version = "muse"
    sys_version = ""
    timeout = _PATIENCE

    def do_GET(self) -> None:
        """Answer."""
        if not self.server.is_ours(self.headers.get("Host", "")):
            self._say(403, {"error": "this address is not served here"})
            return
        try:
            url = urlsplit(self.path)
        except ValueError:  # "//[" is no address
            self._say(404, {"error": "there is no such page"})
            return
        if url.path in self.server.static:
            self._send(200, *self.server.static[url.path])
        elif url.path in self.server.answers:
            self._answer(url.path, url.query)
        else:
            self._say(404, {"error": "there is no such page"})

    do_HEAD = do_GET

    def _answer(self, path: str, query: str) -> None:
        if self.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            self._say(403, {"error": "answers are for the explorer's own page"})
            return
        try:
            asked = dict(parse_qsl(query, keep_blank_values=True, encoding="utf-8", errors="strict", max_num_fields=20))
            self._say(200, self.server.answers(path, asked))
        except NoSuchWordError as error:
            said = f"the model does not know the word “{error.word}”"
            self._say(404, {"error": said, "word": error.word, "near": error.near})
        except (ValueError, OSError) as error:
            self._say(400, {"error": str(error)})
        except Exception:
            _log.exception("the explorer failed to answer %s", path)
            self._say(500, {"error": "the explorer failed; its log says how"})

    def _say(self, status: int, value: Any) -> None:
        text = json.dumps(value, separators=(",", ":"), allow_nan=False)
        self._send(status, "application/json", text.encode())

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Quietly."""
        _log.debug(format, *args)
