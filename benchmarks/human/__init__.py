"""What people say: senses and similarities that annotators judged, over texts, seeds and settings.

``python -m benchmarks.human --help``; benchmarks/README.md says how to read what comes out.
"""
