"""Commands that measure this package: ``python -m benchmarks.NAME --help`` from the root of the repository."""
