"""The sense tree of one word as a model shows it: as text, as a dict, as a drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from muse.base.figures import new_axes, style_of
from muse.base.html import html_rows, html_text
from muse.base.text import one_line

__all__ = ["TreeNode", "WordTree"]


@dataclass(frozen=True)
class TreeNode:
    """A node of a word's sense tree: one of the finest senses, or what a join makes of two nodes.

    Attributes
    ----------
    number : int
        Names the node under every cut: ``"bank#3"`` is node 3.
    share : float
        Of the uses of the word from which the tree was grown.
    strength : float
        How far apart the two parts are that are joined here; 0 where nothing is joined.
    parts : tuple of int
        Numbers of the parts, the larger one first; none for a finest sense.
    neighbours : tuple of (str, float)
        The senses of other words that are nearest to the node's vector, with cosines.
    name : str or None
        What is shown as its name: its own, those of its parts, or that of the node that it is a part of.
    """

    number: int
    share: float
    strength: float = 0.0
    parts: tuple[int, ...] = ()
    neighbours: tuple[tuple[str, float], ...] = ()
    name: str | None = None


@dataclass(frozen=True)
class WordTree:
    """The sense tree of a word, what ``model.sense_tree(word)`` is. ``print(tree)`` draws it.

    Attributes
    ----------
    word : str
    count : int
        How often the word occurs in the training text.
    nodes : tuple of TreeNode
        By number.
    root : int or None
        Number of the node that all others are part of; None in a model without trees, where no sense is part of
        another.
    senses : tuple of int
        Numbers of the nodes that are the word's senses now: the cut.
    """

    word: str
    count: int
    nodes: tuple[TreeNode, ...]
    root: int | None
    senses: tuple[int, ...]

    @property
    def joins(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Each node that a join makes, and its parts, the widest join first."""
        made = sorted((node for node in self.nodes if node.parts), key=lambda node: (-node.strength, -node.share))
        return tuple((node.number, node.parts) for node in made)

    @property
    def strengths(self) -> tuple[float, ...]:
        """How wide the `joins` are."""
        return tuple(self.nodes[number].strength for number, _ in self.joins)

    @property
    def leaves(self) -> tuple[int, ...]:
        """Numbers of the finest senses, from the top of the drawing to its foot."""
        return tuple(number for number, _, _, _ in self._walk() if not self.nodes[number].parts)

    def _walk(self) -> list[tuple[int, int, str, str]]:
        """Number, depth, and what stands before each node, from top to foot."""
        found: list[tuple[int, int, str, str]] = []
        tops = [node.number for node in self.nodes] if self.root is None else [self.root]
        waiting = [(number, 0, "", "") for number in reversed(tops)]
        while waiting:
            number, depth, lead, below = waiting.pop()
            found.append((number, depth, lead, below))
            parts = self.nodes[number].parts
            for place, part in reversed(list(enumerate(parts))):
                last = place == len(parts) - 1
                waiting.append(
                    (part, depth + 1, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  "))
                )
        return found

    def _title(self, node: TreeNode, star: str = "", most: int | None = None) -> str:
        """What a node is called: its key and its name, each cut where it is longer than `most`."""
        name = f" ({one_line(node.name, most)})" if node.name else ""
        return f"{one_line(self.word, most)}#{node.number}{star}{name}"

    def __str__(self) -> str:
        rows = []
        for number, _, lead, _ in self._walk():
            node = self.nodes[number]
            star = "*" if number in self.senses else ""
            rows.append((f"{lead}{self._title(node, star)}", f"{node.share:4.0%}",
                         f"{node.strength:.2f}" if node.parts else "",
                         ", ".join(key for key, _ in node.neighbours)))  # fmt: skip
        width = max(len(row[0]) for row in rows)
        head = f"{self.word}: {self.count:,} uses; * are its senses now, numbers tell how wide a join is"
        lines = (f"{name:<{width}}  {share}  {strength:>4}  {near}".rstrip() for name, share, strength, near in rows)
        return "\n".join([head, *lines])

    def to_dict(self) -> dict[str, Any]:
        """The same in the types of JSON."""
        nodes = [
            {
                "number": node.number, "key": f"{self.word}#{node.number}", "share": node.share,
                "name": node.name, "strength": node.strength, "parts": list(node.parts),
                "neighbours": [[key, cosine] for key, cosine in node.neighbours],
            }
            for node in self.nodes
        ]  # fmt: skip
        return {"word": self.word, "count": self.count, "root": self.root, "senses": list(self.senses), "nodes": nodes}

    def _repr_html_(self) -> str:
        rows = []
        for number, depth, _, _ in self._walk():
            node = self.nodes[number]
            title = html_text(self._title(node))
            rows.append([
                f'<div style="padding-left: {1.5 * depth}em; white-space: nowrap">'
                + (f"<b>{title}</b></div>" if number in self.senses else f"{title}</div>"),
                f"{node.share:.0%}", f"{node.strength:.2f}" if node.parts else "",
                html_text(", ".join(key for key, _ in node.neighbours)),
            ])  # fmt: skip
        caption = f"{one_line(self.word)}: {self.count:,} uses; its senses now are bold"
        return html_rows(caption, ["sense", "share", "width of the join", "like"], rows, numeric=(1, 2))

    def plot(self, ax: Any = None) -> Any:
        """Draw the tree with matplotlib: joins further right are wider, and what is a sense now is bold.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where; a new figure, if not given.

        Returns
        -------
        matplotlib axes

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        order = [number for number, _, _, _ in self._walk()]
        leaves = [number for number in order if not self.nodes[number].parts]
        ax = new_axes(ax, "drawing a sense tree", (9, 1.4 + 0.45 * len(leaves)))
        place = {number: (0.0, -float(row)) for row, number in enumerate(leaves)}
        for number in reversed(order):
            node = self.nodes[number]
            if not node.parts:
                continue
            below = [place[part] for part in node.parts]
            x = max([node.strength, *(x for x, _ in below)])
            heights = [y for _, y in below]
            place[number] = (x, sum(heights) / len(heights))
            colour = self._colour(number)
            ax.plot([x, x], [min(heights), max(heights)], color=colour, linewidth=1.5)
            for part, (part_x, y) in zip(node.parts, below, strict=True):
                ax.plot([part_x, x], [y, y], color=self._colour(part), linewidth=1.5)
        for number, (x, y) in place.items():
            node, left = self.nodes[number], not self.nodes[number].parts
            ax.annotate(
                self._label(node), (x, y),
                xytext=(-6 if left else 5, 0 if left else 5), textcoords="offset points", fontsize=9 if left else 8,
                ha="right" if left else "left", va="center" if left else "bottom", color=self._colour(number),
                fontweight="bold" if number in self.senses else "normal", parse_math=False, annotation_clip=False,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5},
            )  # fmt: skip
        widest = max(x for x, _ in place.values()) or 1.0
        ax.set_xlim(0, 1.5 * widest)  # room for what stands beside the root
        ax.set_ylim(0.6 - len(leaves), 0.7)
        ax.set_title(f"{one_line(self.word, 40)}: its senses now are bold and coloured", parse_math=False)
        ax.set_xlabel("how wide a join is")
        ax.set_yticks([])
        for side in ("left", "right", "top"):
            ax.spines[side].set_visible(False)
        return ax

    def _label(self, node: TreeNode) -> str:
        """What stands beside a node in a drawing: neighbours only of senses and of the finest ones."""
        words = list(dict.fromkeys(key.rpartition("#")[0] for key, _ in node.neighbours))
        near = ", ".join(one_line(word, 20) for word in words[:3])
        told = f": {near}" if near and (not node.parts or node.number in self.senses) else ""
        return f"{self._title(node, most=30)} {node.share:.0%}{told}"

    def _colour(self, number: int) -> str:
        """That of the sense which a node is or is part of; grey for what is made of several."""
        for sense, above in enumerate(self.senses):
            waiting = [above]
            while waiting:
                node = waiting.pop()
                if node == number:
                    return style_of(sense)[0]
                waiting += self.nodes[node].parts
        return "0.35"
