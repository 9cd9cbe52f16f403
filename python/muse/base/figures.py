"""What drawings share: axes, colours that people with any sight tell apart, labels side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.base.optional import needed

__all__ = ["COLOURS", "MARKERS", "new_axes", "place_labels", "style_of"]

# Okabe and Ito's, without the yellow, which is hard to see on white; black last, it is that of text.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vPX*"  # as well as colours, for prints in grey
_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
_REACH = (0.7, 1.6, 3.0)  # how far from its point a label may stand, in heights of it
_HIDDEN = 0.35  # of a label that may lie on others; one that must is left out


def new_axes(ax: Any, what: str, size: tuple[float, float]) -> Any:
    """The axes that were given, or those of a new figure; an ImportError that says what to install.

    Parameters
    ----------
    ax : matplotlib axes, optional
    what : str
        What is drawn, for the message.
    size : pair of float
        Inches of a new figure.
    """
    if ax is not None:
        return ax
    return needed("matplotlib.pyplot", what, "plot").subplots(figsize=size, layout="constrained")[1]


def style_of(place: int) -> tuple[str, str]:
    """A colour and a marker for the first, second, ... of what is told apart: 56 pairs before one comes again."""
    return COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]


def place_labels(ax: Any, points: NDArray[Any], texts: Sequence[Any]) -> None:
    """Put each label beside its point, where it lies on as little as possible; one that would be hidden goes.

    Parameters
    ----------
    ax : matplotlib axes
        With its final limits.
    points : float (N, 2)
        In data coordinates. The first labels have the first choice, and the first of them stay in any case.
    texts : sequence of N matplotlib texts
        Annotations of these points.
    """
    ax.figure.canvas.draw()  # or the places of axes are not known
    places = ax.transData.transform(points)
    frame = ax.get_window_extent()
    taken = [np.array([x - 4, y - 4, x + 4, y + 4]) for x, y in places]
    for place, (text, (x, y)) in enumerate(zip(texts, places, strict=True)):
        extent = text.get_window_extent()
        wide, high = extent.width, extent.height
        choices: list[tuple[float, float, int, NDArray[Any], tuple[float, float]]] = []
        for reach in _REACH:
            for right, up in _SIDES:
                middle = x + right * (wide / 2 + reach * high), y + up * (high / 2 + reach * high)
                box = np.array([middle[0] - wide / 2, middle[1] - high / 2, middle[0] + wide / 2, middle[1] + high / 2])
                choices.append((_covered(box, taken, frame), reach, len(choices), box, middle))
        covered, _, _, box, middle = min(choices, key=lambda choice: (round(choice[0], 2), *choice[1:3]))
        if covered > _HIDDEN and getattr(text, "may_go", place > 0):
            text.set_visible(False)
            continue
        points_an_inch = 72 / ax.figure.dpi
        text.set_position(((middle[0] - x) * points_an_inch, (middle[1] - y) * points_an_inch))
        taken.append(box)


def _covered(box: NDArray[Any], taken: list[NDArray[Any]], frame: Any) -> float:
    """The part of a box that lies on others, or out of the frame."""
    area = max(float((box[2] - box[0]) * (box[3] - box[1])), 1e-9)
    others = np.array(taken)
    wide = np.minimum(others[:, 2], box[2]) - np.maximum(others[:, 0], box[0])
    high = np.minimum(others[:, 3], box[3]) - np.maximum(others[:, 1], box[1])
    over = float((np.maximum(wide, 0) * np.maximum(high, 0)).sum())
    inside = max(0.0, min(box[2], frame.x1) - max(box[0], frame.x0)) * max(
        0.0, min(box[3], frame.y1) - max(box[1], frame.y0)
    )
    return float((over + area - inside) / area)
