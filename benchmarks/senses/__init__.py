"""The senses study: pseudo-words, SCWS and word similarity over texts, draws, seeds and settings.

``python -m benchmarks.senses --help``; benchmarks/README.md says how to read what comes out.
"""
