"""Text that a user gave, as it is shown."""

from __future__ import annotations

__all__ = ["one_line"]


def one_line(text: str, most: int | None = None) -> str:
    """Text on one line whatever it holds, and cut where it is longer than `most`.

    Examples
    --------
    >>> one_line("bank"), one_line("two\\nlines"), one_line("a long word", 6)
    ('bank', "'two\\\\nlines'", 'a lon…')
    """
    shown = text if text.isprintable() else repr(text)
    return shown if most is None or len(shown) <= most else f"{shown[: most - 1]}…"
