"""Random changes of files."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

Rng = np.random.Generator

TOKENS = (
    b"\n", b"\t", b" ", b"\0", b"\xff", b"\xc3\xa9", b"\xed\xa0\x80", b"-1", b"nan", b"1e999", b"9" * 5000, b"\r\n",
    b"<b>", b"</b>", b"|", b",", b"/", b"#", b"\xef\xbb\xbf", "²".encode(), b"1152921504606846976",
)  # fmt: skip
NUMBERS = (-1, 0, 1, 2, 2**31, 2**32, 2**60, 2**63 - 1, 2**63, 2**64, 10**30, 0.5, 1e308, True, None, "5", "", [], {})


def change_bytes(data: bytes, others: list[bytes], rng: Rng) -> bytes:
    """A few random changes anywhere: bits, bytes, pieces of this or another file, tokens that matter to parsers."""
    content = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(len(content) + 1))
        length = int(rng.integers(1, 20))
        kind = int(rng.integers(7))
        if kind == 0 and at < len(content):
            content[at] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            content[at : at + length] = rng.bytes(length)
        elif kind == 2:
            del content[at : at + length]
        elif kind == 3:
            content[at:at] = TOKENS[int(rng.integers(len(TOKENS)))]
        elif kind == 4:
            other = others[int(rng.integers(len(others)))]
            start = int(rng.integers(len(other) + 1))
            content[at:at] = other[start : start + 4 * length]
        elif kind == 5:
            content[at:at] = content[at : at + length] * int(rng.integers(1, 50))
        else:
            del content[at:]
    return bytes(content)


def change_model(data: bytes, others: list[bytes], rng: Rng) -> bytes:
    """Changes in the JSON of a model file's header, mostly, so that they reach what lies behind the parser."""
    if rng.random() < 0.3:
        return change_bytes(data, others, rng)
    length = int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8 : 8 + length])
        model = json.loads(header["__metadata__"]["model"])
        header["__metadata__"]["checksums"] = "{}"
    except (ValueError, KeyError, TypeError):
        return change_bytes(data, others, rng)
    body = bytearray(data[8 + length :])
    for _ in range(int(rng.integers(1, 4))):
        kind = int(rng.integers(4))
        if kind == 0:
            header = _change_value(header, rng)
        elif kind < 3:
            model = _change_value(model, rng)
        elif body:
            at = int(rng.integers(len(body)))
            body[at : at + 8] = rng.bytes(min(8, len(body) - at))
    if isinstance(header, dict) and isinstance(header.get("__metadata__"), dict):
        header["__metadata__"]["model"] = json.dumps(model)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + bytes(body)


def _change_value(value: Any, rng: Rng) -> Any:
    """The JSON value with one value in it, at any depth, replaced, removed or doubled."""
    if not isinstance(value, (dict, list)) or not value or rng.random() < 0.1:
        return NUMBERS[int(rng.integers(len(NUMBERS)))]
    places = list(value) if isinstance(value, dict) else list(range(len(value)))
    place = places[int(rng.integers(len(places)))]
    changed = value.copy()
    if rng.random() < 0.1:
        del changed[place]
    else:
        changed[place] = _change_value(value[place], rng)
    return changed
