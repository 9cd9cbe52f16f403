"""How often `MUSE.link_wordnet` finds the synset that people mean: `python -m benchmarks.wordnet`."""
