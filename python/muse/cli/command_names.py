"""Other names of commands, and the variable by which a shell asks how a line can go on."""

__all__ = ["COMPLETION", "OTHER_NAMES"]

COMPLETION = "_MUSE_COMPLETE"

OTHER_NAMES = {"describe": "senses", "neighbours": "neighbors"}
