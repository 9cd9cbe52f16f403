"""A text of any number of tokens, made of real text, and what training on it takes: ``python -m benchmarks.scale``.

``text`` writes the text (`benchmarks.scale.text` says how it is made), ``run`` trains on it in a process of its own,
which may be killed halfway and resumed, and writes what it took.
"""
