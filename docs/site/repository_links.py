"""Pages link to files of the repository outside docs/; the site carries those files, under repository/.

A link to a file that is not there is a warning, and so an error of a strict build. Notebooks become pages.
"""

from __future__ import annotations

import json
import logging
import os
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

log = logging.getLogger("mkdocs.hooks.repository_links")

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "repository/"
_FENCE = re.compile(r"^( *```).*?^\1 *$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")


def on_files(files: Files, config: Any) -> Files:
    """Add the files that pages link to, and those that these link to."""
    for file in list(files):
        if file.src_uri.endswith(".ipynb"):
            page = f"{file.src_uri.removesuffix('.ipynb')}.md"
            files.append(File.generated(config, page, content=_notebook_page(Path(file.abs_src_path or ""))))
    waiting = [
        (file.src_uri, Path(file.abs_src_path)) for file in files if file.src_uri.endswith(".md") and file.abs_src_path
    ]
    known: set[str] = set()
    while waiting:
        page, path = waiting.pop()
        text = path.read_text(encoding="utf-8")
        for found in _LINK.finditer(_FENCE.sub("", text)):
            target = _outside(page, found[2])
            if target is None or target in known:
                continue
            known.add(target)
            source = ROOT / target
            if not source.exists():
                log.warning("%s links to %s, which is not in the repository", page, target)
            elif source.is_dir():
                files.append(File.generated(config, f"{PREFIX}{target}/index.md", content=_listing(source)))
                inner = [f"{target}/{entry.name}" for entry in source.iterdir() if entry.suffix == ".md"]
                for name in inner:
                    if name not in known:
                        known.add(name)
                        _add(files, config, name)
                        waiting.append((PREFIX + name, ROOT / name))
            else:
                _add(files, config, target)
                if source.suffix == ".md":
                    waiting.append((PREFIX + target, source))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Let links to such files lead to the copies in the site."""
    here = page.file.src_uri

    def changed(found: re.Match[str]) -> str:
        target = _outside(here, found[2])
        if target is None:
            inside = _inside(here, found[2])
            return found[0] if inside is None else f"{found[1]}{_relative(here, inside)}{found[3] or ''}{found[4]}"
        name = PREFIX + target + ("/index.md" if (ROOT / target).is_dir() else "")
        return f"{found[1]}{_relative(here, name)}{found[3] or ''}{found[4]}"

    pieces, end = [], 0
    for fence in _FENCE.finditer(markdown):
        pieces += [_LINK.sub(changed, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*pieces, _LINK.sub(changed, markdown[end:])])


def _add(files: Files, config: Any, target: str) -> None:
    source = ROOT / target
    if source.suffix == ".md":
        files.append(File.generated(config, PREFIX + target, content=source.read_text(encoding="utf-8")))
    else:
        files.append(File.generated(config, PREFIX + target, abs_src_path=os.fspath(source)))


def _place(page: str, link: str) -> str | None:
    """Where a link of a page leads in the repository; None: not there."""
    if "://" in link or link.startswith(("mailto:", "/")):
        return None
    at = page.removeprefix(PREFIX) if page.startswith(PREFIX) else f"docs/{page}"
    place = posixpath.normpath(posixpath.join(posixpath.dirname(at), link))
    return None if place.startswith("..") else place


def _outside(page: str, link: str) -> str | None:
    """What a link leads to, if that is in the repository and not among the pages."""
    place = _place(page, link)
    return None if place is None or place.startswith("docs/") or place in ("docs", ".") else place


def _inside(page: str, link: str) -> str | None:
    """The page that a link of a file outside docs/ leads to."""
    place = _place(page, link) if page.startswith(PREFIX) else None
    if place is None:
        return None
    return "index.md" if place in ("docs", ".") else place.removeprefix("docs/")


def _relative(page: str, target: str) -> str:
    return posixpath.relpath(target, posixpath.dirname(page) or ".")


def _listing(folder: Path) -> str:
    names = sorted(entry.name for entry in folder.iterdir() if entry.suffix == ".md")
    return f"# {folder.relative_to(ROOT)}\n\n" + "".join(f"- [{name}]({name})\n" for name in names)


def _notebook_page(path: Path) -> str:
    """A notebook with what it printed, as Markdown."""
    parts: list[str] = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "text/html" in data:
                parts.append(f'<div class="output">\n{"".join(data["text/html"])}\n</div>')
            else:
                printed = "".join(output.get("text", data.get("text/plain", "")))
                parts.append(f"```text\n{printed.rstrip()}\n```")
    parts.append(f"[This notebook as a file]({path.name})")
    return "\n\n".join(parts) + "\n"
