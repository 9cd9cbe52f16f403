"""Drives Chromium, headless and without the net, through its DevTools protocol over a pipe: no library needed."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_PATIENCE = 60.0  # seconds, on a machine that is busy with other things
_OPTIONS = (
    "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--mute-audio",
    "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-default-apps", "--hide-scrollbars",
    "--force-color-profile=srgb", "--font-render-hinting=none",
    # No name is looked up, so that nothing but this machine can be reached.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--no-proxy-server",
)  # fmt: skip
_KEYS = {
    "Enter": (13, "\r"), "ArrowDown": (40, ""), "ArrowUp": (38, ""), "ArrowRight": (39, ""), "ArrowLeft": (37, ""),
    "Escape": (27, ""), "Tab": (9, ""),
}  # fmt: skip


def chromium() -> str | None:
    """The program, where there is one: that of $MUSE_CHROMIUM, or by its usual names."""
    named = os.environ.get("MUSE_CHROMIUM")
    return named or next(filter(None, map(shutil.which, _NAMES)), None)


class Browser:
    """A Chromium with one page.

    Everything that the page writes to the console as an error, or throws, is kept in `errors`.
    """

    def __init__(self, downloads: Path) -> None:
        import fcntl  # not on Windows, where this module is imported too

        program = chromium()
        assert program is not None
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._profile = tempfile.mkdtemp(prefix="muse-chromium-")
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        high = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (theirs_in, theirs_out)]  # out of the way of 3 and 4
        for end in (theirs_in, theirs_out):
            os.close(end)
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        # The protocol is spoken at descriptors 3 and 4.
        moved = f"import os, sys; os.dup2({high[0]}, 3); os.dup2({high[1]}, 4); os.execv(sys.argv[1], sys.argv[1:])"
        self._process = subprocess.Popen(
            [
                sys.executable, "-c", moved, program, *_OPTIONS, *sandbox, f"--user-data-dir={self._profile}",
                "about:blank",
            ],
            pass_fds=high, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        for end in high:
            os.close(end)
        self._in, self._out, self._begun, self._number = ours_in, ours_out, b"", 0
        self._session: str | None = None
        targets = self._call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self._call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        self._call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))

    # -- protocol ----------------------------------------------------------------------------------------------------

    def _call(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None and not method.startswith("Browser."):
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _next(self) -> Any:
        while b"\0" not in self._begun:
            if not select.select([self._in], [], [], _PATIENCE)[0]:
                raise TimeoutError("Chromium does not answer")
            read = os.read(self._in, 1 << 20)
            if not read:
                raise RuntimeError("Chromium ended")
            self._begun += read
        message, _, self._begun = self._begun.partition(b"\0")
        value = json.loads(message)
        self._note(value)
        return value

    def _note(self, value: Any) -> None:
        method, told = value.get("method"), value.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = told["exceptionDetails"]
            self.errors.append(str(details.get("exception", {}).get("description") or details["text"]))
        elif method == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.errors.append(f"{told['entry']['text']} {told['entry'].get('url', '')}")
        elif method == "Runtime.consoleAPICalled" and told["type"] == "error":
            self.errors.append(str(told["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])

    # -- what a person does ------------------------------------------------------------------------------------------

    def run(self, script: str) -> Any:
        """The value of an expression of JavaScript, after what it promises."""
        found = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"].get("exception", {}).get("description", "failed"))
        return found["result"].get("value")

    def open(self, url: str) -> None:
        """Go to an address, which a page with the same path shows without loading anew."""
        self._call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && !document.querySelector('.waiting')")

    def wait(self, condition: str) -> Any:
        """Until an expression is true; its value."""
        end = time.monotonic() + _PATIENCE
        asked = (
            f"(() => {{ try {{ const found = {condition}; return found instanceof Node || found; }} catch {{}} }})()"
        )
        while not (found := self.run(asked)):
            if time.monotonic() > end:
                shown = self.run("document.body.innerText.slice(0, 500)")
                raise AssertionError(f"never true: {condition}; the page shows {shown!r}; errors: {self.errors}")
            time.sleep(0.02)
        return found

    def text(self, selector: str) -> str:
        """What an element shows."""
        return str(self.wait(f"document.querySelector({selector!r}).innerText") or "")

    def click(self, selector: str) -> None:
        """Click the middle of an element with the mouse."""
        where = self.wait(
            f"(() => {{ const at = document.querySelector({selector!r}); at.scrollIntoView({{block: 'center'}}); "
            "const box = at.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=where[0], y=where[1], button="left", clickCount=1)

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self._call("Input.insertText", text=text)

    def press(self, key: str) -> None:
        """Press a key."""
        code, text = _KEYS.get(key, (ord(key[0].upper()), key))
        told = {"key": key, "windowsVirtualKeyCode": code, "text": text}
        self._call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **told)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def look(self, width: int, *, dark: bool, height: int = 900) -> None:
        """The size of the window, and whether dark is preferred."""
        self._call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        features.append({"name": "prefers-reduced-motion", "value": "reduce"})
        self._call("Emulation.setEmulatedMedia", features=features)

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """Save what is shown, or the whole page, as PNG."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        shot = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def size(self) -> tuple[int, int]:
        """Width of what would scroll, and of the window."""
        found = self.run("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        return int(found[0]), int(found[1])

    # -- the end -----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """End the browser and forget its profile."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._profile, ignore_errors=True)

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
