"""Progress bars. tqdm is imported when the first bar is shown, since it takes longer to load than all of muse."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Protocol, Self

__all__ = ["Bar", "progress_bar"]


class Bar(Protocol):
    """What is used of tqdm."""

    n: float

    def update(self, n: float = 1) -> Any:
        """Move on by `n`."""

    def set_postfix_str(self, s: str = "") -> Any:
        """Say what is being done."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> Any: ...


class _Hidden:
    """A bar that only counts."""

    def __init__(self, initial: float) -> None:
        self.n = initial

    def update(self, n: float = 1) -> None:
        self.n += n

    def set_postfix_str(self, s: str = "") -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def progress_bar(*, total: float | None, desc: str, unit: str, show: bool, initial: float = 0) -> Bar:
    """A bar with rate and remaining time on standard error, or none where `show` is false."""
    if not show:
        return _Hidden(initial)
    from tqdm import tqdm

    bar: Bar = tqdm(total=total, desc=desc, unit=unit, unit_scale=True, initial=initial)
    return bar
