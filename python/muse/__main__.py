"""``python -m muse`` is the command line, `muse.cli`."""

from __future__ import annotations

import sys

from muse.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
