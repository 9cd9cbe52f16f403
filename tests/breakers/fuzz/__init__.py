"""Hostile files. ``python -m tests.breakers.fuzz run`` throws changed files at every loader; tests/breakers runs a few.

To add a loader: a line in `tests.breakers.fuzz.loaders.LOADERS`, and small valid files in ``seeds/NAME``.
The C++ readers have fuzzers of their own in ``cpp/``, see docs/reliability.md.
"""
