"""What vectors show of themselves: arrays and lists that nothing can be written into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, TypeVar

from numpy.typing import NDArray

__all__ = ["ReadOnlyList", "read_only", "shown"]

Array = TypeVar("Array", bound=NDArray[Any])


def read_only(array: Array) -> Array:
    """The same numbers, which cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


class ReadOnlyList(list[str]):
    """A list that cannot be changed; ``list(it)`` is a copy that can.

    Examples
    --------
    >>> ReadOnlyList(["a", "b"]) == ["a", "b"]
    True
    """

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("these keys belong to the vectors and cannot be changed; list(...) of them is a copy that can")

    __setitem__ = __delitem__ = __iadd__ = __imul__ = append = extend = insert = pop = remove = clear = sort = (
        reverse
    ) = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return ReadOnlyList, (list(self),)


def shown(words: Sequence[str]) -> Sequence[str]:
    """Words to show: a read-only list of a list; others make their words as they are asked for, and have no way in."""
    return ReadOnlyList(words) if isinstance(words, list) else words
