"""The explorer: a page on which the senses of a model are looked at, served on this machine or written as one file."""

from muse.explorer.file import write_html
from muse.explorer.server import ExplorerServer, serve

__all__ = ["ExplorerServer", "serve", "write_html"]
