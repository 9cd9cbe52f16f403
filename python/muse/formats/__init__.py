"""Model files. `native` is the one that holds a whole model; the others exchange vectors with other tools.

`muse.load_vectors` reads them, ``model.export`` and ``vectors.export`` write them; `registry.FORMATS` lists them, and
docs/formats.md says what each holds.
"""
