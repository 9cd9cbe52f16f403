"""Other names of commands."""

__all__ = ["OTHER_NAMES"]

OTHER_NAMES = {"describe": "senses", "neighbours": "neighbors"}
