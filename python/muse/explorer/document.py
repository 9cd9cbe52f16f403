"""The page itself: its parts from the package's files, and what a browser may do with it."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["SERVED_POLICY", "document", "json_text", "self_contained", "static"]

SCRIPTS = ("base.js", "source.js", "search.js", "map.js", "tree.js", "cards.js", "word.js", "sentence.js", "compare.js",
           "change.js", "export.js", "start.js", "main.js")  # fmt: skip
STYLES = ("theme.css", "layout.css", "views.css")
SERVED_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
_DATA = "<!-- data -->"


def _read(name: str) -> str:
    return (files("muse.explorer") / "page" / name).read_text(encoding="utf-8")


@cache
def script() -> str:
    """All scripts in one, whose names are seen by nobody else."""
    return '"use strict";\n(() => {\n' + "\n".join(map(_read, SCRIPTS)) + "\n})();\n"


@cache
def style() -> str:
    """All styles in one."""
    return "\n".join(map(_read, STYLES))


@cache
def document() -> str:
    """The page, which asks for script and style; these have `_DATA`, a comment, before them."""
    return _read("index.html")


def static() -> dict[str, tuple[str, bytes]]:
    """What is served beside the answers: by path, type and content."""
    return {
        "/": ("text/html; charset=utf-8", document().replace(_DATA, "").encode()),
        "/explorer.js": ("text/javascript; charset=utf-8", script().encode()),
        "/explorer.css": ("text/css; charset=utf-8", style().encode()),
        "/icon.svg": ("image/svg+xml", _read("icon.svg").encode()),
    }


def json_text(value: Any) -> str:
    """A value as JSON that may stand in a script element: no ``<``, and no line separators of Unicode."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def self_contained(data: Any) -> str:
    """The page with script, style and data inside, and a policy that allows these alone."""
    icon = "data:image/svg+xml;base64," + base64.b64encode(_read("icon.svg").encode()).decode()
    policy = (
        f"default-src 'none'; script-src {_hash(script())}; style-src {_hash(style())}; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    embedded = f'<script type="application/json" id="data">{json_text(data)}</script>'
    charset = '<meta charset="utf-8">'
    parts = {
        charset: f'{charset}\n<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<link rel="stylesheet" href="explorer.css">': f"<style>{style()}</style>",
        '<link rel="icon" href="icon.svg">': f'<link rel="icon" href="{icon}">',
        '<script src="explorer.js" defer></script>': "",
        _DATA: f"{embedded}\n<script>{script()}</script>",
    }
    page = document()
    for part, filled in parts.items():
        before, found, after = page.partition(part)
        assert found, f"index.html holds no {part}"
        page = before + filled + after
    return page


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
