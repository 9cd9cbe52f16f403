"""The model wiki-en-small: ``muse.datasets.load_pretrained("wiki-en-small")`` loads it."""

from pathlib import Path

__all__ = ["ABOUT", "MODEL"]

MODEL = Path(__file__).with_name("wiki-en-small.safetensors")
"""The file of the model."""

ABOUT = Path(__file__).with_name("about.json")
"""How it was made, its sizes and its scores."""
